"""Where a published number comes from: the tools, measures and rules that give it on the same files.

Every named convention is tried with every measure at the usual cutoffs, and ours also with other rules. What gives the
number comes first, simplest explanation first; then what comes nearest.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from itertools import combinations, product
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import AssayError, InputError, MeasureError, ParameterError
from assay.evaluation import Unmatched, combined, has_relevant, ranking_of, refuse_unmatched, rounded, values_under
from assay.formats import as_qrels, as_run
from assay.formats.reading import QrelsLike, RunLike
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments
from assay.marking import judge
from assay.measures import Measure, parse_measures
from assay.measures.conventions import CONVENTIONS, Convention
from assay.measures.core import definition_of, exported
from assay.measures.edges import Given, finished
from assay.rules import RULE_CHOICES, Duplicates, Judges, Rules
from assay.tables import Qrels, Run
from assay.topics import JudgedTopics, TopicJudgments, by_topics, index_topics

SHOWN = 10
_SAME = 5  # decimals to which values are the same: BEIR rounds to 5
MOST_CHANGES = 2  # rules that differ from our own at the same time
_COMMON = ("nDCG", "AP", "RR", "P", "R", "Success", "Rprec", "Bpref", "F", "ERR", "RBP", "DCG", "SetP", "SetR", "SetF")

# The values to try of each parameter besides its default, the most usual first.
CHOICES: dict[str, tuple[Any, ...]] = {
    "cutoff": (10, 100, 1000, 20, 5, 1, 3, 50, 15, 30, 200, 500),
    "rel": (1, 2),
    "gain": ("linear", "exp"),
    "norm": ("rel", "cutoff"),
    "p": (0.8, 0.5, 0.95),
    "recall": tuple(level / 10 for level in range(11)),
    "multiple": (1.0,),
}
_FOR_GRADES = ("rel", "gain")  # parameters that only matter where a grade is above 1
_NOT_TRIED = ("strict", "error", "float32-positive")  # two that change no value, and one that only torchmetrics has
_RULES = {
    name: [choice for choice in RULE_CHOICES[name] if choice not in (getattr(Rules(), name), *_NOT_TRIED)]
    for name in ("queries", "scores", "ties", "undefined", "order")
}


class Candidate(Struct, frozen=True):
    """One way to compute a number: `assay evaluate --like CONVENTION -m MEASURE`, with rules of its own."""

    measure: str
    convention: str
    rules: dict[str, str]  # rules that differ from the convention's
    value: float
    distance: float  # from the number; both are fractions if the number is a percentage
    matches: bool  # the value rounds to the number
    conventions: tuple[str, ...]  # all that give this value for this measure, without other rules
    same: tuple[str, ...] = ()  # other cutoffs and parameters of this measure that give the same value
    note: str = ""  # what the tool computes under this name, if something else


class Reproduction(Struct, frozen=True):
    """What gives a number, and what comes nearest."""

    number: str  # as it was written
    decimals: int  # of the number
    percent: bool  # the number is read as a percentage
    tried: int  # combinations of measure, convention and rules
    matches: int  # candidates that give the number, shown or not
    candidates: tuple[Candidate, ...]  # the nearest: matches first

    @property
    def found(self) -> bool:
        """Whether anything gives the number."""
        return self.matches > 0


class _Number(Struct, frozen=True):
    """A number as it was written."""

    value: float
    decimals: int

    def is_given_by(self, value: float) -> bool:
        """Whether the value rounds to the number; a half may be rounded up or down."""
        return self.distance(value) <= 0.5 * 10.0**-self.decimals * (1 + 1e-9)

    def distance(self, value: float) -> float:
        return abs(value - self.value)


class _Way(Struct, frozen=True):
    """A convention, perhaps with other rules, applied to a measure."""

    place: tuple[int, ...]  # simplest first
    asked: Measure
    computed: Measure
    convention: Convention
    changes: dict[str, str]
    rules: Rules
    finish: str


class _Files:
    """The qrels and the run under any rules. Each ranking is formed once, and equal rankings share their values."""

    def __init__(self, qrels: Qrels, run: Run, judges: Judges) -> None:
        self._qrels, self._run, self._judges = qrels, run, judges
        fractions = judges in ("mean", "median") or not np.array_equal(qrels.whole_grades().rel, qrels.rel)
        self._truncates = fractions  # else whole grades change nothing
        self._indexed: dict[tuple[bool, bool], Judgments | TopicJudgments] = {}
        self._rankings: dict[tuple[Rules, bool, str], tuple[JudgedRanking | JudgedTopics, int] | None] = {}
        self._marks: dict[tuple[Any, ...], int] = {}
        self._values: dict[tuple[Any, ...], float] = {}
        self.problem: AssayError | None = None  # the first reason why a ranking could not be formed

    def value(self, way: _Way) -> float | None:
        """The value of the whole run; None if it cannot be computed."""
        whole_grades = way.convention.whole_grades and self._truncates
        found = self._ranking(replace(way.rules, undefined="zero"), whole_grades, way.computed)
        if found is None or self._are_refused(way):
            return None
        judged, mark = found
        ranking = ranking_of(judged)
        if way.convention.problem(way.asked, ranking, way.rules):
            return None
        # There are many combinations of rules: those that change nothing on these files must cost nothing.
        expected = way.rules.ties == "expected" and bool((ranking.hit_tie_first < ranking.hit_tie_last).any())
        left_out = way.rules.undefined == "nan" and not has_relevant(ranking, way.computed).all()
        cell = (way.computed, mark, expected, left_out, way.finish, way.convention.query_decimals)
        if cell not in self._values:
            try:
                values = values_under(way.computed, judged, way.rules)
                if way.finish:
                    judgments, _ = self._judgments(whole_grades, way.computed.definition.needs)
                    values = finished(way.finish, Given(way.computed, judged, judgments, self._run), values)
                values = way.convention.reported(values)
                self._values[cell] = combined(way.computed, values)
            except AssayError as error:  # such as a measure without expected values
                self.problem = self.problem or error
                self._values[cell] = math.nan
        return rounded(self._values[cell], way.convention.mean_decimals(way.asked))

    def _ranking(
        self, rules: Rules, whole_grades: bool, measure: Measure
    ) -> tuple[JudgedRanking | JudgedTopics, int] | None:
        """The ranking that a measure needs, and a number that equal rankings share; None if it cannot be formed."""
        key = (rules, whole_grades, measure.definition.needs)
        if key not in self._rankings:
            try:
                self._rankings[key] = self._formed(*key)
            except AssayError as error:  # a strict convention, a run without ranks, duplicates
                self.problem = self.problem or error
                self._rankings[key] = None
        return self._rankings[key]

    def _formed(self, rules: Rules, whole_grades: bool, needs: str) -> tuple[JudgedRanking | JudgedTopics, int]:
        plain, topics = self._judgments(whole_grades, needs)
        ranking = judge(plain, self._run, rules, strays=needs == "strays")
        hits = (ranking.hit_query, ranking.hit_rank, ranking.hit_rel, ranking.hit_judgment)
        columns = (ranking.retrieved, *hits, ranking.hit_tie_first, ranking.hit_tie_last, ranking.pool.grade)
        strays = (column for column in (ranking.stray_query, ranking.stray_rank) if column is not None)
        content = (needs, whole_grades, ranking.queries, *(column.tobytes() for column in (*columns, *strays)))
        mark = self._marks.setdefault(content, len(self._marks))
        return (ranking if topics is None else by_topics(topics, ranking)), mark

    def _are_refused(self, way: _Way) -> bool:
        """Whether the tool does not read these grades."""
        judgments, _ = self._judgments(False, way.computed.definition.needs)
        return bool(way.convention.refusal_of_grades(judgments.rel))

    def _judgments(self, whole_grades: bool, needs: str) -> tuple[Judgments, TopicJudgments | None]:
        """The judgments, indexed once; also by subtopic, for measures that need it."""
        known = (whole_grades, needs == "topics")
        if known not in self._indexed:
            index = index_topics if needs == "topics" else index_judgments
            self._indexed[known] = index(self._qrels, self._judges, whole_grades=whole_grades)
        found = self._indexed[known]
        return (found.judgments, found) if isinstance(found, TopicJudgments) else (found, None)


def reproduce(
    number: str | float,
    qrels: QrelsLike,
    run: RunLike,
    measures: Iterable[str | Measure] = (),
    *,
    duplicates: Duplicates = "error",
    judges: Judges = "error",
    unmatched: Unmatched = "error",
) -> Reproduction:
    """The tools, measures and rules that give a published number for a run, and those that come nearest.

    A value gives the number if it rounds to it, so write the number as it was published: "0.430" has three decimals. A
    number above 1 that nothing gives is read as a percentage. `measures` narrows the search: "nDCG@10" tries both gains,
    "nDCG" all cutoffs as well. `duplicates` and `judges` are our rules for documents that are retrieved twice or
    judged several times. A run without any document of the qrels is an error, unless `unmatched` is "zero".

    >>> found = reproduce("0.6309", {"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}}, ["nDCG", "AP"])
    >>> found.matches, found.candidates[0].measure, found.candidates[0].conventions[:2]
    (1, 'nDCG', ('assay', 'trec_eval-9'))
    """
    written, sure = _read(number)
    judgments, table = as_qrels(qrels), as_run(run)
    files = _Files(judgments, table, judges)
    ways = list(_ways(_measures(measures, judgments), Rules(duplicates=duplicates, judges=judges)))
    values = [(way, value) for way in ways if (value := files.value(way)) is not None and not math.isnan(value)]
    if not values:
        raise files.problem or MeasureError("no measure can be computed for these files.")
    refuse_unmatched(judgments, table, unmatched)
    as_percent = _Number(written.value / 100, written.decimals + 2)
    as_written = not sure and any(written.is_given_by(value) for _, value in values)
    percent = sure or (not as_written and 1 < written.value <= 100)
    candidates = _grouped(values, as_percent if percent else written)
    return Reproduction(
        number=str(number),
        decimals=written.decimals,
        percent=percent,
        tried=len(values),
        matches=sum(candidate.matches for candidate in candidates),
        candidates=tuple(candidates[:SHOWN]),
    )


def _read(number: str | float) -> tuple[_Number, bool]:
    """The number with its decimals, and whether it has a percent sign."""
    text = str(number).strip()
    try:
        decimal = Decimal(text.removesuffix("%").strip())
    except InvalidOperation:
        raise InputError(f"{text!r} is not a number; write it as it was published, such as 0.4334 or 43.3%.") from None
    exponent = decimal.as_tuple().exponent
    if not isinstance(exponent, int):
        raise InputError(f"{text!r} is not a finite number; write it as it was published, such as 0.4334.")
    if exponent >= 0 and abs(decimal) <= 1:
        raise InputError(
            f"{text!r} has no decimals, so nearly everything rounds to it; write it as it was published, such as 1.0000."
        )
    return _Number(float(decimal), max(-exponent, 0)), text.endswith("%")


def _measures(names: Iterable[str | Measure], qrels: Qrels) -> list[Measure]:
    """The measures to try, the most usual first: those asked for, or all, with the usual values of their parameters."""
    names = [names] if isinstance(names, (str, Measure)) else list(names)
    asked = [measure for name in names for measure in _asked(name)]
    if not asked:
        by_topic = qrels.iteration is not None and len(set(qrels.iteration.tolist())) > 1
        every = [Measure(name) for name in dict.fromkeys((*_COMMON, *exported()))]
        asked = [measure for measure in every if by_topic or measure.definition.needs != "topics"]
    graded = bool((qrels.rel > 1).any())
    return list(dict.fromkeys(variant for measure in asked for variant in _variants(measure, graded)))


def _asked(name: str | Measure) -> list[Measure]:
    """The measures of a name; one that needs a cutoff may do without."""
    if isinstance(name, Measure):
        return [name]
    try:
        return [request.measure for request in parse_measures([name])]
    except ParameterError:
        if not name.isidentifier():
            raise
        return [Measure(definition_of(name).name)]


def _variants(measure: Measure, graded: bool) -> Iterator[Measure]:
    """The measure with the usual values of the parameters that it leaves open."""
    definition, given = measure.definition, dict(measure.params)
    choices: dict[str, Sequence[Any]] = {}
    for name in definition.takes:
        if name in CHOICES and name not in given and (graded or name not in _FOR_GRADES):
            own = [definition.defaults[name]] if name in definition.defaults else []
            usual = [value for value in CHOICES[name] if value not in own]
            choices[name] = [*own, *usual]
    for values in product(*choices.values()):
        yield measure(**dict(zip(choices, values, strict=True)))


def _ways(measures: Sequence[Measure], ours: Rules) -> Iterator[_Way]:
    """Every convention with every measure; ours also with other rules, for the measures of quality."""
    families = list(dict.fromkeys(measure.name for measure in measures))
    numbers = {measure: number for number, measure in enumerate(measures)}
    quality = [measure for measure in measures if measure.definition.rewards]
    for place, convention in enumerate(CONVENTIONS.values()):
        for changes in _changes() if convention.name == "assay" else [{}]:
            for asked, computed, rules in _computed(convention, quality if changes else measures, ours, changes):
                special = sum(name != "cutoff" for name, _ in asked.params)
                simple = (len(changes), special, families.index(asked.name), numbers[asked], place)
                yield _Way(simple, asked, computed, convention, changes, rules, convention.case_of(asked).finish)


def _changes() -> Iterator[dict[str, str]]:
    """Up to `MOST_CHANGES` rules that differ from ours, the fewest first."""
    for count in range(MOST_CHANGES + 1):
        for names in combinations(_RULES, count):
            for values in product(*(_RULES[name] for name in names)):
                yield dict(zip(names, values, strict=True))


def _computed(
    convention: Convention, measures: Sequence[Measure], ours: Rules, changes: dict[str, str]
) -> list[tuple[Measure, Measure, Rules]]:
    """The measures that a tool has, with what it computes. Of several that become the same, the one that it is."""
    found: dict[tuple[Measure, Rules], Measure] = {}
    for measure in measures:
        try:
            computed = convention.adapt(measure)
        except MeasureError:
            continue
        key = (computed, replace(convention.rules_for(measure, ours), **changes))
        if key not in found or computed == measure:
            found[key] = measure
    return [(measure, *key) for key, measure in found.items()]


def _grouped(values: Iterable[tuple[_Way, float]], number: _Number) -> list[Candidate]:
    """The explanations: matches first, the simplest first among them, then the nearest."""
    digits = max(number.decimals, _SAME)
    ways: dict[tuple[Measure, float, bool], list[tuple[_Way, float]]] = {}
    for way, value in sorted(values, key=lambda pair: pair[0].place):
        ways.setdefault((way.asked, round(value, digits), number.is_given_by(value)), []).append((way, value))
    heads: dict[tuple[str, float, bool], list[Candidate]] = {}
    for (measure, value, given), group in ways.items():
        _add(heads.setdefault((measure.name, value, given), []), _candidate(group, number))
    candidates = [candidate for members in heads.values() for candidate in members]
    simplest = {(str(way.asked), value): place for place, [(way, value), *_] in enumerate(ways.values())}

    def order(candidate: Candidate) -> tuple[float, int]:
        distance = 0.0 if candidate.matches else candidate.distance
        return distance, simplest[candidate.measure, candidate.value]

    return sorted(candidates, key=order)


def _add(heads: list[Candidate], candidate: Candidate) -> None:
    """Add an explanation of a value that the same measure also has with other parameters, unless it says nothing new."""
    for place, head in enumerate(heads):
        if candidate.rules:
            known, named = head.rules in ({}, candidate.rules), head.rules == candidate.rules
        else:
            # Some tools have measures only with a cutoff: that they give the value too is no other explanation.
            known = named = head.convention in candidate.conventions
        if known:
            heads[place] = replace(head, same=(*head.same, candidate.measure)) if named else head
            return
    heads.append(candidate)


def _candidate(ways: Sequence[tuple[_Way, float]], number: _Number) -> Candidate:
    """The simplest of several ways to the same value of a measure, with the tools that give it too."""
    first, value = ways[0]
    return Candidate(
        measure=str(first.asked),
        convention=first.convention.name,
        rules=first.changes,
        value=value,
        distance=number.distance(value),
        matches=number.is_given_by(value),
        conventions=tuple(way.convention.name for way, _ in ways if not way.changes),
        note=first.convention.case_of(first.asked).why if first.finish or first.computed != first.asked else "",
    )
