"""Read what Python programs have: open files, lists of ids, of pairs, of hits and of rows, and the objects of other tools.

Documents without scores rank in the order of their list. Plain dicts of dicts never get here: see `dicts`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from msgspec import Struct

from assay.errors import InputError, some_of
from assay.formats.columns import Columns, by_role, qrels_from_columns, run_from_columns
from assay.formats.dicts import are_distinct_text, qrels_from_dict, run_from_dict
from assay.formats.names import NAMES, WORDS, Kind, find_roles, folded, is_header
from assay.formats.numbers import no_rank, real, show_value, shown_id
from assay.formats.problems import Problems
from assay.formats.reading import qrels_from_content, refuse_no_columns, run_from_content
from assay.formats.readings import Reading
from assay.formats.sources import is_stream, open_stream, stream_stem
from assay.marking import UnreadRun
from assay.tables import Qrels, Run

_VALUE: dict[Kind, str] = {"qrels": "rel", "run": "score"}
_OF_A_QUERY: dict[Kind, str] = {
    "qrels": "{document: grade}, a list or set of the relevant documents, or a list of (document, grade) or of records "
    "with a document and a grade",
    "run": "{document: score}, a list of documents, best first, or a list of (document, score) or of hits with an id "
    "and a score",
}
_TAKEN: dict[Kind, str] = {
    "qrels": "pass a path or an open file, a dict by query (of dicts, lists or sets of documents), a list of records or of "
    "(query, document, grade), a data frame (pandas, polars, Arrow) or a Qrels",
    "run": "pass a path or an open file, a dict by query (of dicts or lists of documents), a list of records or of "
    "(query, document, score), a data frame (pandas, polars, Arrow) or a Run",
}
# In a hit, unlike in a table, `id` is the document: LangChain, Haystack, Qdrant; `node_id` is LlamaIndex's
# (tests/conventions/test_hits.py). The document itself may be there, too: its text is the id only if nothing else can be.
_WHOLE = ("doc", "document")
_IDS = tuple(tuple(name for name in group if name not in _WHOLE) for group in NAMES["doc"])
_HIT: dict[str, tuple[tuple[str, ...], ...]] = {**NAMES, "doc": (*_IDS, ("id",), ("node_id",), _WHOLE)}
_METHODS = ("invoke", "retrieve", "search")  # of objects that search


def qrels_from_value(value: Any, reading: Reading) -> Qrels:
    """Qrels from a value that is no table, dict, path or data frame."""
    if is_stream(value):
        with open_stream(value, "qrels") as content:
            return qrels_from_content(content, reading)
    if _is_of_ranx(value, "Qrels"):
        return qrels_from_dict(value.to_dict(), reading)
    return qrels_from_columns(_rows(value, "qrels", reading), reading.grades)


def run_from_value(value: Any, reading: Reading, name: str | None) -> Run:
    """A run from a value that is no table, dict, path or data frame."""
    if isinstance(value, UnreadRun):
        return value.table if name is None else value.table.named(name)
    if is_stream(value):
        with open_stream(value, "run") as content:
            return run_from_content(content, reading, name)
    name = name or own_name(value) or "run"
    if _is_of_ranx(value, "Run"):
        return run_from_dict(value.to_dict(), name)
    return run_from_columns(_rows(value, "run", reading), name)


def own_name(value: Any) -> str:
    """The name that a run brings along: of the open file, or its own; empty if it has none."""
    if is_stream(value):
        return stream_stem(value)
    return str(value.name or "") if _is_of_ranx(value, "Run") else ""


def _is_of_ranx(value: Any, name: str) -> bool:
    """Whether this is ranx's class of that name; ranx is not imported (tests/conventions/test_ranx_input.py)."""
    kind = type(value)
    return kind.__name__ == name and kind.__module__.partition(".")[0] == "ranx" and hasattr(value, "to_dict")


# Dicts by query


class QueryDocuments(Struct, frozen=True, eq=False):
    """The documents of one query."""

    ids: Sequence[Any]
    values: Sequence[Any]  # grades or scores, or ranks
    by_rank: bool = False


def columns_by_query(value: Mapping[Any, Any], kind: Kind) -> Columns:
    """The columns of {query: documents}, where documents are anything that `documents_of` takes."""
    are_distinct_text(value, "query", kind)
    _refuse_columnwise(value, kind)
    found = {query: documents_of(given, kind, query) for query, given in value.items()}
    query = [query for query, documents in found.items() for _ in documents.ids]
    doc = [doc for documents in found.values() for doc in documents.ids]
    if not doc:
        raise InputError("no query has a document", source=kind)
    if all(documents.by_rank for documents in found.values() if documents.ids):
        ranks = [rank for documents in found.values() for rank in documents.values]
        return Columns(kind, {"query": query, "doc": doc, "rank": ranks}, typed=True)
    values = [value for documents in found.values() for value in _scores(documents)]
    return Columns(kind, {"query": query, "doc": doc, _VALUE[kind]: values}, typed=True)


