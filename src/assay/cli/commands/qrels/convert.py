"""assay qrels convert."""

from __future__ import annotations

import click

from assay.cli.conversion import conversion_options, finish, target_format
from assay.cli.reading import reading_options
from assay.formats import as_qrels
from assay.formats.readings import Reading
from assay.formats.writing import qrels_as_bytes


@click.command(
    "convert",
    short_help="Convert judgments to another format.",
    epilog="Example: assay qrels convert esci.csv --grades E=3,S=2,C=1,I=0 -o qrels.txt",
)
@click.argument("qrels")
@conversion_options
@reading_options("qrels")
def command(qrels: str, output: str, to: str | None, reading: Reading) -> None:
    """Convert QRELS to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Grades keep every digit. A note lists columns that the format cannot store. Ids that it cannot store are an error.
    """
    target = target_format((qrels, reading.queries.source), output, to)
    data, left_out = qrels_as_bytes(as_qrels(qrels, reading), target)
    finish(data, left_out, output)
