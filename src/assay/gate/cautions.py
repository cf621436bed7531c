"""Doubts about a decision that do not change it: missing queries, equal files, few queries, misread margins."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

import numpy as np

from assay.comparison.comparing import FEW_QUERIES
from assay.errors import some_of
from assay.evaluation import Evaluation
from assay.files import is_same_file
from assay.gate.baselines import Caution, Side
from assay.gate.deciding import Decision
from assay.gate.pairing import Pair
from assay.records.identity import is_file
from assay.words import noun_for, number_of

LARGE_MARGIN = 0.1  # few changes improve a system by this much


def missing_of(evaluation: Evaluation, besides: Collection[str] = ()) -> tuple[list[str], int]:
    """The judged queries that a run lacks, and how many are judged; those `besides` do not count."""
    missing = [query for query in evaluation.coverage.missing if query not in besides]
    return missing, evaluation.coverage.judged - (len(evaluation.coverage.missing) - len(missing))


def missing_cautions(evaluation: Evaluation, name: str, besides: Collection[str] = ()) -> Iterator[Caution]:
    """A caution about judged queries missing from a run; those `besides` are elsewhere."""
    missing, judged = missing_of(evaluation, besides)
    if missing:
        effect = "counted as 0" if evaluation.rules.queries == "judged" else "left out"
        yield Caution(
            "missing",
            f"the {name} is missing {len(missing)} of {judged} judged queries ({some_of(missing)}), {effect}.",
        )


def same_file_cautions(baseline: Side, candidate: Side) -> Iterator[Caution]:
    """A caution about a candidate that is the baseline."""
    if is_file(baseline.path) and is_same_file(baseline.path, candidate.path):
        yield Caution("same", "SAME FILE: baseline and candidate are the same file.")


def left_out_cautions(pairs: Sequence[Pair]) -> Iterator[Caution]:
    """Cautions about queries with a value in one run only; measures with the same queries share one."""
    found: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for pair in pairs:
        lacks = np.isnan(pair.baseline), np.isnan(pair.candidate)
        for name, only in (("baseline", lacks[1] & ~lacks[0]), ("candidate", lacks[0] & ~lacks[1])):
            queries = tuple(pair.queries[number] for number in np.flatnonzero(only))
            found.setdefault((name, queries), []).append(pair.rule.label)
    for (name, queries), labels in found.items():
        if queries:
            yield Caution(
                "queries",
                f"LEFT OUT: {len(queries)} {noun_for(len(queries), 'query')} with a value in the {name} only "
                f"({some_of(queries)}; {', '.join(dict.fromkeys(labels))}). The decision covers the others.",
            )


def few_cautions(decisions: Sequence[Decision]) -> Iterator[Caution]:
    """A caution about few queries, unless the bounds come from unlabelled ones."""
    least = min((decision.queries for decision in decisions if decision.touched is None), default=FEW_QUERIES)
    if least < FEW_QUERIES:
        yield Caution("few", f"{number_of(least, 'query')}, fewer than {FEW_QUERIES}: the bounds are rough.")


def misread_cautions(decisions: Sequence[Decision]) -> Iterator[Caution]:
    """Cautions about margins that look like values to reach, and that the candidate would reach."""
    for decision in decisions:
        rule, mean = decision.rule, decision.candidate_mean
        looks_so = rule.at_least and not rule.relative and rule.margin >= LARGE_MARGIN
        if decision.status != "pass" and looks_so and mean is not None and mean >= rule.margin:
            yield Caution(
                "difference",
                f"{rule} asks for a gain of {rule.margin:g} over the baseline. To require a value of {rule.margin:g}, set a target.",
            )
