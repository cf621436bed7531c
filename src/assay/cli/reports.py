"""What commands that write reports share: the options, and the files that a report is rendered to."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct, to_builtins

if TYPE_CHECKING:  # imported where a report is asked for: it brings msgspec, SciPy and Jinja
    from assay.records.model import FindingRecord
    from assay.records.recording import Experiment, Measured

Command = TypeVar("Command", bound=Callable[..., Any])


class Wishes(Struct, frozen=True):
    """What was asked for beyond numbers on the terminal."""

    report: str | None = None
    targets: str | None = None
    baseline: str | None = None
    settings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.report is not None or self.targets is not None

    def begin(self, qrels: str, runs: list[str], **reading: Any) -> Experiment:
        """The experiment that was asked for; refuses what can be seen to be wrong before a file is evaluated."""
        from assay.records.recording import begin_experiment

        return begin_experiment(qrels, runs, command=("assay", *sys.argv[1:]), **to_builtins(self), **reading)

    def say_where(self) -> None:
        """Tell where the report is."""
        if self.report is not None:
            click.echo(f"Report: {self.report}".encode("utf-8", "backslashreplace"), err=True)

    def check(self) -> None:
        """Refuse options that would do nothing."""
        if self.baseline is not None and self.targets is None:
            raise click.UsageError("--baseline is what uplifts of --targets are over; add --targets.")
        if (self.settings or self.notes) and self.report is None:
            given = "--set" if self.settings else "--note"
            raise click.UsageError(f"{given} goes into the report's manifest; add --report DIR.")


def report_options(command: Command) -> Command:
    """--report and what belongs to it; the command gets all of it as `wishes`."""

    @functools.wraps(command)
    def with_wishes(
        *given: Any,
        report: str | None,
        targets: str | None,
        baseline: str | None,
        settings: tuple[str, ...],
        notes: tuple[str, ...],
        **named: Any,
    ) -> Any:
        wishes = Wishes(report, targets, baseline, settings, notes)
        wishes.check()
        return command(*given, wishes=wishes, **named)

    decorated: Any = with_wishes
    for option in (
        click.option("--note", "notes", multiple=True, metavar="TEXT", help="A remark for the manifest."),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="For the manifest: model, dataset, index.NAME, or any parameter. Secrets are not written.",
        ),
        click.option(
            "--baseline", metavar="NAME", help="What uplifts are over: one of the RUNs, or a folder with a report."
        ),
        click.option(
            "--targets",
            metavar="FILE|NAME",
            help="Hold the means against a profile of targets: a TOML or JSON file, or trec-rag.",
        ),
        click.option(
            "--report",
            type=click.Path(file_okay=False),
            metavar="DIR",
            help="Write a report as HTML, Markdown and JSON, with charts and a manifest, into this folder.",
        ),
    ):
        decorated = option(decorated)
    result: Command = decorated
    return result


def findings_of(experiment: Experiment) -> Callable[[Measured], tuple[FindingRecord, ...]]:
    """What validation says about each run of the experiment and its judgments."""

    def find(measured: Measured) -> tuple[FindingRecord, ...]:
        from assay.records.validated import findings_beside

        return findings_beside(
            measured.evaluation,
            experiment.qrels,
            measured.path,
            run_format=experiment.run_format,
            qrels_format=experiment.qrels_format,
            grades=experiment.grades,
        )

    return find
