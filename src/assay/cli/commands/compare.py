"""assay compare."""

from __future__ import annotations

import sys
from functools import partial
from typing import Any, get_args

import click
from msgspec.structs import replace

from assay.cli import write
from assay.cli.options import (
    input_options,
    like_option,
    measure_options,
    named_runs,
    output_options,
    query_set_option,
    refuse_second_stdin,
    rule_options,
    threads_option,
)
from assay.comparison.comparing import MOVES, Comparison, compare_runs, compare_scores, segmentations
from assay.comparison.corrections import CORRECTIONS
from assay.comparison.paired import Alternative
from assay.comparison.pairs import IntervalKind, Study, SystemScores
from assay.comparison.segments import MINIMUM
from assay.comparison.significance import names_of_tests
from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats import parse_grades
from assay.formats.unread import open_run
from assay.inputs.queries import read_queries
from assay.inputs.scores import read_scores
from assay.report.comparison import RENDERERS

SECTION = "Measure"
OF_TABLES = ("output_format", "output", "segments", "minimum_segment", "moves", "queries")  # beside those of a study
FEW_RUNS = 5  # whose agreement a page shows unasked; the work grows with their square


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
    "--correction",
    type=click.Choice(list(CORRECTIONS)),
    help="How p of many comparisons is corrected.  [default: holm beyond one]",
)
@click.option(
    "--alternative",
    type=click.Choice(get_args(Alternative)),
    default="two-sided",
    show_default=True,
    help="What is tested: that the two differ, or that the run is greater or less than its baseline.",
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
    help="Queries that a segment needs to be tested.",
)
@click.option(
    "--moves",
    type=click.IntRange(min=0),
    help=f"Queries that moved most, with their documents.  [default: {MOVES}, without]",
)
@click.option(
    "--agreement",
    is_flag=True,
    help=f"Also say how alike the runs rank, and whether the measures agree; a page of up to {FEW_RUNS} runs does so anyway.",
)
@query_set_option
@click.option(
    "--corpus", type=click.Path(), help="FILE with documents, whose titles are shown with queries that moved."
)
@partial(rule_options, without=("scores", "queries"))  # which are files here; --like trec_eval-9 has 32-bit scores
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
    study = Study(**{name: given.pop(name) for name in Study.__struct_fields__ if name in given})
    asked = given.pop("moves")
    page = output_format == "html"
    if page and output is None and sys.stdout.isatty():
        raise InputError("a page is nothing for the terminal; name a file for it: -o comparison.html")
    texts = given.pop("queries")
    looks = {
        "segments": given.pop("segments"),
        "minimum_segment": given.pop("minimum_segment"),
        "moves": MOVES if asked is None else asked,
        "texts": {} if texts is None else read_queries(texts),
        "corpus": given.pop("corpus"),
        "documents": page or asked is not None,
        "agreement": given.pop("agreement") or (page and len(runs) <= FEW_RUNS),
    }
    if scores is None:
        found = _of_runs(qrels, runs, measures, study, looks, given)
    elif qrels is None:
        _refuse_options_of_runs()
        found = _of_table(scores, study, looks)
    else:
        raise InputError("give either QRELS and RUNs or --scores FILE, not both.")
    write(RENDERERS[output_format](found), output)


def _refuse_options_of_runs() -> None:
    """What a table of values has no use for would be passed over in silence."""
    context = click.get_current_context()
    useful = {"scores", *Study.__struct_fields__, *OF_TABLES}
    useless = [
        max(option.opts, key=len)
        for option in context.command.params
        if option.name not in useful
        and context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
    ]
    if useless:
        raise InputError(f"{', '.join(useless)}: a table of values has no runs and no judgments; leave it out.")


def _of_table(path: str, study: Study, looks: dict[str, Any]) -> Comparison:
    given = read_scores(path)
    table = SystemScores(given.systems, given.queries, ("score",), given.values[None])
    segments = segmentations(looks["segments"], table, study, looks["texts"], {})
    found = compare_scores(
        table, study, segments=segments, minimum_segment=looks["minimum_segment"], moves=looks["moves"]
    )
    return replace(found, texts=looks["texts"])


def _of_runs(
    qrels: str | None,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    study: Study,
    looks: dict[str, Any],
    given: dict[str, Any],
) -> Comparison:
    if qrels is None or len(runs) < 2:
        raise InputError("comparing takes QRELS and two RUNs or more, or --scores FILE.")
    refuse_second_stdin(qrels, runs)
    whole, grades = given.pop("input_format"), given.pop("grades")
    of_qrels, of_runs = given.pop("qrels_format") or whole, given.pop("run_format") or whole
    like, threads = given.pop("like"), given.pop("threads")
    given["queries"] = given.pop("query_set")
    rules = {name: value for name, value in given.items() if value is not None}
    letters = parse_grades(grades) if grades else None
    evaluator = Evaluator(qrels, measures, rules, like=like, grades=letters, threads=threads, input_format=of_qrels)
    opened = named_runs(runs, lambda path, name: open_run(path, input_format=of_runs, name=name))
    return compare_runs(evaluator, list(opened), study, **looks)
