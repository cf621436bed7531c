"""Texts and cells shared by all output formats of a gate. Escapes nothing and decides nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from assay.errors import show_id
from assay.gate.averaging import Method
from assay.gate.deciding import STATUSES, Decision, Status
from assay.gate.gating import Gate
from assay.words import listed, number_of

HEAD = ("rule", "baseline", "candidate", "difference", "bounds", "queries", "decision")
TEXTS = {"rule", "decision"}
_VERBS = {
    "pass": ("passes", "pass"),
    "fail": ("fails", "fail"),
    "inconclusive": ("is inconclusive", "are inconclusive"),
    "unchanged": ("is unchanged", "are unchanged"),
}
_METHODS: Mapping[Method, str] = {  # where bounds come from, in the order in which they are explained
    "t": "Student's t, with a correction for skewness",
    "betting": "a bound that holds for any distribution, where few queries changed",
    "traffic": "the share of unlabelled queries that the change touches, times the difference on those that are judged",
}
_FEW = 5  # queries to judge that are named in one line
_LONGEST = 10_000  # characters of a sentence; ids in it are already cut


def headline(gate: Gate) -> str:
    """The decision in one line, such as 'Gate: fail (1 fails, 2 pass): hybrid against keyword, 50 queries'."""
    found = gate.statuses()
    counts = [(found.count(status), status) for status in STATUSES if status in found]
    words = ", ".join(f"{count} {_VERBS[status][count > 1]}" for count, status in counts)
    numbers = {decision.queries for decision in gate.decisions}
    queries = max(numbers, default=0)
    over = f", {number_of(queries, 'query')}" if len(numbers) == 1 and queries else ""
    over += ", weighted" if gate.weights else ""
    return f"Gate: {gate.status} ({words}): {show_id(gate.candidate.name)} against {show_id(gate.baseline.name)}{over}"


def notes_of(gate: Gate) -> Iterator[str]:
    """The method and conventions."""
    if gate.decisions:
        yield (
            f"{difference_of(gate)}, query by query. Each bound is one-sided at {percent_of(gate)}, not corrected "
            f"for the number of rules; all rules must pass."
        )
        used = {decision.method for decision in gate.decisions}
        if found := [words for method, words in _METHODS.items() if method in used]:
            yield f"Bounds by {'; '.join(found)}."
        if gate.population == "strict":
            yield "Runs that are the same on all judged queries do not pass, since other queries may lose."
        yield from gate.weights
        if gate.weights:
            plain = [f"{_number(each.plain_difference, '+.4f')} ({each.rule.label})" for each in gate.decisions]
            yield f"Means, differences and bounds are weighted. Without weights, the differences are {listed(plain)}."
    yield gate.conventions


def percent_of(gate: Gate) -> str:
    """The confidence of each bound, never rounded to certainty."""
    percent = next(words for digits in range(4, 18) if (words := f"{100 * (1 - gate.alpha):.{digits}g}") != "100")
    return f"{percent}%"


def difference_of(gate: Gate) -> str:
    """What a difference is."""
    over = any(decision.touched is not None for decision in gate.decisions)
    return f"Difference = candidate - baseline{' over all unlabelled queries' if over else ''}"


def attempt_of(gate: Gate) -> str:
    """Which attempt of the change it is, and what that means; empty without a ledger."""
    if gate.attempt is None:
        return ""
    if gate.attempt.attempt == 1:
        return (
            f"first attempt of '{show_id(gate.attempt.change)}'. Its bounds are at {percent_of(gate)}, which leaves half of the "
            "error for later attempts."
        )
    return (
        f"attempt {gate.attempt.attempt} of '{show_id(gate.attempt.change)}'. Its bounds are at {percent_of(gate)}, since all "
        "attempts of a change share one error."
    )


def queries_to_judge(gate: Gate, *, full: bool = False) -> str:
    """The touched queries to judge next, as a random sample of them; empty if there are none, or all rules are settled."""
    open_ = [each.to_judge for each in gate.decisions if each.status == "inconclusive" and each.to_judge]
    if not open_:
        return ""
    queries = max(open_, key=len)
    shown = queries if full else queries[:_FEW]
    rest = len(queries) - len(shown)
    more = f" and {rest} more (all with -v, and in the JSON)" if rest else ""
    return f"{', '.join(map(show_id, shown))}{more}"


class RuleReason(Struct, frozen=True):
    """The status of a rule or target, and the reason."""

    status: Status
    name: str
    words: str
    warns: bool = False  # it passes, with a warning


def reasons_of(gate: Gate, *, full: bool = False) -> Iterator[RuleReason]:
    """The reason for each rule and target; `full` adds the figures of a rule."""
    for decision in gate.decisions:
        figures = _figures(decision) if full else ""
        yield RuleReason(decision.status, _name_of(decision), figures + decision.words)
    for target in gate.targets:
        warns = target.target_status == "warn"  # in a strict gate it fails
        words = shown(target.words) + (", within a tenth of the goal (warning)" if warns else "")
        yield RuleReason(target.status, shown(f"target {target.measure}"), words, warns and target.status == "pass")
    for caution in gate.failures:
        yield RuleReason("fail", "warning, and the gate is strict", shown(caution.words))


def _name_of(decision: Decision) -> str:
    return shown(str(decision.rule)) + (" (anchor)" if decision.against == "anchor" else "")


def _figures(decision: Decision) -> str:
    if decision.difference is None or decision.baseline_mean is None:
        return ""
    where = "" if decision.touched is None else " over all unlabelled queries"
    judged = "" if decision.touched is None else " on judged ones"
    means = f"{decision.baseline_mean:.4f} to {decision.candidate_mean:.4f}{judged}"
    return f"difference {decision.difference:+.4f}{where} ({means}), "


def cells_of(decision: Decision) -> list[str]:
    """The cells of a rule, in the order of `HEAD`."""
    bounds = "-" if decision.lower is None else f"{decision.lower:+.4f} {decision.upper:+.4f}"
    return [
        _name_of(decision),
        _number(decision.baseline_mean, ".4f"),
        _number(decision.candidate_mean, ".4f"),
        _number(decision.difference, "+.4f"),
        bounds,
        f"{decision.queries:,}",
        decision.status,
    ]


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else f"{value:{form}}"


def sentence(words: str) -> str:
    """The words with a full stop at the end."""
    return words if words.endswith(("?", ".")) else f"{words}."


def shown(text: str) -> str:
    """The text with control characters escaped."""
    return show_id(text, _LONGEST)
