"""Check a home-made measure against ours on generated cases, and say what it seems to do differently.

Common mistakes are data: a measure is a formula with choices (`MODELS`), a mistake is another choice. When a function
differs, the formulas with one, two or three other choices are tried on the same cases; the first that gives what the
function gives in all of them is the diagnosis. To add a mistake, add a choice with its words.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations, cycle, islice, product
from typing import Any

import numpy as np

from assay.errors import InputError, MeasureError
from assay.judged import Rules
from assay.measures import (
    AP,
    CG,
    DCG,
    RR,
    Bpref,
    F,
    Measure,
    P,
    R,
    R_cap,
    Rprec,
    SetF,
    SetP,
    SetR,
    Success,
    nDCG,
    parse_measure,
)
from assay.scoring import score_many
from assay.tables import Floats

Function = Callable[[list[str], dict[str, int]], float]

DEFAULT_CUTOFF = 10  # around which cases are made for measures without a cutoff
MOST_MISTAKES = 3  # at once
USUAL_CUTOFFS = (1, 3, 5, 10, 20)  # that functions have where the measure has none
DIGITS = (1, 2, 3, 4, 5, 6)  # that people round to
NO_NUMBER = "no number"  # a function raised an error, or gave something else
Outcome = float | str


@dataclass(frozen=True)
class Difference:
    """A case in which a function gives another value than our measure."""

    ranking: tuple[str, ...]
    judgments: dict[str, int]
    ours: float
    yours: float | None  # None where the function gave no number
    error: str | None  # what it raised or gave instead

    def __str__(self) -> str:
        return "\n".join(
            (
                f"  ranking    {', '.join(self.ranking) or '(nothing)'}",
                f"  judgments  {', '.join(f'{doc} {grade}' for doc, grade in self.judgments.items()) or '(nothing)'}",
                f"  ours       {self.ours!r}",
                f"  yours      {self.yours!r}" if self.error is None else f"  yours      {self.error}",
            )
        )


@dataclass(frozen=True)
class CheckReport:
    """What came of checking a function: whether it agrees, and else the smallest case found and the likely reason."""

    measure: str
    cases: int
    differing: int  # cases in which it differs
    difference: Difference | None  # the first of them, made as small as possible
    diagnosis: str | None  # what the function does in all cases, where that is known
    seed: int

    @property
    def agrees(self) -> bool:
        """Whether the function gave our value in every case."""
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.measure}: agrees in all {self.cases} cases (seed {self.seed})."
        lines = [
            f"{self.measure}: differs in {self.differing} of {self.cases} cases (seed {self.seed}). A small one:",
            str(self.difference),
            f"Diagnosis: {self.diagnosis or 'none of the mistakes we know.'}",
        ]
        return "\n".join(lines)


def check_measure(
    fn: Function,
    measure: str | Measure,
    *,
    cases: int = 200,
    seed: int = 0,
    repeats: bool = False,
    tolerance: float = 1e-9,
) -> CheckReport:
    """Run a measure of your own against ours.

    `fn(ranking, judgments)` takes a list of document ids, best first, and a dict of grades, and gives a number. The cases
    are graded and binary, short and long, with unjudged documents, more relevant documents than the cutoff, nothing
    relevant and nothing retrieved. With `repeats` some rankings list a document twice, of which only the first counts.
    An error that the function raises is a difference. The same seed gives the same cases.

    >>> report = check_measure(lambda ranking, judgments: len(set(ranking[:5]) & set(judgments)) / 5, "P@5")
    >>> report.agrees, report.diagnosis
    (False, 'every judged document counts as relevant, also with grade 0.')
    >>> print(report.difference)
      ranking    d1
      judgments  d1 0, d2 1
      ours       0.0
      yours      0.2
    """
    checked = parse_measure(measure) if isinstance(measure, str) else measure.complete()
    if checked.definition.needs != "ranking":
        raise MeasureError(
            f"{checked} needs more than one ranking and its judgments, which is all that a function gets."
        )
    if not callable(fn):
        raise InputError(f"expected a function fn(ranking, judgments), found {fn!r}.")
    if cases < 1:
        raise InputError(f"cases is {cases}; it is a number from 1 on.")
    check = _Check(fn, checked, tolerance)
    tried = check.tried(list(islice(make_cases(checked, seed, repeats), cases)))
    differing = [trial for trial in tried if not check.agree(trial.ours, trial.yours)]
    return CheckReport(
        measure=str(measure),
        cases=cases,
        differing=len(differing),
        difference=check.shrunk(differing[0]) if differing else None,
        diagnosis=check.diagnosis(tried, differing, repeats) if differing else None,
        seed=seed,
    )


# Cases


@dataclass(frozen=True)
class Case:
    """A ranking and its judgments."""

    ranking: tuple[str, ...]
    judgments: dict[str, int]
    kind: str = ""


@dataclass(frozen=True)
class Kind:
    """A kind of case: how many documents are judged and retrieved (around the cutoff k), and with which grades."""

    words: str
    judged: Callable[[int], tuple[int, int]]
    retrieved: Callable[[int], tuple[int, int]]
    grades: tuple[int, ...] = (0, 1, 2, 3)
    known: float = 0.6  # share of the retrieved documents that are judged
    order: Callable[[int], float] | None = None  # of the ranking, by grade
    first: Callable[[int], tuple[int, int]] | None = None  # the rank of a relevant document added to the ranking


KINDS = (
    Kind("with grades", lambda k: (1, 8), lambda k: (1, 8)),
    Kind("with relevant or not", lambda k: (1, 8), lambda k: (1, 8), grades=(0, 1)),
    Kind("with more documents retrieved than k", lambda k: (3, k + 5), lambda k: (k + 1, 2 * k + 5)),
    Kind("with more relevant documents than k", lambda k: (k + 1, k + 6), lambda k: (1, k + 6), grades=(1, 2, 3)),
    Kind("with few documents retrieved", lambda k: (3, 10), lambda k: (1, 2), known=0.9),
    Kind("with a perfect ranking", lambda k: (2, k + 3), lambda k: (k + 3, k + 3), known=1.0, order=operator.neg),
    Kind("with the best documents last", lambda k: (2, 6), lambda k: (k, 2 * k + 5), known=0.9, order=float),
    Kind(
        "with the first relevant document around k",
        lambda k: (1, 4),
        lambda k: (k + 1, k + 4),
        grades=(1, 2),
        known=0.0,
        first=lambda k: (max(1, k - 1), k + 1),
    ),
    Kind("with mostly unjudged documents", lambda k: (2, 6), lambda k: (4, k + 6), known=0.2),
    Kind("with nothing relevant retrieved", lambda k: (1, 6), lambda k: (1, k + 3), grades=(1, 2), known=0.0),
    Kind("with nothing relevant", lambda k: (1, 6), lambda k: (1, k + 3), grades=(0,)),
    Kind("with nothing retrieved", lambda k: (1, 6), lambda k: (0, 0), grades=(1, 2)),
    Kind("with nothing judged", lambda k: (0, 0), lambda k: (1, 4)),
)


def make_cases(measure: Measure, seed: int = 0, repeats: bool = False) -> Iterator[Case]:
    """Cases without end, kind after kind, the same for the same seed."""
    random = np.random.default_rng(seed)
    cutoff = measure.param("cutoff") or DEFAULT_CUTOFF
    for kind in cycle(KINDS):
        case = _case(random, kind, cutoff)
        yield _with_repeats(random, case) if repeats else case


def _case(random: np.random.Generator, kind: Kind, cutoff: int) -> Case:
    judged, retrieved = (
        int(random.integers(low, high + 1)) for low, high in (kind.judged(cutoff), kind.retrieved(cutoff))
    )
    names = [f"d{number + 1}" for number in random.permutation(judged + retrieved)]
    pool, others = names[:judged], names[judged:]
    grades = random.choice(kind.grades, judged)
    judgments = {doc: int(grade) for doc, grade in zip(pool, grades, strict=True)}
    if max(kind.grades) > 0 and pool and max(judgments.values()) == 0:
        judgments[pool[0]] = int(max(kind.grades))
    known = [pool[place] for place in random.permutation(judged)]
    ranking = [known.pop() if known and random.random() < kind.known else others.pop() for _ in range(retrieved)]
    if order := kind.order:
        ranking.sort(key=lambda doc: order(judgments.get(doc, 0)))
    if kind.first:
        low, high = kind.first(cutoff)
        ranking.insert(int(random.integers(low, high + 1)) - 1, pool[0])
    return Case(tuple(ranking), judgments, kind.words)


def _with_repeats(random: np.random.Generator, case: Case) -> Case:
    if not case.ranking:
        return case
    ranking = list(case.ranking)
    for _ in range(int(random.integers(1, 3))):
        ranking.insert(int(random.integers(0, len(ranking) + 1)), ranking[int(random.integers(0, len(ranking)))])
    return replace(case, ranking=tuple(ranking))


# Trying a function


@dataclass(frozen=True)
class _Trial:
    """What a case gives."""

    case: Case
    ours: float
    yours: Outcome
    error: str | None


@dataclass(frozen=True)
class _Check:
    """A function and the measure that it should be."""

    fn: Function
    measure: Measure
    tolerance: float

    def tried(self, cases: Sequence[Case]) -> list[_Trial]:
        """Our values and those of the function."""
        ours = our_values(cases, [self.measure])[:, 0].tolist()
        return [_Trial(case, value, *self._called(case)) for case, value in zip(cases, ours, strict=True)]

    def _called(self, case: Case) -> tuple[Outcome, str | None]:
        """What the function gives; it gets its own copies."""
        try:
            given: Any = self.fn(list(case.ranking), dict(case.judgments))
        except Exception as error:  # whatever a stranger's function raises is its result
            return NO_NUMBER, f"{type(error).__name__}: {error}"
        try:
            if not isinstance(given, (str, bytes)):
                return float(given), None
        except (TypeError, ValueError):
            pass
        return NO_NUMBER, f"{given!r} ({type(given).__name__}), which is not a number"

    def agree(self, a: Outcome, b: Outcome) -> bool:
        """Whether two outcomes are the same."""
        if isinstance(a, str) or isinstance(b, str):
            return a == b
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        return math.isclose(a, b, rel_tol=self.tolerance, abs_tol=self.tolerance)

    def shrunk(self, trial: _Trial) -> Difference:
        """A case as small as possible that differs in the same way."""
        while smaller := self._smaller(trial):
            trial = smaller
        renamed = self.tried([_renamed(trial.case)])[0]
        trial = renamed if self._alike(renamed, trial) else trial
        yours = None if isinstance(trial.yours, str) else trial.yours
        return Difference(trial.case.ranking, dict(trial.case.judgments), trial.ours, yours, trial.error)

    def _smaller(self, trial: _Trial) -> _Trial | None:
        smaller = (self.tried([case])[0] for case in smaller_cases(trial.case))
        return next((other for other in smaller if self._alike(other, trial)), None)

    def _alike(self, a: _Trial, b: _Trial) -> bool:
        return not self.agree(a.ours, a.yours) and self._manner(a) == self._manner(b)

    def _manner(self, trial: _Trial) -> tuple[object, ...]:
        """What a smaller case must keep, so that one mistake is not exchanged for another."""
        number = None if isinstance(trial.yours, str) else math.isnan(trial.yours)
        facts = Facts(trial.case, self.measure)
        return number, facts.relevant_in_all > 0, bool(trial.case.ranking), facts.has_repeats

    def diagnosis(self, tried: Sequence[_Trial], differing: Sequence[_Trial], repeats: bool) -> str | None:
        """What the function does in all cases: a known mistake, another measure, several mistakes; else where it differs."""
        facts = [Facts(trial.case, self.measure, trial.ours) for trial in tried]
        yours = [trial.yours for trial in tried]
        if len(tried) > 1 and all(self.agree(yours[0], outcome) for outcome in yours):
            return "it fails in every case." if yours[0] == NO_NUMBER else f"it gives {yours[0]:g} in every case."

        def explained(mistakes: Mistakes) -> bool:
            made = choices | dict(mistakes)
            return all(self.agree(outcome_of(model, fact, made), its) for fact, its in zip(facts, yours, strict=True))

        model, choices, dimensions = (
            model_of(self.measure),
            right_choices(self.measure),
            mistakes_in(self.measure, repeats),
        )
        other = self._other_measure(tried)
        for number in range(1, MOST_MISTAKES + 1):
            found = next((mistakes for mistakes in _mistakes(dimensions, number) if explained(mistakes)), None)
            if found:
                words = "; and ".join(dimensions[dimension][choice] for dimension, choice in found)
                return f"{words}{f': this is {other}' if other else ''}."
            if other:
                return f"this is {other}, not {self.measure}."
        kinds = {trial.case.kind for trial in differing}
        return f"none of the mistakes we know; all differences are in cases {kinds.pop()}." if len(kinds) == 1 else None

    def _other_measure(self, tried: Sequence[_Trial]) -> str | None:
        """Another measure of ours that gives what the function gives in all cases."""
        others = list(_other_measures(self.measure))
        columns = our_values([trial.case for trial in tried], others).T.tolist()
        for other, values in zip(others, columns, strict=True):
            if all(self.agree(value, trial.yours) for value, trial in zip(values, tried, strict=True)):
                return str(other)
        return None


def our_values(cases: Sequence[Case], measures: Sequence[Measure]) -> Floats:
    """What our measures give: a row per case, as if it were alone. Of repeated documents the first counts."""
    highest = [max(case.judgments.values(), default=0) for case in cases]
    values = np.empty((len(cases), len(measures)))
    for grade in set(highest):  # those of the same highest grade at once: ERR and others depend on it
        rows = [row for row, other in enumerate(highest) if other == grade]
        rankings, judgments = zip(*((cases[row].ranking, cases[row].judgments) for row in rows), strict=True)
        values[rows] = score_many(rankings, judgments, measures, rules=Rules(duplicates="first")).values
    return values


_CUT = (Success, P, R, R_cap, F, AP, AP(norm="cutoff"), RR, nDCG, nDCG(gain="exp"), DCG, CG)
_UNCUT = (SetP, SetR, SetF, AP, RR, nDCG, nDCG(gain="exp"), Rprec, Bpref, DCG)


def _other_measures(measure: Measure) -> Iterator[Measure]:
    """What a function may compute instead: at the same cutoff, without one, or the measure itself at another one."""
    cutoff, rel = measure.param("cutoff"), measure.param("rel")
    others = [*(other @ cutoff for other in _CUT if cutoff), *_UNCUT]
    if cutoff is None and measure.definition.at == "cutoff":
        others += [measure @ other for other in USUAL_CUTOFFS]
    for other in others:
        levelled = other(rel=rel) if rel is not None and "rel" in other.definition.takes else other
        if levelled != measure:
            yield levelled


# Making a case smaller


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases with fewer documents, then with fewer judgments, then with lower grades; the boldest first."""
    for size in _halves(len(case.ranking)):
        for start in range(0, len(case.ranking), size):
            yield replace(case, ranking=case.ranking[:start] + case.ranking[start + size :])
    docs = list(case.judgments)
    for size in _halves(len(docs)):
        for start in range(0, len(docs), size):
            dropped = set(docs[start : start + size])
            yield replace(case, judgments={d: grade for d, grade in case.judgments.items() if d not in dropped})
    for doc, grade in case.judgments.items():
        for lower in range(grade):
            yield replace(case, judgments={**case.judgments, doc: lower})


