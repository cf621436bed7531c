"""The table as comma- or tab-separated values, in full precision."""

from __future__ import annotations

import csv
import io
import math

from assay.report.evaluation.table import ResultTable


def render_csv(table: ResultTable) -> str:
    """A header, then one row per run, or per query and run."""
    return _render(table, ",")


def render_tsv(table: ResultTable) -> str:
    """The same with tabs."""
    return _render(table, "\t")


def _render(table: ResultTable, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["run", "query", *table.labels])
    for row in table.all_rows():
        values = ["" if math.isnan(value) else repr(value) for value in row.values]
        writer.writerow([row.run, row.query, *values])
    return out.getvalue()
