"""assay qrels convert."""

from __future__ import annotations

from collections.abc import Iterator

import click

from assay.cli.conversion import conversion_options, finish, target_format
from assay.cli.reading import reading_options
from assay.describing import agreement_in_words
from assay.formats import as_qrels
from assay.formats.readings import Reading
from assay.formats.writing import qrels_as_bytes
from assay.judges import Merged, merge_judges
from assay.rules import RULE_CHOICES, Judges


@click.command(
    "convert",
    short_help="Convert judgments to another format.",
    epilog="Example: assay qrels convert esci.csv --grades E=3,S=2,C=1,I=0 -o qrels.txt",
)
@click.argument("qrels")
@conversion_options
@click.option(
    "--judges",
    type=click.Choice(RULE_CHOICES["judges"]),
    help="Write one row per query and document, with this grade of several judgments.  [default: all rows]",
)
@reading_options("qrels")
def command(
    qrels: str, output: str, to: str | None, spreadsheet: bool, judges: Judges | None, reading: Reading
) -> None:
    """Convert QRELS to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Grades keep every digit. A note lists columns that the format cannot store. Ids that it cannot store are an error.
    With --judges, a note says how far the judges agree.
    """
    target = target_format((qrels, reading.queries.source), output, to)
    table = as_qrels(qrels, reading)
    merged = Merged(table, None) if judges is None else merge_judges(table, judges)
    data, left_out = qrels_as_bytes(merged.qrels, target, spreadsheet=spreadsheet)
    finish(data, (*merge_notes(merged), *left_out), output)


def merge_notes(merged: Merged) -> Iterator[str]:
    """How far the judges agreed, and what became of column 2."""
    if merged.agreement is not None:
        yield agreement_in_words(merged.agreement)
    if merged.column_2_differs:
        yield "column 2 (iteration, subtopic or judge) differs between judgments of a document and was left out."
