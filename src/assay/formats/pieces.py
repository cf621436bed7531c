"""Read a plain run piece by piece, so that memory does not grow with the file.

Plain is text with scores in which every line is a row and all rows have the same tag. All else is left to the table, whose
results are the same and which knows all messages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

from msgspec.structs import replace

from assay.errors import InputError
from assay.formats.dialects import ASSAY
from assay.formats.lines import BEIR_RUN, TREC_RUN, PlainRows, read_run_rows
from assay.formats.problems import Problems
from assay.formats.readings import Reading
from assay.formats.sources import STDIN, Content, Source
from assay.formats.trec import run_of_pieces
from assay.limits import refuse_endless
from assay.tables import Run

_LAYOUTS = {"trec": TREC_RUN, "beir": BEIR_RUN}
_ROWS = 1 << 12  # of whole queries at once: enough for NumPy, and few enough for the processor's cache


class NotPlainError(Exception):
    """Something needs the whole table."""


def can_reread(source: Source, reading: Reading) -> bool:
    """Whether a source can become a table after its pieces turned out not to be plain."""
    return source != STDIN and os.path.isfile(source) and not reading.columns and not reading.queries


def plain_pieces(
    content: Content, found: str, reading: Reading, *, needed: frozenset[str], together: bool = False
) -> Iterator[PlainRows]:
    """The rows of a run in this format, chunk by chunk; each has the needed columns.

    If told, the rows of each query must be together.
    """
    if found not in _LAYOUTS:
        raise NotPlainError
    queries: set[bytes] = set()
    rows, last, tag = 0, b"", b""
    for piece in read_run_rows(content, _LAYOUTS[found], ASSAY, Problems(content.name), reading):
        if not isinstance(piece, PlainRows) or not needed <= set(piece.layout):
            raise NotPlainError
        columns = piece.columns
        if not columns.docs:  # after a header
            continue
        known = len(queries)
        queries.update(columns.queries)
        new = len(columns.queries) - (columns.queries[0] == last)
        tag = tag if rows else b"".join(columns.tags[:1])
        if set(columns.tags) - {tag} or (together and len(queries) - known < new):
            raise NotPlainError
        rows, last = rows + len(columns), columns.queries[-1]
        try:
            refuse_endless(rows, len(queries), columns.docs, content.name)
        except InputError:
            raise NotPlainError from None
        yield piece
    if not rows:
        raise NotPlainError


def whole_queries(content: Content, found: str, reading: Reading) -> Iterator[Run]:
    """The run in pieces that have all rows of their queries, in the order of the file."""
    held: list[PlainRows] = []
    rows = 0
    for piece in plain_pieces(content, found, reading, needed=frozenset({"score"}), together=True):
        before, last = _parted_at_last_query(piece)
        begins = len(before.columns) or not held or last.columns.queries != held[-1].columns.queries[-1:]
        if rows >= _ROWS and begins:
            yield _run([*held, before], content)
            held, rows = [last], len(last.columns)
        else:
            held.append(piece)
            rows += len(piece.columns)
    yield _run(held, content)


def _run(pieces: list[PlainRows], content: Content) -> Run:
    try:
        return run_of_pieces(pieces, content)
    except InputError:  # more rows in one query than usual, though not in all of them
        raise NotPlainError from None


def _parted_at_last_query(piece: PlainRows) -> tuple[PlainRows, PlainRows]:
    """The rows before those of the last query, and the others."""
    found = piece.columns
    last = int(found.query_rows[-1])
    first = len(found) - last
    before = replace(
        found,
        docs=found.docs[:first],
        queries=found.queries[:-1],
        query_rows=found.query_rows[:-1],
        tag_rows=found.tag_rows - last,  # there is one tag
        score=found.score[:first],
        rank=found.rank[:first],
    )
    after = replace(
        found,
        docs=found.docs[first:],
        queries=found.queries[-1:],
        query_rows=found.query_rows[-1:],
        tag_rows=found.tag_rows - first,
        score=found.score[first:],
        rank=found.rank[first:],
    )
    return replace(piece, columns=before), replace(piece, columns=after, line=piece.line + first)
