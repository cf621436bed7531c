"""A small experiment that can be checked by hand, and renderers that need no browser."""

from __future__ import annotations

import json
from pathlib import Path

from assay.evaluation import Evaluator
from assay.formats.unread import open_run
from assay.records.details import NO_DETAILS, Details
from assay.records.model import EvaluationReport
from assay.records.recording import Experiment, Outcome, begin_experiment
from assay.records.storing import MANIFEST_FILE

MEASURES = ("P@1", "RR", "AP")

# Two queries: for q1 the relevant document is second, for q2 first.
QRELS = "q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"
RUN = "q1 Q0 b 1 2.0 sample\nq1 Q0 a 2 1.0 sample\nq2 Q0 c 1 1.0 sample\n"
# With q1 reversed, every relevant document is first.
BETTER = "q1 Q0 a 1 2.0 sample\nq1 Q0 b 2 1.0 sample\nq2 Q0 c 1 1.0 sample\n"


def write_files(folder: Path) -> Path:
    """qrels.txt, plain.run and better.run in a folder."""
    (folder / "qrels.txt").write_text(QRELS)
    (folder / "plain.run").write_text(RUN)
    (folder / "better.run").write_text(BETTER)
    return folder


def render(report: EvaluationReport, details: Details = NO_DETAILS) -> dict[str, str]:
    """Placeholders for the page and the charts, with the run and a number in them."""
    mean = report.measures[0].mean
    return {
        "EvaluationReport.html": f"<p>{report.run.name} {mean} {report.run.path}</p>",
        "EvaluationReport.md": f"# {report.run.name}\n",
        "charts/first.svg": "<svg/>",
    }


def conduct(
    qrels: str, runs: list[str], *, measures: tuple[str, ...] = MEASURES, rules: dict | None = None, **others
) -> Outcome:
    """Run an experiment and write its report, as the command does."""
    experiment = begin_experiment(qrels, runs, **{"command": ("assay", "evaluate", qrels, *runs), **others})
    return evaluate(experiment, runs, measures, rules)


def evaluate(experiment: Experiment, runs: list[str], measures: tuple[str, ...], rules: dict | None = None) -> Outcome:
    evaluator = Evaluator(
        experiment.qrels,
        experiment.measures(measures),
        rules or {},
        reading=experiment.readings.qrels,
    )
    opened = [open_run(run, experiment.readings.run) for run in runs]
    return experiment.evaluate(evaluator, opened, render)


def manifest(folder: Path) -> dict:
    return json.loads((folder / MANIFEST_FILE).read_bytes())


def files_below(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
