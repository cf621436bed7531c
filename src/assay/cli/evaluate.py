"""assay evaluate."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli import write
from assay.errors import InputError
from assay.evaluation import DEFAULT_MEASURES, Evaluator
from assay.formats import INPUT_FORMATS, parse_grades, read_qrels, read_run
from assay.judged import RULE_CHOICES, Rules
from assay.report import RENDERERS, tabulate
from assay.tables import Run

_RULE_HELP = {
    "order": "What documents are ranked by: their scores, or the file's rank column (as MS MARCO does).",
    "ties": "Order of documents with equal scores; expected averages each measure over all orders.",
    "scores": "Precision of scores; float32 makes the false ties of trec_eval 9.",
    "queries": "Queries that the mean is over; strict refuses a run that lacks one.",
    "duplicates": "What to do when a document stands twice in a query.",
    "self_match": "Whether a document with the query's own id counts (BEIR drops it).",
    "undefined": "Value of a query without relevant documents; nan leaves it out of the mean.",
}


def rule_options(command: Any) -> Any:
    """One option for each rule, made from the rules themselves."""
    command = click.option("--depth", type=click.IntRange(min=0), help="Only the first documents of each query.")(
        command
    )
    for name, choices in reversed(RULE_CHOICES.items()):
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=click.Choice(choices),
            default=getattr(Rules(), name),
            show_default=True,
            help=_RULE_HELP[name],
        )
        command = option(command)
    return command


@click.command(
    "evaluate",
    epilog="Example: assay evaluate qrels.txt bm25.run new=hybrid.run.gz -m nDCG@10 -m AP --per-query",
)
@click.argument("qrels")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help=f"Measure to compute; may be repeated. Default: {' '.join(DEFAULT_MEASURES)}. See `assay measures list`.",
)
@click.option("--per-query", is_flag=True, help="Also show each query.")
@click.option(
    "--format",
    "output_format",
    type=click.Choice(list(RENDERERS)),
    default="table",
    show_default=True,
    help="How to show the result; all but csv, tsv and trec also say the conventions and the coverage.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of the terminal.")
@click.option(
    "--input-format",
    type=click.Choice(["auto", *INPUT_FORMATS]),
    default="auto",
    show_default=True,
    help="Format of QRELS and RUNs; auto recognises it from the content.",
)
@click.option("--qrels-format", type=click.Choice(list(INPUT_FORMATS)), help="Format of QRELS alone.")
@click.option("--run-format", type=click.Choice(list(INPUT_FORMATS)), help="Format of the RUNs alone.")
@click.option("--grades", help="Letters as grades, such as E=3,S=2,C=1,I=0.")
@rule_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    output_format: str,
    output: str | None,
    input_format: str,
    qrels_format: str | None,
    run_format: str | None,
    grades: str | None,
    **rules: Any,
) -> None:
    """Evaluate one or more RUNs against the judgments in QRELS.

    Files may be TREC, BEIR, MS MARCO, JSON, JSONL, CSV, TSV, Parquet or Arrow, plain or compressed; - is standard input.
    A run is called by its file's name, or by NAME in NAME=PATH.
    """
    if [qrels, *(path for _, path in map(_split, runs))].count("-") > 1:
        raise InputError("standard input (-) can be read once only; give the other files by name.")
    evaluator = Evaluator(
        read_qrels(qrels, input_format=qrels_format or input_format, grades=parse_grades(grades) if grades else None),
        measures or DEFAULT_MEASURES,
        Rules(**rules),
    )
    evaluations = [evaluator.evaluate(run) for run in _named_runs(runs, run_format or input_format)]
    write(RENDERERS[output_format](tabulate(evaluations, per_query=per_query)), output)


def _named_runs(arguments: tuple[str, ...], input_format: str) -> Any:
    """The runs one after the other, each under its own name."""
    named = [_split(argument) for argument in arguments]
    seen: dict[str, str] = {}
    for name, path in named:
        run: Run = read_run(path, input_format=input_format, name=name)
        if run.name in seen:
            raise InputError(
                f"two runs are called {run.name!r} ({seen[run.name]} and {path}); name them apart: a={seen[run.name]} b={path}"
            )
        seen[run.name] = path
        yield run


def _split(argument: str) -> tuple[str | None, str]:
    name, equals, path = argument.partition("=")
    if not equals or not name or not path or Path(argument).exists():
        return None, argument
    return name, path
