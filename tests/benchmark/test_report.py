"""Benchmark reports on the terminal, in Markdown and in HTML; with hostile names."""

from __future__ import annotations

import json

import msgspec
import pytest
from msgspec.structs import replace

from assay.records.benchmark import (
    BenchmarkReport,
    BestMode,
    Choice,
    CollectionRecord,
    ComparisonRecord,
    LatencyChoice,
    MissingMode,
    ModeResult,
    ModeTiming,
    PairRecord,
    SegmentChoice,
)
from assay.records.model import Digest, FindingRecord, TargetResult
from assay.report.benchmark import RENDERERS
from assay.report.benchmark.charts import charts_of
from assay.report.benchmark.documents import render_markdown
from assay.report.benchmark.files import benchmark_files
from assay.report.benchmark.page import render_html
from assay.report.benchmark.text import render_text
from assay.report.benchmark.words import benchmark_table, choices, segment_in_words
from docs.blocks import DOCS
from docs.schema import problems
from report.pages import Page

SHA = "ab" * 32
HOSTILE = "<script>alert(1)</script>|[red]x[/red] \x1b[31m"


def mode(name, kind, ndcg, hit, **settings) -> ModeResult:
    return ModeResult(
        name=name,
        kind=kind,
        settings={"engine": kind, **settings},
        metrics={"nDCG@10": ndcg, "HitRate@10": hit},
        intervals={"nDCG@10": (ndcg - 0.05, ndcg + 0.05), "HitRate@10": None},
        queries=50,
        documents=5000,
        run=Digest(path=f"runs/{name}.run", sha256=SHA, size=1234),
        report=f"evaluations/{name}",
        complete=True,
    )


def pair(measure, system, difference, verdict) -> PairRecord:
    return PairRecord(
        measure=measure,
        baseline="lexical",
        system=system,
        baseline_mean=0.32,
        system_mean=0.32 + difference,
        difference=difference,
        interval=(difference - 0.02, difference + 0.02),
        p=0.001,
        p_corrected=0.004,
        effect_size=0.5,
        wins=30,
        ties=5,
        losses=15,
        queries=50,
        verdict=verdict,
    )


def timing(milliseconds) -> ModeTiming:
    return ModeTiming(
        milliseconds=milliseconds,
        p95=2 * milliseconds,
        passes=(milliseconds,) * 3,
        own=milliseconds,
        queries=50,
        index_seconds=1.0,
        search_seconds=2.0,
    )


def report(**changes) -> BenchmarkReport:
    """Three modes; hybrid is best by one measure and ties for first by the other."""
    whole = BenchmarkReport(
        experiment="20260101T000000Z-abcdef12",
        created="2026-01-01T00:00:00Z",
        collection=CollectionRecord(
            name="kitchen",
            split="test",
            documents=1400,
            queries=50,
            judged=50,
            judgments=900,
            files=(Digest(path="kitchen/corpus.jsonl", sha256=SHA, size=99),),
        ),
        measures=("nDCG@10", "HitRate@10"),
        best={"nDCG@10": ("hybrid",), "HitRate@10": ("vector", "hybrid")},
        depth=1000,
        modes=(
            mode("lexical", "lexical", 0.32, 0.73, k1=1.2),
            mode("vector", "vector", 0.28, 0.81, digest=SHA),
            mode("hybrid", "hybrid", 0.38, 0.81, modes=["lexical", "vector"]),
        ),
        missing=(),
        comparison=ComparisonRecord(
            baseline="lexical",
            test="t",
            correction="holm",
            alpha=0.05,
            comparisons=4,
            seed=1,
            pairs=(
                pair("nDCG@10", "vector", -0.04, "worse"),
                pair("nDCG@10", "hybrid", 0.06, "better"),
                pair("HitRate@10", "vector", 0.08, "no significant difference"),
                pair("HitRate@10", "hybrid", 0.08, "better"),
            ),
            notes=(),
        ),
        choice=Choice(
            measure="nDCG@10",
            overall=BestMode(
                mode="hybrid", value=0.38, not_worse=(), measures_won={"hybrid": 2}, words="hybrid it is."
            ),
            segments=(
                SegmentChoice(
                    segmentation="query length",
                    segment="1 to 3",
                    queries=30,
                    means={"lexical": 0.5, "vector": 0.2, "hybrid": 0.4},
                    best=("lexical",),
                    few=False,
                ),
            ),
        ),
        timing={"lexical": timing(0.5), "vector": timing(12.0), "hybrid": timing(13.5)},
        targets=None,
        conventions="Conventions: as usual.",
        findings=(),
        notes=("lexical: take care.",),
    )
    return replace(whole, **changes)


