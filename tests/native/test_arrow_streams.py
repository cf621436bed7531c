"""Streams of Arrow data that no library at hand writes: they fail half-way, or leave open whether a value is missing."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from assay.native.index import Index, Layout, RankingRules, index_judgments
from native.paths import NEEDS_KERNEL

pytestmark = NEEDS_KERNEL

LAYOUT = Layout(query=0, doc=1, value=2)
RULES = RankingRules(0, 0, False, False, False, False)
FAILS = 5  # an error number


class Schema(ctypes.Structure):
    """What the Arrow C data interface calls an ArrowSchema."""

    _fields_ = (
        ("texts", ctypes.c_void_p * 3),
        *((name, ctypes.c_int64) for name in ("flags", "n_children")),
        *((name, ctypes.c_void_p) for name in ("children", "dictionary", "release", "private_data")),
    )


class Array(ctypes.Structure):
    """What it calls an ArrowArray."""


Array._fields_ = (
    *((name, ctypes.c_int64) for name in ("length", "null_count", "offset", "n_buffers", "n_children")),
    ("buffers", ctypes.c_void_p),
    ("children", ctypes.POINTER(ctypes.POINTER(Array))),
    *((name, ctypes.c_void_p) for name in ("dictionary", "release", "private_data")),
)
ASK = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


class Stream(ctypes.Structure):
    """What it calls an ArrowArrayStream, without messages and without anything to release."""

    _fields_ = (
        ("get_schema", ASK),
        ("get_next", ASK),
        *((name, ctypes.c_void_p) for name in ("get_last_error", "release", "private_data")),
    )


def exported(batch: pa.RecordBatch) -> tuple[Schema, Array]:
    schema, array = Schema(), Array()
    batch._export_to_c(ctypes.addressof(array), ctypes.addressof(schema))
    return schema, array


def table(doc: Any = ("a", "b", "c")) -> pa.RecordBatch:
    return pa.record_batch({"query": ["q1", "q1", "q2"], "doc": doc, "score": [2.5, 1.5, 0.5]})


def judgments() -> Index:
    index = index_judgments(("q1", "q2"), np.array([0, 1, 2]), ["a", "c"])
    assert index is not None
    return index


def joined(batches: list[pa.RecordBatch], change: Callable[[Array], None], *, errors: tuple[int, int] = (0, 0)) -> Any:
    """What the kernel makes of some batches, each changed; `errors` of the schema, and of what comes after the batches."""
    schemas, arrays = zip(*map(exported, batches), strict=True)
    for array in arrays:
        change(array)
    rest = iter(arrays)

    def get_schema(_: int, into: int) -> int:
        if not errors[0]:
            ctypes.memmove(into, ctypes.byref(schemas[0]), ctypes.sizeof(Schema))
        return errors[0]

    def get_next(_: int, into: int) -> int:
        array = next(rest, None)
        if array is None:
            return errors[1]
        ctypes.memmove(into, ctypes.byref(array), ctypes.sizeof(Array))
        return 0

    stream = Stream(ASK(get_schema), ASK(get_next))
    new = ctypes.pythonapi.PyCapsule_New
    new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return judgments().hits_in_arrow(new(ctypes.addressof(stream), b"arrow_array_stream", None), LAYOUT, RULES)


def as_it_is(_: Array) -> None:
    pass


def number_of_nulls_unknown(array: Array) -> None:
    for column in range(array.n_children):
        array.children[column].contents.null_count = -1


def test_batches_are_one_run() -> None:
    together = table()

    assert joined([together], as_it_is) is not None
    assert joined([together], as_it_is) == joined([together[:1], together[1:1], together[1:]], as_it_is)


def test_a_stream_may_leave_open_whether_values_are_missing() -> None:
    """With a column that has a mask of what is there, and columns that have none."""
    whole = table(pa.array(["x", None, "a", "b", "c"])[2:])
    missing = table(pa.array(["x", "y", "a", None, "c"])[2:])

    assert joined([table()], as_it_is) == joined([whole], number_of_nulls_unknown)
    assert joined([missing], number_of_nulls_unknown) is None
    assert joined([missing], as_it_is) is None


@pytest.mark.parametrize("errors", [(FAILS, 0), (0, FAILS)])
def test_a_stream_that_fails_is_left_to_python(errors: tuple[int, int]) -> None:
    """Also after a batch that was good: half a run must not be judged."""
    assert joined([table()], as_it_is, errors=errors) is None


@pytest.mark.parametrize("changed", [{"n_children": 2}, {"null_count": 1}, {"offset": 1}])
def test_a_batch_of_another_shape_is_left_to_python(changed: dict[str, int]) -> None:
    def change(array: Array) -> None:
        for name, value in changed.items():
            setattr(array, name, value)

    assert joined([table()], change) is None


@pytest.mark.parametrize("code", [-1, 3])
def test_a_code_outside_its_dictionary_is_left_to_python(code: int) -> None:
    codes = pa.array([0, code, 2], pa.int8())
    docs = pa.DictionaryArray.from_arrays(codes, pa.array(["a", "b", "c"]), safe=False)

    assert joined([table(docs)], as_it_is) is None
