"""Overwrite a report again and again until killed: python rewriting.py FOLDER [without-exchange]."""

from __future__ import annotations

import itertools
import sys

from assay.evaluation import evaluate
from assay.records import storing
from assay.records.building import build_report
from assay.records.manifest import DeclaredSettings, Name, build_manifest
from assay.records.model import Config, EvaluationReport, ExperimentManifest


def experiment(number: int) -> tuple[list[EvaluationReport], ExperimentManifest]:
    """A report with its number in every file; odd ones have two runs, so their file names differ too."""
    names = [f"run{number}", "other"][: 1 + number % 2]
    evaluations = [evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["RR"], name=name) for name in names]
    reports = [build_report(evaluation, experiment=f"number {number}") for evaluation in evaluations]
    config = Config(measures=("RR",), like="assay", rules={})
    manifest = build_manifest(
        Name(f"number {number}", "2025-01-31T09:30:05Z"),
        command=(),
        config=config,
        settings=DeclaredSettings(),
        runs=names,
        inputs=[],
        metadata={},
    )
    return reports, manifest


def render(report: EvaluationReport) -> dict[str, str]:
    return {"EvaluationReport.html": report.experiment * 2000, "charts/a.svg": report.experiment, "b.md": "b"}


if __name__ == "__main__":
    if "without-exchange" in sys.argv:
        storing.exchange = lambda one, other: False
    experiments = [experiment(number) for number in range(4)]
    for number in itertools.count():
        storing.write_reports(sys.argv[1], *experiments[number % 4], render)
        if number == 0:
            sys.stdout.write("ready\n")
            sys.stdout.flush()
