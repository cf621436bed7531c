"""Tables with named columns: converts values of any type to ids and numbers. Does not read files."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError, show_id
from assay.formats.names import WORDS, Roles
from assay.formats.numbers import (
    GRADE,
    RANK,
    SCORE,
    GradeMap,
    Refusal,
    floats,
    grade,
    no_numeric_type,
    plain_text,
    show_value,
    shown_id,
)
from assay.formats.problems import Problem, Problems
from assay.formats.text import decoded
from assay.tables import Floats, Integers, Qrels, Run


class Columns(Struct, frozen=True):
    """The values of each role, one per row, of any type."""

    source: str
    by_role: dict[str, Sequence[Any]]
    lines: Sequence[int] | None = None  # line number of each row
    row_word: str = ""  # what to call a row without a line number: "row 3", "record 3"
    typed: bool = False  # Python values: text is never read as a number
    text_ids: bool = False  # all ids are known to be str, which saves a look at their types

    def place(self, row: int) -> str:
        """The location of a row, for messages."""
        shown = [f"{self.row_word} {row + 1}"] if self.row_word else []
        shown += [f"{WORDS[role]} {shown_id(self.by_role[role][row])}" for role in ("query", "doc")]
        return f"({', '.join(shown)})"


def by_role(roles: Roles, column: Callable[[int], Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The values of each role, from the columns of a table by position; several columns of a role are joined."""
    found: dict[str, Sequence[Any]] = {}
    for role, places in roles.items():
        if len(places) == 1:
            found[role] = column(places[0])
        else:
            from assay.formats.chosen import joined_ids

            found[role] = joined_ids([column(place) for place in places])
    return found


def qrels_from_columns(columns: Columns, grades: GradeMap) -> Qrels:
    """Qrels from the columns query, doc, rel and, optionally, iteration."""
    problems = Problems(columns.source)
    query, doc = (_ids(columns, role, problems) for role in ("query", "doc"))
    rel = _numbers(columns, "rel", GRADE, problems, grades)
    problems.refuse()
    _refuse_nothing(columns)
    iteration = (
        [plain_text(value) for value in columns.by_role["iteration"]] if "iteration" in columns.by_role else None
    )
    return Qrels.from_columns(query, doc, rel, iteration=iteration, source=columns.source, lines=columns.lines)


def run_from_columns(columns: Columns, name: str) -> Run:
    """A run from the columns query, doc, score or rank, and, optionally, tag."""
    problems = Problems(columns.source)
    query, doc = (_ids(columns, role, problems) for role in ("query", "doc"))
    if "score" in columns.by_role:
        rank = _whole_numbers(columns.by_role["rank"]) if "rank" in columns.by_role else None
        score = _numbers(columns, "score", SCORE, problems)
    else:
        rank = _ranks(columns, problems)
        score = -rank.astype(np.float64)
    problems.refuse()
    _refuse_nothing(columns)
    tag = plain_text(columns.by_role["tag"][-1]) if "tag" in columns.by_role else ""
    tags = tuple(dict.fromkeys(map(plain_text, columns.by_role.get("tag", ()))))
    return Run.from_columns(
        query, doc, score, rank=rank, name=name, tag=tag, source=columns.source, lines=columns.lines, tags=tags
    )


def _ids(columns: Columns, role: str, problems: Problems) -> Sequence[str]:
    values = columns.by_role[role]
    if (columns.text_ids or set(map(type, values)) <= {str}) and all(values) and _has_bytes("".join(values)):
        return values
    ids = list(map(as_id, values))
    bad = [row for row, text in enumerate(ids) if text is None]
    _report(bad, columns, role, IDS[role], problems)
    return [text or "" for text in ids]


def as_id(value: Any) -> str | None:
    """A value as an id, or None if it cannot be one."""
    if isinstance(value, bytes):
        value = decoded(value)
    if isinstance(value, str):
        return str(value) if value and _has_bytes(value) else None
    if not isinstance(value, (int, np.integer)) or isinstance(value, bool):
        return None
    try:
        return str(int(value))
    except ValueError:  # Python writes no number of more than 4300 digits
        return None


def _has_bytes(text: str) -> bool:
    """Whether the text can be encoded; JSON can contain lone surrogates, which no file can store."""
    try:
        text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return False
    return True


def _no_id(value: Any) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "is missing"
    if isinstance(value, str):
        return f"'{show_id(value)}' contains a lone surrogate (half a character)" if value else "is empty"
    return f"{show_value(value)} is a {type(value).__name__}"


IDS = {
    role: Refusal(f"{WORDS[role]} id", _no_id, "Ids must be non-empty text or whole numbers: fix or remove these rows.")
    for role in ("query", "doc")
}


def _numbers(
    columns: Columns, role: str, refusal: Refusal, problems: Problems, grades: GradeMap = MappingProxyType({})
) -> Floats:
    """The numbers of a column, vectorised if all values are plain numbers."""
    values = columns.by_role[role]
    plain = None if grades else _plain_numbers(values, columns.typed)
    if plain is not None:
        return plain
    meant = [
        grades.get(value) if columns.typed and isinstance(value, str) else grade(value, grades) for value in values
    ]
    bad = [row for row, number in enumerate(meant) if number is None]
    _report(bad, columns, role, replace(refusal, why=no_numeric_type) if columns.typed else refusal, problems)
    return np.array(meant, np.float64)


def _plain_numbers(values: Sequence[Any], typed: bool = False) -> Floats | None:
    kinds = set(map(type, values)) if isinstance(values, list) else {np.asarray(values).dtype.type}
    if kinds == {str} and not typed:
        return floats(values)
    if not all(issubclass(kind, (int, float, np.integer, np.floating)) for kind in kinds):
        return None
    try:
        with np.errstate(over="ignore"):  # a long double may be too large: it is refused below
            plain = np.asarray(values, np.float64)
    except OverflowError:
        return None
    return plain if np.isfinite(plain).all() else None


def _whole_numbers(values: Sequence[Any]) -> Integers | None:
    """Whole numbers, or None if some are not: in a run with scores, the rank column may contain anything."""
    plain = _plain_numbers(values)
    if plain is None or (plain != np.floor(plain)).any() or (np.abs(plain) >= 2**53).any():
        return None
    return plain.astype(np.int64)


def _ranks(columns: Columns, problems: Problems) -> Integers:
    values = columns.by_role["rank"]
    ranks = _whole_numbers(values)
    if ranks is not None and (ranks >= 1).all():
        return ranks
    bad = [row for row, value in enumerate(values) if (alone := _whole_numbers([value])) is None or alone[0] < 1]
    _report(bad, columns, "rank", RANK, problems)
    return np.empty(0, np.int64)


def _report(bad: list[int], columns: Columns, role: str, refusal: Refusal, problems: Problems) -> None:
    values, lines = columns.by_role[role], columns.lines
    found = (
        Problem(
            f"{refusal.word} {refusal.why(values[row])} {columns.place(row)}",
            refusal.advice,
            None if lines is None else lines[row],
        )
        for row in bad
    )
    problems.extend(found, len(bad))


def _refuse_nothing(columns: Columns) -> None:
    if not len(columns.by_role["query"]):
        raise InputError("the table has no rows", source=columns.source)
