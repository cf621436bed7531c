"""The table in trec_eval's three columns, under the names that the user wrote."""

from __future__ import annotations

from assay.report.model import ResultTable, Row, four_decimals


def render_trec(table: ResultTable) -> str:
    """Run after run: its queries, if asked for, then runid and the values over all queries."""
    lines = []
    for total in table.rows:
        for row in table.query_rows:
            if row.run == total.run:
                lines += _lines(row, table)
        lines.append(f"{'runid':<22}\tall\t{total.run}")
        lines += _lines(total, table)
    return "\n".join(lines) + "\n"


def _lines(row: Row, table: ResultTable) -> list[str]:
    return [
        f"{request.label:<22}\t{row.query}\t{four_decimals(value, request)}"
        for request, value in zip(table.requests, row.values, strict=True)
    ]