def renamed(name: str) -> BenchmarkReport:
    """The report with this name in every place that has a name."""
    whole = report()
    text = json.dumps(name)[1:-1]
    data = msgspec.json.encode(whole).decode()
    for old in ("kitchen", "nDCG@10", "query length", "1 to 3", "take care", "corpus.jsonl"):
        data = data.replace(old, text)
    found = msgspec.json.decode(data, type=BenchmarkReport)
    finding = FindingRecord(code="COL001", severity="warning", title=name, message=name, fix=name, file=name)
    missing = MissingMode(name="vector", kind="vector", reason=name, remedy=name)
    return replace(found, findings=(finding,), missing=(missing,))


def test_measures_go_down_and_modes_across():
    table = benchmark_table(report())

    assert ("lexical", "vector", "hybrid") == table.modes
    assert ["nDCG@10", "HitRate@10"] == [row.name for row in table.rows]
    assert ["0.3200", "0.2800", "0.3800"] == [cell.value for cell in table.rows[0].cells]
    assert [False, True, True] == [cell.best for cell in table.rows[1].cells]
    assert ["", "▼", "▲"] == [cell.mark for cell in table.rows[0].cells]
    assert ["hybrid", "vector, hybrid"] == [row.best for row in table.rows]
    assert [
        ("ms per query", ["0.50", "12.0", "13.5"], "lexical"),
        ("ms, 95th percentile", ["1.00", "24.0", "27.0"], "lexical"),
    ] == [(row.name, [cell.value for cell in row.cells], row.best) for row in table.times]


def test_no_mode_is_named_as_the_fastest_if_passes_overlap():
    """The second pass of vector was faster than the first of lexical, so their difference may be noise."""
    times = {"lexical": (0.4, 0.6, 0.5), "vector": (0.7, 0.6, 0.8), "hybrid": (0.9, 0.9, 0.7)}
    timed = {name: replace(timing(sorted(passes)[1]), passes=passes) for name, passes in times.items()}

    assert ["–", "lexical"] == [row.best for row in benchmark_table(report(timing=timed)).times]
    slower = {**timed, "vector": replace(timed["vector"], passes=(0.7, 0.7, 0.8))}
    assert ["lexical", "lexical"] == [row.best for row in benchmark_table(report(timing=slower)).times]
    without = {**slower, "lexical": replace(timed["lexical"], unknown=("theirs",))}
    assert ["–", "vector"] == [row.best for row in benchmark_table(report(timing=without)).times]


def test_the_terminal_shows_the_table_the_choice_and_what_marks_mean():
    lines = render_text(report()).splitlines()

    assert "Benchmark of kitchen (test): 1,400 documents, 50 queries, 3 modes" == lines[0]
    assert ["measure", "lexical", "vector", "hybrid", "best", "mode"] == lines[2].split()
    assert ["nDCG@10", "0.3200", "0.2800", "▼", "0.3800", "▲", "hybrid"] == lines[4].split()
    assert ["ms", "per", "query", "0.50", "12.0", "13.5", "lexical"] == lines[7].split()
    text = " ".join(" ".join(lines).split())
    assert "Best overall: hybrid it is." in text
    assert (
        "▲ ▼ significantly better or worse than lexical (t test, Holm correction over 4 comparisons by the first measure, alpha 0.05)"
        in text
    )
    assert (
        "Another mode leads in some segments (not tested for significance): lexical where queries have 1 to 3 words"
        in text
    )


