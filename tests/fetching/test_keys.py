"""A key goes to the server that it is for, and nowhere else."""

from __future__ import annotations

import base64
import logging
import traceback
from urllib.parse import quote

import pytest

from assay.errors import ServerError
from assay.fetching.fetching import fetch_answers
from assay.fetching.server import HttpSystem, KeySettings
from assay.fetching.settings import Settings, make_api
from cli.command import assay
from fetching.serving import Reply, retrieve, serving

KEY = "planted-7f3a91c2d4+/="
FORMS = (KEY, quote(KEY, safe=""), base64.b64encode(KEY.encode()).decode().rstrip("="), KEY[:14])


def system_of(endpoint: str, **given) -> HttpSystem:
    return HttpSystem(endpoint, make_api("retrieve", Settings(), None), "retrieve", **given)


def files_in(folder) -> str:
    return "".join(
        str(path) + path.read_bytes().decode("utf-8", "replace") for path in sorted(folder.rglob("*")) if path.is_file()
    )


def test_the_key_is_in_one_header_and_in_no_file_or_output(tmp_path, monkeypatch):
    """Not even if the server repeats it, when the run is whole, when queries fail, or with all faults shown."""
    echoes = {
        "q2": Reply({"error": f"wrong: {KEY}"}, status=400),
        "q3": Reply(f"<html>{'x' * 180}{KEY}</html>".encode(), status=503),
        "q4": Reply({"results": [{"query_id": "q4", "segments": [{"segment_id": "a", "score": f"{KEY}"}]}]}),
    }

    def answering(asked, before):
        return echoes.get(asked.json["queries"][0]["query_id"], retrieve(asked))

    (tmp_path / "queries.tsv").write_text("q1\ta\nq2\tb\nq3\tc\nq4\td\n")
    with serving(answering) as server:
        done = assay(
            *("runs", "fetch", "--endpoint", server.address, "--queries", "queries.tsv", "-o", "live.run"),
            *("--retries", "1"),
            cwd=tmp_path,
            env={"ASSAY_API_KEY": KEY, "ASSAY_DEBUG": "1"},
        )

    assert 1 == done.returncode
    assert {KEY} == {asked.headers["X-API-Key"] for asked in server.asked}
    everything = done.stdout + done.stderr + files_in(tmp_path)
    assert "wrong: ***" in everything
    assert not [form for form in FORMS if form in everything]


PADDED = "x" * 35 + KEY  # a message that quotes it would cut it, and show the first half of the key


@pytest.mark.parametrize(
    "answer",
    [
        {"query_id": "q2", "segments": [{"segment_id": f"d-{KEY}"}]},
        {"query_id": "q2", "segments": [{"segment_id": "a", "score": PADDED}]},
        {"query_id": PADDED, "segments": []},
    ],
)
def test_an_answer_that_repeats_the_key_is_a_failure(answer, monkeypatch):
    """It would be in the run."""
    monkeypatch.setenv("ASSAY_API_KEY", KEY)

    def answering(asked, before):
        return Reply({"results": [answer]}) if before else retrieve(asked)

    with serving(answering) as server:
        fetched = fetch_answers(system_of(server.address), {"q1": "a", "q2": "b"}, name="live")

    assert "the answer repeats the key" == fetched.failed["q2"].reason


def test_a_proxy_that_is_none_is_named_without_its_password(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "odd://ann:planted-password@proxy")
    with pytest.raises(ServerError, match="the proxy that the environment names cannot be used") as refusal:
        fetch_answers(system_of("https://search.example.org"), {"q1": "a"}, name="live")

    assert "planted" not in str(refusal.value)


def test_settings_name_another_header_and_variable(tmp_path):
    (tmp_path / "queries.tsv").write_text("q1\ta\n")
    (tmp_path / "key.toml").write_text('header = "Authorization"\nvariable = "SEARCH_KEY"\nprefix = "Bearer "\n')
    fetch = ("runs", "fetch", "--queries", "queries.tsv", "-o", "live.run", "--settings", "key.toml", "--endpoint")
    with serving(retrieve) as server:
        without = assay(*fetch, server.address, cwd=tmp_path)
        done = assay(*fetch, server.address, cwd=tmp_path, env={"SEARCH_KEY": KEY, "ASSAY_API_KEY": "other-key-123"})

    assert (2, 0) == (without.returncode, done.returncode)
    assert "the environment variable SEARCH_KEY is not set. Put the key of" in without.stderr
    assert [f"Bearer {KEY}"] == [asked.headers["Authorization"] for asked in server.asked]
    assert "X-API-Key" not in server.asked[0].headers
    assert KEY not in done.stdout + done.stderr + files_in(tmp_path)