def documents_of(value: Any, kind: Kind, query: Any) -> QueryDocuments:
    """The documents of one query, from ids, pairs, hits, or ids with their grades or scores.

    >>> documents_of([("a", 0.5)], "run", "q1").values
    [0.5]
    >>> documents_of(["b", "a"], "run", "q1").values, documents_of({"a"}, "qrels", "q1").values
    (range(1, 3), [1])
    """
    where = f"query {shown_id(query)}"
    value = _plain(value, kind, where)
    if isinstance(value, Mapping):
        are_distinct_text(value, "document", kind, query)
        return QueryDocuments(list(value), list(value.values()))
    forms = {_form(item) for item in value} if not set(map(type, value)) <= {str} else {_ids}
    if len(forms) > 1:
        names = some_of(list(dict.fromkeys(type(item).__name__ for item in value)))
        raise InputError(f"the documents of {where} are a mix of {names}; expected {_OF_A_QUERY[kind]}.", source=kind)
    return forms.pop()(value, kind, where) if forms else QueryDocuments((), (), by_rank=kind == "run")


def is_ranking(value: Any) -> bool:
    """Whether a value holds the documents of one query, rather than a whole run.

    >>> is_ranking({"a": 0.5}), is_ranking(["a", "b"]), is_ranking({"q1": ["a"]}), is_ranking([("q1", "a", 0.5)])
    (True, True, False, False)
    """
    if isinstance(value, Mapping):
        return bool(value) and not any(
            isinstance(inner, (Mapping, list, tuple, set, frozenset)) for inner in value.values()
        )
    if not isinstance(value, (list, tuple)) or not value:
        return False
    first = value[0]
    if isinstance(first, Mapping):
        return _role("query", list(first)) is None
    return _is_id(first) or (_form(first) is _pairs and len(first) == 2)


def is_rows(value: Any) -> bool:
    """Whether a list holds the rows of one run or of qrels.

    >>> is_rows([("q1", "a", 0.5)]), is_rows([{"query_id": "q1", "doc_id": "a"}]), is_rows([{"q1": ["a"]}, "bm25.run"])
    (True, True, False)
    """
    first = value[0] if isinstance(value, (list, tuple)) and value else None
    if isinstance(first, Mapping):
        return is_header([name for name in first if isinstance(name, str)])
    return isinstance(first, (tuple, list)) and len(first) > 2 and _is_id(first[0])


def _plain(value: Any, kind: Kind, where: str) -> Mapping[Any, Any] | list[Any]:
    """A mapping or list of the same content."""
    if isinstance(value, Mapping):
        return value
    if is_series(value):
        return _of_series(value, kind, where)
    if isinstance(value, (set, frozenset)):
        if kind == "run":
            raise InputError(
                f"the value of {where} is a set, which has no order; pass a list of ids, best first, or a dict of scores.",
                source=kind,
            )
        return sorted(value, key=str)
    if isinstance(value, str):
        raise InputError(
            f"the value of {where} is text; for one document, pass a list: [{show_value(value)}].", source=kind
        )
    if hasattr(value, "tolist"):
        value = value.tolist()  # of NumPy, torch and Arrow
    if not isinstance(value, Iterable) or isinstance(value, (str, bytes)):
        hint = " To await it, pass lambda text: asyncio.run(retrieve(text))." if _is_awaitable(value) else ""
        raise InputError(
            f"the value of {where} has the type {type(value).__name__}; expected {_OF_A_QUERY[kind]}.{hint}",
            source=kind,
        )
    return value if isinstance(value, list) else list(value)


def _is_awaitable(value: Any) -> bool:
    if not hasattr(value, "__await__"):
        return False
    if hasattr(value, "close"):
        value.close()  # or Python warns that it was never awaited
    return True


def is_series(value: Any) -> bool:
    """Whether this is a Series of pandas, which is not imported."""
    return type(value).__name__ == "Series" and hasattr(value, "to_dict")


def _of_series(series: Any, kind: Kind, where: str) -> Mapping[Any, Any] | list[Any]:
    """A Series of text holds ids, one of numbers the grades or scores of the ids in its index."""
    if series.dtype.kind not in "iufb" or type(series.index).__name__ == "RangeIndex":
        return list(series.tolist())
    if series.dtype.kind == "i" and series.index.dtype.kind == "i":  # what is left of a frame after a filter
        raise InputError(
            f"the Series of {where} has whole numbers both as index and as values. Pass .tolist() if the values are ids, "
            f".to_dict() if they are {WORDS[_VALUE[kind]]}s.",
            source=kind,
        )
    return dict(series.to_dict())


