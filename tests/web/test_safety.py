"""Who may ask the workbench, and what. Each test asks a real server, as a page of another site could make a browser do."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from assay.web import safety
from assay.web.settings import Settings
from web.servers import Server, all_received, assert_safe, serving_parts

FORM = "application/x-www-form-urlencoded"
OTHER_SITE = "the request comes from a page of another site."

# Host: DNS rebinding


@pytest.mark.parametrize("name", ["localhost", "LocalHost", "127.0.0.1", "[::1]"])
def test_our_own_names_are_answered_with_any_port(parts: Server, name):
    # A tunnel (ssh -L) has another port. No site can be reached by these names, so the port decides nothing.
    for host in (name, f"{name}:{parts.port}", f"{name}:9"):
        assert 200 == parts.ask(headers={"Host": host}).status, host


@pytest.mark.parametrize(
    "name",
    [
        *(
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost.evil.example",
            "evil-localhost",
            "localhost.",
            "0.0.0.0",
        ),
        *(
            "192.168.1.5",
            "127.0.0.2",
            "2130706433",
            "[::]",
            "[::ffff:127.0.0.1]",
            "169.254.169.254",
            "xn--lcalhost-54a",
        ),
    ],
)
def test_a_name_that_is_not_ours_is_refused(parts: Server, name):
    for host in (name, f"{name}:{parts.port}"):
        answer = parts.ask(headers={"Host": host})
        assert 403 == answer.status, host
        assert "the workbench was reached by a name that is not its own" in answer.text
        assert "csrf=" not in answer.text
        assert_safe(answer)


@pytest.mark.parametrize(
    "host",
    [
        *("", " ", "127.0.0.1:", "127.0.0.1:80:80", "127.0.0.1:123456", "user@127.0.0.1", "http://127.0.0.1"),
        *("127.0.0.1/", "127.0.0.1, evil.example", "[::1", "::1", "127.0.0.1\xa0", "<script>", "localhost%00.evil"),
    ],
)
def test_what_is_no_host_is_refused(parts: Server, host):
    answer = parts.ask(headers={"Host": host})

    assert 400 == answer.status
    assert "<script>" not in answer.text
    assert_safe(answer)


def test_a_host_is_needed_and_named_once(parts: Server):
    for head in (
        "GET / HTTP/1.1",
        "GET / HTTP/1.0",
        f"GET / HTTP/1.1\r\nHost: {parts.host}\r\nHost: evil.example",
        f"GET / HTTP/1.1\r\nHost: {parts.host}\r\nHost: {parts.host}",
    ):
        answer = parts.send(f"{head}\r\n\r\n".encode())
        assert 400 == answer.status, head
        assert_safe(answer)
    assert 200 == parts.send(f"GET / HTTP/1.0\r\nHost: {parts.host}\r\n\r\n".encode()).status


def test_an_address_of_another_server_is_refused_and_leads_nowhere(parts: Server):
    for target in ("http://evil.example/", f"http://{parts.host}/", "*", "evil.example:80", "?x=1"):
        assert 400 == parts.ask(target).status, target
    for target in (
        "//evil.example",
        "//evil.example/",
        "/\\evil.example",
        "/%2f%2fevil.example/",
        "/compute/x/",
        "/names/",
    ):
        answer = parts.ask(target)
        assert answer.status in (307, 404), target
        assert (answer.header("location") or parts.address).startswith(f"http://{parts.host}/"[:-1]), target


def test_other_machines_may_use_addresses_and_the_names_of_this_machine():
    here = Settings(Path("/"))
    open_to_all = Settings(Path("/"), host="0.0.0.0", ip="0.0.0.0")
    named = Settings(Path("/"), host="Box.example", ip="192.0.2.7")

    for name in ("192.0.2.7", "fd00::2", "10.0.0.1", socket.gethostname().lower()):
        assert safety.is_our_name(name, open_to_all)
        assert name in ("localhost",) or not safety.is_our_name(name, here)
    assert not safety.is_our_name("evil.example", open_to_all)
    assert safety.is_our_name("box.example", named)
    assert not safety.is_our_name("box.example", open_to_all)


# Origin and Sec-Fetch


def test_requests_of_our_own_pages_are_answered(parts: Server):
    for headers in (
        {"Origin": f"http://{parts.host}"},
        {"Origin": f"http://{parts.host}", "Sec-Fetch-Site": "same-origin"},
        {"Origin": f"HTTP://{parts.host}".lower(), "Host": parts.host.upper()},
        {"Sec-Fetch-Site": "none"},
        {"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"},
    ):
        assert 200 == parts.ask(headers=headers).status, headers
    secret = {"X-CSRF-Token": parts.csrf()}
    assert 200 == parts.post("/echo", "", {"Origin": f"http://{parts.host}", **secret}).status
    assert 200 == parts.post("/echo", "", {"Origin": "null", "Sec-Fetch-Site": "same-origin", **secret}).status


def test_requests_of_other_pages_are_refused_even_with_the_secret(parts: Server):
    secret = {"X-CSRF-Token": parts.csrf()}
    own = f"http://{parts.host}"
    for origin in (
        *("http://evil.example", "null", "", "file://", f"https://{parts.host}", f"{own}.evil.example", f"{own}/"),
        *(f"http://127.0.0.1:{parts.port + 1}", f"http://localhost:{parts.port}", f"{own}, {own}", f"{own} {own}"),
    ):
        for method, target in (("GET", "/"), ("HEAD", "/"), ("POST", "/echo")):
            answer = parts.ask(target, method, {"Origin": origin, **secret})
            assert 403 == answer.status, (origin, method)
            assert_safe(answer)
    assert 403 == parts.ask(headers=[("Origin", own), ("Origin", own)]).status
    assert 403 == parts.ask(headers=[("Origin", own), ("Origin", "http://evil.example")]).status
    assert 403 == parts.ask(headers={"Origin": "null", "Sec-Fetch-Site": "cross-site"}).status
    assert OTHER_SITE in parts.ask(headers={"Origin": "http://evil.example"}).text


def test_other_sites_may_link_here_but_load_and_send_nothing(parts: Server):
    link = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    secret = {"X-CSRF-Token": parts.csrf()}
    for site in ("cross-site", "same-site"):  # another port of this machine is the same site
        assert 200 == parts.ask(headers={"Sec-Fetch-Site": site, **link}).status
        assert 403 == parts.post("/echo", "", {"Sec-Fetch-Site": site, **link, **secret}).status
        assert 403 == parts.ask(headers={"Sec-Fetch-Site": site}).status
        for mode, kind in (("navigate", "iframe"), ("no-cors", "image"), ("no-cors", "script"), ("cors", "empty")):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode, "Sec-Fetch-Dest": kind}
            assert 403 == parts.ask(headers=headers).status, headers


# CSRF


def test_what_writes_needs_the_secret_of_our_pages(parts: Server):
    secret = parts.csrf()

    assert f'{{"csrf":"{secret}","a":"1"}}' == parts.post("/echo", f"csrf={secret}&a=1").text
    assert '{"a":"1"}' == parts.post("/echo", "a=1", {"X-CSRF-Token": secret}).text
    assert '{"bytes":2}' == parts.post("/echo", "{}", {"X-CSRF-Token": secret, "Content-Type": "application/json"}).text


@pytest.mark.parametrize("wrong", ["", "0" * 64, "é", "SECRET"])
def test_a_request_with_a_wrong_secret_writes_nothing(parts: Server, wrong):
    given = wrong.replace("SECRET", parts.csrf()[:-1])
    for answer in (
        parts.post("/echo", f"csrf={given}"),
        parts.post("/echo", "a=1", {"X-CSRF-Token": given}),
        parts.post("/save", f"name=planted.txt&text=x&csrf={given}"),
    ):
        assert 403 == answer.status
        assert "the request lacks the secret of this page, or has an old one. Load the page again." in answer.text
        assert_safe(answer)
    assert "planted.txt" not in parts.ask("/names").text


def test_the_secret_is_sent_once_and_where_other_sites_cannot_put_it(parts: Server):
    secret = parts.csrf()
    for target, form, headers in (
        ("/echo", "a=1", {}),
        ("/echo", "", {}),
        (f"/echo?csrf={secret}", "a=1", {}),
        ("/echo", f"csrf={secret}&csrf={secret}", {}),
        ("/echo", f"csrf={secret}", {"X-CSRF-Token": "0" * 64}),
        ("/echo", f"csrf={secret}", {"X-CSRF-Token": ""}),
        ("/echo", f"csrf={secret}", {"Content-Type": "text/plain"}),
        ("/echo", f"csrf={secret}", {"Content-Type": f"text/plain; {FORM}"}),
        ("/echo", f"csrf={secret}", {"Content-Type": ""}),
        ("/echo", f'{{"csrf":"{secret}"}}', {"Content-Type": "application/json"}),
        (
            "/echo",
            f'--x\r\nContent-Disposition: form-data; name="csrf"\r\n\r\n{secret}\r\n--x--\r\n',
            {"Content-Type": "multipart/form-data; boundary=x"},
        ),
        ("/echo", "a=1", {"Cookie": f"csrf={secret}; X-CSRF-Token={secret}"}),
    ):
        assert 403 == parts.post(target, form, headers).status, (target, form, headers)
    twice = [("X-CSRF-Token", secret), ("X-CSRF-Token", secret)]
    assert 403 == parts.ask("/echo", "POST", twice).status


def test_another_workbench_has_another_secret(parts: Server, lan: Server, tmp_path):
    with serving_parts(tmp_path) as other:
        assert parts.csrf() != other.csrf()
        assert 403 == parts.post("/echo", f"csrf={other.csrf()}").status


def test_a_form_that_cannot_be_read_is_refused_in_words(parts: Server):
    words = "the form cannot be read: it is not UTF-8, or has more than 1,000 fields."
    for body in (b"a=\xff", b"&".join([b"a=1"] * 1001)):
        answer = parts.ask("/echo", "POST", {"Content-Type": FORM}, body)
        assert (400, True) == (answer.status, words in answer.text)


def test_a_page_that_reads_cannot_be_posted_to_and_the_other_way(parts: Server):
    secret = {"X-CSRF-Token": parts.csrf()}
    for answer in (parts.post("/", "", secret), parts.ask("/echo", headers=secret), parts.ask("/echo", "HEAD", secret)):
        assert 405 == answer.status
        assert answer.header("allow")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "CONNECT", "OPTIONS", "PROPFIND", "get"])
def test_other_methods_are_refused(parts: Server, method):
    answer = parts.ask("/", method, {"X-CSRF-Token": parts.csrf(), "X-Secret": "planted"})

    assert (405, "GET, HEAD, POST") == (answer.status, answer.header("allow"))
    assert "planted" not in answer.all
    assert_safe(answer)


def test_no_connection_becomes_another_protocol(parts: Server):
    for protocol in ("websocket", "h2c", "TLS/1.0"):
        upgrade = {"Connection": "Upgrade", "Upgrade": protocol, "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA=="}
        assert 200 == parts.ask(headers={**upgrade, "Sec-WebSocket-Version": "13"}).status
    assert 505 == parts.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").status


# What every answer says


def test_no_answer_lets_other_sites_read_it(parts: Server, workbench: Server):
    asked = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "x-csrf-token"}
    for server in (parts, workbench):
        for method in ("GET", "HEAD", "POST", "OPTIONS", "PUT"):
            for origin in (f"http://{server.host}", "http://evil.example", "null"):
                for target in ("/", "/echo", "/static/x/y.js", "/none"):
                    answer = server.ask(target, method, {"Origin": origin, **asked})
                    assert [] == [name for name, _ in answer.headers if name.startswith("access-control")]


def test_the_policy_allows_scripts_of_files_and_nothing_else(workbench: Server):
    answer = workbench.ask("/")
    policy = answer.header("content-security-policy")
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))

    assert 200 == answer.status
    assert policy.startswith("default-src 'none'; ")
    assert ("'self'", "'self'") == (rules["script-src"], rules["style-src"])
    assert ("'none'", "'none'", "'self'") == (rules["frame-ancestors"], rules["base-uri"], rules["form-action"])
    assert set() == {"'unsafe-inline'", "'unsafe-eval'", "'unsafe-hashes'", "*", "http:", "https:"} & set(
        policy.split()
    )
    assert ("nosniff", "DENY") == (answer.header("x-content-type-options"), answer.header("x-frame-options"))


def test_every_kind_of_answer_is_safe(parts: Server, lan: Server):
    digest = parts.ask("/static/x/page.css")
    assert 404 == digest.status
    secret = {"X-CSRF-Token": parts.csrf()}
    answers = [
        parts.ask("/"),
        parts.ask("/", "HEAD"),
        parts.ask("/names"),
        parts.ask("/wrong?words=planted"),
        lan.ask("/"),
        parts.ask("/", headers={"Host": "evil.example"}),
        parts.ask("/none"),
        parts.ask("/none.json"),
        parts.ask("/", "DELETE"),
        parts.ask("/echo"),
        parts.ask("/echo", "POST", {"Content-Length": str(2 << 20), **secret}),
        parts.ask(f"/?{'x' * (33 << 10)}"),
        parts.ask(f"/?{'x' * (70 << 10)}"),
        parts.ask(headers={"X": "x" * (70 << 10)}),
        parts.ask(headers=[("X", "x")] * 300),
        parts.ask("/fault"),
        parts.ask("/fault", headers={"Accept": "application/json"}),
        parts.ask("/compute/sleep?arguments=[60]&seconds=0.1"),
        parts.send(b"\r\n\x16\x03\x01 nonsense\r\n\r\n"),
    ]
    for answer in answers:
        assert_safe(answer)
    expected = [200, 200, 200, 400, 401, 403, 404, 404, 405, 405, 413, 414, 414, 431, 431, 500, 500, 503, 400]
    assert expected == [answer.status for answer in answers]


def test_head_has_no_body_whatever_comes(parts: Server):
    for target, status in (("/", 200), ("/none", 404), ("/fault", 500), (f"/?{'x' * (33 << 10)}", 414)):
        with parts.connect() as connection:
            head = f"HEAD {target} HTTP/1.1\r\nHost: {parts.host}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            (answer,) = heads(connection)
        assert status == answer


def heads(connection: socket.socket) -> list[int]:
    """The statuses of answers that have no body, of which nothing else is left."""
    data = b"".join(iter(lambda: connection.recv(65536), b""))
    assert data.endswith(b"\r\n\r\n")
    return [int(head.split()[1]) for head in data.split(b"\r\n\r\n")[:-1]]


def test_requests_one_after_the_other_are_answered_in_order_each_checked(parts: Server):
    host = f"Host: {parts.host}\r\n"
    asked = [f"GET /names HTTP/1.1\r\n{host}\r\n", "GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n"]
    asked += [
        f"POST /echo HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\na=1",
        f"GET / HTTP/1.1\r\n{host}\r\n",
        "nonsense\r\n\r\n",
    ]
    with parts.connect() as connection:
        connection.sendall("".join(asked).encode())
        answers = all_received(connection)

    assert [200, 403, 403, 200, 400] == [answer.status for answer in answers]
    for answer in answers:
        assert_safe(answer)


@pytest.mark.parametrize(
    "head",
    [
        *(
            "Content-Length: -1",
            "Content-Length: 1, 2",
            "Content-Length: 0x1",
            "Content-Length: 1\r\nContent-Length: 2",
        ),
        *(
            "Transfer-Encoding: gzip",
            "Transfer-Encoding: chunked, chunked",
            "Content-Length: 5\r\nTransfer-Encoding: chunked",
            " folded: x",
            "no colon",
            "X\x00: x",
            "X : x",
        ),
    ],
)
def test_a_request_that_could_be_read_in_two_ways_is_refused(parts: Server, head):
    answer = parts.send(f"POST /echo HTTP/1.1\r\nHost: {parts.host}\r\n{head}\r\n\r\n".encode())

    assert answer.status in (400, 501)
    assert_safe(answer)


def test_after_a_request_with_two_lengths_nothing_is_read(parts: Server):
    hidden = f"0\r\n\r\nGET / HTTP/1.1\r\nHost: {parts.host}\r\n\r\n"
    with parts.connect() as connection:
        head = f"POST /echo HTTP/1.1\r\nHost: {parts.host}\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"
        connection.sendall((head + hidden).encode())
        answers = all_received(connection)

    assert [400] == [answer.status for answer in answers]


# Texts


PLANTED = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"


def test_texts_are_escaped_in_errors(parts: Server):
    from urllib.parse import quote

    page = parts.ask(f"/wrong?words={quote(PLANTED)}")
    data = parts.ask(f"/wrong?words={quote(PLANTED)}", headers={"Accept": "application/json"})

    assert (400, "text/html; charset=utf-8") == (page.status, page.header("content-type"))
    assert "my.run:3: &lt;script&gt;alert(1)&lt;/script&gt;&quot;&#x27;&amp;&lt;img" in page.text
    assert "<script" not in page.text
    assert (400, "application/json") == (data.status, data.header("content-type"))


def test_an_address_that_is_not_there_is_not_repeated(parts: Server, workbench: Server):
    for server in (parts, workbench):
        for target in ("/<script>alert(1)</script>", "/%3Cscript%3Ealert(1)%3C/script%3E", "/?%3Cscript%3Ealert(1)"):
            assert "<script>alert" not in server.ask(target).text
