"""The comparison page: its texts and charts, and hostile names stay data."""

from __future__ import annotations

import re

import numpy as np
import pytest
from msgspec.structs import replace

import assay
from assay.comparison.comparing import compare_scores
from assay.comparison.pairs import Study, SystemScores
from assay.comparison.segments import Segmentation
from assay.report.comparison import render_html
from assay.report.comparison.charts import charts_of
from assay.report.comparison.documents import render_markdown
from assay.report.comparison.page import lede_of
from assay.report.comparison.page import page_of as page_with_queries
from assay.report.comparison.tables import queries_of
from assay.report.drawing.charts import draw
from assay.report.drawing.tables import Cell
from report.pages import Page
from report.samples import HOSTILE

SVG = {"text", "tspan", "/text", "/tspan", "path", "g", "/g"}  # chart marks depend on the order of names


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


def page_of(found):
    return page_with_queries(found, queries_of(found))


def test_the_page_says_the_verdict_first():
    found = page_of(comparison())

    assert "hybrid against bm25" == found.title
    assert (
        "hybrid is significantly better than bm25 by RR: +0.3333 (95% interval +0.2317 to +0.4350, corrected p <0.0001) "
        "over 24 queries." == (lede_of(comparison()))
    )
    assert ["System", "Verdict", "Measure", "Mean"] == [column.name for column in found.pairs.columns[:4]]
    assert ("hybrid", Cell("better", "good"), "RR", "0.8333") == found.pairs.rows[0][:4]
    assert (2, 2) == (found.systems.fixed, found.pairs.fixed)
    assert 2 == len(found.moves)
    assert ["Agreement between runs", "Agreement between measures"] == [alike.title for alike in found.agreement]
    assert "100%" == found.agreement[0].table.rows[0][2]


def test_markdown_says_how_alike_they_are_where_it_was_asked_for():
    found = comparison()

    assert "### Agreement between runs\n\n| system | system | top 10 in common |" in render_markdown(found)
    assert "### Agreement between measures" in render_markdown(found)
    assert "### Agreement between measures" not in render_markdown(replace(found, runs_alike=()))


def test_every_chart_of_the_issue_is_there_and_drawn():
    charts = charts_of(comparison())
    drawn = draw(charts).svgs

    assert ["differences", "won-and-lost", "query-by-query-1", "segments-1"] == [chart.name for chart in charts]
    assert all(svg.startswith("<svg") for svg in drawn.values())
    assert set(drawn) in ({chart.name for chart in charts}, set())  # none without vl-convert


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind != "lone"])  # not allowed in an id
def test_hostile_names_add_no_tag(kind):
    plain = Page(render_html(comparison("plain", "plain", "plain", "plain"))).tags
    found = Page(render_html(comparison(*[HOSTILE[kind]] * 4))).tags

    assert [tag for tag in plain if tag[0] not in SVG] == [tag for tag in found if tag[0] not in SVG]


@pytest.mark.parametrize("systems", [1, 2])
def test_a_system_against_itself_has_a_page(systems):
    qrels = {"q1": {"a": 1}, "q2": {"a": 1}}
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    found = assay.compare(qrels, {"x": run, **{f"y{n}": run for n in range(systems)}}, ["RR"])

    assert "No significant difference between y0 and x by RR" in render_html(found) or systems > 1


def test_what_more_of_is_not_better_is_neither_won_nor_good():
    qrels = {f"q{n}": {"a": 1} for n in range(30)}
    runs = {
        "a": {f"q{n}": {"a": 1.0} for n in range(30)},
        "b": {f"q{n}": {"a": 2.0} if n % 3 else {"x": 2.0, "a": 1.0} for n in range(30)},
    }
    found = assay.compare(qrels, runs, ["Unjudged@10"])

    assert ["differences", "query-by-query-1"] == [chart.name for chart in charts_of(found)]
    assert {""} == {move.tone for pair in page_of(found).moves for move in pair.moves}
    assert "higher" in lede_of(found)


def test_a_segment_against_the_mean_is_a_warning_unless_it_is_not_tested():
    values = np.array([[0.5] * 30, [0.49 - 0.001 * n for n in range(20)] + [0.9 + 0.001 * n for n in range(10)]]).T[
        None
    ]
    scores = SystemScores(("a", "b"), tuple(f"q{n}" for n in range(30)), ("AP",), values)
    kinds = {f"q{n}": "xyz"[n // 10] for n in range(30)}
    plain = Segmentation.from_labels("kind", kinds)

    first, _ = page_of(compare_scores(scores, segments=[plain])).warnings
    assert first == (
        "By AP b is significantly worse than a on x (-0.0145, corrected p <0.0001), though its mean over all segments is higher "
        "(+0.1218)."
    )
    assert () == page_of(compare_scores(scores, segments=[replace(plain, by_outcome=True)])).warnings
    assert () == page_of(compare_scores(scores, segments=[plain], minimum_segment=20)).warnings


def test_queries_with_equal_values_are_in_natural_order():
    names = ("10", "9", "2", "1")
    scores = SystemScores(("a", "b"), names, ("AP",), np.array([[[0.5, 0.6], [0.5, 0.6], [0.5, 0.6], [0.5, 0.2]]]))

    assert ["1", "2", "9", "10"] == [row[0] for row in queries_of(compare_scores(scores)).table.rows]


@pytest.mark.parametrize(
    ("all_pairs", "lede"),
    [
        (
            False,
            "1 of 2 systems has significantly higher values than a by NumRelRet over 20 queries; none has lower ones.",
        ),
        (True, "2 of 3 pairs of systems differ significantly by NumRelRet over 20 queries."),
    ],
)
def test_a_measure_of_which_more_is_not_always_better_has_higher_and_lower_values(all_pairs, lede):
    rng = np.random.default_rng(1)
    base = rng.integers(0, 3, 20).astype(float)
    values = np.stack([base, base + rng.integers(4, 8, 20), base + np.tile([1.0, -1.0], 10)], axis=1)
    scores = SystemScores(("a", "b", "c"), tuple(f"q{n}" for n in range(20)), ("NumRelRet",), values[None])
    found = compare_scores(scores, Study(all_pairs=all_pairs))

    assert lede == lede_of(found)
    (chart,) = (chart for chart in charts_of(found) if chart.name == "differences")
    assert f"{2 if all_pairs else 1} of {3 if all_pairs else 2} comparisons " in chart.words
    assert " significantly higher or lower after correction: " in chart.words
    assert "Triangles: higher or lower; dots: neither." in chart.words
    assert not {"better", "worse", "bold"} & set(re.findall(r"\w+", page_of(found).meaning + chart.words))
    if all_pairs:
        table = page_of(found).systems
        assert ["Higher than", "Lower than"] == [column.name for column in table.columns[1:3]]
        assert {("b", "2", "0"), ("a", "0", "1"), ("c", "0", "1")} == {
            (row[0].words.split(" ")[0], *row[1:3]) for row in table.rows
        }
