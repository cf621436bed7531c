"""All exceptions that users can cause.

    AssayError
    ├── InputError              invalid file or value, with file and line
    │   ├── FormatError         unknown format
    │   ├── LimitError          larger than any honest file, or endless
    │   └── DuplicateError      duplicate document in a query
    ├── LookupNameError         a result has nothing with this name
    ├── QuerySetError           the queries of run and qrels do not match
    ├── DocumentSetError        the documents of run and qrels have no id in common
    ├── MeasureError            a measure cannot be computed
    │   ├── UnknownMeasureError
    │   └── ParameterError
    ├── RulesError              invalid value of a rule
    ├── PluginError             a plug-in cannot be loaded
    ├── ContractError           a plug-in breaks a rule of its interface
    ├── FusionError             runs cannot be fused or collapsed
    ├── RetrievalError          a search failed: unknown mode or setting, missing index
    │   ├── MissingModelError   a model is not on this machine and cannot be downloaded
    │   └── MissingServerError  a database server is not named, not there, or lacks what is needed
    ├── FetchError              a run cannot be fetched: invalid setting, or no query was answered
    ├── ServerError             a server cannot be asked: its address, its key, or no usable answer
    │   └── LanguageModelError  a language model cannot be asked
    │       └── CapError        a cap on requests, tokens or money is reached
    └── MissingExtraError       an optional package is not installed

Every message gives the place, the problem and the fix. The command line prints it and exits with 2; any other exception
is a bug.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

_LONGEST_SOURCE = 1000  # characters of a path
_LONGEST_ID = 60  # characters
_LONGEST_NAME = 80  # what may be longer is a text
_MOST_NAMES = 10  # of those that a result has


class AssayError(Exception):
    """Base class of all errors that a user can cause."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(kind: type[AssayError], args: tuple[Any, ...], state: dict[str, Any]) -> AssayError:
    """Unpickle an error without formatting its message again."""
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(state)
    return error


class InputError(AssayError):
    """Invalid file or value, with the file and line where it was found."""

    def __init__(self, message: str, *, source: str | None = None, line: int | None = None) -> None:
        self.source, self.line = source, line
        place = ":".join(show_id(str(part), _LONGEST_SOURCE) for part in (source, line) if part is not None)
        super().__init__(f"{place}: {message}" if place else message)


class FormatError(InputError):
    """The content is not in a known format."""


class LimitError(InputError):
    """An input goes beyond a limit; the message says which one and how to raise it."""


class DuplicateError(InputError):
    """A document appears twice in one query.

    `pairs` lists all duplicates as (query, document), for callers that want to continue without those queries.
    """

    def __init__(
        self, message: str, *, pairs: Sequence[tuple[str, str]], source: str | None = None, line: int | None = None
    ) -> None:
        self.pairs = tuple(pairs)
        super().__init__(message, source=source, line=line)


class LookupNameError(AssayError, KeyError):
    """A result has nothing with this name."""

    __str__ = Exception.__str__  # a KeyError would print its message as a Python string

    def __init__(self, kind: str, name: object, known: Iterable[str]) -> None:
        names = list(known)
        hint = did_you_mean(str(name), names) or f"; the result has {some_of(names, _MOST_NAMES) or 'none'}."
        super().__init__(f"no {kind} {show_id(str(name))!r}{hint}")


class QuerySetError(AssayError):
    """The queries of run and qrels do not match under the rules."""


class DocumentSetError(AssayError):
    """No document of the run occurs in the qrels: the problem and, if it is known, how the ids differ and what to do."""

    def __init__(self, problem: str, fix: str = "") -> None:
        self.problem, self.fix = problem, fix
        usual = "Check that the run belongs to these qrels and writes ids in the same way."
        super().__init__(f"{problem}. {fix or usual} To score the run anyway, use `unmatched='zero'`.")


class MeasureError(AssayError):
    """A measure cannot be computed."""


