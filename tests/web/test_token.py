"""Where other machines can reach the workbench, a link with a token opens it once, and a cookie keeps it open."""

from __future__ import annotations

import hmac
import re
from http.client import IncompleteRead
from http.cookies import SimpleCookie
from pathlib import Path
from urllib.parse import quote

import pytest

from assay.web import safety
from assay.web.safety import Door, needs_token
from assay.web.settings import Settings
from web.servers import Answer, Server, assert_safe, eventually, serving, serving_parts

OTHERS = {"host": "192.0.2.7", "ip": "192.0.2.7"}
CLOSED = "open the link that assay serve printed on its terminal: it has a token that opens it."
USED = "this link has been used, or its token is wrong. The latest link is on the terminal of assay serve."


def opened(server: Server, target: str = "") -> dict[str, str]:
    """The cookie of a browser that opens the latest link, as it sends it."""
    before = len(server.links)
    answer = server.ask(target or f"/?token={server.token}")
    assert 303 == answer.status
    assert eventually(lambda: len(server.links) == before + 1)
    return {"Cookie": cookie_of(answer)}


def cookie_of(answer: Answer) -> str:
    return (answer.header("set-cookie") or "").partition(";")[0]


def test_without_a_session_nothing_is_shown_or_done(lan: Server):
    for target in (
        "/",
        "/names",
        "/data/my.run",
        "/static/x/page.css",
        "/none",
        "/fault",
        "/compute/pid",
        "/?tokens=1",
    ):
        for method in ("GET", "HEAD"):
            answer = lan.ask(target, method)
            assert 401 == answer.status, (method, target)
            assert CLOSED in answer.text or method == "HEAD"
            assert lan.token not in answer.all
            assert_safe(answer)
    for form in ("name=planted.txt&text=x", "csrf="):
        assert 401 == lan.post("/save", form).status


def test_the_link_is_exchanged_for_a_cookie_that_scripts_and_other_sites_cannot_use(lan: Server):
    token = lan.token
    answer = lan.ask(f"/?token={token}")
    cookie = SimpleCookie(answer.header("set-cookie"))[f"assay-{lan.port}"]

    assert (303, "/") == (answer.status, answer.header("location"))
    assert (True, "strict", "/", "") == (cookie["httponly"], cookie["samesite"], cookie["path"], cookie["domain"])
    assert len(cookie.value) >= 43  # 32 random bytes
    assert token not in answer.all
    assert_safe(answer)
    assert 200 == lan.ask(headers={"Cookie": cookie_of(answer)}).status


def test_a_link_works_once_and_the_next_one_is_printed(lan: Server):
    first = lan.token
    session = opened(lan)
    second = lan.token
    again = lan.ask(f"/?token={first}")

    assert first != second
    assert (401, True, None) == (again.status, USED in again.text, again.header("set-cookie"))
    assert_safe(again)
    other = opened(lan)
    assert session != other
    assert 200 == lan.ask(headers=session).status == lan.ask(headers=other).status


def test_a_wrong_token_opens_nothing_and_leaves_the_right_one(lan: Server):
    token = lan.token
    for query in (
        *(
            "token=",
            "token=x",
            f"token={token[:-1]}",
            f"token={token}x",
            f"token={token.swapcase()}",
            "token=%00",
            "token=é",
        ),
        *(f"token={token}&token={token}", f"token={token}&token=x", f"token=x&token={token}", f"token={token}%20"),
    ):
        answer = lan.ask(f"/?{quote(query, safe='=&%')}")
        assert (401, None) == (answer.status, answer.header("set-cookie")), query
        assert token not in answer.all
    assert token == lan.token
    opened(lan)


