"""Decide whether a candidate may replace a baseline: evaluate, pair by query, decide every rule and target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from msgspec import Struct

from assay.comparison.comparing import FEW_QUERIES
from assay.describing import conventions_in_words, weights_in_words
from assay.errors import InputError, some_of
from assay.evaluation import Evaluation, Evaluator, Unmatched
from assay.files import is_same_file
from assay.formats.reading import QrelsLike, RunLike
from assay.formats.readings import Reading, Readings
from assay.formats.unread import open_run
from assay.gate.baselines import (
    MAX_AGE,
    Caution,
    Side,
    is_report,
    open_report,
    report_cautions,
    side_of,
    side_of_report,
)
from assay.gate.deciding import ALPHA, Averaging, Decision, Status, check_alpha, decide_rule, worst
from assay.gate.grammar import GateRule, parse_rule
from assay.measures import Measure, parse_measure
from assay.records.identity import is_file
from assay.records.model import Status as TargetStatus
from assay.records.model import Targets
from assay.records.recording import path_of
from assay.records.targets import check_targets, over_baseline, read_targets, with_targets
from assay.rules import Rules
from assay.tables import Floats
from assay.words import noun_for, number_of

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.inputs.query_weights import QueryWeightsLike

Inconclusive = Literal["pass", "warn", "fail"]  # what an inconclusive result is taken for; "warn" passes with a warning

EXIT_CODES: Mapping[Status, int] = {"pass": 0, "fail": 1, "inconclusive": 3}
_IF_INCONCLUSIVE: Mapping[Inconclusive | None, int] = {None: 3, "pass": 0, "warn": 0, "fail": 1}
LARGE_MARGIN = 0.1  # few changes improve a system by this much

# A value slightly below its goal deserves a warning, but does not stop a release.
_STATUS_OF_TARGET: Mapping[TargetStatus, Status] = {
    "pass": "pass",
    "warn": "pass",
    "fail": "fail",
    "unknown": "inconclusive",
}


class TargetDecision(Struct, frozen=True):
    """The decision on one target: the candidate's mean against a value to reach."""

    measure: str
    status: Status
    target_status: TargetStatus
    words: str


