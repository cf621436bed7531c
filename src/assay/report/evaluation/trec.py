"""The table in trec_eval's three columns, with the measure names that the user wrote."""

from __future__ import annotations

import re

from assay.report.evaluation.table import ResultTable, Row, four_decimals

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def render_trec(table: ResultTable) -> str:
    """For each run its queries, if requested, then runid and the values over all queries."""
    by_run: dict[str, list[str]] = {row.run: [] for row in table.rows}
    for row in table.query_rows:
        by_run[row.run] += _lines(row, table)
    for total in table.rows:
        by_run[total.run] += [f"{'runid':<22}\tall\t{one_line(total.run)}", *_lines(total, table)]
    return "".join(f"{line}\n" for lines in by_run.values() for line in lines)


def _lines(row: Row, table: ResultTable) -> list[str]:
    return [
        f"{request.label:<22}\t{one_line(row.query)}\t{four_decimals(value, request)}"
        for request, value in zip(table.requests, row.values, strict=True)
    ]


def one_line(text: str) -> str:
    """An id with control characters escaped to keep it in its column; other bytes are unchanged."""
    return _CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)
