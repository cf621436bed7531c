"""Sixty queries, each with one relevant document, and runs that put it first or second."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from records.samples import conduct

COUNT = 60
MEASURES = ("RR", "P@1", "R@10")


def run_text(first: Callable[[int], bool], count: int = COUNT) -> str:
    """A run with the relevant document a first on the given queries, and second elsewhere."""
    rows = []
    for number in range(count):
        top, next_ = ("a", "b") if first(number) else ("b", "a")
        rows.append(f"q{number} Q0 {top} 1 2.0 t\nq{number} Q0 {next_} 2 1.0 t\n")
    return "".join(rows)


def write_files(folder: Path) -> Path:
    """qrels.txt, and three runs: RR 0.75 in main.run, 0.875 in better.run, 0.625 in worse.run."""
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 a 1\nq{n} 0 b 0\n" for n in range(COUNT)))
    (folder / "main.run").write_text(run_text(lambda n: n % 2 == 0))
    (folder / "better.run").write_text(run_text(lambda n: n % 4 != 1))
    (folder / "worse.run").write_text(run_text(lambda n: n % 4 == 0))
    return folder


def write_report(name: str = "base", runs: tuple[str, ...] = ("main.run",), **others) -> Path:
    """The report of runs in the current folder, as `assay evaluate --report` writes it, without its charts."""
    conduct("qrels.txt", list(runs), measures=MEASURES, report=name, **others)
    return Path(name)


def edit(path: Path, **changes: object) -> Path:
    """Change some fields of a JSON file."""
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path