class Gate(Struct, frozen=True, eq=False):
    """The decision and everything it is based on."""

    baseline: Side
    candidate: Side
    qrels: str
    conventions: str  # in words
    alpha: float
    decisions: tuple[Decision, ...]
    profile: str | None  # name of the targets
    targets: tuple[TargetDecision, ...]
    cautions: tuple[Caution, ...]
    weights: tuple[str, ...] = ()  # how the weighted means come about, in words; empty without weights
    inconclusive: Inconclusive | None = None  # what an inconclusive result is taken for
    strict: bool = False  # warnings fail

    @property
    def status(self) -> Status:
        """The overall status: fail if anything fails, pass only if everything passes."""
        return worst(self.statuses())

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 pass, 1 fail, 3 inconclusive, unless that is taken for something else."""
        return _IF_INCONCLUSIVE[self.inconclusive] if self.status == "inconclusive" else EXIT_CODES[self.status]

    @property
    def warnings(self) -> tuple[Caution, ...]:
        """The cautions that do not change the decision: none if the gate is strict."""
        return () if self.strict else self.cautions

    @property
    def failures(self) -> tuple[Caution, ...]:
        """The cautions that fail a strict gate."""
        return self.cautions if self.strict else ()

    def statuses(self) -> list[Status]:
        """The status of each rule and target, and of each caution of a strict gate."""
        failures: list[Status] = ["fail"] * len(self.failures)
        return [
            *(decision.status for decision in self.decisions),
            *(target.status for target in self.targets),
            *failures,
        ]


def decide(
    qrels: QrelsLike,
    baseline: RunLike,
    candidate: RunLike,
    gate_rules: str | Iterable[str | GateRule] = (),
    *,
    targets: str | os.PathLike[str] | Targets | None = None,
    alpha: float = ALPHA,
    max_age: int = MAX_AGE,
    rules: Rules | Mapping[str, Any] = Rules(),
    like: str = "assay",
    threads: int | None = None,
    unmatched: Unmatched = "error",
    readings: Readings = Readings(),
    now: datetime | None = None,
    query_weights: QueryWeightsLike | None = None,
    inconclusive: Inconclusive | None = None,
    strict: bool = False,
) -> Gate:
    """Decide whether a candidate may replace a baseline.

    The baseline is a run, or a report from `assay evaluate --report`: its folder or its EvaluationReport.json. Runs and
    judgments can be anything that `assay.evaluate` takes. Uplifts in the targets are relative to the baseline. With
    `query_weights` the rules decide on the weighted difference; targets are about plain means. `inconclusive` says
    what an inconclusive result is taken for: it sets the exit code. If `strict`, warnings fail, and the same file given
    twice, or a run without most of the judged queries, is an error.

    >>> qrels = {"q1": {"a": 1}, "q2": {"a": 1}, "q3": {"a": 1}}
    >>> better = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> worse = {**better, "q2": {"a": 1.0, "b": 2.0}}
    >>> decide(qrels, worse, better, "RR >= -0.4").status
    'pass'
    >>> print(decide(qrels, better, worse, "RR >= -0.1").decisions[0].words.partition(";")[0])
    the margin -0.1 is between the bounds -0.6533 and +0.3200
    """
    asked, profile = _parsed(gate_rules), _profile(targets)
    check_alpha(alpha)
    if not asked and profile is None:
        raise InputError(
            "nothing to decide; give a rule with `gate_rules='nDCG@10 >= -0.01'`, or targets with `targets=`."
        )
    if query_weights is not None and not asked:
        raise InputError(
            "`query_weights=` is for rules, and there are none; targets are about plain means. Leave it out."
        )
    evaluator = Evaluator(
        qrels,
        _measures(asked, profile),
        rules,
        like=like,
        reading=readings.qrels,
        threads=threads,
        unmatched=unmatched,
        query_weights=query_weights,
    )
    place = os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else ""
    if is_report(baseline):  # checked first, because reading a run may take long
        stored = open_report(baseline)
        before = side_of_report(stored, _needed(asked, profile))
        doubts = report_cautions(stored, evaluator, place, readings=readings, max_age=max_age, now=now)
    else:
        first = _evaluated(evaluator, baseline, readings.run)
        before, doubts = side_of(first, path_of(first.sources[1])), _missing(first, "baseline")
    evaluation = _evaluated(evaluator, candidate, readings.run)
    after = side_of(evaluation, path_of(evaluation.sources[1]), written=before.kind == "report")
    _refuse_strangers(before, after)
    if strict:
        _refuse_what_decides_nothing(before, after, evaluation)
    pairs = [paired(before, after, rule) for rule in asked]
    weights = evaluator.query_weights
    decisions = tuple(
        decide_rule(pair.rule, pair.baseline, pair.candidate, alpha, Averaging(weights, pair.queries)) for pair in pairs
    )
    return Gate(
        baseline=before,
        candidate=after,
        qrels=place,
        conventions=conventions_in_words(evaluation.rules, evaluation.like),
        alpha=alpha,
        decisions=decisions,
        profile=None if profile is None else profile.name,
        targets=() if profile is None else tuple(_target_decisions(profile, evaluation, before, strict=strict)),
        cautions=(
            *doubts,
            *_missing(evaluation, "candidate"),
            *_same_file(before, after),
            *_left_out(pairs),
            *_few(decisions),
            *_misread(decisions),
        ),
        weights=() if weights is None else tuple(weights_in_words(weights, after.queries, evaluation.coverage.missing)),
        inconclusive=inconclusive,
        strict=strict,
    )


def _parsed(gate_rules: str | Iterable[str | GateRule]) -> tuple[GateRule, ...]:
    given = [gate_rules] if isinstance(gate_rules, str) else gate_rules
    return tuple(rule if isinstance(rule, GateRule) else parse_rule(rule) for rule in given)


def _profile(targets: str | os.PathLike[str] | Targets | None) -> Targets | None:
    return targets if targets is None or isinstance(targets, Targets) else read_targets(targets)


def _measures(asked: Sequence[GateRule], profile: Targets | None) -> tuple[str, ...]:
    """The measures of the rules and targets."""
    labels = tuple(dict.fromkeys(rule.label for rule in asked))
    if profile is None:
        return labels
    return with_targets(labels, profile) if labels else tuple(target.measure for target in profile.measures)


def _needed(asked: Sequence[GateRule], profile: Targets | None) -> list[Measure]:
    """The measures that the baseline must have: those of rules and uplifts."""
    uplifts = [target.measure for target in profile.measures if target.over is not None] if profile else []
    return list(dict.fromkeys([*(rule.measure for rule in asked), *map(parse_measure, uplifts)]))


def _evaluated(evaluator: Evaluator, run: RunLike, reading: Reading) -> Evaluation:
    return evaluator.evaluate(open_run(run, reading))


# Pairing


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


def _refuse_strangers(baseline: Side, candidate: Side) -> None:
    if not set(baseline.queries) & set(candidate.queries):
        raise InputError(
            f"baseline and candidate have no query in common (baseline: {some_of(baseline.queries) or 'none'}; candidate: "
            f"{some_of(candidate.queries) or 'none'}). Were they made for the same queries?"
        )


def _refuse_what_decides_nothing(baseline: Side, candidate: Side, evaluation: Evaluation) -> None:
    """Raise an error for a candidate that is the baseline, or that lacks most judged queries."""
    if is_file(baseline.path) and is_same_file(baseline.path, candidate.path):
        raise InputError(
            "baseline and candidate are the same file, so there is nothing to decide. Check how the two were made.",
            source=candidate.path,
        )
    missing, judged = evaluation.coverage.missing, evaluation.coverage.judged
    if 2 * len(missing) > judged:
        raise InputError(
            f"the candidate lacks {len(missing)} of {judged} judged queries ({some_of(missing)}). Check that it was "
            "made for these queries.",
            source=candidate.path or None,
        )


# Cautions


def _missing(evaluation: Evaluation, name: str) -> Iterator[Caution]:
    """A caution about judged queries missing from a run."""
    missing, judged = evaluation.coverage.missing, evaluation.coverage.judged
    if missing:
        effect = "counted as 0" if evaluation.rules.queries == "judged" else "left out"
        yield Caution(
            "missing",
            f"the {name} is missing {len(missing)} of {judged} judged queries ({some_of(missing)}), {effect}.",
        )


def _same_file(baseline: Side, candidate: Side) -> Iterator[Caution]:
    if is_file(baseline.path) and is_same_file(baseline.path, candidate.path):
        yield Caution("same", "SAME FILE: baseline and candidate are the same file.")


def _left_out(pairs: Sequence[Pair]) -> Iterator[Caution]:
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


def _few(decisions: Sequence[Decision]) -> Iterator[Caution]:
    least = min((decision.queries for decision in decisions), default=FEW_QUERIES)
    if least < FEW_QUERIES:
        yield Caution("few", f"{number_of(least, 'query')}, fewer than {FEW_QUERIES}: the bounds are rough.")


def _misread(decisions: Sequence[Decision]) -> Iterator[Caution]:
    """Cautions about margins that look like values to reach, and that the candidate would reach."""
    for decision in decisions:
        rule, mean = decision.rule, decision.candidate_mean
        looks_so = rule.at_least and not rule.relative and rule.margin >= LARGE_MARGIN
        if decision.status != "pass" and looks_so and mean is not None and mean >= rule.margin:
            yield Caution(
                "difference",
                f"{rule} asks for a gain of {rule.margin:g} over the baseline. To require a value of {rule.margin:g}, set a target.",
            )


# Targets


def _target_decisions(
    profile: Targets, evaluation: Evaluation, baseline: Side, *, strict: bool
) -> Iterator[TargetDecision]:
    """The decision on each target; uplifts are relative to the baseline of the gate. If strict, a warning fails."""
    outcome = check_targets(over_baseline(profile, baseline.name), evaluation, [baseline.means])
    for label, result in outcome.results.items():
        status = "fail" if strict and result.status == "warn" else _STATUS_OF_TARGET[result.status]
        yield TargetDecision(label, status, result.status, result.words)
