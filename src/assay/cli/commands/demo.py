"""assay demo."""

from __future__ import annotations

import os
from pathlib import Path

import click

from assay.cli import write
from assay.evaluation import Evaluator
from assay.example import FOLDER, QRELS, RUNS
from assay.files import explaining, write_whole
from assay.report.drawing.terminal import terminal_width, wrapped, wrapped_command
from assay.report.evaluation import RENDERERS, tabulate

SECTION = "Learn"
MEASURES = ("nDCG@5", "P@3", "R@5", "RR")

INTRODUCTION = """\
A cookbook has two search systems: keyword search, and a hybrid of keywords and meaning. For eight queries, people
judged which recipes help (grade 2: very, 1: somewhat, 0: not). Which system is better?
"""

READING = """\
How to read it: every value is between 0 and 1, and higher is better. P@3 is the share of the first three recipes that
help, R@5 is the share of all helpful recipes found in the first five, RR shows how early the first helpful recipe comes,
and nDCG@5 combines all of this and gives higher grades more weight. The lines
under the table give the conventions and what is unusual. For details, run `assay measures explain nDCG`.
"""


@click.command("demo", short_help="Evaluate a small example and explain it.", epilog="Example: assay demo --save .")
@click.option(
    "--save", "folder", type=click.Path(file_okay=False), help="Also write the example's files to this folder."
)
def command(folder: str | None) -> None:
    """Evaluate a small example that comes with assay, and explain the result."""
    evaluator = Evaluator(QRELS, MEASURES)
    evaluations = [evaluator.evaluate(run) for run in RUNS]
    if folder is not None:
        with explaining(folder):
            Path(folder).mkdir(parents=True, exist_ok=True)
        for file in (QRELS, *RUNS):
            write_whole(Path(folder) / file.name, file.read_bytes())
    paths = " ".join(os.path.join(folder or os.path.relpath(FOLDER), path.name) for path in (QRELS, *RUNS))
    asked = " ".join(f"-m {measure}" for measure in MEASURES)
    width = terminal_width()
    write(wrapped(INTRODUCTION, width) + "\n")
    write(wrapped_command(f"assay evaluate {paths} {asked}", width) + "\n")
    write(RENDERERS["table"](tabulate(evaluations)))
    write("\n" + wrapped(READING, width))
