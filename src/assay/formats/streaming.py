"""Convert a plain run piece by piece, so that memory does not grow with the file.

Streams text with scores into formats with a line for each row, if every line is plain and all pieces get the same notes.
All else is left to the table, whose results are the same and which knows all messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import suppress

from assay.errors import InputError
from assay.files import write_blocks
from assay.formats.dialects import ASSAY
from assay.formats.lines import BEIR_RUN, TREC_RUN, PlainRows, read_run_rows
from assay.formats.problems import Problems
from assay.formats.reading import format_name
from assay.formats.readings import Reading
from assay.formats.sources import COMPRESSION_SUFFIXES, Content, open_source
from assay.formats.trec import piece_of_run
from assay.formats.writing import run_as_bytes
from assay.limits import refuse_endless

_LAYOUTS = {"trec": TREC_RUN, "beir": BEIR_RUN}
_HEADER_LINES = {"trec": 0, "jsonl": 0, "beir": 1, "csv": 1, "tsv": 1}  # of the formats with a line for each row


class _NotPlainError(Exception):
    """Something needs the whole table."""


def stream_run(source: str, output: str, to: str, reading: Reading, tag: str | None = None) -> tuple[str, ...] | None:
    """Convert a file to a file; returns notes on what the format could not store, or None if the table has to do it."""
    if to not in _HEADER_LINES or output.casefold().endswith(tuple(COMPRESSION_SUFFIXES)):
        return None
    if not os.path.isfile(source) or reading.columns or reading.queries.source:
        return None
    if os.path.exists(output) and not os.path.isfile(output):  # what a pipe has got cannot be taken back
        return None
    with suppress(_NotPlainError), open_source(source) as content:
        found = format_name(content, reading, "run")
        if found in _LAYOUTS:
            pieces = _Pieces(content, found, to, reading, tag)
            write_blocks(output, pieces)
            return pieces.notes
    return None


class _Pieces:
    """The output, piece by piece."""

    def __init__(self, content: Content, found: str, to: str, reading: Reading, tag: str | None) -> None:
        self._content, self._layout, self._to, self._reading, self._tag = content, _LAYOUTS[found], to, reading, tag
        self.notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[bytes]:
        queries: set[str] = set()
        rows, own_tag = 0, ""
        for piece in read_run_rows(self._content, self._layout, ASSAY, Problems(self._content.name), self._reading):
            if not isinstance(piece, PlainRows) or not self._needed() <= set(piece.layout):
                raise _NotPlainError
            run = piece_of_run(piece, self._content)
            is_first, rows, queries = not rows, rows + len(run), queries | set(run.queries)
            try:
                refuse_endless(rows, len(queries), piece.columns.docs, run.source)
                data, notes = run_as_bytes(run, self._to, tag=self._tag)
            except InputError:
                raise _NotPlainError from None
            if is_first:
                own_tag, self.notes = run.tag, notes
            if len(run.tags) > 1 or run.tag != own_tag or notes != self.notes:
                raise _NotPlainError
            yield data if is_first else data.split(b"\n", _HEADER_LINES[self._to])[-1]
        if not rows:
            raise _NotPlainError

    def _needed(self) -> set[str]:
        """The columns without which numbers would have to be made from several pieces."""
        return {"score", "rank"} if self._to == "trec" else {"score"}
