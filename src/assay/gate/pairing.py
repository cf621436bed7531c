"""Pair two runs query by query: what a rule is decided on. Decides nothing."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from assay.gate.baselines import Side
from assay.gate.deciding import Against
from assay.gate.grammar import GateRule
from assay.gate.ledger import Evidence
from assay.gate.traffic import Touched
from assay.tables import Floats


class Pair(Struct, frozen=True):
    """The values of both runs by one measure, query by query; NaN if missing."""

    rule: GateRule
    queries: tuple[str, ...]  # in either run
    baseline: Floats
    candidate: Floats


def paired(baseline: Side, candidate: Side, rule: GateRule) -> Pair:
    """The paired values for a rule."""
    queries = tuple(dict.fromkeys((*baseline.queries, *candidate.queries)))
    place = {query: number for number, query in enumerate(queries)}
    columns = []
    for side in (baseline, candidate):
        values = np.full(len(queries), np.nan)
        values[[place[query] for query in side.queries]] = side.column(rule.measure)
        columns.append(values)
    return Pair(rule, queries, *columns)


class Asked(Struct, frozen=True, eq=False):
    """A rule with everything that it is decided on."""

    pair: Pair
    touched: Touched | None = None
    against: Against = "baseline"

    @property
    def evidence(self) -> Evidence:
        """The same in bytes, to recognise it."""
        columns = [self.pair.baseline, self.pair.candidate]
        counts: tuple[int, ...] = ()
        if self.touched is not None:
            columns.append(self.touched.differences)
            counts = (self.touched.touched, self.touched.queries)
        words = f"{self.against}: {self.pair.rule}", self.pair.queries, counts
        return words, b"".join(column.tobytes() for column in columns)
