"""Parse the rules of a gate: `nDCG@10 >= -0.01`, `R@100 >= -1%`, `Unjudged@10 <= 0.05`. Decides nothing.

MEASURE >= NUMBER      candidate - baseline must be at least this
MEASURE >= NUMBER%     the same, as a share of the baseline's mean
MEASURE <= NUMBER      for measures where lower is better: must be at most this
"""

from __future__ import annotations

import re

from msgspec import Struct

from assay.errors import InputError, MeasureError, some_of
from assay.measures import Measure, Request
from assay.measures.grammar import parse_request

EXAMPLE = "nDCG@10 >= -0.01"

_RULE = re.compile(r"(?P<measure>.*?)\s*(?P<sign>>=|<=|≥|≤)\s*(?P<margin>[^<>=≥≤]*)", re.DOTALL)
_NUMBER = re.compile(r"(?P<number>[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)\s*(?P<percent>%?)")
_OTHER_SIGNS = re.compile(r"=>|=<|==|!=|[<>]|=(?![^()]*\))")
_QUOTES = ('""', "''", "``", "“”", "„“", "‘’", "«»")
_MINUS = str.maketrans("\u2212\u2013\u2014", "---")  # what editors and web pages turn a minus into
# Measures that do not reward quality although higher is better, and those that no ranking can change.
_MORE_IS_BETTER = ("Judged",)
_SAME_FOR_ALL = ("iDCG",)


class GateRule(Struct, frozen=True):
    """A requirement on the difference candidate - baseline by one measure."""

    label: str  # the measure as written
    measure: Measure
    at_least: bool  # False: at most
    margin: float  # in the measure's unit, or as a share of the baseline's mean
    relative: bool
    written: str  # the margin as written

    def __str__(self) -> str:
        return f"{self.label} {'>=' if self.at_least else '<='} {self.written}"


def parse_rule(text: str) -> GateRule:
    """Parse one rule; surrounding spaces and quotes are ignored.

    >>> parse_rule("'nDCG@10>=-1%'").margin
    -0.01
    >>> print(parse_rule("  MRR@10  >=  -.005 "))
    MRR@10 >= -.005
    """
    plain = _unquoted(text.strip())
    found = _RULE.fullmatch(plain)
    if found is None or not found["measure"] or not found["margin"].strip():
        raise InputError(f"{_called(plain)} {_what_lacks(plain)}")
    request = _request(plain, found["measure"])
    at_least = found["sign"] in (">=", "≥")
    number = _NUMBER.fullmatch(found["margin"].strip().translate(_MINUS))
    if number is None:
        raise InputError(f"{_called(plain)} {_no_number(found['margin'].strip())}")
    relative = bool(number["percent"])
    rule = GateRule(
        label=request.label,
        measure=request.measure,
        at_least=at_least,
        margin=float(number["number"]) / (100 if relative else 1),
        relative=relative,
        written=number["number"] + number["percent"],
    )
    _check_direction(plain, rule)
    _check_margin(plain, rule)
    return rule


def _unquoted(text: str) -> str:
    while len(text) > 1 and text[0] + text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text


def _called(text: str) -> str:
    shown = text if len(text) <= 100 else f"{text[:97]}..."
    return f"rule {shown!r}:"


def _what_lacks(text: str) -> str:
    """Why a text is not a rule."""
    how = f"a rule is MEASURE >= NUMBER, such as '{EXAMPLE}'."
    if not text:
        return f"is empty; {how}"
    other = _OTHER_SIGNS.search(text)
    if ">=" in text or "<=" in text:
        lacks = "occurs twice" if len(re.findall("[<>]=", text)) > 1 else "has no measure or no number"
        return f"{'>=' if '>=' in text else '<='} {lacks}; {how}"
    if other is not None:
        return f"expected >=, not {other[0]!r}; {how}"
    return f"has no >=; {how} Quote it, or the shell takes > as a redirection."


def _no_number(margin: str) -> str:
    if re.fullmatch(r"[+-]?\d*,\d+\s*%?", margin.translate(_MINUS)):
        return f"{margin!r} has a comma; write {margin.replace(',', '.')!r}."
    return f"{margin!r} is not a number; write it as -0.01 or -1%."


def _request(text: str, measure: str) -> Request:
    try:
        found = parse_request(measure)
    except MeasureError as error:
        raise InputError(f"{_called(text)} {error}") from None
    if len(found) != 1:
        names = some_of([request.label for request in found])
        raise InputError(f"{_called(text)} {measure!r} means {len(found)} measures ({names}); write a rule for each.")
    return found[0]


def _check_direction(text: str, rule: GateRule) -> None:
    """Reject rules that would not decide what they say."""
    definition = rule.measure.definition
    if definition.total != "mean":
        raise InputError(
            f"{_called(text)} {rule.label} is {definition.over_queries}, but a rule needs a mean over queries; use a "
            "measure such as AP."
        )
    if definition.name in _SAME_FOR_ALL:
        raise InputError(f"{_called(text)} {rule.label} is the same for every run, so the rule decides nothing.")
    more = definition.rewards or definition.name in _MORE_IS_BETTER
    if more != rule.at_least:
        better, sign, margin = ("higher", ">=", "-0.01") if more else ("lower", "<=", "0.01")
        raise InputError(
            f"{_called(text)} {better} is better for {rule.label}, so a rule needs {sign}: "
            f"'{rule.label} {sign} {margin}'."
        )


def _check_margin(text: str, rule: GateRule) -> None:
    """Reject margins that every candidate meets, or that none can reach."""
    bounds = (-1.0, 1.0) if rule.relative else rule.measure.definition.bounds
    span = 1.0 if rule.relative else None if bounds is None else bounds[1] - bounds[0]
    if span is None or abs(rule.margin) < span:
        return
    slack = rule.margin if rule.at_least else -rule.margin  # negative if the rule allows a loss
    if slack > 0 and rule.relative:
        return  # a baseline near 0 can be doubled
    why = (
        "every candidate meets it"
        if slack < 0
        else "no candidate can reach it unless every query goes from 0 to the maximum"
    )
    hint = "" if rule.relative else f" Differences in {rule.label} range from {-span:g} to {span:g}."
    percent = f" Did you mean {rule.written}%?" if not rule.relative and slack < 0 else ""
    raise InputError(f"{_called(text)} {rule.written} is not a useful margin: {why}.{hint}{percent}")
