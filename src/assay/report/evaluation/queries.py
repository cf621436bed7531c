"""The table of queries of a report's page, and what its rows open: the documents of a query."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.errors import show_id
from assay.evaluation import ABOVE_ZERO
from assay.records.details import EXTREMES, FIRST, Details, QueryDetail, ShownDocument
from assay.records.model import EvaluationReport, MeasureResult
from assay.records.storing import REPORT_FILE
from assay.report.drawing.page import ID
from assay.report.drawing.tables import MOST_QUERIES, Cell, Cells, Column, Table
from assay.report.evaluation.sheet import lowest_first, main_measure, show_value
from assay.words import number_of

CHOICES = (("zero", "at 0"), ("below", "below the mean"), ("none", "undefined"))  # by the main measure
TEXT, WHOLE_TEXT = 200, 1000  # characters of a query's text in the table, and where its row opens
UNJUDGED, UNRETRIEVED = "unjudged", "not retrieved"
_COLUMNS = (Column("Document", number=False), Column("Rank"), Column("Grade"))


class Documents(Struct, frozen=True):
    """Some documents of a query."""

    title: str
    table: Table


class OpenedQuery(Struct, frozen=True):
    """What the row of a query opens."""

    key: str  # of its row
    query: str
    value: str  # by the main measure
    text: str
    said: str  # how many relevant documents there are, and where
    documents: tuple[Documents, ...]


class Queries(Struct, frozen=True):
    """The table of queries, and what its rows open."""

    table: Table
    opened: tuple[OpenedQuery, ...]


def queries_of(report: EvaluationReport, details: Details) -> Queries:
    """The values of all queries, the lowest first, and the documents of those with details."""
    at = main_measure(report)
    order = list(report.queries) if at is None else lowest_first(report, at)
    shown = order[:MOST_QUERIES]
    keys = {query: str(place) for place, query in enumerate(shown) if query in details.queries}
    texts = [Column("Text", number=False)] if details.texts else []
    table = Table(
        columns=(
            Column("Query", number=False),
            *texts,
            *(Column(show_id(measure.name), bar=measure.total != "sum") for measure in report.measures),
        ),
        rows=tuple((show_id(query, ID), *_text(query, details), *_cells(report, query)) for query in shown),
        nouns="queries",
        order=None if at is None else (at + 1 + len(texts), "ascending"),
        kinds=() if at is None else tuple(_kinds(report.queries[query][at], report.measures[at]) for query in shown),
        choices=() if at is None else CHOICES,
        opens=tuple(keys.get(query, "") for query in shown) if keys else (),
        left_out=" ".join(filter(None, (_left_out(report, at), _openable(report, at, len(keys))))),
    )
    return Queries(table, tuple(_opened(key, query, report, at, details) for query, key in keys.items()))


def _text(query: str, details: Details) -> list[Cell]:
    return [Cell(show_id(details.texts.get(query, ""), TEXT), "wide")] if details.texts else []


def _cells(report: EvaluationReport, query: str) -> tuple[str, ...]:
    pairs = zip(report.queries[query], report.measures, strict=True)
    return tuple(show_value(value, measure) for value, measure in pairs)


def _kinds(value: float | None, measure: MeasureResult) -> str:
    """Which of `CHOICES` show the query; a sum is not comparable to the value of a query."""
    if value is None:
        return "none"
    below = measure.total != "sum" and measure.mean is not None and value < measure.mean
    return " ".join([*(["zero"] if value == 0 else []), *(["below"] if below else [])])


def _left_out(report: EvaluationReport, at: int | None) -> str:
    if len(report.queries) <= MOST_QUERIES:
        return ""
    kept = "first" if at is None else f"with the lowest {show_id(report.measures[at].name)}"
    return f"Only the {MOST_QUERIES:,} queries {kept} are here, of {len(report.queries):,}; {REPORT_FILE} has all."


def _openable(report: EvaluationReport, at: int | None, count: int) -> str:
    """Which rows open, if only some do."""
    if not 0 < count < len(report.queries):
        return ""
    if at is None:
        return f"Only the first {count:,} queries open to their documents."
    highest = "" if len(report.queries) > MOST_QUERIES else f" and the {EXTREMES} with the highest"
    return f"Only the {EXTREMES} queries with the lowest {show_id(report.measures[at].name)}{highest} open to their documents."


# What a row opens


def _opened(key: str, query: str, report: EvaluationReport, at: int | None, details: Details) -> OpenedQuery:
    found, rel = details.queries[query], details.relevant_from
    return OpenedQuery(
        key=key,
        query=show_id(query, ID),
        value="" if at is None else f"{show_id(report.measures[at].name)} {_cells(report, query)[at]}",
        text=show_id(details.texts.get(query, ""), WHOLE_TEXT),
        said=" ".join(_said(found, rel)),
        documents=tuple(_documents(found, rel)),
    )


def _said(found: QueryDetail, relevant_from: float) -> Iterator[str]:
    """Where the relevant documents are."""
    if not found.retrieved:
        yield "The run has no documents for this query."
    grade = "grade above 0" if relevant_from == ABOVE_ZERO else f"grade {relevant_from:g} or higher"
    if not found.relevant:
        yield f"No document is judged relevant ({grade})."
        return
    places = {
        f"among the first {FIRST}": found.among_first,
        "further down": found.relevant - found.among_first - found.unretrieved,
        UNRETRIEVED: found.unretrieved,
    }
    where = ", ".join(f"{count:,} {place}" for place, count in places.items() if count)
    yield f"{number_of(found.relevant, 'relevant document')} ({grade}): {where}."


def _documents(found: QueryDetail, relevant_from: float) -> Iterator[Documents]:
    if found.first:
        every = found.retrieved <= len(found.first)
        retrieved = number_of(found.retrieved, "document")
        title = f"{retrieved} retrieved" if every else f"First {len(found.first)} of {retrieved}"
        yield Documents(title, _table(found.first, relevant_from))
    if found.lacking:
        total = found.relevant - found.among_first
        others = number_of(total, "other relevant document" if found.first else "relevant document")
        best = f"The {len(found.lacking)} best of " if total > len(found.lacking) else ""
        yield Documents(f"{best}{others}", _table(found.lacking, relevant_from))


def _table(documents: Sequence[ShownDocument], relevant_from: float) -> Table:
    return Table(_COLUMNS, tuple(_row(each, relevant_from) for each in documents), nouns="documents")


def _row(each: ShownDocument, relevant_from: float) -> Cells:
    relevant = each.rel is not None and each.rel >= relevant_from
    return (
        show_id(each.doc, ID),
        Cell(UNRETRIEVED, "quiet") if each.rank is None else f"{each.rank:,}",
        Cell(UNJUDGED, "quiet") if each.rel is None else Cell(f"{each.rel:g}", "good" if relevant else ""),
    )
