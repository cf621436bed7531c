"""A fetch in a few lines for the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from assay.errors import show_id
from assay.records.fetching import FetchReport
from assay.words import number_of

_SHOWN = 5  # failed queries that are named


def fetch_lines(report: FetchReport, documents: int) -> Iterator[str]:
    """The outcome first, then times, then what to do about failures."""
    name = show_id(report.run.path, 200)
    if report.complete:
        empty = f", {number_of(len(report.empty), 'query')} without documents" if report.empty else ""
        yield f"{name}: {number_of(report.answered, 'query')} answered, {number_of(documents, 'document')}{empty}."
    else:
        failed = number_of(len(report.failed), "query")
        yield f"{name}: incomplete: {failed} of {report.asked:,} failed, and their documents are missing from it."
        for query, reason in list(report.failed.items())[:_SHOWN]:
            yield f"  {show_id(query)}: {show_id(reason, 300)}"
        if len(report.failed) > _SHOWN:
            yield f"  ... and {len(report.failed) - _SHOWN:,} more, in the report"
    yield from _times(report)
    yield from report.notes
    if not report.complete:
        yield "Run the same command again to ask for these queries only: the answers so far are kept."


def _times(report: FetchReport) -> Iterator[str]:
    if report.latency is None:
        return
    times = report.latency
    failed = sum(report.problems.values())
    about = [
        *([f"{report.concurrency} at a time"] if report.concurrency > 1 else []),
        *([f"{number_of(failed, 'failure')} on the way"] if failed else []),
        *([f"{number_of(report.kept, 'answer')} kept from before"] if report.kept else []),
    ]
    yield (
        f"Milliseconds per answer: median {times.p50:.4g}, p95 {times.p95:.4g}, p99 {times.p99:.4g}, longest "
        f"{times.longest:.4g}{_in_brackets(about)}."
    )


def _in_brackets(parts: list[str]) -> str:
    return f" ({', '.join(parts)})" if parts else ""
