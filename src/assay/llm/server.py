"""One request to an OpenAI-compatible server: a prompt in, an answer or the reason for a failure out."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any

import msgspec
from msgspec import Struct

from assay.http.addresses import Address
from assay.http.connection import Connection, Failure, Response, complaint
from assay.llm.answers import TEMPERATURE, Answer, Question, Token
from assay.llm.budget import Spent
from assay.words import writable_text

NEEDS = ("asking a language model", "llm")  # what for, and which extra must be installed
PATH = "/chat/completions"  # after the address
_TOKENS_KEPT = 8  # of an answer, with their alternatives


class Server:
    """An OpenAI-compatible server. Several threads may ask at once."""

    def __init__(
        self, address: Address, model: str, *, key: str = "", timeout: float = 120.0, at_once: int | None = None
    ) -> None:
        self._address, self._model = address, model
        self._unwanted: set[str] = set()  # parameters that the server refuses
        self._lock = Lock()
        self._turn: AbstractContextManager[object] = nullcontext() if at_once is None else BoundedSemaphore(at_once)
        headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._connection = Connection(address, headers=headers, key=key, timeout=timeout, needs=NEEDS)

    def close(self) -> None:
        """End all connections, and the requests of other threads that wait for an answer."""
        self._connection.close()

    def ask(self, question: Question, most: Spent) -> Answer:
        """The answer to a question, asked once; raises Failure. A server that counts no tokens has used the most."""
        with self._turn:
            start = monotonic()
            unwanted = frozenset(self._unwanted)
            response = self._response(self._body(question, unwanted))
            seconds = monotonic() - start
        if response.status != 200:
            raise self._failure(response, unwanted)
        found = _parsed(response.body)
        if found is None:
            raise Failure("the answer is not what an OpenAI-compatible server sends", again=True, charged=True)
        return self._answer(found, question, most, seconds)

    def _body(self, question: Question, unwanted: frozenset[str]) -> dict[str, object]:
        length = "max_completion_tokens" if "max_tokens" in unwanted else "max_tokens"
        body: dict[str, object] = {
            "model": self._model,
            "messages": [{"role": "user", "content": writable_text(question.prompt)}],
            "temperature": TEMPERATURE,
            "seed": question.seed,
            "stream": False,
            length: question.answer_tokens,
        }
        if question.alternatives and "logprobs" not in unwanted:
            body |= {"logprobs": True, "top_logprobs": question.alternatives}
        return body

    def _response(self, body: Mapping[str, object]) -> Response:
        return self._connection.send("POST", f"{self._address.url}{PATH}", msgspec.json.encode(body))

    def _failure(self, response: Response, unwanted: frozenset[str]) -> Failure:
        """What a status other than 200 means."""
        failure = self._connection.failure_of(response)
        said, code = complaint(response.body)
        if code == "insufficient_quota":
            failure.again = False
        if response.status == 400 and self._does_without(said, unwanted):
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
        choice, without_key = found.choices[0], self._connection.without_key
        used = found.usage if isinstance(found.usage, dict) else {}
        tokens = _tokens(choice.logprobs) if question.alternatives else ()
        return Answer(
            text=without_key(choice.message.content or ""),
            tokens_in=_count(used.get("prompt_tokens"), most.tokens_in),
            tokens_out=_count(used.get("completion_tokens"), most.tokens_out),
            seconds=round(seconds, 6),
            cut_off=choice.finish_reason == "length",
            tokens=tuple(
                Token(without_key(token.text), tuple((without_key(word), p) for word, p in token.alternatives))
                for token in tokens
            ),
        )


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
