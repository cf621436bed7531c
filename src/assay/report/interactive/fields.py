"""The fields of a page's address, `grades=3,2,0&k=5`: read with messages for people, and written back without the defaults.

Each page has a table of fields. It reads the address, describes itself to programs (web/description.py) and lists the
fields in the docs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol
from urllib.parse import quote

from msgspec import Struct

from assay.errors import InputError, did_you_mean, show_id
from assay.words import number_of

Given = Mapping[str, Sequence[str]]  # fields as they came, each with its values in order
MOST_RESULTS = 1000
MOST_TEXT = 200  # characters
UNJUDGED = "u"
_ALSO_UNJUDGED = ("", "-", "?")


class Kind(Protocol):
    """What a field may contain."""

    def read(self, texts: Sequence[str]) -> Any:
        """The value of a field given as these texts; ValueError says what it takes."""

    def write(self, value: Any) -> list[str]:
        """The texts of a value."""

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of one of these texts."""


class Field(Struct, frozen=True):
    """A field of an address."""

    name: str
    meaning: str
    kind: Any  # Kind; msgspec does not check protocols
    default: Any = None
    example: str = ""


def read_fields(fields: Iterable[Field], given: Given) -> dict[str, Any]:
    """The value of every field; those that are not given have their defaults.

    >>> fields = [Field("k", "cutoff", Whole(1, 100), 10), Field("gain", "gain", OneOf(("linear", "exp")), "linear")]
    >>> read_fields(fields, {"k": ["5"]})
    {'k': 5, 'gain': 'linear'}
    """
    known = {field.name: field for field in fields}
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known) or f"; the fields are {', '.join(known)}."
            raise InputError(f"no field called {show_id(name)!r}{hint}")
    return {name: _read(field, given[name]) if name in given else field.default for name, field in known.items()}


def _read(field: Field, texts: Sequence[str]) -> Any:
    try:
        return field.kind.read(texts)
    except ValueError as error:
        shown = show_id(",".join(texts), 40)
        raise InputError(f"{field.name} cannot be {shown!r}; it takes {error}.") from None


def address_of(path: str, fields: Iterable[Field], values: Mapping[str, Any]) -> str:
    """The address that gives these values; defaults are left out.

    >>> address_of("/evaluator", [Field("k", "cutoff", Whole(1, 100), 10)], {"k": 5})
    '/evaluator?k=5'
    """
    pairs = [
        f"{field.name}={quote(text, safe=',:()/')}"
        for field in fields
        if values[field.name] != field.default
        for text in field.kind.write(values[field.name])
    ]
    return path + ("?" if pairs else "") + "&".join(pairs)


class Whole(Struct, frozen=True):
    """A whole number; with `optional`, nothing is None."""

    low: int
    high: int
    optional: bool = False

    def read(self, texts: Sequence[str]) -> int | None:
        """The number."""
        text = _single(texts)
        if self.optional and not text:
            return None
        if not (text.isascii() and text.isdigit()) or len(text) > 9 or not self.low <= int(text) <= self.high:
            raise ValueError(f"a whole number from {self.low:,} to {self.high:,}{' or nothing' * self.optional}")
        return int(text)

    def write(self, value: int | None) -> list[str]:
        """The number in digits."""
        return ["" if value is None else str(value)]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON integer."""
        return {"type": "integer", "minimum": self.low, "maximum": self.high}


class Number(Struct, frozen=True):
    """A number."""

    low: float
    high: float

    def read(self, texts: Sequence[str]) -> float:
        """The number."""
        return _number(_single(texts), self.low, self.high)

    def write(self, value: float) -> list[str]:
        """The number, without a fraction that is 0."""
        return [shortest(value)]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON number."""
        return {"type": "number", "minimum": self.low, "maximum": self.high}


class OneOf(Struct, frozen=True):
    """One of a few words."""

    choices: tuple[str, ...]

    def read(self, texts: Sequence[str]) -> str:
        """The word."""
        text = _single(texts)
        if text not in self.choices:
            raise ValueError(" or ".join(repr(choice) for choice in self.choices))
        return text

    def write(self, value: str) -> list[str]:
        """The word."""
        return [value]

    @property
    def schema(self) -> dict[str, Any]:
        """An enumeration."""
        return {"type": "string", "enum": list(self.choices)}


