"""Decide whether a candidate may replace a baseline: evaluate, pair by query, decide every rule and target."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from assay.describing import conventions_in_words, weights_in_words
from assay.errors import InputError, some_of
from assay.evaluation import Evaluator, Unmatched
from assay.files import is_same_file
from assay.formats.reading import QrelsLike, RunLike
from assay.formats.readings import Readings
from assay.gate.averaging import Averaging
from assay.gate.baselines import MAX_AGE, Caution, Side
from assay.gate.cautions import few_cautions, left_out_cautions, misread_cautions, missing_of
from assay.gate.deciding import ALPHA, Decision, Status, check_alpha, decide_rule, worst
from assay.gate.grammar import GateRule, parse_rule
from assay.gate.ledger import Attempt, opened_ledger
from assay.gate.pairing import Asked
from assay.gate.reading import Compared, Reader
from assay.records.identity import is_file
from assay.records.model import Status as TargetStatus
from assay.records.model import Targets
from assay.records.targets import check_targets, over_baseline, read_targets, with_targets
from assay.rules import Rules

if TYPE_CHECKING:  # rarely needed: imported on demand
    from assay.inputs.query_weights import QueryWeightsLike
    from assay.weighting.weights import QueryWeights

Inconclusive = Literal["pass", "warn", "fail"]  # what an inconclusive result is taken for; "warn" passes with a warning
# What the judged queries are: a sample, of which no change is news, or too little to say so of all queries
Population = Literal["sample", "strict"]

EXIT_CODES: Mapping[Status, int] = {"pass": 0, "unchanged": 0, "fail": 1, "inconclusive": 3}
_IF_INCONCLUSIVE: Mapping[Inconclusive | None, int] = {None: 3, "pass": 0, "warn": 0, "fail": 1}

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
    alpha: float  # that each bound may err
    decisions: tuple[Decision, ...]  # on the rules about the baseline, then on those about the anchor
    profile: str | None  # name of the targets
    targets: tuple[TargetDecision, ...]
    cautions: tuple[Caution, ...]
    weights: tuple[str, ...] = ()  # how the weighted means come about, in words; empty without weights
    inconclusive: Inconclusive | None = None  # what an inconclusive result is taken for
    strict: bool = False  # warnings fail
    population: Population = "sample"
    anchor: Side | None = None  # an earlier system, from which small losses must not lead too far away
    attempt: Attempt | None = None  # as the ledger has it; None without a ledger

    @property
    def status(self) -> Status:
        """The overall status: fail if anything fails, pass only if everything passes, unchanged if nothing changed."""
        found = worst(self.statuses())
        if found != "unchanged" or self.population == "strict":
            return found
        return "unchanged" if all(decision.status == "unchanged" for decision in self.decisions) else "pass"

    @property
    def settled(self) -> bool:
        """Whether the status is an answer, rather than a question that these queries leave open."""
        return self.status != "inconclusive" and not (self.status == "unchanged" and self.population == "strict")

    @property
    def exit_code(self) -> int:
        """The exit code of the command: 0 pass, 1 fail, 3 not settled, unless that is taken for something else."""
        return EXIT_CODES[self.status] if self.settled else _IF_INCONCLUSIVE[self.inconclusive]

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
    anchor: RunLike | None = None,
    anchor_rules: str | Iterable[str | GateRule] = (),
    unlabelled: tuple[RunLike, RunLike] | None = None,
    alpha: float = ALPHA,
    ledger: str | os.PathLike[str] | None = None,
    change: str | None = None,
    population: Population = "sample",
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

    Runs that are the same on all judged queries are `unchanged`, which passes unless `population` is `strict`. `anchor` is
    an earlier system, with `anchor_rules` of its own. `unlabelled` are two runs, of baseline and candidate, for queries of
    which few or none are judged: they show how many queries a change touches. A `ledger` remembers how often a `change` was
    tried, and spends the error over the attempts.

    >>> qrels = {f"q{n}": {"a": 1} for n in range(10)}
    >>> better = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    >>> worse = {query: ["b", "a"] if n % 4 else ["a", "b"] for n, query in enumerate(qrels)}
    >>> decide(qrels, worse, better, "RR >= -0.1").status
    'pass'
    >>> print(decide(qrels, better, worse, "RR >= -0.4").decisions[0].words.partition(";")[0])
    the margin -0.4 is between the bounds -0.4984 and -0.1415
    """
    asked, held, profile = _parsed(gate_rules), _parsed(anchor_rules), _profile(targets)
    given = {
        "anchor": anchor,
        "query_weights": query_weights,
        "unlabelled": unlabelled,
        "ledger": ledger,
        "change": change,
    }
    _refuse_pointless(asked, held, profile, {name: value is not None for name, value in given.items()})
    check_alpha(alpha)
    _check_population(population)
    evaluator = Evaluator(
        qrels,
        _measures((*asked, *held), profile),
        rules,
        like=like,
        reading=readings.qrels,
        threads=threads,
        unmatched=unmatched,
        query_weights=query_weights,
    )
    place = os.fspath(qrels) if isinstance(qrels, (str, os.PathLike)) else ""
    reader = Reader(evaluator, place, readings, now)
    found = reader.compared(baseline, candidate, anchor, unlabelled, asked, held, profile, max_age)
    _refuse_strangers(found)
    if strict:
        _refuse_what_decides_nothing(found)
    asking, weights = found.asking(asked, held), evaluator.query_weights
    with nullcontext() if ledger is None else opened_ledger(ledger) as book:
        attempt = None if book is None else book.attempt(change, [each.evidence for each in asking], alpha)
        level = alpha if attempt is None else attempt.alpha
        decisions = tuple(_decision(each, level, weights) for each in asking)
        gate = Gate(
            baseline=found.before,
            candidate=found.after,
            qrels=place,
            conventions=conventions_in_words(found.evaluation.rules, found.evaluation.like),
            alpha=level,
            decisions=decisions,
            profile=None if profile is None else profile.name,
            targets=() if profile is None else tuple(_target_decisions(profile, found, strict=strict)),
            cautions=(
                *found.cautions(),
                *left_out_cautions([each.pair for each in asking]),
                *few_cautions(decisions),
                *misread_cautions(decisions),
            ),
            weights=_weights_in_words(weights, found),
            inconclusive=inconclusive,
            strict=strict,
            population=population,
            anchor=found.anchor,
            attempt=attempt,
        )
        if book is not None and attempt is not None:
            book.keep(replace(attempt, status=gate.status))
    return gate


