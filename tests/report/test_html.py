"""The HTML report has the report's content, and no text becomes markup."""

from __future__ import annotations

import base64
import hashlib
import re
from collections import Counter

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from assay.errors import show_id
from assay.report.drawing.charts import Drawings
from assay.report.evaluation.charts import draw_charts
from assay.report.evaluation.page import render_report_html
from assay.report.evaluation.sheet import show_value
from report.pages import Page
from report.samples import (
    HOSTILE,
    finding,
    hostile_report,
    identity,
    large_report,
    measure,
    report,
    reports,
    some_queries,
)

PLAIN = Page(render_report_html(hostile_report("plain text"), Drawings())).tags


def sha256(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def page(some_report) -> Page:
    return Page(render_report_html(some_report, Drawings()))


def said(found: Page) -> str:
    return " ".join(" ".join(found.texts).split())


def check_that_texts_are_data(text: str, found: Page, html: str) -> None:
    html.encode("utf-8")
    assert PLAIN == found.tags
    assert [] == found.comments
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u2028\u2029\u202e]", html)
    assert {show_id(text, 80), show_id(text + "2", 80), "plain"} <= set(found.texts)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_data(text):
    html = render_report_html(hostile_report(text), Drawings())

    check_that_texts_are_data(text, Page(html), html)
    assert "<" not in text or text not in html


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_data_with_charts(text):
    charts = draw_charts(hostile_report(text))
    found = Page(render_report_html(hostile_report(text), charts))

    assert {"script": 1, "style": 1} == {
        tag: sum(1 for each in found.tags if each[0] == tag) for tag in ("script", "style")
    }
    assert not [name for _, name, _ in found.attributes if name.startswith("on") or name == "style"]


anything = st.text(st.characters(exclude_categories=()), min_size=1, max_size=60).filter(
    lambda text: text not in ("plain", "missing", "AP", "-") and text.strip()
)


@given(anything)
@example("2026-11-15")
def test_no_text_changes_the_page(text):
    html = render_report_html(hostile_report(text), Drawings())

    check_that_texts_are_data(text, Page(html), html)


@given(reports())
def test_any_report_makes_a_page_that_holds_its_values(some_report):
    html = render_report_html(some_report, Drawings())
    cells = Counter(cell for cell in Page(html).texts)

    html.encode("utf-8")
    assert not shown_values(some_report) - cells
    assert {show_id(query, 80) for query in some_report.queries} <= set(cells)


def shown_values(some_report) -> Counter[str]:
    pairs = [pair for row in some_report.queries.values() for pair in zip(row, some_report.measures, strict=True)]
    return Counter(show_value(value, measured) for value, measured in pairs)


@given(reports())
def test_no_id_changes_the_page(some_report):
    found = page(some_report)
    renamed = {f"q{number}": values for number, values in enumerate(some_report.queries.values())}

    assert page(replace(some_report, queries=renamed)).tags == found.tags
    assert {show_id(query, 80) for query in some_report.queries} <= set(found.texts)


def test_the_policy_allows_our_script_and_style_and_nothing_else():
    found = page(report())
    [policy] = [
        value for tag, name, value in found.attributes if (tag, name) == ("meta", "content") and "-src" in value
    ]

    assert (
        f"default-src 'none'; script-src '{sha256(found.raw['script'])}'; style-src '{sha256(found.raw['style'])}'; "
        "base-uri 'none'; form-action 'none'"
    ) == policy


def test_the_policy_stands_before_all_that_it_governs():
    tags = [tag for tag, *_ in page(report()).tags]

    assert ["html", "head", "meta", "meta"] == tags[:4]


def test_nothing_is_fetched():
    html = render_report_html(report(), draw_charts(report()))
    found = Page(html)

    assert [] == found.values_of("src")
    assert all(value.startswith("#") for value in found.values_of("href"))
    assert not {"link", "iframe", "object", "embed", "img", "image", "use", "foreignobject"} & {
        tag for tag, *_ in found.tags
    }
    assert not re.search(r"@import|url\(", found.raw["style"])