def _halves(size: int) -> Iterator[int]:
    while size:
        yield size
        size //= 2


def _renamed(case: Case) -> Case:
    """The documents called d1, d2, ... in order of rank."""
    names = {doc: f"d{number}" for number, doc in enumerate(dict.fromkeys((*case.ranking, *case.judgments)), 1)}
    judgments = sorted((int(names[doc][1:]), grade) for doc, grade in case.judgments.items())
    return Case(tuple(names[doc] for doc in case.ranking), {f"d{number}": grade for number, grade in judgments})


# What a formula may look at


@dataclass(frozen=True)
class Facts:
    """A case as formulas see it."""

    case: Case
    measure: Measure
    ours: float = 0.0

    @cached_property
    def threshold(self) -> float:
        """The lowest grade that is relevant."""
        rel = self.measure.param("rel")
        return 1 if rel is None else float(rel)

    @cached_property
    def relevant_in_all(self) -> int:
        """Relevant documents, retrieved or not."""
        return sum(grade >= self.threshold for grade in self.case.judgments.values())

    @cached_property
    def has_repeats(self) -> bool:
        """Whether a document stands twice."""
        return len(set(self.case.ranking)) < len(self.case.ranking)

    def cutoff(self, choices: Choices) -> int | None:
        """Where the ranking is cut."""
        return CUTOFFS[choices["cutoff"]](self.measure.param("cutoff"))

    def ranking(self, choices: Choices) -> list[int | None]:
        """Grades in order of rank; None for documents that nobody judged."""
        docs: Iterable[str] = self.case.ranking
        docs = docs if choices["repeats"] == "counted" else dict.fromkeys(docs)
        grades = [self.case.judgments.get(doc) for doc in docs]
        return [grade for grade in grades if grade is not None] if choices["unjudged"] == "removed" else grades

    def is_relevant(self, grade: int | None, choices: Choices) -> bool:
        """Whether a grade counts as relevant."""
        return grade is not None and grade >= LEVELS[choices["relevant"]](self.threshold)

    def hits(self, choices: Choices) -> list[bool]:
        """For each rank down to the cutoff, whether the document is relevant."""
        return [self.is_relevant(grade, choices) for grade in self.ranking(choices)[: self.cutoff(choices)]]

    def relevant(self, choices: Choices) -> int:
        """Relevant documents of the query."""
        return sum(self.is_relevant(grade, choices) for grade in self.case.judgments.values())


