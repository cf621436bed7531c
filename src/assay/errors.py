"""What can go wrong, as one tree of exceptions.

    AssayError
    ├── InputError              a file or value that cannot be used; knows file and line
    │   ├── FormatError         nothing we read looks like this
    │   └── DuplicateError      the same document twice for one query
    ├── QuerySetError           the queries of run and qrels do not fit together
    ├── MeasureError            a measure that cannot be computed as asked
    │   ├── UnknownMeasureError
    │   └── ParameterError
    ├── RulesError              a rule with an impossible value
    ├── FusionError             runs that cannot be fused or collapsed as asked
    ├── RetrievalError          a search that cannot be done as asked: unknown mode or setting, an index that is not there
    │   └── MissingModelError   a model that is not on this machine and cannot be fetched
    └── MissingExtraError       a feature whose package is not installed

Every message says where, what, and what to do instead. The command line prints it and exits with 2;
anything that is not an AssayError is a bug of ours.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any


class AssayError(Exception):
    """Base of all errors that a user can cause."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[AssayError], args: tuple[Any, ...], state: dict[str, Any]) -> AssayError:
    """An error as it was, in another process: its message is not made anew."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(AssayError):
    """A file or value that cannot be used, with the place where it stands."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        self.source, self.line = source, line
        place = ":".join(str(part) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class FormatError(InputError):
    """The content is in no format that we read."""


class DuplicateError(InputError):
    """The same document stands twice in one query.

    `pairs` lists every (query, document) concerned, for callers that go on without those queries.
    """

    def __init__(
        self, message: str, *, pairs: Sequence[tuple[str, str]], source: str | None = None, line: int | None = None
    ) -> None:
        self.pairs = tuple(pairs)
        super().__init__(message, source=source, line=line)


class QuerySetError(AssayError):
    """The queries of the run and of the qrels do not fit together under the rules."""


class MeasureError(AssayError):
    """A measure that cannot be computed as asked."""


class UnknownMeasureError(MeasureError):
    """No measure has this name."""


class ParameterError(MeasureError):
    """A measure does not take this parameter or this value."""


class RulesError(AssayError):
    """A rule with an impossible value."""


class FusionError(AssayError):
    """Runs that cannot be fused or collapsed as asked."""


class RetrievalError(AssayError):
    """A search that cannot be done as asked."""


class MissingModelError(RetrievalError):
    """A model is not on this machine and cannot be fetched; the message says how to get it."""


class MissingExtraError(AssayError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        super().__init__(f"{feature} needs one more package: pip install 'assay-ir[{extra}]'")


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean 'nDCG'?' for a near miss, or nothing."""
    import difflib  # only on the way to an error: it costs 10 ms

    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.6)
    return f"; did you mean {by_fold[near[0]]!r}?" if near else ""


def some_of(items: Sequence[str], limit: int = 3) -> str:
    """The first few items for a message: '51, 57, 60, ...'."""
    shown = ", ".join(show_id(item) for item in items[:limit])
    return f"{shown}, ..." if len(items) > limit else shown


def show_id(text: str, limit: int = 60) -> str:
    r"""An id as it may be shown: control characters and undecodable bytes escaped, long ids cut.

    >>> print(show_id("a\tb\x1b[31m"))
    a\tb\x1b[31m
    """
    if len(text) > limit:
        text = text[: limit - 3] + "..."
    return text if text.isprintable() else "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8, kept by surrogateescape
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
