"""The arithmetic of a value with the numbers put in, as someone would write it down to check the value by hand.

The values are those of the registered measures. Only the numbers in between are put together here, and
tests/worked/test_formulas.py computes that they give the value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import MeasureError
from assay.evaluation import combined
from assay.measures import Measure
from assay.measures.arithmetic import discount, powers
from assay.measures.families.graded import gain_of
from assay.words import number_of
from assay.worked.lists import Grade, GradedList, values

MOST_TERMS = 12  # of a sum; of a longer one, the last number is the sum of the rest
DECIMALS = 4


class Line(Struct, frozen=True):
    """One line of arithmetic."""

    name: str  # what is computed: the library's name of the measure
    formula: str
    numbers: str  # the formula with the numbers put in: digits and . + - * / ( )
    value: float  # what the library computes
    left_out: int = 0  # terms that the last number stands for, because there are too many to show


def worked(measure: Measure, ranked: GradedList) -> tuple[Line, ...]:
    """How a value of a list comes about, step by step; the last line is the measure itself.

    There are no lines for a measure that is not worked out, or that cannot be computed for this list.

    >>> from assay.measures import parse_measure
    >>> for line in worked(parse_measure("nDCG@3"), GradedList((1, None, 2))):
    ...     print(f"{line.name} = {line.numbers} = {line.value:.4f}")
    DCG@3 = 1/1 + 0/1.585 + 2/2 = 2.0000
    iDCG@3 = 2/1 + 1/1.585 = 2.6309
    nDCG@3 = 2 / 2.6309 = 0.7602
    """
    explain = _WORKED_OUT.get(measure.definition.name)
    if explain is None or not math.isfinite(_value(measure, ranked)):
        return ()
    lines = explain(measure, _only_judged(ranked) if measure.param("judged_only") else ranked)
    return lines if all(math.isfinite(line.value) for line in lines) else ()


def mean_of(measure: Measure, lists: Sequence[GradedList], noun: str = "list") -> Line:
    """The mean of a measure over several lists, with each value put in; of counts, the sum. The noun is what each list is of.

    The mean of no lists is 0. A geometric mean is refused, and so is a measure that cannot be computed for a list.

    >>> from assay.measures import parse_measure
    >>> mean_of(parse_measure("RR"), [GradedList((1,)), GradedList((0, 0, 1)), GradedList((0, 1))]).numbers
    '(1 + 0.3333 + 0.5) / 3'
    """
    if measure.definition.total == "geometric":
        raise MeasureError(f"{measure} has a geometric mean over queries, which is not worked out. Use AP or Bpref.")
    found = values(lists, [measure])
    for problem in found.problems.values():
        raise MeasureError(problem)
    column = found.table[:, 0]
    column = column[~np.isnan(column)]
    if not len(column):
        return Line(str(measure), f"no {noun}: 0", "0", 0.0)
    formula = f"sum of {_each(measure)} over {number_of(len(column), noun)}"
    total = _sum([_Term(number(value), value) for value in column.tolist()])
    if measure.definition.total == "mean":
        formula, total = f"{formula} / {len(column):,}", _divided(total, str(len(column)))
    return Line(str(measure), formula + total.note, total.text, combined(measure, column), total.left_out)


def _each(measure: Measure) -> str:
    """What the values are that a mean is of."""
    k = measure.param("cutoff")
    beyond = "" if k is None or measure.name != "RR" else f" (0 beyond rank {k:,})"
    return _EACH.get(measure.name, measure.name) + beyond


_EACH = {"RR": "1/rank", "Success": "hits (1 or 0)", "AP": "average precision"}


# Numbers


def number(value: float) -> str:
    """A number for people: four decimals at most, no zeros at the end; a number that is not 0 never looks like 0.

    >>> number(2.0), number(1.58496), number(0.5), number(0.0000123)
    ('2', '1.585', '0.5', '0.000012')
    """
    text = f"{value + 0.0:.{DECIMALS}f}"  # -0.0 + 0.0 is 0.0
    if value and not float(text):
        text = np.format_float_positional(value, precision=2, fractional=False)
    return text.rstrip("0").rstrip(".")


def _factor(value: float) -> str:
    """A factor between 0 and 1 that makes no difference to a sum if it is tiny."""
    return number(round(value, DECIMALS))


class _Term(Struct, frozen=True):
    text: str
    value: float


class _Numbers(Struct, frozen=True):
    """Numbers put in, and what the formula must say about them."""

    text: str
    left_out: int = 0
    note: str = ""


def _sum(terms: Sequence[_Term]) -> _Numbers:
    """The terms added up; of many, those that are not 0, and if there are still too many, the sum of the rest."""
    kept = terms if len(terms) <= MOST_TERMS else [term for term in terms if term.value]
    texts = [term.text for term in kept]
    rest = kept[MOST_TERMS - 1 :] if len(kept) > MOST_TERMS else ()
    if rest:
        texts[MOST_TERMS - 1 :] = [_factor(math.fsum(term.value for term in rest))]
    note = "; terms of 0 are not shown" if len(kept) < len(terms) else ""
    return _Numbers(" + ".join(texts).replace("+ -", "- ") or "0", len(rest), note)


def _divided(total: _Numbers, by: str) -> _Numbers:
    """A sum divided by a number; the divisor comes first if the last number must be that of the terms left out."""
    text = f"1/{by} * ({total.text})" if total.left_out else f"({total.text}) / {by}"
    return replace(total, text=text)


# Words


def _relevant(measure: Measure, noun: str) -> str:
    """Relevant results or documents, by the lowest grade that counts."""
    rel = measure.param("rel")
    return f"relevant {noun}" if rel == 1 else f"{noun} of grade {number(rel)} or higher"


def _first(depth: int | None) -> str:
    """Where results are, as part of a sentence."""
    if depth is None:
        return "in the list"
    return "at rank 1" if depth == 1 else f"among the first {depth:,}"


def _ranks(depth: int, cutoff: int | None) -> str:
    ranks = "rank 1" if depth == 1 else f"ranks 1 to {depth:,}"
    return ranks if cutoff is None or depth >= cutoff else f"{ranks} (there are no more)"


# Lines

Lines: TypeAlias = tuple[Line, ...]


def _line(measure: Measure, ranked: GradedList, formula: str, numbers: _Numbers) -> Line:
    judged = "; unjudged results are removed first" if measure.param("judged_only") else ""
    return Line(str(measure), formula + numbers.note + judged, numbers.text, _value(measure, ranked), numbers.left_out)


def _zero(measure: Measure, ranked: GradedList, why: str) -> Line:
    return _line(measure, ranked, f"{why}: 0", _Numbers("0"))


def _share(measure: Measure, ranked: GradedList, formula: str, above: int, below: int, *, empty: str) -> Lines:
    """A number divided by another one; 0 if there is nothing to divide by."""
    if not below:
        return (_zero(measure, ranked, empty),)
    return (_line(measure, ranked, formula, _Numbers(f"{above} / {below}")),)


def _value(measure: Measure, ranked: GradedList) -> float:
    return float(values([ranked], [measure]).table[0, 0])


def _like(name: str, measure: Measure) -> Measure:
    """Another measure with the parameters that both take."""
    other = Measure(name)
    both = [parameter for parameter in other.definition.takes if parameter in measure.definition.takes]
    return other(**{parameter: measure.param(parameter) for parameter in both})


# What is in a list


def _only_judged(ranked: GradedList) -> GradedList:
    """The list without unjudged results; a negative grade counts as unjudged, but stays in the judgments."""
    kept = tuple(grade for grade in ranked.grades if grade is not None and grade >= 0)
    removed = tuple(grade for grade in ranked.grades if grade is not None and grade < 0)
    return GradedList(kept, ranked.missed + removed)


def _judgments(ranked: GradedList) -> list[float]:
    return [grade for grade in (*ranked.grades, *ranked.missed) if grade is not None]


def _relevant_ranks(measure: Measure, ranked: GradedList, depth: int | None = None) -> list[int]:
    rel = measure.param("rel")
    return [rank for rank, grade in enumerate(ranked.grades[:depth], 1) if grade is not None and grade >= rel]


def _found(measure: Measure, ranked: GradedList, depth: int | None = None) -> int:
    return len(_relevant_ranks(measure, ranked, depth))


def _number_relevant(measure: Measure, ranked: GradedList) -> int:
    return sum(grade >= measure.param("rel") for grade in _judgments(ranked))


def _top_grade(ranked: GradedList) -> float:
    return max([0.0, *_judgments(ranked)])


def _gains(grades: Sequence[Grade], gain: Any) -> list[float]:
    """The gain at each rank; an unjudged result has none, whatever a map says about 0."""
    known = np.array([grade is not None for grade in grades], bool)
    gains = np.zeros(len(grades))
    gains[known] = gain_of(np.array([grade for grade in grades if grade is not None], np.float64), gain)
    return gains.tolist()


# Shares of results


def _precision(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    formula = f"{_relevant(measure, 'results')} {_first(k)} / "
    if measure.param("filled"):
        return _share(measure, ranked, f"{formula}{k:,}", _found(measure, ranked, k), k, empty="")
    divisor = f"results {_first(k)}"
    return _share(
        measure, ranked, formula + divisor, _found(measure, ranked, k), min(k, len(ranked)), empty="no result"
    )


def _recall(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    noun = "documents"
    relevant = _number_relevant(measure, ranked)
    if measure.param("among") == "retrieved":
        noun, relevant = "results", _found(measure, ranked)
    formula = f"{_relevant(measure, 'results')} {_first(k)} / all {_relevant(measure, noun)}"
    empty = f"no {_relevant(measure, noun[:-1])}"
    return _share(measure, ranked, formula, _found(measure, ranked, k), relevant, empty=empty)


def _capped_recall(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    relevant = _number_relevant(measure, ranked)
    formula = f"{_relevant(measure, 'results')} {_first(k)} / {_smaller(measure, k, relevant)}"
    return _share(measure, ranked, formula, _found(measure, ranked, k), min(k, relevant), empty=_none(measure))


def _smaller(measure: Measure, k: int, relevant: int) -> str:
    return f"the smaller of {k:,} and the number of {_relevant(measure, 'documents')}, {relevant:,}"


def _none(measure: Measure) -> str:
    return f"no {_relevant(measure, 'document')}"


def _r_precision(measure: Measure, ranked: GradedList) -> Lines:
    relevant = _number_relevant(measure, ranked)
    formula = f"{_relevant(measure, 'results')} among the first R / R, the number of {_relevant(measure, 'documents')}"
    return _share(measure, ranked, formula, _found(measure, ranked, relevant), relevant, empty=_none(measure))


def _set_precision(measure: Measure, ranked: GradedList) -> Lines:
    divisor, formula = len(ranked), "results"
    if measure.param("relative"):
        relevant = _number_relevant(measure, ranked)
        divisor, formula = min(len(ranked), relevant), _smaller(measure, len(ranked), relevant)
    empty = _none(measure) if len(ranked) else "no result"
    formula = f"{_relevant(measure, 'results')} / {formula}"
    return _share(measure, ranked, formula, _found(measure, ranked), divisor, empty=empty)


def _set_recall(measure: Measure, ranked: GradedList) -> Lines:
    formula = f"{_relevant(measure, 'results')} / all {_relevant(measure, 'documents')}"
    relevant = _number_relevant(measure, ranked)
    return _share(measure, ranked, formula, _found(measure, ranked), relevant, empty=_none(measure))


def _judged_share(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    grades = ranked.grades[:k]
    formula = f"judged results {_first(k)} / results {_first(k)}"
    known = sum(grade is not None for grade in grades)
    return _share(measure, ranked, formula, known, len(grades), empty="no result")


def _f_measure(measure: Measure, ranked: GradedList) -> Lines:
    return _harmonic(measure, ranked, "P", "R")


def _set_f_measure(measure: Measure, ranked: GradedList) -> Lines:
    return _harmonic(measure, ranked, "SetP", "SetR")


def _harmonic(measure: Measure, ranked: GradedList, *names: str) -> Lines:
    """Precision and recall, and their weighted harmonic mean."""
    precision, recall = (line for name in names for line in _WORKED_OUT[name](_like(name, measure), ranked))
    if not precision.value:
        last = _zero(measure, ranked, f"no {_relevant(measure, 'result')} {_first(measure.param('cutoff'))}")
        return precision, recall, last
    p, r = number(precision.value), number(recall.value)
    squared = measure.param("beta2")
    weight = measure.param("beta") ** 2 if squared is None else squared
    if weight == 1:
        formula, numbers = "2 * P * R / (P + R)", f"2 * {p} * {r} / ({p} + {r})"
    else:
        b = number(weight)
        formula, numbers = "(1 + b) * P * R / (b * P + R), b = beta^2", f"(1 + {b}) * {p} * {r} / ({b} * {p} + {r})"
    return precision, recall, _line(measure, ranked, formula, _Numbers(numbers))


# Places of relevant results


def _reciprocal_rank(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    ranks = _relevant_ranks(measure, ranked, k)
    result = _relevant(measure, "result")
    if not ranks:
        return (_zero(measure, ranked, f"no {result} {_first(k)}"),)
    return (_line(measure, ranked, f"1 / rank of the first {result}", _Numbers(f"1 / {ranks[0]}")),)


def _success(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    ranks = _relevant_ranks(measure, ranked, k)
    result = _relevant(measure, "result")
    if not ranks:
        return (_zero(measure, ranked, f"no {result} {_first(k)}"),)
    formula = f"1 if there is a {result} {_first(k)}; the first is at rank {ranks[0]:,}"
    return (_line(measure, ranked, formula, _Numbers("1")),)


def _average_precision(measure: Measure, ranked: GradedList) -> Lines:
    k = measure.param("cutoff")
    relevant = _number_relevant(measure, ranked)
    capped = measure.param("norm") == "cutoff" and k is not None
    divisor = min(relevant, k) if capped else relevant
    if not divisor:
        return (_zero(measure, ranked, _none(measure)),)
    below = _smaller(measure, k, relevant) if capped else f"all {_relevant(measure, 'documents')}"
    ranks = _relevant_ranks(measure, ranked, k)
    terms = [_Term(f"{found}/{rank}", found / rank) for found, rank in enumerate(ranks, 1)]
    within = "" if k is None else f" {_first(k)}"
    formula = f"sum of the precision at each {_relevant(measure, 'result')}{within} / {below}"
    if len(terms) < divisor:
        formula += f"; each one that is not {_first(k)} adds 0"
    return (_line(measure, ranked, formula, _divided(_sum(_with_zeros(terms, divisor)), str(divisor))),)


def _with_zeros(terms: list[_Term], length: int) -> list[_Term]:
    return terms + [_Term("0", 0.0)] * (length - len(terms))


def _bpref(measure: Measure, ranked: GradedList) -> Lines:
    rel = measure.param("rel")
    lowest = 0.0 if measure.param("edges") == "trec_eval" else -math.inf
    relevant = _number_relevant(measure, ranked)
    if not relevant:
        return (_zero(measure, ranked, _none(measure)),)
    others = sum(lowest <= grade < rel for grade in _judgments(ranked))
    terms, before = [], 0
    for grade in ranked.grades:
        if grade is not None and grade >= rel:
            terms.append(_preferred(min(before, relevant), min(others, relevant)))
        elif grade is not None and grade >= lowest:
            before += 1
    formula = (
        f"sum of (1 - min(n, R) / min(R, N)) / R; n: results judged not relevant before a relevant one, "
        f"R: {_relevant(measure, 'documents')} ({relevant:,}), N: documents judged not relevant ({others:,})"
    )
    if len(terms) < relevant:
        formula += "; each one that is not in the list adds 0"
    return (_line(measure, ranked, formula, _divided(_sum(_with_zeros(terms, relevant)), str(relevant))),)


def _preferred(before: int, most: int) -> _Term:
    return _Term(f"(1 - {before}/{most})", 1 - before / most) if before else _Term("1", 1.0)


# Gains


class _GainWords(Struct, frozen=True):
    """A gain in a formula, and what it means."""

    symbol: str
    meaning: str = ""


_GAINS = {
    "linear": _GainWords("grade"),
    "exp": _GainWords("(2^grade - 1)"),
    "binary": _GainWords("gain", "; the gain is 1 from grade 1 on"),
}


def _gain_words(gain: Any) -> _GainWords:
    if isinstance(gain, str):
        return _GAINS[gain]
    listed = ", ".join(f"{number(worth)} for grade {number(grade)}" for grade, worth in gain)
    return _GainWords("gain", f"; the gain is {listed}, and the grade for others")


def _cumulated_gain(measure: Measure, ranked: GradedList) -> Lines:
    k, gain = measure.param("cutoff"), measure.param("gain")
    gains = _gains(ranked.grades[:k], gain)
    if not gains:
        return (_zero(measure, ranked, "no result"),)
    words = _gain_words(gain)
    formula = f"sum of {words.symbol}, {_ranks(len(gains), k)}{words.meaning}"
    return (_line(measure, ranked, formula, _sum([_Term(number(each), each) for each in gains])),)


def _dcg(measure: Measure, ranked: GradedList) -> Lines:
    k, gain = measure.param("cutoff"), measure.param("gain")
    gains = _gains(ranked.grades[:k], gain)
    if not gains:
        return (_zero(measure, ranked, "no result"),)
    words = _gain_words(gain)
    formula = f"sum of {words.symbol} / log2(rank + 1), {_ranks(len(gains), k)}{words.meaning}"
    return (_line(measure, ranked, formula, _discounted(gains)),)


def _ideal_dcg(measure: Measure, ranked: GradedList) -> Lines:
    k, gain = measure.param("cutoff"), measure.param("gain")
    best = sorted((each for each in _gains(_judgments(ranked), gain) if each >= 0), reverse=True)[:k]
    if not any(best):
        return (_zero(measure, ranked, "no judged document has a gain"),)
    words = _gain_words(gain)
    formula = (
        f"sum of {words.symbol} / log2(rank + 1) over the judged documents, best first, "
        f"{_ranks(len(best), k)}{words.meaning}"
    )
    return (_line(measure, ranked, formula, _discounted(best)),)


def _discounted(gains: Sequence[float]) -> _Numbers:
    logs = discount(np.arange(1, len(gains) + 1)).tolist()
    return _sum(
        [_Term(f"{number(gain)}/{number(log)}", gain / log) for gain, log in zip(gains, logs, strict=True)],
    )


def _ndcg(measure: Measure, ranked: GradedList) -> Lines:
    """DCG, that of the ideal ranking, and the quotient.

    The ideal ranking of the results alone is that of a list that misses nothing, unless there are losses, which only the
    one of the results alone contains.
    """
    known = ranked
    if measure.param("ideal") == "retrieved":
        if min(_gains(ranked.grades, measure.param("gain")), default=0) < 0:
            return ()
        known = GradedList(ranked.grades)
    (dcg,), (ideal,) = _dcg(_like("DCG", measure), ranked), _ideal_dcg(_like("iDCG", measure), known)
    if known is not ranked:
        ideal = replace(ideal, formula=f"{ideal.formula}; only documents in the list")
    if not ideal.value:
        return dcg, ideal, _zero(measure, ranked, "no judged document has a gain")
    numbers = f"{number(dcg.value)} / {number(ideal.value)}"
    return dcg, ideal, _line(measure, ranked, "DCG / iDCG", _Numbers(numbers))


# Users who read from the top


def _expected_reciprocal_rank(measure: Measure, ranked: GradedList) -> Lines:
    k, given = measure.param("cutoff"), measure.param("top")
    top = _top_grade(ranked) if given is None else given
    chances = [gain / 2.0**top for gain in _gains(ranked.grades[:k], "exp")]
    if not chances:
        return (_zero(measure, ranked, "no result"),)
    terms, before = [], 1.0
    for rank, chance in enumerate(chances, 1):
        text = f"1/{rank} * {_factor(chance)} * {_factor(before)}" if chance else "0"
        terms.append(_Term(text, chance * before / rank))
        before *= 1.0 - chance
    formula = (
        f"sum of 1/rank * c * product of 1 - c of the ranks before, {_ranks(len(chances), k)}; "
        f"c = (2^grade - 1) / 2^{number(top)} is the chance that a result satisfies"
    )
    return (_line(measure, ranked, formula, _sum(terms)),)


def _rank_biased_precision(measure: Measure, ranked: GradedList) -> Lines:
    if measure.param("residual"):
        return ()
    p, depth = measure.param("p"), measure.param("depth")
    last = min((end for end in (measure.param("cutoff"), depth) if end is not None), default=None)
    grades = ranked.grades[:last]
    if not grades:
        return (_zero(measure, ranked, "no result"),)
    weights = powers(p, np.arange(1, len(grades) + 1)).tolist()
    user = _shares(measure, _top_grade(ranked))
    terms = [user.term(grade, weight) for grade, weight in zip(grades, weights, strict=True)]
    patience, total = np.format_float_positional(p, trim="-"), _sum(terms)
    if depth is None:
        formula, total = (
            "(1 - p) * sum of gain * p^(rank - 1)",
            replace(total, text=f"(1 - {patience}) * ({total.text})"),
        )
    else:  # the same as (1 - p) / (1 - p^depth) of the sum, but 1 - p^depth can be too small to print
        formula = f"sum of gain * p^(rank - 1) / sum of p^(rank - 1) of the first {depth:,} ranks"
        total = _divided(total, number((1 - p**depth) / (1 - p)))
    ranks = _ranks(len(grades), last)
    return (_line(measure, ranked, f"{formula}, {ranks}; p = {patience}, {user.meaning}", total),)


class _Shares(Struct, frozen=True):
    """What a user gains by a result: 1 from the lowest relevant grade on, or the grade as a share of the highest one."""

    meaning: str
    rel: float | None = None
    top: float | None = None  # None: the grade itself

    def term(self, grade: Grade, weight: float) -> _Term:
        """The gain with the weight of its rank."""
        least = 0.0 if self.rel is None else self.rel
        if grade is None or grade < least or (self.rel is None and not grade):
            return _Term("0", 0.0)
        if self.rel is not None:
            return _Term(_factor(weight), weight)
        if self.top is None:
            return _Term(f"{number(grade)} * {_factor(weight)}", grade * weight)
        return _Term(f"{number(grade)}/{number(self.top)} * {_factor(weight)}", grade / self.top * weight)


def _shares(measure: Measure, top: float) -> _Shares:
    rel = measure.param("rel")
    if rel is not None:
        return _Shares(f"the gain is 1 from grade {number(rel)} on", rel=rel)
    if measure.param("raw"):
        return _Shares("the gain is the grade")
    return _Shares(f"the gain is grade / {number(top)}, the highest grade", top=top)


_WORKED_OUT: Mapping[str, Callable[[Measure, GradedList], Lines]] = {
    "P": _precision,
    "R": _recall,
    "F": _f_measure,
    "R_cap": _capped_recall,
    "Rprec": _r_precision,
    "SetP": _set_precision,
    "SetR": _set_recall,
    "SetF": _set_f_measure,
    "Judged": _judged_share,
    "RR": _reciprocal_rank,
    "Success": _success,
    "AP": _average_precision,
    "Bpref": _bpref,
    "CG": _cumulated_gain,
    "DCG": _dcg,
    "iDCG": _ideal_dcg,
    "nDCG": _ndcg,
    "ERR": _expected_reciprocal_rank,
    "RBP": _rank_biased_precision,
}