def _always(cutoff: int, k: int | None) -> int:
    return cutoff


Choices = Mapping[str, str]
Words = Mapping[str, str]  # choice -> what a function does that makes it by mistake
Mistakes = tuple[tuple[str, str], ...]  # dimension, choice
Formula = Callable[[Facts, Choices], float | None]  # None: nothing to divide by

CUTOFFS: dict[str, Callable[[Any], int | None]] = {
    "k": lambda k: k,
    "none": lambda k: None,
    "k - 1": lambda k: k - 1,
    "k + 1": lambda k: k + 1,
    **{str(cutoff): partial(_always, cutoff) for cutoff in USUAL_CUTOFFS},
}
LEVELS: dict[str, Callable[[float], float]] = {
    "from": lambda threshold: threshold,
    "judged": lambda threshold: -math.inf,
    "above": lambda threshold: math.nextafter(threshold, math.inf),
}
DENOMINATORS: dict[str, Callable[[Facts, Choices], int]] = {
    "relevant": lambda facts, choices: facts.relevant(choices),
    "found": lambda facts, choices: sum(facts.hits(choices)),
    "k": lambda facts, choices: facts.cutoff(choices) or len(facts.ranking(choices)),
    "smaller": lambda facts, choices: min(facts.relevant(choices), DENOMINATORS["k"](facts, choices)),
    "retrieved": lambda facts, choices: len(facts.hits(choices)),
}
GAINS: dict[str, Callable[[int], float]] = {
    "linear": float,
    "exp": lambda grade: 2.0**grade - 1.0,
    "binary": lambda grade: float(grade > 0),
}
DISCOUNTS: dict[str, Callable[[int], float]] = {
    "log2(rank + 1)": lambda rank: math.log2(rank + 1),
    "log2(rank + 2)": lambda rank: math.log2(rank + 2),
    "log2(rank)": lambda rank: max(1.0, math.log2(rank)),
    "ln(rank + 1)": lambda rank: math.log(rank + 1),
    "log10(rank + 1)": lambda rank: math.log10(rank + 1),
    "rank": float,
    "none": lambda rank: 1.0,
}
IDEALS: dict[str, Callable[[list[float], list[float], int | None], list[float]]] = {  # judged, retrieved, cutoff
    "judged": lambda judged, retrieved, cutoff: _best(judged)[:cutoff],
    "uncut": lambda judged, retrieved, cutoff: _best(judged),
    "shown": lambda judged, retrieved, cutoff: _best(retrieved[:cutoff]),
    "retrieved": lambda judged, retrieved, cutoff: _best(retrieved)[:cutoff],
    "as long": lambda judged, retrieved, cutoff: _best(judged)[: len(retrieved[:cutoff])],
    "full": lambda judged, retrieved, cutoff: [max(judged, default=0.0)] * (cutoff or len(judged)),
}
MEANS: dict[str, Callable[[float, float, float], float | None]] = {  # precision, recall, beta squared
    "harmonic": lambda p, r, beta2: _ratio((1 + beta2) * p * r, beta2 * p + r),
    "arithmetic": lambda p, r, beta2: (p + r) / 2,
    "half": lambda p, r, beta2: _ratio(p * r, p + r),
    "geometric": lambda p, r, beta2: math.sqrt(p * r),
    "beta": lambda p, r, beta2: _ratio((1 + math.sqrt(beta2)) * p * r, math.sqrt(beta2) * p + r),
}
EDGES: dict[str, Outcome] = {"zero": 0.0, "one": 1.0, "nan": math.nan, "fails": NO_NUMBER}


