"""Who may ask the workbench, and what. Every request passes here before any page sees it.

A page of another site can make the browser of our user send requests. It is told apart by the name that it was reached by
(`Host`: a site can let its own name point to this machine), by where it comes from (`Origin`, `Sec-Fetch-Site`) and, if it
writes, by a secret that only our own pages know. A workbench that other machines can reach asks for a session, too.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import socket
from collections.abc import Callable
from email.utils import formatdate
from functools import cache
from urllib.parse import parse_qsl, urlencode

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.web.settings import Limits, Settings

METHODS = ("GET", "HEAD", "POST")
READS = ("GET", "HEAD")
CSRF_HEADER, CSRF_FIELD = b"x-csrf-token", "csrf"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",  # with none at all, browsers would write `Origin: null` for our own forms
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()",
}
SAFE = tuple((name.encode(), value.encode()) for name, value in HEADERS.items())
NO_STORE = (b"cache-control", b"no-store")
_HOST = re.compile(r"(?P<name>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(?::[0-9]{1,5})?")
_MOST_SESSIONS = 100
_MOST_COOKIES = 4  # of our name, in one request: browsers send one
_MOST_HEADERS = 200
_FORM = "application/x-www-form-urlencoded"
_CSRF = "assay.csrf"  # the place in a request's scope


class SafeHeaders:
    """Adds the headers that keep a page safe to every answer, and its date."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = with_safe_headers(message.get("headers", ()))
            await send(message)

        await self._app(scope, receive, sending)


def with_safe_headers(headers: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The headers of an answer, with ours; nothing is stored unless the answer says so."""
    stored = any(name == b"cache-control" for name, _ in headers)
    return [*headers, *SAFE, *(() if stored else (NO_STORE,)), (b"date", formatdate(usegmt=True).encode())]


class Guard:
    """Refuses what may not ask, and passes the rest on."""

    def __init__(self, app: ASGIApp, settings: Settings, door: Door) -> None:
        self._app, self._settings, self._door = app, settings, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or raise what is wrong with it."""
        if scope["type"] != "http":
            raise HTTPException(400, "only HTTP is spoken here.")
        check_version(scope)
        check_method(scope)
        check_length(scope)
        check_head(scope, self._settings.limits)
        check_host(scope, self._settings)
        check_origin(scope)
        check_site(scope)
        exchange = self._door.exchange(scope)
        if exchange is not None:
            await exchange(scope, receive, send)
            return
        scope[_CSRF] = self._door.csrf(self._door.session(scope))
        receive = limited(scope, receive, self._settings.limits.body)
        if scope["method"] not in READS:
            receive = await checked(scope, receive)
        await self._app(scope, receive, send)


def check_version(scope: Scope) -> None:
    """Only the versions whose requests end where h11 thinks they do; it takes any number."""
    if scope["http_version"] not in ("1.0", "1.1"):
        raise HTTPException(505, "only HTTP/1.1 and HTTP/1.0 are spoken here.")


def check_method(scope: Scope) -> None:
    """Only the methods that pages use."""
    if scope["method"] not in METHODS:
        raise HTTPException(405, "only GET, HEAD and POST are answered here.", {"Allow": ", ".join(METHODS)})


def check_length(scope: Scope) -> None:
    """One way to say where the body ends: two of them are how requests are hidden in others."""
    if _values(scope, b"content-length") and _values(scope, b"transfer-encoding"):
        raise HTTPException(400, "a request says its length once.", {"Connection": "close"})


def check_head(scope: Scope, limits: Limits) -> None:
    """An address on this server, and no more of it and of headers than their work is worth."""
    if len(scope["raw_path"]) + len(scope["query_string"]) > limits.address:
        raise too_long(limits)
    if not scope["raw_path"].startswith(b"/"):
        raise HTTPException(400, "an address here begins with /.")
    headers = scope["headers"]
    if len(headers) > _MOST_HEADERS or sum(len(name) + len(value) for name, value in headers) > limits.head:
        raise too_much(limits)


def too_long(limits: Limits) -> HTTPException:
    """The error for an address that is too long."""
    return HTTPException(414, f"the address is longer than {limits.address >> 10} KB. Leave out some of what it says.")


def too_much(limits: Limits) -> HTTPException:
    """The error for headers that are too long, or too many."""
    return HTTPException(
        431, f"the headers of the request are longer than {limits.head >> 10} KB, or more than {_MOST_HEADERS}."
    )


def check_host(scope: Scope, settings: Settings) -> None:
    """The name that we were reached by is our own: another site's name may point to this machine."""
    hosts = _values(scope, b"host")
    if len(hosts) != 1:
        raise HTTPException(400, "a request names its host once.")
    found = _HOST.fullmatch(hosts[0])
    if found is None:
        raise HTTPException(400, "the host of the request is not a name and a port.")
    if not is_our_name(found["name"].lower().strip("[]"), settings):
        raise HTTPException(
            403,
            f"the workbench was reached by a name that is not its own, {found['name']}. Open it by the address that "
            "assay serve printed; if this is the name of its machine, start it with --host and this name.",
        )


def is_our_name(name: str, settings: Settings) -> bool:
    """Whether a name or address leads here and nowhere else.

    No site can own an address, so all are good where other machines may connect.
    """
    own = {"localhost", "127.0.0.1", "::1", settings.host.lower(), settings.ip.lower()}
    if name in own:
        return True
    return needs_token(settings) and (_is_address(name) or name in machine_names())


@cache
def machine_names() -> frozenset[str]:
    """What this machine calls itself, also in its local network."""
    name = socket.gethostname().lower()
    short = name.partition(".")[0]
    return frozenset({name, short, f"{short}.local"} - {""})


def needs_token(settings: Settings) -> bool:
    """Whether other machines, and so other people, can reach the workbench."""
    return not ipaddress.ip_address(settings.ip.partition("%")[0]).is_loopback


def check_origin(scope: Scope) -> None:
    """A request that says which page it comes from comes from one of ours."""
    origins = _values(scope, b"origin")
    if not origins:
        return
    own = f"http://{_values(scope, b'host')[0]}".lower()
    # Browsers that send no referrer write null for forms of our own pages, too. No other page gets same-origin.
    is_own_form = origins == ["null"] and _values(scope, b"sec-fetch-site") == ["same-origin"]
    if [origin.lower() for origin in origins] != [own] and not is_own_form:
        raise HTTPException(403, "the request comes from a page of another site.")


def check_site(scope: Scope) -> None:
    """Pages of other sites may link here, but not load anything from here."""
    if not {"cross-site", "same-site"} & set(_values(scope, b"sec-fetch-site")):
        return
    is_link = _values(scope, b"sec-fetch-mode") == ["navigate"] and _values(scope, b"sec-fetch-dest") == ["document"]
    if not is_link or scope["method"] not in READS:
        raise HTTPException(403, "the request comes from a page of another site.")


class Door:
    """Who has come in: a link with a token that works once, exchanged for a session that a cookie keeps."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._token = secrets.token_urlsafe(32)
        self._key = secrets.token_bytes(32)
        self._sessions: list[str] = []
        self.cookie = f"assay-{settings.port}"  # cookies are shared by all ports of a machine
        self.on_exchange: Callable[[], None] = lambda: None  # called when a new link is there

    @property
    def address(self) -> str:
        """The path of the link that opens the workbench."""
        return f"/?token={self._token}" if needs_token(self._settings) else "/"

    def csrf(self, session: str) -> str:
        """The secret that a page of this session sends with what it writes."""
        return hmac.new(self._key, session.encode(), hashlib.sha256).hexdigest()

    def session(self, scope: Scope) -> str:
        """The session of a request; empty where none is needed."""
        if not needs_token(self._settings):
            return ""
        session = self._known(scope)
        if session is None:
            raise HTTPException(
                401, "open the link that assay serve printed on its terminal: it has a token that opens it."
            )
        return session

    def exchange(self, scope: Scope) -> Response | None:
        """The answer to a link with a token: to the same page without it, with a session."""
        if scope["method"] != "GET" or scope["path"] != "/" or not needs_token(self._settings):
            return None
        given = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        tokens = [value for name, value in given if name == "token"]
        if not tokens:
            return None
        rest = urlencode([(name, value) for name, value in given if name != "token"])
        answer = RedirectResponse(f"/?{rest}" if rest else "/", 303)
        if self._known(scope) is not None:  # this browser has come in before
            return answer
        if len(tokens) != 1 or not same(tokens[0], self._token):
            raise HTTPException(
                401,
                "this link has been used, or its token is wrong. The latest link is on the terminal of assay serve.",
            )
        answer.set_cookie(self.cookie, self._begin(), httponly=True, samesite="strict", path="/")
        self.on_exchange()
        return answer

    def _begin(self) -> str:
        """A new session; the token has done its work."""
        session, self._token = secrets.token_urlsafe(32), secrets.token_urlsafe(32)
        self._sessions = [*self._sessions, session][-_MOST_SESSIONS:]
        return session

    def _known(self, scope: Scope) -> str | None:
        for given in _cookies(scope, self.cookie)[:_MOST_COOKIES]:
            found = [session for session in self._sessions if same(given, session)]
            if found:
                return found[0]
        return None


def same(given: str, secret: str) -> bool:
    """Whether a text is a secret, in a time that says nothing about it."""
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), secret.encode())


def csrf_of(request: Request) -> str:
    """What a page sends with what it writes, as the header X-CSRF-Token or the form field csrf."""
    token: str = request.scope[_CSRF]
    return token


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a form that was sent, the last of each name."""
    return dict(parse_form(await request.body()))


def parse_form(body: bytes) -> list[tuple[str, str]]:
    """The fields of a form."""
    try:
        return parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=1000)
    except ValueError:
        raise HTTPException(400, "the form cannot be read: it is not UTF-8, or has more than 1,000 fields.") from None


