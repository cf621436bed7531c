"""Choose the mode to use: overall, per segment of queries, and within a latency limit. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

import numpy as np
from msgspec.structs import replace

from assay.comparison.comparing import Comparison, compare_scores
from assay.comparison.pairs import SystemScores
from assay.comparison.segments import Segmentation
from assay.errors import show_id
from assay.records.benchmark import BestMode, LatencyChoice, SegmentChoice
from assay.report.benchmark.words import milliseconds
from assay.words import listed, plural

FEW_QUERIES = 10  # in a segment; with fewer, the best mode is mostly chance

Means = Mapping[str, float | None]  # by mode


def best_of(means: Means) -> tuple[str, ...]:
    """The modes with the highest mean: several if tied, none if no mode has a value.

    >>> best_of({"lexical": 0.4, "vector": 0.5, "hybrid": 0.5, "none": None})
    ('vector', 'hybrid')
    """
    known = {mode: mean for mode, mean in means.items() if mean is not None and not math.isnan(mean)}
    return tuple(mode for mode, mean in known.items() if mean == max(known.values()))


def best_by_measure(means: Mapping[str, Means], rewards: Mapping[str, bool]) -> dict[str, tuple[str, ...]]:
    """The best modes by measure; none if higher is not better, or if all modes tie.

    >>> best_by_measure({"AP": {"a": 0.1, "b": 0.2}, "num_ret": {"a": 9.0, "b": 5.0}}, {"AP": True, "num_ret": False})
    {'AP': ('b',), 'num_ret': ()}
    """
    found = {}
    for measure, by_mode in means.items():
        best = best_of(by_mode) if rewards[measure] else ()
        found[measure] = best if len(best) == 1 or len(best) < len(by_mode) else ()
    return found


def best_overall(
    scores: SystemScores,
    best: Mapping[str, tuple[str, ...]],
    comparison: Comparison | None,
    empty: Sequence[str] = (),
) -> BestMode | None:
    """The best mode or tied modes by the first measure, and the modes that are not significantly worse.

    `comparison` compares all modes with the first; its verdicts are used where it has them, so that the report does not
    contradict itself. `empty` lists modes without scores because they found nothing.
    """
    means = _means(scores, 0)
    leading = best_of(means)
    if not leading:
        return None
    mode = leading[0]  # of tied modes, the one named first
    value = means[mode]
    near = set() if comparison is None else {other for each in leading for other in _not_worse(each, comparison)}
    near |= set(leading)  # even if a test over their shared queries finds a difference
    not_worse = tuple(system for system in scores.systems if system in near and system != mode)
    won = {system: sum(system in modes for modes in best.values()) for system in scores.systems}
    return BestMode(
        mode=mode,
        value=value,
        not_worse=not_worse,
        measures_won={system: count for system, count in won.items() if count},
        equal=leading[1:],
        words=_best_in_words(scores, leading, value, not_worse, empty, alone=comparison is None),
    )


def best_by_segment(
    scores: SystemScores, segmentations: Iterable[Segmentation], modes: Collection[str] | None = None
) -> tuple[SegmentChoice, ...]:
    """The means of all modes by the first measure in each segment, and the best of all or of the given modes."""
    found = []
    for segmentation in segmentations:
        for segment in segmentation.segments:
            chosen = np.array([segmentation.segment_of.get(query) == segment for query in scores.queries], np.bool_)
            if not chosen.any():
                continue
            means = _means(scores, 0, chosen)
            found.append(
                SegmentChoice(
                    segmentation=segmentation.name,
                    segment=segment,
                    queries=int(chosen.sum()),
                    means={mode: None if math.isnan(mean) else mean for mode, mean in means.items()},
                    best=best_of({mode: mean for mode, mean in means.items() if modes is None or mode in modes}),
                    few=int(chosen.sum()) < FEW_QUERIES,
                    caution=segmentation.caution,
                )
            )
    return tuple(found)


def best_within(limit: float, means: Means, times: Mapping[str, float], measure: str) -> LatencyChoice:
    """The best mode whose median time per query is within the limit; if several tie, the one with the lowest.

    >>> best_within(5, {"lexical": 0.4, "vector": 0.5}, {"lexical": 1.0, "vector": 9.0}, "nDCG@10").words
    'Within 5 ms per query, lexical has the highest nDCG@10 (0.4000); too slow: vector (9.00 ms).'
    """
    slow = tuple(mode for mode in means if mode in times and times[mode] > limit)
    fast = {mode: mean for mode, mean in means.items() if mode in times and mode not in slow}
    best = best_of(fast)
    fastest = min(best, key=lambda mode: times[mode], default=None)
    said = ", ".join(f"{show_id(mode)} ({milliseconds(times[mode])} ms)" for mode in slow)
    left_out = f"; too slow: {said}" if said else ""
    unknown = ", ".join(show_id(mode) for mode in means if mode not in times)
    left_out += f"; time not known: {unknown}" if unknown else ""
    if not best:
        words = f"No mode is within {limit:g} ms per query{left_out}."
    else:
        said = f"{_leading_in_words(best, measure)} ({fast[best[0]]:.4f})"
        apart = f"; {show_id(fastest)} has the lowest median time" if fastest is not None and len(best) > 1 else ""
        words = f"Within {limit:g} ms per query, {said}{apart}{left_out}."
    return LatencyChoice(limit=limit, mode=fastest, too_slow=slow, words=words)


def _means(scores: SystemScores, measure: int, chosen: np.ndarray | None = None) -> dict[str, float]:
    """The mean of each system over its queries with a value; NaN if it has none."""
    found = {}
    for column, system in enumerate(scores.systems):
        values = scores.column(measure, column)
        values = values if chosen is None else values[chosen]
        known = values[~np.isnan(values)]
        found[system] = math.fsum(known) / len(known) if len(known) else math.nan
    return found


def _not_worse(mode: str, comparison: Comparison) -> Iterator[str]:
    """Modes that are not significantly worse than this one, with the same correction as in the report."""
    scores = comparison.scores
    known = {
        pair.baseline if pair.system == mode else pair.system: pair.verdict
        == ("better" if pair.system == mode else "worse")
        for pair in comparison.of(scores.measures[0])
        if mode in (pair.baseline, pair.system)
    }
    others = compare_scores(scores, replace(comparison.study, baselines=(mode,)))
    shown = {pair.system: pair.verdict == "worse" for pair in others.of(scores.measures[0])} | known
    return (system for system in scores.systems if system != mode and not shown[system])


def _best_in_words(
    scores: SystemScores,
    leading: Sequence[str],
    value: float,
    not_worse: Sequence[str],
    empty: Sequence[str],
    *,
    alone: bool,
) -> str:
    measure, others = scores.measures[0], len(scores.systems) - len(leading)
    several = len(leading) > 1
    if several and not others:
        each = "both" if len(leading) == 2 else "all"
        return f"{_modes(leading)} tie: {each} have {measure} {value:.4f}."
    said = f"{_leading_in_words(leading, measure)} ({value:.4f})"
    if not others:
        if empty:
            return f"{said}; {_modes(empty)} found nothing."
        return f"{said}; no other mode ran." if alone else f"{said}."
    near = [mode for mode in not_worse if mode not in leading]
    if not near:
        which = {1: "the other mode", 2: "both others"}.get(others, f"all {others} others")
        return f"{said}, and {'are' if several else 'is'} significantly better than {which}."
    return f"{said}, but {_modes(near)} {plural('{is|are}', len(near))} not significantly worse."


def _leading_in_words(leading: Sequence[str], measure: str) -> str:
    if len(leading) == 1:
        return f"{show_id(leading[0])} has the highest {measure}"
    return f"{_modes(leading)} tie for the highest {measure}"


def _modes(names: Sequence[str]) -> str:
    return listed([*map(show_id, names)])