class UnknownMeasureError(MeasureError):
    """No measure has this name."""


class ParameterError(MeasureError):
    """A measure does not take this parameter or value."""


class RulesError(AssayError):
    """Invalid value of a rule."""


class PluginError(AssayError):
    """A plug-in cannot be loaded."""


class ContractError(AssayError):
    """A plug-in breaks a rule of its interface; the message says which, and what to do."""


class FusionError(AssayError):
    """Runs cannot be fused or collapsed."""


class RetrievalError(AssayError):
    """A search failed."""


class MissingModelError(RetrievalError):
    """A model is not on this machine and cannot be downloaded; the message says how to get it."""


class MissingServerError(RetrievalError):
    """A mode needs a database server that is not named, does not answer, or lacks something; the message says what."""


class FetchError(AssayError):
    """A run cannot be fetched from a system: invalid setting, or no query was answered."""


class ServerError(AssayError):
    """A server cannot be asked: invalid address, wrong key, or no usable answer."""


class LanguageModelError(ServerError):
    """A language model cannot be asked: invalid setting, wrong key, or no usable answer."""


class CapError(LanguageModelError):
    """One more request could exceed a cap on requests, tokens or money; the message says how to go on."""


class MissingExtraError(AssayError):
    """A feature needs a package that is not installed."""

    def __init__(self, feature: str, extra: str = "", *, package: str = "") -> None:
        wanted = package or f"'assay-ir[{extra}]'"
        super().__init__(f"{feature} needs one more package: pip install {wanted}")


class IncompleteWarning(UserWarning):
    """A run lacks the documents of queries that failed when it was fetched."""


class NameWarning(UserWarning):
    """A measure is computed whose name means something else in another tool."""


class CleanUpWarning(UserWarning):
    """Something that a benchmark made in a server could not be removed."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """'; did you mean 'nDCG'?' if a known name is similar, else an empty string."""
    near = nearest(name, known)
    return f"; did you mean {near!r}?" if near else ""


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most similar, if one is."""
    import difflib  # only needed for errors: importing it takes 10 ms

    by_fold: dict[str, str] = {}
    for candidate in known:
        by_fold.setdefault(candidate.casefold(), candidate)
    near = difflib.get_close_matches(name.casefold(), by_fold, n=1, cutoff=0.6)
    return by_fold[near[0]] if near else None


def some_of(items: Sequence[str], limit: int = 3) -> str:
    """The first few items for a message: '51, 57, 60, ...'."""
    shown = ", ".join(show_id(item) for item in items[:limit])
    return f"{shown}, ..." if len(items) > limit else shown


def show_id(text: str, limit: int = _LONGEST_ID) -> str:
    r"""An id for display: control characters and undecodable bytes are escaped; a long id is cut in its middle.

    With a higher limit it is a text, and cut at its end.

    >>> print(show_id("a\tb\x1b[31m"))
    a\tb\x1b[31m
    >>> show_id("bm25-with-feedback-and-a-reranker-100", 24)
    'bm25-with-fee...nker-100'
    """
    if len(text) > limit:
        end = limit // 3 if limit <= _LONGEST_NAME else 0  # names of runs often differ in their last characters only
        text = f"{text[: limit - end - 3]}...{text[len(text) - end :]}"
    return text if text.isprintable() else "".join(_shown(character) for character in text)


def for_terminal(text: str) -> str:
    r"""A text as a terminal may show it: control characters are escaped, except newlines and tabs.

    A raw one could move the cursor, hide what was printed, or set what the terminal pastes.

    >>> print(for_terminal("a\x1b[31m\nb"))
    a\x1b[31m
    b
    """
    if text.isprintable():
        return text
    return "".join(character if character in "\n\t" else _shown(character) for character in text)


def _shown(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that is not UTF-8, kept by surrogateescape
        return f"\\x{ord(character) - 0xDC00:02x}"
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
