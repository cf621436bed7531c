"""Tables prepared for writing: one text per row and column, in blocks. Independent of file formats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from msgspec.json import encode
from msgspec.structs import replace

from assay.formats.lines import ColumnOrder
from assay.formats.names import Kind
from assay.tables import Floats, Ids, Integers, Qrels, Run

if TYPE_CHECKING:
    import numpy.typing as npt

BLOCK = 1 << 16  # rows kept in memory as text
TEXT_ROLES = ("query", "iteration", "doc", "tag")
_CONSTANTS = {"Q0": "Q0", "iteration": "0"}  # for columns that the table does not have


class Sheet(Struct, frozen=True, eq=False):
    """A table as columns by role. Queries are codes; all rows have the same tag."""

    kind: Kind
    source: str
    lines: Sequence[int] | None  # line number of each row, for messages
    queries: tuple[str, ...]
    query: Integers
    columns: Mapping[str, npt.NDArray[Any]]  # all except the query
    constants: Mapping[str, str]
    roles: ColumnOrder  # the columns of the table, in the order they are written

    def __len__(self) -> int:
        return len(self.query)

    @property
    def doc(self) -> Ids:
        """The documents."""
        return self.columns["doc"]

    def blocks(self, roles: ColumnOrder) -> Iterator[list[list[str]]]:
        """The texts of these columns, block by block."""
        for start in range(0, len(self), BLOCK):
            rows = slice(start, start + BLOCK)
            yield [self.texts(role, rows) for role in roles]

    def texts(self, role: str, rows: slice) -> list[str]:
        """The texts of one column."""
        if role == "query":
            return list(map(self.queries.__getitem__, self.query[rows].tolist()))
        if role not in self.columns:
            return [self.constants[role]] * len(self.query[rows])
        return _TEXTS[role](self.columns[role][rows])

    def taken(self, rows: Integers) -> Sheet:
        """These rows, in this order."""
        columns = {role: column[rows] for role, column in self.columns.items()}
        lines = None if self.lines is None else [self.lines[row] for row in rows.tolist()]
        return replace(self, query=self.query[rows], columns=columns, lines=lines)


def sheet_of_qrels(qrels: Qrels) -> Sheet:
    """Qrels prepared for writing; without iterations there is no such column."""
    has_iterations = qrels.iteration is not None and any(qrels.iteration)
    columns = {"doc": qrels.doc, "rel": qrels.rel} | ({"iteration": qrels.iteration} if has_iterations else {})
    roles = ("query", *(["iteration"] if has_iterations else []), "doc", "rel")
    return Sheet("qrels", qrels.source, qrels.lines, qrels.queries, qrels.query, columns, _CONSTANTS, roles)  # type: ignore[arg-type]


def sheet_of_run(run: Run, tag: str, ranks: Integers | None) -> Sheet:
    """A run prepared for writing, with this tag, unless it is empty, and these ranks, if any."""
    columns: dict[str, npt.NDArray[Any]] = {"doc": run.doc, "score": run.score}
    if ranks is not None:
        columns["rank"] = ranks
    roles = ("query", "doc", *(["rank"] if ranks is not None else []), "score", *(["tag"] if tag else []))
    return Sheet("run", run.source, run.lines, run.queries, run.query, columns, {**_CONSTANTS, "tag": tag}, roles)


def grade_text(grade: float) -> str:
    """A grade as text; whole numbers have no decimal point, so every tool can read them.

    >>> grade_text(2.0), grade_text(0.5), grade_text(-0.0), grade_text(1e300)
    ('2', '0.5', '-0.0', '1e+300')
    """
    return str(int(grade)) if is_plainly_whole(grade) else repr(grade)


def is_plainly_whole(grade: float) -> bool:
    """Whether an exact integer represents the grade; false for negative zero."""
    return grade.is_integer() and abs(grade) < 2**53 and (grade != 0 or math.copysign(1, grade) > 0)


def score_texts(scores: Floats) -> list[str]:
    """The shortest texts that read back as the same numbers, as `repr` gives them.

    >>> score_texts(np.array([2.0, -0.0, 0.1, 1e-5, 1e16]))
    ['2.0', '-0.0', '0.1', '1e-05', '1e+16']
    """
    texts = _texts_of_numbers(scores)
    size = np.abs(scores)
    for row in np.flatnonzero((size >= 1e16) | ((size < 1e-4) & (size > 0))).tolist():
        texts[row] = repr(float(scores[row]))  # JSON has other exponents
    return texts


def _texts_of_numbers(column: npt.NDArray[Any]) -> list[str]:
    """The numbers as in JSON, whose writer is several times as fast as `str` and `repr`."""
    return encode(column.tolist())[1:-1].decode().split(",") if len(column) else []


_TEXTS: dict[str, Callable[[npt.NDArray[Any]], list[str]]] = {
    "doc": lambda docs: docs.tolist(),
    "iteration": lambda iterations: iterations.tolist(),
    "rank": _texts_of_numbers,
    "score": score_texts,
    "rel": lambda grades: list(map(grade_text, grades.tolist())),
}


def queries_together(query: Integers) -> bool:
    """Whether the rows of each query are consecutive."""
    return int(np.count_nonzero(np.diff(query))) + 1 == len(np.unique(query))
