"""How the stored report was made, once: python tests/records/data/make.py FOLDER (see README.md)."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from assay.evaluation import Evaluator
from assay.example import QRELS, RUNS
from assay.formats.ir_metadata import write_with_metadata
from assay.formats.unread import open_run
from assay.records.model import Example, FindingRecord
from assay.records.recording import begin_experiment
from records.samples import render

METADATA = {"tag": "hybrid", "method": {"automatic": True, "retrieval": [{"name": "bm25", "b": 0.4}]}}
TARGETS = (
    '[measures."nDCG@5"]\ngood = 0.6\nstrong = 0.8\nbaseline = 0.5\n\n[measures.AP]\nuplift = 0.1\nover = "keyword"\n'
)
FINDING = FindingRecord(
    code="RUN001",
    severity="warning",
    title="A finding",
    message="Something is odd.",
    fix="Look at it.",
    file="hybrid.run",
    line=7,
    query="curry-mild",
    count=1,
    examples=(Example(text="a line", line=7, query="curry-mild"),),
)


def make(folder: Path) -> None:
    os.chdir(folder)
    shutil.copy(QRELS, "qrels.txt")
    shutil.copy(RUNS[0], "keyword.run")
    write_with_metadata(RUNS[1], METADATA, "hybrid.run")
    Path("targets.toml").write_text(TARGETS)
    paths = ["keyword.run", "hybrid.run"]
    experiment = begin_experiment(
        "qrels.txt",
        paths,
        report="report",
        targets="targets.toml",
        settings=["model=demo", "dataset=cookbook", "index.recipes=2025-01-31", "k=60"],
        notes=["a report to be read by all later versions"],
        command=("assay", "evaluate", "qrels.txt", *paths, "--report", "report", "--targets", "targets.toml"),
    )
    evaluator = Evaluator("qrels.txt", experiment.measures(["nDCG@5", "RR", "num_ret"]), {"undefined": "nan"})
    experiment.evaluate(
        evaluator, map(open_run, paths), render, find=lambda each: [FINDING] if each.path == "hybrid.run" else []
    )


if __name__ == "__main__":
    make(Path(sys.argv[1]))