def _best(gains: list[float]) -> list[float]:
    return sorted(gains, reverse=True)


def _ratio(above: float, below: float) -> float | None:
    return above / below if below else None


# Formulas: right with the right choices


def _share(facts: Facts, choices: Choices) -> float | None:
    """Precision, recall and their relatives: relevant documents found over something."""
    return _ratio(sum(facts.hits(choices)), DENOMINATORS[choices["divided by"]](facts, choices))


def _average_precision(facts: Facts, choices: Choices) -> float | None:
    hits = facts.hits(choices)
    found, total = 0, 0.0
    for rank, hit in enumerate(hits, 1):
        found += hit
        total += found / rank if hit or choices["averaged at"] == "every rank" else 0.0
    return _ratio(total, DENOMINATORS[choices["divided by"]](facts, choices))


def _reciprocal_rank(facts: Facts, choices: Choices) -> float | None:
    ranks = [rank for rank, hit in enumerate(facts.hits(choices), 1) if hit]
    if not ranks:
        return 0.0
    rank = ranks[-1] if choices["which"] == "last" else ranks[0]
    return 1.0 / (rank + 1 if choices["which"] == "late" else rank)


def _success(facts: Facts, choices: Choices) -> float | None:
    return float(sum(facts.hits(choices)) if choices["counts"] == "all" else any(facts.hits(choices)))


