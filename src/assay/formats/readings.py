"""How to read a file: what a reader must be told because the content does not show it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from assay.formats.numbers import GradeMap, checked_grades

AUTO = "auto"
ColumnNames: TypeAlias = Mapping[str, str | Sequence[str]]  # as users give them: role -> a name, or several to join


class Tables:
    """Collects the headers of all tables that share a choice of columns, to notice a name that none of them has."""

    def __init__(self) -> None:
        self.found: set[str] = set()  # roles whose columns a table has
        self.lacking: dict[str, dict[str, Sequence[str]]] = {}  # role -> file without its columns -> the columns it has

    def add(self, role: str, source: str, names: Sequence[str], *, found: bool) -> None:
        """Note whether a table has the columns named for a role."""
        if found:
            self.found.add(role)
        else:
            self.lacking.setdefault(role, {})[source] = names


class Reading(Struct, frozen=True):
    """How to read qrels or a run.

    `columns` names the columns of tables by role; "run.doc" is for runs only. Several names are joined to one id.

    >>> Reading(grades={"E": 3}).grades
    {'E': 3.0}
    >>> Reading(columns={"query": "search_term", "run.doc": ["sku", "lang"]}).columns
    {'query': ('search_term',), 'run.doc': ('sku', 'lang')}
    """

    input_format: str = AUTO
    grades: GradeMap = {}  # letter -> grade
    columns: Mapping[str, Any] = {}  # role -> names of its columns
    tables: Tables | None = None  # those that share the names, if not every table must have them all

    def __post_init__(self) -> None:
        if self.grades:
            force_setattr(self, "grades", checked_grades(self.grades))
        if self.columns:
            from assay.formats.chosen import checked_columns

            force_setattr(self, "columns", checked_columns(self.columns))

    def in_format(self, name: str) -> Reading:
        """The same for a file in this format."""
        return replace(self, input_format=name)

    def shared(self) -> Reading:
        """The same for several tables: a column without "run." or "qrels." need not be in all of them."""
        return replace(self, tables=Tables()) if self.columns and self.tables is None else self

    def refuse_unused(self) -> None:
        """Raise an error if none of the tables read so far has a column that was named for it."""
        if self.tables is not None:
            from assay.formats.chosen import refuse_unused

            refuse_unused(self.tables, self.columns)


class Readings(Struct, frozen=True):
    """How to read the qrels and the runs of one evaluation."""

    qrels: Reading = Reading()
    run: Reading = Reading()

    @property
    def columns(self) -> dict[str, tuple[str, ...]]:
        """The names of columns by role, with "qrels." or "run." if the two differ."""
        if self.qrels.columns == self.run.columns:
            return dict(self.run.columns)
        of_kind = {"qrels": self.qrels.columns, "run": self.run.columns}
        return {
            f"{kind}.{key.removeprefix(f'{kind}.')}": names
            for kind, columns in of_kind.items()
            for key, names in columns.items()
            if "." not in key or key.startswith(kind)
        }

    def refuse_unused(self) -> None:
        """Raise an error if none of the tables read so far has a column that was named for it."""
        for reading in (self.qrels, self.run):
            reading.refuse_unused()