def _form(item: Any) -> Callable[[list[Any], Kind, str], QueryDocuments]:
    """How to read documents given like this one."""
    if isinstance(item, (tuple, list)) and not hasattr(item, "_fields"):
        return _pairs
    return _ids if _is_id(item) else _hits


def _is_id(item: Any) -> bool:
    """Whether an item is meant as an id; whether it can be one is checked with the others."""
    return item is None or isinstance(item, (str, bytes, int, float, np.generic))


def _ids(items: list[Any], kind: Kind, where: str) -> QueryDocuments:
    return (
        QueryDocuments(items, range(1, len(items) + 1), True)
        if kind == "run"
        else QueryDocuments(items, [1] * len(items))
    )


def _pairs(items: list[Any], kind: Kind, where: str) -> QueryDocuments:
    for place, item in enumerate(items, 1):
        if len(item) != 2:
            raise InputError(
                f"item {place} of {where} has {len(item)} values; expected (document, {WORDS[_VALUE[kind]]}).",
                source=kind,
            )
    ids = [
        doc if _is_id(doc) else _hit_fields(doc, kind, where, place)["doc"] for place, (doc, _) in enumerate(items, 1)
    ]
    return QueryDocuments(ids, [value for _, value in items])


def _hits(items: list[Any], kind: Kind, where: str) -> QueryDocuments:
    """Dicts or objects with an id and a score; without scores, by their ranks or in their order."""
    hits = [_hit_fields(item, kind, where, place) for place, item in enumerate(items, 1)]
    ids = [hit["doc"] for hit in hits]
    for role in (_VALUE[kind], *(["rank"] if kind == "run" else [])):
        values = [hit.get(role) for hit in hits]
        if any(value is not None for value in values):
            if role == "rank":
                _check_ranks(values, ids, where)
            return QueryDocuments(ids, values, by_rank=role == "rank")
    if kind == "qrels":
        raise InputError(
            f"the records of {where} have no grade; accepted names: {_accepted('rel')}. If all are relevant, pass a list of "
            "their ids.",
            source=kind,
        )
    _refuse_other_numbers(items[0], where)
    return _ids(ids, kind, where)


def _check_ranks(ranks: list[Any], ids: list[Any], where: str) -> None:
    for rank, doc in zip(ranks, ids, strict=True):
        number = real(rank)
        if number is None or number < 1 or number != int(number):
            raise InputError(
                f"rank {no_rank(rank)} ({where}, document {shown_id(doc)}). Hits without scores need ranks: 1, 2, 3 and "
                "so on.",
                source="run",
            )


def _refuse_other_numbers(hit: Any, where: str) -> None:
    """A number under another name may be the score, and then the order of the list may mean nothing."""
    others = (
        [name for name, value in hit.items() if isinstance(value, (float, np.floating))]
        if isinstance(hit, Mapping)
        else []
    )
    if others:
        raise InputError(
            f"the hits of {where} have no score, but a number called {some_of(list(map(str, others)))}. Rename it to "
            "score, or pass a list of ids, best first.",
            source="run",
        )


def _hit_fields(item: Any, kind: Kind, where: str, place: int) -> dict[str, Any]:
    """The values of a hit by role, from the keys of a dict or the attributes of an object."""
    fields = item if isinstance(item, Mapping) else _attributes(item)
    names = tuple(fields)
    found = {role: fields[name] for role, name in _hit_roles(names, kind).items()}
    if "doc" not in found:
        what = f"has no document id, only {some_of(list(map(str, names)), 6)}"
        what = what if names else f"({type(item).__name__}) has no document id"
        raise InputError(f"item {place} of {where} {what}; accepted names: {_accepted('doc')}.", source=kind)
    return found


@lru_cache(maxsize=64)
def _hit_roles(names: tuple[Any, ...], kind: Kind) -> dict[str, Any]:
    """The name of each role that a hit with these fields has; most hits of a run have the same."""
    roles = {role: _role(role, names) for role in ("doc", _VALUE[kind], "rank")}
    return {role: name for role, name in roles.items() if name is not None}


def _attributes(item: Any) -> Mapping[str, Any]:
    if hasattr(item, "_asdict"):
        named: Mapping[str, Any] = item._asdict()
        return named
    return {name: getattr(item, name) for name in _attribute_names() if hasattr(item, name)}


@cache
def _attribute_names() -> tuple[str, ...]:
    names = [name for role in ("doc", "rel", "score", "rank") for group in _HIT[role] for name in group]
    return tuple(dict.fromkeys(spelling for name in names for spelling in (name, name.replace("_", ""))))


def _role(role: str, names: Sequence[Any]) -> Any:
    """The name that the role has among these, or None."""
    by_name = {folded(name): name for name in reversed(names) if isinstance(name, str)}
    known = (folded(name) for group in _HIT[role] for name in group)
    return next((by_name[name] for name in known if name in by_name), None)


