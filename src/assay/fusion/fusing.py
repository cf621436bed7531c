"""Fuse runs into one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from assay.arrays import starts
from assay.errors import FusionError, show_id, some_of
from assay.formats.reading import RunLike, as_run
from assay.formats.readings import ColumnNames, Reading
from assay.formats.shapes import is_ranking, is_rows
from assay.formats.unread import open_run
from assay.fusion import methods, normalisations  # noqa: F401  (they register themselves)
from assay.fusion.pooled import RANKS, PooledRuns, pool_runs
from assay.fusion.registry import Method, Normalisation, find_method, find_normalisation
from assay.ranking import ranks_of
from assay.tables import Floats, Run


class Fused(Struct, frozen=True):
    """A fused run, how it was made, and notes about it."""

    run: Run
    method: str
    norm: str
    weights: tuple[float, ...] | None
    parameters: dict[str, float]  # including defaults
    ranks: str
    notes: tuple[str, ...]  # possible surprises, one sentence each


def fuse(
    runs: Mapping[str, RunLike] | Sequence[RunLike],
    method: str = "rrf",
    norm: str | None = None,
    weights: Sequence[float] | None = None,
    *,
    ranks: str = "score",
    depth: int | None = None,
    columns: ColumnNames | None = None,
    **parameters: float,
) -> Run:
    """One run from several, by reciprocal rank fusion or another method; docs/fusion.md lists them.

    `runs` is a list, or a dict by name, of anything that `evaluate` takes except functions. A list of documents without
    scores, best first, has the scores -1, -2, -3 and so on. `columns` names the columns of tables, as in `evaluate`.

    `norm` makes scores comparable first ("min-max", "z-score", "sum", "rank", "borda"; None: unchanged), `weights` has
    one number for each run, `parameters` are those of the method (rrf: k=60). `depth` limits the documents per query.

    The fused run has every query and document of any run. The method decides how a document counts in a run that lacks
    it; a run that lacks a query retrieved nothing for it. Ranks follow the scores, with ties broken by document id,
    descending; ranks="column" takes them from the file's rank column, as Pyserini does. The result does not depend on
    the order of the runs (except for interpolation) or of their rows, to the last bit. Rows are sorted by query and
    rank; equal scores stay equal.

    >>> fused = fuse([{"q": {"a": 9.0, "b": 8.0}}, {"q": ["b", "c"]}], k=60)
    >>> [(doc, round(score, 4)) for doc, score in zip(fused.doc, fused.score.tolist())]
    [('b', 0.0325), ('a', 0.0164), ('c', 0.0161)]
    """
    return fuse_with_notes(runs, method, norm, weights, parameters, ranks=ranks, depth=depth, columns=columns).run


def fuse_with_notes(
    runs: Mapping[str, RunLike] | Sequence[RunLike],
    method: str = "rrf",
    norm: str | None = None,
    weights: Sequence[float] | None = None,
    parameters: Mapping[str, float] | None = None,
    *,
    ranks: str = "score",
    depth: int | None = None,
    columns: ColumnNames | None = None,
) -> Fused:
    """Like `fuse`, with a record of how the run was made and notes about possible surprises."""
    how, way = find_method(method), find_normalisation(norm)
    checked = how.checked(parameters or {})
    reading = Reading(columns=columns or {}).shared()
    runs = _checked_runs(runs, how, reading)
    reading.refuse_unused()
    given = _checked_weights(weights, runs, how)
    if ranks not in RANKS:
        raise FusionError(f"ranks cannot be {ranks!r}; it takes {' or '.join(RANKS)}.")
    if depth is not None and (not isinstance(depth, (int, np.integer)) or isinstance(depth, bool) or depth < 1):
        raise FusionError(f"depth cannot be {depth!r}; it takes a whole number from 1.")
    pooled = pool_runs(runs, np.ones(len(runs)) if given is None else np.asarray(given), ranks)
    with np.errstate(over="ignore", invalid="ignore"):
        normalised = way.compute(pooled) if how.uses == "scores" else pooled
        scores = how.compute(normalised, **checked)
    _refuse_overflow(scores, how)
    fused = Run(
        pooled.queries, pooled.pair_query, pooled.pair_doc, scores, name=how.name, tag=how.name, source=how.name
    )
    notes = tuple(_notes(runs, pooled, how, way))
    return Fused(in_rank_order(fused, depth), how.name, way.name, given, checked, ranks, notes)


def in_rank_order(run: Run, depth: int | None = None) -> Run:
    """The run sorted by query and rank, cut at `depth`; its rank column and line numbers are dropped."""
    rank = ranks_of(run)
    order = np.empty(len(run), np.int64)
    order[starts(np.bincount(run.query, minlength=len(run.queries)))[run.query] + rank - 1] = np.arange(len(run))
    if depth is not None:
        order = order[rank[order] <= depth]
    return Run(
        run.queries, run.query[order], run.doc[order], run.score[order], name=run.name, tag=run.tag, source=run.source
    )


# Checks


def _checked_runs(runs: Any, how: Method, reading: Reading) -> list[Run]:
    if isinstance(runs, Mapping) and not any(map(is_ranking, runs.values())):
        tables = [as_run(run, reading, name=str(name)) for name, run in runs.items()]
    elif isinstance(runs, Sequence) and not isinstance(runs, (str, bytes)) and not is_rows(runs):
        tables = [open_run(run, reading, unnamed=f"run {number}").table for number, run in enumerate(runs, 1)]
    else:
        raise FusionError("fuse takes several runs: fuse([run, other]), or a dict by name.")
    if not tables:
        raise FusionError("no runs to fuse; give at least one.")
    if how.runs is not None and len(tables) != how.runs:
        raise FusionError(
            f"{how.name} takes exactly {how.runs} runs, not {len(tables)}. For more runs, use weighted with a weight for "
            "each."
        )
    return tables


def _checked_weights(weights: Any, runs: Sequence[Run], how: Method) -> tuple[float, ...] | None:
    if weights is None:
        if how.weights == "required":
            raise FusionError(f"{how.name} needs a weight for each run: {len(runs)} numbers, 0 or more.")
        return None
    if how.weights == "none":
        instead = "set alpha" if "alpha" in how.parameters else "use weighted, combsum or rrf"
        raise FusionError(f"{how.name} takes no weights; {instead} instead.")
    try:
        given = tuple(float(weight) for weight in weights)
    except (TypeError, ValueError):
        raise FusionError(f"weights cannot be {weights!r}; it takes a number for each run, 0 or more.") from None
    if len(given) != len(runs):
        raise FusionError(
            f"{len(given)} weight{'' if len(given) == 1 else 's'} for {len(runs)} run{'' if len(runs) == 1 else 's'} "
            f"({some_of([run.name for run in runs], 5)}): give one for each, in the same order."
        )
    if not all(np.isfinite(given)) or min(given) < 0 or not any(given):
        raise FusionError(f"weights cannot be {', '.join(map(str, given))}; they must be 0 or more, and not all 0.")
    return given


def _refuse_overflow(scores: Floats, how: Method) -> None:
    if not np.isfinite(scores).all():
        raise FusionError(f"{how.name} overflows with these scores. Normalise them: norm='min-max'.")


# Notes


def _notes(runs: Sequence[Run], pooled: PooledRuns, how: Method, way: Normalisation) -> Iterator[str]:
    if how.uses == "ranks" and way.name != "none":
        yield f"{how.name} uses only ranks, so {way.name} normalisation changes nothing."
    if how.zero and way.name in ("none", "z-score"):
        yield from _notes_on_zero(runs, way)
    partial = _partial_queries(runs, pooled)
    if partial:
        yield (
            f"{len(partial):,} of {len(pooled.queries):,} queries {'is' if len(partial) == 1 else 'are'} not in all "
            f"runs (first: {some_of(partial)}). Such queries are fused from the runs that have them."
        )
    if len(runs) > 1 and len(pooled.pair) and pooled.found.max() == 1:
        example = (
            f"{show_id(str(runs[0].doc[0]))!r} and {show_id(str(runs[-1].doc[0]))!r}"
            if len(runs[0]) and len(runs[-1])
            else ""
        )
        yield (
            "the runs have no document in common for any query. Check that they write document ids the same way"
            + (f" ({example})." if example else ".")
        )


def _notes_on_zero(runs: Sequence[Run], way: Normalisation) -> Iterator[str]:
    if way.name == "z-score":
        yield (
            "with z-score, a document that a run lacks counts as 0, the mean score of the documents it retrieved. "
            "With min-max it counts as the lowest."
        )
        return
    negative = [run for run in runs if len(run) and run.score.min() < 0]
    if negative:
        yield (
            f"{some_of([run.name for run in negative])} {'has' if len(negative) == 1 else 'have'} negative scores: a "
            "document that the run lacks counts as 0, above those. With min-max it counts as the lowest."
        )


def _partial_queries(runs: Sequence[Run], pooled: PooledRuns) -> list[str]:
    answered = pooled.retrieved.reshape(len(runs), -1) > 0
    return [pooled.queries[place] for place in np.flatnonzero(~answered.all(axis=0))]
