"""assay evaluate."""

from __future__ import annotations

import sys
from typing import Any

import click

from assay.cli import note, write
from assay.cli.bars import LONG, progress_bars
from assay.cli.options import (
    detail_options,
    like_option,
    measure_options,
    output_options,
    rendered,
    rule_options,
    spreadsheet_option,
    threads_option,
    unmatched_option,
    weights_option,
)
from assay.cli.reading import input_options, named_runs, refuse_second_stdin, split_name
from assay.cli.reports import Wishes, findings_of, report_options, status_of_targets
from assay.cli.run_files import runs_argument
from assay.errors import InputError
from assay.evaluation import Evaluator, Unmatched
from assay.formats.readings import Readings
from assay.formats.spreadsheets import DELIMITED, notes_on_formulas, refuse_other_format
from assay.formats.unread import open_run
from assay.progress import telling, told
from assay.report.drawing.terminal import Detail
from assay.report.evaluation import RENDERERS, ROUNDED, tabulate
from assay.report.evaluation.delimited import for_spreadsheet, names_of_rows
from assay.report.evaluation.table import DECIMALS

SECTION = "Measure"


@click.command(
    "evaluate",
    short_help="Score one or more runs against judgments.",
    epilog="Example: assay evaluate qrels.txt bm25.run new=hybrid.run.gz -m nDCG@10 -m AP --per-query",
)
@click.argument("qrels")
@runs_argument()
@measure_options
@click.option("--per-query", is_flag=True, help="Also show the values of each query.")
@click.option(
    "--sort", metavar="MEASURE", help="Order the runs by a measure of the table, highest first.  [default: as given]"
)
@click.option("--top", type=click.IntRange(min=1), metavar="N", help="Show only the first N runs.")
@click.option(
    "--digits",
    type=click.IntRange(0, 17),
    default=DECIMALS,
    show_default=True,
    metavar="N",
    help="Decimals of printed values; json, csv and tsv are always exact, trec has four.",
)
@detail_options(quiet=True)
@output_options(RENDERERS, "Output format; all but csv, tsv and trec include the conventions and the coverage.")
@spreadsheet_option
@like_option
@rule_options
@input_options
@unmatched_option
@threads_option
@weights_option
@report_options
@click.option(
    "--fail-on-target",
    is_flag=True,
    help="Exit with 1 if a run misses one of its --targets, and with 3 if one cannot be checked.",
)
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    sort: str | None,
    top: int | None,
    digits: int,
    detail: Detail,
    output_format: str,
    output: str | None,
    spreadsheet: bool,
    like: str,
    readings: Readings,
    unmatched: Unmatched,
    threads: int | None,
    query_weights: str | None,
    wishes: Wishes,
    fail_on_target: bool,
    rules: dict[str, Any],
) -> None:
    """Evaluate one or more RUNs against the judgments in QRELS.

    Files can be TREC, BEIR, MS MARCO, JSON, JSONL, CSV, TSV, Parquet or Arrow, plain or compressed; - is standard input.
    A run is named after its file; NAME=PATH gives it another name. A folder stands for all runs in it, a pattern such as
    'runs/*.run' for all files that match. --report DIR writes a report that `assay verify DIR` can check later.
    """
    refuse_second_stdin(qrels, (*runs, query_weights or ""))
    if query_weights and output_format == "trec":
        raise InputError("--format trec has no place for weighted means; use json, csv or table.")
    if fail_on_target and wishes.targets is None:
        raise click.UsageError("--fail-on-target has no effect without --targets; add --targets.")
    if spreadsheet:
        refuse_other_format(output_format)
    paths = [path for _, path in map(split_name, runs)]
    experiment = wishes.begin(qrels, paths, readings, query_weights) if wishes else None
    evaluator = Evaluator(
        qrels,
        measures if experiment is None else experiment.measures(measures),
        rules,
        like=like,
        reading=readings.qrels,
        threads=threads,
        unmatched=unmatched,
        query_weights=query_weights,
    )
    opened = named_runs(runs, lambda path, name: open_run(path, readings.run, name=name))
    with progress_bars(after=LONG) as tell:
        watched = told(opened, tell, "Evaluating", len(runs))
        if experiment is None:
            evaluations = [evaluator.evaluate(run, tie_bounds=True) for run in watched]
            readings.refuse_unused()
            targets = {}
        else:
            from assay.report.evaluation.files import evaluation_files

            find = telling(findings_of(experiment), tell, "Validating", len(runs))
            render = telling(evaluation_files, tell, "Writing reports", len(runs))
            outcome = experiment.evaluate(evaluator, watched, render, find=find)
            evaluations, targets = list(outcome.evaluations), outcome.targets
    shown = digits if output_format in ROUNDED else DECIMALS
    table = tabulate(evaluations, per_query=per_query, targets=targets, digits=shown).chosen(sort, top)
    write(rendered(RENDERERS, output_format, for_spreadsheet(table) if spreadsheet else table, detail), output)
    if output_format in DELIMITED and not spreadsheet:
        for text in notes_on_formulas(names_of_rows(table)):
            note(text)
    wishes.say_where(len(runs))
    if fail_on_target:
        sys.exit(status_of_targets(targets))