def _accepted(role: str) -> str:
    return ", ".join(name for group in _HIT[role] for name in group)


def _scores(documents: QueryDocuments) -> Iterable[Any]:
    return [-rank for rank in documents.values] if documents.by_rank else documents.values


def _refuse_columnwise(value: Mapping[Any, Any], kind: Kind) -> None:
    """A dict of columns looks like queries and their documents, but its keys are column names."""
    try:
        find_roles([key for key in value if isinstance(key, str)], kind, kind)
    except InputError:
        return
    raise InputError("this is a dict of columns. Make it a data frame: pandas.DataFrame(value).", source=kind)


# Rows for all queries


def _rows(value: Any, kind: Kind, reading: Reading) -> Columns:
    """The columns of records, named tuples or (query, document, value)."""
    if isinstance(value, (str, bytes)) or not isinstance(value, Iterable) or hasattr(value, "tolist"):
        raise unusable(value, kind)
    rows = list(value)
    if not rows:
        raise InputError(f"the {type(value).__name__} is empty", source=kind)
    first = rows[0]
    if isinstance(first, Mapping):
        return _of_records(rows, kind, reading)
    if hasattr(first, "_fields"):
        return _of_named_tuples(rows, kind, reading)
    if isinstance(first, (tuple, list)):
        refuse_no_columns(kind, reading)
        return _of_tuples(rows, kind)
    raise unusable(value, kind, of=first)


def _of_records(rows: list[Mapping[str, Any]], kind: Kind, reading: Reading) -> Columns:
    names = list(rows[0])
    roles = find_roles(list(map(str, names)), kind, kind, reading=reading)
    needed = [names[place] for places in roles.values() for place in places]
    problems = Problems(kind)
    for number, row in enumerate(rows, 1):
        lacks = "is not a record" if not isinstance(row, Mapping) else ""
        lacks = lacks or next((f"has no '{shown_id(name)}'" for name in needed if name not in row), "")
        if lacks:
            problems.add(f"record {number} {lacks}", "All records need the same fields.")
    problems.refuse()
    return Columns(kind, by_role(roles, lambda place: [row[names[place]] for row in rows]), row_word="record")


def _of_named_tuples(rows: list[Any], kind: Kind, reading: Reading) -> Columns:
    if kind == "qrels" and type(rows[0]).__name__ == "ScoredDoc":  # of ir_measures; elsewhere a score may be a grade
        raise InputError("these are the documents of a run, not judgments. Are qrels and run swapped?", source=kind)
    roles = find_roles(rows[0]._fields, kind, kind, reading=reading)
    columns = _across(rows, len(rows[0]), f"{type(rows[0]).__name__} has {len(rows[0])}", kind)
    return Columns(kind, by_role(roles, columns.__getitem__), row_word="row")


def _of_tuples(rows: list[Any], kind: Kind) -> Columns:
    value = _VALUE[kind]
    columns = _across(rows, 3, f"expected (query, document, {WORDS[value]})", kind)
    return Columns(kind, dict(zip(("query", "doc", value), columns, strict=True)), row_word="row")


def _across(rows: list[Any], width: int, expected: str, kind: Kind) -> list[list[Any]]:
    """The columns of rows of the same width."""
    for number, row in enumerate(rows, 1):
        if not isinstance(row, (tuple, list)) or len(row) != width:
            what = f"has {len(row)} values" if isinstance(row, (tuple, list)) else f"is a {type(row).__name__}"
            raise InputError(f"row {number} {what}; {expected}.", source=kind)
    return [list(column) for column in zip(*rows, strict=True)]


def searching_method(value: object) -> str:
    """The method by which an object seems to search; empty if it has none."""
    return next((name for name in _METHODS if callable(getattr(value, name, None))), "")


def unusable(value: object, kind: Kind, *, of: object = None) -> InputError:
    """The error for a value of an unknown shape, which says what can be passed instead."""
    swapped = isinstance(value, (Qrels, Run)) or _is_of_ranx(value, "Qrels") or _is_of_ranx(value, "Run")
    what = f"value of type {type(value).__name__}" if of is None else f"{type(value).__name__} of {type(of).__name__}"
    hints = [" Are qrels and run swapped?"] if swapped else []
    if isinstance(value, (str, bytes, type(None))):
        hints.append(f" To parse text, use parse_{kind}.")
    if callable(value):
        hints.append(" Functions that search are taken by evaluate and compare, with `queries=`.")
    elif method := searching_method(value):
        hints.append(f" If it searches, pass its method to evaluate, with `queries=`: value.{method}.")
    return InputError(
        f"cannot read a {what} as {'a run' if kind == 'run' else 'qrels'}: {_TAKEN[kind]}.{''.join(hints)}"
    )
