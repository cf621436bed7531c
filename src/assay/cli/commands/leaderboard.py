"""assay leaderboard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import click
from msgspec import Struct

from assay.cli import note, write
from assay.cli.bars import progress_bars
from assay.cli.options import (
    detail_options,
    like_option,
    measure_options,
    output_options,
    refuse_options_of_runs,
    refuse_page_on_terminal,
    rendered,
    rule_options,
    spreadsheet_option,
    threads_option,
    unmatched_option,
)
from assay.cli.reading import file_option, input_options, named_runs, refuse_second_stdin
from assay.cli.run_files import CollectionFiles, collections_option, runs_argument
from assay.comparison.leaderboard import (
    DRAWS,
    Incomplete,
    Leaderboard,
    Method,
    Resample,
    in_collection,
    leaderboard_of,
    leaderboard_scores,
)
from assay.errors import AssayError, InputError
from assay.evaluation import Evaluation, Evaluator, Unmatched
from assay.files import refuse_overwrite
from assay.formats.readings import Readings
from assay.formats.spreadsheets import DELIMITED, notes_on_formulas, refuse_other_format
from assay.formats.unread import open_run
from assay.report.drawing.terminal import Detail
from assay.report.leaderboard import RENDERERS
from assay.report.leaderboard.documents import for_spreadsheet

SECTION = "Measure"
OF_TABLES = (
    "top",
    "draws",
    "seed",
    "alpha",
    "output_format",
    "output",
    "spreadsheet",
    "quiet",
    "verbose",
)  # options that --scores takes


class _Evaluating(Struct, frozen=True):
    """How to evaluate the runs of each collection."""

    measures: tuple[str, ...]
    rules: dict[str, Any]
    like: str
    threads: int | None
    unmatched: Unmatched
    readings: Readings


@click.command(
    "leaderboard",
    short_help="Rank many runs, with intervals of ranks and tiers.",
    epilog="Example: assay leaderboard --collection web=web.qrels:web/ --collection news=news.qrels:news/ -m nDCG@10 -m AP",
)
@click.argument("qrels", required=False)
@runs_argument(required=False)
@collections_option
@file_option(
    "scores",
    "per-query values",
    "Per-query values from any tool: CSV with the query first, then a column per system.",
)
@measure_options
@click.option(
    "--top", type=click.IntRange(min=1), help="Show only the best N in tables.  [default: 20 as text, else all]"
)
@click.option(
    "--draws", type=click.IntRange(min=1), default=DRAWS, show_default=True, help="Resamples for the rank intervals."
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of the resamples.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level of the tiers.",
)
@click.option(
    "--resample",
    type=click.Choice(get_args(Resample)),
    default="queries",
    show_default=True,
    help="Whether ranks should hold for other queries of these collections, or for other collections (5 or more).",
)
@click.option(
    "--incomplete",
    type=click.Choice(get_args(Incomplete)),
    default="error",
    show_default=True,
    help="What to do with a system that has no run in one of the collections.",
)
@output_options(RENDERERS, "Output format; html is a page with charts and a table to sort and search.")
@spreadsheet_option
@detail_options(quiet=True)
@like_option
@rule_options
@input_options
@unmatched_option
@threads_option
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    collections: tuple[CollectionFiles, ...],
    scores: str | None,
    output_format: str,
    output: str | None,
    top: int | None,
    spreadsheet: bool,
    detail: Detail,
    incomplete: Incomplete,
    draws: int,
    seed: int,
    alpha: float,
    resample: Resample,
    **given: Any,
) -> None:
    """Rank RUNs by the first measure, and say how sure the ranks are.

    Each system gets its mean with a 95% interval, an interval of its rank by bootstrap over queries, and a tier: systems that do not differ significantly from the best of them. A folder stands for all runs in it. Several collections count equally; runs with the same name are one system.
    """
    refuse_page_on_terminal(output_format, output, "leaderboard.html")
    if spreadsheet:
        refuse_other_format(output_format)
    ways = [scores is not None, bool(collections), qrels is not None]
    if sum(ways) != 1:
        raise InputError("give either QRELS and RUNs, or --collection NAME=QRELS:FOLDER, or --scores FILE.")
    method = Method(draws, seed, alpha, resample)
    if scores is not None:
        refuse_options_of_runs(OF_TABLES)
        board = leaderboard_scores(scores, draws=draws, seed=seed, alpha=alpha)
    else:
        files = collections or (CollectionFiles("", qrels or "", runs),)
        refuse_overwrite(output, [path for each in collections for path in each.paths()])
        board = _of_runs(files, _Evaluating(**given), method, incomplete)
    shown = for_spreadsheet(board) if spreadsheet else board
    write(rendered(RENDERERS, output_format, shown, detail, top=top), output)
    if output_format in DELIMITED and not spreadsheet:
        for text in notes_on_formulas(each.system for each in board.standings):
            note(text)


def _of_runs(
    collections: tuple[CollectionFiles, ...], evaluating: _Evaluating, method: Method, incomplete: Incomplete
) -> Leaderboard:
    evaluations = {}
    with progress_bars() as tell:
        total = sum(len(each.runs) for each in collections)
        done = 0
        for each in collections:
            found = []
            try:
                for evaluation in _evaluations(each, evaluating):
                    found.append(evaluation)
                    done += 1
                    if tell is not None:
                        tell("Evaluating", done, total)
            except AssayError as error:
                if not each.name:
                    raise
                raise in_collection(each.name, error) from error
            evaluations[each.name] = found
    evaluating.readings.refuse_unused()
    return leaderboard_of(evaluations, method, incomplete=incomplete)


def _evaluations(files: CollectionFiles, how: _Evaluating) -> Iterator[Evaluation]:
    refuse_second_stdin(files.qrels, files.runs)
    evaluator = Evaluator(
        files.qrels,
        how.measures,
        how.rules,
        like=how.like,
        reading=how.readings.qrels,
        threads=how.threads,
        unmatched=how.unmatched,
    )
    for run in named_runs(files.runs, lambda path, name: open_run(path, how.readings.run, name=name)):
        yield evaluator.evaluate(run)
