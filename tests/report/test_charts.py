"""Charts show the right values, stay small, and contain nothing active."""

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise
from xml.etree import ElementTree

import numpy as np
import pytest
from msgspec.structs import replace

from assay.comparison.comparing import compare_scores
from assay.comparison.pairs import SystemScores
from assay.report.comparison.charts import charts_of as comparison_charts
from assay.report.drawing import charts
from assay.report.drawing.charts import Drawings
from assay.report.drawing.vega import COLOURS, SERIES, span
from assay.report.evaluation.charts import charts_of, draw_charts
from assay.report.evaluation.sheet import lowest_first
from assay.report.evaluation.specs import _apart, _outline, _parts_of, bins_of
from report.samples import CURVES, HOSTILE, hostile_report, large_report, measure, report, some_queries

ALL = ["distribution", "per-query", "at-cutoff", "precision-recall", "first-relevant"]
ELEMENTS = {"svg", "g", "path", "line", "rect", "text", "tspan", "title"}
NO_CURVES = replace(CURVES, precision_at_recall=(), cutoffs=(), at_cutoff={}, first_relevant={})


def drawn(some_report) -> dict[str, str]:
    pytest.importorskip("vl_convert", reason="drawing needs vl-convert-python")
    return draw_charts(some_report).svgs


def words(some_report) -> dict[str, str]:
    return {chart.name: chart.words for chart in charts_of(some_report)}


def test_five_charts_of_one_size():
    charts = drawn(report())

    assert ALL == list(charts)
    assert {("430", "285")} == {
        (root.get("width"), root.get("height")) for root in map(ElementTree.fromstring, charts.values())
    }


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_drawing_can_only_be_looked_at(text):
    for svg in drawn(hostile_report(text)).values():
        svg.encode("utf-8")
        root = ElementTree.fromstring(svg)  # also checks that it is well formed, whatever the id

        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", svg)
        for element in root.iter():
            assert element.tag.removeprefix("{http://www.w3.org/2000/svg}") in ELEMENTS
            for name, value in element.attrib.items():
                assert not name.startswith("on")
                assert name not in ("style", "href", "id", "{http://www.w3.org/1999/xlink}href")
                assert "url(" not in value or name == "aria-label"


def test_ids_of_a_few_queries_are_text():
    svg = drawn(report(queries={"<b>&": (0.5,) * 4, "caf\udce9": (0.25,) * 4}))["per-query"]
    texts = [element.tail for element in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]

    assert {"<b>&", "caf\\xe9"} <= set(texts)


def test_each_mark_is_named_on_hover():
    some = report(queries={"camping tent 4 person": (0.5,) * 4, "q2": (0.25,) * 4})
    titles = {
        name: [each.text for each in ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}title")]
        for name, svg in drawn(some).items()
    }

    assert ["camping tent 4 person: 0.5000", "q2: 0.2500"] == titles["per-query"][:2]
    assert ["0.2 to 0.3: 1 query", "0.5 to 0.6: 1 query"] == titles["distribution"]
    assert "precision 0.7100 at recall 0.1" in titles["precision-recall"]
    assert "rank 4-10: 9 queries (18%)" in titles["first-relevant"]
    assert "nDCG@10: 0.4833" in titles["at-cutoff"]


def test_a_line_of_many_queries_names_them_all():
    parts = _parts_of([(f"q{at}", 1 - at / 250) for at in range(250)])

    assert [(0, 3), (3, 6)] == [(part["query"], part["to"]) for part in parts[:2]]
    assert "q0 and the next 2 queries: 1.0000 to 0.9920" == parts[0]["words"]
    assert (249, 250, "q249: 0.0040") == (parts[-1]["query"], parts[-1]["to"], parts[-1]["words"])


def test_systems_have_twelve_looks():
    assert (
        12
        == len(SERIES)
        == len({look.colour for look in SERIES})
        == len({(look.shape, look.dashes[0], look.colour) for look in SERIES})
    )
    assert {look.colour for look in SERIES} <= set(COLOURS.values())
    assert 6 == len({look.shape for look in SERIES[:6]})