@pytest.mark.parametrize(
    ("segmentation", "segment", "words"),
    [
        ("query length", "1 to 7", "queries have 1 to 7 words (30 queries)"),
        ("query length", "1", "queries have 1 word (30 queries)"),
        ("relevant documents", "1 to 2", "queries have 1 to 2 relevant documents (30 queries)"),
        ("relevant documents", "1", "queries have 1 relevant document (30 queries)"),
        ("intent", "buy", "intent is buy (30 queries)"),
    ],
)
def test_kinds_of_query_are_told_in_plain_words(segmentation, segment, words):
    (example,) = report().choice.segments

    assert words == segment_in_words(replace(example, segmentation=segmentation, segment=segment))


def test_no_mode_is_said_to_be_ahead_on_segments_that_ask_for_caution():
    (example,) = report().choice.segments
    told = report(choice=replace(report().choice, segments=(replace(example, caution="It is partly luck."),)))

    assert [] == [line for line in choices(told) if "Another mode leads" in line]
    assert "| query length | 1 to 3 | 30 |" in render_markdown(told)


def test_a_limit_and_modes_that_did_not_run_are_told():
    latency = LatencyChoice(limit=5, mode="lexical", too_slow=("vector",), words="Within 5 ms lexical.")
    missing = MissingMode(name="dense", kind="vector", reason="no model.", remedy="Get it.")
    told = report(choice=replace(report().choice, latency=latency), missing=(missing,))

    assert "Within 5 ms lexical." in list(choices(told))
    for render in (render_text, render_markdown, RENDERERS["markdown"]):
        assert "dense has no results: no model. Get it." in render(told).replace("\\", "")


def test_of_equal_modes_the_fastest_is_named_and_the_table_says_that_they_are_equal():
    lexical, vector, hybrid = report().modes
    same = replace(hybrid, metrics=vector.metrics)
    overall = BestMode(
        mode="vector", value=0.28, not_worse=("hybrid",), measures_won={}, equal=("hybrid",), words="they are equal."
    )
    equal = report(modes=(vector, same), best={}, choice=replace(report().choice, overall=overall))

    assert "Best overall: they are equal. vector is faster: 12.0 ms per query." == next(choices(equal))
    assert ["all equal", "all equal"] == [row.best for row in benchmark_table(equal).rows]
    assert "Best overall: they are equal." == next(choices(replace(equal, timing={})))
    three = replace(
        equal,
        modes=(lexical, vector, same),
        choice=replace(equal.choice, overall=replace(overall, equal=("hybrid", "lexical"))),
    )
    assert "Best overall: they are equal. lexical is the fastest: 0.50 ms per query." == next(choices(three))
    assert [] == [line for line in choices(three) if "Another mode leads" in line]


@pytest.mark.parametrize("change", [{"passes": (12.0,)}, {"once": True}])
def test_a_time_that_was_measured_once_does_not_show_which_mode_is_faster(change):
    _, vector, hybrid = report().modes
    overall = BestMode(
        mode="vector", value=0.28, not_worse=("hybrid",), measures_won={}, equal=("hybrid",), words="they are equal."
    )
    timed = {**report().timing, "vector": replace(report().timing["vector"], **change)}
    told = report(modes=(vector, hybrid), timing=timed, choice=replace(report().choice, overall=overall))

    assert (
        "Best overall: they are equal. vector took the least time, 12.0 ms per query, but not all were timed twice, so "
        "this may be noise."
    ) == next(choices(told))


def aimed(mode, status, **targets):
    """The mode with a status, and targets by measure: their status and words."""
    results = {name: TargetResult(status=each, goal=0.35, words=words) for name, (each, words) in targets.items()}
    return replace(mode, status=status, targets=results)


def test_targets_are_told_mode_by_mode_with_what_was_missed():
    lexical, vector, hybrid = report().modes
    short, near = ("fail", "0.2800 of 0.3500 (good): 0.0700 short"), ("warn", "0.3200 of 0.3500 (good): 0.0300 short")
    reached = ("pass", "0.3800 of 0.3500 (good)")
    told = report(
        targets="web",
        modes=(
            aimed(lexical, "unknown"),
            aimed(vector, "fail", AP=near, RR=short, R=reached),
            aimed(hybrid, "pass", AP=reached, RR=reached),
        ),
    )
    lines = [
        "Targets (web): lexical unknown: no targets, because all uplifts are relative to it.",
        "Targets (web): vector fail: RR fail, 0.2800 of 0.3500 (good): 0.0700 short; AP warn, 0.3200 of 0.3500 (good): 0.0300 short.",
        "Targets (web): hybrid pass: 2 of 2 targets.",
    ]

    for render in (render_text, render_markdown, RENDERERS["markdown"]):
        text = " ".join(render(told).replace("\\", "").split())
        assert [] == [line for line in lines if line not in text]
        assert "Targets" not in render(report())


