"""Curves for charts, computed with our own measures on the evaluated ranking."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from assay.errors import MeasureError
from assay.evaluation import Evaluator, Form, Ranked, combined, ranking_of, values_under
from assay.judged import JudgedRanking
from assay.measures import RR, IPrec, Measure, P, R, Success, nDCG
from assay.measures.conventions import Convention
from assay.records.model import Curves
from assay.rules import Rules
from assay.tables import Floats

DEEPEST = 100  # the last cutoff shown
RECALLS = tuple(tenths / 10 for tenths in range(11))
AT_CUTOFF: dict[str, Measure] = {"nDCG": nDCG, "P": P, "R": R, "Success": Success}
_MANY_QUERIES = 100_000  # a pool caches the ideal ranking of every cutoff; above this, use a new pool to save memory
# The bins for the first relevant document: name and last rank. Then follow "later" and "never".
BINS = (("1", 1), ("2", 2), ("3", 3), ("4-10", 10), ("11-100", 100), ("101-1000", 1000))
LATER, NEVER = "later", "never"

NO_CURVES = Curves(precision_at_recall=(), cutoffs=(), at_cutoff={}, first_relevant={})


def curves_of(evaluator: Evaluator, ranked: Ranked) -> Curves:
    """The curves of one run, from the same ranking as its values."""
    ranking, form = main_form(evaluator, ranked)
    depth = int(ranking.retrieved.max(initial=0))
    cutoffs = tuple(range(1, min(DEEPEST, depth) + 1))
    computed = _Computed(evaluator.like, ranking, form.rules)
    return Curves(
        precision_at_recall=tuple(computed.means([IPrec @ recall for recall in RECALLS])),
        cutoffs=cutoffs,
        at_cutoff={name: tuple(computed.means([m @ k for k in cutoffs])) for name, m in AT_CUTOFF.items()},
        first_relevant=first_relevant(computed.values(RR)),
    )


def main_form(evaluator: Evaluator, ranked: Ranked) -> tuple[JudgedRanking, Form]:
    """The ranking under the rules that the report prints; some conventions rank differently for single measures."""
    forms = evaluator.forms
    place = next((n for n, form in enumerate(forms) if form.rules == evaluator.rules and not form.topics), 0)
    return ranking_of(ranked.rankings[place]), forms[place]


class _Computed:
    """Measures on one ranking."""

    def __init__(self, like: Convention, ranking: JudgedRanking, rules: Rules) -> None:
        self._like, self._ranking, self._rules = like, ranking, rules

    def values(self, measure: Measure) -> Floats:
        ranking = self._ranking
        if len(ranking) > _MANY_QUERIES:
            ranking = replace(ranking, pool=replace(ranking.pool))
        try:
            return values_under(measure, ranking, self._rules)
        except MeasureError:  # no closed form for the average over tied orders: order ties by document id
            return values_under(measure, ranking, replace(self._rules, ties="doc-desc"))

    def means(self, measures: Sequence[Measure]) -> Iterator[float | None]:
        for measure in measures:
            mean = combined(measure, self.values(_adapted(self._like, measure)))
            yield None if math.isnan(mean) else mean


def _adapted(like: Convention, measure: Measure) -> Measure:
    """The convention's version of a measure; our own if it has none."""
    try:
        return like.adapt(measure)
    except MeasureError:
        return measure


def first_relevant(reciprocal: Floats) -> dict[str, int]:
    """The number of queries by the rank of their first relevant document; queries without a value are left out.

    When ties are averaged, a query's rank is one over its mean reciprocal rank.

    >>> first_relevant(np.array([1.0, 1 / 7, 0.0]))
    {'1': 1, '2': 0, '3': 0, '4-10': 1, '11-100': 0, '101-1000': 0, 'later': 0, 'never': 1}
    """
    known = reciprocal[~np.isnan(reciprocal)]
    ranks = np.rint(1 / known[known > 0])
    ends = [0, *(last for _, last in BINS), math.inf]
    counts, _ = np.histogram(ranks, [end + 0.5 for end in ends])
    names = [*(name for name, _ in BINS), LATER]
    return {**dict(zip(names, counts.tolist(), strict=True)), NEVER: int(np.count_nonzero(known == 0))}
