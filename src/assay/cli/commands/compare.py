"""assay compare."""

from __future__ import annotations

from typing import Any, get_args

import click

from assay.cli import note, write
from assay.cli.bars import LONG, progress_bars
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
    weights_option,
)
from assay.cli.reading import file_option, input_options, named_runs, refuse_second_stdin
from assay.cli.run_files import runs_argument
from assay.comparison.comparing import MOVES, Comparison, compare_runs, compare_scores
from assay.comparison.corrections import CORRECTIONS
from assay.comparison.paired import Alternative
from assay.comparison.pairs import IntervalKind, Study
from assay.comparison.segments import MINIMUM
from assay.comparison.significance import names_of_tests
from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats.readings import Readings
from assay.formats.spreadsheets import notes_on_formulas, refuse_other_format
from assay.formats.unread import open_run
from assay.report.comparison import RENDERERS
from assay.report.comparison.delimited import render_csv
from assay.report.comparison.words import MOST_LINES
from assay.report.drawing.terminal import Detail

SECTION = "Measure"
OF_TABLES = (
    "output_format",
    "output",
    "segments",
    "minimum_segment",
    "moves",
    "queries",
    "query_weights",
    "spreadsheet",
    "verbose",
    "quiet",
)  # in addition to those of Study
FEW_RUNS = 5  # up to which a page always shows agreement; the work grows with the square of the number


@click.command(
    "compare",
    epilog="Example: assay compare qrels.txt bm25.run hybrid.run -m nDCG@10 -m AP --test permutation",
)
@click.argument("qrels", required=False)
@runs_argument(required=False)
@file_option(
    "scores",
    "per-query values",
    "Per-query values from any tool: CSV with the query first, then a column per system.",
)
@measure_options
@click.option(
    "--baseline",
    "baselines",
    multiple=True,
    help="Run to compare the others with; may be repeated.  [default: the first]",
)
@click.option("--all-pairs", is_flag=True, help="Compare every run with every other.")
@click.option("--test", type=click.Choice(names_of_tests()), default="t", show_default=True, help="Paired test.")
@click.option(
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help="Correction for multiple comparisons.  [default: holm for more than one]",
)
@click.option(
    "--alternative",
    type=click.Choice(get_args(Alternative)),
    default="two-sided",
    show_default=True,
    help="Test whether the run differs from its baseline, or is greater or less.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(IntervalKind)),
    default="t",
    show_default=True,
    help="Method for the intervals of the differences.",
)
@click.option(
    "--simultaneous",
    is_flag=True,
    help="Widen the intervals so that all of them hold together, even if p is not corrected.",
)
@click.option("--margin", type=float, help="Largest difference that does not matter; also tests for equivalence.")
@click.option(
    "--plan", type=float, help="Difference you want to be able to detect: reports how many queries that takes."
)
@click.option("--minimum", type=float, default=0.0, help="Differences up to this count as ties (sign test and w/t/l).")
@click.option("--draws", type=click.IntRange(min=1), help="Permutations or resamples.  [default: depends on the test]")
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of tests that draw."
)
@detail_options(quiet=True)
@output_options(RENDERERS, "How to show the result.")
@spreadsheet_option
@like_option
@click.option(
    "--segments",
    multiple=True,
    help="Also compare within segments: a FILE (query id, then any columns), or length, relevant, difficulty; may be repeated.",
)
@click.option(
    "--segment-minimum",
    "minimum_segment",
    type=click.IntRange(min=2),
    default=MINIMUM,
    show_default=True,
    help="Fewest queries that a segment needs to be tested.",
)
@click.option(
    "--moves",
    type=click.IntRange(min=0),
    help=f"Show this many of the queries that moved most, with their documents.  [default: {MOVES}, without documents]",
)
@click.option(
    "--agreement",
    is_flag=True,
    help=f"Also report how far runs and measures agree; an HTML page of up to {FEW_RUNS} runs always does.",
)
@click.option(
    "--corpus", type=click.Path(), help="FILE with documents; shows their titles with the queries that moved."
)
@rule_options
@input_options
@unmatched_option
@threads_option
@weights_option
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    scores: str | None,
    measures: tuple[str, ...],
    output_format: str,
    output: str | None,
    spreadsheet: bool,
    detail: Detail,
    **given: Any,
) -> None:
    """Compare two or more RUNs query by query.

    Reports how large each difference is, its confidence interval, and whether it is statistically significant. With --scores FILE the per-query values come from a table instead of QRELS and RUNs.
    """
    study = Study(**{name: given.pop(name) for name in Study.__struct_fields__ if name in given})
    asked = given.pop("moves")
    page = output_format == "html"
    if spreadsheet:
        refuse_other_format(output_format)
    refuse_page_on_terminal(output_format, output, "comparison.html")
    readings: Readings = given["readings"]
    looks = {
        "segments": given.pop("segments"),
        "minimum_segment": given.pop("minimum_segment"),
        "moves": MOVES if asked is None else asked,
        "texts": readings.run.queries.texts,
        "corpus": given.pop("corpus"),
        "documents": page or asked is not None,
        "detailed": None if output_format == "json" else MOST_LINES,
        "agreement": given.pop("agreement") or (page and len(runs) <= FEW_RUNS),
    }
    if scores is None:
        found = _of_runs(qrels, runs, measures, study, looks, given)
    elif qrels is None:
        refuse_options_of_runs((*Study.__struct_fields__, *OF_TABLES))
        found = _of_table(scores, study, looks, given["query_weights"])
    else:
        raise InputError("give either QRELS and RUNs or --scores FILE, not both.")
    if output_format == "csv":
        write(render_csv(found, spreadsheet=spreadsheet), output)
        for text in () if spreadsheet else notes_on_formulas(found.scores.systems):
            note(text)
    else:
        write(rendered(RENDERERS, output_format, found, detail), output)


def _of_table(path: str, study: Study, looks: dict[str, Any], query_weights: str | None) -> Comparison:
    return compare_scores(
        path,
        study,
        segments=looks["segments"],
        minimum_segment=looks["minimum_segment"],
        queries=looks["texts"],
        moves=looks["moves"],
        query_weights=query_weights,
    )


def _of_runs(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    study: Study,
    looks: dict[str, Any],
    given: dict[str, Any],
) -> Comparison:
    if qrels is None or len(runs) < 2:
        raise InputError("comparing needs QRELS and at least two RUNs, or --scores FILE.")
    weights = given.pop("query_weights")
    refuse_second_stdin(qrels, (*runs, weights or ""))
    readings: Readings = given.pop("readings")
    like, threads, unmatched = given.pop("like"), given.pop("threads"), given.pop("unmatched")
    evaluator = Evaluator(
        qrels,
        measures,
        given.pop("rules"),
        like=like,
        reading=readings.qrels,
        threads=threads,
        unmatched=unmatched,
        query_weights=weights,
    )
    opened = named_runs(runs, lambda path, name: open_run(path, readings.run, name=name))
    with progress_bars(after=LONG) as tell:
        found = compare_runs(evaluator, list(opened), study, **looks, tell=tell)
    readings.refuse_unused()
    return found
