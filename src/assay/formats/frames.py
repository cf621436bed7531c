"""Read Parquet, Arrow and data frames with pyarrow and narwhals, which are imported on demand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from assay.errors import InputError, MissingExtraError
from assay.formats.columns import Columns, by_role, qrels_from_columns, run_from_columns
from assay.formats.expansion import decoded_size, refuse_large_arrow, refuse_large_parquet
from assay.formats.names import HEADERS, Kind, find_roles, is_header
from assay.formats.numbers import plain_text
from assay.formats.readings import Reading
from assay.formats.sources import Content, refuse_expansion
from assay.formats.text import decoded
from assay.judged import JudgedRanking
from assay.judgments import Judgments
from assay.marking import ranking_from_kernel
from assay.native.index import Layout, RankingRules
from assay.tables import Qrels, Run

ARROW_FILE = b"ARROW1"


# Bytes from which on Arrow may use threads. They do not pay for less, and a process that ends while they start is aborted
# by the C++ library ("terminate called without an active exception", once in some hundred small files on a busy machine).
_THREADED = 1 << 24


def parquet_table(content: Content, kind: Kind, reading: Reading) -> Any:
    """The Arrow table of a Parquet file."""
    return _file_table(content, kind, "Parquet", _parquet_table, reading)


def arrow_table(content: Content, kind: Kind, reading: Reading) -> Any:
    """The Arrow table of an Arrow IPC file or stream."""
    return _file_table(content, kind, "Arrow", _arrow_table, reading)


def frame_table(frame: Any, kind: Kind, reading: Reading = Reading()) -> Any:
    """The Arrow table of a data frame of any library."""
    arrow = _pyarrow()
    if isinstance(frame, arrow.RecordBatch):
        frame = arrow.Table.from_batches([frame])
    try:
        return frame if isinstance(frame, arrow.Table) else _collected(_with_index(frame, kind), kind, reading)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"the {type(frame).__name__} cannot be read as a table: {error}. "
            "All values of a column must have one type; convert ids to text, in pandas with .astype(str).",
            source=kind,
        ) from error


def frame_columns(frame: Any) -> dict[str, list[Any]]:
    """All columns of a data frame of any library, for tables whose columns have no known names.

    An index comes first, unless it only numbers the rows.
    """
    index = getattr(frame, "index", None)
    if index is not None and (index.name is not None or index.dtype.kind not in "iu"):
        frame = frame.reset_index()
    narwhals = _narwhals()
    try:
        wrapped = narwhals.from_native(frame)
    except TypeError:
        return dict(_pyarrow().table(frame).to_pydict())
    wrapped = wrapped.collect() if isinstance(wrapped, narwhals.LazyFrame) else wrapped
    return {str(name): wrapped[name].to_list() for name in wrapped.columns}


def qrels_from_table(table: Any, source: str, reading: Reading) -> Qrels:
    """Qrels from an Arrow table."""
    return qrels_from_columns(_columns(table, "qrels", source, reading), reading.grades)


def run_from_table(table: Any, source: str, name: str, reading: Reading = Reading()) -> Run:
    """A run from an Arrow table."""
    return run_from_columns(_columns(table, "run", source, reading), name)


def judged_table(
    table: Any, source: str, judgments: Judgments, rules: RankingRules, reading: Reading = Reading()
) -> JudgedRanking | None:
    """A run in an Arrow table, judged by the kernel without copying its columns."""
    roles = find_roles(table.column_names, "run", source, reading=reading)
    if judgments.index is None or "score" not in roles or (rules.needs_ranks and "rank" not in roles):
        return None
    if any(len(places) > 1 for places in roles.values()):
        return None
    needed = ["query", "doc", "score", *(["rank"] if rules.needs_ranks else [])]
    columns = [
        _as_text(table.column(roles[role][0])) if role in ("query", "doc") else table.column(roles[role][0])
        for role in needed
    ]
    stream = _pyarrow().table(columns, names=needed).__arrow_c_stream__()
    layout = Layout(query=0, doc=1, value=2, rank=3 if rules.needs_ranks else -1)
    ranking = ranking_from_kernel(judgments, judgments.index.hits_in_arrow(stream, layout, rules))
    if ranking is None or "tag" not in roles:
        return ranking
    tags = table.column(roles["tag"][0])
    return replace(ranking, tag=plain_text(_values(tags.slice(len(tags) - 1), as_ids=False, source=source)[0]))


def _as_text(column: Any) -> Any:
    return column.cast("string") if _pyarrow().types.is_integer(column.type) else column


def _file_table(
    content: Content, kind: Kind, what: str, table_of: Callable[[bytes, Kind, str, Reading], Any], reading: Reading
) -> Any:
    arrow = _pyarrow()
    try:
        return table_of(content.read(), kind, content.name, reading)
    except (arrow.ArrowException, OSError, ValueError, KeyError, SystemError) as error:
        raise InputError(f"the {what} data is damaged: {error}", source=content.name) from error


def _parquet_table(data: bytes, kind: Kind, source: str, reading: Reading) -> Any:
    from pyarrow import parquet

    file = parquet.ParquetFile(_pyarrow().BufferReader(data))
    names = file.schema_arrow.names
    needed = [names[place] for place in _needed(names, kind, source, reading)]
    refuse_large_parquet(file, _pyarrow().BufferReader(data), needed, len(data), source)
    return file.read(columns=needed, use_threads=len(data) > _THREADED)


def _arrow_table(data: bytes, kind: Kind, source: str, reading: Reading) -> Any:
    from pyarrow import ipc

    refuse_large_arrow(data, source)
    options = ipc.IpcReadOptions(use_threads=len(data) > _THREADED)
    opened = (ipc.open_file if data.startswith(ARROW_FILE) else ipc.open_stream)(data, options=options)
    table = opened.read_all()
    table.validate(full=True)  # a damaged file could cause reads out of bounds
    needed = _needed(table.column_names, kind, source, reading)
    refuse_expansion(sum(decoded_size(table.column(place)) for place in needed), len(data), source)
    return table


def _with_index(frame: Any, kind: Kind) -> Any:
    """The frame with the queries and documents of its index as columns; only frames of pandas have an index."""
    levels = getattr(getattr(frame, "index", None), "nlevels", 0)
    if hasattr(type(frame), "to_frame") and not hasattr(type(frame), "columns"):
        if levels < 2:
            raise InputError(
                "a Series needs an index of query and document, as from frame.set_index(['query_id', 'doc_id'])['score']. "
                "Pass the whole frame, or a dict by query.",
                source=kind,
            )
        frame = frame.to_frame(HEADERS[kind].rpartition(",")[2])
    if not levels or is_header(list(map(str, frame.columns))):
        return frame
    if levels == 2 and not any(frame.index.names):
        frame = frame.rename_axis(HEADERS[kind].split(",")[:2])
    named = [level for level, name in enumerate(frame.index.names) if name is not None and name not in frame.columns]
    return frame.reset_index(level=named) if named else frame


def _collected(frame: Any, kind: Kind, reading: Reading) -> Any:
    """The required columns as an Arrow table."""
    narwhals = _narwhals()
    try:
        wrapped = narwhals.from_native(frame)
    except TypeError:
        return _pyarrow().table(frame)
    names = wrapped.collect_schema().names()
    wrapped = wrapped.select(*(names[place] for place in _needed(list(map(str, names)), kind, kind, reading)))
    return wrapped.collect("pyarrow").to_native() if isinstance(wrapped, narwhals.LazyFrame) else wrapped.to_arrow()


def _needed(names: Sequence[str], kind: Kind, source: str, reading: Reading) -> list[int]:
    """The positions of the columns that have a role."""
    roles = find_roles(names, kind, source, reading=reading)
    return list(dict.fromkeys(place for places in roles.values() for place in places))


def _columns(table: Any, kind: Kind, source: str, reading: Reading) -> Columns:
    roles = find_roles(table.column_names, kind, source, reading=reading)
    ids = {place for role, places in roles.items() for place in places if role in ("query", "doc") or len(places) > 1}
    return Columns(
        source, by_role(roles, lambda place: _values(table.column(place), place in ids, source)), row_word="row"
    )


def _values(column: Any, as_ids: bool, source: str) -> Sequence[Any]:
    """The values of an Arrow column: a NumPy array if that is fast and safe, else a list."""
    types = _pyarrow().types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        return listed(column, source)
    if as_ids:
        column = _as_text(column)
    if types.is_integer(column.type) or types.is_floating(column.type):
        values: Sequence[Any] = column.to_numpy()
        return values
    return listed(column, source)


def listed(column: Any, source: str) -> list[Any]:
    """The values of an Arrow column as those of Python."""
    try:
        try:
            return list(column.to_pylist())
        except UnicodeDecodeError:  # Arrow does not check that text is UTF-8
            return [None if text is None else decoded(text) for text in column.cast("large_binary").to_pylist()]
    except (OverflowError, ValueError, NotImplementedError) as error:  # a date that Python does not know
        raise InputError(f"a column of type {column.type} cannot be read: {error}.", source=source) from error


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingExtraError("reading Parquet and Arrow files", "frames") from None
    return pyarrow


def _narwhals() -> Any:
    try:
        import narwhals
    except ImportError:
        raise MissingExtraError("reading data frames", "frames") from None
    return narwhals
