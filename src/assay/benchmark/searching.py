"""Run files from modes: index, search and time, each step once. Knows no measure."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from assay.benchmark.planning import Plan, PlannedMode, parts_of
from assay.benchmark.steps import Step, Workspace, digest
from assay.collections import Collection
from assay.errors import InputError
from assay.formats import read_run
from assay.formats.writing import run_as_bytes
from assay.records.benchmark import ModeTiming
from assay.retrieval.base import Progress, Retriever, silent
from assay.retrieval.modes import Fused
from assay.tables import Run

TIMED = 100  # queries: few enough to be quick, and so many that opening the index does not matter


@dataclass(frozen=True)
class Searched:
    """A mode with its run file."""

    mode: PlannedMode
    path: str  # below the folder of the benchmark
    sha256: str
    timing: ModeTiming
    index: str | None  # digest of what is in its index; None for a fusion


@dataclass(frozen=True)
class Search:
    """What all modes of a benchmark are asked."""

    collection: Collection
    corpus: str  # digest of the documents
    queries: Mapping[str, str]  # id -> text: the same for all
    depth: int
    seed: int
    repeats: int

    @property
    def key(self) -> list[Any]:
        """What decides a run besides the mode."""
        return [self.corpus, list(self.queries.items()), self.depth]

    def timed(self) -> dict[str, str]:
        """The queries that are timed: a seeded sample, or, where there are too few, all of them several times."""
        draw = random.Random(self.seed)
        names = draw.sample(sorted(self.queries), min(TIMED, len(self.queries)))
        return {
            f"{number} {name}": self.queries[name] for number, name in zip(range(TIMED), cycle(names), strict=False)
        }


def search_all(search: Search, plan: Plan, space: Workspace, progress: Progress | None = None) -> list[Searched]:
    """The runs of all modes, in the order of the plan; what is finished already is left as it is."""
    found: dict[str, Searched] = {}
    for mode in plan.modes:
        if isinstance(mode.way, Fused):
            found[mode.name] = _fused(search, mode, mode.way, found, space)
        else:
            found[mode.name] = _retrieved(search, mode, mode.way, space, progress)
    return list(found.values())


def steps_of(searched: Sequence[Searched]) -> list[str]:
    """The names of the steps behind these runs."""
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
        facts = {"milliseconds": _timed(search, way, folder, named), "queries": min(TIMED, len(search.queries))}
        timing = space.finish(f"time {mode.name}", timed, facts=facts)
    return _searched(mode, step, timing, index)


def _index(search: Search, way: Retriever, folder: Path, progress: Progress | None) -> float:
    """Build the index, or find it finished; gives the seconds that it took."""
    folder.mkdir(parents=True, exist_ok=True)
    start = perf_counter()
    way.index(search.collection.documents, folder, progress)
    return perf_counter() - start


def _timed(search: Search, way: Retriever, folder: Path, progress: Progress | None) -> list[float]:
    """Milliseconds per query, pass by pass.

    Every search opens the index and the model; what one query takes is therefore subtracted from what all of them take.
    """
    queries = search.timed()
    one = dict(list(queries.items())[:1])
    tell = progress or silent
    passes = []
    for done in range(search.repeats):
        tell("timing", done, search.repeats)
        alone, together = (_seconds(way, folder, asked, search.depth) for asked in (one, queries))
        more = together - alone
        # On a busy machine one query may seem to take longer than all: then what opening takes is not told apart.
        each = more / (len(queries) - 1) if more > 0 else together / len(queries)
        passes.append(each * 1000)
    tell("timing", search.repeats, search.repeats)
    return passes


def _seconds(way: Retriever, folder: Path, queries: Mapping[str, str], depth: int) -> float:
    start = perf_counter()
    way.search(folder, queries, depth)
    return perf_counter() - start


# A mode that fuses


def _fused(search: Search, mode: PlannedMode, way: Fused, before: Mapping[str, Searched], space: Workspace) -> Searched:
    parts = [before[name] for name in parts_of(mode.mode)]
    key = digest("fuse", mode.name, mode.settings, [part.sha256 for part in parts], search.depth)
    step = space.finished(f"search {mode.name}", key)
    if step is None:
        runs = {part.mode.name: read_run(space.folder / part.path, name=part.mode.name) for part in parts}
        start = perf_counter()
        run = way.fuse(runs, search.depth)
        step = _write(space, mode.name, key, run, {"index_seconds": None, "search_seconds": perf_counter() - start})
    # A hybrid asks its parts one after the other, then fuses: what it takes is what they take together and the fusion.
    own = step.facts["search_seconds"] / max(len(search.queries), 1) * 1000
    timing = ModeTiming(
        milliseconds=sum(part.timing.milliseconds for part in parts) + own,
        passes=(),
        queries=min((part.timing.queries for part in parts), default=0),
        index_seconds=None,
        search_seconds=step.facts["search_seconds"],
    )
    ((path, sha256),) = step.outputs.items()
    return Searched(mode, path, sha256, timing, None)


def _write(space: Workspace, name: str, key: str, run: Run, facts: Mapping[str, Any]) -> Step:
    return space.finish(f"search {name}", key, space.write(_run_file(name, run)), facts)


def _run_file(name: str, run: Run) -> dict[str, bytes]:
    """The run as a TREC file; as JSON Lines where ids have blanks, which end a column of TREC files."""
    try:
        return {f"runs/{name}.run": run_as_bytes(run, "trec", tag=name)[0]}
    except InputError:
        return {f"runs/{name}.jsonl": run_as_bytes(run, "jsonl", tag=name)[0]}


def _searched(mode: PlannedMode, step: Step, timing: Step, index: str) -> Searched:
    passes = timing.facts["milliseconds"]
    measured = ModeTiming(
        milliseconds=median(passes),
        passes=tuple(passes),
        queries=timing.facts["queries"],
        index_seconds=step.facts["index_seconds"],
        search_seconds=step.facts["search_seconds"],
    )
    ((path, sha256),) = step.outputs.items()
    return Searched(mode, path, sha256, measured, index)


def _named(progress: Progress | None, name: str) -> Progress | None:
    """The same, with the mode before the step."""
    if progress is None:
        return None

    def told(step: str, done: int, total: int | None) -> None:
        progress(f"{name}: {step}", done, total)

    return told
