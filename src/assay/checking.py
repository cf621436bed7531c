"""Check your own measure function against ours on generated cases, and diagnose the difference.

Common mistakes are data: a measure is a formula with choices (`MODELS`), and a mistake is a different choice. If a
function differs, formulas with one, two or three other choices are tried on the same cases. The first one that matches
the function in all cases is the diagnosis. To add a mistake, add a choice with its description.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError, MeasureError
from assay.measures import AP, CG, DCG, RR, F, Measure, P, R, R_cap, Rprec, Success, nDCG, parse_measure
from assay.measures.families.partial import Bpref
from assay.measures.families.sets import SetF, SetP, SetR
from assay.measures.families.utility import RBP
from assay.mistakes import (
    NO_NUMBER,
    USUAL_CUTOFFS,
    Case,
    Facts,
    Mistakes,
    Outcome,
    combined_mistakes,
    mistakes_in,
    model_of,
    outcome_of,
    right_choices,
)
from assay.rules import Rules
from assay.scoring import score_many
from assay.tables import Floats

Function = Callable[[list[str], dict[str, int]], float]

DEFAULT_CUTOFF = 10  # for generating cases of measures without a cutoff
MOST_MISTAKES = 3  # combined in one diagnosis


class Difference(Struct, frozen=True):
    """A case where a function and our measure give different values."""

    ranking: tuple[str, ...]
    judgments: dict[str, int]
    ours: float
    yours: float | None  # None if the function returned no number
    error: str | None  # what it raised or returned instead

    def __str__(self) -> str:
        return "\n".join(
            (
                f"  ranking    {', '.join(self.ranking) or '(nothing)'}",
                f"  judgments  {', '.join(f'{doc} {grade}' for doc, grade in self.judgments.items()) or '(nothing)'}",
                f"  ours       {self.ours!r}",
                f"  yours      {self.yours!r}" if self.error is None else f"  yours      {self.error}",
            )
        )


class CheckReport(Struct, frozen=True):
    """The result of checking a function: whether it agrees, and if not, a small case and the likely reason."""

    measure: str
    cases: int
    differing: int  # number of cases that differ
    difference: Difference | None  # the first of them, made as small as possible
    diagnosis: str | None  # what the function does in all cases, if known
    seed: int

    @property
    def agrees(self) -> bool:
        """Whether the function gave our value in every case."""
        return self.difference is None

    def __str__(self) -> str:
        if self.difference is None:
            return f"{self.measure}: agrees in all {self.cases} cases (seed {self.seed})."
        lines = [
            f"{self.measure}: differs in {self.differing} of {self.cases} cases (seed {self.seed}). A small example:",
            str(self.difference),
            f"Diagnosis: {self.diagnosis or 'not a known mistake.'}",
        ]
        return "\n".join(lines)


def check_measure(
    fn: Function,
    measure: str | Measure,
    *,
    cases: int = 200,
    seed: int = 0,
    repeats: bool = False,
    tolerance: float = 1e-7,
) -> CheckReport:
    """Compare your own measure function with ours on generated cases.

    `fn(ranking, judgments)` takes a list of document ids, best first, and a dict of grades, and returns a number. The
    cases are graded and binary, short and long, with unjudged documents, more relevant documents than the cutoff, nothing
    relevant and nothing retrieved. With `repeats`, some rankings list a document twice; only the first one counts. An
    error raised by the function is a difference. The same seed gives the same cases.

    >>> report = check_measure(lambda ranking, judgments: len(set(ranking[:5]) & set(judgments)) / 5, "P@5")
    >>> report.agrees, report.diagnosis
    (False, 'every judged document counts as relevant, even with grade 0.')
    >>> print(report.difference)
      ranking    d1
      judgments  d1 0, d2 1
      ours       0.0
      yours      0.2
    """
    checked = parse_measure(measure) if isinstance(measure, str) else measure.complete()
    if checked.definition.needs != "ranking":
        raise MeasureError(
            f"cannot check {checked}: it needs more than one ranking and its judgments, and a function gets only those."
        )
    if not callable(fn):
        raise InputError(f"expected a function fn(ranking, judgments), found {fn!r}.")
    if cases < 1:
        raise InputError(f"cases cannot be {cases}; it takes a whole number from 1.")
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


class Kind(Struct, frozen=True):
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
    """An endless sequence of cases of all kinds, the same for the same seed."""
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


class _Trial(Struct, frozen=True):
    """A case with our value and the function's."""

    case: Case
    ours: float
    yours: Outcome
    error: str | None


