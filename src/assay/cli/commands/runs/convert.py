"""assay runs convert."""

from __future__ import annotations

import click

from assay.cli import note
from assay.cli.conversion import STDOUT, conversion_options, finish, target_format
from assay.cli.reading import reading_options
from assay.formats import as_run
from assay.formats.readings import Reading
from assay.formats.streaming import stream_run
from assay.formats.writing import run_as_bytes


@click.command(
    "convert",
    short_help="Convert a run to another format.",
    epilog="Example: assay runs convert bm25.run -o bm25.parquet",
)
@click.argument("run")
@conversion_options
@click.option("--tag", help="Run tag to write instead of the original; TREC files need one.")
@reading_options("run")
def command(run: str, output: str, to: str | None, tag: str | None, spreadsheet: bool, reading: Reading) -> None:
    """Convert a RUN to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Scores keep every digit, so all measures stay the same. A note lists columns that the format cannot store. Ids that it
    cannot store are an error.
    """
    target = target_format((run, reading.queries.source), output, to)
    notes = None if output == STDOUT or spreadsheet else stream_run(run, output, target, reading, tag)
    if notes is not None:
        for text in notes:
            note(text)
        return
    data, left_out = run_as_bytes(as_run(run, reading), target, tag=tag, spreadsheet=spreadsheet)
    finish(data, left_out, output)
