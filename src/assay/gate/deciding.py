"""Decide one rule from the per-query values of two runs. Independent of files and reports.

Difference = candidate - baseline. Its bounds are one-sided, by Student's t: each misses the true mean difference in 5
of 100 cases (`alpha`). A rule passes if the lower bound is at or above the margin, and fails if the upper bound is
below it; otherwise it is inconclusive.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
from msgspec import Struct

from assay.comparison.effects import effect
from assay.comparison.intervals import mean_interval
from assay.comparison.paired import TIE, Moments, difference_moments
from assay.comparison.power import POWER
from assay.errors import AssayError
from assay.gate.grammar import GateRule
from assay.gate.settling import SMALLEST_EFFECT, queries_to_settle
from assay.native.sums import exact_sum
from assay.tables import Booleans, Floats
from assay.weighting.weights import QueryWeights

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.weighting.estimating import WeightedMean

Status = Literal["pass", "fail", "inconclusive"]
STATUSES: tuple[Status, ...] = ("fail", "inconclusive", "pass")  # worst first

ALPHA = 0.05
LARGEST_ALPHA = 0.25
_DECIMALS, _MOST_DECIMALS = 4, 12


class Decision(Struct, frozen=True):
    """The decision on one rule."""

    rule: GateRule
    status: Status
    words: str  # why
    queries: int  # that both runs have a value for
    baseline_mean: float | None  # over these queries, like all fields below
    candidate_mean: float | None
    difference: float | None  # candidate - baseline
    margin: float | None  # in the measure's unit
    lower: float | None  # one-sided bounds of the difference; None with fewer than two queries
    upper: float | None
    wins: int
    ties: int
    losses: int
    needed: int | None = None  # queries that would settle it with 80 % power, at this difference and spread
    needed_for: Status | None = None  # the status they would give
    plain_difference: float | None = None  # without weights; None if none were given
    effective: float | None = None  # effective sample size of the weighted queries; None likewise


class Averaging(Struct, frozen=True):
    """How values over queries become one: by the plain mean, or by the weighted one.

    Means and bounds, and so the decision, follow from it.
    """

    weights: QueryWeights | None = None
    queries: Sequence[str] = ()  # of the values

    def select(self, chosen: Booleans) -> Averaging:
        """The same for some of the queries."""
        if self.weights is None:
            return self
        queries = [query for query, kept in zip(self.queries, chosen.tolist(), strict=True) if kept]
        self.weights.refuse_lacking(queries, "query")
        return Averaging(self.weights, queries)

    def mean(self, values: Floats) -> float | None:
        """The mean; None without values."""
        if self.weights is None or not len(values):
            return exact_sum(values) / len(values) if len(values) else None
        return self._estimate(values, 0.5).mean

    def bounds(self, values: Floats, alpha: float) -> tuple[float, float] | None:
        """One-sided bounds of the mean: the ends of the two-sided interval with alpha on either side."""
        confidence = 1 - 2 * alpha
        return (
            mean_interval(values, confidence) if self.weights is None else self._estimate(values, confidence).interval
        )

    def spread(self, values: Floats, plain: Moments | None) -> Moments | None:
        """Moments with the standard error of this mean, from those of the plain one."""
        if self.weights is None or plain is None:
            return plain
        found = self._estimate(values, 0.5)
        deviation = math.sqrt(len(values)) * found.error if found.error else plain.deviation
        return Moments(len(values), found.mean, deviation)

    def effective(self) -> float | None:
        """The effective sample size."""
        return None if self.weights is None else self.weights.effective(self.queries)

    def _estimate(self, values: Floats, confidence: float) -> WeightedMean:
        from assay.weighting.estimating import weighted_mean

        if self.weights is None:
            raise TypeError("the plain mean needs no estimate")
        return weighted_mean(self.weights, self.queries, values, confidence)


def check_alpha(alpha: float) -> float:
    """Alpha, if it is valid."""
    if not 0 < alpha <= LARGEST_ALPHA:
        raise AssayError(
            f"alpha cannot be {alpha!r}; it takes a number greater than 0 and up to {LARGEST_ALPHA}, such as 0.05."
        )
    return alpha


def decide_rule(
    rule: GateRule,
    baseline: Floats,
    candidate: Floats,
    alpha: float = ALPHA,
    averaging: Averaging = Averaging(),
) -> Decision:
    """Decide whether the candidate satisfies the rule, from the values of both runs on the same queries.

    A query missing (NaN) from either run is left out. The margin of a relative rule is a share of the baseline's value
    on each query, so the uncertainty of the baseline's mean widens the bounds too (Fieller 1954). Runs with the same
    values on every query have a difference of exactly 0, unless all these values are 0. If all queries differ by the
    same amount other than 0, there is no spread for a test, and nothing passes.

    >>> from assay.gate.grammar import parse_rule
    >>> found = decide_rule(parse_rule("AP >= -0.1"), np.array([0.4, 0.3, 0.5]), np.array([0.5, 0.3, 0.5]))
    >>> found.status, round(found.lower, 4), round(found.upper, 4)
    ('pass', -0.064, 0.1307)
    """
    check_alpha(alpha)
    both = ~np.isnan(baseline) & ~np.isnan(candidate)
    before, after = baseline[both], candidate[both]
    if np.isinf(before).any() or np.isinf(after).any():
        raise AssayError(f"{rule.label} is infinite for some queries, so no difference can be computed.")
    averaging = averaging.select(both)
    evidence = _evidence(rule, before, after, alpha, averaging)
    outcome = _outcome(evidence)
    size = effect(after, before)
    return Decision(
        rule=rule,
        status=outcome.status,
        words=outcome.words,
        queries=len(before),
        baseline_mean=averaging.mean(before),
        candidate_mean=averaging.mean(after),
        difference=averaging.mean(after - before),
        margin=evidence.margin,
        lower=evidence.lower,
        upper=evidence.upper,
        wins=size.wins,
        ties=size.ties,
        losses=size.losses,
        needed=outcome.needed,
        needed_for=None if outcome.needed is None else evidence.tends_to,
        plain_difference=None if averaging.weights is None else Averaging().mean(after - before),
        effective=averaging.effective(),
    )


def worst(statuses: Iterable[Status]) -> Status:
    """The worst status; "inconclusive" if there is none.

    >>> worst(["pass", "inconclusive"]), worst([])
    ('inconclusive', 'inconclusive')
    """
    found = set(statuses)
    return next((status for status in STATUSES if status in found), "inconclusive")


# Evidence


class _Evidence(Struct, frozen=True):
    """The evidence for a rule. Slack is how far the difference is on the good side of the margin."""

    rule: GateRule
    alpha: float
    queries: int
    margin: float | None  # in the measure's unit; None for a relative margin without queries
    slack: tuple[float, float] | None  # its bounds; None with fewer than two queries
    spread: Moments | None  # of the slack; None if it is the same on all queries
    identical: bool  # both runs have the same value on every query
    all_zero: bool  # and that value is 0
    rounding: float  # smaller differences count as 0

    @property
    def lower(self) -> float | None:
        """The lower bound of the difference."""
        return self._bound(0 if self.rule.at_least else 1)

    @property
    def upper(self) -> float | None:
        """The upper bound of the difference."""
        return self._bound(1 if self.rule.at_least else 0)

    def _bound(self, end: int) -> float | None:
        if self.slack is None or self.margin is None:
            return None
        if self.identical:
            return 0.0
        return self.margin + (self.slack[end] if self.rule.at_least else -self.slack[end])

    @property
    def tends_to(self) -> Status:
        """The status that more queries would give if the difference stays the same."""
        return "pass" if self.spread is not None and self.spread.mean > 0 else "fail"


def _evidence(rule: GateRule, before: Floats, after: Floats, alpha: float, averaging: Averaging) -> _Evidence:
    margins = rule.margin * before if rule.relative else np.full(len(before), rule.margin)
    sides = (after - margins, before) if rule.at_least else (before, after - margins)
    slack, spread = difference_moments(*sides)
    identical = bool((before == after).all())
    return _Evidence(
        rule=rule,
        alpha=alpha,
        queries=len(before),
        margin=averaging.mean(margins) if rule.relative else rule.margin,
        slack=_slack_bounds(slack, None if identical else spread, alpha, averaging),
        spread=averaging.spread(slack, spread),
        identical=identical,
        all_zero=not after.any(),
        rounding=TIE * max(1.0, float(np.abs(np.concatenate((before, after))).max(initial=0))),
    )


def _slack_bounds(
    slack: Floats, spread: Moments | None, alpha: float, averaging: Averaging
) -> tuple[float, float] | None:
    """The bounds of the slack; None with fewer than two queries, or if its error is unknown."""
    if len(slack) < 2:
        return None
    only = averaging.mean(slack)
    return (only, only) if spread is None and only is not None else averaging.bounds(slack, alpha)


# Outcome


_TOO_FEW = ("no query has a value in both runs", "only one query has a value in both runs; at least two are needed")
_NO_ERROR = "how far the weighted difference may be off cannot be estimated: nearly all of the weight is in one query"


class _Outcome(Struct, frozen=True):
    status: Status
    words: str
    needed: int | None = None


def _outcome(evidence: _Evidence) -> _Outcome:
    if evidence.slack is None:
        return _Outcome("inconclusive", _TOO_FEW[evidence.queries] if evidence.queries < 2 else _NO_ERROR)
    holds, breaks = evidence.slack[0] >= -evidence.rounding, evidence.slack[1] < -evidence.rounding
    if evidence.identical:
        return _outcome_of_identical(evidence, holds)
    if evidence.spread is None:
        return _outcome_without_spread(evidence, breaks)
    if holds:
        return _Outcome("pass", _bound_words(evidence, "lower", "at or above", "at or below"))
    if breaks:
        return _Outcome("fail", _bound_words(evidence, "upper", "below", "above"))
    return _unsettled(evidence, evidence.spread)


def _outcome_of_identical(evidence: _Evidence, holds: bool) -> _Outcome:
    if evidence.all_zero and evidence.rule.at_least:
        return _Outcome("inconclusive", "both runs have 0 on every query: do their ids match the judgments?")
    same = "both runs have the same value on every query, so the difference is 0"
    return _Outcome("pass", same) if holds else _Outcome("fail", f"{same}; the rule requires more")


def _outcome_without_spread(evidence: _Evidence, breaks: bool) -> _Outcome:
    same = f"the same difference ({evidence.lower:+.{_DECIMALS}f}) on every query"
    if breaks:
        return _Outcome("fail", f"{same}, {'below' if evidence.rule.at_least else 'above'} the margin")
    return _Outcome("inconclusive", f"{same}, so there is no spread for a test; is one of the runs empty or constant?")


def _unsettled(evidence: _Evidence, spread: Moments) -> _Outcome:
    ends = f"{_apart(evidence.lower, evidence.margin)} and {_apart(evidence.upper, evidence.margin)}"
    between = f"the margin {_margin_words(evidence)} is between the bounds {ends}"
    in_deviations = abs(spread.mean) / spread.deviation
    if in_deviations < SMALLEST_EFFECT:
        return _Outcome(
            "inconclusive", f"{between}, and the difference is on the margin: no number of queries would settle it"
        )
    needed = queries_to_settle(in_deviations, evidence.alpha)
    return _Outcome(
        "inconclusive",
        f"{between}; {needed:,} queries would settle it as {evidence.tends_to} ({POWER:.0%} power) if difference and "
        f"spread stay as on these {evidence.queries:,}",
        needed,
    )


def _bound_words(evidence: _Evidence, side: Literal["lower", "upper"], at_least: str, at_most: str) -> str:
    """Which bound decides and where it is; `side` is that of a rule with >=."""
    if evidence.rule.at_least:
        name, bound, where = side, evidence.lower if side == "lower" else evidence.upper, at_least
    else:
        name, bound, where = (
            ("upper", evidence.upper, at_most) if side == "lower" else ("lower", evidence.lower, at_most)
        )
    return f"the {name} bound {_apart(bound, evidence.margin)} is {where} the margin {_margin_words(evidence)}"


def _margin_words(evidence: _Evidence) -> str:
    if not evidence.rule.relative:
        return f"{evidence.rule.margin:+g}" if evidence.rule.margin else "0"
    return f"{evidence.margin:+.{_DECIMALS}f} ({evidence.rule.written})"


def _apart(value: float | None, other: float | None) -> str:
    """A number with enough decimals to distinguish it from the other one."""
    if value is None or other is None:
        return "-"
    for decimals in range(_DECIMALS, _MOST_DECIMALS):
        if f"{value:+.{decimals}f}" != f"{other:+.{decimals}f}":
            return f"{value:+.{decimals}f}"
    return f"{value:+.{_DECIMALS}f}"
