"""Answers to prompts, each asked once: kept on disk, under the caps, tried again where that may help."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from threading import Event, Lock
from typing import NoReturn

from msgspec import Struct

from assay.errors import LanguageModelError
from assay.http.connection import Failure
from assay.http.waiting import LONGEST_ASKED, backoff
from assay.llm.answers import Answer, AnswerStore, Question
from assay.llm.budget import Budget
from assay.llm.server import Server
from assay.words import number_of


class Given(Struct, frozen=True):
    """An answer, and whether it was asked now or kept from earlier."""

    answer: Answer
    is_kept: bool


class Place(Struct, frozen=True):
    """Who is asked, and what to do about errors."""

    name: str  # as in "the language model at https://api.example.org/v1"
    if_refused: str = ""  # the fix if the server does not accept the key
    if_wrong: str = ""  # the fix if it does not accept the question
    ending: Callable[[], str] = str  # why the server has ended; empty while it runs


class Client:
    """Asks one language model. Several threads may ask at once; an error of one ends the work of all."""

    def __init__(self, server: Server, store: AnswerStore, budget: Budget, place: Place, *, retries: int = 5) -> None:
        self._server, self._store, self._budget, self._place, self._retries = server, store, budget, place, retries
        self._random = Random()  # for waiting only
        self._error: LanguageModelError | None = None  # that has ended the work
        self._ended = Event()
        self._locks: dict[str, Lock] = {}  # by question: two threads never ask the same
        self._lock = Lock()

    def ask(self, question: Question) -> Given:
        """The answer to a question, asked only if it is not kept yet."""
        with self._lock:
            own = self._locks.setdefault(question.digest, Lock())
        with own:
            answer = self._store.get(question)
            if answer is not None:
                return Given(answer, is_kept=True)
            try:
                answer = self._asked(question)
                self._store.add(question, answer)
            except LanguageModelError as error:
                self._error = self._error or error
                self._ended.set()
                raise
            return Given(answer, is_kept=False)

    def keep_account(self, path: Path) -> None:
        """Keep account of what is spent in a file: the caps then hold for all runs that use it together."""
        self._budget.keep_account(path)

    def close(self) -> None:
        """End all requests and waits."""
        self._error = self._error or LanguageModelError(f"{self._place.name}: closed while it was asked.")
        self._ended.set()
        self._server.close()

    def _asked(self, question: Question) -> Answer:
        failures = 0
        while True:
            if self._error is not None:
                raise type(self._error)(str(self._error))
            answer, failure = self._attempt(question)
            if answer is not None:
                return answer
            failures += not failure.is_amended
            if not failure.again or failures > self._retries or _asks_for_long(failure) or self._place.ending():
                self._give_up(failure, failures)
            self._ended.wait(0 if failure.is_amended else backoff(failures - 1, failure.wait, self._random))

    def _attempt(self, question: Question) -> tuple[Answer | None, Failure]:
        """The answer, or why there is none."""
        with self._budget.request(question.prompt, question.answer_tokens) as booking:
            try:
                answer = self._server.ask(question, booking.most)
            except Failure as failure:
                if not failure.charged:
                    booking.settle(0, 0)
                return None, failure
            booking.settle(answer.tokens_in, answer.tokens_out)
            return answer, Failure("")

    def _give_up(self, failure: Failure, failures: int) -> NoReturn:
        place = self._place
        reason = place.ending() or failure.reason
        if failure.again:
            fix = "Check that it is running and reachable, and run again"
            if _asks_for_long(failure):
                fix = f"It asks for a pause of {failure.wait:,.0f} seconds. Run again after that"
            raise LanguageModelError(
                f"no answer after {number_of(failures, 'attempt')}: {reason} ({place.name}). {fix}: answers so far are "
                "kept and not asked again."
            )
        fix = place.if_refused if failure.status in (401, 403) else place.if_wrong
        raise LanguageModelError(f"no answer: {reason} ({place.name}). {fix}".rstrip())


def _asks_for_long(failure: Failure) -> bool:
    """Whether the server asks for a longer pause than anyone would wait for."""
    return failure.wait is not None and failure.wait > LONGEST_ASKED
