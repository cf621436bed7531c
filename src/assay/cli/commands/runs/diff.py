"""assay runs diff."""

from __future__ import annotations

from typing import get_args

import click

from assay.cli import write
from assay.cli.options import (
    detail_options,
    output_options,
    refuse_page_on_terminal,
    rendered,
    threads_option,
    unmatched_option,
)
from assay.cli.reading import input_options, split_name
from assay.comparison.agreement import PERSISTENCE
from assay.comparison.diffing import CUTOFFS, MEASURES, DiffSettings, diff_opened
from assay.comparison.intervals import DRAWS
from assay.comparison.pairs import IntervalKind
from assay.errors import InputError, show_id
from assay.evaluation import Evaluator, Unmatched
from assay.formats.readings import Reading, Readings
from assay.formats.unread import open_run
from assay.heads import DEEPEST
from assay.marking import OpenedRun
from assay.report.difference import RENDERERS
from assay.report.drawing.terminal import Detail

WORST, FEW = 5, 3  # changed queries shown in full, and in the terminal
EXAMPLES = """Example: assay runs diff before.run after.run

Example: assay runs diff old/bm25.run new/bm25.run -k 10,100 --qrels qrels.txt --format html -o diff.html

Example: assay runs diff hnsw-32.run hnsw-16.run --exact exact.run"""


def _cutoffs(context: click.Context, option: click.Parameter, texts: tuple[str, ...]) -> tuple[int, ...]:
    parts = [part.strip() for text in texts for part in text.split(",")]
    for part in parts:
        if not (part.isascii() and part.isdigit() and len(part) <= len(str(DEEPEST)) and 1 <= int(part) <= DEEPEST):
            raise InputError(
                f"-k {show_id(','.join(texts), 60)}: expected whole numbers of documents from 1 to {DEEPEST:,}, such as 10,100."
            )
    return tuple(sorted({int(part) for part in parts}))


@click.command("diff", short_help="Show what changed between two runs.", epilog=EXAMPLES)
@click.argument("first", metavar="A")
@click.argument("second", metavar="B")
@click.option(
    "-k",
    "--cutoffs",
    metavar="K,K,...",
    multiple=True,
    default=[",".join(map(str, CUTOFFS))],
    show_default=True,
    callback=_cutoffs,
    help="Numbers of documents to compare; repeatable.",
)
@click.option("--exact", metavar="RUN", help="Run of exact search: also report the recall of A and B against it.")
@click.option("--qrels", metavar="FILE", help="Judgments: also report what the change cost, in nDCG or other measures.")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help=f"Measure for --qrels, or several with commas; repeatable. Default: {' '.join(MEASURES)}.",
)
@click.option(
    "--rbo-p",
    "persistence",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=PERSISTENCE,
    show_default=True,
    help="Persistence of rank-biased overlap: higher looks deeper.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(IntervalKind)),
    default="t",
    show_default=True,
    help="Method for the intervals of the means.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    default=DRAWS,
    show_default=True,
    help="Resamples for a bootstrap interval.",
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of a bootstrap interval."
)
@click.option(
    "--worst",
    type=click.IntRange(min=0),
    help=f"Show this many of the changed queries, worst first; JSON has all.  [default: {WORST}, in the terminal {FEW}]",
)
@detail_options()
@output_options(RENDERERS, "How to show the result.")
@input_options
@unmatched_option
@threads_option
def command(
    first: str,
    second: str,
    cutoffs: tuple[int, ...],
    exact: str | None,
    qrels: str | None,
    measures: tuple[str, ...],
    persistence: float,
    interval: IntervalKind,
    draws: int,
    seed: int,
    worst: int | None,
    output_format: str,
    output: str | None,
    detail: Detail,
    readings: Readings,
    unmatched: Unmatched,
    threads: int | None,
) -> None:
    """Show what changed from run A to run B: which queries, which documents, and whether it matters.

    Needs no judgments. Reports overlap, rank-biased overlap, changed ranks, and what entered and left, per query and
    overall; with --exact also recall, with --qrels what was lost. A run can be given as NAME=PATH. Exit status 0
    whether or not the runs differ.
    """
    refuse_page_on_terminal(output_format, output, "diff.html")
    if measures and qrels is None:
        raise InputError("-m has no effect without --qrels; add the judgments, or leave it out.")
    if [path for path in (qrels, *(split_name(run)[1] for run in (first, second, exact or ""))) if path == "-"][1:]:
        raise InputError("standard input (-) can be read only once; give the other files by path.")
    settings = DiffSettings(cutoffs, persistence, interval, draws, seed)
    evaluator = None
    if qrels is not None:
        evaluator = Evaluator(qrels, measures or MEASURES, reading=readings.qrels, threads=threads, unmatched=unmatched)
    found = diff_opened(
        _opened(first, readings.run),
        _opened(second, readings.run),
        settings,
        exact=None if exact is None else _opened(exact, readings.run),
        evaluator=evaluator,
        threads=threads,
    )
    readings.refuse_unused()
    brief = output_format == "table" and not detail.verbose
    shown = worst if worst is not None else FEW if brief else WORST
    write(rendered(RENDERERS, output_format, found, detail, shown=shown), output)


def _opened(argument: str, reading: Reading) -> OpenedRun:
    name, path = split_name(argument)
    return open_run(path, reading, name=name)
