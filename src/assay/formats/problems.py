"""Bad rows, collected while a file is read. The error shows the first ten and counts the rest."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from msgspec import Struct

from assay.errors import InputError

SHOWN = 10


class Problem(Struct, frozen=True):
    """What is wrong with a row, and how to fix such rows."""

    what: str
    advice: str
    line: int | None = None


class Problems:
    """The problems of one source.

    >>> problems = Problems("bm25.run")
    >>> problems.add("score 'nan' is not a number (query 51, document D12)", "Fix or remove it.", line=1041)
    >>> problems.refuse()
    Traceback (most recent call last):
    ...
    assay.errors.InputError: bm25.run:1041: score 'nan' is not a number (query 51, document D12). Fix or remove it.
    """

    def __init__(self, source: str) -> None:
        self.source = source
        self.first: list[Problem] = []
        self.count = 0

    def add(self, what: str, advice: str, *, line: int | None = None) -> None:
        """Add a bad row."""
        self.extend([Problem(what, advice, line)], 1)

    def extend(self, problems: Iterable[Problem], count: int) -> None:
        """Add many bad rows; consumes only as many `problems` as will be shown."""
        self.count += count
        self.first += islice(problems, SHOWN - len(self.first))

    def refuse(self) -> None:
        """Raise one error for all bad rows, if there are any."""
        if self.first:
            raise InputError(self._message(), source=self.source, line=self.first[0].line)

    def _message(self) -> str:
        first, *others = self.first
        lines = [f"{first.what}. {first.advice}", *(_indented(problem) for problem in others)]
        if self.count > len(self.first):
            lines.append(f"  and {self.count - len(self.first):,} more")
        return "\n".join(lines)


def _indented(problem: Problem) -> str:
    return f"  {problem.what}" if problem.line is None else f"  line {problem.line}: {problem.what}"
