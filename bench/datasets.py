"""The bench's data: which files there are and where, made once. Knows no tool; `generate.py` knows the shapes."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

BENCH = Path(__file__).resolve().parent
FOLDER = BENCH / "data" / "v1"  # a new number when generate.py writes other bytes
GROWTH_LINES = (100_000, 300_000, 1_000_000, 3_000_000, 10_000_000, 20_000_000)


@dataclass(frozen=True)
class Dataset:
    """One qrels file and the runs that are evaluated against it."""

    name: str
    about: str
    lines: int
    run_names: tuple[str, ...] = ("run.txt",)
    made_from: str | None = None

    @property
    def folder(self) -> Path:
        return FOLDER / self.name

    @property
    def qrels(self) -> str:
        return str(self.folder / "qrels.txt")

    @property
    def runs(self) -> list[str]:
        return [str(self.folder / name) for name in self.run_names]


def read_anew(dataset: Dataset) -> None:
    """Read the files from disk, front to back, so that they lie in the page cache as a fresh read puts them there.

    What lies there from before may be in small pieces, all over the memory: copying it then takes half as long again.
    """
    for path in (dataset.qrels, *dataset.runs):
        with open(path, "rb", buffering=0) as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            while file.read(1 << 20):
                pass


_M2_RUNS = tuple(f"run{number:03d}.txt" for number in range(100))
_TABLE = (
    Dataset("tiny", "10 queries x 10 documents", 100),
    Dataset("S", "50 queries x 1,000 documents, 300 judged each", 50_000),
    Dataset("M", "6,980 queries x 1,000 documents, about one relevant each", 6_980_000),
    Dataset("M-tenth", "700 queries x 1,000 documents, of M's shape", 700_000),
    Dataset("M2", "100 runs of 50 queries x 1,000 documents, one qrels", 5_000_000, _M2_RUNS),
    Dataset("L", "1,000,000 queries x 20 documents, three judged each", 20_000_000),
    Dataset("M-shuffled", "M, its lines in random order", 6_980_000, made_from="M"),
    Dataset("M-equal", "M, all scores equal", 6_980_000, made_from="M"),
    Dataset("M-gzip", "M, gzip", 6_980_000, ("run.txt.gz",), made_from="M"),
    *(Dataset(f"growth-{lines}", f"{lines // 1000:,} queries of M's shape", lines) for lines in GROWTH_LINES),
)
DATASETS = {dataset.name: dataset for dataset in _TABLE}


def make(name: str, python: str) -> Dataset:
    """The data set, made by that interpreter if it is not there yet.

    A folder gets its name when it is whole, so that what was interrupted is never taken for data.
    """
    dataset = DATASETS[name]
    if not dataset.folder.exists():
        source = make(dataset.made_from, python).folder if dataset.made_from else FOLDER
        partial = dataset.folder.with_name(name + ".partial")
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        subprocess.run([python, str(BENCH / "generate.py"), name, str(partial), str(source)], check=True)
        partial.rename(dataset.folder)
    return dataset
