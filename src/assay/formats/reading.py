"""Read qrels and runs from paths, text, dicts, data frames and other values, in any format."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from assay.errors import InputError, did_you_mean
from assay.formats.detect import detect_format
from assay.formats.dialects import ASSAY
from assay.formats.lines import BEIR_QRELS, BEIR_RUN, MSMARCO_RUN, TREC_QRELS, TREC_RUN, ColumnOrder, plain_layout
from assay.formats.names import Kind
from assay.formats.readings import AUTO, ColumnNames, QueriesLike, Reading, as_queries
from assay.formats.sources import Content, Source, open_source, open_text
from assay.marking import OpenedRun
from assay.native.index import Layout
from assay.tables import Qrels, Run


class ArrowData(Protocol):
    """A table that speaks Arrow's C interface: pyarrow, polars, DuckDB, pandas from 2.2 on."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The table as a stream of Arrow."""


class DataFrame(Protocol):
    """A data frame of any library that narwhals knows, such as pandas or polars."""

    @property
    def columns(self) -> Any:
        """The names of its columns."""


class Series(Protocol):
    """A Series of pandas, indexed by query and document."""

    @property
    def index(self) -> Any:
        """The queries and documents."""

    def to_frame(self, name: Any = ...) -> Any:
        """The series as a data frame."""


class OpenFile(Protocol):
    """An open file, text or binary, or anything else that can be read, such as io.BytesIO."""

    def read(self, size: int = ..., /) -> str | bytes:
        """The next characters or bytes."""


# The documents of one query: ids, (id, value) or records, with an order (runs) or without (qrels); or {id: value}.
Documents: TypeAlias = Iterable[Any] | Mapping[Any, Any]
Rows: TypeAlias = Iterable[Mapping[str, Any]] | Iterable[tuple[Any, ...]] | Iterable[list[Any]]
_Any: TypeAlias = (
    Source | Mapping[str, Documents] | Mapping[int, Documents] | ArrowData | DataFrame | Series | OpenFile | Rows
)
QrelsLike: TypeAlias = Qrels | _Any
RunLike: TypeAlias = OpenedRun | _Any

CSV, TSV = (",", ";"), ("\t",)
_FRAME_MARKS = (
    *("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__narwhals_dataframe__", "columns"),
    "to_frame",  # a Series, which may be indexed by query and document
)


def later(place: str) -> Callable[..., Any]:
    """A function of this package, imported when it is called: the kernel reads plain text without these modules."""
    module, _, name = place.rpartition(".")

    def call(*given: Any, **named: Any) -> Any:
        return getattr(import_module(f"assay.formats.{module}"), name)(*given, **named)

    return call


ReadQrels: TypeAlias = Callable[..., Qrels]
ReadRun: TypeAlias = Callable[..., Run]

qrels_from_text: ReadQrels = later("trec.qrels_from_text")
run_from_text: ReadRun = later("trec.run_from_text")
qrels_from_delimited: ReadQrels = later("delimited.qrels_from_delimited")
run_from_delimited: ReadRun = later("delimited.run_from_delimited")
qrels_from_dict: ReadQrels = later("dicts.qrels_from_dict")
run_from_dict: ReadRun = later("dicts.run_from_dict")
qrels_from_table: ReadQrels = later("frames.qrels_from_table")
run_from_table: ReadRun = later("frames.run_from_table")
qrels_from_value: ReadQrels = later("shapes.qrels_from_value")
run_from_value: ReadRun = later("shapes.run_from_value")
frame_table = later("frames.frame_table")
frame_columns = later("frames.frame_columns")


class InputFormat(Struct, frozen=True, eq=False):
    """A format and how to read it."""

    description: str
    read_qrels: Callable[[Content, Reading], Qrels]
    read_run: Callable[[Content, Reading], Run]
    layout: Callable[[Content, Kind, Reading], Layout | None] | None = None  # for text that the kernel can read
    table: Callable[[Content, Kind, Reading], Any] | None = None  # an Arrow table that the kernel can judge


