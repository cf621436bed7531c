"""assay runs validate, assay qrels validate, assay explain."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click

from assay.cli import write
from assay.cli.one_file import grades_option, input_format_option
from assay.cli.options import output_options
from assay.diagnosis.registry import all_looks, find_look
from assay.formats import parse_grades
from assay.report.diagnosis.pages import look_as_text, looks_as_text
from assay.report.validation import RENDERERS
from assay.report.validation.pages import rule_as_text, rules_as_text
from assay.validation.findings import Validation
from assay.validation.fixing import Repairs, fix_qrels, fix_run
from assay.validation.profiles import PROFILES
from assay.validation.registry import all_rules, find_rule
from assay.validation.validating import Progress, validate_qrels, validate_run

Command = TypeVar("Command", bound=Callable[..., Any])
WORTH_A_BAR = 20_000_000  # bytes


def _common_options(command: Command) -> Command:
    for option in (
        output_options(RENDERERS, "Output format; github prints annotations for GitHub Actions."),
        click.option("--strict", is_flag=True, help="Treat warnings as errors."),
        click.option("--fix", type=click.Path(dir_okay=False), metavar="OUT", help="Write a repaired copy to OUT."),
        input_format_option,
        click.option(
            "--queries", type=click.Path(dir_okay=False), help="Topics: TSV, JSONL, TREC topics, or one id per line."
        ),
    ):
        command = option(command)
    return command


@click.command("validate", epilog="Example: assay runs validate bm25.run --qrels qrels.txt --profile trec-rag")
@click.argument("run")
@click.option("--qrels", type=click.Path(dir_okay=False), help="Judgments to check the run against.")
@click.option("--max-depth", type=click.IntRange(min=1), help="Maximum number of documents per query.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="Track requirements to check. " + " ".join(f"{name}: {profile.about}." for name, profile in PROFILES.items()),
)
@_common_options
def runs_validate(
    run: str,
    qrels: str | None,
    queries: str | None,
    max_depth: int | None,
    profile: str | None,
    input_format: str,
    fix: str | None,
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check a RUN before scoring it. Each finding shows its lines and how to fix them.

    Exit status: 0 valid, 1 not valid, 2 a file cannot be opened. `assay explain CODE` explains a finding.
    """

    def validate(path: str) -> Validation:
        with _progress(path) as progress:
            return validate_run(
                path,
                qrels=qrels,
                queries=queries,
                max_depth=max_depth,
                profile=profile,
                input_format=input_format,
                progress=progress,
            )

    found = validate(run)
    repairs = fix_run(run, fix, input_format=input_format) if fix else None
    _finish(found, strict, output_format, output, repairs, validate(fix) if fix else None)


@click.command("validate", epilog="Example: assay qrels validate qrels.txt --queries topics.tsv")
@click.argument("qrels")
@grades_option
@_common_options
def qrels_validate(
    qrels: str,
    queries: str | None,
    grades: str | None,
    input_format: str,
    fix: str | None,
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check QRELS before scoring runs with them. Each finding shows its lines and how to fix them.

    Exit status: 0 valid, 1 not valid, 2 a file cannot be opened. `assay explain CODE` explains a finding.
    """
    letters = parse_grades(grades) if grades else None

    def validate(path: str) -> Validation:
        with _progress(path) as progress:
            return validate_qrels(path, queries=queries, grades=letters, input_format=input_format, progress=progress)

    found = validate(qrels)
    repairs = fix_qrels(qrels, fix, input_format=input_format) if fix else None
    _finish(found, strict, output_format, output, repairs, validate(fix) if fix else None)


@click.command("explain", epilog="Example: assay explain RUN020")
@click.argument("code", required=False)
def explain(code: str | None) -> None:
    """Explain the finding with this CODE, or list all findings."""
    if code is None:
        write(rules_as_text(all_rules()) + looks_as_text(all_looks()))
    elif code.strip().upper().startswith("DIA"):
        write(look_as_text(find_look(code)))
    else:
        write(rule_as_text(find_rule(code)))


def _finish(
    found: Validation,
    strict: bool,
    output_format: str,
    output: str | None,
    repairs: Repairs | None,
    after: Validation | None,
) -> None:
    write(RENDERERS[output_format](found, strict=strict, repairs=repairs, after=after), output)
    if not found.holds(strict=strict):
        click.get_current_context().exit(1)


@contextmanager
def _progress(path: str) -> Iterator[Progress | None]:
    """A progress bar while a large file is read."""
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size < WORTH_A_BAR or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Validating", total=size)
        yield lambda more: bar.advance(task, more)