class Text(Struct, frozen=True):
    """A short text."""

    most: int = MOST_TEXT

    def read(self, texts: Sequence[str]) -> str:
        """The text."""
        (text,) = texts if len(texts) == 1 else ("\0",)
        return _text(text, self.most)

    def write(self, value: str) -> list[str]:
        """The text."""
        return [value]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON string."""
        return {"type": "string", "maxLength": self.most}


class Texts(Struct, frozen=True):
    """Short texts, one for each time that the field is given."""

    most: int = MOST_RESULTS

    def read(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The texts in order; empty ones at the end are left out."""
        check_number(texts, self.most, "text")
        found = [_text(text, MOST_TEXT) for text in texts]
        while found and not found[-1]:
            found.pop()
        return tuple(found)

    def write(self, value: tuple[str, ...]) -> list[str]:
        """The texts; an empty one if there is none, so that the field is given."""
        return list(value) or [""]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON list of strings."""
        return {"type": "array", "items": {"type": "string", "maxLength": MOST_TEXT}, "maxItems": self.most}


class Grades(Struct, frozen=True):
    """Grades, separated by commas or blanks; u is an unjudged document, where there may be some."""

    unjudged: bool = True
    most: int = MOST_RESULTS
    low: float = -60.0
    high: float = 60.0

    def read(self, texts: Sequence[str]) -> tuple[float | None, ...]:
        """The grades in order; None for an unjudged document."""
        parts = _parts(texts)
        check_number(parts, self.most, "grade")
        return tuple(self._grade(part) for part in parts)

    def _grade(self, text: str) -> float | None:
        if text in (UNJUDGED, *_ALSO_UNJUDGED):
            if not self.unjudged:
                raise ValueError(f"numbers from {self.low:g} to {self.high:g}")
            return None
        try:
            return _number(text, self.low, self.high)
        except ValueError as error:
            also = f", or {UNJUDGED} for an unjudged result" if self.unjudged else ""
            raise ValueError(f"grades such as 3,2,0: each {error}{also}") from None

    def write(self, value: tuple[float | None, ...]) -> list[str]:
        """The grades, with commas."""
        return [",".join(UNJUDGED if grade is None else shortest(grade) for grade in value)]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON string: whatever a list of grades looks like is checked when it is read."""
        number = r"-?[0-9]+(\.[0-9]+)?(e-[0-9]{1,3})?"
        one = f"({number}|{UNJUDGED})" if self.unjudged else number
        return {"type": "string", "pattern": f"^({one}(,{one})*)?$"}


class Ranks(Struct, frozen=True):
    """Ranks or counts, separated by commas; with `missing`, nothing or 0 is None."""

    missing: bool = False
    most: int = 50
    high: int = 1000

    def read(self, texts: Sequence[str]) -> tuple[int | None, ...]:
        """The numbers in order."""
        parts = _parts(texts)
        check_number(parts, self.most, "number")
        whole = Whole(0, self.high, optional=self.missing)
        numbers = [whole.read([part]) for part in parts]
        return tuple((number or None) if self.missing else number for number in numbers)

    def write(self, value: tuple[int | None, ...]) -> list[str]:
        """The numbers, with commas."""
        return [",".join("0" if number is None else str(number) for number in value)]

    @property
    def schema(self) -> dict[str, Any]:
        """A JSON string."""
        return {"type": "string", "pattern": "^([0-9]{1,4}(,[0-9]{1,4})*)?$"}


def shortest(number: float) -> str:
    """A number as people write it, and exactly.

    >>> shortest(3.0), shortest(0.5), shortest(1.0000001)
    ('3', '0.5', '1.0000001')
    """
    return str(int(number)) if number == int(number) else repr(float(number))


def _single(texts: Sequence[str]) -> str:
    """The only text, without blanks around it; of several, none is meant."""
    return texts[0].strip() if len(texts) == 1 else "\0"


def _parts(texts: Sequence[str]) -> list[str]:
    """The parts of a list that is given at once or one by one: '3, 2 0' and '3', '2', '0'."""
    if len(texts) == 1 and not texts[0].strip():
        return []
    listed = [text.strip().replace(";", ",") for text in texts]
    return [part for text in listed for part in _split(text)]


def _split(text: str) -> list[str]:
    """At commas, where nothing between two is an empty part, and at blanks."""
    return [word for part in text.split(",") for word in (part.split() or [""])]


def _number(text: str, low: float, high: float) -> float:
    plain = text.isascii() and len(text) <= 24 and "_" not in text
    try:
        number = float(text) if plain else high + 1
    except ValueError:
        number = high + 1
    if not low <= number <= high:  # nan is not either
        raise ValueError(f"a number from {low:g} to {high:g}")
    return number


def _text(text: str, most: int) -> str:
    if len(text) > most:
        raise ValueError(f"a text of at most {most:,} characters")
    if "\0" in text:
        raise ValueError("one text")
    return text


def check_number(parts: Sequence[str], most: int, noun: str) -> None:
    """Refuse too many parts."""
    if len(parts) > most:
        raise ValueError(f"at most {number_of(most, noun)}, and there are {len(parts):,}")
