"""Build a report from an evaluation. Reads and writes no files."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from msgspec import to_builtins
from msgspec.structs import replace

from assay.comparison.intervals import CONFIDENCE, mean_interval
from assay.describing import agreement_in_words, conventions_in_words, coverage_in_words, weights_in_words
from assay.errors import some_of
from assay.evaluation import GEOMETRIC_FLOOR, Coverage, Evaluation
from assay.measures import Request
from assay.measures.arithmetic import log, within
from assay.records.curves import NO_CURVES
from assay.records.identity import unread_identity
from assay.records.model import (
    Curves,
    EvaluationReport,
    FindingRecord,
    Identity,
    MeasureResult,
    TargetResult,
    WeightedResult,
)
from assay.records.targets import TargetOutcome
from assay.secrets import Secrets
from assay.tables import Floats
from assay.weighting.estimating import WeightedMean
from assay.words import noun_for, plural

SHALLOW = 0.5  # with a smaller share of judged documents, a report counts as incomplete
LOOKED_AT = 10  # ranks that most users look at
SETTLED_BY = {"judges": ("QRL020", "QRL021"), "duplicates": ("RUN020",)}  # errors that a rule has dealt with
Hide = Callable[[str], str]
_NOT_TEXT = re.compile(r"[\\\ud800-\udfff]")


def build_report(
    evaluation: Evaluation,
    *,
    experiment: str = "",
    created: str | None = None,
    run: Identity | None = None,
    qrels: Identity | None = None,
    findings: Sequence[FindingRecord] = (),
    targets: TargetOutcome | None = None,
    curves: Curves = NO_CURVES,
    seconds: float = 0.0,
    confidence: float = CONFIDENCE,
    secrets: Secrets | None = None,
) -> EvaluationReport:
    """The report of one run.

    `run` and `qrels` identify the files; without them the report has no digests. `secrets` are hidden in names, paths
    and findings. Ids that are not UTF-8 are escaped by `written_ids`.
    """
    coverage, hide = evaluation.coverage, (secrets or Secrets()).hide
    because = tuple(reasons_for_doubt(evaluation, findings))
    return EvaluationReport(
        experiment=experiment,
        created=created or timestamp(),
        run=_shown(run or unread_identity(evaluation.run, "", queries_of_run(coverage)), hide),
        tag=as_text(hide(evaluation.tag)),
        qrels=_shown(qrels or unread_identity("qrels", "", coverage.judged), hide),
        like=evaluation.like,
        rules=to_builtins(evaluation.rules),
        conventions=conventions_in_words(evaluation.rules, evaluation.like),
        measures=tuple(_measures(evaluation, targets, confidence, hide)),
        targets=None if targets is None else as_text(hide(targets.profile)),
        status=None if targets is None else targets.status,
        coverage=_coverage(coverage),
        coverage_words=_coverage_words(evaluation),
        complete=not because,
        incomplete_because=because,
        findings=tuple(_hidden(finding, hide) for finding in findings),
        curves=curves,
        queries=dict(zip(written_ids(evaluation.queries), _rows(evaluation.values), strict=True)),
        seconds=seconds,
        weights=tuple(as_text(hide(words)) for words in _weight_words(evaluation)),
    )


def timestamp(now: datetime | None = None) -> str:
    """The time in UTC, to the second, in ISO 8601."""
    return (now or datetime.now(UTC)).astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def queries_of_run(coverage: Coverage) -> int:
    """The number of queries in the run, judged or not."""
    return coverage.answered + len(coverage.unjudged)


def as_text(text: str) -> str:
    r"""Text that can be written as UTF-8: other bytes become \xe9, and backslashes in such a text are doubled.

    >>> print(as_text("caf\udce9"), as_text("a\\b"))
    caf\xe9 a\b
    """
    return _escaped(text) if any("\ud800" <= character <= "\udfff" for character in text) else text


def written_ids(ids: Sequence[str]) -> list[str]:
    r"""Ids as they are written: unchanged, or all escaped if one of them is not UTF-8, so they stay distinct.

    >>> written_ids(["a\\b", "é"])
    ['a\\b', 'é']
    >>> print(*written_ids(["a\\b", "caf\udce9"]))
    a\\b caf\xe9
    """
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        return [_escaped(text) for text in ids]
    return list(ids)


def _escaped(text: str) -> str:
    return _NOT_TEXT.sub(lambda found: "\\\\" if found[0] == "\\" else f"\\x{ord(found[0]) & 0xFF:02x}", text)


def _shown(identity: Identity, hide: Hide) -> Identity:
    return replace(identity, name=as_text(hide(identity.name)), path=as_text(hide(identity.path)))


def _hidden(finding: FindingRecord, hide: Hide) -> FindingRecord:
    def shown(text: str | None) -> str | None:
        return None if text is None else as_text(text)

    examples = tuple(
        replace(example, text=as_text(hide(example.text)), query=shown(example.query)) for example in finding.examples
    )
    return replace(
        finding,
        message=as_text(hide(finding.message)),
        file=as_text(hide(finding.file)),
        query=shown(finding.query),
        examples=examples,
    )


def _measures(
    evaluation: Evaluation, targets: TargetOutcome | None, confidence: float, hide: Hide
) -> Iterator[MeasureResult]:
    bounds = evaluation.tie_bounds or {}
    undefined = evaluation.undefined()
    weighted = {} if evaluation.query_weights is None else evaluation.weighted(confidence)
    for request, column, mean in zip(evaluation.requests, evaluation.values.T, evaluation.mean().values(), strict=True):
        left_out = int(undefined[request.label])
        yield MeasureResult(
            name=request.label,
            canonical=str(request.measure),
            mean=_known(mean),
            interval=_interval(request, column, confidence),
            confidence=confidence,
            queries=len(evaluation.queries) - left_out,
            undefined=left_out,
            total=request.measure.definition.total,
            tie_bounds=bounds.get(request.label),
            target=_target(targets, request.label, hide),
            weighted=_weighted(weighted.get(request.label)),
        )


def _weighted(found: WeightedMean | None) -> WeightedResult | None:
    if found is None:
        return None
    return WeightedResult(
        mean=_known(found.mean),
        interval=found.interval,
        error=found.error,
        degrees=found.degrees,
        queries=found.queries,
        effective=found.effective,
    )


def _weight_words(evaluation: Evaluation) -> list[str]:
    weights = evaluation.query_weights
    return [] if weights is None else weights_in_words(weights, evaluation.queries, evaluation.coverage.missing)


def _target(targets: TargetOutcome | None, label: str, hide: Hide) -> TargetResult | None:
    result = None if targets is None else targets.results.get(label)
    if result is None or result.baseline is None:
        return result
    return replace(result, words=as_text(hide(result.words)), baseline=as_text(hide(result.baseline)))


def _interval(request: Request, values: Floats, confidence: float) -> tuple[float, float] | None:
    """The interval of the mean, within the bounds of the measure; for a geometric mean from the logarithms; None for a sum."""
    total, bounds = request.measure.definition.total, request.measure.definition.bounds
    if total == "mean":
        return within(mean_interval(values, confidence), bounds)
    if total == "sum":
        return None
    known = values[~np.isnan(values)]
    ends = mean_interval(log(np.maximum(known, GEOMETRIC_FLOOR)), confidence)
    return None if ends is None else within((math.exp(ends[0]), math.exp(ends[1])), bounds)


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def _rows(values: Floats) -> Iterator[tuple[float | None, ...]]:
    if not np.isnan(values).any():
        yield from map(tuple, values.tolist())
        return
    for row in values.tolist():
        yield tuple(map(_known, row))


def _coverage(coverage: Coverage) -> dict[str, Any]:
    """The coverage for JSON: keys are text, and unjudged queries are only counted."""
    by_cutoff = {
        name: {str(cutoff): value for cutoff, value in getattr(coverage, name).items()}
        for name in ("judged_share", "shown", "straddling")
    }
    return {
        **to_builtins(coverage),
        "missing": written_ids(coverage.missing),
        "unjudged": len(coverage.unjudged),
        **by_cutoff,
    }


def _coverage_words(evaluation: Evaluation) -> str:
    coverage = evaluation.coverage
    words = coverage_in_words(coverage, evaluation.rules, evaluation.requests)
    return words if coverage.agreement is None else f"{words} Judges: {agreement_in_words(coverage.agreement)}"


def reasons_for_doubt(evaluation: Evaluation, findings: Sequence[FindingRecord] = ()) -> Iterator[str]:
    """The reasons why the figures may be unreliable."""
    coverage, rules = evaluation.coverage, evaluation.rules
    if evaluation.doubt:
        yield evaluation.doubt
    missing = len(coverage.missing)
    if missing:
        consequence = "and {counts|count} as 0" if rules.queries == "judged" else "and left out of the means"
        yield (
            f"{missing} of {coverage.judged} judged {noun_for(coverage.judged, 'query')} {plural('{is|are}', missing)} "
            f"missing from the run ({some_of(coverage.missing)}) {plural(consequence, missing)}."
        )
    settled = {code for rule in rules.changed() for code in SETTLED_BY.get(rule, ())}
    codes = dict.fromkeys(finding.code for finding in findings if finding.severity == "error")
    errors = [code for code in codes if code not in settled]
    if errors:
        yield f"validation found errors: {', '.join(errors)}."
    cutoff = _cutoff_looked_at(coverage)
    if cutoff is not None and coverage.judged_share[cutoff] < SHALLOW and not coverage.only_relevant:
        yield (
            f"only {coverage.judged_share[cutoff]:.0%} of the documents in the top {cutoff} are judged; "
            f"the others count as not relevant, though some may be."
        )


def _cutoff_looked_at(coverage: Coverage) -> int | None:
    """The cutoff to check, among those with documents: 10, else the next deeper one, else the deepest."""
    shown = [cutoff for cutoff, number in coverage.shown.items() if number]
    return min((cutoff for cutoff in shown if cutoff >= LOOKED_AT), default=max(shown, default=None))
