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


class Refused(ValueError):
    """What a field cannot take: words that say what to write instead, and which value of a list it is, from 1."""

    def __init__(self, words: str, place: int | None = None) -> None:
        self.place = place
        super().__init__(words)


class FieldError(InputError):
    """A field that cannot be read.

    The words after the name and the place are complete: a page shows them beside the input.
    """

    def __init__(self, field: str, words: str, place: int | None = None) -> None:
        self.field, self.place = field, place
        super().__init__(f"{field}: {words}" if place is None else f"{field}, value {place:,}: {words}")


class Kind(Protocol):
    """What a field may contain."""

    def read(self, texts: Sequence[str]) -> Any:
        """The value of a field given as these texts; Refused says what to write instead."""

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
    except Refused as error:
        raise FieldError(field.name, str(error), error.place) from None


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
            raise Refused(_number_words(text, "whole number", f"{self.low:,}", f"{self.high:,}"))
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
        text = _single(texts)
        number = _number(text, self.low, self.high)
        if number is None:
            raise Refused(_number_words(text, "number", f"{self.low:g}", f"{self.high:g}"))
        return number

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
            raise Refused(f"use {' or '.join(map(repr, self.choices))} instead of {_quoted(text)}.")
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
        return _text(_only(texts), self.most)

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
    noun: str = "name"

    def read(self, texts: Sequence[str]) -> tuple[str, ...]:
        """The texts in order; empty ones at the end are left out."""
        check_number(texts, self.most, self.noun)
        found = [_text(text, MOST_TEXT, place) for place, text in enumerate(texts, 1)]
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
        return tuple(self._grade(part, place) for place, part in enumerate(parts, 1))

    def _grade(self, text: str, place: int) -> float | None:
        if self.unjudged and text in (UNJUDGED, *_ALSO_UNJUDGED):
            return None
        number = _number(text, self.low, self.high)
        if number is None:
            also = f", or {UNJUDGED} for an unjudged result" if self.unjudged else ""
            words = f"{_quoted(text)} is not a grade: use a number from {self.low:g} to {self.high:g}{also}."
            raise Refused(words, place)
        return number

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
    noun: str = "number"

    def read(self, texts: Sequence[str]) -> tuple[int | None, ...]:
        """The numbers in order."""
        parts = _parts(texts)
        check_number(parts, self.most, self.noun)
        numbers = [self._number(part, place) for place, part in enumerate(parts, 1)]
        return tuple((number or None) if self.missing else number for number in numbers)

    def _number(self, text: str, place: int) -> int | None:
        try:
            return Whole(0, self.high, optional=self.missing).read([text])
        except Refused as error:
            raise Refused(str(error), place) from None

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


def _only(texts: Sequence[str]) -> str:
    """The only text; of several, none is meant."""
    if len(texts) != 1:
        raise Refused(f"give this field once; it is there {number_of(len(texts), 'time')}.")
    return texts[0]


def _single(texts: Sequence[str]) -> str:
    """The only text, without blanks around it."""
    return _only(texts).strip()


def _parts(texts: Sequence[str]) -> list[str]:
    """The parts of a list that is given at once or one by one: '3, 2 0' and '3', '2', '0'."""
    if len(texts) == 1 and not texts[0].strip():
        return []
    listed = [text.strip().replace(";", ",") for text in texts]
    return [part for text in listed for part in _split(text)]


def _split(text: str) -> list[str]:
    """At commas, where nothing between two is an empty part, and at blanks."""
    return [word for part in text.split(",") for word in (part.split() or [""])]


def _number(text: str, low: float, high: float) -> float | None:
    """The number, if it is one between these."""
    if not text.isascii() or len(text) > 24 or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if low <= number <= high else None  # nan is not either


def _number_words(text: str, noun: str, low: str, high: str) -> str:
    """What is wrong with a text that is no number between these."""
    if not text:
        return f"use a {noun} from {low} to {high}."
    return f"{_quoted(text)} is not a {noun} from {low} to {high}."


def _text(text: str, most: int, place: int | None = None) -> str:
    if len(text) > most:
        raise Refused(f"use at most {number_of(most, 'character')}; there are {len(text):,}.", place)
    if "\0" in text:
        raise Refused("remove the character NUL.", place)
    return text


def _quoted(text: str) -> str:
    return repr(show_id(text, 40))


def check_number(parts: Sequence[str], most: int, noun: str) -> None:
    """Refuse too many parts."""
    if len(parts) > most:
        raise Refused(f"use at most {number_of(most, noun)}; there are {len(parts):,}.", most + 1)
