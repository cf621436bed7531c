"""Create the run file of each mode: index, search and time, each step once. Independent of measures."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
from msgspec import Struct

from assay.benchmark.planning import BenchmarkPlan, PlannedMode, parts_of
from assay.benchmark.steps import Step, Workspace, digest
from assay.collections import Collection
from assay.errors import InputError
from assay.formats import read_run
from assay.formats.writing import run_as_bytes
from assay.records.benchmark import ModeTiming
from assay.retrieval.base import Progress, Retriever, Searcher, silent
from assay.retrieval.modes import Hybrid
from assay.tables import Run

TIMED = 100  # the most queries to time


class Searched(Struct, frozen=True):
    """A mode with its run file."""

    mode: PlannedMode
    path: str  # relative to the benchmark folder; empty if no query found anything
    sha256: str
    milliseconds: tuple[tuple[float, ...], ...]  # of each timed query, pass by pass
    index_seconds: float | None
    search_seconds: float
    index: str | None  # digest of its index; None for a fusion

    @property
    def timing(self) -> ModeTiming:
        """A summary of the times."""
        return ModeTiming(
            milliseconds=median(sum(self.milliseconds, ())),
            p95=float(np.percentile(self.milliseconds, 95)),
            passes=tuple(map(median, self.milliseconds)),
            queries=len(self.milliseconds[0]),
            index_seconds=self.index_seconds,
            search_seconds=self.search_seconds,
        )


class Search(Struct, frozen=True):
    """What all modes of a benchmark search."""

    collection: Collection
    corpus: str  # digest of the documents
    queries: Mapping[str, str]  # id -> text: the same for all
    depth: int
    seed: int
    repeats: int

    @property
    def key(self) -> list[Any]:
        """What decides a run, apart from the mode."""
        return [self.corpus, list(self.queries.items()), self.depth]

    def timed(self) -> list[str]:
        """The queries to time: a seeded sample, or all if there are few."""
        names = random.Random(self.seed).sample(sorted(self.queries), min(TIMED, len(self.queries)))
        return [self.queries[name] for name in names]


def search_all(
    search: Search, plan: BenchmarkPlan, space: Workspace, progress: Progress | None = None
) -> list[Searched]:
    """The runs of all modes, in the order of the plan; finished steps are reused."""
    found: dict[str, Searched] = {}
    for mode in plan.modes:
        if isinstance(mode.way, Hybrid):
            found[mode.name] = _fused(search, mode, mode.way, found, space)
        else:
            found[mode.name] = _retrieved(search, mode, mode.way, space, progress)
    return list(found.values())


def steps_of(searched: Sequence[Searched]) -> list[str]:
    """The names of the steps that made these runs."""
    return [f"{step} {each.mode.name}" for each in searched for step in ("search", "time")]


# A mode that searches


def _retrieved(
    search: Search, mode: PlannedMode, way: Retriever, space: Workspace, progress: Progress | None
) -> Searched:
    index = digest("index", mode.mode.kind, mode.settings, search.corpus)
    folder = space.index_folder(mode.name, index)
    key = digest("search", mode.name, index, *search.key)
    named = _named(progress, mode.name)
    step = space.finished(f"search {mode.name}", key)
    if step is None:
        indexing = _index(search, way, folder, named)
        start = perf_counter()
        run = way.search(folder, search.queries, search.depth, named)
        searching = perf_counter() - start
        step = _write(space, mode.name, key, run, {"index_seconds": indexing, "search_seconds": searching})
    timed = digest("time", key, search.seed, search.repeats)
    timing = space.finished(f"time {mode.name}", timed)
    if timing is None:
        _index(search, way, folder, named)
        facts = {"milliseconds": _timed(search, way, folder, named)}
        timing = space.finish(f"time {mode.name}", timed, facts=facts)
    return _searched(mode, step, timing.facts["milliseconds"], index)


def _index(search: Search, way: Retriever, folder: Path, progress: Progress | None) -> float:
    """Build the index unless it exists; returns the seconds taken."""
    folder.mkdir(parents=True, exist_ok=True)
    start = perf_counter()
    way.index(search.collection.documents, folder, progress)
    return perf_counter() - start


def _timed(search: Search, way: Retriever, folder: Path, progress: Progress | None) -> list[list[float]]:
    """Milliseconds of each timed query, pass by pass: one query at a time, with index and model loaded."""
    texts, tell = search.timed(), progress or silent
    passes = []
    with way.open(folder) as searcher:
        _asked(searcher, texts[0], search.depth)  # warm up; not counted
        for done in range(search.repeats):
            tell("timing", done, search.repeats)
            passes.append([_asked(searcher, text, search.depth) for text in texts])
        tell("timing", search.repeats, search.repeats)
    return passes


def _asked(searcher: Searcher, text: str, depth: int) -> float:
    """The milliseconds that one query takes."""
    start = perf_counter()
    searcher.find([text], depth)
    return (perf_counter() - start) * 1000


# A mode that fuses


def _fused(
    search: Search, mode: PlannedMode, way: Hybrid, before: Mapping[str, Searched], space: Workspace
) -> Searched:
    parts = [before[name] for name in parts_of(mode.mode)]
    key = digest("fuse", mode.name, mode.settings, [part.sha256 for part in parts], search.depth)
    step = space.finished(f"search {mode.name}", key)
    if step is None:
        runs = {part.mode.name: _run_of(part, space) for part in parts}
        start = perf_counter()
        run = way.fuse(runs, search.depth)
        step = _write(space, mode.name, key, run, {"index_seconds": None, "search_seconds": perf_counter() - start})
    # A hybrid searches its parts one after the other, so a query takes the sum of their times plus the fusion.
    own = step.facts["search_seconds"] / len(search.queries) * 1000
    passes = zip(*(part.milliseconds for part in parts), strict=True)
    times = [[sum(each) + own for each in zip(*same, strict=True)] for same in passes]
    return _searched(mode, step, times, None)


def _run_of(searched: Searched, space: Workspace) -> Run:
    name = searched.mode.name
    return (
        read_run(space.folder / searched.path, name=name) if searched.path else Run.from_columns([], [], [], name=name)
    )


def _write(space: Workspace, name: str, key: str, run: Run, facts: Mapping[str, Any]) -> Step:
    return space.finish(f"search {name}", key, space.write(_run_file(name, run)), facts)


def _run_file(name: str, run: Run) -> dict[str, bytes]:
    """The run as a TREC file, or as JSON Lines if ids contain whitespace; no file if it is empty."""
    if not len(run):
        return {}
    try:
        return {f"runs/{name}.run": run_as_bytes(run, "trec", tag=name)[0]}
    except InputError:
        return {f"runs/{name}.jsonl": run_as_bytes(run, "jsonl", tag=name)[0]}


def _searched(mode: PlannedMode, step: Step, times: Sequence[Sequence[float]], index: str | None) -> Searched:
    path, sha256 = next(iter(step.outputs.items()), ("", ""))
    seconds = step.facts["index_seconds"], step.facts["search_seconds"]
    return Searched(mode, path, sha256, tuple(map(tuple, times)), *seconds, index)


def _named(progress: Progress | None, name: str) -> Progress | None:
    """The same callback, with the mode in front of the step."""
    if progress is None:
        return None

    def told(step: str, done: int, total: int | None) -> None:
        progress(f"{name}: {step}", done, total)

    return told
