"""A ledger of attempts: what a change may still err if it is tried again and again. Decides nothing.

Whoever tries a change until it passes gets it through in the end: at 5% for each attempt, in 40% of ten. So an attempt
gets a part of the error, and all attempts of a change together as much as one would get alone: attempt n gets
alpha / (n (n + 1)), which is alpha / 2, alpha / 6, alpha / 12, and so on. The ledger is a file with a line for each
attempt, so version control can merge it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from typing import Literal, TypeAlias

import msgspec
from msgspec import Struct

from assay._version import __version__
from assay.errors import InputError, show_id
from assay.files import locked_folder, write_whole
from assay.formats.sources import read_small
from assay.records.building import timestamp
from assay.records.model import Record

SCHEMA: Literal["assay/gate-ledger/1"] = "assay/gate-ledger/1"
_LONGEST = 200  # characters of a name


class Attempt(Record, frozen=True, kw_only=True):
    """One attempt to get a change through, as the ledger has it."""

    schema: Literal["assay/gate-ledger/1"] = SCHEMA
    change: str
    attempt: int  # from 1
    alpha: float  # that this attempt may err
    evidence: str  # digest of what was decided on: the same evidence again is the same attempt
    status: str
    created: str
    assay_version: str


def part_of(alpha: float, attempt: int) -> float:
    """The error that an attempt gets; of all attempts together it is `alpha`.

    >>> [part_of(0.05, attempt) for attempt in (1, 2, 4)]
    [0.025, 0.008333333333333333, 0.0025]
    """
    return alpha / (attempt * (attempt + 1))


Evidence: TypeAlias = "tuple[tuple[str, tuple[str, ...], tuple[int, ...]], bytes]"  # of a rule: what, and its values


def digest_of(evidence: Iterable[Evidence]) -> str:
    """The digest of what is decided on: the same evidence again is the same attempt."""
    digest = sha256()
    for words, values in evidence:
        digest.update(msgspec.json.encode(words))
        digest.update(values)
    return digest.hexdigest()


class Ledger(Struct, frozen=True):
    """The attempts that are in a file, and the file."""

    path: str
    attempts: tuple[Attempt, ...]

    def attempt(self, change: str | None, evidence: Iterable[Evidence], alpha: float) -> Attempt:
        """The attempt that this evidence is: an earlier one, or the next one of the change."""
        name, digest = checked_change(change), digest_of(evidence)
        earlier = [each for each in self.attempts if each.change == name]
        again = [each.attempt for each in earlier if each.evidence == digest]
        number = again[0] if again else len({each.evidence for each in earlier}) + 1
        return Attempt(
            change=name,
            attempt=number,
            alpha=part_of(alpha, number),
            evidence=digest,
            status="",
            created=timestamp(),
            assay_version=__version__,
        )

    def keep(self, attempt: Attempt) -> None:
        """Add an attempt to the file, unless it is there already."""
        if all((each.change, each.evidence) != (attempt.change, attempt.evidence) for each in self.attempts):
            lines = [msgspec.json.encode(each) + b"\n" for each in (*self.attempts, attempt)]
            write_whole(self.path, b"".join(lines))


@contextmanager
def opened_ledger(path: str | os.PathLike[str]) -> Iterator[Ledger]:
    """A ledger that no other process changes meanwhile."""
    place = os.fspath(path)
    with locked_folder(os.path.dirname(place) or "."):
        yield Ledger(place, read_ledger(place))


def read_ledger(path: str | os.PathLike[str]) -> tuple[Attempt, ...]:
    """The attempts in a ledger; none if there is no file yet."""
    place = os.fspath(path)
    try:
        lines = read_small(path).splitlines()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=place) from None
    return tuple(_attempt(line, number, place) for number, line in enumerate(lines, 1) if line.strip())


def _attempt(line: bytes, number: int, place: str) -> Attempt:
    try:
        return msgspec.json.decode(line, type=Attempt)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            f"is not an attempt of `assay gate`: {error}. Restore the ledger from version control, or remove this line.",
            source=place,
            line=number,
        ) from None


def checked_change(change: str | None) -> str:
    """The name of a change, if it is one."""
    if change is None or not change.strip():
        raise InputError("a ledger needs the name of the change: give it with `change='bm25-tuning'`.")
    if len(change) > _LONGEST or not change.isprintable():
        raise InputError(f"{show_id(change)} cannot be the name of a change: up to {_LONGEST} printable characters.")
    return change.strip()