class _Check(Struct, frozen=True):
    """A function and the measure it should compute."""

    fn: Function
    measure: Measure
    tolerance: float

    def tried(self, cases: Sequence[Case]) -> list[_Trial]:
        """Our values and the function's."""
        ours = our_values(cases, [self.measure])[:, 0].tolist()
        return [_Trial(case, value, *self._called(case)) for case, value in zip(cases, ours, strict=True)]

    def _called(self, case: Case) -> tuple[Outcome, str | None]:
        """What the function returns; it gets its own copies."""
        try:
            given: Any = self.fn(list(case.ranking), dict(case.judgments))
        except Exception as error:  # a user's function can raise anything
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
        """The smallest case found that differs in the same way."""
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
        """The properties that a smaller case must keep to show the same mistake."""
        number = None if isinstance(trial.yours, str) else math.isnan(trial.yours)
        facts = Facts(trial.case, self.measure)
        return number, facts.relevant_in_all > 0, bool(trial.case.ranking), facts.has_repeats

    def diagnosis(self, tried: Sequence[_Trial], differing: Sequence[_Trial], repeats: bool) -> str | None:
        """What the function does in all cases: a known mistake, another measure or several mistakes; else where it differs."""
        facts = [Facts(trial.case, self.measure, trial.ours) for trial in tried]
        yours = [trial.yours for trial in tried]
        if len(tried) > 1 and all(self.agree(yours[0], outcome) for outcome in yours):
            return "it fails in every case." if yours[0] == NO_NUMBER else f"it returns {yours[0]:g} in every case."

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
            found = next((mistakes for mistakes in combined_mistakes(dimensions, number) if explained(mistakes)), None)
            if found:
                words = "; and ".join(dimensions[dimension][choice] for dimension, choice in found)
                return f"{words}{f': this is {other}' if other else ''}."
            if other:
                return f"this is {other}, not {self.measure}."
        kinds = {trial.case.kind for trial in differing}
        return f"not a known mistake; all differences are in cases {kinds.pop()}." if len(kinds) == 1 else None

    def _other_measure(self, tried: Sequence[_Trial]) -> str | None:
        """Another measure of ours that matches the function in all cases."""
        others = list(_other_measures(self.measure))
        columns = our_values([trial.case for trial in tried], others).T.tolist()
        for other, values in zip(others, columns, strict=True):
            if all(self.agree(value, trial.yours) for value, trial in zip(values, tried, strict=True)):
                return str(other)
        return None


def our_values(cases: Sequence[Case], measures: Sequence[Measure]) -> Floats:
    """The values of our measures, one row per case, each evaluated on its own. The first of duplicate documents counts."""
    highest = [max(case.judgments.values(), default=0) for case in cases]
    values = np.empty((len(cases), len(measures)))
    for grade in set(highest):  # group cases by highest grade, because ERR and others depend on it
        rows = [row for row, other in enumerate(highest) if other == grade]
        rankings, judgments = zip(*((cases[row].ranking, cases[row].judgments) for row in rows), strict=True)
        values[rows] = score_many(rankings, judgments, measures, rules=Rules(duplicates="first")).values
    return values


_CUT = (Success, P, R, R_cap, F, AP, AP(norm="cutoff"), RR, nDCG, nDCG(gain="exp"), DCG, CG)
_UNCUT = (SetP, SetR, SetF, AP, RR, nDCG, nDCG(gain="exp"), Rprec, Bpref, DCG)


def _other_measures(measure: Measure) -> Iterator[Measure]:
    """Measures a function may compute instead: at the same cutoff, without one, or the same measure at another cutoff."""
    cutoff, rel = measure.param("cutoff"), measure.param("rel")
    others = [*(other @ cutoff for other in _CUT if cutoff), *_UNCUT]
    if cutoff is None and measure.definition.at == "cutoff":
        others += [measure @ other for other in USUAL_CUTOFFS]
    for other in others:
        levelled = other(rel=rel) if rel is not None and "rel" in other.definition.takes else other
        if levelled != measure:
            yield levelled
    if measure.name == "RBP":
        kept = {name: measure.param(name) for name in ("p", "cutoff")}
        yield from (other for other in (RBP(**kept), RBP(**kept, rel=1), RBP(**kept, raw=True)) if other != measure)


# Making a case smaller


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases with fewer documents, then fewer judgments, then lower grades; the largest reductions first."""
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
    """The case with its documents renamed to d1, d2, ... by rank."""
    names = {doc: f"d{number}" for number, doc in enumerate(dict.fromkeys((*case.ranking, *case.judgments)), 1)}
    judgments = sorted((int(names[doc][1:]), grade) for doc, grade in case.judgments.items())
    return Case(tuple(names[doc] for doc in case.ranking), {f"d{number}": grade for number, grade in judgments})