def test_without_a_key_no_header_is_sent(monkeypatch):
    monkeypatch.delenv("ASSAY_API_KEY", raising=False)
    with serving(retrieve) as server:
        fetch_answers(system_of(server.address), {"q1": "a"}, name="live")

    assert "X-API-Key" not in server.asked[0].headers


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://ann:planted-password@search.example.org/retrieve",
        "https://planted-password@search.example.org/retrieve",
        "https://search.example.org/retrieve?api_key=planted-password",
        "https://search.example.org/retrieve?sig=planted-password",
        "https://search.example.org/retrieve#planted-password",
        "http://ann:planted@password@[::1/retrieve",
    ],
)
def test_an_endpoint_with_a_key_is_refused_without_repeating_it(endpoint, tmp_path):
    (tmp_path / "queries.tsv").write_text("q1\ta\n")
    done = assay(
        *("runs", "fetch", "--endpoint", endpoint, "--queries", "queries.tsv", "-o", "live.run"),
        cwd=tmp_path,
        env={"ASSAY_DEBUG": "1"},
    )

    assert 2 == done.returncode
    assert "endpoint contains a user name, a password or a key. Give the address only" in done.stderr
    assert "planted" not in done.stdout + done.stderr + files_in(tmp_path)


@pytest.mark.parametrize(
    ("endpoint", "is_local"),
    [
        ("http://127.0.0.1:8080/", True),
        ("http://localhost/", True),
        ("http://[::1]:1/", True),
        ("http://10.0.0.1/", False),
        ("http://127.0.0.1.example.org/", False),
    ],
)
def test_a_key_goes_unencrypted_to_this_machine_only(endpoint, is_local, monkeypatch):
    monkeypatch.setenv("ASSAY_API_KEY", KEY)
    if is_local:
        with system_of(endpoint).open():
            return
    with pytest.raises(ServerError) as refusal, system_of(endpoint).open():
        pass
    assert f"{endpoint}: the key in ASSAY_API_KEY would be sent without encryption. Use https, or" in str(refusal.value)
    assert KEY not in "".join(traceback.format_exception(refusal.value))
    with system_of(endpoint, allow_http=True).open():
        pass


@pytest.mark.parametrize("key", ["planted\nX-Evil: 1", "one planted two", "pläntednted"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(key, monkeypatch):
    monkeypatch.setenv("ASSAY_API_KEY", key)
    with pytest.raises(ServerError) as refusal, system_of("https://search.example.org").open():
        pass

    assert "ASSAY_API_KEY: not a key: it has blanks, line breaks or characters that are not ASCII." == str(
        refusal.value
    )


@pytest.mark.parametrize("given", [{"variable": "sk-planted-7f3a"}, {"header": "X: planted"}, {"prefix": "p" * 40}])
def test_a_key_in_the_place_of_a_name_is_refused_without_repeating_it(given):
    with pytest.raises(ServerError) as refusal:
        KeySettings(**given)

    assert "not a key." in str(refusal.value)
    assert not [value for value in given.values() if value in str(refusal.value)]


def test_the_certificate_of_a_server_is_verified(tmp_path, monkeypatch):
    """A server with a certificate of its own making is not asked."""
    import ssl
    import subprocess
    from http.server import BaseHTTPRequestHandler, HTTPServer
    from shutil import which
    from threading import Thread

    if which("openssl") is None:
        pytest.skip("needs the program openssl to make a certificate")
    files = [str(tmp_path / name) for name in ("key.pem", "cert.pem")]
    subject = ("-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost")
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", *subject, "-keyout", files[0], "-out", files[1]],
        check=True,
        capture_output=True,
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(files[1], files[0])
    server = HTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    monkeypatch.setenv("ASSAY_API_KEY", KEY)
    try:
        with pytest.raises(ServerError, match="certificate verify failed"):
            fetch_answers(system_of(f"https://localhost:{server.server_port}"), {"q1": "a"}, name="live")
    finally:
        server.shutdown()
        server.server_close()


def test_nothing_is_logged(caplog, monkeypatch):
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv("ASSAY_API_KEY", KEY)
    with serving(retrieve) as server:
        fetch_answers(system_of(server.address), {"q1": "a"}, name="live")

    assert KEY not in caplog.text