def test_equal_ids_once_they_are_cut_have_a_bar_each():
    queries = {"x" * 50 + middle + "x" * 50: (0.5,) * 4 for middle in "abc"}
    [spec] = [chart.spec for chart in charts_of(report(queries=queries)) if chart.name == "per-query"]

    assert [0, 1, 2] == [row["place"] for row in spec["data"]["values"]]
    assert {"x" * 10 + "…" + "x" * 4} == {row["query"] for row in spec["data"]["values"]}


def test_queries_with_equal_values_are_in_natural_order():
    queries = dict.fromkeys(("10", "9", "2"), (0.5,) * 4)
    [spec] = [chart.spec for chart in charts_of(report(queries=queries)) if chart.name == "per-query"]

    assert ["2", "9", "10"] == [row["query"] for row in spec["data"]["values"]]
    assert ["2", "9", "10"] == lowest_first(report(queries=queries), 0)


def test_names_that_differ_at_their_end_have_labels_that_differ():
    names = [f"dense-e5-base-v2-pooling-mean-depth-1000-rerank-100-v{number}" for number in (1, 2)]
    scores = SystemScores(("bm25", *names), ("q1", "q2", "q3"), ("AP",), np.array([[[0.1, 0.5, 0.6]] * 3]))
    charts = {chart.name: chart.spec for chart in comparison_charts(compare_scores(scores))}
    labels = [row["label"] for row in charts["differences"]["data"]["values"]]

    assert 2 == len(set(labels))
    assert all(label.startswith("dense-e5") for label in labels)


def test_a_page_on_dark_paper_can_change_every_colour():
    used = set()
    for svg in drawn(report()).values():
        used |= set(re.findall(r'(?:fill|stroke)="([^"]+)"', svg))

    assert used <= {*COLOURS.values(), "none", "transparent"}


def test_drawings_do_not_grow_with_the_queries():
    charts = drawn(large_report())

    assert 80_000 > max(map(len, charts.values()))
    assert 200 > max(svg.count("<") for svg in charts.values()) / 4  # each mark has a title


def test_without_the_package_there_are_no_drawings(monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)

    assert Drawings(missing="drawing charts needs one more package: pip install 'assay-ir[report]'") == draw_charts(
        report()
    )


@pytest.mark.skipif(sys.platform == "win32", reason="limits are set as on Unix")
@pytest.mark.parametrize(
    ("limit", "why"),
    [
        ("ulimit -v 4000000", "was ended by SIGTRAP. It reserves some 64 GB of addresses"),
        ("ulimit -v 16000000", "was ended by SIGTRAP. It reserves some 64 GB of addresses"),
        ("ulimit -n 8", "cannot be started: Too many open files"),
        ("ulimit -n 12", "failed (exit status 1)"),
    ],
)
def test_a_limit_that_ends_the_drawing_leaves_the_words(limit, why):
    pytest.importorskip("vl_convert", reason="drawing needs vl-convert-python")
    program = (
        "from assay.report.drawing.charts import Chart, draw\n"
        "found = draw([Chart('a', 'A', 'words', {'mark': 'bar'}), Chart('b', 'B', 'words', {'mark': 'bar'})])\n"
        "print(len(found.svgs), found.missing)"
    )
    done = subprocess.run(
        ["sh", "-c", f"{limit}; exec '{sys.executable}' -c \"{program}\""], capture_output=True, text=True, check=True
    )

    assert done.stdout.startswith(f"0 the program that draws charts {why}")


def test_a_chart_that_takes_too_long_is_given_up(monkeypatch):
    pytest.importorskip("vl_convert", reason="drawing needs vl-convert-python")
    monkeypatch.setattr(charts, "LONGEST", 0.0001)
    painter = charts._Painter()

    with pytest.raises(charts._CannotDrawError, match="a chart took more than"):
        painter.draw({"mark": "bar"})
    painter.close()
    with pytest.raises(charts._CannotDrawError, match="a chart took more than"):
        painter.draw({"mark": "bar"})


