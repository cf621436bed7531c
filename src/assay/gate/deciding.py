"""Decide one rule from the per-query values of two runs. Independent of files and reports.

Difference = candidate - baseline. Its bounds are one-sided: each misses the true mean difference in at most 5 of 100
cases (`alpha`). A rule passes if the lower bound is at or above the margin, and fails if the upper bound is below it;
otherwise it is inconclusive. Runs that have the same value on every query are `unchanged`. Which bounds are used depends
on how many queries changed: `bounds.py`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

import numpy as np
from msgspec import Struct

from assay.comparison.effects import effect
from assay.comparison.intervals import Interval
from assay.comparison.paired import TIE, Moments, difference_moments
from assay.comparison.power import POWER
from assay.errors import AssayError
from assay.gate.averaging import Averaging, Bounds, Method
from assay.gate.bounds import (
    FEWEST_CHANGED,
    fewest_queries,
    most_unseen,
)
from assay.gate.grammar import GateRule
from assay.gate.settling import SMALLEST_EFFECT, bets_to_settle, queries_to_settle
from assay.gate.traffic import Touched, TrafficBounds, traffic_bounds
from assay.tables import Floats
from assay.words import number_of

Status = Literal["pass", "fail", "inconclusive", "unchanged"]
STATUSES: tuple[Status, ...] = ("fail", "inconclusive", "unchanged", "pass")  # worst first
Against = Literal["baseline", "anchor"]

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
    difference: float | None  # candidate - baseline; over all traffic if unlabelled queries were given
    margin: float | None  # in the measure's unit
    lower: float | None  # one-sided bounds of the difference; None if there are none
    upper: float | None
    wins: int
    ties: int
    losses: int
    method: Method | None = None  # of the bounds
    against: Against = "baseline"  # what the candidate is compared with
    needed: int | None = None  # queries that would settle it with 80 % power, at this difference and spread
    needed_for: Status | None = None  # the status they would give
    unseen: float | None = None  # if unchanged: the loss that remains possible on other queries
    plain_difference: float | None = None  # without weights; None if none were given
    effective: float | None = None  # effective sample size of the weighted queries; None likewise
    touched: int | None = None  # unlabelled queries that the change touches; None if none were given, as below
    unlabelled: int | None = None
    judged: int | None = None  # touched queries that are judged
    to_judge: tuple[str, ...] = ()  # touched queries to judge next


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
    touched: Touched | None = None,
) -> Decision:
    """Decide whether the candidate satisfies the rule, from the values of both runs on the same queries.

    A query missing (NaN) from either run is left out. The margin of a relative rule is a share of the baseline's value
    on each query, so the uncertainty of the baseline's mean widens the bounds too (Fieller 1954). Runs with the same
    values on every query are `unchanged`, unless all these values are 0 or the rule asks for more. `touched` is what
    queries without judgments say; the bounds are then those of the difference over all traffic.

    >>> from assay.gate.grammar import parse_rule
    >>> before, after = np.array([0.4, 0.3, 0.5, 0.2, 0.6, 0.7, 0.45]), np.array([0.5, 0.3, 0.6, 0.4, 0.7, 0.9, 0.4])
    >>> found = decide_rule(parse_rule("AP >= -0.1"), before, after)
    >>> found.status, found.method, found.needed
    ('inconclusive', 'betting', 21)
    >>> found = decide_rule(parse_rule("AP >= -0.1"), before, after + 0.01)
    >>> found.status, found.method, round(found.lower, 4), round(found.upper, 4)
    ('pass', 't', 0.0263, 0.1713)
    """
    check_alpha(alpha)
    both = ~np.isnan(baseline) & ~np.isnan(candidate)
    before, after = baseline[both], candidate[both]
    if np.isinf(before).any() or np.isinf(after).any():
        raise AssayError(f"{rule.label} is infinite for some queries, so no difference can be computed.")
    averaging = averaging.select(both)
    evidence = _evidence(rule, before, after, alpha, averaging, touched)
    outcome = _outcome(evidence)
    size = effect(after, before)
    return Decision(
        rule=rule,
        status=outcome.status,
        words=outcome.words,
        queries=len(before),
        baseline_mean=averaging.mean(before),
        candidate_mean=averaging.mean(after),
        difference=averaging.mean(after - before) if touched is None else touched.difference,
        margin=evidence.margin,
        lower=evidence.lower,
        upper=evidence.upper,
        wins=size.wins,
        ties=size.ties,
        losses=size.losses,
        method=None if evidence.bounds is None or evidence.identical else evidence.bounds.method,
        needed=outcome.needed,
        needed_for=None if outcome.needed is None else evidence.tends_to,
        unseen=evidence.unseen if outcome.status == "unchanged" else None,
        plain_difference=None if averaging.weights is None else Averaging().mean(after - before),
        effective=averaging.effective(),
        touched=None if touched is None else touched.touched,
        unlabelled=None if touched is None else touched.queries,
        judged=None if touched is None else len(touched.differences),
        to_judge=() if touched is None else touched.to_judge,
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
    changed: int  # queries
    margin: float | None  # in the measure's unit; None for a relative margin without queries
    slack: Floats  # of each query
    weights: Floats | None  # of each query, as shares of the largest; None if all count the same
    worth: float  # how many queries the changed ones are worth
    mean: float  # of the slack; 0 without queries
    limits: Interval | None  # of the slack of any query; None if the measure has none
    bounds: Bounds | None  # of the mean slack; None if there are none
    spread: Moments | None  # of the slack; None if it is the same on all queries
    identical: bool  # both runs have the same value on every query
    empty: bool  # one of the runs has 0 on every query
    rounding: float  # smaller differences count as 0
    touched: Touched | None = None
    traffic: TrafficBounds | None = None

    @property
    def lower(self) -> float | None:
        """The lower bound of the difference."""
        return self._bound(0 if self.rule.at_least else 1)

    @property
    def upper(self) -> float | None:
        """The upper bound of the difference."""
        return self._bound(1 if self.rule.at_least else 0)

    def _bound(self, end: int) -> float | None:
        if self.bounds is None or self.margin is None:
            return None
        if self.identical:
            return 0.0
        slack = self.bounds.ends[end]
        return self.margin + (slack if self.rule.at_least else -slack)

    @property
    def tends_to(self) -> Status:
        """The status that more queries would give if the difference stays the same."""
        return "pass" if self.mean > 0 else "fail"

    @property
    def untouched(self) -> bool:
        """Whether there are unlabelled queries, and the change touches none of them and no judged one."""
        return self.touched is not None and not (self.touched.touched or len(self.touched.differences) or self.changed)

    @property
    def uneven(self) -> bool:
        """Whether enough queries changed for Student's t, and differently, but a few of them have most of the weight."""
        return self.changed >= FEWEST_CHANGED and self.spread is not None

    @property
    def unseen(self) -> float | None:
        """The largest loss over all queries of which these could show nothing; None if the measure has no limits."""
        if self.traffic is not None:
            return -self.traffic.ends[0] if self.rule.at_least else self.traffic.ends[1]
        span = _span(self.rule)
        return None if span is None else span * most_unseen(self.queries, self.alpha)


