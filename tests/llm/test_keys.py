"""A key goes to the server and nowhere else."""

from __future__ import annotations

import logging
import traceback

import pytest

from assay.errors import ServerError
from assay.http.addresses import parse_address
from assay.llm.answers import AnswerStore, Question
from assay.llm.service import Service
from llm.serving import Reply, serving

QUESTION = Question("m", "Is it?", 10, alternatives=5)


def error_of(service: Service, folder) -> str:
    """The message and the traceback of an error."""
    with pytest.raises(ServerError) as caught, service.connect(AnswerStore(folder)) as client:
        client.ask(QUESTION)
    return str(caught.value) + "".join(traceback.format_exception(caught.value))


def test_the_key_is_sent_in_the_header_and_found_nowhere_else(key, tmp_path, capfd, caplog):
    """Not even if the server repeats it."""
    caplog.set_level(logging.DEBUG)
    token = {"token": key, "top_logprobs": [{"token": key, "logprob": -1.0}]}
    echoes = [
        Reply(f"your key is {key}", status=500),
        Reply(body=f"<html>{'x' * 180}{key}</html>".encode(), status=503),
        Reply(f"your key is {key}", logprobs={"content": [token]}),
    ]
    with serving(lambda prompt, before: echoes[before]) as fake:
        service = Service(model="m", endpoint=fake.address)
        with service.connect(AnswerStore(tmp_path)) as client:
            given = client.ask(QUESTION)
            everything = [repr(given), repr(service), repr(vars(client)), caplog.text, *capfd.readouterr()]

    assert 3 * [f"Bearer {key}"] == [headers["Authorization"] for headers in fake.headers]
    assert "your key is ***" == given.answer.text
    everything += [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert not [text for text in everything if key in text]


@pytest.mark.parametrize("status", [400, 401, 403, 429, 500])
def test_errors_do_not_repeat_the_key(status, key, tmp_path):
    with serving(lambda prompt, before: Reply(f"{'x' * (190 - status % 7)} {key}", status=status)) as fake:
        said = error_of(Service(model="m", endpoint=fake.address, retries=0), tmp_path)

    assert f"status {status}, 'xxx" in said
    assert key[:12] not in said


def test_an_error_names_the_variable(key, tmp_path, monkeypatch):
    monkeypatch.setenv("MY_KEY", "other-key-123456")
    with serving(Reply("wrong key", status=401)) as fake:
        said = error_of(Service(model="m", endpoint=fake.address, key_variable="MY_KEY"), tmp_path)

    assert ["Bearer other-key-123456"] == [headers["Authorization"] for headers in fake.headers]
    assert "Put a valid key into the environment variable MY_KEY." in said
    assert "other-key" not in said


def test_a_variable_that_the_recipe_names_must_be_set(tmp_path):
    said = error_of(Service(model="m", endpoint="https://api.example.org/v1", key_variable="MY_KEY"), tmp_path)

    assert "the environment variable MY_KEY is not set. Put the key of https://api.example.org/v1 there." in said


@pytest.mark.parametrize("variable", ["sk-planted-7f3a91c2d4", "sk_live_planted12", "A B", 3])
def test_a_key_instead_of_a_variable_is_refused_without_repeating_it(variable):
    with pytest.raises(ServerError) as caught:
        Service(key_variable=variable)

    assert str(caught.value).startswith("key_variable takes the name of an environment variable in capitals")
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize("key", ["sk-planted\nX-Evil: 1", "sk planted", "sk-plänted"])
def test_a_key_that_cannot_be_sent_is_refused_without_repeating_it(key, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_LLM_API_KEY", key)
    said = error_of(Service(model="m", endpoint="https://api.example.org/v1"), tmp_path)

    assert "ASSAY_LLM_API_KEY: not a key: it has blanks, line breaks or characters that are not ASCII." in said
    assert "nted" not in said


@pytest.mark.parametrize(
    "endpoint",
    [
        "https://ann:planted-password@api.example.org/v1",
        "https://planted-password@api.example.org/v1",
        "https://api.example.org/v1?key=planted-password",
        "https://api.example.org/v1#planted-password",
        "http://ann:planted@password@[::1/v1",
    ],
)
def test_an_endpoint_with_a_password_is_refused_without_repeating_it(endpoint):
    with pytest.raises(ServerError) as caught:
        Service(model="m", endpoint=endpoint)

    assert "endpoint contains a user name, a password or parameters." in str(caught.value)
    assert "planted" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint", ["api.example.org", "ftp://example.org", "https://", "https://[::1", "", "http://a b/"]
)
def test_an_endpoint_that_is_none(endpoint):
    with pytest.raises(ServerError, match="endpoint cannot be"):
        Service(model="m", endpoint=endpoint)


@pytest.mark.parametrize(
    ("endpoint", "is_local"),
    [
        ("http://127.0.0.1:8080/v1", True),
        ("http://localhost/v1", True),
        ("http://[::1]:1/v1", True),
        ("http://10.0.0.1/v1", False),
        ("http://127.0.0.1.example.org/v1", False),
        ("http://localhost.example.org/v1", False),
    ],
)
def test_a_key_goes_unencrypted_to_this_machine_only(endpoint, is_local, key):
    assert is_local == parse_address(endpoint).is_local
    service = Service(model="m", endpoint=endpoint)
    if is_local:
        service.check()
        return
    with pytest.raises(ServerError) as caught:
        service.check()
    assert f"{endpoint}: the key in ASSAY_LLM_API_KEY would be sent without encryption." in str(caught.value)
    Service(model="m", endpoint=endpoint, allow_http=True).check()


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(status, key, tmp_path):
    with serving(Reply()) as other, serving(Reply(status=status, headers={"Location": other.address})) as fake:
        said = error_of(Service(model="m", endpoint=fake.address), tmp_path)

        assert ([], 1) == (other.requests, len(fake.requests))
    assert f"no answer: status {status}, a redirect to another address, which is not followed" in said
