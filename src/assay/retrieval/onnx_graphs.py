"""What an ONNX file says about itself: inputs, outputs, and other files with weights. Needs no library, reads no weights.

A model.onnx is a protocol buffer: fields with a number, each a varint (type 0), 8 bytes (1), text or a message with its
length before it (2), or 4 bytes (5). Large models keep their weights in other files beside model.onnx, which names them.
"""

from __future__ import annotations

import mmap
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path, PurePosixPath

from msgspec import Struct

from assay.errors import RetrievalError

# The messages that lead to external data, by the number of their field (onnx.proto).
_LEADS_TO: Mapping[str, Mapping[int, str]] = {
    "model": {7: "graph", 25: "function"},
    "graph": {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: "graph", 10: "tensor", 11: "graph", 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {13: "entry"},
}
_GRAPH, _INITIALISER, _INPUT, _OUTPUT = 7, 5, 11, 12
_TENSOR_NAME = 8
_FIXED = {1: 8, 5: 4}  # bytes, by type


class Value(Struct, frozen=True):
    """An input or output of a model."""

    name: str
    shape: tuple[int | None, ...] | None  # None where it is not fixed, or not said at all

    @property
    def rank(self) -> int | None:
        """The number of its dimensions, if it is said."""
        return None if self.shape is None else len(self.shape)


class Graph(Struct, frozen=True):
    """The interface of a model, and the files that belong to it."""

    inputs: tuple[Value, ...]
    outputs: tuple[Value, ...]
    external: tuple[str, ...]  # other files with weights, relative to its folder: each once, sorted


def read_graph(model: Path) -> Graph:
    """The inputs, outputs and other files of an ONNX model.

    Raises RetrievalError if the file is not an ONNX model, or has weights outside its folder.
    """
    try:
        status = model.stat()
        graph = _read(model, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    except (ValueError, IndexError, RecursionError):  # also an empty file
        raise RetrievalError(
            f"{model}: not an ONNX model. Export it again, or copy it again if it was cut off."
        ) from None
    except OSError as error:
        raise RetrievalError(f"{model}: cannot be read: {error.strerror}.") from None
    for name in graph.external:
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            raise RetrievalError(
                f"{model}: its weights are in {name!r}, outside its folder. Put them beside the model."
            )
    return graph


@lru_cache(maxsize=16)
def _read(model: Path, *stamp: int) -> Graph:
    with model.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        external = sorted(set(_locations(data, 0, len(data), "model")))
        inputs: list[Value] = []
        outputs: list[Value] = []
        weights: set[str] = set()
        for begin, end in _only(data, 0, len(data), _GRAPH):
            inputs += [_value(data, *place) for place in _only(data, begin, end, _INPUT)]
            outputs += [_value(data, *place) for place in _only(data, begin, end, _OUTPUT)]
            tensors = _only(data, begin, end, _INITIALISER)
            weights |= {_text(data, *place, _TENSOR_NAME) for place in tensors}
    if not outputs:
        raise ValueError("a model without outputs")
    return Graph(tuple(each for each in inputs if each.name not in weights), tuple(outputs), tuple(external))


def _value(data: mmap.mmap, begin: int, end: int) -> Value:
    """A ValueInfoProto: its name (1) and, in its type (2), tensor (1) and shape (2), the dimensions (1)."""
    name, shape = _text(data, begin, end, 1), None
    for kind in _only(data, begin, end, 2):
        for tensor in _only(data, *kind, 1):
            for dimensions in _only(data, *tensor, 2):
                shape = tuple(_fixed(data, *each) for each in _only(data, *dimensions, 1))
    return Value(name, shape)


def _fixed(data: mmap.mmap, begin: int, end: int) -> int | None:
    """A dimension: a number (1), or a name (2) if it is not fixed; some exporters write -1."""
    found = next((value for number, value, none in _fields(data, begin, end) if number == 1 and none < 0), 0)
    return found if 0 < found < 1 << 31 else None


def _text(data: mmap.mmap, begin: int, end: int, number: int) -> str:
    return next((data[start:stop].decode() for start, stop in _only(data, begin, end, number)), "")


def _locations(data: mmap.mmap, begin: int, end: int, message: str) -> Iterator[str]:
    """The locations of external data in a message."""
    leads_to = _LEADS_TO[message]
    for number, start, stop in _fields(data, begin, end):
        inner = leads_to.get(number) if stop >= 0 else None
        if inner == "entry":
            if _text(data, start, stop, 1) == "location":
                yield _text(data, start, stop, 2)
        elif inner is not None:
            yield from _locations(data, start, stop, inner)


def _only(data: mmap.mmap, begin: int, end: int, number: int) -> Iterator[tuple[int, int]]:
    """The messages in one field: begin and end of each."""
    return ((start, stop) for found, start, stop in _fields(data, begin, end) if found == number and stop >= 0)


def _fields(data: mmap.mmap, begin: int, end: int) -> Iterator[tuple[int, int, int]]:
    """The fields of a message: number, begin and end; of a whole number its value and -1."""
    at = begin
    while at < end:
        tag, at = _varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == 0:
            value, at = _varint(data, at)
            yield number, value, -1
        elif kind == 2:
            size, at = _varint(data, at)
            if at + size > end:
                raise ValueError("a field is longer than its message")
            yield number, at, at + size
            at += size
        elif kind in _FIXED:
            at += _FIXED[kind]
        else:
            raise ValueError("not a protocol buffer")


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    """A whole number in groups of 7 bits, and the place after it."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        if shift > 63:
            raise ValueError("not a whole number")
