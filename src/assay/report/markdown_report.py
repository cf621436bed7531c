r"""A report as Markdown, for issues, pull requests and READMEs: what the HTML page says, with the worst and best queries.

Every text is shown as `show_id` shows it and then escaped, so that it is text wherever it stands: no emphasis, no link,
no list, no cell of its own. Bare addresses and mentions, of which GitHub makes links, are broken by a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from urllib.parse import quote

from assay.errors import show_id
from assay.records.model import EvaluationReport, FindingRecord
from assay.report.charts import charts_of
from assay.report.markdown import escape
from assay.report.sheet import Facts, Sheet, count_of, lowest_first, main_measure, sheet_of, show_value, where

EXTREMES = 10  # queries at each end
_LONGEST = 2000  # characters of any text
_ADDRESS = re.compile(
    r":(?=//)|(?<=www)\.|(?<!\w)@|@(?!\d+\b)", re.IGNORECASE
)  # what makes a link or a mention; not P@5
_START = re.compile(r"^([-+=]|\d+(?=[.)](\s|$)))")  # what begins a list or is a line across


def render_report_markdown(report: EvaluationReport, chart_files: Mapping[str, str]) -> str:
    """The report as one Markdown text; `chart_files` says where the drawing of each chart lies, as a relative path."""
    sheet = sheet_of(report)
    parts = [
        *_head(report, sheet),
        *_measures(sheet),
        "## Conditions",
        f"**Conventions.** {plain(sheet.conventions)}",
        f"**Coverage.** {plain(report.coverage_words)}",
        *_findings(sheet),
        *_charts(report, chart_files),
        *_queries(report),
        "## Identity",
        *(part for title, facts in sheet.identity for part in (f"### {title}", _fact_table(facts))),
        "### Experiment",
        _fact_table(sheet.experiment),
    ]
    return "\n\n".join(parts) + "\n"


def plain(text: str, limit: int = _LONGEST) -> str:
    r"""Text that Markdown, and GitHub's Markdown, show as it is.

    >>> print(plain("1. www.example.org | @user"))
    1\. www\.example.org \| \@user
    """
    shown = escape(show_id(text, limit).strip())
    return _START.sub(_escaped_start, _ADDRESS.sub(r"\\\g<0>", shown))


def _escaped_start(found: re.Match[str]) -> str:
    return f"{found[0]}\\" if found[0].isdigit() else f"\\{found[0]}"


def _head(report: EvaluationReport, sheet: Sheet) -> Iterator[str]:
    yield f"# Evaluation of {plain(sheet.run)}"
    yield plain(sheet.lede)
    facts = ["**Complete**" if report.complete else "**Not complete**"]
    if sheet.status:
        facts.append(f"**{sheet.status}**: {plain(sheet.targets) or 'targets'}")
    facts += [f"Judgments: {plain(sheet.qrels)}", plain(sheet.created), sheet.seconds]
    yield " · ".join(facts)
    if not report.complete:
        yield "What stands in the way of trusting these figures:"
        yield _bullets(plain(reason) for reason in sheet.incomplete_because)


def _measures(sheet: Sheet) -> Iterator[str]:
    yield "## Measures"
    targets = ["status", "target"] if sheet.targets else []
    head = ["measure", "mean", sheet.interval_name, *targets, "notes"]
    rows = [
        [
            plain(row.name),
            f"**{row.mean}**",
            row.interval,
            *([row.status, plain(row.target)] if sheet.targets else []),
            plain("; ".join(part for part in (row.levels, *row.notes) if part)),
        ]
        for row in sheet.measures
    ]
    yield _table(head, rows, numbers=(1, 2))


def _findings(sheet: Sheet) -> Iterator[str]:
    yield "## Findings"
    if not sheet.findings:
        yield "None."
    for group in sheet.findings:
        yield f"### {group.title}"
        for finding in group.findings:
            yield from _finding(finding)


def _finding(finding: FindingRecord) -> Iterator[str]:
    times = f" ({finding.count:,} times)" if finding.count > 1 else ""
    yield f"**{plain(finding.title)}** {plain(finding.code)}{times}: {plain(finding.message)}"
    yield f"In {plain(where(finding))}"
    if finding.examples:
        yield _bullets(_example(example.text, example.line, example.query) for example in finding.examples)
    if finding.fix:
        yield f"**Fix.** {plain(finding.fix)}"


def _example(text: str, line: int | None, query: str | None) -> str:
    place = [f"line {line}"] if line is not None else []
    place += [f"query {plain(query, 60)}"] if query is not None else []
    return ", ".join(place) + (": " if place else "") + plain(text)


def _charts(report: EvaluationReport, chart_files: Mapping[str, str]) -> Iterator[str]:
    charts = charts_of(report)
    if charts:
        yield "## Charts"
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
        yield f"All {count_of(len(defined), 'query')}, lowest {name} first:"
        yield _query_table(report, defined)
    else:
        yield f"The {EXTREMES} with the lowest {name}, of {len(defined):,}:"
        yield _query_table(report, defined[:EXTREMES])
        yield f"The {EXTREMES} with the highest:"
        yield _query_table(report, defined[: -EXTREMES - 1 : -1])
    if len(defined) < len(order):
        yield f"For {count_of(len(order) - len(defined), 'query')} {name} is not defined."


def _query_table(report: EvaluationReport, queries: Sequence[str]) -> str:
    head = ["query", *(plain(show_id(measure.name)) for measure in report.measures)]
    rows = [
        [plain(query, 60), *(show_value(v, m) for v, m in zip(report.queries[query], report.measures, strict=True))]
        for query in queries
    ]
    return _table(head, rows, numbers=range(1, len(head)))


def _fact_table(facts: Facts) -> str:
    return _table(["", ""], [[plain(name), plain(value)] for name, value in facts])


def _bullets(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)


def _table(head: Sequence[str], rows: Iterable[Sequence[str]], numbers: Iterable[int] = ()) -> str:
    aligned = set(numbers)
    rule = ["---:" if at in aligned else "---" for at in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
