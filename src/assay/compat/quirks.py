"""Quirks of trec_eval's C program that our measures do not have.

tests/golden/test_pytrec_eval.py checks each function against the C code.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.judged import JudgedRanking
from assay.judgments import Pool
from assay.measures.arithmetic import discount, ratio
from assay.measures.bundles import RECALLS
from assay.measures.families.binary import ROUNDINGS, interpolated_precision
from assay.measures.families.graded import Ideal, ndcg_at_level_ends, ndcg_at_relevant, normalised_gain
from assay.tables import Floats

if TYPE_CHECKING:
    from assay.compat.trec_eval import Judging

NOT_MET = 2**61  # more documents than any ranking has
WIDEST_SCALE = 10_000


def _undefined_without_documents(values: Floats, judging: Judging, name: str, params: dict[str, Any]) -> Floats:
    """With -J a ranking may become empty; its precision at recall levels that need no document is then 0 / 0.

    trec_eval 10 rounds to the nearest, so that with few relevant documents not only level 0 needs none.
    """
    judged = judging.judged
    levels = params.get("recalls") or ((params["recall"],) if "recall" in params else (0.0,))
    needs_none = ROUNDINGS[params["rounding"]](min(levels), judged.num_rel(params["rel"])) == 0
    unanswered = judging.missing & ~np.asarray(judging.options.version.prints_missing)
    return np.where((judged.retrieved == 0) & needs_none & ~unanswered, np.nan, values)


def _levels_from_the_last(values: Floats, judging: Judging, name: str, params: dict[str, Any]) -> Floats:
    """11pt_avg does not sort its recall levels and processes them from last to first, expecting decreasing recall.

    A level that is higher than the next one is never reached; it and all levels before it get the precision at recall 0.
    """
    judged, levels, rel = judging.judged, params.get("recalls", RECALLS), params["rel"]
    if list(levels) != sorted(levels):
        found, relevant = judged.num_found(rel), judged.num_rel(rel)
        sums, least = np.zeros(len(judged)), np.full(len(judged), NOT_MET)
        for level in reversed(levels):
            needed = ROUNDINGS[params["rounding"]](level, relevant)
            beyond = (needed > found) & (least == NOT_MET)  # nothing reached yet: skipped
            needed = np.where(needed > np.minimum(least, found), 0, needed)
            sums += np.where(beyond, 0.0, interpolated_precision(judged, needed, rel))
            least = np.where(beyond, least, needed)
        values = sums / len(levels)
    return _undefined_without_documents(values, judging, name, params)


def _nothing_when_missing(values: Floats, judging: Judging, name: str, params: dict[str, Any]) -> Floats:
    """trec_eval 10 does not count its made-up document, but only for these exact names."""
    exact = name in ("num_ret", "utility", "rbp_resid") or name.startswith("unj")
    return np.where(judging.missing, 0.0, values) if exact else values


def _residual_of_the_program(values: Floats, judging: Judging, name: str, params: dict[str, Any]) -> Floats:
    """trec_eval's residual is 0 if every retrieved document is judged, although the ranking could continue."""
    judged = judging.judged
    known = judged.count(judged.hit_rel >= 0)
    return _nothing_when_missing(np.where(known == judged.retrieved, 0.0, values), judging, name, params)


QUIRKS: dict[str, Callable[[Floats, Judging, str, dict[str, Any]], Floats]] = {
    "iprec_at_recall": _undefined_without_documents,
    "11pt_avg": _levels_from_the_last,
    "num_ret": _nothing_when_missing,
    "utility": _nothing_when_missing,
    "unj": _nothing_when_missing,
    "rbp_resid": _residual_of_the_program,
}

Pairs = tuple[tuple[int, float], ...]


