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
from assay.formats.readings import Readings
from assay.formats.unread import open_run
from assay.gate.baselines import MAX_AGE, is_report
from assay.gate.deciding import LARGEST_ALPHA
from assay.gate.gating import Inconclusive, decide
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
    -0.01 that it loses no more than 0.01. With --query-weights, the rules decide on the weighted difference. Exit status: 0 if all rules and targets pass, 1 if one fails, 3 if none fails
    but one is inconclusive (unless --inconclusive says otherwise), 2 for wrong usage or invalid input.
    """
    refuse_second_stdin(qrels, (baseline, candidate, query_weights or ""))

    def opened(argument: str) -> Any:
        return next(named_runs((argument,), lambda path, name: open_run(path, readings.run, name=name)))

    gate = decide(
        qrels,
        baseline if is_report(baseline) else opened(baseline),
        opened(candidate),
        gate_rules,
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
    if gate.status == "inconclusive" and inconclusive == "warn":
        say("Warning: the result is inconclusive; --inconclusive warn lets it pass.")
    sys.exit(gate.exit_code)