def _in_columns(description: str, qrels: ColumnOrder, run: ColumnOrder) -> InputFormat:
    return InputFormat(
        description,
        lambda content, reading: qrels_from_text(content, qrels, reading=reading),
        lambda content, reading: run_from_text(content, run, reading=reading),
        layout=lambda content, kind, reading: plain_layout(
            content, kind, qrels if kind == "qrels" else run, ASSAY, reading
        ),
    )


def _in_arrow(description: str, table: Callable[[Content, Kind, Reading], Any]) -> InputFormat:
    return InputFormat(
        description,
        lambda content, reading: qrels_from_table(table(content, "qrels", reading), content.name, reading),
        lambda content, reading: run_from_table(table(content, "run", reading), content.name, content.stem, reading),
        table=table,
    )


FORMATS = {
    "trec": _in_columns(
        "TREC text: query iteration document grade; query Q0 document rank score tag", TREC_QRELS, TREC_RUN
    ),
    "beir": _in_columns("BEIR text in three columns: query document grade (or score)", BEIR_QRELS, BEIR_RUN),
    "msmarco": _in_columns("MS MARCO text: query 0 document grade; query document rank", TREC_QRELS, MSMARCO_RUN),
    "json": InputFormat(
        "JSON: {query: {document: value}} as in pytrec_eval and ranx, a list of records, answers of search engines",
        later("json.qrels_from_json"),
        later("json.run_from_json"),
    ),
    "jsonl": InputFormat(
        "JSON Lines: one record per line, with one document or the list of a query",
        later("json.qrels_from_jsonl"),
        later("json.run_from_jsonl"),
    ),
    "csv": InputFormat(
        "comma-separated (or semicolon-separated), with a header line",
        lambda content, reading: qrels_from_delimited(content, CSV, reading),
        lambda content, reading: run_from_delimited(content, CSV, reading),
    ),
    "tsv": InputFormat(
        "tab-separated, with a header line; ids may contain spaces",
        lambda content, reading: qrels_from_delimited(content, TSV, reading),
        lambda content, reading: run_from_delimited(content, TSV, reading),
        layout=later("delimited.plain_tsv_layout"),
    ),
    "ranklib": InputFormat(
        "RankLib, SVMrank and Quepid's LTR export, for qrels: grade qid:query features # document",
        later("ranklib.qrels_from_ranklib"),
        later("ranklib.run_from_ranklib"),
    ),
    "parquet": _in_arrow("Parquet, with named columns", later("frames.parquet_table")),
    "arrow": _in_arrow("Arrow IPC file or stream (Feather), with named columns", later("frames.arrow_table")),
}
INPUT_FORMATS = {name: format.description for name, format in FORMATS.items()}


def read_qrels(
    source: Source,
    *,
    input_format: str = AUTO,
    grades: Mapping[str, float] | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike = (),
) -> Qrels:
    """Read qrels from a file, compressed or not, or from standard input ('-').

    `grades` gives letters a value: {"E": 3, "S": 2}. `columns` names the columns of a table by role: {"doc": "sku"}.
    `queries`, as from `read_queries`, gives ids to queries that the file identifies by their text. Errors name the file,
    the line and the value.
    """
    with open_source(source) as content:
        return qrels_from_content(content, _reading(input_format, grades, columns, queries))


def read_run(
    source: Source,
    *,
    input_format: str = AUTO,
    name: str | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike = (),
) -> Run:
    """Read a run from a file, compressed or not, or from standard input ('-'). Its default name is the file's stem.

    `columns` names the columns of a table by role: {"query": "search_term", "rank": "position"}. `queries`, {id: text} as
    from `read_queries` or a list of ids, gives ids to queries that the file identifies by their position or their text.
    """
    with open_source(source) as content:
        return run_from_content(content, _reading(input_format, None, columns, queries), name)


def parse_qrels(
    text: str | bytes,
    *,
    input_format: str = AUTO,
    grades: Mapping[str, float] | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike = (),
) -> Qrels:
    r"""Parse qrels from text in any format.

    >>> parse_qrels("q1 0 a 1\nq1 0 b 0").rel.tolist()
    [1.0, 0.0]
    """
    with open_text(text, "qrels") as content:
        return qrels_from_content(content, _reading(input_format, grades, columns, queries))


