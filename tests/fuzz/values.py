"""Python values made from bytes: each byte chooses from what may be in a dict, a list of rows or a table."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import MappingProxyType, SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa


class Text(str):
    """Text of another class."""


class Number(float):
    """A number of another class."""


class Bytes:
    """Choices, one for each byte; 0 when there are no more."""

    def __init__(self, data: bytes) -> None:
        self._data, self._next = data, 0

    def number(self, below: int) -> int:
        self._next += 1
        return self._data[self._next - 1] % below if self._next <= len(self._data) else 0

    def pick(self, choices: Any) -> Any:
        return choices[self.number(len(choices))]

    def rarely(self) -> bool:
        """Once in sixteen times: most of a value must be right for it to be read at all."""
        return self.number(16) == 15


PLAIN_QUERIES = ("q1", "q2", "q3", "unjudged")
PLAIN_DOCS = ("d1", "d2", "d3", "d4", "d5", "x", "é", "d10")
ODD_IDS = (
    *(
        "",
        " ",
        "a b",
        "\ud800",
        "\udcff",
        "\udcc3\udca9",
        "a\0b",
        "#",
        "long" * 50,
        Text("d1"),
        Text(""),
        np.str_("d2"),
    ),
    *(
        1,
        0,
        -1,
        2**70,
        np.int64(1),
        np.uint8(1),
        True,
        1.0,
        None,
        b"d1",
        b"",
        b"\xff",
        ("d1",),
        float("nan"),
        Decimal("1.5"),
        10**5000,
    ),
)
PLAIN_NUMBERS = (0, 1, 2, 3, 1.0, 0.5, 2.0, -1, 7.25, 1e9)
ODD_NUMBERS = (
    *(
        -0.0,
        1e-320,
        1e308,
        16777217,
        2**53 + 1,
        2**63,
        2**70,
        -(2**63),
        10**5000,
        True,
        False,
        np.float32(0.1),
        np.int8(-3),
    ),
    *(
        float("nan"),
        float("inf"),
        -float("inf"),
        10**400,
        np.longdouble("1e400"),
        np.float16(1),
        Number(2.0),
        np.bool_(True),
    ),
    *(Decimal("1.5"), Decimal("nan"), Fraction(1, 3), "1", "", "x", None, b"1", 1j, [1.0], (), {}, np.array(1.0)),
    *(np.array([1.0, 2.0]), np.datetime64("2020-01-01"), object),
)


def one_id(given: Bytes, usual: tuple[str, ...]) -> Any:
    return given.pick(ODD_IDS) if given.rarely() else given.pick(usual)


def one_number(given: Bytes) -> Any:
    return given.pick(ODD_NUMBERS) if given.rarely() else given.pick(PLAIN_NUMBERS)


def documents(given: Bytes) -> dict[Any, Any]:
    found = {one_id(given, PLAIN_DOCS): one_number(given) for _ in range(given.number(9))}
    if given.rarely():  # so many that few are judged
        found |= {f"filler{place}": -float(place % 7) for place in range(40)}
    return found


def _plain_id(value: Any) -> str:
    return value if isinstance(value, str) else type(value).__name__


def _as_pairs(found: dict[Any, Any]) -> Any:
    return list(found.items())


def _as_hits(found: dict[Any, Any]) -> Any:
    return [{"id": doc, "score": number} for doc, number in found.items()]


def _as_objects(found: dict[Any, Any]) -> Any:
    return [SimpleNamespace(doc_id=doc, score=number) for doc, number in found.items()]


def _broken(found: dict[Any, Any]) -> Any:
    return [*found.items(), ("d1",), None, "d2"]


_FORMS: tuple[Callable[[dict[Any, Any]], Any], ...] = (
    *(list, tuple, _as_pairs, _as_hits, _as_objects, OrderedDict, MappingProxyType, _broken),
    *(
        lambda found: set(map(_plain_id, found)),
        lambda found: (doc for doc in found),
        lambda found: np.array(list(map(_plain_id, found))),
    ),
    *(lambda found: None, lambda found: "d1", lambda found: 5, lambda found: [list(found.items())]),
)


def by_query(data: bytes) -> Any:
    """A dict by query: of dicts, mostly."""
    given = Bytes(data)
    form = given.pick(_FORMS) if given.rarely() else None
    value: dict[Any, Any] = {}
    for _ in range(given.number(6)):
        found = documents(given)
        other = given.pick(_FORMS) if given.rarely() else form
        value[one_id(given, PLAIN_QUERIES)] = found if other is None else other(found)
    return given.pick((OrderedDict(value), MappingProxyType(value))) if given.rarely() else value


def rows(data: bytes, number_name: str) -> Any:
    """A list of tuples or of records."""
    given = Bytes(data)
    shape = given.number(8)
    found: list[Any] = []
    for _ in range(given.number(12)):
        row = (one_id(given, PLAIN_QUERIES), one_id(given, PLAIN_DOCS), one_number(given))
        if given.rarely():
            row = given.pick((row[:2], (*row, 1), (), list(row)))
        as_record = shape > 5 or given.rarely()
        found.append(dict(zip(("query_id", "doc_id", number_name, "more"), row, strict=False)) if as_record else row)
    return given.pick((tuple(found), iter(found), None, found[0] if found else ())) if given.rarely() else found


_TEXT_TYPES = (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string()))
_ODD_TYPES = (
    *(pa.binary(), pa.large_binary(), pa.binary_view(), pa.int8(), pa.int64(), pa.uint64(), pa.float32(), pa.float64()),
    *(
        pa.float16(),
        pa.bool_(),
        pa.null(),
        pa.date32(),
        pa.timestamp("ns"),
        pa.decimal128(20, 3),
        pa.list_(pa.string()),
    ),
    *(
        pa.dictionary(pa.int8(), pa.large_string()),
        pa.dictionary(pa.int32(), pa.float64()),
        pa.struct([("a", pa.string())]),
    ),
)
_NUMBER_TYPES = (pa.float64(), pa.float32(), pa.int64(), pa.int32(), pa.uint8(), pa.uint64(), pa.float16())


# pyarrow 26.0.1 crashes when it makes an array of NumPy's datetime64, numbers and a long double: that is not for us to find.
_IN_ARROW = (int, float, str, bytes, Decimal, np.bool_, np.integer)


def _array(values: list[Any], kind: Any) -> Any:
    """The values as an Arrow array of a type; of the type that fits if they cannot be of this one."""
    values = [value if isinstance(value, _IN_ARROW) else None for value in values]
    try:
        return pa.array(values, kind)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        pass
    try:
        return pa.array(values)
    except (pa.ArrowException, ValueError, TypeError, OverflowError):
        return pa.array([type(value).__name__ for value in values])


def _raw_text(tokens: list[bytes]) -> Any:
    """Text of any bytes: Arrow does not check that it is UTF-8."""
    return pa.StringArray.from_buffers(len(tokens), *pa.array(tokens, pa.binary()).buffers()[1:])


def arrow_table(data: bytes, number_name: str) -> Any:
    """An Arrow table, in one piece or several, cut or not."""
    given = Bytes(data)
    count = given.number(10)
    ids = [[one_id(given, usual) for _ in range(count)] for usual in (PLAIN_QUERIES, PLAIN_DOCS)]
    numbers = [one_number(given) for _ in range(count)]
    kinds = [given.pick(_ODD_TYPES) if given.rarely() else given.pick(_TEXT_TYPES) for _ in range(2)]
    kinds.append(given.pick(_ODD_TYPES) if given.rarely() else given.pick(_NUMBER_TYPES))
    columns = [_array(values, kind) for values, kind in zip([*ids, numbers], kinds, strict=True)]
    if given.rarely():
        columns[given.number(2)] = _raw_text(
            [given.pick((b"d1", b"\xff", b"\xed\xa0\x80", b"", b"q1")) for _ in range(count)]
        )
    names = ["query_id", "doc_id", number_name]
    if given.rarely():
        names[given.number(3)] = given.pick(("qid", "docno", "rank", "tag", "", "doc_id"))
    if given.number(4) == 3:
        names.append(given.pick(("rank", "tag", "iteration")))
        columns.append(_array([one_number(given) for _ in range(count)], given.pick(_NUMBER_TYPES)))
    table = pa.Table.from_arrays(columns, names=names)
    if given.number(4) == 3 and count > 2:
        table = pa.concat_tables([table.slice(1, 1), table.slice(0, 1), table.slice(2)])
    return table.slice(given.number(3)) if given.rarely() else table
