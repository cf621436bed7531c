"""Documents as JSON: as Python's own encoder writes them, only faster."""

from __future__ import annotations

import json
import math

from hypothesis import given
from hypothesis import strategies as st
from msgspec import Struct
from msgspec.structs import asdict

from assay.report.drawing.json import json_text

NUMBERS = st.one_of(st.integers(), st.floats(allow_nan=False, allow_infinity=False))
DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), NUMBERS, st.text(st.characters())),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(st.characters()), inner, max_size=4)),
)


class Pair(Struct):
    name: str
    values: tuple[float, ...]


@given(DOCUMENTS)
def test_it_is_what_python_writes(document: object) -> None:
    assert json.dumps(document, indent=2) + "\n" == json_text(document)


def test_half_a_character_is_kept() -> None:
    assert '[\n  "d\\udce9",\n  1e-05\n]\n' == json_text(["d\udce9", 1e-05])


def test_what_is_not_finite_is_null() -> None:
    assert '{\n  "a": [\n    null,\n    null,\n    0.5\n  ]\n}\n' == json_text({"a": (math.nan, math.inf, 0.5)})


def test_values_become_dicts_as_they_are_written() -> None:
    expected = {"pairs": [{"name": "a", "values": [1.5, None]}, {"name": "b", "values": []}]}

    assert expected == json.loads(json_text({"pairs": (Pair("a", (1.5, math.nan)), Pair("b", ()))}, asdict))
    assert {"name": "a", "values": [1.5]} == json.loads(json_text(Pair("a", (1.5,)), asdict))
