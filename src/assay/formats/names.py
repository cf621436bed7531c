"""The column names accepted for each role. Independent of file formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Literal, TypeAlias

from assay.errors import InputError, show_id
from assay.formats.numbers import number

Kind: TypeAlias = Literal["qrels", "run"]
Roles: TypeAlias = dict[str, int]  # role -> position of its column

# Case, spaces, - and _ are ignored. Earlier groups win over later ones (PyTerrier frames have both docno and an internal
# docid, ESCI has both query_id and the query text); two names of the same group are an error.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "topic_id", "qry_id"), ("topic",), ("query",)),
    "doc": (
        ("docno",),
        ("doc_id", "document_id", "corpus_id", "passage_id", "product_id", "pid", "item_id", "doc"),
        ("document",),
    ),
    "rel": (
        ("relevance", "rel", "label", "grade", "judgment", "judgement", "gain", "rating", "esci_label"),
        ("score",),
    ),
    "score": (("score",), ("sim",), ("similarity",)),
    "rank": (("rank",),),
    "iteration": (("subtopic",), ("subtopic_id",), ("iteration",), ("iter",), ("q0",)),
    "tag": (("tag",), ("run_id",), ("run_name",), ("system",), ("run",)),
}
_IGNORED = str.maketrans("", "", "-_ ")
WORDS = {"query": "query", "doc": "document", "rel": "grade", "score": "score"}  # in messages
ROLES: dict[Kind, tuple[str, ...]] = {
    "qrels": ("query", "doc", "rel", "iteration"),
    "run": ("query", "doc", "score", "rank", "tag"),
}
REQUIRED: dict[Kind, tuple[str, ...]] = {"qrels": ("query", "doc", "rel"), "run": ("query", "doc", "score")}
INSTEAD = {"score": "rank"}  # a run may have ranks only
HEADERS: dict[Kind, str] = {"qrels": "query_id,doc_id,relevance", "run": "query_id,doc_id,score"}


def is_header(names: Sequence[str]) -> bool:
    """Whether these are column names: a query, a document, and no numbers.

    >>> is_header(["qid", "iter", "docno", "rel"]), is_header(["q1", "0", "d1", "1"])
    (True, False)
    """
    known = set(map(normalised, names))
    has_both = all(known & _accepted(role) for role in ("query", "doc"))
    return has_both and all(number(name) is None for name in names)


def find_roles(names: Sequence[str], kind: Kind, source: str, *, line: int | None = None) -> Roles:
    """The position of each role's column; raises an error that lists the accepted names if one is missing."""
    roles = {role: place for role in ROLES[kind] if (place := _place(role, names, kind, source, line)) is not None}
    for role in REQUIRED[kind]:
        if role not in roles and INSTEAD.get(role) not in roles:
            raise InputError(_missing(role, names), source=source, line=line)
    if kind == "qrels" and normalised(names[roles["rel"]]) == "score" and "rank" in map(normalised, names):
        raise InputError(
            f"these are the columns of a run, not of qrels: {_listed(names)}. Are qrels and run swapped?",
            source=source,
            line=line,
        )
    return roles


def _place(role: str, names: Sequence[str], kind: Kind, source: str, line: int | None) -> int | None:
    for group in NAMES[role]:
        accepted = set(map(normalised, group))
        places = [place for place, name in enumerate(names) if normalised(name) in accepted]
        if len(places) > 1 and role in REQUIRED[kind]:
            both = " and ".join(f"'{show_id(names[place])}'" for place in places)
            raise InputError(
                f"the columns {both} could each be the {WORDS[role]} column. Keep one, or rename the others.",
                source=source,
                line=line,
            )
        if places:
            return places[0]
    return None


def _missing(role: str, names: Sequence[str]) -> str:
    accepted = [name for group in NAMES[role] + NAMES.get(INSTEAD.get(role, ""), ()) for name in group]
    return (
        f"no {WORDS[role]} column; the columns are {_listed(names)}. "
        f"Rename one of them; accepted names: {', '.join(accepted)}."
    )


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(show_id, names)) or "none"


@cache
def _accepted(role: str) -> frozenset[str]:
    return frozenset(normalised(name) for group in NAMES[role] for name in group)


def normalised(name: str) -> str:
    """A column name without the differences that do not matter.

    >>> normalised("Query-ID")
    'queryid'
    """
    return name.translate(_IGNORED).casefold()
