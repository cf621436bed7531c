"""Parquet, Arrow and data frames: anything that pyarrow or narwhals can take hold of. Both are imported late."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from assay.errors import InputError, MissingExtraError
from assay.formats.columns import Columns, qrels_from_columns, run_from_columns
from assay.formats.names import Kind, find_roles
from assay.formats.numbers import GradeMap
from assay.formats.sources import Content
from assay.formats.text import decoded
from assay.tables import Qrels, Run

ARROW_FILE = b"ARROW1"
_FRAME_MARKS = ("__arrow_c_stream__", "__arrow_c_array__", "__dataframe__", "__narwhals_dataframe__", "columns")


def qrels_from_parquet(content: Content, grades: GradeMap) -> Qrels:
    """Qrels from a Parquet file."""
    return qrels_from_columns(_read(content, "qrels", "Parquet", _parquet_table), grades)


def run_from_parquet(content: Content) -> Run:
    """A run from a Parquet file."""
    return run_from_columns(_read(content, "run", "Parquet", _parquet_table), content.stem)


def qrels_from_arrow(content: Content, grades: GradeMap) -> Qrels:
    """Qrels from an Arrow IPC file or stream."""
    return qrels_from_columns(_read(content, "qrels", "Arrow", _arrow_table), grades)


def run_from_arrow(content: Content) -> Run:
    """A run from an Arrow IPC file or stream."""
    return run_from_columns(_read(content, "run", "Arrow", _arrow_table), content.stem)


def is_frame(value: object) -> bool:
    """Whether a value looks like a data frame of some library; imports none of them, computes nothing."""
    return any(hasattr(type(value), mark) for mark in _FRAME_MARKS)


def qrels_from_frame(frame: Any, grades: GradeMap) -> Qrels:
    """Qrels from a data frame of any library."""
    return qrels_from_columns(_frame_columns(frame, "qrels"), grades)


def run_from_frame(frame: Any, name: str) -> Run:
    """A run from a data frame of any library."""
    return run_from_columns(_frame_columns(frame, "run"), name)


def _read(content: Content, kind: Kind, what: str, table_of: Callable[[bytes, Kind, str], Any]) -> Columns:
    arrow = _pyarrow()
    try:
        table = table_of(content.read(), kind, content.name)
    except (arrow.ArrowException, OSError, ValueError, KeyError, SystemError) as error:
        raise InputError(f"the {what} data is damaged: {error}", source=content.name) from error
    return _columns(table, kind, content.name)


def _parquet_table(data: bytes, kind: Kind, source: str) -> Any:
    from pyarrow import parquet

    file = parquet.ParquetFile(_pyarrow().BufferReader(data))
    names = file.schema_arrow.names
    needed = [names[place] for place in find_roles(names, kind, source).values()]
    return file.read(columns=needed)


def _arrow_table(data: bytes, kind: Kind, source: str) -> Any:
    from pyarrow import ipc

    opened = ipc.open_file(data) if data.startswith(ARROW_FILE) else ipc.open_stream(data)
    table = opened.read_all()
    table.validate(full=True)  # a damaged file would otherwise be read beyond its memory
    return table


def _frame_columns(frame: Any, kind: Kind) -> Columns:
    arrow = _pyarrow()
    if isinstance(frame, arrow.RecordBatch):
        frame = arrow.Table.from_batches([frame])
    try:
        table = frame if isinstance(frame, arrow.Table) else _collected(frame, kind)
    except (arrow.ArrowException, TypeError, ValueError) as error:
        raise InputError(
            f"the {type(frame).__name__} cannot be read as a table: {error}. "
            "A column needs values of one type; turn ids into text, with .astype(str) in pandas.",
            source=kind,
        ) from error
    return _columns(table, kind, kind)


def _collected(frame: Any, kind: Kind) -> Any:
    """The columns that are needed, as an Arrow table."""
    narwhals = _narwhals()
    try:
        wrapped = narwhals.from_native(frame)
    except TypeError:
        return _pyarrow().table(frame)
    names = wrapped.collect_schema().names()
    wrapped = wrapped.select(*(names[place] for place in find_roles(list(map(str, names)), kind, kind).values()))
    return wrapped.collect("pyarrow").to_native() if isinstance(wrapped, narwhals.LazyFrame) else wrapped.to_arrow()


def _columns(table: Any, kind: Kind, source: str) -> Columns:
    roles = find_roles(table.column_names, kind, source)
    by_role = {role: _values(table.column(place), role in ("query", "doc")) for role, place in roles.items()}
    return Columns(source, by_role, row_word="row")


def _values(column: Any, as_ids: bool) -> Sequence[Any]:
    """The values of an Arrow column: NumPy's where that is quick and safe, else Python's."""
    types = _pyarrow().types
    if types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if column.null_count:
        return list(column.to_pylist())
    if types.is_integer(column.type) and as_ids:
        column = column.cast("string")
    if types.is_string(column.type) or types.is_large_string(column.type) or types.is_string_view(column.type):
        return _texts(column)
    if types.is_integer(column.type) or types.is_floating(column.type):
        values: Sequence[Any] = column.to_numpy()
        return values
    return list(column.to_pylist())


def _texts(column: Any) -> list[str]:
    try:
        return list(column.to_pylist())
    except UnicodeDecodeError:  # Arrow does not look whether its text is UTF-8
        return [decoded(text) for text in column.cast("large_binary").to_pylist()]


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
