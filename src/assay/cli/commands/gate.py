"""assay gate."""

from __future__ import annotations

import sys
from typing import Any, get_args

import click

from assay.cli import say, write
from assay.cli.options import (
    detail_options,
    like_option,
    output_options,
    rendered,
    rule_options,
    threads_option,
    unmatched_option,
    weights_option,
)
from assay.cli.reading import input_options, named_runs, refuse_second_stdin
from assay.evaluation import Unmatched
from assay.files import refuse_overwrite
from assay.formats.readings import Readings
from assay.formats.unread import open_run
from assay.gate.baselines import MAX_AGE, is_report
from assay.gate.deciding import LARGEST_ALPHA
from assay.gate.gating import Inconclusive, Population, decide
from assay.report.drawing.terminal import Detail
from assay.report.gate import RENDERERS
from assay.report.gate.words import headline

SECTION = "Decide"


@click.command(
    "gate",
    short_help="Decide whether a candidate may replace a baseline.",
    epilog="Example: assay gate --baseline main.run --candidate new.run --qrels qrels.txt --rule 'nDCG@10 >= -0.01'",
)
@click.option(
    "--baseline",
    required=True,
    metavar="REPORT|RUN",
    help="The system in use: a run, or the folder or EvaluationReport.json of `assay evaluate --report`.",
)
@click.option("--candidate", required=True, metavar="RUN", help="The run that would replace it.")
@click.option("--qrels", required=True, metavar="QRELS", help="The judgments.")
@click.option(
    "--rule",
    "gate_rules",
    multiple=True,
    metavar="RULE",
    help="Limit for candidate - baseline: 'nDCG@10 >= -0.01', or 'R@100 >= -1%' of the baseline; may be repeated.",
)
@click.option(
    "--targets",
    metavar="FILE|NAME",
    help="Values that the candidate must also reach: a TOML or JSON file, or trec-rag; uplifts are relative to the baseline.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, LARGEST_ALPHA, min_open=True),
    default=0.05,
    show_default=True,
    help="Probability that a bound is wrong.",
)
@click.option(
    "--anchor", metavar="REPORT|RUN", help="An earlier system, which small losses must not leave too far behind."
)
@click.option(
    "--anchor-rule",
    "anchor_rules",
    multiple=True,
    metavar="RULE",
    help="Limit for candidate - anchor: 'nDCG@10 >= -0.03'; may be repeated.",
)
@click.option(
    "--unlabelled-baseline",
    metavar="RUN",
    help="The system in use, on queries of which few or none are judged.",
)
@click.option(
    "--unlabelled-candidate",
    metavar="RUN",
    help="The candidate on the same queries. How many of them it changes limits what it can lose.",
)
@click.option(
    "--ledger",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Remember attempts in this file, and share the error out among those of one --change.",
)
@click.option("--change", metavar="NAME", help="The name of the change that is tried, for the ledger.")
@click.option(
    "--population",
    type=click.Choice(get_args(Population)),
    default="sample",
    show_default=True,
    help="If strict, runs that are the same on all judged queries do not pass: on other queries they may differ.",
)
@click.option(
    "--max-age",
    type=click.IntRange(min=0),
    default=MAX_AGE,
    show_default=True,
    metavar="DAYS",
    help="Warn if the baseline's report is older.",
)
@click.option(
    "--inconclusive",
    type=click.Choice(get_args(Inconclusive)),
    help="Take an inconclusive result for a pass (exit with 0; warn also says so) or a failure (1).  [default: exit with 3]",
)
@click.option(
    "--strict",
    is_flag=True,
    help="Let warnings fail. The same file given twice, or a candidate without most of the judged queries, is then an error.",
)
@detail_options()
@output_options(RENDERERS, "How to show the result.")
@like_option
@rule_options
@input_options
@unmatched_option
@threads_option
@weights_option
def command(
    baseline: str,
    candidate: str,
    qrels: str,
    gate_rules: tuple[str, ...],
    targets: str | None,
    alpha: float,
    anchor: str | None,
    anchor_rules: tuple[str, ...],
    unlabelled_baseline: str | None,
    unlabelled_candidate: str | None,
    ledger: str | None,
    change: str | None,
    population: Population,
    max_age: int,
    inconclusive: Inconclusive | None,
    strict: bool,
    output_format: str,
    output: str | None,
    detail: Detail,
    like: str,
    readings: Readings,
    unmatched: Unmatched,
    threads: int | None,
    query_weights: str | None,
    rules: dict[str, Any],
) -> None:
    """Decide in CI whether a candidate may replace a baseline.

    A rule passes if the one-sided 95% lower bound of candidate - baseline is at or above its margin, fails if the upper
    bound is below it, and is inconclusive otherwise. So >= 0 requires evidence that the candidate is better, and >=
    -0.01 that it loses no more than 0.01. If no query changed, a rule that allows for this is unchanged. Exit status: 0
    if all rules and targets pass or are unchanged, 1 if one fails, 3 if none fails but one is inconclusive (unless
    --inconclusive says otherwise), 2 for wrong usage or invalid input.
    """
    others = (anchor, unlabelled_baseline, unlabelled_candidate, query_weights)
    refuse_second_stdin(qrels, (baseline, candidate, *(path for path in others if path is not None)))
    if (unlabelled_baseline is None) != (unlabelled_candidate is None):
        raise click.UsageError("--unlabelled-baseline and --unlabelled-candidate go together: give both runs.")
    if ledger is not None:
        refuse_overwrite(ledger, [path for path in (qrels, baseline, candidate, *others) if path is not None])

    def opened(argument: str | None) -> Any:
        return next(named_runs((argument or "",), lambda path, name: open_run(path, readings.run, name=name)))

    def either(argument: str) -> Any:
        return argument if is_report(argument) else opened(argument)

    gate = decide(
        qrels,
        either(baseline),
        opened(candidate),
        gate_rules,
        anchor=None if anchor is None else either(anchor),
        anchor_rules=anchor_rules,
        unlabelled=None if unlabelled_baseline is None else (opened(unlabelled_baseline), opened(unlabelled_candidate)),
        ledger=ledger,
        change=change,
        population=population,
        targets=targets,
        alpha=alpha,
        max_age=max_age,
        rules=rules,
        like=like,
        threads=threads,
        unmatched=unmatched,
        readings=readings,
        query_weights=query_weights,
        inconclusive=inconclusive,
        strict=strict,
    )
    readings.refuse_unused()
    try:
        write(rendered(RENDERERS, output_format, gate, detail), output)
    except BrokenPipeError:
        sys.stdout = None  # the reader is gone, but the exit code still counts
    if output is not None:
        say(headline(gate))
    if not gate.settled and inconclusive == "warn":
        say(f"Warning: the result is {gate.status}; --inconclusive warn lets it pass.")
    sys.exit(gate.exit_code)
