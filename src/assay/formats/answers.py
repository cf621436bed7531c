"""JSON that other tools write: Elasticsearch and OpenSearch, Quepid, and records with a list of documents per query.

What a JSON object is follows from its fields. `SHAPES` lists what is known, and `lists_in` reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError, show_id
from assay.formats.lists import Groups, Object, Pair, Place, QueryList, chosen, is_list, kind_of, pairs_of
from assay.formats.names import NAMES, Kind, find_roles, folded
from assay.words import number_of

Fields: TypeAlias = dict[str, Any]

HITS = (
    *("hits", "results", "candidates", "retrieved", "ranking", "documents", "docs", "doc_ids", "passages", "ctxs"),
    *("retrieved_docs", "retrieved_documents", "retrieved_ids", "retrieved_doc_ids", "response"),
)
# Without grades, all documents of such a list are relevant.
RELEVANT = (
    *("relevant", "relevant_docs", "relevant_documents", "relevant_ids", "relevant_doc_ids"),
    *("positives", "positive_docs", "positive_documents", "positive_ids", "positive_doc_ids"),
)
JUDGED = ("judgments", "judgements", "ratings", "qrels")
_QUERY_IDS: Groups = (NAMES["query"][0], ("id",))
_QUERY_NAMES: Groups = (("topic",), ("query",))
_QUERY_TEXTS: Groups = (("query_text",), ("question",))


class Shape(Struct, frozen=True):
    """An object with the documents of one or more queries."""

    words: str
    kind: Kind  # what it can be read as
    fits: Callable[[Fields], bool]
    lists: Callable[[Object, Place], Iterator[QueryList]]
    not_other: str = ""  # why it cannot be read as the other kind


def find_shape(record: Any, kind: Kind, place: Place) -> Shape | None:
    """The shape of an object; None for one that is not a known shape. One of the other kind is an error."""
    if not isinstance(record, Object):
        return None
    fields = dict(record)
    found = [shape for shape in SHAPES if shape.fits(fields)] or [shape for shape in BY_QUERY if shape.fits(fields)]
    if not found or _is_row(fields, kind):
        return None
    shape = next((shape for shape in found if shape.kind == kind), None)
    if shape is None:
        raise place.error(f"this is {found[0].words}. {found[0].not_other or _SWAPPED[kind]}")
    return shape


_SWAPPED: dict[Kind, str] = {
    "qrels": "It contains search results, not judgments. Are qrels and run swapped?",
    "run": "It contains judgments, not search results. Are qrels and run swapped?",
}


def _is_row(fields: Fields, kind: Kind) -> bool:
    """Whether the fields are those of one row: a query, a document, and a score or grade."""
    try:
        find_roles([name for name, value in fields.items() if not isinstance(value, list)], kind, "")
    except InputError:
        return False
    return True


def lists_in(shape: Shape, record: Any, place: Place) -> list[QueryList]:
    """The lists of an object that should have this shape."""
    if not isinstance(record, Object) or not shape.fits(dict(record)):
        raise place.error(f"expected {shape.words}, as at the start of the file, found {kind_of(record)}")
    return list(shape.lists(record, place))


def _fields(value: Any) -> Fields:
    return dict(value) if isinstance(value, Object) else {}


def _graded(pairs: list[Pair], kind: Kind) -> list[Pair]:
    """The pairs of a list of relevant documents: those without a grade have grade 1."""
    return [(doc, 1 if rel is None else rel) for doc, rel in pairs] if kind == "qrels" else pairs


# Elasticsearch and OpenSearch


def _is_answer(fields: Fields) -> bool:
    return is_list(_fields(fields.get("hits")).get("hits")) or ("error" in fields and type(fields.get("status")) is int)


def _is_msearch(fields: Fields) -> bool:
    return is_list(fields.get("responses"))


def _from_answer(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    query, is_text = _query_of(fields, place)
    yield _answer(query, fields, place, is_text=is_text)


def _from_msearch(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    for count, each in enumerate(fields["responses"], 1):
        inside = place.inside(f"answer {count}")
        if not _is_answer(_fields(each)):
            raise inside.error(f"expected an answer with hits or an error, found {kind_of(each)}")
        yield _answer(None, _fields(each), inside)


def _answer(query: Any, fields: Fields, place: Place, *, is_text: bool = False) -> QueryList:
    hits = _fields(fields.get("hits")).get("hits", [])
    pairs = [_hit(hit, place, count) for count, hit in enumerate(hits, 1)]
    return QueryList(query, pairs, place, "answer", _doubt(fields), is_text, "listed")


def _hit(hit: Any, place: Place, count: int) -> Pair:
    fields = _fields(hit)
    if fields.get("_id") is None:
        raise place.inside(f"hit {count}").error("no '_id'. Search again without a filter that leaves it out.")
    return fields["_id"], fields.get("_score")


def _doubt(fields: Fields) -> str:
    """Why an answer is not what the engine would usually find; empty if there is no reason."""
    shards = _fields(fields.get("_shards"))
    if "error" in fields:
        status = f" (status {fields['status']})" if "status" in fields else ""
        return f"is an error: {_reason(fields['error'])}{status}. Repair the search and run it again."
    if fields.get("timed_out") is True:
        return f"is incomplete: the search timed out. {_INCOMPLETE.format('timed_out to false')}"
    if shards.get("failed"):
        first = next(iter(shards.get("failures") or []), None)
        why = f" ({_reason(_fields(first).get('reason'))})" if first else ""
        words = f"{shards['failed']} of {shards.get('total', '?')} shards failed{why}"
        return f"is incomplete: {words}. {_INCOMPLETE.format('_shards.failed to 0')}"
    return ""


_INCOMPLETE = "Search again, or set {} in the file to score what was found."


def _reason(error: Any) -> str:
    """The reason of an error: the text itself, or the type and reason of its root cause."""
    if not isinstance(error, Object):
        return show_id(str(error), 200)
    fields = dict(error)
    cause = next((_fields(each) for each in fields.get("root_cause") or [] if isinstance(each, Object)), fields)
    known = [str(cause[name]) for name in ("type", "reason") if cause.get(name)]
    return show_id(": ".join(known) or "no reason given", 200)


def _is_async(fields: Fields) -> bool:
    return "is_partial" in fields and _is_answer(_fields(fields.get("response")))


def _from_async(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    found = _answer(None, _fields(fields["response"]), place)
    still = "is incomplete: the search is still running. Save the answer when it has finished."
    is_whole = not fields.get("is_running") and (not fields["is_partial"] or found.doubt)
    yield found if is_whole else replace(found, doubt=still)


def _is_rank_eval(fields: Fields) -> bool:
    return isinstance(fields.get("details"), Object) and "metric_score" in fields


def _from_rank_eval(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    for query, failure in _fields(fields.get("failures")).items():
        reason = _reason(_fields(failure).get("error"))
        yield QueryList(query, [], place, "search", f"failed: {reason}. Repair the search and run it again.")
    for query, details in fields["details"]:
        rated = _fields(details).get("hits")
        inside = place.inside(f"query {show_id(query)}")
        if not is_list(rated):
            raise inside.error("no list 'hits'. Save the whole answer of _rank_eval.")
        hits = [_hit(_fields(each).get("hit"), inside, count) for count, each in enumerate(rated, 1)]
        yield QueryList(query, hits, place, "answer", order="listed")


def _is_rank_eval_request(fields: Fields) -> bool:
    requests = fields.get("requests")
    return is_list(requests) and all("ratings" in _fields(each) for each in requests)


def _from_rank_eval_request(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    for count, each in enumerate(fields["requests"], 1):
        request, inside = _fields(each), place.inside(f"request {count}")
        if request.get("id") is None:
            raise inside.error("no 'id'. Each request needs the id of its query.")
        yield QueryList(request["id"], pairs_of(request["ratings"], "qrels", inside), inside, "request")


# Quepid


def _is_quepid(fields: Fields) -> bool:
    queries = fields.get("queries")
    return is_list(queries) and bool(queries) and all(_quepid_text(_fields(each)) is not None for each in queries)


def _quepid_text(fields: Fields) -> Any:
    """The text of a query in an export of ratings, of a case, or for RRE; None if it has no ratings."""
    if "relevant_documents" in fields:
        return _fields(fields.get("placeholders")).get("$query")
    return fields.get("query", fields.get("query_text")) if "ratings" in fields else None


def _from_quepid(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    for each in map(_fields, fields["queries"]):
        text = _quepid_text(each)
        inside = place.inside(f"query {show_id(str(text))}")
        rated = each.get("relevant_documents", each.get("ratings")) or Object()
        if not isinstance(rated, Object):
            raise inside.error(f"expected an object with ratings, found {kind_of(rated)}")
        yield QueryList(text, pairs_of(rated, "qrels", inside), inside, "query", is_text=True)


# Records with a list


def _with_list(names: tuple[str, ...]) -> Callable[[Fields], bool]:
    accepted = frozenset(map(folded, names))

    def fits(fields: Fields) -> bool:
        lists = [value for name, value in fields.items() if folded(name) in accepted and isinstance(value, list)]
        # In {query: {document: value}}, a query may be called "docs", but no value is plain.
        return any(map(is_list, lists)) or (bool(lists) and _query_of(fields, Place(""))[0] is not None)

    return fits


def _list_field(fields: Fields, names: tuple[str, ...], place: Place) -> str:
    lists = tuple(name for name, value in fields.items() if isinstance(value, list))
    return str(chosen(lists, (names,), "list of documents", lambda: place))


def _from_hits(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    name = _list_field(fields, HITS, place)
    query, is_text = _query_of(fields, place)
    given = fields[name]
    if isinstance(given, Object) and _is_answer(dict(given)):
        yield _answer(query, dict(given), place, is_text=is_text)
        return
    pairs = _with_scores(pairs_of(given, "run", place), fields, name, place)
    yield QueryList(query, pairs, place, is_text=is_text, order="both" if is_list(given) else "scores")


def _with_scores(pairs: list[Pair], fields: Fields, name: str, place: Place) -> list[Pair]:
    """The pairs with the scores of a second list next to the ids, if there is one."""
    scores = next((value for key, value in fields.items() if folded(key) == "scores" and is_list(value)), None)
    if scores is None or any(score is not None for _, score in pairs):
        return pairs
    if len(scores) != len(pairs):
        documents, there = number_of(len(pairs), "document"), number_of(len(scores), "score")
        raise place.error(f"{documents} in '{show_id(name)}', but {there}. Each document needs one score.")
    return [(doc, score) for (doc, _), score in zip(pairs, scores, strict=True)]


def _from_relevant(record: Object, place: Place) -> Iterator[QueryList]:
    fields = dict(record)
    name = _list_field(fields, RELEVANT + JUDGED, place)
    query, is_text = _query_of(fields, place)
    pairs = pairs_of(fields[name], "qrels", place)
    if folded(name) in map(folded, RELEVANT):
        pairs = _graded(pairs, "qrels")
    yield QueryList(query, pairs, place, is_text=is_text)


def _query_of(fields: Fields, place: Place) -> tuple[Any, bool]:
    """The query of a record, and whether it is surely a text; None if the record does not name its query."""
    inner = next((value for name, value in fields.items() if folded(name) == "query"), None)
    if isinstance(inner, Object):  # {"qid": 1, "text": "how to cook rice"}
        return _query_of({"query_text" if name == "text" else name: value for name, value in inner}, place)
    plain = tuple(name for name, value in fields.items() if not isinstance(value, list))
    for groups, is_text in ((_QUERY_IDS, False), (_QUERY_NAMES, False), (_QUERY_TEXTS, True)):
        name = chosen(plain, groups, "query", lambda: place)
        if name is not None and fields[name] is not None:
            return fields[name], is_text
    return None, False


def _has_lists(fields: Fields) -> bool:
    return bool(fields) and all(map(is_list, fields.values()))


def _has_answers(fields: Fields) -> bool:
    return bool(fields) and all(_is_answer(_fields(value)) for value in fields.values())


def _by_query(kind: Kind) -> Callable[[Object, Place], Iterator[QueryList]]:
    def lists(record: Object, place: Place) -> Iterator[QueryList]:
        for query, given in record:
            inside = place.inside(f"query {show_id(query)}")
            if is_list(given):
                yield QueryList(query, _graded(pairs_of(given, kind, inside), kind), place)
            else:
                yield replace(_answer(query, _fields(given), inside), place=place)

    return lists


SHAPES = (
    Shape("an answer of _search", "run", _is_answer, _from_answer),
    Shape("an answer of _msearch", "run", _is_msearch, _from_msearch),
    Shape("an answer of _async_search", "run", _is_async, _from_async),
    Shape(
        "an answer of _rank_eval",
        "run",
        _is_rank_eval,
        _from_rank_eval,
        "It has ratings only of documents that were found. Use the request of _rank_eval as qrels.",
    ),
    Shape("a request of _rank_eval", "qrels", _is_rank_eval_request, _from_rank_eval_request),
    Shape("an export of Quepid", "qrels", _is_quepid, _from_quepid),
    Shape("a record with a list of hits", "run", _with_list(HITS), _from_hits),
    Shape("a record with a list of relevant documents", "qrels", _with_list(RELEVANT + JUDGED), _from_relevant),
)
# These have no field of their own, so they are tried last.
BY_QUERY = (
    Shape("an answer of _search for each query", "run", _has_answers, _by_query("run")),
    Shape("a list of documents for each query", "run", _has_lists, _by_query("run")),
    Shape("a list of documents for each query", "qrels", _has_lists, _by_query("qrels")),
)
