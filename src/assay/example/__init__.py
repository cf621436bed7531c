"""A small cookbook search, judged by hand: the data of `assay demo`, of the tutorial and of the tests."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

FOLDER = Path(str(files(__name__)))
QRELS = FOLDER / "qrels.txt"
RUNS = (FOLDER / "keyword.run", FOLDER / "hybrid.run")
