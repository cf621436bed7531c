"""How to read a file: what a reader must be told because the content does not show it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from assay.errors import InputError, show_id
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


class Queries(Struct, frozen=True, dict=True):
    """The queries in order: id -> text, which is empty if it is not known."""

    texts: Mapping[str, str] = {}
    source: str = ""  # the file they come from; empty if there is none

    def __bool__(self) -> bool:
        return bool(self.texts)

    @property
    def place(self) -> str:
        """Where the queries come from, for messages."""
        return self.source or "`queries=`"

    @cached_property
    def by_text(self) -> dict[str, list[str]]:
        """The ids of each text."""
        found: dict[str, list[str]] = {}
        for query, text in self.texts.items():
            if text.strip():
                found.setdefault(text.strip(), []).append(query)
        return found


QueriesLike: TypeAlias = Queries | Mapping[Any, Any] | Iterable[Any]


def as_queries(value: QueriesLike) -> Queries:
    """The queries from {id: text} or a list of ids.

    >>> as_queries({1: "blue shoes", 2: "red hat"}).texts
    {'1': 'blue shoes', '2': 'red hat'}
    >>> as_queries(["q1", "q2"]).texts
    {'q1': '', 'q2': ''}
    """
    if isinstance(value, Queries):
        return value
    if isinstance(value, (str, bytes, os.PathLike)):
        raise InputError(
            "`queries=` takes {id: text} or a list of ids. To read a file, pass assay.read_queries(path) for it."
        )
    given = list(value.items()) if isinstance(value, Mapping) else [(query, "") for query in value]
    texts = {str(query): text if isinstance(text, str) else "" for query, text in given}
    if len(texts) < len(given):
        ids = [str(query) for query, _ in given]
        twice = next(query for place, query in enumerate(ids) if query in ids[:place])
        raise InputError(f"query {show_id(twice)} appears twice in `queries=`; give each id once.")
    return Queries(texts)


class Reading(Struct, frozen=True):
    """How to read qrels or a run.

    `columns` names the columns of tables by role; "run.doc" is for runs only. Several names are joined to one id.
    `queries` is {id: text} or a list of ids, in order: for files that identify queries by their position or their text.

    >>> Reading(grades={"E": 3}).grades
    {'E': 3.0}
    >>> Reading(columns={"query": "search_term", "run.doc": ["sku", "lang"]}).columns
    {'query': ('search_term',), 'run.doc': ('sku', 'lang')}
    """

    input_format: str = AUTO
    grades: GradeMap = {}  # letter -> grade
    columns: Mapping[str, Any] = {}  # role -> names of its columns
    tables: Tables | None = None  # those that share the names, if not every table must have them all
    queries: Queries = Queries()

    def __post_init__(self) -> None:
        if self.grades:
            force_setattr(self, "grades", checked_grades(self.grades))
        if self.columns:
            from assay.formats.chosen import checked_columns

            force_setattr(self, "columns", checked_columns(self.columns))
        if type(self.queries) is not Queries:
            force_setattr(self, "queries", as_queries(self.queries))

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
