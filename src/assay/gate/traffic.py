"""What queries without judgments say about a change: which of them it touches at all, and so how much it can lose.

A query whose first documents are the same before and after has the same value of a measure with that cutoff, whoever
judges it. So the mean difference over all traffic is the share of touched queries times the mean difference among these.
The share comes from any number of unlabelled queries, the mean from the touched ones that are judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b

import numpy as np
from msgspec import Struct

from assay.comparison.intervals import Interval
from assay.errors import AssayError
from assay.gate.bounds import mean_bounds, share_bounds
from assay.heads import DEEPEST, Heads, ranks_in
from assay.marking import OpenedRun, heads_of
from assay.measures import Measure
from assay.rules import Rules
from assay.tables import Booleans, Floats

TO_JUDGE = 30  # touched queries that are named
_PART_OF_SHARE = (
    0.2  # of the error goes to the bound of the share: there are many unlabelled queries, but few judged ones
)


# With these, documents beyond the cutoff count; the conventions of other tools may set them.
_DEEPER = (("judged_only", True), ("ideal", "retrieved"), ("among", "retrieved"))


class Touched(Struct, frozen=True, eq=False):
    """What unlabelled queries show of a change, as seen by one measure."""

    queries: int  # unlabelled ones, in either run
    touched: int  # of them: their first documents differ
    differences: Floats  # candidate - baseline of judged touched queries, a random sample of the touched ones
    to_judge: tuple[str, ...] = ()  # touched ones without judgments, in random order

    @property
    def share(self) -> float:
        """The share of queries that the change touches."""
        return self.touched / self.queries

    @property
    def difference(self) -> float:
        """The estimate of the mean difference over all traffic: 0 if nothing touched is judged."""
        return self.share * float(np.mean(self.differences)) if len(self.differences) else 0.0


class TrafficBounds(Struct, frozen=True):
    """Bounds of the mean difference over all traffic, and what they are made of."""

    ends: Interval
    share: Interval  # of touched queries
    among_touched: Interval  # of the mean difference among these


def traffic_bounds(found: Touched, limits: Interval | None, alpha: float) -> TrafficBounds | None:
    """One-sided bounds of the mean difference over all traffic, each wrong with probability at most alpha.

    `limits` are those of a difference. None if the measure has none and too few touched queries are judged.
    """
    judged = len(found.differences) > 0
    share = share_bounds(found.touched, found.queries, alpha * _PART_OF_SHARE if judged else alpha)
    among = mean_bounds(found.differences, limits, alpha * (1 - _PART_OF_SHARE)) if judged else limits
    if among is None:
        return None
    low, high = among
    # Where touched queries lose, the more are touched, the more is lost; where they gain, the fewer, the less is won.
    ends = low * share[1 if low < 0 else 0], high * share[1 if high > 0 else 0]
    return TrafficBounds(ends, share, among)


# Which queries a change touches


class Traffic(Struct, frozen=True, eq=False, dict=True):
    """Two runs of the same queries, before and after a change, with their first documents."""

    before: Heads
    after: Heads

    @cached_property
    def queries(self) -> tuple[str, ...]:
        """The queries of either run."""
        return tuple(dict.fromkeys((*self.before.queries, *self.after.queries)))

    def touched(self, depth: int) -> list[str]:
        """The queries whose first documents differ, in an order that is random but always the same."""
        one, other = self.before, self.after
        both = one.place.keys() & other.place.keys()
        same = {query for query, is_same in zip(one.queries, _same_heads(one, other, depth), strict=True) if is_same}
        touched = (query for query in self.queries if query not in both or query not in same)
        return sorted(
            touched, key=lambda query: blake2b(query.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        )


def traffic_of(
    before: OpenedRun, after: OpenedRun, measures: Sequence[Measure], rules: Rules, threads: int, like: str = "assay"
) -> Traffic:
    """The first documents of both runs, as many as the measures look at."""
    if rules.ties in ("expected", "error"):
        raise AssayError(
            f"unlabelled queries do not go with `Rules(ties='{rules.ties}')`: which queries a change touches depends on the "
            "order of ties. Use another rule for ties, such as doc-desc."
        )
    depth = max((depth_of(measure, like) for measure in measures), default=1)
    one, other = (heads_of(run, depth, rules, threads=threads) for run in (before, after))
    return Traffic(one, other)


def depth_of(measure: Measure, like: str = "assay") -> int:
    """How many documents a measure looks at: its cutoff, or all."""
    cutoff = measure.param("cutoff")
    deeper = like != "assay" or any(measure.param(name) == value for name, value in _DEEPER)
    return cutoff if isinstance(cutoff, int) and not deeper else DEEPEST


def _same_heads(one: Heads, other: Heads, depth: int) -> Booleans:
    """For each query of `one`, whether `other` has the same first documents in the same order."""
    near = one.rank <= depth
    moved = np.bincount(one.query[near & (ranks_in(one, other) != one.rank)], minlength=len(one.queries)) > 0
    lengths = dict(zip(other.queries, np.minimum(other.lengths, depth).tolist(), strict=True))
    there = np.array([lengths.get(query, 0) for query in one.queries], np.int64)
    same: Booleans = ~moved & (np.minimum(one.lengths, depth) == there)
    return same
