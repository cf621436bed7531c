r"""A report as Markdown, for issues, pull requests and READMEs: the HTML page, but only the worst and best queries.

Every text goes through `show_id` and is then escaped, so it never becomes emphasis, a link, a list or a table cell. A
backslash breaks bare addresses and mentions, which GitHub would turn into links.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import quote

from assay.errors import show_id
from assay.records.model import EvaluationReport, FindingRecord
from assay.report.drawing.markdown import bullets, plain, table
from assay.report.drawing.words import Facts, where
from assay.report.evaluation.charts import charts_of
from assay.report.evaluation.sheet import EvaluationSheet, lowest_first, main_measure, sheet_of, show_value
from assay.words import number_of

EXTREMES = 10  # queries at each end


def render_report_markdown(report: EvaluationReport, chart_files: Mapping[str, str], not_drawn: str = "") -> str:
    """The report as one Markdown text.

    `chart_files` gives the relative path of each chart's SVG, `not_drawn` the reason why some have none.
    """
    sheet = sheet_of(report)
    parts = [
        *_head(report, sheet),
        *_measures(sheet),
        "## Conditions",
        f"**Conventions.** {plain(sheet.conventions)}",
        f"**Coverage.** {plain(report.coverage_words)}",
        *_findings(sheet),
        *_charts(report, chart_files, not_drawn),
        *_queries(report),
        "## Provenance",
        *(part for title, facts in sheet.identity for part in (f"### {title}", _fact_table(facts))),
        "### Experiment",
        _fact_table(sheet.experiment),
    ]
    return "\n\n".join(parts) + "\n"


def _head(report: EvaluationReport, sheet: EvaluationSheet) -> Iterator[str]:
    yield f"# Evaluation of {plain(sheet.run)}"
    yield plain(sheet.lede)
    facts = ["**Complete**" if report.complete else "**Incomplete**"]
    if sheet.status:
        facts.append(f"**{sheet.status}**: {plain(sheet.targets) or 'targets'}")
    facts += [f"Judgments: {plain(sheet.qrels)}", plain(sheet.created), *filter(None, [sheet.seconds])]
    yield " · ".join(facts)
    if not report.complete:
        yield "Why these figures may be unreliable:"
        yield bullets(plain(reason) for reason in sheet.incomplete_because)


def _measures(sheet: EvaluationSheet) -> Iterator[str]:
    yield "## Measures"
    targets = ["status", "target"] if sheet.targets else []
    weighted = ["weighted", sheet.interval_name] if sheet.weights else []
    head = ["measure", "mean", sheet.interval_name, *weighted, *targets, "notes"]
    rows = [
        [
            plain(row.name),
            f"**{row.mean}**",
            row.interval,
            *([f"**{row.weighted}**", row.weighted_interval] if sheet.weights else []),
            *([row.status, plain(row.target)] if sheet.targets else []),
            plain("; ".join(part for part in (row.levels, *row.notes) if part)),
        ]
        for row in sheet.measures
    ]
    yield table(head, rows, numbers=range(1, 3 + len(weighted)))
    yield from map(plain, sheet.weights)


def _findings(sheet: EvaluationSheet) -> Iterator[str]:
    yield "## Findings"
    if not sheet.findings:
        yield sheet.no_findings
    for group in sheet.findings:
        yield f"### {group.title}"
        for finding in group.findings:
            yield from _finding(finding)


def _finding(finding: FindingRecord) -> Iterator[str]:
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    yield f"**{plain(finding.title)}** {plain(finding.code)}{times}: {plain(finding.message)}"
    yield f"In {plain(where(finding))}"
    if finding.examples:
        yield bullets(_example(example.text, example.line, example.query) for example in finding.examples)
    if finding.fix:
        yield f"**Fix.** {plain(finding.fix)}"


def _example(text: str, line: int | None, query: str | None) -> str:
    place = [f"line {line}"] if line is not None else []
    place += [f"query {plain(query, 60)}"] if query is not None else []
    return ", ".join(place) + (": " if place else "") + plain(text)


def _charts(report: EvaluationReport, chart_files: Mapping[str, str], not_drawn: str) -> Iterator[str]:
    charts = charts_of(report)
    if charts:
        yield "## Charts"
    if charts and not_drawn:
        yield f"Charts are shown as text: {plain(not_drawn)}"
    for chart in charts:
        yield f"### {plain(chart.title)}"
        if chart.name in chart_files:
            yield f"![{plain(chart.title)}]({quote(chart_files[chart.name])})"
        yield plain(chart.words)


def _queries(report: EvaluationReport) -> Iterator[str]:
    yield "## Queries"
    at = main_measure(report)
    if at is None:
        yield "No query has a value."
        return
    name = plain(show_id(report.measures[at].name))
    order = lowest_first(report, at)
    defined = [query for query in order if report.queries[query][at] is not None]
    if len(defined) <= 2 * EXTREMES:
        yield f"All {number_of(len(defined), 'query')}, lowest {name} first:"
        yield _query_table(report, defined)
    else:
        yield f"The {EXTREMES} with the lowest {name}, of {len(defined):,}:"
        yield _query_table(report, defined[:EXTREMES])
        yield f"The {EXTREMES} with the highest:"
        yield _query_table(report, defined[: -EXTREMES - 1 : -1])
    if len(defined) < len(order):
        yield f"{name} is undefined for {number_of(len(order) - len(defined), 'query')}."


def _query_table(report: EvaluationReport, queries: Sequence[str]) -> str:
    head = ["query", *(plain(show_id(measure.name)) for measure in report.measures)]
    rows = [
        [plain(query, 60), *(show_value(v, m) for v, m in zip(report.queries[query], report.measures, strict=True))]
        for query in queries
    ]
    return table(head, rows, numbers=range(1, len(head)))


def _fact_table(facts: Facts) -> str:
    return table(["", ""], [[plain(name), plain(value)] for name, value in facts])
