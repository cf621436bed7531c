"""The weight of each query and, if the queries were sampled, the probability of each to be drawn. Computes no mean."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from assay.errors import InputError, QuerySetError, show_id, some_of
from assay.tables import Booleans, Floats, Integers
from assay.words import number_of, plural

DOMINANT = 5  # half of the weight in one query of five is worth a warning


class QueryWeights(Struct, frozen=True, eq=False, dict=True):
    """Weights of queries; only their ratios matter.

    `probability` is the chance of each query to be in the sample, 1 for a query that could not be left out. `strata` are
    the groups that were sampled separately; without them all queries are one group.
    """

    queries: tuple[str, ...]
    weight: Floats
    probability: Floats | None = None
    strata: tuple[str, ...] | None = None  # of each query
    source: str = "query weights"
    lines: Sequence[int] | None = None  # of each query, for messages

    def __post_init__(self) -> None:
        if not self.queries:
            raise InputError("there are no weights", source=self.source)
        seen: set[str] = set()
        for number, query in enumerate(self.queries):
            if query in seen:
                raise self._error(number, f"query {show_id(query)} appears twice")
            seen.add(query)
        self._check("weight", self.weight, np.isfinite(self.weight) & (self.weight > 0), "a number greater than 0")
        if self.probability is not None:
            allowed = (self.probability > 0) & (self.probability <= 1)
            self._check("probability", self.probability, allowed, "a number greater than 0 and at most 1")

    def _check(self, name: str, values: Floats, allowed: Booleans, takes: str) -> None:
        wrong = np.flatnonzero(~allowed)
        if len(wrong):
            number = int(wrong[0])
            more = f" ({len(wrong):,} like it)" if len(wrong) > 1 else ""
            query = show_id(self.queries[number])
            raise self._error(
                number, f"the {name} of query {query} is {values[number]:g}{more}; it takes {takes}. Fix or remove it."
            )

    def _error(self, number: int, message: str) -> InputError:
        return InputError(message, source=self.source, line=None if self.lines is None else self.lines[number])

    @cached_property
    def place(self) -> dict[str, int]:
        """The index of each query."""
        return {query: number for number, query in enumerate(self.queries)}

    def over(self, queries: Sequence[str], values: Floats) -> Floats:
        """The values in the order of the weights; NaN for a query without a value. All queries must have a weight."""
        spread = np.full(len(self.queries), np.nan)
        spread[self.places(queries)] = values
        return spread

    def places(self, queries: Sequence[str]) -> Integers:
        """The index of each of these queries, which must have a weight."""
        return np.array([self.place[query] for query in queries], np.int64)

    def refuse_lacking(self, queries: Sequence[str], kind: str = "judged query") -> None:
        """Raise an error if one of the queries has no weight."""
        lacking = [query for query in queries if query not in self.place]
        if not lacking:
            return
        how_many = f"{len(lacking):,} of {number_of(len(queries), kind)}" if len(queries) > 1 else f"the {kind}"
        none = "" if len(lacking) < len(queries) else f" The weights are for {some_of(self.queries)}: other query ids?"
        raise QuerySetError(
            f"{show_id(self.source, 1000)}: {how_many} {plural('{has|have}', len(lacking))} no weight "
            f"({some_of(lacking)}). Add {plural('{it|them}', len(lacking))}, or leave these queries out of the judgments.{none}"
        )

    def beyond(self, queries: Collection[str]) -> list[str]:
        """The weighted queries that are not among these."""
        known = set(queries)
        return [query for query in self.queries if query not in known]

    def share_of(self, queries: Sequence[str]) -> float:
        """The share of all weight that these queries have."""
        shares = _shares(self.weight)
        return float(shares[self.places(queries)].sum() / shares.sum())

    def effective(self, queries: Sequence[str]) -> float:
        """How many queries with equal weights would say as much as these: (sum of weights)^2 / sum of squares (Kish 1965).

        >>> QueryWeights(("a", "b", "c"), np.array([2.0, 1, 1])).effective(["b", "c"])
        2.0
        """
        shares = _shares(self.weight[self.places(queries)])
        return float(shares.sum() ** 2 / (shares**2).sum()) if len(shares) else 0.0

    def dominant(self, queries: Sequence[str]) -> int:
        """How many of these queries have half of their weight, if they are less than a fifth of them; else 0.

        >>> QueryWeights(tuple("abcdef"), np.array([9.0, 1, 1, 1, 1, 1])).dominant("abcdef")
        1
        """
        falling = np.sort(_shares(self.weight[self.places(queries)]))[::-1]
        if not len(falling):
            return 0
        half = int(np.searchsorted(np.cumsum(falling), falling.sum() / 2)) + 1
        return half if DOMINANT * half < len(falling) else 0


def _shares(weight: Floats) -> Floats:
    """The weights as shares of the largest, so that neither sums nor squares leave the range of floats."""
    return weight / weight.max() if len(weight) else weight
