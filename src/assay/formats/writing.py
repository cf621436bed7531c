"""Write qrels and runs in every format that we read; reading them again gives the same table.

If a format cannot store an id, that is an error; if it cannot store a column, a note says so.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import AssayError, InputError, MissingExtraError, did_you_mean, show_id, some_of
from assay.formats.detect import detect_format
from assay.formats.holding import IN_BEIR, IN_COLUMNS, IN_DELIMITED, IN_UNICODE, Bars, listed, refuse_ids
from assay.formats.lines import BEIR_QRELS, BEIR_RUN, MSMARCO_RUN, TREC_QRELS, TREC_RUN, ColumnOrder
from assay.formats.names import Kind
from assay.formats.sheets import Sheet, queries_together, sheet_of_qrels, sheet_of_run
from assay.formats.sources import Source, open_text
from assay.formats.spreadsheets import DELIMITED, all_as_text, notes_on_sheet, refuse_other_format
from assay.formats.writers import (
    BEIR_HEADER,
    Writer,
    arrow_file,
    delimited,
    in_columns,
    json_lines,
    nested_json,
    parquet_file,
)
from assay.ranking import ranks_of
from assay.tables import Integers, Qrels, Run

Layouts: TypeAlias = Mapping[Kind, ColumnOrder]


class OutputFormat(Struct, frozen=True):
    """A format, how to write it and what it can store."""

    write: Writer
    bars: Bars  # ids that it cannot store
    layouts: Layouts | None = None  # its columns; None: all columns of the table, by name
    ranks: tuple[int, int] = (1 - 2**53, 2**53 - 1)  # lowest and highest rank that its reader keeps
    seen_as: Mapping[Kind, str] = {}  # the format it is detected as, if not itself

    def layout(self, sheet: Sheet) -> ColumnOrder:
        """The columns of this table in this format."""
        return sheet.roles if self.layouts is None else self.layouts[sheet.kind]


_RANKS_IN_COLUMNS = (0, 2**63 - 2)
_TREC: Layouts = {"qrels": TREC_QRELS, "run": TREC_RUN}
_BEIR: Layouts = {"qrels": BEIR_QRELS, "run": BEIR_RUN}
_MSMARCO: Layouts = {"qrels": TREC_QRELS, "run": MSMARCO_RUN}

FORMATS = {
    "trec": OutputFormat(in_columns(" "), IN_COLUMNS, _TREC, _RANKS_IN_COLUMNS),
    "beir": OutputFormat(in_columns("\t", BEIR_HEADER), IN_BEIR, _BEIR, seen_as={"qrels": "tsv", "run": "tsv"}),
    "msmarco": OutputFormat(in_columns("\t"), IN_COLUMNS, _MSMARCO, _RANKS_IN_COLUMNS, seen_as={"qrels": "trec"}),
    "json": OutputFormat(nested_json, IN_UNICODE, _BEIR),
    "jsonl": OutputFormat(json_lines, IN_UNICODE),
    "csv": OutputFormat(delimited(","), IN_DELIMITED),
    "tsv": OutputFormat(delimited("\t"), IN_DELIMITED),
    "parquet": OutputFormat(parquet_file, IN_UNICODE),
    "arrow": OutputFormat(arrow_file, IN_UNICODE),
}
OUTPUT_FORMATS = tuple(FORMATS)
SUFFIXES = {
    **dict.fromkeys((".trec", ".run", ".qrels", ".qrel", ".res", ".results", ".txt"), "trec"),
    **dict.fromkeys((".jsonl", ".ndjson"), "jsonl"),
    **dict.fromkeys((".parquet", ".parq"), "parquet"),
    **dict.fromkeys((".arrow", ".feather", ".ipc"), "arrow"),
    ".json": "json",
    ".csv": "csv",
    ".tsv": "tsv",
}


def write_run(
    run: Run, path: Source, *, to: str | None = None, tag: str | None = None, spreadsheet: bool = False
) -> tuple[str, ...]:
    """Write a run to a file, completely or not at all; returns notes on what the format could not store.

    The format is `to`, or that of the file extension; .gz, .bz2, .xz and .zst compress. Rows keep their order. Ranks are
    those of the run; if the format needs ranks and the run has none, they follow the scores, with ties broken by document
    id, descending. `tag` replaces the run's tag; a TREC file of a run without a tag gets the run's name. With
    `spreadsheet`, CSV and TSV get an apostrophe before ids that a spreadsheet would run as formulas; such a file is for
    people: the apostrophe is part of the id when it is read.
    """
    name = output_format(path, to)
    data, left_out = run_as_bytes(run, name, tag=tag, spreadsheet=spreadsheet)
    _write(path, data)
    return left_out


def write_qrels(qrels: Qrels, path: Source, *, to: str | None = None, spreadsheet: bool = False) -> tuple[str, ...]:
    """Write qrels to a file, completely or not at all; returns notes on what the format could not store.

    The format is `to`, or that of the file extension; .gz, .bz2, .xz and .zst compress. Rows keep their order.
    `spreadsheet` is as for `write_run`.
    """
    name = output_format(path, to)
    data, left_out = qrels_as_bytes(qrels, name, spreadsheet=spreadsheet)
    _write(path, data)
    return left_out


def run_as_bytes(
    run: Run, to: str, *, tag: str | None = None, spreadsheet: bool = False
) -> tuple[bytes, tuple[str, ...]]:
    r"""A run in a format, not compressed, and notes on what the format could not store.

    >>> run_as_bytes(Run.from_columns(["q1", "q1"], ["a", "b"], [0.5, 8.25]), "trec", tag="bm25")[0]
    b'q1 Q0 a 2 0.5 bm25\nq1 Q0 b 1 8.25 bm25\n'
    """
    layouts = _format(to).layouts
    held = None if layouts is None else layouts["run"]
    if tag is not None and held is not None and "tag" not in held:
        others = [name for name, known in FORMATS.items() if known.layouts is None or "tag" in known.layouts["run"]]
        raise InputError(f"{to} files have no tag column. Leave out the tag, or write {listed(others)}.")
    written_tag = run.tag if tag is None else tag
    if to == "trec" and not written_tag:
        written_tag = "_".join(run.name.split()) or "run"
    sheet = sheet_of_run(run, written_tag, _ranks(run, held))
    data, notes = _as_bytes(sheet, to, spreadsheet)
    return data, (*notes, *_changed(run, sheet, to, own_tag=tag is None))


def qrels_as_bytes(qrels: Qrels, to: str, *, spreadsheet: bool = False) -> tuple[bytes, tuple[str, ...]]:
    r"""Qrels in a format, not compressed, and notes on what the format could not store.

    >>> qrels_as_bytes(Qrels.from_columns(["q1", "q1"], ["a", "b"], [2, 0.5]), "json")
    (b'{"q1": {"a": 2, "b": 0.5}}\n', ())
    """
    return _as_bytes(sheet_of_qrels(qrels), to, spreadsheet)


def output_format(path: Source, to: str | None = None) -> str:
    """The format to write: the given one, else that of the file extension.

    >>> output_format("runs/bm25.jsonl.gz"), output_format("bm25.tsv", "beir")
    ('jsonl', 'beir')
    """
    if to is not None:
        _format(to)
        return to
    name = os.fsdecode(path)
    base, suffix = os.path.splitext(name)
    if suffix.casefold() in _COMPRESSIONS:
        suffix = os.path.splitext(base)[1]
    if suffix.casefold() not in SUFFIXES:
        raise InputError(
            f"cannot tell the format from the file name. Choose it with `to=`: {listed(FORMATS)}.",
            source=show_id(name, 200),
        )
    return SUFFIXES[suffix.casefold()]


def _format(name: str) -> OutputFormat:
    if name not in FORMATS:
        hint = did_you_mean(name, FORMATS) or "."
        raise InputError(f"no format called {name!r}{hint} The formats are {', '.join(FORMATS)}.")
    return FORMATS[name]


def _as_bytes(sheet: Sheet, to: str, spreadsheet: bool) -> tuple[bytes, tuple[str, ...]]:
    """The file, and notes on what it could not store or what a spreadsheet would do with it."""
    if not len(sheet):
        raise InputError("no rows to write", source=sheet.source)
    format, layout = _format(to), _format(to).layout(sheet)
    if spreadsheet:
        refuse_other_format(to)
    refuse_ids(
        sheet,
        layout,
        to,
        lambda role: {name: known.bars for name, known in FORMATS.items() if role in known.layout(sheet)},
    )
    data = format.write(all_as_text(sheet) if spreadsheet else sheet, layout)
    _refuse_unrecognised(data, sheet, to)
    formulas = notes_on_sheet(sheet) if to in DELIMITED and not spreadsheet else ()
    return data, (*_lost(sheet, to), *formulas)


def _refuse_unrecognised(data: bytes, sheet: Sheet, to: str) -> None:
    """Raise an error if the first id makes the file look like something else: '%PDF', 'PAR1', '{"'."""
    try:
        with open_text(data, sheet.kind) as content:
            found = detect_format(content, sheet.kind, FORMATS) if content.compression is None else content.compression
    except AssayError:
        found = "another kind of file"
    if found != FORMATS[to].seen_as.get(sheet.kind, to):
        raise InputError(
            f"a {to} file that starts with query id '{show_id(sheet.queries[sheet.query[0]])}' would be read as {found}. "
            f"Write {_all_columns()} instead, or put another row first.",
            source=sheet.source,
        )


# Ranks


def _ranks(run: Run, layout: ColumnOrder | None) -> Integers | None:
    """The ranks to write: those of the run, or computed if the format needs them."""
    if layout is None or "rank" not in layout:
        return run.rank
    if "score" in layout:
        return ranks_of(run) if run.rank is None else run.rank
    made = ranks_of(run)  # without scores, the ranks must give the same order
    return made if run.rank is None or not _follow(run.rank, made, run.query) else run.rank


def _follow(rank: Integers, made: Integers, query: Integers) -> bool:
    """Whether ranks give this order and start at 1; gaps are allowed."""
    order = np.lexsort((made, query))
    first, step = made[order] == 1, np.diff(rank[order], prepend=0)
    return bool(np.all(np.where(first, rank[order] == 1, step > 0)))


# What is left out


def _lost(sheet: Sheet, to: str) -> Iterator[str]:
    layout = _format(to).layout(sheet)
    lost = [_COLUMNS[role] for role in sheet.roles if role not in layout and _says_something(sheet, role)]
    if lost:
        kept = " The ranks keep the order of the scores." if _COLUMNS["score"] in lost else ""
        columns = " and ".join(lost)
        yield f"left out {columns}, which {to} files cannot store.{kept} To keep everything, write {_all_columns()}."
    if to == "json" and not queries_together(sheet.query):
        yield "json files group rows by query, so the order of the rows changed."


_COLUMNS = {"score": "scores", "rank": "ranks", "tag": "tag", "iteration": "iterations or subtopics"}


def _says_something(sheet: Sheet, role: str) -> bool:
    """Whether a column has information that the other columns do not have."""
    if role == "iteration":
        return bool(set(sheet.columns[role]) - {"0", "Q0"})
    if role == "score":
        return not np.array_equal(sheet.columns["score"], -sheet.columns["rank"])
    return True


def _changed(run: Run, sheet: Sheet, to: str, *, own_tag: bool) -> Iterator[str]:
    layout = _format(to).layout(sheet)
    if own_tag and "tag" in layout and len(run.tags) > 1:
        yield f"the run has {len(run.tags):,} tags ({some_of(run.tags)}); every row gets the last one, {show_id(run.tag)}."
    if run.rank is None or "rank" not in layout:
        return
    lowest, highest = _format(to).ranks
    if sheet.columns["rank"] is not run.rank:
        yield "the rank column contradicts the scores: ranks were recomputed, since this format has no scores."
    elif not lowest <= run.rank.min() <= run.rank.max() <= highest:
        yield f"the rank column has numbers that are out of range for {to} files: readers will ignore the ranks."


def _all_columns() -> str:
    return listed(name for name, format in FORMATS.items() if format.layouts is None)


# Files


def _write(path: Source, data: bytes) -> None:
    from assay.files import write_whole

    write_whole(path, packed(data, path))


def packed(data: bytes, path: Source) -> bytes:
    """The data, compressed if the file extension says so. The result is deterministic."""
    suffix = os.path.splitext(os.fsdecode(path))[1].casefold()
    return _COMPRESSIONS[suffix](data) if suffix in _COMPRESSIONS else data


def _gzip(data: bytes) -> bytes:
    import gzip

    return gzip.compress(data, 6, mtime=0)


def _bzip2(data: bytes) -> bytes:
    import bz2

    return bz2.compress(data)


def _xz(data: bytes) -> bytes:
    import lzma

    return lzma.compress(data)


def _zstd(data: bytes) -> bytes:
    try:
        import zstandard
    except ImportError:
        raise MissingExtraError("writing .zst files", "zstd") from None
    return zstandard.compress(data)


_COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    ".gz": _gzip,
    ".bz2": _bzip2,
    ".xz": _xz,
    ".zst": _zstd,
    ".zstd": _zstd,
}