def _span(rule: GateRule) -> float | None:
    """The largest possible difference of a query."""
    bounds = rule.measure.definition.bounds
    return None if bounds is None else bounds[1] - bounds[0]


def _evidence(
    rule: GateRule, before: Floats, after: Floats, alpha: float, averaging: Averaging, touched: Touched | None
) -> _Evidence:
    margins = rule.margin * before if rule.relative else np.full(len(before), rule.margin)
    sides = (after - margins, before) if rule.at_least else (before, after - margins)
    slack, spread = difference_moments(*sides)
    rounding = TIE * max(1.0, float(np.abs(np.concatenate((before, after))).max(initial=0)))
    changed = np.abs(after - before) > rounding
    identical = touched is None and not changed.any()
    limits, traffic = _limits(rule), None
    if touched is not None:
        traffic, bounds = _over_traffic(rule, touched, alpha)
    elif len(slack) < 2:
        bounds = None
    elif identical:
        mean = averaging.mean(slack) or 0.0
        bounds = Bounds((mean, mean), "t")
    else:
        bounds = averaging.bounds(slack, changed, limits, alpha)
    return _Evidence(
        rule=rule,
        alpha=alpha,
        queries=len(before),
        changed=int(np.count_nonzero(changed)),
        margin=averaging.mean(margins) if rule.relative else rule.margin,
        slack=slack,
        weights=averaging.shares(),
        worth=averaging.worth(changed),
        mean=averaging.mean(slack) or 0.0,
        limits=limits,
        bounds=bounds,
        spread=averaging.spread(slack, spread),
        identical=identical,
        empty=len(before) > 0 and (not before.any() or not after.any()),
        rounding=rounding,
        touched=touched,
        traffic=traffic,
    )


