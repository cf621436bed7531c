"""Runs of queries of which few or none are judged: how many of them a change touches, and the values of the judged ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import AssayError, InputError, some_of
from assay.evaluation import Evaluator
from assay.gate.baselines import Side, side_of
from assay.gate.pairing import Pair
from assay.gate.traffic import TO_JUDGE, Touched, Traffic, depth_of, traffic_of
from assay.marking import OpenedRun
from assay.measures import Measure


class Unlabelled(Struct, frozen=True, eq=False):
    """Two runs of unlabelled queries, before and after a change, and what is known about them."""

    traffic: Traffic
    own: Traffic | None  # of the runs that are compared; None if one of them is a report
    before: Side | None  # with the queries that are judged after all; None if none is
    after: Side | None
    like: str = "assay"  # whose conventions are followed

    def touched(self, pair: Pair) -> Touched:
        """What they say about the change by the measure of a rule.

        Judged touched queries come from these runs and from those that are compared: both are drawn from the same traffic.
        """
        measure = pair.rule.measure
        depth = depth_of(measure, self.like)
        touched = self.traffic.touched(depth)
        known = self._differences(measure)
        own = _differences_of(pair)
        also = [] if self.own is None else [query for query in self.own.touched(depth) if query in own]
        found = [known[query] for query in touched if query in known] + [own[query] for query in also]
        return Touched(
            queries=len(self.traffic.queries),
            touched=len(touched),
            differences=np.array(found, np.float64),
            to_judge=tuple([query for query in touched if query not in known][:TO_JUDGE]),
        )

    def _differences(self, measure: Measure) -> Mapping[str, float]:
        if self.before is None or self.after is None:
            return {}
        ours = set(self.traffic.queries)
        columns = (side.column(measure) for side in (self.before, self.after))
        before, after = (dict(zip(self.before.queries, column.tolist(), strict=True)) for column in columns)
        return {query: after[query] - value for query, value in before.items() if query in ours}


def _differences_of(pair: Pair) -> dict[str, float]:
    values = zip(pair.queries, (pair.candidate - pair.baseline).tolist(), strict=True)
    return {query: value for query, value in values if not np.isnan(value)}


def read_unlabelled(
    evaluator: Evaluator,
    runs: tuple[OpenedRun, OpenedRun],
    own: tuple[OpenedRun, OpenedRun] | None,
    measures: Sequence[Measure],
) -> Unlabelled:
    """Compare the first documents of unlabelled runs, and evaluate the queries that are judged.

    `own` are the runs that are compared, if both are runs.
    """
    rules = evaluator.rules
    if rules.queries != "judged":
        raise AssayError(
            f"unlabelled queries do not go with `Rules(queries='{rules.queries}')`, since few of them are judged. Leave it out."
        )

    def traffic(pair: tuple[OpenedRun, OpenedRun]) -> Traffic:
        return traffic_of(*pair, measures, rules, evaluator.threads, evaluator.like.name)

    found = traffic(runs)
    _refuse_strangers(found)
    judged = not set(found.queries).isdisjoint(evaluator.judgments.queries)
    before, after = (side_of(evaluator.evaluate(run), "") for run in runs) if judged else (None, None)
    return Unlabelled(found, None if own is None else traffic(own), before, after, evaluator.like.name)


def _refuse_strangers(found: Traffic) -> None:
    before, after = found.before.queries, found.after.queries
    if not set(before) & set(after):
        raise InputError(
            f"the unlabelled runs have no query in common (baseline: {some_of(before) or 'none'}; candidate: "
            f"{some_of(after) or 'none'}). Were they made for the same queries?"
        )


def without(side: Side, queries: Collection[str]) -> Side:
    """A run without some of its queries."""
    if not queries:
        return side
    kept = [place for place, query in enumerate(side.queries) if query not in queries]
    values = {name: column[kept] for name, column in side.values.items()}
    return replace(side, queries=tuple(side.queries[place] for place in kept), values=values)
