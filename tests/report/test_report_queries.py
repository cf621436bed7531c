"""The queries of a report's page: their texts, and the documents that a row opens."""

from __future__ import annotations

from typing import Any

import pytest

from assay.errors import show_id
from assay.evaluation import ABOVE_ZERO
from assay.records.details import Details, QueryDetail, ShownDocument
from assay.report.drawing.charts import Drawings
from assay.report.drawing.tables import Cell
from assay.report.evaluation.page import render_report_html
from assay.report.evaluation.queries import queries_of
from report.pages import Page
from report.samples import HOSTILE, large_report, measure, report


def detail(**changes: Any) -> QueryDetail:
    """Of three relevant documents, d2 is second, d12 is twelfth, and x was not retrieved."""
    first = tuple(ShownDocument(f"d{rank}", rank, {1: 0.0, 2: 2.0}.get(rank)) for rank in range(1, 11))
    known: dict[str, Any] = {
        "retrieved": 1000,
        "relevant": 3,
        "among_first": 1,
        "unretrieved": 1,
        "first": first,
        "lacking": (ShownDocument("x", None, 3.0), ShownDocument("d12", 12, 1.0)),
    }
    return QueryDetail(**(known | changes))


def some_details(*queries: str, texts: dict[str, str] | None = None, rel: float = 1.0, **changes: Any) -> Details:
    return Details(texts or {}, {query: detail(**changes) for query in queries}, rel)


TWO = report(measures=(measure("nDCG@10", 0.5),), queries={"q1": (0.75,), "q2": (0.25,)})


def opened(found: Details, some_report=TWO):
    (only,) = queries_of(some_report, found).opened
    return only


def test_a_row_opens_to_its_documents_by_hand():
    only = opened(some_details("q1", texts={"q1": "rain tomorrow"}))
    first, others = only.documents

    assert ("1", "q1", "nDCG@10 0.7500", "rain tomorrow") == (only.key, only.query, only.value, only.text)
    assert (
        "3 relevant documents (grade 1 or higher): 1 among the first 10, 1 further down, 1 not retrieved." == only.said
    )
    assert ("First 10 of 1,000 documents", "2 other relevant documents") == (first.title, others.title)
    assert ("d1", "1", Cell("0")) == first.table.rows[0]
    assert ("d2", "2", Cell("2", "good")) == first.table.rows[1]
    assert ("d3", "3", Cell("unjudged", "quiet")) == first.table.rows[2]
    assert (("x", Cell("not retrieved", "quiet"), Cell("3", "good")), ("d12", "12", Cell("1", "good"))) == (
        others.table.rows
    )


def test_the_words_fit_the_counts():
    all_there = opened(some_details("q1", rel=ABOVE_ZERO, relevant=1, among_first=1, unretrieved=0, lacking=()))
    short = opened(some_details("q1", retrieved=1, first=(ShownDocument("a", 1, None),), relevant=0, lacking=()))
    many = opened(some_details("q1", relevant=40))
    unanswered = opened(
        some_details("q1", retrieved=0, first=(), among_first=0, relevant=1, lacking=(ShownDocument("a", None, 1.0),))
    )

    assert "1 relevant document (grade above 0): 1 among the first 10." == all_there.said
    assert ["First 10 of 1,000 documents"] == [each.title for each in all_there.documents]
    assert "No document is judged relevant (grade 1 or higher)." == short.said
    assert ["1 document retrieved"] == [each.title for each in short.documents]
    assert "The 2 best of 39 other relevant documents" == many.documents[1].title
    assert (
        "The run has no documents for this query. 1 relevant document (grade 1 or higher): 1 not retrieved."
        == unanswered.said
    )
    assert ["1 relevant document"] == [each.title for each in unanswered.documents]


def test_texts_stand_beside_the_queries():
    table = queries_of(TWO, Details({"q2": "rain"}, {}, 0)).table

    assert ["Query", "Text", "nDCG@10"] == [column.name for column in table.columns]
    assert (("q2", Cell("rain", "wide"), "0.2500"), ("q1", Cell("", "wide"), "0.7500")) == table.rows
    assert (2, "ascending") == table.order


def test_the_page_says_which_rows_open():
    def said(some_report, *queries: str) -> str:
        return queries_of(some_report, some_details(*queries)).table.left_out

    many = large_report(300)
    lowest_and_highest = (*list(many.queries)[:100], *list(many.queries)[-100:])
    undefined = report(measures=(measure("AP", None),), queries=dict.fromkeys(many.queries, (None,)))

    assert "" == said(TWO) == said(TWO, "q1", "q2")
    assert "Only the 100 queries with the lowest nDCG@10 and the 100 with the highest open to their documents." == said(
        many, *lowest_and_highest
    )
    assert "Only the first 200 queries open to their documents." == said(undefined, *list(many.queries)[:200])


def test_the_highest_are_not_promised_where_they_are_not_on_the_page():
    huge = large_report(10_200)
    ordered = sorted(huge.queries, key=lambda query: huge.queries[query][0])
    found = queries_of(huge, some_details(*ordered[:100], *ordered[-100:]))

    assert 100 == len(found.opened)
    assert found.table.left_out.endswith(" Only the 100 queries with the lowest nDCG@10 open to their documents.")


def test_without_details_nothing_opens():
    found = Page(render_report_html(TWO, Drawings()))

    assert not [name for _, name, _ in found.attributes if name in ("data-opens", "data-of")]


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_documents_and_texts_are_data(text):
    def page(words: str) -> Page:
        first, lacking = (ShownDocument(words, 1, None),), (ShownDocument(words, None, 1.0),)
        return Page(
            render_report_html(TWO, Drawings(), some_details("q1", texts={"q1": words}, first=first, lacking=lacking))
        )

    plain, hostile = page("plain"), page(text)
    without_long = [[name for name in tag if name != "class"] for tag in plain.tags]

    assert without_long == [[name for name in tag if name != "class"] for tag in hostile.tags]
    assert plain.raw["script"] == hostile.raw["script"]
    assert 2 == hostile.texts.count(show_id(text, 80)) or len(text) < 81


def test_the_documents_of_200_queries_take_less_than_2_mb():
    ids = [f"{'d' * 70}{at}" for at in range(10)]
    full = detail(
        first=tuple(ShownDocument(doc, rank, 1.0) for rank, doc in enumerate(ids, 1)),
        lacking=tuple(ShownDocument(doc, 11, 1.0) for doc in ids),
    )
    some = large_report(200)
    texts = dict.fromkeys(some.queries, "rain tomorrow")
    page, bare = (
        render_report_html(some, Drawings(), found)
        for found in (Details(texts, dict.fromkeys(some.queries, full), 1.0), Details(texts, {}, 1.0))
    )

    assert 2_000_000 > len(page.encode()) - len(bare.encode())
