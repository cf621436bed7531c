"""Fusion in plain Python, one document at a time: slow, but easy to compare with the papers."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

Ranking = dict[str, float]  # the scores of one query in one run
Votes = list[Ranking | None]  # one for each run; None if it lacks the query


def as_bytes(doc: str) -> bytes:
    return doc.encode("utf-8", "surrogateescape")


def ranks(scores: Ranking) -> dict[str, int]:
    """By descending score, with ties broken by document id, descending."""
    by_id = sorted(scores, key=as_bytes, reverse=True)
    return {doc: place for place, doc in enumerate(sorted(by_id, key=lambda doc: -scores[doc]), 1)}


def candidates(votes: list[Ranking]) -> list[str]:
    return list(dict.fromkeys(doc for scores in votes for doc in scores))


# Normalisations: the scores of one query in one run, given those of all runs


def none(scores: Ranking, votes: list[Ranking]) -> Ranking:
    return scores


def min_max(scores: Ranking, votes: list[Ranking]) -> Ranking:
    low, high = min(scores.values(), default=0), max(scores.values(), default=0)
    return {doc: 1.0 if low == high else (score - low) / (high - low) for doc, score in scores.items()}


def sum_to_one(scores: Ranking, votes: list[Ranking]) -> Ranking:
    low = min(scores.values(), default=0)
    total = sum(score - low for score in scores.values())
    constant = len(set(scores.values())) == 1
    return {doc: 1 / len(scores) if constant else (score - low) / total for doc, score in scores.items()}


def z_score(scores: Ranking, votes: list[Ranking]) -> Ranking:
    if len(set(scores.values())) <= 1:
        return dict.fromkeys(scores, 0.0)
    mean, deviation = statistics.fmean(scores.values()), statistics.pstdev(scores.values())
    return {doc: (score - mean) / deviation for doc, score in scores.items()}


def by_rank(scores: Ranking, votes: list[Ranking]) -> Ranking:
    return {doc: 1 - (rank - 1) / len(scores) for doc, rank in ranks(scores).items()}


def by_borda(scores: Ranking, votes: list[Ranking]) -> Ranking:
    size = len(candidates(votes))
    return {doc: points / size for doc, points in borda_points(scores, votes).items()}


def borda_points(scores: Ranking, votes: list[Ranking]) -> Ranking:
    """The points of a run: c for its first of c candidates; missing documents share the points not assigned."""
    docs = candidates(votes)
    points = {doc: float(len(docs) - rank + 1) for doc, rank in ranks(scores).items()}
    others = [doc for doc in docs if doc not in scores]
    left = len(docs) * (len(docs) + 1) / 2 - sum(points.values())
    return points | {doc: left / len(others) for doc in others}


NORMALISATIONS: dict[str, Callable[[Ranking, list[Ranking]], Ranking]] = {
    "none": none,
    "min-max": min_max,
    "sum": sum_to_one,
    "z-score": z_score,
    "rank": by_rank,
    "borda": by_borda,
}


# Methods: for one document, from the scores or ranks of all runs


def by_ranks(add: Callable[[int], float], times: Callable[[int], float] = lambda found: 1) -> Callable[..., float]:
    def compute(doc: str, votes: list[Ranking], weights: list[float]) -> float:
        parts = [
            weight * add(ranks(scores)[doc]) for scores, weight in zip(votes, weights, strict=True) if doc in scores
        ]
        return times(len(parts)) * math.fsum(parts)

    return compute


def by_scores(combine: Callable[[list[float], int], float]) -> Callable[..., float]:
    def compute(doc: str, votes: list[Ranking], weights: list[float]) -> float:
        found = [weight * scores[doc] for scores, weight in zip(votes, weights, strict=True) if doc in scores]
        return combine(found, len(votes))

    return compute


def borda(doc: str, votes: list[Ranking], weights: list[float]) -> float:
    return math.fsum(weight * borda_points(scores, votes)[doc] for scores, weight in zip(votes, weights, strict=True))


def average(doc: str, votes: list[Ranking], weights: list[float]) -> float:
    total = [weight * scores.get(doc, 0) for scores, weight in zip(votes, weights, strict=True)]
    return math.fsum(total) / math.fsum(weights)


def condorcet(doc: str, votes: list[Ranking], weights: list[float]) -> float:
    last = len(candidates(votes)) + 1
    score = 0.0
    for other in candidates(votes):
        margin = 0.0
        for scores, weight in zip(votes, weights, strict=True):
            own, theirs = ranks(scores).get(doc, last), ranks(scores).get(other, last)
            margin += weight * ((own < theirs) - (own > theirs))
        score += 0 if other == doc else 0.5 if abs(margin) < 1e-9 else float(margin > 0)
    return score


METHODS: dict[str, Callable[..., float]] = {
    "rrf": by_ranks(lambda rank: 1 / (60 + rank)),
    "isr": by_ranks(lambda rank: 1 / rank**2, lambda found: found),
    "logisr": by_ranks(lambda rank: 1 / rank**2, math.log),
    "rbc": by_ranks(lambda rank: 0.2 * 0.8 ** (rank - 1)),
    "borda": borda,
    "condorcet": condorcet,
    "combsum": by_scores(lambda found, runs: sum(found)),
    "weighted": by_scores(lambda found, runs: sum(found)),
    "combmnz": by_scores(lambda found, runs: len(found) * sum(found)),
    "combanz": by_scores(lambda found, runs: statistics.fmean(found)),
    "combmax": by_scores(lambda found, runs: max(found)),
    "combmin": by_scores(lambda found, runs: min(found)),
    "combmed": by_scores(lambda found, runs: statistics.median(found)),
    "average": average,
    "interpolation": by_scores(lambda found, runs: sum(found) / 2),
}
BY_RANK = ("rrf", "isr", "logisr", "rbc", "borda", "condorcet")


def fuse_slowly(
    parts: list[dict[str, Ranking]], method: str, norm: str, weights: list[float] | None
) -> dict[str, Ranking]:
    """The fused scores by query."""
    fused: dict[str, Ranking] = {}
    for query in dict.fromkeys(query for part in parts for query in part):
        votes = [part.get(query, {}) for part in parts]
        docs = candidates(votes)
        if method not in BY_RANK:
            votes = [NORMALISATIONS[norm](scores, votes) for scores in votes]
        fused[query] = {doc: METHODS[method](doc, votes, weights or [1.0] * len(parts)) for doc in docs}
    return fused
