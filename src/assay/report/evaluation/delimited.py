"""The table as comma- or tab-separated values, in full precision."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator

from msgspec.structs import replace

from assay.formats.spreadsheets import as_text
from assay.report.evaluation.table import ALL, ResultTable, Row

WEIGHTED = (f"{ALL} low", f"{ALL} high", "weighted", "weighted low", "weighted high")  # in place of a query id


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
        weighted=tuple(replace(row, run=as_text(row.run)) for row in table.weighted),
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
    for row in (*table.all_rows(), *_weighted_rows(table)):
        values = ["" if math.isnan(value) else repr(value) for value in row.values]
        writer.writerow([row.run, row.query, *values])
    return out.getvalue()


def _weighted_rows(table: ResultTable) -> Iterator[Row]:
    """With weights, five more rows for each run: the ends of the interval, and the weighted mean with its own."""
    if not table.weighted:
        return
    nothing = (math.nan, math.nan)
    by_run = {
        total.run: {row.request.label: row for row in table.weighted if row.run == total.run} for total in table.rows
    }
    for run, rows in by_run.items():
        found = {
            label: (*(row.interval or nothing), row.weighted.mean, *(row.weighted.interval or nothing))
            for label, row in rows.items()
        }
        for place, name in enumerate(WEIGHTED):
            values = tuple(found[label][place] if label in found else math.nan for label in table.labels)
            yield Row(run, name, values, (False,) * len(values))
