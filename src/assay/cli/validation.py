"""What `runs validate` and `qrels validate` share."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from assay.cli import write
from assay.cli.bars import is_watched
from assay.cli.flags import with_flags
from assay.cli.options import metadata_option, output_options
from assay.errors import InputError
from assay.formats.names import Kind
from assay.formats.sources import STDIN
from assay.report.validation import RENDERERS
from assay.secrets import Secrets
from assay.validation.findings import Finding, Validation
from assay.validation.fixing import Repairs
from assay.validation.policies import chosen_policies, parse_policies, policies_of
from assay.validation.validating import Progress

Command = TypeVar("Command", bound=Callable[..., Any])
WORTH_A_BAR = 20_000_000  # bytes


def validation_options(kind: Kind) -> Callable[[Command], Command]:
    """--queries, --fix, --policy, --metadata, --strict, --format and -o."""

    def decorate(command: Command) -> Command:
        for option in (
            output_options(RENDERERS, "Output format; github prints annotations for GitHub Actions."),
            click.option("--strict", is_flag=True, help="Treat warnings as errors."),
            metadata_option("a copy made by a policy"),
            _policy_option(kind),
            click.option(
                "--fix",
                type=click.Path(dir_okay=False),
                is_eager=True,  # read before --policy, which needs it
                metavar="OUT",
                help="Write a repaired copy to OUT.",
            ),
            click.option(
                "--queries",
                type=click.Path(dir_okay=False),
                help="Topics: TSV, JSONL, TREC topics, or one id per line.",
            ),
        ):
            command = option(command)
        return command

    return decorate


def _policy_option(kind: Kind) -> Callable[[Command], Command]:
    """--policy, as `policies`: what --fix may change in this kind of file."""
    choices = ", ".join(policy.choices(kind) for policy in policies_of(kind))

    def checked(context: click.Context, _: click.Parameter, pairs: tuple[str, ...]) -> dict[str, Any]:
        if pairs and context.params.get("fix") is None:
            raise InputError("--policy says what to repair, so it needs --fix OUT for the repaired copy.")
        policies = parse_policies(pairs)
        chosen_policies(policies, kind)  # raises an error before a large file is read
        return policies

    return click.option(
        "--policy",
        "policies",
        multiple=True,
        metavar="NAME=VALUE",
        callback=checked,
        help=f"With --fix, repairs that change the data: {choices}. Repeatable.",
    )


def refuse_stdin(path: str, fix: str | None) -> None:
    """Refuse to repair standard input: it is validated first, and can be read only once."""
    if fix and path == STDIN:
        raise InputError("--fix needs a file: standard input (-) can be read only once.")


def finish(
    found: Validation,
    strict: bool,
    output_format: str,
    output: str | None,
    repairs: Repairs | None,
    after: Validation | None,
) -> None:
    """Show the findings; exit with 1 if the file is not valid."""
    context = click.get_current_context()
    found = replace(found, findings=tuple(_in_flags(each, context.command) for each in found.findings))
    found = without_secrets(found)
    repairs = repairs and replace(repairs, output=Secrets().hide(repairs.output))
    write(RENDERERS[output_format](found, strict=strict, repairs=repairs, after=after), output)
    if not found.holds(strict=strict):
        context.exit(1)


def without_secrets(found: Validation) -> Validation:
    """The findings, with the names of files as they may be shown."""
    hide = Secrets().hide
    findings = tuple(replace(each, file=hide(each.file)) for each in found.findings)
    return replace(found, file=hide(found.file), findings=findings)


def _in_flags(finding: Finding, command: click.Command) -> Finding:
    """The finding with the command's flags for parameters."""
    examples = tuple(replace(example, text=with_flags(example.text, command)) for example in finding.examples)
    return replace(finding, message=with_flags(finding.message, command), examples=examples)


@contextmanager
def progress_bar(path: str) -> Iterator[Progress | None]:
    """A progress bar while a large file is read."""
    size = os.path.getsize(path) if os.path.isfile(path) else 0
    if size < WORTH_A_BAR or not is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("Validating", total=size)
        yield lambda more: bar.advance(task, more)
