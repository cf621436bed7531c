"""Create the run file of each mode, each step once, and time the modes side by side. Independent of measures."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from time import perf_counter
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from assay.benchmark.planning import BenchmarkPlan, PlannedMode
from assay.benchmark.steps import Step, Workspace, digest
from assay.collections import Collection
from assay.errors import AssayError, CleanUpWarning, InputError
from assay.formats import read_run
from assay.formats.writing import run_as_bytes
from assay.records.benchmark import ModeTiming
from assay.retrieval.base import Progress, silent
from assay.retrieval.modes import MODES
from assay.retrieval.nodes import Retrieving, Task
from assay.retrieval.observing import Observed
from assay.retrieval.reranking import Work
from assay.retrieval.texts import Texts, open_texts
from assay.tables import Run

TIMED = 100  # the most queries to time
TEXTS = "texts"  # the documents by id, beside the indexes

Passes = tuple[tuple[float, ...], ...]  # milliseconds of each timed query, pass by pass


class Searched(Struct, frozen=True):
    """A mode with its run file."""

    mode: PlannedMode
    path: str  # relative to the benchmark folder; empty if no query found anything
    sha256: str
    index_seconds: float | None
    search_seconds: float
    folder: str  # digest that names the folder of its index, or of the answers it keeps
    work: Work
    observed: Observed
    asked: Mapping[str, float]  # milliseconds of each query, if they were measured as the run was made

    @property
    def index(self) -> str | None:
        """The digest of its index; None if it has none."""
        return self.folder if MODES[self.mode.mode.kind].role == "retriever" else None


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
        return random.Random(self.seed).sample(sorted(self.queries), min(TIMED, len(self.queries)))


def search_all(
    search: Search, plan: BenchmarkPlan, space: Workspace, progress: Progress | None = None
) -> list[Searched]:
    """The runs of all modes, in the order of the plan; finished steps are reused."""
    found: dict[str, Searched] = {}
    for mode in plan.modes:
        found[mode.name] = _searched(search, mode, found, space, progress)
    return list(found.values())


@contextmanager
def cleaning_up(search: Search, plan: BenchmarkPlan, space: Workspace) -> Iterator[None]:
    """Remove in the end, also at an error or a signal, what modes keep outside the folder, such as tables in a server.

    What cannot be removed is told, and does not hide an error: the next benchmark in this folder tries again.
    """
    try:
        yield
    finally:
        for mode in plan.modes:
            if isinstance(mode.node, Retrieving):
                try:
                    mode.node.clean_up(space.index_folder(mode.name, _index_key(search, mode)))
                except AssayError as error:
                    warnings.warn(f"{mode.name} could not clean up: {error}", CleanUpWarning, stacklevel=2)


def _index_key(search: Search, mode: PlannedMode) -> str:
    return digest("index", mode.mode.kind, mode.settings, search.corpus)


def steps_of(searched: Sequence[Searched]) -> list[str]:
    """The names of the steps that made and timed these runs."""
    return [*(f"search {each.mode.name}" for each in searched), "time"]


def folders_of(search: Search, searched: Sequence[Searched]) -> list[tuple[str, str]]:
    """The folders of indexes and answers that these runs came from, by name and digest."""
    return [*((each.mode.name, each.folder) for each in searched), (TEXTS, _texts_key(search))]


def _searched(
    search: Search,
    mode: PlannedMode,
    before: Mapping[str, Searched],
    space: Workspace,
    progress: Progress | None,
) -> Searched:
    folder = _index_key(search, mode)
    inputs = [before[name] for name in mode.node.inputs]
    key = digest("search", mode.name, folder, [each.sha256 for each in inputs], *search.key)
    step = space.finished(f"search {mode.name}", key)
    if step is None:
        task = _task(search, mode, before, space, progress)
        start = perf_counter()
        made = mode.node.run(task)
        seconds = perf_counter() - start if made.search_seconds is None else made.search_seconds
        facts = {
            "index_seconds": made.index_seconds,
            "search_seconds": seconds,
            "milliseconds": dict(made.milliseconds),
            "work": msgspec.to_builtins(made.work),
            "observed": msgspec.to_builtins(made.observed),
        }
        step = _write(space, mode.name, key, made.run, facts)
    path, sha256 = next(iter(step.outputs.items()), ("", ""))
    facts = step.facts
    return Searched(
        mode,
        path,
        sha256,
        facts["index_seconds"],
        facts["search_seconds"],
        folder,
        msgspec.convert(facts["work"], Work),
        msgspec.convert(facts["observed"], Observed),
        facts["milliseconds"],
    )


def _task(
    search: Search,
    mode: PlannedMode,
    before: Mapping[str, Searched],
    space: Workspace,
    progress: Progress | None,
) -> Task:
    named = _named(progress, mode.name)
    return Task(
        queries=search.queries,
        depth=search.depth,
        documents=search.collection.documents,
        texts=partial(_texts, search, space, named),
        runs={name: _run_of(before[name], space) for name in mode.node.inputs},
        folder=space.index_folder(mode.name, _index_key(search, mode)),
        progress=named,
    )


def _texts(search: Search, space: Workspace, progress: Progress | None) -> Texts:
    """The documents by id, written once for all modes that read them."""
    folder = space.index_folder(TEXTS, _texts_key(search))
    return open_texts(search.collection.documents, folder, progress)


def _texts_key(search: Search) -> str:
    return digest(TEXTS, search.corpus)


# Time


def time_all(
    search: Search, searched: Sequence[Searched], space: Workspace, progress: Progress | None = None
) -> dict[str, ModeTiming]:
    """How long each mode takes for a query, including the modes whose runs it takes.

    The modes take turns, query by query, so that whatever else the machine does slows all of them alike. Modes whose
    times were measured as their runs were made are not asked again; of a run file nothing is known.
    """
    sample = search.timed()
    key = digest("time", [[each.mode.name, each.folder, each.sha256] for each in searched], search.seed, search.repeats)
    step = space.finished("time", key)
    if step is None:
        step = space.finish("time", key, facts={"milliseconds": _in_turns(search, searched, sample, space, progress)})
    own = {name: np.array(passes) for name, passes in step.facts["milliseconds"].items()}
    for each in searched:
        if each.asked:
            once = [each.asked.get(query, 0.0) for query in sample]
            own[each.mode.name] = np.array([once] * search.repeats)
    by_name = {each.mode.name: each for each in searched}
    return {name: _timing(by_name, name, own) for name in by_name if name in own}


def _timing(searched: Mapping[str, Searched], name: str, own: Mapping[str, np.ndarray]) -> ModeTiming:
    """A mode that stands on others waits for them one after the other; one that two of them share runs once."""
    needed = _below(searched, name)
    total = np.sum([own[each] for each in needed if each in own], axis=0)
    return ModeTiming(
        milliseconds=float(np.median(total)),
        p95=float(np.percentile(total, 95)),
        passes=tuple(float(each) for each in np.median(total, axis=1)),
        own=float(np.median(own[name])),
        unknown=tuple(each for each in needed if each not in own),
        queries=total.shape[1],
        once=bool(searched[name].asked),
        index_seconds=searched[name].index_seconds,
        search_seconds=searched[name].search_seconds,
    )


def _below(searched: Mapping[str, Searched], name: str) -> list[str]:
    """The mode and all modes that it stands on, each once."""
    found: dict[str, None] = {}
    for each in searched[name].mode.node.inputs:
        found |= dict.fromkeys(_below(searched, each))
    return [*found, name]


def _in_turns(
    search: Search, searched: Sequence[Searched], sample: Sequence[str], space: Workspace, progress: Progress | None
) -> dict[str, list[list[float]]]:
    """Milliseconds of each query by mode, pass by pass: one query at a time, with indexes and models loaded."""
    tell, before = progress or silent, {each.mode.name: each for each in searched}
    with ExitStack() as opened:
        answers: dict[str, Callable[[str], object]] = {}
        for each in searched:
            timed = each.mode.node.timed(_task(search, each.mode, before, space, None)) if not each.asked else None
            if timed is not None:
                answers[each.mode.name] = opened.enter_context(timed)
        for answer in answers.values():
            answer(sample[0])  # warm up; not counted
        passes: dict[str, list[list[float]]] = {name: [] for name in answers}
        for done in range(search.repeats):
            for times in passes.values():
                times.append([])
            for turn, query in enumerate(sample):
                tell("timing", done * len(sample) + turn, search.repeats * len(sample))
                first = turn % max(len(answers), 1)
                for name in [*list(answers)[first:], *list(answers)[:first]]:  # each mode is first as often
                    start = perf_counter()
                    answers[name](query)
                    passes[name][-1].append((perf_counter() - start) * 1000)
        tell("timing", search.repeats * len(sample), search.repeats * len(sample))
    return passes


# Runs


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


def _named(progress: Progress | None, name: str) -> Progress | None:
    """The same callback, with the mode in front of the step."""
    if progress is None:
        return None

    def told(step: str, done: int, total: int | None) -> None:
        progress(f"{name}: {step}", done, total)

    return told
