"""One request to an OpenAI-compatible server: a prompt in, an answer or the reason for a failure out."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any
from urllib.parse import SplitResult, urlsplit
from weakref import WeakSet

import msgspec
from msgspec import Struct

from assay.errors import LanguageModelError, MissingExtraError, show_id
from assay.llm.answers import TEMPERATURE, Answer, Question, Token, storable
from assay.llm.budget import Spent
from assay.llm.waiting import retry_after

HIDDEN = "***"
_LARGEST = 8 << 20  # bytes of a response
_TOKENS_KEPT = 8  # of an answer, with their alternatives
_WORTH_HIDING = 8  # characters; a shorter key is in every text
_LATER = frozenset({408, 425, 429})  # and all from 500
_REDIRECTS = range(300, 400)


class Failure(Exception):
    """A request without a usable answer."""

    def __init__(self, reason: str, *, again: bool = False, charged: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again  # it may work later
        self.charged = charged  # the server may have done its work
        self.is_amended = False  # the next request will leave out what the server complained of
        self.status = 0
        self.wait: float | None = None  # seconds that the server asks for


class Address(Struct, frozen=True):
    """Where a server is, without anything secret."""

    url: str
    host: str
    is_encrypted: bool

    @property
    def is_local(self) -> bool:
        """Whether it is this machine."""
        name = self.host.strip("[]").casefold()
        if name == "localhost" or name.endswith(".localhost"):
            return True
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return False


def parse_address(endpoint: str) -> Address:
    """The address of a server, such as https://api.example.org/v1; one that contains a password or parameters is refused.

    >>> parse_address("http://localhost:8080/v1/")
    Address(url='http://localhost:8080/v1', host='localhost', is_encrypted=False)
    """
    try:
        parts = urlsplit(endpoint.strip())
        host, _ = parts.hostname, parts.port
    except ValueError:
        parts, host = SplitResult("", "", "", "", ""), None
    if "@" in endpoint or "?" in endpoint or "#" in endpoint:  # not shown: it may hold a password
        raise LanguageModelError(
            "endpoint contains a user name, a password or parameters. Give the address only, such as "
            "https://api.example.org/v1, and put the key into an environment variable."
        )
    if parts.scheme not in ("http", "https") or not host or not re.fullmatch(r"[\w.:%\[\]-]+", host):
        raise LanguageModelError(
            f"endpoint cannot be {show_id(endpoint)!r}; it takes an address such as https://api.example.org/v1."
        )
    url = parts._replace(path=parts.path.rstrip("/").removesuffix("/chat/completions")).geturl()
    return Address(url, host, parts.scheme == "https")


class Server:
    """An OpenAI-compatible server. Several threads may ask at once."""

    def __init__(
        self, address: Address, model: str, *, key: str = "", timeout: float = 120.0, at_once: int | None = None
    ) -> None:
        try:
            import httpx
        except ImportError:
            raise MissingExtraError("asking a language model", "llm") from None
        self._httpx = httpx
        self._address, self._model, self._key, self._timeout = address, model, key, timeout
        self._unwanted: set[str] = set()  # parameters that the server refuses
        self._lock = Lock()
        self._closed = False
        self._streams: WeakSet[Any] = WeakSet()
        self._turn: AbstractContextManager[object] = nullcontext() if at_once is None else BoundedSemaphore(at_once)
        headers = {"Accept-Encoding": "identity", "User-Agent": "assay"}
        if key:
            headers["Authorization"] = f"Bearer {key}"
        self._client = httpx.Client(
            headers=headers,
            timeout=timeout,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=20),
            follow_redirects=False,  # another host would get key and texts
            trust_env=not address.is_local,  # a proxy cannot reach this machine
        )

    def close(self) -> None:
        """End all connections, and the requests of other threads that wait for an answer."""
        with self._lock:
            self._closed = True
            streams = list(self._streams)
        for stream in streams:
            _shut_down(stream)
        self._client.close()

    def _remember(self, event: str, about: Mapping[str, Any]) -> None:
        """Note the connections that are made: closing one does not wake a thread that reads from it."""
        if event in ("connection.connect_tcp.complete", "connection.start_tls.complete"):
            stream = about["return_value"]
            with self._lock:
                self._streams.add(stream)
            if self._closed:  # while it was being made
                _shut_down(stream)

    def ask(self, question: Question, most: Spent) -> Answer:
        """The answer to a question, asked once; raises Failure. A server that counts no tokens has used the most."""
        with self._turn:
            start = monotonic()
            unwanted = frozenset(self._unwanted)
            status, headers, body = self._response(self._body(question, unwanted))
            seconds = monotonic() - start
        if status != 200:
            raise self._failure(status, headers, body, unwanted)
        found = _parsed(body)
        if found is None:
            raise Failure("the answer is not what an OpenAI-compatible server sends", again=True, charged=True)
        return self._answer(found, question, most, seconds)

    def _body(self, question: Question, unwanted: frozenset[str]) -> dict[str, object]:
        length = "max_completion_tokens" if "max_tokens" in unwanted else "max_tokens"
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": "user", "content": storable(question.prompt)}],
            "temperature": TEMPERATURE,
            "seed": question.seed,
            "stream": False,
            length: question.answer_tokens,
        }
        if question.alternatives and "logprobs" not in unwanted:
            body |= {"logprobs": True, "top_logprobs": question.alternatives}
        return body

    def _response(self, body: Mapping[str, object]) -> tuple[int, Mapping[str, str], bytes]:
        """Status, headers and body of the response."""
        httpx = self._httpx
        late = f"no answer after {self._timeout:g} seconds (time-out)"
        deadline = monotonic() + self._timeout
        content = msgspec.json.encode(body)
        kind = {"Content-Type": "application/json"}
        url = f"{self._address.url}/chat/completions"
        watch = {"trace": self._remember}
        try:
            with self._client.stream("POST", url, content=content, headers=kind, extensions=watch) as response:
                received = bytearray()
                for block in response.iter_bytes():
                    received += block
                    if len(received) > _LARGEST:
                        raise Failure("the answer is larger than 8 MB", charged=True)
                    if monotonic() > deadline:
                        raise Failure(late, again=True, charged=True)
                return response.status_code, response.headers, bytes(received)
        except httpx.ConnectTimeout:
            raise Failure("no connection: time-out", again=True) from None
        except (httpx.ConnectError, httpx.PoolTimeout, httpx.ProxyError) as error:
            raise Failure(f"no connection: {self._shown(str(error))}", again=True) from None
        except httpx.TimeoutException:
            raise Failure(late, again=True, charged=True) from None
        except (httpx.TransportError, httpx.DecodingError) as error:
            raise Failure(f"the connection broke: {self._shown(str(error))}", again=True, charged=True) from None
        except (httpx.HTTPError, httpx.InvalidURL, RuntimeError) as error:  # RuntimeError: closed by another thread
            raise Failure(self._shown(str(error))) from None

    def _failure(self, status: int, headers: Mapping[str, str], body: bytes, unwanted: frozenset[str]) -> Failure:
        """What a status other than 200 means."""
        said, code = _complaint(body)
        detail = f", '{self._shown(said)}'" if said.strip() else ""
        reason = f"status {status}{detail}"
        if status in _REDIRECTS:
            reason = f"status {status}, a redirect to another address, which is not followed"
        failure = Failure(reason, again=(status in _LATER or status >= 500) and code != "insufficient_quota")
        failure.status, failure.wait = status, retry_after(headers.get("Retry-After"))
        if status == 400 and self._does_without(said, unwanted):
            failure.again = failure.is_amended = True
        return failure

    def _does_without(self, complaint: str, unwanted: frozenset[str]) -> bool:
        """Whether the server complains of a parameter that we can do without, and still sent."""
        named = next((name for name in ("logprobs", "max_tokens") if name in complaint), None)
        if named is None or named in unwanted:
            return False
        with self._lock:
            self._unwanted.add(named)
        return True

    def _answer(self, found: _Completion, question: Question, most: Spent, seconds: float) -> Answer:
        choice = found.choices[0]
        used = found.usage if isinstance(found.usage, dict) else {}
        tokens = _tokens(choice.logprobs) if question.alternatives else ()
        return Answer(
            text=self._without_key(choice.message.content or ""),
            tokens_in=_count(used.get("prompt_tokens"), most.tokens_in),
            tokens_out=_count(used.get("completion_tokens"), most.tokens_out),
            seconds=round(seconds, 6),
            cut_off=choice.finish_reason == "length",
            tokens=tuple(
                Token(
                    self._without_key(token.text), tuple((self._without_key(word), p) for word, p in token.alternatives)
                )
                for token in tokens
            ),
        )

    def _shown(self, text: str) -> str:
        """What a server or library says, fit for a message: short, printable and without the key."""
        return show_id(self._without_key(text).strip(), limit=200)

    def _without_key(self, text: str) -> str:
        return text.replace(self._key, HIDDEN) if len(self._key) >= _WORTH_HIDING else text


def _shut_down(stream: Any) -> None:
    with suppress(OSError, AttributeError, TypeError):  # it is closed already
        socket.socket.shutdown(stream.get_extra_info("socket"), socket.SHUT_RDWR)


# What servers send. Fields that we do not know are ignored.


class _Message(Struct, frozen=True):
    content: str | None = None


class _Choice(Struct, frozen=True):
    message: _Message
    finish_reason: str | None = None
    logprobs: Any = None


class _Completion(Struct, frozen=True):
    choices: list[_Choice]
    usage: Any = None


class _Alternative(Struct, frozen=True):
    token: str
    logprob: float | None = None


class _Place(Struct, frozen=True):
    token: str
    top_logprobs: list[_Alternative] = []


def _parsed(body: bytes) -> _Completion | None:
    try:
        found = msgspec.json.decode(body, type=_Completion)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return found if found.choices else None


def _tokens(logprobs: Any) -> tuple[Token, ...]:
    """The first tokens and their alternatives; none if the server gives no probabilities, or in another form."""
    content = logprobs.get("content") if isinstance(logprobs, dict) else None
    try:
        places = msgspec.convert(content[:_TOKENS_KEPT] if isinstance(content, list) else [], list[_Place])
    except msgspec.ValidationError:
        return ()
    return tuple(
        Token(place.token, tuple((each.token, each.logprob) for each in place.top_logprobs if each.logprob is not None))
        for place in places
    )


def _count(value: Any, unknown: int) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return int(value) if is_count else unknown


def _complaint(body: bytes) -> tuple[str, str]:
    """The message and the code of an error response, in the forms that servers use."""
    try:
        found = msgspec.json.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return body.decode("utf-8", "replace"), ""
    inner = found.get("error", found) if isinstance(found, dict) else found
    if isinstance(inner, dict):
        said = inner.get("message") or inner.get("detail") or ""
        return str(said), str(inner.get("code") or inner.get("type") or "")
    return str(inner), ""