def limited(scope: Scope, receive: Receive, most: int) -> Receive:
    """The body of a request, up to a limit."""
    announced = _values(scope, b"content-length")
    if announced and int(announced[0]) > most:
        raise _too_large(most)
    size = 0

    async def receiving() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise _too_large(most)
        return message

    return receiving


def _too_large(most: int) -> HTTPException:
    return HTTPException(
        413, f"the request is larger than {most >> 10:,} KB. Put large files into the data folder instead."
    )


async def checked(scope: Scope, receive: Receive) -> Receive:
    """The body of a request that writes, once it has shown the secret of our pages, as a header or in its form."""
    headers = _values(scope, CSRF_HEADER)
    if headers:
        _check_csrf(scope, headers)
        return receive
    if not any(kind.partition(";")[0].strip().lower() == _FORM for kind in _values(scope, b"content-type")):
        _check_csrf(scope, [])
    body = await Request(scope, receive).body()
    _check_csrf(scope, [value for name, value in parse_form(body) if name == CSRF_FIELD])
    messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return messages.pop() if messages else await receive()

    return again


def _check_csrf(scope: Scope, given: list[str]) -> None:
    if len(given) != 1 or not same(given[0], scope[_CSRF]):
        raise HTTPException(403, "the request lacks the secret of this page, or has an old one. Load the page again.")


def _values(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def _cookies(scope: Scope, name: str) -> list[str]:
    """The values of a cookie. Ours need no quotes, which the library's parser takes quadratic time for."""
    pairs = [part.partition("=") for header in _values(scope, b"cookie") for part in header.split(";")]
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True