def _limits(rule: GateRule) -> Interval | None:
    """The least and the greatest slack that a query can have."""
    bounds = rule.measure.definition.bounds
    if bounds is None:
        return None
    low, high = bounds
    if not rule.relative:
        span = high - low
        return (-span - rule.margin, span - rule.margin) if rule.at_least else (rule.margin - span, rule.margin + span)
    shares = ((1 + rule.margin) * low, (1 + rule.margin) * high)  # of the baseline, which the candidate should keep
    least, greatest = low - max(shares), high - min(shares)
    return (least, greatest) if rule.at_least else (-greatest, -least)


def _over_traffic(rule: GateRule, touched: Touched, alpha: float) -> tuple[TrafficBounds | None, Bounds | None]:
    """Bounds of the slack over all traffic, for a rule with an absolute margin."""
    span = _span(rule)
    found = traffic_bounds(touched, None if span is None else (-span, span), alpha)
    if found is None:
        return None, None
    low, high = found.ends
    ends = (low - rule.margin, high - rule.margin) if rule.at_least else (rule.margin - high, rule.margin - low)
    return found, Bounds(ends, "traffic")


# Outcome


_TOO_FEW = ("no query has a value in both runs", "only one query has a value in both runs; at least two are needed")
_NO_ERROR = "how far the weighted difference may be off cannot be estimated: nearly all of the weight is in one query"


class _Outcome(Struct, frozen=True):
    status: Status
    words: str
    needed: int | None = None


def _outcome(evidence: _Evidence) -> _Outcome:
    if evidence.bounds is None:
        return _Outcome("inconclusive", _without_bounds(evidence))
    holds = evidence.bounds.ends[0] >= -evidence.rounding
    breaks = evidence.bounds.ends[1] < -evidence.rounding
    if evidence.identical:
        return _outcome_of_identical(evidence, holds)
    if holds and evidence.spread is None and evidence.empty and evidence.rule.at_least:
        return _Outcome("inconclusive", "one of the runs has 0 on every query: do its ids match the judgments?")
    if holds:
        return _Outcome("pass", _why(evidence, _bound_words(evidence, "lower", "at or above", "at or below")))
    if breaks:
        return _Outcome("fail", _why(evidence, _bound_words(evidence, "upper", "below", "above")))
    return _unsettled(evidence)


def _without_bounds(evidence: _Evidence) -> str:
    if evidence.queries < 2 and evidence.traffic is None:
        return _TOO_FEW[evidence.queries]
    if evidence.limits is not None:
        return _NO_ERROR
    if evidence.touched is not None:
        judged = number_of(len(evidence.touched.differences), "touched query")
        return (
            f"so far {judged} {'is' if judged.startswith('1 ') else 'are'} judged, and {evidence.rule.label} has no upper "
            f"limit: a bound needs {FEWEST_CHANGED} that differ, and not all by the same amount"
        )
    words = f"{_few_words(evidence)}, and {evidence.rule.label} has no upper limit"
    if evidence.changed >= FEWEST_CHANGED:
        return words
    return f"{words}: a bound needs {FEWEST_CHANGED} that changed"


def _outcome_of_identical(evidence: _Evidence, holds: bool) -> _Outcome:
    if evidence.empty and evidence.rule.at_least:
        return _Outcome("inconclusive", "both runs have 0 on every query: do their ids match the judgments?")
    same = "both runs have the same value on every query"
    if not holds:
        return _Outcome("fail", f"{same}, so the difference is 0; the rule requires more")
    return _Outcome("unchanged", f"{same}; {_possible_words(evidence)}")


def _possible_words(evidence: _Evidence) -> str:
    """What queries may show that none has shown."""
    kind = "loss" if evidence.rule.at_least else "rise"
    possible = "" if evidence.unseen is None else f" of up to {_visible(evidence.unseen, 3)}"
    return f"on other queries a {kind}{possible} remains possible"


def _why(evidence: _Evidence, words: str) -> str:
    """The words, after what the unlabelled queries say."""
    return words if evidence.traffic is None else f"{_traffic_words(evidence)}: {words}"


def _unsettled(evidence: _Evidence) -> _Outcome:
    ends = f"{_apart(evidence.lower, evidence.margin)} and {_apart(evidence.upper, evidence.margin)}"
    between = f"the margin {_margin_words(evidence)} is between the bounds {ends}"
    if evidence.untouched and (evidence.rule.margin <= 0 if evidence.rule.at_least else evidence.rule.margin >= 0):
        return _Outcome("unchanged", f"{_traffic_words(evidence)}, and no judged one; {_possible_words(evidence)}")
    if evidence.touched is not None:
        more = "judge more of the touched queries" if evidence.touched.to_judge else "ask more unlabelled queries"
        return _Outcome("inconclusive", f"{_why(evidence, between)}; {more}")
    if evidence.bounds is not None and evidence.bounds.method == "betting":
        return _unsettled_by_few(evidence, between)
    return _unsettled_by_t(evidence, between)