def _harmonic_mean(facts: Facts, choices: Choices) -> float | None:
    beta2 = facts.measure.param("beta2") or facts.measure.param("beta", 1.0) ** 2
    found = sum(facts.hits(choices))
    precision, recall = (
        _ratio(found, DENOMINATORS[choices[part]](facts, choices)) or 0.0 for part in ("precision", "recall")
    )
    return MEANS[choices["mean"]](precision, recall, float(beta2))


def _discounted_gain(facts: Facts, choices: Choices) -> float | None:
    discount, gain = DISCOUNTS[choices["discount"]], GAINS[choices["gain"]]
    gains = [gain(grade or 0) for grade in facts.ranking(choices)[: facts.cutoff(choices)]]
    return math.fsum(worth / discount(rank) for rank, worth in enumerate(gains, 1))


def _normalised_gain(facts: Facts, choices: Choices) -> float | None:
    discount, gain = DISCOUNTS[choices["discount"]], GAINS[choices["ideal gain"].replace("same", choices["gain"])]
    judged = [gain(grade) for grade in facts.case.judgments.values()]
    retrieved = [gain(grade or 0) for grade in facts.ranking(choices)]
    ideal = IDEALS[choices["ideal"]](judged, retrieved, facts.cutoff(choices))
    best = math.fsum(worth / discount(rank) for rank, worth in enumerate(ideal, 1))
    return _ratio(_discounted_gain(facts, choices) or 0.0, best)


