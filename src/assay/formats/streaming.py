"""Write what a plain run becomes piece by piece, so that memory does not grow with the file.

Writes formats with a line for each row, if all pieces get the same notes. All else is left to the table.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from tempfile import TemporaryFile

import numpy as np

from assay.arrays import starts
from assay.errors import AssayError, InputError
from assay.files import write_blocks
from assay.formats.pieces import NotPlainError, can_reread, plain_pieces, whole_queries
from assay.formats.reading import format_name
from assay.formats.readings import Reading
from assay.formats.sources import COMPRESSION_SUFFIXES, Content, open_source
from assay.formats.trec import run_of_pieces
from assay.formats.writing import run_as_bytes
from assay.tables import Run, in_byte_order

_HEADER_LINES = {"trec": 0, "jsonl": 0, "beir": 1, "csv": 1, "tsv": 1}  # of the formats with a line for each row


def stream_run(source: str, output: str, to: str, reading: Reading, tag: str | None = None) -> tuple[str, ...] | None:
    """Convert a file to a file; returns notes on what the format could not store, or None if the table has to do it."""
    if not _can_stream(source, output, to, reading):
        return None
    with suppress(NotPlainError), open_source(source) as content:
        lines = _Lines(to, tag)
        write_blocks(output, _converted(content, lines, reading))
        return lines.notes
    return None


def stream_derived(
    source: str,
    output: str,
    to: str,
    reading: Reading,
    derive: Callable[[Run], Run],
    opening: Callable[[Run], bytes],
    *,
    tag: str | None = None,
) -> tuple[str, ...] | None:
    """Write the run that `derive` makes of a file, by query as it does; returns notes or None, as `stream_run` does.

    `derive` gets some queries with all their rows, and must not need the others. `opening` gives what stands before the
    rows, once all of them are made.
    """
    if not _can_stream(source, output, to, reading):
        return None
    with suppress(NotPlainError), open_source(source) as content:
        lines = _Lines(to, tag)
        derived = _or_not_plain(map(derive, whole_queries(content, format_name(content, reading, "run"), reading)))
        write_blocks(output, _by_query(derived, lines, opening))
        return lines.notes
    return None


def _or_not_plain(runs: Iterator[Run]) -> Iterator[Run]:
    """The runs; what is wrong with them is left to the table, which counts it in all queries."""
    try:
        yield from runs
    except AssayError:
        raise NotPlainError from None


def _by_query(runs: Iterable[Run], lines: _Lines, opening: Callable[[Run], bytes]) -> Iterator[bytes]:
    """The output, query by query in byte order. Until all queries are there, a temporary file keeps their lines."""
    places: dict[str, tuple[int, int]] = {}  # where the lines of each query begin, and their size
    with TemporaryFile() as kept:
        for run in runs:
            rows = lines.of(run)
            ends = np.flatnonzero(np.frombuffer(rows, np.uint8) == ord("\n")) + 1
            if len(ends) != len(run):  # a document with a line feed
                raise NotPlainError
            bounds = np.append(0, ends)[starts(np.bincount(run.query, minlength=len(run.queries)))]
            begin, size = (kept.tell() + bounds[:-1]).tolist(), np.diff(bounds).tolist()
            places |= zip(run.queries, zip(begin, size, strict=True), strict=True)
            kept.write(rows)
        yield opening(run) + lines.header
        for query in in_byte_order(places):
            begin, size = places[query]
            kept.seek(begin)
            yield kept.read(size)


def _can_stream(source: str, output: str, to: str, reading: Reading) -> bool:
    if to not in _HEADER_LINES or output.casefold().endswith(tuple(COMPRESSION_SUFFIXES)):
        return False
    if os.path.exists(output) and not os.path.isfile(output):  # what a pipe has got cannot be taken back
        return False
    return can_reread(source, reading)


def _converted(content: Content, lines: _Lines, reading: Reading) -> Iterator[bytes]:
    """The output, piece by piece."""
    # Without these columns, numbers would have to be made from several pieces.
    needed = frozenset({"score", "rank"} if lines.to == "trec" else {"score"})
    for place, piece in enumerate(plain_pieces(content, format_name(content, reading, "run"), reading, needed=needed)):
        rows = lines.of(run_of_pieces([piece], content))
        yield rows if place else lines.header + rows


class _Lines:
    """Turns pieces of a run into lines; all of them must have the same header, tag and notes."""

    def __init__(self, to: str, tag: str | None) -> None:
        self.to, self._tag = to, tag
        self.header = b""
        self.notes: tuple[str, ...] = ()
        self._constant: object = None

    def of(self, run: Run) -> bytes:
        """The lines of the rows."""
        try:
            data, notes = run_as_bytes(run, self.to, tag=self._tag)
        except InputError:
            raise NotPlainError from None
        *header, rows = data.split(b"\n", _HEADER_LINES[self.to])
        constant = header, notes, run.tag
        self._constant = self._constant or constant
        if constant != self._constant:
            raise NotPlainError
        self.header, self.notes = b"".join(line + b"\n" for line in header), notes
        return rows