def _check_population(population: str) -> None:
    if population not in get_args(Population):
        raise InputError(f"population cannot be {population!r}; it takes {' or '.join(get_args(Population))}.")


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


def _weights_in_words(weights: QueryWeights | None, found: Compared) -> tuple[str, ...]:
    if weights is None:
        return ()
    return tuple(weights_in_words(weights, found.after.queries, found.evaluation.coverage.missing))


def _decision(asked: Asked, alpha: float, weights: QueryWeights | None) -> Decision:
    pair = asked.pair
    averaging = Averaging(weights, pair.queries)
    found = decide_rule(pair.rule, pair.baseline, pair.candidate, alpha, averaging, asked.touched)
    return replace(found, against=asked.against)


# What cannot be decided


def _refuse_pointless(
    asked: Sequence[GateRule], held: Sequence[GateRule], profile: Targets | None, given: Mapping[str, bool]
) -> None:
    """Raise an error for rules without what they are about, and for the reverse."""
    if not asked and profile is None:
        raise InputError(
            "nothing to decide; give a rule with `gate_rules='nDCG@10 >= -0.01'`, or targets with `targets=`."
        )
    if given["query_weights"] and not asked:
        raise InputError(
            "`query_weights=` is for rules, and there are none; targets are about plain means. Leave it out."
        )
    if given["anchor"] and not held:
        raise InputError("an anchor needs a rule of its own: give it with `anchor_rules='nDCG@10 >= -0.03'`.")
    if held and not given["anchor"]:
        raise InputError("`anchor_rules=` are about an anchor: give its run with `anchor=`.")
    if given["ledger"] != given["change"]:
        raise InputError("`ledger=` and `change=` go together: the file, and the name of the change that it counts.")
    if given["unlabelled"]:
        _refuse_with_unlabelled(asked, profile, given)


def _refuse_with_unlabelled(asked: Sequence[GateRule], profile: Targets | None, given: Mapping[str, bool]) -> None:
    """Raise an error for what does not go with unlabelled queries."""
    if not asked or profile is not None:
        raise InputError("unlabelled queries are for rules, not for targets. Decide these in a gate of their own.")
    if given["query_weights"]:
        raise InputError(
            "unlabelled queries do not go with `query_weights=`: they show the traffic as it is. Leave the weights out."
        )
    relative = next((rule for rule in asked if rule.relative), None)
    if relative is not None:
        raise InputError(
            f"rule '{relative}': unlabelled queries say nothing about the baseline's mean. Write the margin as a number."
        )


def _refuse_strangers(found: Compared) -> None:
    before, after = found.before.queries, found.after.queries
    if found.more is None and not set(before) & set(after):
        raise InputError(
            f"baseline and candidate have no query in common (baseline: {some_of(before) or 'none'}; candidate: "
            f"{some_of(after) or 'none'}). Were they made for the same queries?"
        )


def _refuse_what_decides_nothing(found: Compared) -> None:
    """Raise an error for a candidate that is the baseline, or that lacks most judged queries."""
    path = found.after.path
    if is_file(found.before.path) and is_same_file(found.before.path, path):
        raise InputError(
            "baseline and candidate are the same file, so there is nothing to decide. Check how the two were made.",
            source=path,
        )
    missing, judged = missing_of(found.evaluation, found.elsewhere)
    if 2 * len(missing) > judged:
        raise InputError(
            f"the candidate lacks {len(missing)} of {judged} judged queries ({some_of(missing)}). Check that it was "
            "made for these queries.",
            source=path or None,
        )


# Targets


def _target_decisions(profile: Targets, found: Compared, *, strict: bool) -> Iterator[TargetDecision]:
    """The decision on each target; uplifts are relative to the baseline of the gate. If strict, a warning fails."""
    before = found.before
    outcome = check_targets(over_baseline(profile, before.name), found.evaluation, [before.means])
    for label, result in outcome.results.items():
        status = "fail" if strict and result.status == "warn" else _STATUS_OF_TARGET[result.status]
        yield TargetDecision(label, status, result.status, result.words)