# The table of mistakes: for each choice, what a function does that makes it. Words with {k} need a cutoff.


def _denominators(what: str) -> Words:
    return {
        "relevant": f"{what} is divided by all relevant documents",
        "found": f"{what} is divided by the relevant documents found, so that a missed one costs nothing",
        "k": f"{what} is divided by {{k}}",
        "smaller": f"{what} is divided by {{k}} or the number of relevant documents, the smaller one",
        "retrieved": f"{what} is divided by the documents shown, however few",
    }


_CUTOFF: Words = {
    "none": "the ranking is not cut at {k}",
    "k - 1": "the ranking is cut one document before {k}",
    "k + 1": "the ranking is cut one document after {k}",
    **{str(cutoff): f"only the first {cutoff} documents count" for cutoff in USUAL_CUTOFFS},
}
_RELEVANT: Words = {
    "judged": "every judged document counts as relevant, also with grade 0",
    "above": "only grades above the lowest relevant one count as relevant",
}
_UNJUDGED: Words = {
    "kept": "unjudged documents keep their ranks",
    "removed": "unjudged documents are left out of the ranking first (judged_only)",
}
_BINARY: dict[str, Words] = {"cutoff": _CUTOFF, "relevant": _RELEVANT, "unjudged": _UNJUDGED}
_GAINS: Words = {
    "linear": "a document gains its grade, not 2**grade - 1",
    "exp": "a document gains 2**grade - 1, not its grade",
    "binary": "grades are ignored: every relevant document gains 1",
}
_DISCOUNTS: Words = {
    "log2(rank + 2)": "the discount is log2(rank + 2): one rank too far, ranks being counted from 1",
    "log2(rank)": "the discount is log2(rank), and none for the first two ranks",
    "rank": "the discount is the rank itself, not its logarithm",
    "none": "there is no discount: the order of the documents does not matter",
}
_BASES: Words = {  # makes no difference to nDCG
    "ln(rank + 1)": "the discount is the natural logarithm, not log2",
    "log10(rank + 1)": "the discount is log10, not log2",
}
_IDEAL: dict[str, Words] = {
    "ideal": {
        "uncut": "the ideal ranking is not cut at {k}",
        "shown": "the ideal ranking is made of the first {k} retrieved documents only: a missed document costs nothing",
        "retrieved": "the ideal ranking is made of the retrieved documents only: a missed document costs nothing",
        "as long": "the ideal ranking is cut at the number of documents retrieved",
        "full": "the ideal ranking has {k} documents of the highest grade, also where there are fewer",
    },
    "ideal gain": {
        "linear": "the ideal ranking gains the grades, the ranking 2**grade - 1",
        "exp": "the ideal ranking gains 2**grade - 1, the ranking the grades",
        "binary": "the ideal ranking gains 1 for every relevant document, whatever its grade",
    },
}
_EVERYWHERE: dict[str, Words] = {
    "nothing relevant": {
        "one": "it gives 1 where nothing is relevant",
        "nan": "it gives nan where nothing is relevant",
        "fails": "it fails where nothing is relevant",
    },
    "nothing retrieved": {
        "one": "it gives 1 where nothing is retrieved",
        "nan": "it gives nan where nothing is retrieved",
        "fails": "it fails where nothing is retrieved",
    },
    "undefined": {
        "one": "it gives 1 where there is nothing to divide by",
        "nan": "it gives nan where there is nothing to divide by",
        "fails": "it divides by 0",
    },
    "scale": {"100": "it gives percent"},
    "rounding": {str(digits): f"it rounds to {digits} digits" for digits in DIGITS},
}
_REPEATS: dict[str, Words] = {"repeats": {"counted": "a document that stands twice in the ranking counts twice"}}


