"""assay compare."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import click

from assay.cli import write
from assay.cli.evaluate import (
    input_options,
    measure_options,
    named_runs,
    output_options,
    refuse_second_stdin,
    rule_options,
    threads_option,
)
from assay.comparison.comparing import IntervalKind, Study, SystemScores, compare_scores
from assay.comparison.corrections import CORRECTIONS
from assay.comparison.paired import Alternative
from assay.comparison.significance import names_of_tests
from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats import parse_grades
from assay.formats.scores import read_scores
from assay.formats.unread import open_run
from assay.measures.conventions import CONVENTIONS
from assay.report.comparison import RENDERERS


@click.command(
    "compare",
    epilog="Example: assay compare qrels.txt bm25.run hybrid.run -m nDCG@10 -m AP --test permutation",
)
@click.argument("qrels", required=False)
@click.argument("runs", metavar="RUN...", nargs=-1)
@click.option(
    "--scores",
    type=click.Path(dir_okay=False),
    help="Values of each query from any tool: CSV, query first, then systems.",
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
    "--correction", type=click.Choice(list(CORRECTIONS)), help="For many comparisons.  [default: holm beyond one]"
)
@click.option(
    "--alternative",
    type=click.Choice(get_args(Alternative)),
    default="two-sided",
    show_default=True,
    help="What is tested.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Chance of a false alarm.",
)
@click.option(
    "--interval",
    type=click.Choice(get_args(IntervalKind)),
    default="t",
    show_default=True,
    help="How the interval of a difference is made.",
)
@click.option("--simultaneous", is_flag=True, help="Intervals so wide that all of them hold together.")
@click.option("--margin", type=float, help="Differences up to this do not matter: also test for equivalence.")
@click.option(
    "--plan", type=float, help="A difference that you want to be able to show: says how many queries it needs."
)
@click.option("--minimum", type=float, default=0.0, help="Differences up to this are ties (sign test, won and lost).")
@click.option("--draws", type=click.IntRange(min=1), help="Permutations or resamples.  [default: the test's own]")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="For tests that draw.")
@output_options(RENDERERS, "How to show the result.")
@click.option(
    "--like",
    type=click.Choice(list(CONVENTIONS)),
    default="assay",
    show_default=True,
    help="Follow the conventions of this tool.",
)
@partial(rule_options, without=("scores",))  # which is the table here; --like trec_eval-9 has 32-bit scores
@input_options
@threads_option
def command(
    qrels: str | None,
    runs: tuple[str, ...],
    scores: str | None,
    measures: tuple[str, ...],
    output_format: str,
    output: str | None,
    **given: Any,
) -> None:
    """Compare two or more RUNs query by query.

    Says how large each difference is, how sure one can be of it, and whether it is more than chance. With --scores FILE the values of each query come from a table instead of QRELS and RUNs.
    """
    study = Study(**{name: given.pop(name) for name in Study.__dataclass_fields__ if name in given})
    if scores is not None:
        if qrels is not None:
            raise InputError("give either QRELS and RUNs or --scores FILE, not both.")
        given_scores = read_scores(scores)
        table = SystemScores(given_scores.systems, given_scores.queries, ("score",), given_scores.values[None])
    else:
        table = _evaluated(qrels, runs, measures, given)
    write(RENDERERS[output_format](compare_scores(table, study)), output)


def _evaluated(
    qrels: str | None, runs: tuple[str, ...], measures: tuple[str, ...], given: dict[str, Any]
) -> SystemScores:
    if qrels is None or len(runs) < 2:
        raise InputError("comparing takes QRELS and two RUNs or more, or --scores FILE.")
    refuse_second_stdin(qrels, runs)
    whole, grades = given.pop("input_format"), given.pop("grades")
    of_qrels, of_runs = given.pop("qrels_format") or whole, given.pop("run_format") or whole
    like, threads = given.pop("like"), given.pop("threads")
    rules = {name: value for name, value in given.items() if value is not None}
    letters = parse_grades(grades) if grades else None
    evaluator = Evaluator(qrels, measures, rules, like=like, grades=letters, threads=threads, input_format=of_qrels)
    opened = named_runs(runs, lambda path, name: open_run(path, input_format=of_runs, name=name))
    return SystemScores.from_evaluations([evaluator.evaluate(run) for run in opened])
