"""assay conventions."""

from __future__ import annotations

import click

from assay.cli import write
from assay.cli.options import (
    detail_options,
    measure_options,
    output_options,
    rendered,
    repeats_options,
    unmatched_option,
)
from assay.cli.reading import input_options, read_input
from assay.disagreements import compare_conventions
from assay.evaluation import Unmatched
from assay.formats.readings import Readings
from assay.measures.conventions import CONVENTIONS
from assay.report.disagreements import CONVENTION_RENDERERS
from assay.report.drawing.terminal import Detail, terminal_width, wrapped
from assay.rules import Duplicates, Judges

SECTION = "Measure"


@click.command(
    "conventions",
    short_help="Show what other tools would report, and why.",
    epilog="Example: assay conventions qrels.txt run.txt -m nDCG@10 -m MRR@10",
)
@click.argument("qrels", required=False)
@click.argument("run", required=False)
@measure_options
@output_options(CONVENTION_RENDERERS, "How to show the result.")
@detail_options()
@repeats_options
@input_options
@unmatched_option
def command(
    qrels: str | None,
    run: str | None,
    measures: tuple[str, ...],
    output_format: str,
    output: str | None,
    detail: Detail,
    duplicates: Duplicates,
    judges: Judges,
    unmatched: Unmatched,
    readings: Readings,
) -> None:
    """Show what each well-known tool would report for the same files, and why it differs.

    Without files, list the named conventions. `assay evaluate --like NAME` follows one of them.
    """
    if qrels is not None and run is None:
        raise click.UsageError("Missing argument 'RUN'.")
    if qrels is None or run is None:
        width = max(map(len, CONVENTIONS)) + 2
        for convention in CONVENTIONS.values():
            write(wrapped(convention.about, terminal_width(), f"{convention.name:<{width}}"))
        return
    judgments, (table,) = read_input(qrels, (run,), readings)
    rows = compare_conventions(judgments, table, measures, duplicates=duplicates, judges=judges, unmatched=unmatched)
    write(rendered(CONVENTION_RENDERERS, output_format, rows, detail), output)
