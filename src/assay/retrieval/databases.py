"""What the modes that search in a database share: whose an index in a server is, and what they accept as text.

An index in a server has a name of its own, `assay_` and 16 random digits, and a marker that says who made it. It belongs
to the process that built it, and is removed by the benchmark that did. What a killed process left is removed by a later
benchmark. Nothing without both the name and the marker is ever removed. Knows no engine.
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import msgspec
import numpy as np
from msgspec import Struct

from assay.errors import MissingServerError, show_id
from assay.files import write_new
from assay.retrieval.base import NO_HITS, Hits, best_hits
from assay.retrieval.indexes import StoredIndex
from assay.words import writable_text

HIDDEN = "***"
MARKER = "assay/database-index/1"
_NAME = re.compile(r"assay_[0-9a-f]{16}")
_PLACE = "database.json"
_DAY = timedelta(days=1)
_IN_NO_WORD = 8  # characters; a shorter value is only hidden where it stands alone
_SPARE, _LEAST_SPARE = 4, 32  # hits beyond the depth that are asked for: a tie may cross the cutoff


@runtime_checkable
class CleansUp(Protocol):
    """A retriever whose index lies outside its folder, so that removing the folder does not remove it."""

    def clean_up(self, folder: Path) -> None:
        """Remove the index that belongs to this folder, and what killed processes left. It may be called again."""


# Markers


class Marker(Struct, frozen=True):
    """Who made an index in a server, and when it was last opened."""

    schema: str
    machine: str
    process: str
    used: datetime


def new_name() -> str:
    """The name of a new index.

    >>> is_ours(new_name()), is_ours("assay_results"), is_ours("public")
    (True, False, False)
    """
    return f"assay_{os.urandom(8).hex()}"


def is_ours(name: str) -> bool:
    """Whether an index may have this name."""
    return _NAME.fullmatch(name) is not None


def new_marker() -> Marker:
    """The marker of an index that this process uses now."""
    return Marker(MARKER, this_machine(), this_process(), datetime.now(UTC))


def read_marker(written: Any) -> Marker | None:
    """The marker that was written beside an index, as text or as values; None if it is not one of ours."""
    with suppress(msgspec.MsgspecError, TypeError, ValueError):
        if isinstance(written, str):
            marker = msgspec.json.decode(written, type=Marker)
        else:
            marker = msgspec.convert(written, Marker)
        return marker if marker.schema == MARKER and marker.used.tzinfo is not None else None
    return None


def is_abandoned(marker: Marker, now: datetime | None = None) -> bool:
    """Whether nobody uses an index any more: its process has ended, or, on another machine, a day has passed.

    A process on another machine cannot be seen. It renews the marker each time it opens the index.
    """
    if marker.machine == this_machine():
        return not _is_alive(marker.process)
    return (now or datetime.now(UTC)) - marker.used > _DAY


def this_machine() -> str:
    """A digest that stands for this machine, or for this container: one with processes of its own."""
    parts = [platform.node()]
    with suppress(OSError):
        parts += [os.readlink("/proc/self/ns/pid"), Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()]
    return hashlib.sha256("\n".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


def this_process() -> str:
    """The number of this process and when it started, so that a later process with its number is another."""
    return _process(os.getpid())


def _process(number: int) -> str:
    with suppress(OSError, IndexError):
        return f"{number}:{Path(f'/proc/{number}/stat').read_text('utf-8', 'replace').rpartition(')')[2].split()[19]}"
    return f"{number}:"


def _is_alive(process: str) -> bool:
    number, _, _ = process.partition(":")
    if not number.isdecimal() or int(number) < 1 or os.name != "posix":
        return os.name != "posix"  # elsewhere, asking for a process could end it
    try:
        os.kill(int(number), 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        pass
    return _process(int(number)) == process


# The folder of an index in a server


class Place(Struct, frozen=True):
    """What the folder of an index keeps: its name in the server."""

    name: str


def keep_place(folder: Path, name: str) -> None:
    """Write the name of the index in the server into the folder of the index."""
    write_new(folder / _PLACE, msgspec.json.encode(Place(name)))


def place_in(folder: Path) -> str | None:
    """The name of the index in the server, from the folder of a finished index; None if it names none of ours."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        name = msgspec.json.decode((folder / _PLACE).read_bytes(), type=Place).name
        return name if is_ours(name) else None
    return None


def place_below(folder: Path) -> str | None:
    """The same, from the folder that the index was built in."""
    return place_in(folder / "index")


# Addresses and keys


def address_from(variable: str, mode: str, server: str, example: str) -> str:
    """The address in an environment variable; raises if there is none."""
    address = os.environ.get(variable, "").strip()
    if not address:
        raise MissingServerError(f"{mode} needs a {server} server: put its address into {variable}, such as {example}.")
    return address


def without(words: str, hidden: tuple[str, ...]) -> str:
    """What a server or a library says, short, printable, in one line and without these values.

    >>> without("it cannot find ann's table", ("ann",))
    "it cannot find ***'s table"
    """
    for value in sorted(filter(None, hidden), key=len, reverse=True):
        whole = re.escape(value) if len(value) >= _IN_NO_WORD else rf"(?<!\w){re.escape(value)}(?!\w)"
        words = re.sub(whole, HIDDEN, words)
    return show_id(" ".join(words.split()), 300).rstrip(".")


# Texts and hits


def storable(text: str) -> str:
    r"""A text as databases accept it: without NUL, and with question marks for bytes that are not UTF-8.

    >>> storable("a\0b\udce9")
    'a b?'
    """
    return writable_text(text).replace("\0", " ")


def with_ties(ask: Callable[[int], Hits], stored: StoredIndex, depth: int) -> Hits:
    """The best hits of an engine that does not order ties by id: a tie at the cutoff is fetched whole, and ordered."""
    size = len(stored)
    wanted = min(depth + max(depth // _SPARE, _LEAST_SPARE), max(size, 1))
    while True:
        found = ask(wanted)
        if len(found.row) < wanted or wanted >= size or found.score[-1] < found.score[depth - 1]:
            return best_hits(found.row, found.score, stored.place, depth) if len(found.row) else NO_HITS
        wanted = min(wanted * 2, size)


def hits_of(rows: list[tuple[int, float]]) -> Hits:
    """Hits from rows of a result, best first."""
    if not rows:
        return NO_HITS
    numbers, scores = zip(*rows, strict=True)
    return Hits(np.array(numbers, np.int64), np.array(scores, np.float64))