def test_links_lead_to_parts_of_the_page_and_ids_are_unique():
    found = Page(render_report_html(report(), draw_charts(report())))
    ids = found.values_of("id")

    assert len(ids) == len(set(ids))
    assert {value[1:] for value in found.values_of("href")} <= set(ids)
    assert set(found.values_of("aria-labelledby")) <= set(ids)


def test_what_was_measured_and_how_sure():
    text = said(page(report()))

    assert "nDCG@10 is 0.3812 over 50 queries; 95% interval 0.3412 to 0.4212." in text
    assert "0.3812 of 0.3500 (good)" in text
    assert "strong from 0.4500; typical 0.3000 to 0.3200" in text
    assert "Targets of trec-dl: 1 pass, 1 unknown, 1 fail" in text
    assert "0.5211 to 0.5498, depending on the order of ties" in text
    assert "Ties broken by document id, descending; mean over all judged queries" in text
    assert "50 queries judged, 48 answered, 2 missing" in text
    assert "2 of 50 judged queries are missing from run 'bm25' (first: q9, q31)." in text
    assert "Documents of 3 queries share their score" in text
    assert "runs/bm25.txt:1041, query q7" in text
    assert "Fix. Give documents different scores" in text
    assert "exp-20261115-225512-4f1c9a" in text
    assert "15 November 2026, 22:55 UTC" in text
    assert "292,411 bytes" in text
    assert report().run.sha256 in text


def test_findings_are_grouped_worst_first():
    text = said(page(report(findings=(finding("note"), finding("error"), finding("warning")))))

    assert text.index("Errors") < text.index("Warnings") < text.index("Notes")


def test_a_complete_report_without_targets_and_findings():
    text = said(
        page(
            report(
                complete=True,
                incomplete_because=(),
                findings=(),
                targets=None,
                status=None,
                measures=tuple(replace(each, target=None) for each in report().measures),
            )
        )
    )

    assert "Complete" in text
    assert "Incomplete" not in text
    assert "Target" not in text
    assert "Findings None." in text


def test_values_in_memory_have_no_file():
    unread = identity("bm25", path="", sha256=None, size=None, lines=None)
    text = said(page(report(run=unread, qrels=replace(unread, path="-"))))

    assert "unknown: it did not come from a file" in text
    assert "standard input" in text


def test_without_drawings_the_words_remain():
    text = said(Page(render_report_html(report(), Drawings(missing="no colours left."))))

    assert "Charts are shown as text: no colours left." in text
    assert "11 queries are at 0." in text


def test_each_drawing_has_its_words_for_those_who_cannot_see_it():
    found = Page(render_report_html(report(), draw_charts(report())))
    labels = [value for tag, name, value in found.attributes if (tag, name) == ("div", "aria-label")]

    assert 5 == len([label for label in labels if label.endswith(".")])
    assert "11 queries are at 0." in " ".join(labels)


def test_without_a_script_all_queries_are_there_the_lowest_first():
    some = large_report()

    assert sorted(some.queries, key=lambda query: some.queries[query][0]) == [
        text for text in page(some).texts if re.fullmatch(r"q\d+", text)
    ]


def test_of_more_queries_than_a_page_can_hold_the_lowest_are_there():
    some = report(queries=some_queries(10_003), complete=True, incomplete_because=(), findings=())
    found = page(some)

    assert 10_000 == len([text for text in found.texts if re.fullmatch(r"q\d+", text)])
    assert (
        "Only the 10,000 queries with the lowest nDCG@10 are here, of 10,003; EvaluationReport.json has all."
        in said(found)
    )


def test_undefined_values_stand_last():
    some = report(queries={"a": (None,), "b": (0.5,), "c": (0.25,)}, measures=(measure("AP", 0.375, undefined=1),))
    found = page(some)

    assert ["c", "0.2500", "b", "0.5000", "a", "–"] == [
        text for text in found.texts if text in ("a", "b", "c", "0.2500", "0.5000", "–")
    ][-6:]
    assert "1 query left out as undefined" in said(found)


def test_no_queries_at_all():
    assert "No query has a value." in said(page(report(queries={}, measures=(measure("AP", None),))))


def test_a_large_page_stays_small():
    assert 3_000_000 > len(render_report_html(large_report(), draw_charts(large_report())).encode())
