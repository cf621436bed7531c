"""Read the rules of a gate: `nDCG@10 >= -0.01`, `R@100 >= -1%`, `Unjudged@10 <= 0.05`. Decides nothing.

MEASURE >= NUMBER      candidate - baseline must be at least this
MEASURE >= NUMBER%     the same, as a share of the baseline's mean
MEASURE <= NUMBER      for measures of which less is better: must be at most this
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
_MINUS = str.maketrans("\u2212\u2013\u2014", "---")  # what editors and web pages make of a minus
# Measures that count nothing good and of which more is welcome all the same, and those that no ranking can change.
_MORE_IS_BETTER = ("Judged",)
_SAME_FOR_ALL = ("iDCG",)


class GateRule(Struct, frozen=True):
    """What the difference candidate - baseline of one measure must be."""

    label: str  # the measure as it was written
    measure: Measure
    at_least: bool  # False: at most
    margin: float  # in the measure's unit, or as a share of the baseline's mean
    relative: bool
    written: str  # the margin as it was written

    def __str__(self) -> str:
        return f"{self.label} {'>=' if self.at_least else '<='} {self.written}"


def parse_rule(text: str) -> GateRule:
    """One rule from its text; blanks and a pair of quotes around it do not matter.

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
    """Why a text is no rule at all."""
    how = f"a rule is MEASURE >= NUMBER, such as '{EXAMPLE}'."
    if not text:
        return f"is empty; {how}"
    other = _OTHER_SIGNS.search(text)
    if ">=" in text or "<=" in text:
        lacks = "stands twice" if len(re.findall("[<>]=", text)) > 1 else "lacks its measure or its number"
        return f"{'>=' if '>=' in text else '<='} {lacks}; {how}"
    if other is not None:
        return f"{other[0]!r} stands where >= is expected; {how}"
    return f"has no >=; {how} Write it in quotes, since the shell takes > for itself."


def _no_number(margin: str) -> str:
    if re.fullmatch(r"[+-]?\d*,\d+\s*%?", margin.translate(_MINUS)):
        return f"{margin!r} has a comma; write {margin.replace(',', '.')!r}."
    return f"{margin!r} is not a number; write it like -0.01 or -1%."


def _request(text: str, measure: str) -> Request:
    try:
        found = parse_request(measure)
    except MeasureError as error:
        raise InputError(f"{_called(text)} {error}") from None
    if len(found) != 1:
        names = some_of([request.label for request in found])
        raise InputError(
            f"{_called(text)} {measure!r} stands for {len(found)} measures ({names}); write a rule for each."
        )
    return found[0]


def _check_direction(text: str, rule: GateRule) -> None:
    """Refuse what would decide something else than it says."""
    definition = rule.measure.definition
    if definition.total != "mean":
        how = "a geometric mean" if definition.total == "geometric" else "a sum"
        raise InputError(
            f"{_called(text)} {rule.label} is {how} over queries, and a rule is about the mean of differences; "
            f"take a measure that is a mean, such as AP."
        )
    if definition.name in _SAME_FOR_ALL:
        raise InputError(f"{_called(text)} {rule.label} is the same for every run, so that the rule says nothing.")
    more = definition.rewards or definition.name in _MORE_IS_BETTER
    if more != rule.at_least:
        better, sign, margin = ("more", ">=", "-0.01") if more else ("less", "<=", "0.01")
        raise InputError(
            f"{_called(text)} of {rule.label} {better} is better, so that a rule has {sign}: "
            f"'{rule.label} {sign} {margin}'."
        )


def _check_margin(text: str, rule: GateRule) -> None:
    """Refuse margins that nothing can miss, or nothing can reach."""
    bounds = (-1.0, 1.0) if rule.relative else rule.measure.definition.bounds
    span = 1.0 if rule.relative else None if bounds is None else bounds[1] - bounds[0]
    if span is None or abs(rule.margin) < span:
        return
    slack = rule.margin if rule.at_least else -rule.margin  # negative where the rule gives way
    if slack > 0 and rule.relative:
        return  # a baseline near 0 can be doubled
    why = (
        "no candidate can miss it"
        if slack < 0
        else "no candidate can reach it, unless all queries go from 0 to the top"
    )
    hint = "" if rule.relative else f" Differences of {rule.label} go from {-span:g} to {span:g}."
    percent = f" Is {rule.written}% meant?" if not rule.relative and slack < 0 else ""
    raise InputError(f"{_called(text)} {rule.written} is no margin: {why}.{hint}{percent}")
