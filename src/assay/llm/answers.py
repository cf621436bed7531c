"""Questions to a language model, its answers, and the folder where answers are kept.

One file per answer, named after the digest of everything that decides it: model, prompt and parameters. The prompt itself
is not stored.
"""

from __future__ import annotations

import hashlib
import re
from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from assay.errors import InputError, LanguageModelError
from assay.files import write_whole
from assay.words import writable_text

TEMPERATURE = 0
_VERSION = 1  # of what an answer file holds
_OPEN_THOUGHT = re.compile(r"<think>(?!.*</think>)", re.DOTALL)


class Question(Struct, frozen=True):
    """Everything that decides an answer."""

    model: str  # its name at the server, or the digest of its file and the engine's version
    prompt: str
    answer_tokens: int  # the answer is cut off after so many
    seed: int = 0
    alternatives: int = 0  # likely tokens wanted for each place of the answer, with their probabilities

    @property
    def digest(self) -> str:
        """Under which the answer is kept."""
        parts = [_VERSION, TEMPERATURE, *(getattr(self, name) for name in self.__struct_fields__)]
        text = msgspec.json.encode([writable_text(part) if isinstance(part, str) else part for part in parts])
        return hashlib.sha256(text).hexdigest()


class Token(Struct, frozen=True, array_like=True):
    """One token of an answer, and the tokens that were likely in its place, with the logarithm of their probability."""

    text: str
    alternatives: tuple[tuple[str, float], ...]


class Answer(Struct, frozen=True):
    """What a language model said, and what it took."""

    text: str
    tokens_in: int
    tokens_out: int
    seconds: float = 0.0  # that the model took
    cut_off: bool = False  # at the number of tokens allowed
    tokens: tuple[Token, ...] = ()  # the first ones, if the server gives probabilities

    @property
    def said(self) -> str:
        """The text without what a model thought aloud before it.

        >>> Answer("<think>2 or 3?</think> 3", 0, 0).said, Answer("<think>2 or", 0, 0, cut_off=True).said
        (' 3', '')
        """
        return "" if _OPEN_THOUGHT.search(self.text) else self.text.rpartition("</think>")[2]


class AnswerStore:
    """Answers on disk; several threads and processes may use a folder at once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, question: Question) -> Answer | None:
        """The answer that is kept, if there is one. A file that cannot be read counts as missing."""
        with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return msgspec.json.decode(self._path(question).read_bytes(), type=Answer)
        return None

    def add(self, question: Question, answer: Answer) -> None:
        """Keep an answer. It is on disk when this returns, whole or not at all."""
        path = self._path(question)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, msgspec.json.encode(answer))
        except OSError as error:
            raise LanguageModelError(f"{path.parent}: answers cannot be kept here: {error.strerror}.") from None
        except InputError as error:
            raise LanguageModelError(f"an answer cannot be kept: {error}") from None

    def _path(self, question: Question) -> Path:
        digest = question.digest
        return self._folder / digest[:2] / f"{digest}.json"