@dataclass(frozen=True)
class Model:
    """A measure as a formula with choices: the right ones, and the mistakes people make."""

    formula: Formula
    mistakes: Mapping[str, Words]
    right: Callable[[Measure], dict[str, str]] = lambda measure: {}


def _gain_of(measure: Measure) -> dict[str, str]:
    return {"gain": measure.param("gain")}


_RANKED_AT: Words = {"every rank": "precision is averaged over all ranks, not only those of relevant documents"}
_WHICH: Words = {
    "late": "it gives 1 / (rank + 1): one rank too far, ranks being counted from 1",
    "last": "it takes the last relevant document, not the first",
}
_PARTS: dict[str, Words] = {
    "precision": _denominators("its precision"),
    "recall": _denominators("its recall"),
    "mean": {
        "arithmetic": "precision and recall are averaged, not combined by the harmonic mean",
        "half": "the factor 2 is missing: it gives P * R / (P + R)",
        "geometric": "precision and recall are combined by the geometric mean",
        "beta": "beta is not squared",
    },
}

UNKNOWN = Model(lambda facts, choices: facts.ours, {})
MODELS: dict[str, Model] = {
    "P": Model(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "k"}),
    "R": Model(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "relevant"}),
    "R_cap": Model(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "smaller"}),
    "SetP": Model(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "retrieved"}),
    "SetR": Model(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "relevant"}),
    "AP": Model(
        _average_precision,
        {"divided by": _denominators("the sum of precisions"), "averaged at": _RANKED_AT, **_BINARY},
        lambda m: {"divided by": "smaller" if m.param("norm") == "cutoff" and m.param("cutoff") else "relevant"},
    ),
    "RR": Model(_reciprocal_rank, {"which": _WHICH, **_BINARY}),
    "Success": Model(
        _success, {"counts": {"all": "it counts the relevant documents, not whether there is one"}, **_BINARY}
    ),
    "F": Model(_harmonic_mean, {**_PARTS, **_BINARY}, lambda m: {"precision": "k", "recall": "relevant"}),
    "SetF": Model(_harmonic_mean, {**_PARTS, **_BINARY}, lambda m: {"precision": "retrieved", "recall": "relevant"}),
    "DCG": Model(
        _discounted_gain,
        {"gain": _GAINS, "discount": {**_DISCOUNTS, **_BASES}, "cutoff": _CUTOFF, "unjudged": _UNJUDGED},
        _gain_of,
    ),
    "nDCG": Model(
        _normalised_gain,
        {**_IDEAL, "gain": _GAINS, "discount": _DISCOUNTS, "cutoff": _CUTOFF, "unjudged": _UNJUDGED},
        _gain_of,
    ),
}

