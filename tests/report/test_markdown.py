"""The Markdown report has the report's content, and no text becomes markup."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assay.errors import show_id
from assay.report.drawing.markdown import plain
from assay.report.evaluation.document import render_report_markdown
from report.samples import HOSTILE, hostile_report, large_report, measure, report, reports

PARSER = MarkdownIt("commonmark").enable("table")
FILES = {"distribution": "charts/a b(1).svg", "per-query": "charts/per-query.svg"}


def tokens(markdown: str) -> list:
    """All tokens, including inline ones."""
    return [inner for token in PARSER.parse(markdown) for inner in (token, *(token.children or ()))]


def kinds(markdown: str) -> list[str]:
    return [token.type for token in tokens(markdown) if token.type not in ("text", "text_special", "inline")]


def shown(markdown: str) -> list[str]:
    """The text of each line as a reader sees it."""
    return ["".join(part.content for part in token.children or ()) for token in tokens(markdown) if token.children]


EXPECTED = kinds(render_report_markdown(hostile_report("plain text"), FILES))
anything = st.text(st.characters(exclude_categories=()), min_size=1, max_size=60).filter(str.strip)


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_texts_are_data(text):
    markdown = render_report_markdown(hostile_report(text), FILES)

    markdown.encode("utf-8")
    assert EXPECTED == kinds(markdown)
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\u2028\u2029\u202e]", markdown)
    assert show_id(text).strip() in shown(markdown)


@given(anything.filter(lambda text: text not in ("plain", "missing", "AP", "-")))
def test_no_text_changes_the_document(text):
    assert EXPECTED == kinds(render_report_markdown(hostile_report(text), FILES))


@given(anything)
def test_plain_text_reads_as_it_is(text):
    [paragraph] = shown(plain(text))

    assert show_id(text, 2000).strip() == paragraph


@given(reports())
def test_any_report_can_be_written_with_all_its_measures(some_report):
    markdown = render_report_markdown(some_report, {})

    markdown.encode("utf-8")
    assert {each.name for each in some_report.measures} <= set(shown(markdown))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nDCG@10", "nDCG@10"),
        ("@user", "\\@user"),
        ("a@example.org", "a\\@example.org"),
        ("http://x.org", "http\\://x.org"),
        ("WWW.x.org", "WWW\\.x.org"),
        ("1. one", "1\\. one"),
        ("0.38", "0.38"),
        ("- item", "\\- item"),
        ("---", "\\---"),
    ],
)
def test_addresses_mentions_and_lists(text, expected):
    assert expected == plain(text)


def test_the_same_content():
    markdown = render_report_markdown(report(), FILES)
    text = "\n".join(shown(markdown))

    assert markdown.startswith(
        "# Evaluation of bm25\n\nnDCG@10 is 0.3812 over 50 queries; 95% interval 0.3412 to 0.4212."
    )
    assert "| nDCG@10 | **0.3812** | 0.3412 to 0.4212 | pass | 0.3812 of 0.3500 (good) | strong from 0.4500" in markdown
    assert "2 of 50 judged queries are missing from run 'bm25' (first: q9, q31)." in text
    assert "Conventions. Ties broken by document id, descending" in text
    assert "Coverage. 50 queries judged, 48 answered, 2 missing" in text
    assert "line 1041, query q7: q7 Q0 D12 4 11.25 bm25" in text
    assert "Fix. Give documents different scores" in text
    assert "15 November 2026, 22:55 UTC" in text
    assert report().run.sha256 in text
    assert "11 queries are at 0." in text


def test_charts_are_shown_where_there_are_files():
    markdown = render_report_markdown(report(), FILES)
    images = [token.attrs["src"] for token in tokens(markdown) if token.type == "image"]

    assert ["charts/a%20b%281%29.svg", "charts/per-query.svg"] == images


def test_the_worst_and_the_best_ten():
    some = large_report()
    markdown = render_report_markdown(some, {})
    order = sorted(some.queries, key=lambda query: some.queries[query][0])

    assert order[:10] + order[:-11:-1] == re.findall(r"^\| (q\d+) \|", markdown, re.MULTILINE)
    assert "The 10 with the lowest nDCG@10, of 6,980:" in markdown


def test_a_few_queries_are_all_there_but_those_without_a_value():
    some = report(queries={"a": (None,), "b": (0.5,), "c": (0.25,)}, measures=(measure("AP", 0.375, undefined=1),))
    markdown = render_report_markdown(some, {})

    assert (
        "All 2 queries, lowest AP first:\n\n| query | AP |\n| --- | ---: |\n| c | 0.2500 |\n| b | 0.5000 |\n"
        in markdown
    )
    assert "AP is undefined for 1 query." in markdown
