"""The column names accepted for each role. Independent of file formats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from assay.errors import InputError, show_id
from assay.formats.numbers import number

if TYPE_CHECKING:
    from assay.formats.readings import Reading

Kind: TypeAlias = Literal["qrels", "run"]
Roles: TypeAlias = dict[str, tuple[int, ...]]  # role -> position of its column, or of several that are joined

# Case, spaces, - and _ are ignored. Earlier groups win over later ones (PyTerrier frames have both docno and an internal
# docid, ESCI has both query_id and the query text); two names of the same group are an error.
NAMES: dict[str, tuple[tuple[str, ...], ...]] = {
    "query": (("query_id", "qid", "topic_id", "qry_id"), ("topic",), ("query",), ("query_text",)),
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
    "rank": (("rank",), ("doc_position",)),  # Quepid's
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


def is_header(names: Sequence[str], kind: Kind = "run", reading: Reading | None = None) -> bool:
    """Whether these are column names: a query and a document, or a name that the user gave, and no numbers.

    >>> is_header(["qid", "iter", "docno", "rel"]), is_header(["q1", "0", "d1", "1"])
    (True, False)
    """
    known = set(map(folded, names))
    named = all(known & _accepted(role) for role in ("query", "doc"))
    if not named and reading is not None and reading.columns:
        from assay.formats.chosen import has_chosen

        named = has_chosen(names, kind, reading.columns)
    return named and all(number(name) is None for name in names)


def find_roles(
    names: Sequence[str], kind: Kind, source: str, *, line: int | None = None, reading: Reading | None = None
) -> Roles:
    """The position of each role's column; raises an error that lists the accepted names if one is missing.

    A column that the user named for a role is used for no other, unless it is named for that one, too. Whoever names the
    rank and not the score wants the ranks to count, so a score column is then left alone.
    """
    given: Roles = {}
    if reading is not None and reading.columns:
        from assay.formats.chosen import chosen_places

        given = chosen_places(names, kind, source, line, reading)
    taken = {place for places in given.values() for place in places}
    left_alone = "score" if "rank" in given else ""
    roles = dict(given)
    for role in ROLES[kind]:
        if role not in given and role != left_alone:
            place = _place(role, names, taken, kind, source, line)
            if place is not None:
                roles[role] = (place,)
    missing = [role for role in REQUIRED[kind] if role not in roles and INSTEAD.get(role) not in roles]
    if missing:
        if reading is not None and reading.columns:
            from assay.formats.chosen import refuse_lacking

            refuse_lacking(missing, names, kind, source, line, reading)
        raise InputError(_missing(missing, names), source=source, line=line)
    by_score = "rel" not in given and kind == "qrels" and folded(names[roles["rel"][0]]) == "score"
    if by_score and "rank" in map(folded, names):
        raise InputError(
            f"these are the columns of a run, not of qrels: {listed(names)}. Are qrels and run swapped?",
            source=source,
            line=line,
        )
    return roles


def _place(role: str, names: Sequence[str], taken: set[int], kind: Kind, source: str, line: int | None) -> int | None:
    for group in NAMES[role]:
        accepted = set(map(folded, group))
        places = [place for place, name in enumerate(names) if folded(name) in accepted and place not in taken]
        if len(places) > 1 and role in REQUIRED[kind]:
            both = " and ".join(f"'{show_id(names[place])}'" for place in places)
            raise InputError(
                f"the columns {both} could each be the {WORDS[role]} column. "
                f"Choose one with `columns={ {role: show_id(names[places[0]])} }`, or rename the others.",
                source=source,
                line=line,
            )
        if places:
            return places[0]
    return None


def _missing(roles: Sequence[str], names: Sequence[str]) -> str:
    choice = f"`columns={dict.fromkeys(roles, 'NAME')}`"
    if len(roles) > 1:
        words = ", ".join(WORDS[role] for role in roles[:-1])
        return (
            f"no {words} or {WORDS[roles[-1]]} column; the columns are {listed(names)}. Say which ones they are with "
            f"{choice}."
        )
    accepted = [name for group in NAMES[roles[0]] + NAMES.get(INSTEAD.get(roles[0], ""), ()) for name in group]
    return (
        f"no {WORDS[roles[0]]} column; the columns are {listed(names)}. Say which one it is with {choice}, or rename it; "
        f"accepted names: {', '.join(accepted)}."
    )


def listed(names: Sequence[str]) -> str:
    """The names of columns, for messages."""
    return ", ".join(map(show_id, names)) or "none"


@cache
def _accepted(role: str) -> frozenset[str]:
    return frozenset(folded(name) for group in NAMES[role] for name in group)


def folded(name: str) -> str:
    """The name of a column for comparison: case, spaces, - and _ are ignored.

    >>> folded("Query-ID")
    'queryid'
    """
    return name.translate(_IGNORED).casefold()
