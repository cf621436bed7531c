"""The page of what changed between two runs: its texts and charts, and hostile names stay data."""

from __future__ import annotations

import json

import pytest

from assay.comparison.diffing import diff_runs
from assay.report.difference import render_html
from assay.report.difference.charts import charts_of
from assay.report.difference.documents import render_markdown
from assay.report.difference.page import page_of
from report.pages import Page
from report.samples import HOSTILE


def changed(query: str = "q", doc: str = "d", count: int = 24, **options):
    """In every third query, the first document is another one."""
    before = {f"{query}{n}": {f"{doc}1": 2.0, f"{doc}2": 1.0} for n in range(count)}
    after = {f"{query}{n}": {f"{doc}1" if n % 3 else f"{doc}3": 2.0, f"{doc}2": 1.0} for n in range(count)}
    return diff_runs(before, after, qrels={each: {f"{doc}1": 1} for each in before}, measures=["RR"], **options)


def test_identical_runs_have_an_answer_and_no_table():
    run = {"q": {"a": 2.0, "b": 1.0}}
    written = render_markdown(diff_runs(run, run), 3)

    assert written.startswith("The only query is identical in the first 100 documents. So are their scores.\n")
    assert "|" not in written


def test_the_page_says_what_changed_first():
    found = page_of(changed(), 3)

    assert "A → B" == found.title
    assert found.lede.startswith(
        "8 of 24 queries changed in the first 10 documents: documents entered or left. Worst: q0 (RR"
    )
    assert found.answer[0].startswith(
        "RR: 0.3333 lost (95% interval 0.1300 to 0.5367), from 1.0000 to 0.6667; 8 queries"
    )
    assert 8 == len(found.queries.rows)
    assert ("q0", "1.0000", "0.5000", "0.5000") == found.queries.rows[0][:4]
    assert ("d3", "Entered", ">100 → 1", "unjudged") == found.documents[0].documents.rows[0]
    assert ("d1", "Left", "1 → >100", "grade 1") == found.documents[0].documents.rows[1]
    assert [str(at) for at in range(8)] == list(found.queries.opens) == [query.key for query in found.documents]
    assert [True] * 3 + [False] * 5 == [query.listed for query in found.documents]
    assert found.not_shown.startswith("Listing the documents of 3 of 8 changed queries; --worst lists more")


def test_rows_open_to_the_documents_of_the_first_hundred_changed_queries():
    opens = page_of(changed(count=330), 3).queries.opens

    assert (110, 100) == (len(opens), len([key for key in opens if key]))


def test_the_charts_have_their_numbers_in_words():
    found = charts_of(changed())
    charts = {chart.name: chart.words for chart in found}

    assert ["overlap-10", "overlap-100", "rbo", "lost"] == list(charts)
    assert '"title": "Overlap@10"' in json.dumps(found[0].spec)
    assert "mean 0.8333, median 1.0000; 5% of the queries have 0.5000 or less" in charts["overlap-10"]
    assert "RR of B minus A in each query of both runs: 0 higher, 8 lower." == charts["lost"]


@pytest.mark.parametrize("count", [1, 2])
def test_identical_runs_have_a_page_too(count):
    run = {f"q{n}": {"a": 1.0} for n in range(count)}
    page = Page(render_html(diff_runs(run, run), 10))

    assert "identical in the first 100 documents. So are their scores." in " ".join(page.texts)
    assert 3 == len(charts_of(diff_runs(run, run)))


@pytest.mark.parametrize("name", sorted(set(HOSTILE) - {"lone"}))  # no input may have half a character
def test_hostile_ids_are_data(name):
    usual, hostile = Page(render_html(changed(), 10)), Page(render_html(changed(HOSTILE[name], HOSTILE[name]), 10))

    assert {tag[0] for tag in hostile.tags} <= {tag[0] for tag in usual.tags}
    assert [] == hostile.comments
    assert not any(attribute.startswith("on") for _, attribute, _ in hostile.attributes)
