"""assay gate."""

from __future__ import annotations

import sys
from typing import Any

import click

from assay.cli import write
from assay.cli.options import (
    input_options,
    like_option,
    named_runs,
    output_options,
    refuse_second_stdin,
    rule_options,
    threads_option,
)
from assay.formats import parse_grades
from assay.formats.unread import open_run
from assay.gate.baselines import MAX_AGE, is_report
from assay.gate.deciding import LARGEST_ALPHA
from assay.gate.gating import decide
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
    help="What is in use now: a run, or the folder or EvaluationReport.json of `assay evaluate --report`.",
)
@click.option("--candidate", required=True, metavar="RUN", help="What shall take its place.")
@click.option("--qrels", required=True, metavar="QRELS", help="The judgments.")
@click.option(
    "--rule",
    "gate_rules",
    multiple=True,
    metavar="RULE",
    help="What candidate - baseline must be: 'nDCG@10 >= -0.01', or 'R@100 >= -1%' of the baseline; may be repeated.",
)
@click.option(
    "--targets",
    metavar="FILE|NAME",
    help="Values that the candidate must reach as well: a TOML or JSON file, or trec-rag; uplifts are over the baseline.",
)
@click.option(
    "--alpha",
    type=click.FloatRange(0, LARGEST_ALPHA, min_open=True),
    default=0.05,
    show_default=True,
    help="Chance that a bound is wrong.",
)
@click.option(
    "--max-age",
    type=click.IntRange(min=0),
    default=MAX_AGE,
    show_default=True,
    metavar="DAYS",
    help="Warn when the baseline's report is older.",
)
@output_options(RENDERERS, "How to show the result.")
@like_option
@rule_options
@input_options
@threads_option
def command(
    baseline: str,
    candidate: str,
    qrels: str,
    gate_rules: tuple[str, ...],
    targets: str | None,
    alpha: float,
    max_age: int,
    output_format: str,
    output: str | None,
    like: str,
    input_format: str,
    qrels_format: str | None,
    run_format: str | None,
    grades: str | None,
    threads: int | None,
    **rules: Any,
) -> None:
    """Decide whether a candidate may take the place of a baseline, for CI.

    A rule passes when the one-sided 95% lower bound of candidate - baseline is at or over its margin, and fails when the
    upper bound is under it; else it is inconclusive. So >= 0 demands that the candidate be shown to be better, and >= -0.01
    that it be shown to lose no more than that. Exit status: 0 all rules and targets pass, 1 one fails, 3 none fails and one is
    inconclusive, 2 wrong usage or input that cannot be used.
    """
    refuse_second_stdin(qrels, (baseline, candidate))
    whole = run_format or input_format

    def opened(argument: str) -> Any:
        return next(named_runs((argument,), lambda path, name: open_run(path, input_format=whole, name=name)))

    gate = decide(
        qrels,
        baseline if is_report(baseline) else opened(baseline),
        opened(candidate),
        gate_rules,
        targets=targets,
        alpha=alpha,
        max_age=max_age,
        rules={name: value for name, value in rules.items() if value is not None},
        like=like,
        grades=parse_grades(grades) if grades else None,
        threads=threads,
        qrels_format=qrels_format or input_format,
    )
    try:
        write(RENDERERS[output_format](gate), output)
    except BrokenPipeError:
        sys.stdout = None  # the reader has gone, and the decision stands
    if output is not None:
        click.echo(headline(gate).encode("utf-8", "backslashreplace"), err=True)
    sys.exit(gate.exit_code)
