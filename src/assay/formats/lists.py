"""The documents of each query as a list: hits, or relevant documents. Does not know which tool wrote it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, Literal, TypeAlias, TypeGuard

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import FormatError, show_id
from assay.formats.columns import Columns
from assay.formats.names import NAMES, Kind, folded
from assay.formats.numbers import number, shown_id
from assay.formats.queries import ids_in_order, ids_of_texts
from assay.formats.readings import Reading
from assay.words import number_of

Pair: TypeAlias = tuple[Any, Any]  # a document, and its score or grade; None if it has none
Groups: TypeAlias = tuple[tuple[str, ...], ...]  # names; earlier groups win over later ones

# What ranks the documents of a list: their order even if the scores contradict it, their scores, or both, which must agree.
Order: TypeAlias = Literal["listed", "scores", "both"]

VALUE: dict[Kind, str] = {"qrels": "rel", "run": "score"}
_ITEM: dict[Kind, str] = {"qrels": "document", "run": "hit"}  # in messages
_NUMBER: dict[Kind, str] = {"qrels": "grade", "run": "score"}
# An id wins over `doc` and `document`, which are often texts.
DOC_NAMES: Groups = (
    ("docno",),
    ("doc_id", "document_id", "corpus_id", "passage_id", "chunk_id", "product_id", "pid", "item_id"),
    ("id",),
    ("doc",),
    ("document",),
)


class Object(list[tuple[str, Any]]):
    """A JSON object as a list of pairs: a dict would drop duplicate keys."""


class Place(Struct, frozen=True):
    """Where something is in a file, for messages."""

    source: str
    line: int | None = None
    words: str = ""  # "answer 3"; empty if the line says it all

    def error(self, message: str) -> FormatError:
        """An error at this place."""
        return FormatError(f"{self.words}: {message}" if self.words else message, source=self.source, line=self.line)

    def inside(self, words: str) -> Place:
        """A part of this place."""
        return replace(self, words=f"{words} of {self.words}" if self.words else words)


class QueryList(Struct, frozen=True):
    """The documents of one query in the order of the file."""

    query: Any  # None if the file does not name it
    pairs: list[Pair]
    place: Place
    what: str = "list"  # what to call it in messages
    doubt: str = ""  # why it must not be scored
    is_text: bool = False  # the query is a text, not an id
    order: Order = "both"


def kind_of(value: Any) -> str:
    """What a JSON value is, for messages."""
    if isinstance(value, Object):
        return "an object"
    names = {list: "a list", str: "text", bool: "true or false", int: "a number", float: "a number"}
    return names.get(type(value), "null")


def is_list(value: Any) -> TypeGuard[list[Any]]:
    """Whether a JSON value is a list."""
    return isinstance(value, list) and not isinstance(value, Object)


# One list


def pairs_of(value: list[Any], kind: Kind, place: Place) -> list[Pair]:
    """The documents of a list of ids, pairs or objects, of {document: value} or of {grade: [document]}."""
    if isinstance(value, Object):
        return list(_by_key(value))
    if kind == "run" and value and isinstance(value[0], Object):
        _refuse_other_ranks(value, place)
    return [_pair(item, kind, place, count) for count, item in enumerate(value, 1)]


def _refuse_other_ranks(value: list[Any], place: Place) -> None:
    """Raise an error if the ranks of hits contradict their order."""
    name = next((name for name, _ in value[0] if folded(name) == "rank"), None)
    if name is None:
        return
    ranks = [_number(dict(hit).get(name)) for hit in value if isinstance(hit, Object)]
    for count, (one, other) in enumerate(pairwise(ranks), 2):
        if one is not None and other is not None and other <= one:
            where = place.inside(f"{_ITEM['run']} {count}")
            raise where.error(f"rank {other:g} comes after rank {one:g}. Sort each list by rank, the best first.")


def _by_key(value: Object) -> Iterator[Pair]:
    for key, given in value:
        if is_list(given):
            yield from ((doc, key) for doc in given)
        else:
            yield key, given


def _pair(item: Any, kind: Kind, place: Place, count: int) -> Pair:
    def inside() -> Place:
        return place.inside(f"{_ITEM[kind]} {count}")

    if isinstance(item, Object):
        fields = dict(item)
        plain = tuple(name for name, value in item if not isinstance(value, list))
        doc = chosen(plain, DOC_NAMES, "document id", inside)
        if doc is None:
            names = ", ".join(name for group in DOC_NAMES for name in group)
            there = ", ".join(map(show_id, fields)) or "none"
            raise inside().error(
                f"no document id; the fields are {there}. Rename one of them; accepted names: {names}."
            )
        value = chosen(plain, NAMES[VALUE[kind]], _NUMBER[kind], inside)
        return fields[doc], None if value is None else fields[value]
    if is_list(item) and len(item) == 2 and not isinstance(item[0], list):
        return item[0], item[1]
    if isinstance(item, (str, int)) and not isinstance(item, bool):
        return item, None
    raise inside().error(
        f"expected a document id, a pair [id, {_NUMBER[kind]}] or an object with an id, found {kind_of(item)}"
    )


def chosen(names: tuple[str, ...], groups: Groups, word: str, place: Callable[[], Place]) -> str | None:
    """The one of these names that is in the first possible group; two of a group are an error."""
    found = _in_first_group(names, groups)
    if len(found) > 1:
        both = " and ".join(f"'{show_id(name)}'" for name in found)
        raise place().error(f"the fields {both} could each be the {word}. Keep one, or rename the others.")
    return found[0] if found else None


@lru_cache(maxsize=256)
def _in_first_group(names: tuple[str, ...], groups: Groups) -> list[str]:
    for group in groups:
        accepted = set(map(folded, group))
        found = [name for name in names if folded(name) in accepted]
        if found:
            return found
    return []


# All lists


def columns_of_lists(lists: list[QueryList], kind: Kind, source: str, reading: Reading) -> Columns:
    """The rows of all lists."""
    if reading.columns:
        from assay.formats.chosen import refuse_no_header

        refuse_no_header(kind, source, reading)
    lists = _named(lists, source, reading)
    for each in lists:
        if each.doubt:
            raise each.place.error(f"{_of_query(each)} {each.doubt}")
    if not any(each.pairs for each in lists):
        raise Place(source).error(f"no document in {number_of(len(lists), lists[0].what)}")
    if kind == "run":
        _refuse_second_lists(lists)
    values = _scores_or_ranks(lists) if kind == "run" else {"rel": [rel for each in lists for _, rel in each.pairs]}
    query = [each.query for each in lists for _ in each.pairs]
    by_role: dict[str, Sequence[Any]] = {
        "query": ids_of_texts(query, reading.queries, source, sure=any(each.is_text for each in lists)),
        "doc": [doc for each in lists for doc, _ in each.pairs],
        **values,
    }
    lines = [each.place.line for each in lists if each.place.line is not None for _ in each.pairs]
    return Columns(source, by_role, lines or None)


def _named(lists: list[QueryList], source: str, reading: Reading) -> list[QueryList]:
    """The lists with the ids of their queries, which may come from elsewhere."""
    unnamed = [each for each in lists if each.query is None]
    if not unnamed:
        return lists
    first = unnamed[0]
    if len(unnamed) < len(lists):
        raise first.place.error(f"this {first.what} has no query id, but others have one. Give all of them an id.")
    ids = ids_in_order(len(lists), first.what, reading.queries, source)
    return [replace(each, query=query) for each, query in zip(lists, ids, strict=True)]


def _of_query(each: QueryList) -> str:
    return f"the {each.what} for query {shown_id(each.query)}"


def _refuse_second_lists(lists: list[QueryList]) -> None:
    seen: set[str] = set()
    for each in lists:
        query = str(each.query)
        if query in seen:
            raise each.place.error(f"this is the second {each.what} for query {show_id(query)}. Keep one of them.")
        seen.add(query)


def _scores_or_ranks(lists: list[QueryList]) -> dict[str, Sequence[Any]]:
    """Scores, and the ranks as listed; or ranks alone if there are no scores or the order overrides them."""
    ranks: dict[str, Sequence[Any]] = {"rank": [rank for each in lists for rank in range(1, len(each.pairs) + 1)]}
    scores = [score for each in lists for _, score in each.pairs]
    orders = {each.order for each in lists}
    if "scores" in orders:
        return {"score": scores}
    if all(score is None for score in scores):
        return ranks
    rises = (rise for each in lists if (rise := _first_rise(each)) is not None)
    if orders == {"listed"}:
        return ranks if None in scores or any(rises) else {"score": scores, **ranks}
    for rise in rises:
        raise rise
    return {"score": scores, **ranks}


def _first_rise(each: QueryList) -> FormatError | None:
    """The error for a list that is not in the order of its scores."""
    for (doc, score), (below, higher) in pairwise(each.pairs):
        if (one := _number(score)) is not None and (other := _number(higher)) is not None and other > one:
            return each.place.error(
                f"{_of_query(each)} is not sorted by score: {shown_id(below)} ({higher}) comes after "
                f"{shown_id(doc)} ({score}). Sort each list by score, the highest first. If the order is right and "
                "the numbers are something else, such as distances, leave them out."
            )
    return None


def _number(value: Any) -> float | None:
    if isinstance(value, str):
        return number(value)
    return value if isinstance(value, (int, float)) else None