def parse_run(
    text: str | bytes,
    *,
    input_format: str = AUTO,
    name: str | None = None,
    columns: ColumnNames | None = None,
    queries: QueriesLike = (),
) -> Run:
    r"""Parse a run from text in any format.

    >>> parse_run("q1 Q0 a 1 9.5 bm25\nq1 Q0 b 2 8.0 bm25").tag
    'bm25'
    """
    with open_text(text, "run") as content:
        return run_from_content(content, _reading(input_format, None, columns, queries), name)


def _reading(
    input_format: str, grades: Mapping[str, float] | None, columns: ColumnNames | None, queries: QueriesLike
) -> Reading:
    return Reading(input_format, grades or {}, columns or {}, queries=as_queries(queries))


def as_qrels(value: QrelsLike, reading: Reading = Reading()) -> Qrels:
    """Qrels from anything that `evaluate` takes; Qrels are returned unchanged.

    >>> as_qrels({"q1": {"a": 1, "b": 0}}).queries, as_qrels({"q1": ["a", "b"]}).rel.tolist()
    (('q1',), [1.0, 1.0])
    """
    if isinstance(value, Qrels):
        return value
    if isinstance(value, Mapping):
        refuse_no_columns("qrels", reading)
        return qrels_from_dict(value, reading)
    if isinstance(value, (str, os.PathLike)):
        with open_source(value) as content:
            return qrels_from_content(content, reading)
    if is_frame(value):
        return qrels_from_table(frame_table(value, "qrels", reading), "qrels", reading)
    return qrels_from_value(value, reading)


def as_run(value: RunLike, reading: Reading = Reading(), *, name: str | None = None) -> Run:
    """A run from anything that `evaluate` takes, except functions; a Run is returned unchanged.

    >>> as_run({"q1": {"a": 9.5}}, name="bm25").name, as_run({"q1": ["b", "a"]}).score.tolist()
    ('bm25', [-1.0, -2.0])
    """
    if isinstance(value, Run):
        return value if name is None else value.named(name)
    if isinstance(value, Mapping):
        refuse_no_columns("run", reading)
        return run_from_dict(value, name or "run")
    if isinstance(value, (str, os.PathLike)):
        with open_source(value) as content:
            return run_from_content(content, reading, name)
    if is_frame(value):
        return run_from_table(frame_table(value, "run", reading), "run", name or "run", reading)
    return run_from_value(value, reading, name)


def refuse_no_columns(kind: Kind, reading: Reading) -> None:
    """Raise an error if the user named columns of such a value, a dict, which has none."""
    if reading.columns:
        from assay.formats.chosen import refuse_no_header

        refuse_no_header(kind, kind, reading)


def is_frame(value: object) -> bool:
    """Whether a value looks like a data frame, without importing any library."""
    return any(hasattr(type(value), mark) for mark in _FRAME_MARKS)


def qrels_from_content(content: Content, reading: Reading) -> Qrels:
    """Qrels from a file or text."""
    return find_format(content, reading, "qrels").read_qrels(content, reading)


def run_from_content(content: Content, reading: Reading, name: str | None = None) -> Run:
    """A run from a file or text."""
    run = find_format(content, reading, "run").read_run(content, reading)
    return run if name is None else run.named(name)


def find_format(content: Content, reading: Reading, kind: Kind) -> InputFormat:
    """The format that the reading names, or the detected one."""
    return FORMATS[format_name(content, reading, kind)]


def format_name(content: Content, reading: Reading, kind: Kind) -> str:
    """The name of the format that the reading names, checked, or of the detected one."""
    name = detect_format(content, kind, FORMATS, reading) if reading.input_format == AUTO else reading.input_format
    if name not in FORMATS:
        known = [AUTO, *FORMATS]
        hint = did_you_mean(name, known) or "."
        raise InputError(f"no input format called {name!r}{hint} The formats are {', '.join(known)}.")
    return name
