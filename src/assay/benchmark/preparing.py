"""Prepare a benchmark: open the collection, plan the modes, check the measures. Searches nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import Struct, to_builtins

from assay.benchmark.planning import BenchmarkPlan, plan_modes
from assay.benchmark.recipe import Recipe
from assay.benchmark.steps import digest
from assay.collections import Collection, embedded_collections, open_collection
from assay.collections.opening import EMBEDDED
from assay.comparison.comparing import BUILT_IN
from assay.comparison.segments import Segmentation, by_length, by_relevant
from assay.errors import InputError, did_you_mean, some_of
from assay.inputs.segments import read_segments
from assay.records.benchmark import MissingMode
from assay.records.building import as_text
from assay.records.identity import content_of
from assay.records.model import Digest, Targets
from assay.records.targets import read_targets, with_targets
from assay.retrieval.base import Progress
from assay.secrets import Secrets
from assay.words import plural


class Prepared(Struct, frozen=True):
    """A benchmark that is ready to run."""

    recipe: Recipe
    plan: BenchmarkPlan
    collection: Collection
    files: Mapping[str, Digest]  # by role: corpus, queries, qrels
    measures: tuple[str, ...]  # including those of the targets
    targets: Targets | None
    segmentations: tuple[Segmentation, ...]
    command: tuple[str, ...]  # without secrets

    @property
    def key(self) -> str:
        """A digest of everything that decides the report, except time."""
        modes = [[mode.name, mode.mode.kind, mode.shown, mode.settings] for mode in self.plan.modes]
        recipe, collection = self.recipe, self.collection
        return digest(
            [recipe.depth, recipe.seed, recipe.repeats, recipe.latency_limit, recipe.columns],
            [collection.name, collection.split, msgspec.to_builtins(self.files)],
            [modes, msgspec.to_builtins(self.plan.missing)],
            [self.measures, msgspec.to_builtins(self.targets)],
            [[to_builtins(each) for each in self.segmentations], recipe.segments == "difficulty"],
        )


def prepare(recipe: Recipe, *, command: Sequence[str] = (), progress: Progress | None = None) -> Prepared:
    """Check everything that can be wrong before searching, and download missing models."""
    targets = None if recipe.targets is None else read_targets(recipe.targets)
    measures = recipe.measures if targets is None else with_targets(recipe.measures, targets)
    labelled = _labelled(recipe.segments)
    collection = open_collection(
        recipe.collection, split=recipe.split, columns=recipe.columns, files=recipe.files, progress=progress
    )
    if not collection.queries:
        raise InputError(
            "no query has both text and judgments, so there is nothing to search.", source=recipe.collection
        )
    _refuse_strange_segments(labelled, collection, recipe.segments)
    plan = plan_modes(recipe, progress)
    _refuse_missing(recipe, plan)
    own = [Segmentation.from_labels(name, labels) for name, labels in labelled.items()]
    return Prepared(
        recipe=recipe,
        plan=plan,
        collection=collection,
        files=_digests(collection),
        measures=measures,
        targets=targets,
        segmentations=(*own, *_usual_segmentations(collection)),
        command=tuple(map(as_text, Secrets().hide_command(command))),
    )


def _refuse_missing(recipe: Recipe, plan: BenchmarkPlan) -> None:
    """Raise an error if no mode can run, or one that was chosen."""
    reasons = " ".join(map(_in_words, plan.missing))
    if not any(mode.shown for mode in plan.modes):
        raise InputError(f"no mode can run. {reasons}")
    if plan.missing and not recipe.allow_missing:
        words = plural("{a mode|modes}", len(plan.missing))
        raise InputError(
            f"{words} of this benchmark cannot run. {reasons} To run the others, use `allow_missing=True`."
        )


def _in_words(mode: MissingMode) -> str:
    """Why a mode cannot run; its name is not said twice."""
    words = f"{mode.reason} {mode.remedy}".strip()
    return words if words.startswith(f"{mode.name} ") else f"{mode.name}: {words}"


def _labelled(segments: str | None) -> Mapping[str, Mapping[str, str]]:
    """The columns of a segments file; none for built-in segments, which are computed elsewhere."""
    if segments is None or segments in BUILT_IN:
        return {}
    if segments != "-" and not Path(segments).exists():
        hint = did_you_mean(segments, BUILT_IN) or "."
        raise InputError(
            f"no such file{hint} Segments take a CSV file, or one of {', '.join(BUILT_IN)}.", source=segments
        )
    return read_segments(segments)


def _refuse_strange_segments(
    labelled: Mapping[str, Mapping[str, str]], collection: Collection, source: str | None
) -> None:
    queries = {query for labels in labelled.values() for query in labels}
    if queries and queries.isdisjoint(collection.queries):
        raise InputError(
            f"has no query of the collection: it has {some_of(sorted(queries))}, the collection has "
            f"{some_of(list(collection.queries))}.",
            source=source,
        )


def _digests(collection: Collection) -> dict[str, Digest]:
    """Path, digest and size of each file of the collection."""
    found = {}
    for role, path in collection.files.items():
        content = content_of(str(path))
        found[role] = Digest(path=as_text(shown_path(path)), sha256=content.sha256, size=content.size)
    return found


def shown_path(path: str | Path) -> str:
    """A path as shown in reports, without secrets; for embedded collections the same on every machine."""
    if Path(path).is_relative_to(EMBEDDED):
        return Path(path).relative_to(EMBEDDED).as_posix()
    return Secrets().hide(str(path))


def is_embedded(recipe: Recipe) -> bool:
    """Whether the collection comes with assay."""
    return recipe.collection in embedded_collections()


def _usual_segmentations(collection: Collection) -> list[Segmentation]:
    """The segmentations every report has: by query length and by number of relevant documents."""
    relevant = dict.fromkeys(collection.qrels.queries, 0)
    for number, grade in zip(collection.qrels.query.tolist(), collection.qrels.rel.tolist(), strict=True):
        relevant[collection.qrels.queries[number]] += grade > 0
    return [by_length(collection.queries), by_relevant(relevant)]