def test_markdown_has_the_table_of_the_terminal_with_the_best_in_bold():
    text = render_markdown(report())

    assert "| measure | lexical | vector | hybrid | best mode |\n| --- | ---: | ---: | ---: | --- |\n" in text
    assert "| nDCG@10 | 0.3200 | 0.2800 ▼ | **0.3800** ▲ | hybrid |" in text
    assert "[report](evaluations/hybrid/EvaluationReport.md)" in text
    assert "| nDCG@10 | hybrid | +0.0600 | +0.0400 to +0.0800 | 0.0040 | 30/5/15 | better |" in text


def test_json_is_the_record_and_valid():
    schema = json.loads((DOCS / "schemas" / "benchmark-1.json").read_text(encoding="utf-8"))
    value = json.loads(RENDERERS["json"](report()))

    assert [] == list(problems(value, schema))
    assert {"nDCG@10": 0.32, "HitRate@10": 0.73} == value["modes"][0]["metrics"]


def test_one_mode_has_no_comparison_and_nothing_in_bold():
    alone = report(modes=report().modes[:1], best={"nDCG@10": ("lexical",), "HitRate@10": ()}, comparison=None)

    assert "▲" not in render_text(alone)
    assert "**0.3200**" not in render_markdown(alone)
    assert "Differences from" not in render_html(alone)


def test_values_that_are_not_there_are_shown_as_such():
    none = replace(report().modes[0], metrics={"nDCG@10": None, "HitRate@10": None})
    choice = Choice(measure="nDCG@10", overall=None)
    without = report(modes=(none, *report().modes[1:]), timing={}, choice=choice)

    for text in (render_text(without), render_markdown(without), render_html(without)):
        assert "–" in text
        assert "No best mode by nDCG@10" in text


def test_charts_have_words_and_data():
    charts = {chart.name: chart for chart in charts_of(report())}

    assert ["means", "differences", "quality-and-time"] == list(charts)
    assert "nDCG@10: lexical 0.3200, vector 0.2800, hybrid 0.3800." in charts["means"].words
    assert "3 of 4 differences from lexical are significant after correction." in charts["differences"].words
    assert 3 == len(charts["quality-and-time"].spec["data"]["values"])


def test_charts_are_drawn():
    pytest.importorskip("vl_convert")

    assert 3 == render_html(report()).count("<svg")


def test_the_page_is_one_file_that_asks_nothing_of_the_network():
    page = Page(render_html(report()))

    assert [] == page.values_of("src")
    assert {"#", "e", "r"} == {link[0] for link in page.values_of("href")}  # parts, evaluations/..., runs/...
    assert any("default-src 'none'" in value for value in page.values_of("content"))
    assert [("script",)] == [tag for tag in page.tags if tag[0] == "script"]


@pytest.mark.parametrize("name", [HOSTILE, "a\u202eb", "é" * 500, "`x` *y* _z_ [a](b)"])
def test_names_are_data_everywhere(name):
    hostile = renamed(name)
    plain = Page(render_html(report()))
    files = benchmark_files(hostile)
    page = Page(files["BenchmarkReport.html"])

    assert 1 == [tag[0] for tag in page.tags].count("script")
    of_findings = {"article", "code", "h4", "/article", "/code", "/h4", "/strong"}
    assert {tag[0] for tag in page.tags} <= {tag[0] for tag in plain.tags} | of_findings
    for text in (render_text(hostile), files["BenchmarkComparison.md"], files["BenchmarkReport.html"]):
        assert "\x1b[31m" not in text
        assert "\u202e" not in text
    assert "<script>" not in files["BenchmarkComparison.md"].replace("\\<", "")
    assert "[a](b)" not in files["BenchmarkComparison.md"]


def test_the_page_writes_its_date_as_reports_do():
    assert "1 January 2026, 00:00 UTC" in render_html(report())
