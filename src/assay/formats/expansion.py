"""How many bytes Parquet and Arrow become in memory, found out before they do: a few kilobytes can become gigabytes.

Parquet repeats a text by its number in a dictionary, and both formats compress. Nothing is unpacked here but the
dictionaries of Parquet, whose size the file states.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any

from assay.formats.sources import refuse_expansion
from assay.limits import ALWAYS_READ, limit

_BATCH = 1 << 16  # rows
_RECORDS, _DICTIONARY = 3, 2  # types of Arrow messages


# Parquet


def refuse_large_parquet(file: Any, source: Any, names: Sequence[str], packed: int, name: str) -> None:
    """Raise an error if these columns of a Parquet file become many times as large as the file."""
    chunks = [
        (group, column)
        for group in range(file.metadata.num_row_groups)
        for place in range(file.metadata.num_columns)
        if (column := file.metadata.row_group(group).column(place)).path_in_schema.partition(".")[0] in names
    ]
    fixed = sum(max(column.total_uncompressed_size, 8 * column.num_values) for _, column in chunks)
    refuse_expansion(fixed, packed, name)
    texts = [(group, column) for group, column in chunks if column.physical_type == "BYTE_ARRAY"]
    most = sum(column.num_values * column.total_uncompressed_size for _, column in texts)
    if fixed + most <= max(ALWAYS_READ, limit("expansion") * packed):
        return  # even if each row repeated the whole dictionary
    from pyarrow import parquet

    flat = [column.path_in_schema for _, column in texts if "." not in column.path_in_schema]
    by_number = parquet.ParquetFile(source, read_dictionary=list(dict.fromkeys(flat)))
    size = fixed
    for group, column in texts:
        if "." not in column.path_in_schema:
            size += _text_size(by_number, group, column, max(ALWAYS_READ, limit("expansion") * packed))
            refuse_expansion(size, packed, name)


def _text_size(file: Any, group: int, column: Any, enough: int) -> int:
    """The bytes of a column of text: at most so many if that is little, else counted row by row."""
    first = next(_columns(file, group, column, 1), None)  # with the whole dictionary
    if first is None:
        return 0
    longest = _longest(first.dictionary)
    if column.num_values * longest <= enough // 16:
        return int(column.num_values * longest)
    return sum(decoded_size(part) for part in _columns(file, group, column, _BATCH))


def _longest(texts: Any) -> int:
    from pyarrow import compute

    return compute.max(compute.binary_length(texts)).as_py() or 0


def _columns(file: Any, group: int, column: Any, rows: int) -> Iterator[Any]:
    for batch in file.iter_batches(rows, row_groups=[group], columns=[column.path_in_schema], use_threads=False):
        yield batch.column(0)


# Arrow


def decoded_size(column: Any) -> int:
    """The bytes of the values of an Arrow column, each as often as it occurs."""
    import pyarrow
    from pyarrow import compute

    parts = column.chunks if isinstance(column, pyarrow.ChunkedArray) else [column]
    types, size = pyarrow.types, 0
    for part in parts:
        lengths = part
        if types.is_dictionary(part.type):
            if not _is_text(types, part.type.value_type):
                size += 8 * len(part)
                continue
            lengths = compute.binary_length(part.dictionary).take(part.indices)
        elif _is_text(types, part.type):
            lengths = compute.binary_length(part)
        else:
            size += part.nbytes
            continue
        size += compute.sum(lengths).as_py() or 0
    return size


def _is_text(types: Any, kind: Any) -> bool:
    return bool(
        types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind) or types.is_large_binary(kind)
    )


def refuse_large_arrow(data: Any, name: str) -> None:
    """Raise an error if the messages of an Arrow file or stream say that they become many times as large as it."""
    try:
        size = sum(_sizes(memoryview(data)))
    except (struct.error, IndexError):
        return  # damaged: reading it says how
    refuse_expansion(size, len(data), name)


def _sizes(data: memoryview) -> Iterator[int]:
    """The sizes that compressed buffers state, message by message; see the Arrow columnar format."""
    place = 8 if bytes(data[:6]) == b"ARROW1" else 0
    while place + 8 <= len(data):
        mark, length = struct.unpack_from("<Ii", data, place)
        if mark != 0xFFFFFFFF or length <= 0:
            return
        message = _Table(data, place + 8)
        body = place + 8 + length
        kind, header = message.number("<B", 1), message.table(2)
        if kind == _DICTIONARY and header is not None:
            header = header.table(1)
        if kind in (_RECORDS, _DICTIONARY) and header is not None and header.table(3) is not None:
            yield from (
                struct.unpack_from("<q", data, body + offset)[0] for offset, length in header.pairs(2) if length >= 8
            )
        place = body + message.number("<q", 3)


class _Table:
    """A table of a FlatBuffer, by the numbers of its fields."""

    def __init__(self, data: memoryview, start: int) -> None:
        self._data = data
        self._at = start + struct.unpack_from("<I", data, start)[0]  # a reference to the table

    def _field(self, number: int) -> int:
        """Where a field is; 0 if it is left out."""
        fields = self._at - struct.unpack_from("<i", self._data, self._at)[0]
        if 4 + 2 * number >= struct.unpack_from("<H", self._data, fields)[0]:
            return 0
        offset: int = struct.unpack_from("<H", self._data, fields + 4 + 2 * number)[0]
        return self._at + offset if offset else 0

    def number(self, form: str, field: int) -> int:
        place = self._field(field)
        return int(struct.unpack_from(form, self._data, place)[0]) if place else 0

    def table(self, field: int) -> _Table | None:
        place = self._field(field)
        return _Table(self._data, place) if place else None

    def pairs(self, field: int) -> Iterator[tuple[int, int]]:
        """A vector of two whole numbers each."""
        place = self._field(field)
        if place:
            start = place + struct.unpack_from("<I", self._data, place)[0]
            count = struct.unpack_from("<I", self._data, start)[0]
            yield from (struct.unpack_from("<qq", self._data, start + 4 + 16 * each) for each in range(count))