def _gain_order(pairs: Pairs, levels: int) -> list[tuple[int, float]]:
    """Grades and their gains in the sort order of the C program.

    Its merge sort compares gains as whole numbers, so gains less than 1 apart are equal and keep their order.
    """
    given = dict(pairs)
    table = [*pairs, *((level, float(level)) for level in range(levels) if level not in given)]

    def merge_sorted(items: list[tuple[int, float]]) -> list[tuple[int, float]]:
        if len(items) < 2:
            return items
        left, right = deque(merge_sorted(items[: len(items) // 2])), deque(merge_sorted(items[len(items) // 2 :]))
        merged = []
        while left and right:
            merged.append(left.popleft() if left[0][1] - right[0][1] < 1 else right.popleft())  # as whole numbers
        return [*merged, *left, *right]

    return merge_sorted(table)


def quirky_ideal(pool: Pool, pairs: Pairs) -> Ideal:
    """The ideal ranking of the C program: down its order of gains, until the first that is not above 0."""
    grade = pool.grade.astype(np.int64)
    levels = np.zeros(len(pool), np.int64)
    np.maximum.at(levels, pool.query, grade + 1)
    parts = []
    occurring = set(np.unique(grade).tolist())
    for number in np.unique(levels).tolist():
        queries = np.flatnonzero(levels == number)
        # Very high grades are not enumerated: their gains equal the grades and are already in order.
        walk = _gain_order(pairs, min(number, WIDEST_SCALE))[::-1]
        walk = [
            (level, float(level)) for level in sorted(occurring, reverse=True) if WIDEST_SCALE <= level < number
        ] + walk
        if not walk or walk[0][1] <= 0:
            continue
        walk = [step for step in walk if step[0] in occurring]
        member = np.isin(pool.query, queries) & (grade >= 0)
        place = np.searchsorted(queries, pool.query[member])
        counts = np.zeros((len(queries), len(walk)), np.int64)
        for step, (level, _) in enumerate(walk):
            counts[:, step] = np.bincount(place[grade[member] == level], minlength=len(queries))
        gains = np.array([gain for _, gain in walk])
        counts *= np.logical_and.accumulate((counts == 0) | (gains > 0), axis=1)
        size = counts.sum(axis=1)
        parts.append((np.repeat(queries, size), np.repeat(np.tile(gains, len(queries)), counts.ravel())))
    query = np.concatenate([part[0] for part in parts]) if parts else np.zeros(0, np.int64)
    gain = np.concatenate([part[1] for part in parts]) if parts else np.zeros(0)
    order = np.argsort(query, kind="stable")
    query, gain = query[order], gain[order]
    return Ideal(query, np.arange(len(query)) - np.searchsorted(query, query) + 1, gain, len(pool))


def _gains(judged: JudgedRanking, pairs: Pairs) -> Floats:
    worth = np.maximum(judged.hit_rel, 0.0)
    for level, gain in reversed(pairs):
        worth[judged.hit_rel == level] = gain
    return worth


def _dcg(judged: JudgedRanking, pairs: Pairs) -> Floats:
    return judged.total(_gains(judged, pairs) / discount(judged.hit_rank))


def _rndcg(judged: JudgedRanking, pairs: Pairs, level: int) -> Floats:
    """NaN (0 / 0) if there are relevant documents but none has a gain."""
    ideal = quirky_ideal(judged.pool, pairs)
    values = np.where(ideal.size > 0, ndcg_at_level_ends(judged, _gains(judged, pairs), ideal), np.nan)
    return np.where(judged.num_rel(level) > 0, values, 0.0)


GAIN_QUIRKS: dict[str, Callable[[JudgedRanking, Pairs, int], Floats]] = {
    "dcg": lambda judged, pairs, level: _dcg(judged, pairs),
    "ideal_dcg": lambda judged, pairs, level: quirky_ideal(judged.pool, pairs).dcg(),
    "ndcg": lambda judged, pairs, level: ratio(_dcg(judged, pairs), quirky_ideal(judged.pool, pairs).dcg()),
    "ndcg_rel": lambda judged, pairs, level: ndcg_at_relevant(
        judged, _gains(judged, pairs), quirky_ideal(judged.pool, pairs)
    ),
    "Rndcg": _rndcg,
    "G": lambda judged, pairs, level: normalised_gain(judged, _gains(judged, pairs), quirky_ideal(judged.pool, pairs)),
}