def _unsettled_by_t(evidence: _Evidence, between: str) -> _Outcome:
    """The bounds are Student's t, or would be with more queries like these."""
    spread = evidence.spread
    in_deviations = 0.0 if spread is None else abs(spread.mean) / spread.deviation
    if in_deviations < SMALLEST_EFFECT:
        return _Outcome(
            "inconclusive", f"{between}, and the difference is on the margin: no number of queries would settle it"
        )
    enough = math.ceil(evidence.queries * FEWEST_CHANGED / evidence.worth)  # queries for Student's t
    needed = max(queries_to_settle(in_deviations, evidence.alpha), enough, evidence.queries + 1)
    return _Outcome("inconclusive", f"{between}; {_needed_words(evidence, needed)}", needed)


def _unsettled_by_few(evidence: _Evidence, between: str) -> _Outcome:
    """Too few queries changed for Student's t."""
    few = f"{between}, which are wide, since {_few_words(evidence)}"
    if evidence.uneven:
        return _unsettled_by_t(evidence, few)
    low, high = evidence.limits or (0.0, 0.0)
    passes = evidence.tends_to == "pass"
    towards = (evidence.slack, (low, high)) if passes else (-evidence.slack, (-high, -low))
    needed = bets_to_settle(*towards, evidence.alpha, weights=evidence.weights)
    if needed is None:
        return _Outcome("inconclusive", few)
    needed = max(needed, evidence.queries + 1)
    return _Outcome(
        "inconclusive", f"{few}; about {_needed_words(evidence, needed)}{_least_words(evidence, needed)}", needed
    )


def _few_words(evidence: _Evidence) -> str:
    """Why Student's t does not apply."""
    queries = number_of(evidence.queries, "query")
    if evidence.uneven:
        return "a few queries have most of the weight"
    if evidence.changed < evidence.queries:
        return f"only {evidence.changed} of {queries} changed"
    return (
        f"there are only {queries}"
        if evidence.queries < FEWEST_CHANGED
        else f"all {queries} changed by the same amount"
    )


def _needed_words(evidence: _Evidence, needed: int) -> str:
    return (
        f"{needed:,} queries would settle it as {evidence.tends_to} ({POWER:.0%} power) if difference and "
        f"spread stay as on these {evidence.queries:,}"
    )


def _least_words(evidence: _Evidence, needed: int) -> str:
    """How many queries any bound needs that is valid for every change, if there are fewer and no large gain settles it."""
    span, margin = _span(evidence.rule), evidence.margin
    if span is None or margin is None or evidence.tends_to != "pass":
        return ""
    loss = -margin if evidence.rule.at_least else margin
    least = fewest_queries(loss / span, evidence.alpha) if 0 < loss < span else 0
    if not evidence.queries < least <= needed:
        return ""
    return f". With fewer than {least:,} queries, no valid bound lets so small a change pass at this margin"


def _traffic_words(evidence: _Evidence) -> str:
    """How many queries the change touches, and what the judged ones of them show."""
    touched, traffic = evidence.touched, evidence.traffic
    if touched is None or traffic is None:
        return ""
    words = (
        f"the change touches {touched.touched:,} of {number_of(touched.queries, 'unlabelled query')} "
        f"({_percent(touched.share)}, at most {_percent(traffic.share[1])})"
    )
    judged = len(touched.differences)
    if not judged:
        return words
    low, high = traffic.among_touched
    which = f"the {judged:,} judged so far differ" if judged > 1 else "the one judged so far differs"
    return f"{words}, and {which} by {np.mean(touched.differences):+.{_DECIMALS}f} ({low:+.{_DECIMALS}f} to {high:+.{_DECIMALS}f})"


def _percent(share: float) -> str:
    return f"{_visible(100 * share, 2)}%"


def _visible(value: float, decimals: int) -> str:
    """A positive number with these decimals, or as many as it takes to see it.

    >>> _visible(0.058, 3), _visible(0.000003, 3)
    ('0.058', '0.000003')
    """
    return f"{value:.{max(decimals, -math.floor(math.log10(value))) if value else decimals}f}"


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