def test_the_token_is_taken_from_the_link_only(lan: Server):
    token = lan.token
    for target, method, headers in (
        (f"/names?token={token}", "GET", {}),
        (f"//?token={token}", "GET", {}),
        (f"/?token={token}", "HEAD", {}),
        (f"/?token={token}", "POST", {}),
        (f"/?Token={token}", "GET", {}),
        ("/", "GET", {"Authorization": f"Bearer {token}"}),
        ("/", "GET", {"Cookie": f"token={token}"}),
        ("/", "GET", {"Cookie": f"assay-{lan.port}={token}"}),
        ("/", "GET", {"X-CSRF-Token": token, "Referer": f"http://{lan.host}/?token={token}"}),
    ):
        answer = lan.ask(target, method, headers)
        assert (401, None) == (answer.status, answer.header("set-cookie")), (target, method, headers)
    assert token == lan.token


def test_other_sites_cannot_use_a_link_up(lan: Server):
    for headers in ({"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert 403 == lan.ask(f"/?token={lan.token}", headers=headers).status
    opened(lan)


def test_what_else_the_link_says_is_kept_and_leads_nowhere_else(lan: Server):
    for rest in ("next=http%3A%2F%2Fevil.example", "a=%0D%0ASet-Cookie%3A+x%3D1", "q=a+b&q=%26"):
        before = len(lan.links)
        answer = lan.ask(f"/?{rest}&token={lan.token}")
        assert f"/?{rest}" == answer.header("location")
        assert eventually(lambda before=before: len(lan.links) > before)


def test_a_browser_that_has_a_session_does_not_use_a_link_up(lan: Server):
    session = opened(lan)
    token = lan.token
    answer = lan.ask(f"/?token={token}&a=1", headers=session)

    assert (303, "/?a=1", None) == (answer.status, answer.header("location"), answer.header("set-cookie"))
    assert token == lan.token


def test_cookies_of_others_open_nothing(lan: Server):
    name, _, value = opened(lan)["Cookie"].partition("=")
    for cookie in (
        *(f"assay-{lan.port + 1}={value}", f"assay={value}", f"{name}={value[:-1]}", f"{name}={value}x", f"{name}="),
        *(
            f"{name.upper()}={value}",
            f'{name}="{value}"',
            value,
            f"x{name}={value}",
            "=",
            ";;;",
            f"{name}=é",
            f"{name} {value}",
        ),
    ):
        assert 401 == lan.ask(headers={"Cookie": cookie}).status, cookie
    for cookie in (
        f"a=1; {name}={value}; b=2",
        f"{name}={value}",
        f"a={{}}; {name}={value}",
        f"{name}=x; {name}={value}",
    ):
        assert 200 == lan.ask(headers={"Cookie": cookie}).status, cookie
    assert 200 == lan.ask(headers=[("Cookie", "a=1"), ("Cookie", f"{name}={value}")]).status
    assert 401 == lan.ask(headers={"Cookie": "; ".join([f"{name}=x"] * 4000)}).status


def test_the_secret_of_one_session_is_no_good_in_another(lan: Server):
    one, other = opened(lan), opened(lan)
    secret = lan.csrf(one)

    assert secret != lan.csrf(other)
    assert 200 == lan.post("/echo", f"csrf={secret}", one).status
    assert 403 == lan.post("/echo", f"csrf={secret}", other).status
    assert 401 == lan.post("/echo", f"csrf={secret}").status


def test_sessions_that_were_opened_long_ago_end_when_there_are_too_many():
    door = Door(Settings(Path("/"), **OTHERS))

    def scope(query: str = "", cookie: str = ""):
        headers = [(b"cookie", cookie.encode())]
        return {"method": "GET", "path": "/", "query_string": query.encode(), "headers": headers}

    cookies = []
    for _ in range(101):
        answer = door.exchange(scope(door.address.partition("?")[2]))
        cookies.append(answer.headers["set-cookie"].partition(";")[0])
    assert 101 == len({door.session(scope(cookie=cookie)) for cookie in cookies[1:]} | {"the first"})
    with pytest.raises(safety.HTTPException):
        door.session(scope(cookie=cookies[0]))


def test_secrets_are_compared_in_constant_time(monkeypatch):
    door = Door(Settings(Path("/"), **OTHERS))
    compared = []

    def noting(one: bytes, other: bytes) -> bool:
        compared.append((one, other))
        return one == other

    monkeypatch.setattr(hmac, "compare_digest", noting)
    scope = {"method": "GET", "path": "/", "headers": []}
    token = door.address.rpartition("=")[2].encode()
    answer = door.exchange({**scope, "query_string": b"token=" + token})
    cookie = answer.headers["set-cookie"].partition(";")[0].encode()
    session = cookie.partition(b"=")[2]
    assert session.decode() == door.session({**scope, "headers": [(b"cookie", cookie)]})
    safety._check_csrf({safety._CSRF: "secret"}, ["secret"])

    assert [(token, token), (session, session), (b"secret", b"secret")] == compared


def test_which_addresses_other_machines_can_reach():
    for ip in ("127.0.0.1", "127.8.9.1", "::1"):
        assert not needs_token(Settings(Path("/"), ip=ip)), ip
        assert "/" == Door(Settings(Path("/"), ip=ip)).address
    for ip in ("0.0.0.0", "::", "192.0.2.7", "10.0.0.1", "fe80::1%eth0", "169.254.1.1", "::ffff:127.0.0.1"):
        assert needs_token(Settings(Path("/"), ip=ip)), ip
        assert re.fullmatch(r"/\?token=[\w-]{43}", Door(Settings(Path("/"), ip=ip)).address)


def test_here_no_token_is_needed_or_looked_at(parts: Server):
    answer = parts.ask("/?token=x")

    assert (200, None) == (answer.status, answer.header("set-cookie"))
    assert "token" not in parts.out


def test_tokens_and_sessions_are_never_logged(data):
    # Everything that Python may log goes to standard error here, and faults show all they know.
    with serving_parts(data, settings={**OTHERS, "logs": True}, env={"ASSAY_DEBUG": "1"}) as server:
        token = server.token
        wrong = "planted-" + token[8:]
        asked = f"GET /?token={token} HTTP/1.1\r\n"
        bad = [
            server.ask(f"/?token={wrong}"),
            server.ask(f"/?token={token}", headers={"Host": "evil.example"}),
            server.ask(f"/names?token={token}"),
            server.ask(f"/?token={token}", "PUT"),
            server.send(f"{asked}\r\n".encode()),
            server.send(f"{asked}nonsense\r\n\r\n".encode()),
            server.ask(f"/names?token={token}", headers={"Connection": "Upgrade", "Upgrade": f"websocket {token}"}),
        ]
        session = opened(server)
        referer = {**session, "Referer": f"http://{server.host}/?token={token}"}
        bad.append(server.ask(f"/fault?token={token}", headers=referer))
        with pytest.raises(IncompleteRead):
            server.ask(f"/broken?token={token}", headers=referer)
        assert [401, 403, 401, 405, 400, 400, 401, 500] == [answer.status for answer in bad]
        assert "ValueError: planted" in server.err  # so what was told came here
        secrets = [token, wrong, session["Cookie"].partition("=")[2], server.csrf(session), server.token]
    for secret in secrets:
        assert secret not in server.err
        assert secret not in "".join(answer.all for answer in bad)
    # On the terminal, each token is in the line that is there to show it.
    assert [f"Serving: http://{server.host}/?token={token}", f"Next: {server.links[-1]}"] == server.out.splitlines()


def test_assay_serve_prints_the_link_and_the_next_one(data):
    with serving(data, "--host", "0.0.0.0") as server:
        (link,) = server.links
        assert re.fullmatch(r"http://127\.0\.0\.1:[0-9]+/\?token=[\w-]{43}", link)
        assert 401 == server.ask("/").status
        session = opened(server)
        assert 200 == server.ask("/", headers=session).status
        assert 200 == server.ask("/", headers={**session, "Host": f"192.0.2.99:{server.port}"}).status
        assert 403 == server.ask("/", headers={**session, "Host": "evil.example"}).status
    assert f"For the next browser: {server.links[-1]}" in server.out
    assert link != server.links[-1]
    assert "" == server.err
