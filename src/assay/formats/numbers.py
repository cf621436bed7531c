"""Strict number parsing: plain ASCII decimals such as 3, -0.5 or 1.2e-3. Independent of file formats.

Python's float() accepts more (1_000, Arabic-Indic digits, nan, infinity) and C's atof accepts anything, so the same file
could rank differently in different tools. Anything but a plain decimal is an error.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct

from assay.errors import InputError, show_id
from assay.tables import Floats, Integers

GradeMap: TypeAlias = Mapping[str, float]
Texts: TypeAlias = Sequence[bytes] | Sequence[str]

_ORDINARY = b"0123456789+-.eE"
_DIGITS_AND_BLANK = b"0123456789 "
_DECIMAL = r"[+-]?(?:\d+\.?\d*|\.\d+)"
_LARGEST = np.iinfo(np.int64).max  # NumPy's result for a number that is too large for 64 bits
_EXAMPLE = "Write it as E=3,S=2,C=1,I=0."


def floats(texts: Texts) -> Floats | None:
    """The texts as numbers, or None if one of them is not a plain number.

    >>> floats([b"1", b"-2.5e3"]).tolist()
    [1.0, -2500.0]
    >>> floats([b"1", b"nan"]) is None
    True
    """
    if _joined(texts).translate(None, _ORDINARY):  # checking all characters at once is much faster
        return None
    try:
        values = np.fromiter(map(float, texts), np.float64, len(texts))
    except ValueError:
        return None
    return values if np.isfinite(values).all() else None


def number(text: bytes | str) -> float | None:
    """The text as a number, or None if it is not a plain number.

    >>> number("1e3"), number("1_000"), number("0x10"), number("1e400")
    (1000.0, None, None, None)
    """
    values = floats([text])  # type: ignore[arg-type]
    return None if values is None else float(values[0])


def ranks(texts: Sequence[bytes]) -> Integers | None:
    """The texts as whole numbers, or None if one of them is not.

    >>> ranks([b"1", b"20"]).tolist()
    [1, 20]
    >>> ranks([b"1", b"-"]) is None
    True
    """
    joined = b" ".join(texts)
    if joined.translate(None, _DIGITS_AND_BLANK):
        return None
    values = np.fromstring(joined, np.int64, sep=" ")
    return None if values.max() == _LARGEST else values


def whole_grade(text: str) -> float | None:
    """The grade as trec_eval's atol reads it, truncated toward zero; None for text that atol would misread.

    >>> whole_grade("1.7"), whole_grade("-0.5"), whole_grade("1e2"), whole_grade("E")
    (1.0, 0.0, None, None)
    """
    value = number(text) if re.fullmatch(_DECIMAL, text, re.ASCII) else None
    return None if value is None else float(math.trunc(value))


def grade(value: Any, grades: GradeMap) -> float | None:
    """The grade of a text or number: its value in the map, else the number itself, else None.

    >>> grade("E", {"E": 3.0}), grade("0.5", {"E": 3.0}), grade("S", {"E": 3.0})
    (3.0, 0.5, None)
    """
    if isinstance(value, str) and value in grades:
        return grades[value]
    plain = number(value) if isinstance(value, str) else real(value)
    return plain if plain is None or not grades else grades.get(_key(plain), plain)


def real(value: Any) -> float | None:
    """A value of any numeric type as a float, or None if it is not a finite number.

    >>> real(True), real(np.float32(0.5)), real("1"), real(float("nan"))
    (1.0, 0.5, None, None)
    """
    is_array = getattr(value, "ndim", None) not in {None, 0}
    if isinstance(value, (str, bytes, complex)) or not hasattr(value, "__float__") or is_array:
        return None
    try:
        plain = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return plain if math.isfinite(plain) else None


def plain_text(value: Any) -> str:
    """A label as text: 0 and 0.0 become '0', None becomes ''."""
    if isinstance(value, (float, np.floating)):
        return _key(float(value)) if math.isfinite(value) else ""
    return "" if value is None else str(value)


def no_number(value: Any) -> str:
    """Why a value is not accepted as a number.

    >>> no_number("nan"), no_number("1e400"), no_number("")
    ("'nan' is not a number", "'1e400' is too large for a 64-bit number", 'is missing')
    """
    if value is None or (isinstance(value, str) and not value):
        return "is missing"
    if not isinstance(value, str):
        return no_numeric_type(value)
    too_large = not _joined([value]).translate(None, _ORDINARY) and _overflows(value)
    return f"'{show_id(value)}' {'is too large for a 64-bit number' if too_large else 'is not a number'}"


def no_numeric_type(value: Any) -> str:
    """Why a Python value is not accepted as a number.

    >>> no_numeric_type("1"), no_numeric_type(float("nan")), no_numeric_type(None)
    ("'1' (str) is not a number", 'nan (float) is not a finite number', 'None (NoneType) is not a number')
    """
    finite = "finite " if isinstance(value, (float, np.floating)) else ""
    return f"{show_value(value)} ({type(value).__name__}) is not a {finite}number"


def show_value(value: Any) -> str:
    """A value of any type, for display.

    >>> show_value(np.float64(1)), show_value("a")
    ('1.0', "'a'")
    """
    try:
        return show_id(repr(value.item() if isinstance(value, np.generic) else value))
    except ValueError:  # Python does not write them
        return "a number of over 4300 digits"


def shown_id(value: Any) -> str:
    """An id of any type, for display.

    >>> shown_id(7), shown_id(b"d1")
    ('7', "b'd1'")
    """
    return show_id(value) if isinstance(value, str) else show_value(value)


def no_rank(value: Any) -> str:
    """Why a value is not accepted as a rank."""
    return "is missing" if value is None or value == "" else f"'{shown_id(value)}' is not a positive whole number"


class Refusal(Struct, frozen=True, eq=False):
    """The message for invalid values of a column."""

    word: str
    why: Callable[[Any], str]
    advice: str


SCORE = Refusal(
    "score",
    no_number,
    "Scores must be plain decimal numbers such as 12.5 or 1.2e-3: fix or remove these rows.",
)
GRADE = Refusal(
    "grade",
    no_number,
    "Grades must be plain decimal numbers; give letters a value with `grades={'E': 3, 'S': 2, 'C': 1, 'I': 0}`.",
)
WHOLE_GRADE = Refusal(
    "grade",
    no_number,
    "trec_eval only reads whole grades; `assay evaluate` also reads fractions, and letters with --grades.",
)
RANK = Refusal(
    "rank",
    no_rank,
    "A run without scores needs ranks: 1, 2, 3 and so on. If the third column is a score, use "
    "`read_run(input_format='beir')`, or add a header line: query_id doc_id score.",
)


def parse_grades(text: str) -> dict[str, float]:
    """Parse the value of --grades.

    >>> parse_grades("E=3,S=2,C=1,I=0")
    {'E': 3.0, 'S': 2.0, 'C': 1.0, 'I': 0.0}
    """
    grades: dict[str, float] = {}
    for part in text.split(","):
        letter, equals, given = (piece.strip() for piece in part.rpartition("="))
        value = number(given)
        if not letter or not equals:
            raise InputError(f"grades '{show_id(text)}': expected LETTER=NUMBER, found '{show_id(part)}'. {_EXAMPLE}")
        if value is None:
            raise InputError(f"grades '{show_id(text)}': '{show_id(given)}' is not a number. {_EXAMPLE}")
        if letter in grades:
            raise InputError(f"grades '{show_id(text)}': '{show_id(letter)}' is given twice. {_EXAMPLE}")
        grades[letter] = value
    return grades


def checked_grades(grades: Mapping[str, float]) -> GradeMap:
    """The caller's map normalised: text to finite numbers, with 1, 1.0 and '1' as the same grade."""
    checked = {}
    for given, meant in grades.items():
        value = real(meant)
        if value is None:
            raise InputError(f"grades: the value of '{show_id(str(given))}' {no_number(meant)}. {_EXAMPLE}")
        plain = number(given) if isinstance(given, str) else real(given)
        checked[str(given) if plain is None else _key(plain)] = value
    return checked


def _key(plain: float) -> str:
    return str(int(plain)) if plain.is_integer() else repr(plain)


def _joined(texts: Texts) -> bytes:
    if texts and isinstance(texts[0], str):
        return "".join(texts).encode("utf-8", "surrogatepass")  # type: ignore[arg-type]
    return b"".join(texts)  # type: ignore[arg-type]


def _overflows(text: str) -> bool:
    try:
        return math.isinf(float(text))
    except ValueError:
        return False
