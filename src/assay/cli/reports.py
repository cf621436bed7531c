"""What commands that write reports share: the options, and the findings that go into a report."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import click
from msgspec import Struct, to_builtins

from assay.cli import say
from assay.errors import show_id
from assay.formats.readings import Readings

if TYPE_CHECKING:  # imported only to write a report: it loads SciPy and Jinja
    from assay.records.model import FindingRecord
    from assay.records.recording import Experiment, Measured
    from assay.records.targets import TargetOutcome

Command = TypeVar("Command", bound=Callable[..., Any])


class Wishes(Struct, frozen=True):
    """The report, targets and settings that the user asked for."""

    report: str | None = None
    targets: str | None = None
    baseline: str | None = None
    settings: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.report is not None or self.targets is not None

    def begin(self, qrels: str, runs: list[str], readings: Readings, query_weights: str | None = None) -> Experiment:
        """The experiment to run; fails before any file is evaluated if the options are wrong."""
        from assay.records.recording import begin_experiment
        from assay.report.evaluation.index import render_index

        command = ("assay", *sys.argv[1:])
        return begin_experiment(
            qrels,
            runs,
            command=command,
            readings=readings,
            query_weights=query_weights,
            index=render_index,
            **to_builtins(self),
        )

    def say_where(self, runs: int) -> None:
        """Print the path of the page to open."""
        if self.report is not None:
            page = "EvaluationReport.html" if runs == 1 else "index.html"
            say(f"Report: {show_id(os.path.join(self.report, page), 300)}")

    def check(self) -> None:
        """Refuse options that would have no effect."""
        if self.baseline is not None and self.targets is None:
            raise click.UsageError("--baseline has no effect without --targets; add --targets.")
        if (self.settings or self.notes) and self.report is None:
            given = "--set" if self.settings else "--note"
            raise click.UsageError(f"{given} is stored in a report's manifest; add --report DIR.")


def report_options(command: Command) -> Command:
    """--report and its companions; the command gets them all as `wishes`."""

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
        click.option(
            "--note", "notes", multiple=True, metavar="TEXT", help="Note to store in the manifest; repeatable."
        ),
        click.option(
            "--set",
            "settings",
            multiple=True,
            metavar="NAME=VALUE",
            help="Setting to store in the manifest: model, dataset, index.NAME or any parameter. Secrets are masked.",
        ),
        click.option(
            "--baseline",
            metavar="NAME",
            help="Baseline for uplift targets: one of the RUNs, or a folder with a report.",
        ),
        click.option(
            "--targets",
            metavar="FILE|NAME",
            help="Check the means against a target profile: a TOML or JSON file, or trec-rag.",
        ),
        click.option(
            "--report",
            type=click.Path(file_okay=False),
            metavar="DIR",
            help="Write a report into this folder: HTML, Markdown and JSON, with charts and a manifest.",
        ),
    ):
        decorated = option(decorated)
    result: Command = decorated
    return result


def status_of_targets(targets: Mapping[str, TargetOutcome]) -> int:
    """The exit status: 1 if a run misses a target, 3 if one cannot be checked, else 0; a warning is no miss."""
    statuses = {result.status for outcome in targets.values() for result in outcome.results.values()}
    return 1 if "fail" in statuses else 3 if "unknown" in statuses else 0


def findings_of(experiment: Experiment) -> Callable[[Measured], tuple[FindingRecord, ...]]:
    """A function that gives the validation findings for a run of the experiment and its judgments."""
    from assay.records.validated import findings_with

    find = findings_with(experiment.qrels, experiment.readings)
    return lambda measured: find(measured.evaluation, measured.path)