RIGHT = {
    "cutoff": "k",
    "relevant": "from",
    "averaged at": "relevant",
    "which": "first",
    "counts": "any",
    "mean": "harmonic",
    "discount": "log2(rank + 1)",
    "ideal": "judged",
    "ideal gain": "same",
    "nothing relevant": "formula",
    "nothing retrieved": "formula",
    "undefined": "zero",
    "scale": "1",
    "rounding": "none",
    "repeats": "removed",
}


MODELLED = {"cutoff", "rel", "judged_only", "norm", "beta", "beta2", "gain"}  # parameters that formulas heed


def model_of(measure: Measure) -> Model:
    """The formula of a measure with its parameters, where we have one; gains of the user's own are not in it."""
    heeded = MODELLED.issuperset(dict(measure.params)) and not isinstance(measure.param("gain"), tuple)
    return MODELS.get(measure.name, UNKNOWN) if heeded else UNKNOWN


def right_choices(measure: Measure) -> dict[str, str]:
    """The choices that make the formula our measure."""
    unjudged = "removed" if measure.param("judged_only") else "kept"
    return {**RIGHT, "unjudged": unjudged, **model_of(measure).right(measure)}


def mistakes_in(measure: Measure, repeats: bool) -> dict[str, Words]:
    """What may be chosen differently, and the words for it."""
    model = model_of(measure)
    right, cutoff = right_choices(measure), measure.param("cutoff")
    offered = {**model.mistakes, **(_REPEATS if repeats and model is not UNKNOWN else {}), **_EVERYWHERE}
    return {
        dimension: {
            choice: text.format(k=cutoff)
            for choice, text in words.items()
            if choice != right[dimension] and _applies(dimension, text, cutoff)
        }
        for dimension, words in offered.items()
    }


def _applies(dimension: str, text: str, cutoff: int | None) -> bool:
    """Whether a mistake can be made: those about a cutoff, where there is one, and a cutoff of its own, where not."""
    return "{k}" not in text if cutoff is None else "{k}" in text or dimension != "cutoff"


def _mistakes(dimensions: Mapping[str, Words], number: int) -> Iterator[Mistakes]:
    """Every way to make so many mistakes at once."""
    for chosen in combinations(dimensions, number):
        yield from product(*[[(dimension, choice) for choice in dimensions[dimension]] for dimension in chosen])


def outcome_of(model: Model, facts: Facts, choices: Choices) -> Outcome:
    """What a formula with these choices gives."""
    nothing = choices["nothing relevant"] if not facts.relevant_in_all else "formula"
    if nothing == "formula" and not facts.case.ranking:
        nothing = choices["nothing retrieved"]
    if nothing != "formula":
        return EDGES[nothing]
    value = model.formula(facts, choices)
    outcome = EDGES[choices["undefined"]] if value is None else value
    if isinstance(outcome, str):
        return outcome
    scaled = outcome * float(choices["scale"])
    return scaled if choices["rounding"] == "none" else round(scaled, int(choices["rounding"]))
