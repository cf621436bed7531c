"""The table as comma- or tab-separated values, in full precision."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from msgspec.structs import replace

from assay.formats.spreadsheets import as_text
from assay.report.evaluation.table import ResultTable, Row


def render_csv(table: ResultTable) -> str:
    """A header, then one row per run, or per query and run."""
    return _render(table, ",")


def render_tsv(table: ResultTable) -> str:
    """The same with tabs."""
    return _render(table, "\t")


def for_spreadsheet(table: ResultTable) -> ResultTable:
    """The table with names that a spreadsheet takes as text."""
    return replace(
        table,
        rows=tuple(map(_named_for_spreadsheet, table.rows)),
        query_rows=tuple(map(_named_for_spreadsheet, table.query_rows)),
    )


def _named_for_spreadsheet(row: Row) -> Row:
    return replace(row, run=as_text(row.run), query=as_text(row.query))


def names_of_rows(table: ResultTable) -> Iterator[str]:
    """Every text of the table."""
    for row in table.all_rows():
        yield from (row.run, row.query)


def _render(table: ResultTable, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["run", "query", *table.labels])
    for row in table.all_rows():
        values = ["" if math.isnan(value) else repr(value) for value in row.values]
        writer.writerow([row.run, row.query, *values])
    return out.getvalue()