@pytest.mark.parametrize(
    ("queries", "expected"),
    [
        ({"q1": (0.25,)}, "The only query is at 0.2500."),
        (
            {"q1": (0.5,), "q2": (0.5,)},
            "From 0.5000 down to 0.5000 over 2 queries; median 0.5000; none is at 0.",
        ),
        (
            {"q1": (0.0,), "q2": (None,), "q3": (1.0,)},
            "From 1.0000 down to 0.0000 over 2 queries; median 0.5000; 1 query is at 0. "
            "1 query with an undefined value is left out.",
        ),
    ],
)
def test_per_query_in_words(queries, expected):
    some = report(queries=queries, measures=(measure("AP", 0.5),))

    assert expected == words(some)["per-query"]
    drawn(some)


def test_distribution_in_words():
    some = report(
        queries={"q1": (0.0,), "q2": (0.01,), "q3": (1.0,)}, measures=(measure("AP", 0.34, interval=(0.1, 0.5)),)
    )

    assert (
        "AP of 3 queries; mean 0.3400; 95% interval 0.1000 to 0.5000 (grey band); most often between 0 and 0.1 (2 queries)."
        == words(some)["distribution"]
    )


def test_a_sum_is_not_drawn_among_the_values_it_is_made_of():
    counts = measure("num_rel", 12.0, total="sum", interval=None)
    some = report(queries={"q1": (3.0,), "q2": (9.0,)}, measures=(counts,))

    assert "mean" not in words(some)["distribution"]
    assert "From 9 down to 3 over 2 queries" in words(some)["per-query"]
    drawn(some)


def test_a_mean_is_preferred_to_a_sum():
    some = report(
        queries={"q1": (3.0, 0.5)}, measures=(measure("num_rel", 3.0, total="sum", interval=None), measure("AP", 0.5))
    )

    assert "The only query is at 0.5000." == words(some)["per-query"]


@pytest.mark.parametrize("queries", [{}, {"q1": (None,), "q2": (None,)}])
def test_no_values_no_charts(queries):
    some = report(queries=queries, measures=(measure("AP", None),), curves=NO_CURVES)

    assert () == charts_of(some)


def test_curves_that_are_not_defined_are_not_drawn():
    curves = replace(CURVES, precision_at_recall=(None,) * 11, at_cutoff={"P": (None,) * 100}, first_relevant={"1": 0})

    assert ["distribution", "per-query"] == [chart.name for chart in charts_of(report(curves=curves))]


def test_one_cutoff_is_no_curve():
    curves = replace(CURVES, cutoffs=(1,), at_cutoff={"P": (0.5,)})

    assert "at-cutoff" not in words(report(curves=curves))


def test_curves_in_words():
    said = words(report())

    assert (
        "Mean interpolated precision: 0.8200 at recall 0, 0.4100 at recall 0.5, 0.0600 at recall 1."
        == said["precision-recall"]
    )
    assert (
        "Of 50 queries, 21 (42%) have a relevant document at rank 1; for 2 (4%) none was retrieved."
        == said["first-relevant"]
    )


def test_bins_hold_every_value_once():
    values = [value for value, *_ in some_queries(500).values()]
    bins = bins_of(values)

    assert 500 == sum(each.count for each in bins)
    assert values.count(0.0) == bins[0].zeros
    assert (0.0, 1.0) == (bins[0].low, bins[-1].high)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], (0, 1)),
        ([0.0], (0, 1)),
        ([0.2, 1.0], (0, 1)),
        ([3.0, 12.0], (0, 12)),
        ([-2.0, -1.0], (-2, 0)),
        ([-1.0, 0.5], (-1, 0.5)),
    ],
)
def test_an_axis_goes_from_0_to_1_or_over_all_values(values, expected):
    assert expected == span(values)


def test_a_falling_line_keeps_its_steps():
    assert [(0, 1.0), (2, 0.5), (3, 0.0), (5, 0.0)] == list(_outline([1.0, 1.0, 0.5, 0.0, 0.0]))
    assert 501 >= len(list(_outline([1 - n / 6980 for n in range(6980)])))


def test_names_of_lines_do_not_lie_on_each_other():
    placed = _apart({"a": [1.0], "b": [1.0], "c": [0.99], "d": [0.0], "e": [0.01]})
    heights = sorted(placed.values())

    assert all(0.07 < above - below for below, above in pairwise(heights))
    assert 0 <= heights[0]
    assert heights[-1] <= 1
