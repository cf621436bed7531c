"""The page of a comparison: what it says, what it draws, and that hostile names stay data."""

from __future__ import annotations

import pytest

import assay
from assay.report.charts import draw
from assay.report.comparison import render_html
from assay.report.comparison.charts import charts_of
from assay.report.comparison.page import lede_of, page_of
from report.pages import Page
from report.samples import HOSTILE

SVG = {"text", "tspan", "/text", "/tspan", "path", "g", "/g"}  # of charts, whose marks depend on the order of names


def comparison(name: str = "hybrid", query: str = "q", doc: str = "d", text: str = "words"):
    qrels = {f"{query}{n}": {f"{doc}1": 1, f"{doc}2": 0} for n in range(24)}
    first = {f"{query}{n}": {f"{doc}2": 2.0, f"{doc}1": 1.0} for n in range(24)}
    second = {f"{query}{n}": {f"{doc}1": 2.0 if n % 3 else 0.5, f"{doc}2": 1.0} for n in range(24)}
    return assay.compare(
        qrels,
        {"bm25": first, name: second},
        ["RR", "P@1"],
        segments={f"{query}{n}": text if n % 2 else "other" for n in range(24)},
        documents=True,
        corpus={f"{doc}1": text},
        queries={f"{query}1": text},
        agreement=True,
    )


def test_the_page_says_the_verdict_first():
    found = page_of(comparison())

    assert "hybrid against bm25" == found.title
    assert (
        "By RR, hybrid against bm25: better (+0.3333, 95% interval +0.2317 +0.4350, corrected p <0.0001, 24 queries)."
        == (lede_of(comparison()))
    )
    assert ["RR", "bm25", "hybrid", "0.8333"] == list(found.pairs[0][:4])
    assert 2 == len(found.moves)
    assert "100%" == found.runs_alike[0][2]


def test_every_chart_of_the_issue_is_there_and_drawn():
    charts = charts_of(comparison())
    drawn = draw(charts)

    assert ["differences", "won-and-lost", "query-by-query-1", "segments-1"] == [chart.name for chart in charts]
    assert all(svg.startswith("<svg") for svg in drawn.values())
    assert set(drawn) in ({chart.name for chart in charts}, set())  # none without vl-convert


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind != "lone"])  # which no id may hold
def test_hostile_names_add_no_tag(kind):
    plain = Page(render_html(comparison("plain", "plain", "plain", "plain"))).tags
    found = Page(render_html(comparison(*[HOSTILE[kind]] * 4))).tags

    assert [tag for tag in plain if tag[0] not in SVG] == [tag for tag in found if tag[0] not in SVG]


@pytest.mark.parametrize("systems", [1, 2])
def test_a_system_against_itself_has_a_page(systems):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    found = assay.compare(qrels, {"x": run, **{f"y{n}": run for n in range(systems)}}, ["RR"])

    assert "no evidence of a difference" in render_html(found) or systems > 1
