"""Common mistakes in measure functions, as data: a measure is a formula with choices, a mistake is a different choice.

To add a mistake, add a choice with its description. `checking` runs the user's function.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import combinations, product
from typing import Any

from msgspec import Struct

from assay.measures import Measure

NO_NUMBER = "no number"  # a function raised an error, or returned something else
Outcome = float | str
USUAL_CUTOFFS = (1, 3, 5, 10, 20)  # tried for measures without a cutoff
DIGITS = (1, 2, 3, 4, 5, 6)  # common roundings


class Case(Struct, frozen=True):
    """A ranking and its judgments."""

    ranking: tuple[str, ...]
    judgments: dict[str, int]
    kind: str = ""


# The input of formulas


class Facts(Struct, frozen=True, dict=True):
    """A case with the values that formulas use."""

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
        """Whether a document appears twice."""
        return len(set(self.case.ranking)) < len(self.case.ranking)

    def cutoff(self, choices: Choices) -> int | None:
        """Where the ranking is cut."""
        return CUTOFFS[choices["cutoff"]](self.measure.param("cutoff"))

    def ranking(self, choices: Choices) -> list[int | None]:
        """Grades in order of rank; None for unjudged documents."""
        docs: Iterable[str] = self.case.ranking
        docs = docs if choices["repeats"] == "counted" else dict.fromkeys(docs)
        grades = [self.case.judgments.get(doc) for doc in docs]
        if choices["order"] == "reversed":
            grades.reverse()
        return [grade for grade in grades if grade is not None] if choices["unjudged"] == "removed" else grades

    def is_relevant(self, grade: int | None, choices: Choices) -> bool:
        """Whether a grade counts as relevant."""
        return grade is not None and grade >= LEVELS[choices["relevant"]](self.threshold)

    def hits(self, choices: Choices) -> list[bool]:
        """For each rank down to the cutoff, whether the document is relevant."""
        return [self.is_relevant(grade, choices) for grade in self.ranking(choices)[: self.cutoff(choices)]]

    @cached_property
    def missed(self) -> list[int]:
        """Grades of the judged documents that were not retrieved."""
        return [grade for doc, grade in self.case.judgments.items() if doc not in self.case.ranking]

    def too_short(self, choices: Choices) -> bool:
        """Whether there are fewer than two documents."""
        return len(self.ranking(choices)) + len(self.missed) * (choices["missed"] == "averaged") < 2

    def relevant(self, choices: Choices) -> int:
        """Relevant documents of the query."""
        return sum(self.is_relevant(grade, choices) for grade in self.case.judgments.values())


def _always(cutoff: int, k: int | None) -> int:
    return cutoff


Choices = Mapping[str, str]
Words = Mapping[str, str]  # choice -> description of the mistake
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
    "judged": lambda facts, choices: len(facts.case.judgments),
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
SHARES: dict[str, Callable[[int, int, bool], float]] = {  # grade, highest grade, whether it is relevant
    "top": lambda grade, top, relevant: grade / top if top else 0.0,
    "binary": lambda grade, top, relevant: float(relevant),
    "raw": lambda grade, top, relevant: float(grade),
    "3": lambda grade, top, relevant: grade / 3,
}
TOTALS: dict[str, Callable[[float, int], float]] = {  # p, documents; what the sum is multiplied by
    "1 - p": lambda p, documents: 1.0 - p,
    "none": lambda p, documents: 1.0,
    "shown": lambda p, documents: (1.0 - p) / (1.0 - p**documents) if documents else 0.0,
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


# Formulas; correct with the right choices


def _share(facts: Facts, choices: Choices) -> float | None:
    """Precision, recall and similar measures: relevant documents found, divided by a count."""
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
    gains = [gain(grade or 0) for grade in facts.ranking(choices)]
    if choices["missed"] == "averaged" and facts.missed:
        gains += [math.fsum(map(gain, facts.missed)) / len(facts.missed)] * len(facts.missed)
    return math.fsum(worth / discount(rank) for rank, worth in enumerate(gains[: facts.cutoff(choices)], 1))


def _normalised_gain(facts: Facts, choices: Choices) -> float | None:
    discount, gain = DISCOUNTS[choices["discount"]], GAINS[choices["ideal gain"].replace("same", choices["gain"])]
    judged = [gain(grade) for grade in facts.case.judgments.values()]
    retrieved = [gain(grade or 0) for grade in facts.ranking(choices)]
    ideal = IDEALS[choices["ideal"]](judged, retrieved, facts.cutoff(choices))
    best = math.fsum(worth / discount(rank) for rank, worth in enumerate(ideal, 1))
    return _ratio(_discounted_gain(facts, choices) or 0.0, best)


def _rank_biased(facts: Facts, choices: Choices) -> float | None:
    p, top = float(choices["p"]), max(facts.case.judgments.values(), default=0)
    grades = facts.ranking(choices)[: facts.cutoff(choices)]
    gains = [SHARES[choices["share"]](grade or 0, top, facts.is_relevant(grade, choices)) for grade in grades]
    weights = [p ** (rank if choices["weight"] == "p**rank" else rank - 1) for rank in range(1, len(gains) + 1)]
    return TOTALS[choices["total"]](p, len(gains)) * math.fsum(map(operator.mul, gains, weights))


# The table of mistakes: a description for each choice. Descriptions with {k} need a cutoff.


def _denominators(what: str) -> Words:
    return {
        "relevant": f"{what} is divided by the number of relevant documents",
        "found": f"{what} is divided by the number of relevant documents found, so missing one costs nothing",
        "k": f"{what} is divided by {{k}}",
        "smaller": f"{what} is divided by the smaller of {{k}} and the number of relevant documents",
        "retrieved": f"{what} is divided by the number of documents retrieved, even if there are few",
        "judged": f"{what} is divided by the number of judged documents, relevant or not",
    }


_CUTOFF: Words = {
    "none": "the ranking is not cut at {k}",
    "k - 1": "the ranking is cut one document before {k}",
    "k + 1": "the ranking is cut one document after {k}",
    **{str(cutoff): f"only the first {cutoff} documents count" for cutoff in USUAL_CUTOFFS},
}
_RELEVANT: Words = {
    "judged": "every judged document counts as relevant, even with grade 0",
    "above": "only grades above the lowest relevant one count as relevant",
}
_UNJUDGED: Words = {
    "kept": "unjudged documents keep their ranks",
    "removed": "unjudged documents are removed from the ranking first (judged_only)",
}
_BINARY: dict[str, Words] = {"cutoff": _CUTOFF, "relevant": _RELEVANT, "unjudged": _UNJUDGED}
_GAINS: Words = {
    "linear": "the gain is the grade, not 2**grade - 1",
    "exp": "the gain is 2**grade - 1, not the grade",
    "binary": "grades are ignored: the gain of every relevant document is 1",
}
_DISCOUNTS: Words = {
    "log2(rank + 2)": "the discount is log2(rank + 2): off by one, because ranks start at 1",
    "log2(rank)": "the discount is log2(rank), with none for the first two ranks",
    "rank": "the discount is the rank itself, not its logarithm",
    "none": "there is no discount: the order of the documents does not matter",
}
_BASES: Words = {  # the base cancels out in nDCG
    "ln(rank + 1)": "the discount is the natural logarithm, not log2",
    "log10(rank + 1)": "the discount is log10, not log2",
}
_IDEAL: dict[str, Words] = {
    "ideal": {
        "uncut": "the ideal ranking is not cut at {k}",
        "shown": "the ideal ranking has only the first {k} retrieved documents, so missing one costs nothing",
        "retrieved": "the ideal ranking has only the retrieved documents, so missing one costs nothing",
        "as long": "the ideal ranking is cut at the number of documents retrieved",
        "full": "the ideal ranking has {k} documents of the highest grade, even if there are fewer",
    },
    "ideal gain": {
        "linear": "the gain is the grade in the ideal ranking, but 2**grade - 1 in the ranking",
        "exp": "the gain is 2**grade - 1 in the ideal ranking, but the grade in the ranking",
        "binary": "the gain of every relevant document is 1 in the ideal ranking, regardless of its grade",
    },
}
_SKLEARN: dict[str, Words] = {  # common in functions around scikit-learn's ndcg_score and dcg_score
    "order": {"reversed": "the ranking is reversed: ranks are used as scores, so the last document counts as the best"},
    "missed": {
        "averaged": "judged documents that were not retrieved follow the ranking, each with the mean of their gains, as tied "
        "documents do in scikit-learn"
    },
}
_TOO_SHORT: dict[str, Words] = {
    "too short": {
        "fails": "it fails if there are fewer than two documents, as scikit-learn's ndcg_score does",
        "zero": "it returns 0 if there are fewer than two documents",
    },
}
_RANK_BIASED: dict[str, Words] = {
    "share": {
        "top": "the gain is the grade divided by the highest grade, not 1 for every relevant document",
        "binary": "grades are ignored: the gain of every relevant document is 1",
        "raw": "the gain is the grade itself, not divided by the highest grade",
        "3": "the grade is divided by 3, not by the highest grade of the judgments",
    },
    "weight": {"p**rank": "the weight is p**rank: off by one, because ranks start at 1"},
    "total": {
        "none": "the factor 1 - p is missing",
        "shown": "it is divided by the sum of the weights, so a short ranking is not penalised",
    },
    "p": {persistence: f"p is {persistence}" for persistence in ("0.5", "0.8", "0.9", "0.95")},
}
_EVERYWHERE: dict[str, Words] = {
    "nothing relevant": {
        "one": "it returns 1 if nothing is relevant",
        "nan": "it returns nan if nothing is relevant",
        "fails": "it fails if nothing is relevant",
    },
    "nothing retrieved": {
        "one": "it returns 1 if nothing is retrieved",
        "nan": "it returns nan if nothing is retrieved",
        "fails": "it fails if nothing is retrieved",
    },
    "undefined": {
        "one": "it returns 1 if the divisor is 0",
        "nan": "it returns nan if the divisor is 0",
        "fails": "it divides by 0",
    },
    "scale": {"100": "it returns percentages"},
    "rounding": {str(digits): f"it rounds to {digits} digits" for digits in DIGITS},
}
_REPEATS: dict[str, Words] = {"repeats": {"counted": "a document that appears twice in the ranking counts twice"}}


class FormulaModel(Struct, frozen=True):
    """A measure as a formula with choices: the right ones, and the mistakes people make."""

    formula: Formula
    mistakes: Mapping[str, Words]
    right: Callable[[Measure], dict[str, str]] = lambda measure: {}


def _gain_of(measure: Measure) -> dict[str, str]:
    return {"gain": measure.param("gain")}


def _share_of(measure: Measure) -> dict[str, str]:
    share = "binary" if measure.param("rel") is not None else "raw" if measure.param("raw") else "top"
    return {"share": share, "p": str(measure.param("p"))}


_RANKED_AT: Words = {"every rank": "precision is averaged over all ranks, not only those of relevant documents"}
_WHICH: Words = {
    "late": "it returns 1 / (rank + 1): off by one, because ranks start at 1",
    "last": "it uses the last relevant document, not the first",
}
_PARTS: dict[str, Words] = {
    "precision": _denominators("its precision"),
    "recall": _denominators("its recall"),
    "mean": {
        "arithmetic": "precision and recall are averaged, not combined by the harmonic mean",
        "half": "the factor 2 is missing: it returns P * R / (P + R)",
        "geometric": "precision and recall are combined by the geometric mean",
        "beta": "beta is not squared",
    },
}

UNKNOWN = FormulaModel(lambda facts, choices: facts.ours, {})
MODELS: dict[str, FormulaModel] = {
    "P": FormulaModel(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "k"}),
    "R": FormulaModel(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "relevant"}),
    "R_cap": FormulaModel(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "smaller"}),
    "SetP": FormulaModel(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "retrieved"}),
    "SetR": FormulaModel(_share, {"divided by": _denominators("it"), **_BINARY}, lambda m: {"divided by": "relevant"}),
    "AP": FormulaModel(
        _average_precision,
        {"divided by": _denominators("the sum of precisions"), "averaged at": _RANKED_AT, **_BINARY},
        lambda m: {"divided by": "smaller" if m.param("norm") == "cutoff" and m.param("cutoff") else "relevant"},
    ),
    "RR": FormulaModel(_reciprocal_rank, {"which": _WHICH, **_BINARY}),
    "Success": FormulaModel(
        _success,
        {"counts": {"all": "it counts the relevant documents, instead of checking whether there is one"}, **_BINARY},
    ),
    "F": FormulaModel(_harmonic_mean, {**_PARTS, **_BINARY}, lambda m: {"precision": "k", "recall": "relevant"}),
    "SetF": FormulaModel(
        _harmonic_mean, {**_PARTS, **_BINARY}, lambda m: {"precision": "retrieved", "recall": "relevant"}
    ),
    "DCG": FormulaModel(
        _discounted_gain,
        {"gain": _GAINS, "discount": {**_DISCOUNTS, **_BASES}, "cutoff": _CUTOFF, "unjudged": _UNJUDGED, **_SKLEARN},
        _gain_of,
    ),
    "nDCG": FormulaModel(
        _normalised_gain,
        {
            **_IDEAL,
            "gain": _GAINS,
            "discount": _DISCOUNTS,
            "cutoff": _CUTOFF,
            "unjudged": _UNJUDGED,
            **_SKLEARN,
            **_TOO_SHORT,
        },
        _gain_of,
    ),
    "RBP": FormulaModel(_rank_biased, {**_RANK_BIASED, **_BINARY}, _share_of),
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
    "order": "ranked",
    "missed": "left out",
    "too short": "formula",
    "weight": "p**(rank - 1)",
    "total": "1 - p",
    "nothing relevant": "formula",
    "nothing retrieved": "formula",
    "undefined": "zero",
    "scale": "1",
    "rounding": "none",
    "repeats": "removed",
}


MODELLED = {
    "cutoff",
    "rel",
    "judged_only",
    "norm",
    "beta",
    "beta2",
    "gain",
    "p",
    "raw",
}  # parameters that formulas support


def model_of(measure: Measure) -> FormulaModel:
    """The formula of a measure, if its parameters are supported; custom gains are not."""
    heeded = MODELLED.issuperset(dict(measure.params)) and not isinstance(measure.param("gain"), tuple)
    return MODELS.get(measure.name, UNKNOWN) if heeded else UNKNOWN


def right_choices(measure: Measure) -> dict[str, str]:
    """The choices that make the formula our measure."""
    unjudged = "removed" if measure.param("judged_only") else "kept"
    return {**RIGHT, "unjudged": unjudged, **model_of(measure).right(measure)}


def mistakes_in(measure: Measure, repeats: bool) -> dict[str, Words]:
    """The possible mistakes by dimension, with their descriptions."""
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
    """Whether a mistake is possible: a wrong cutoff needs a cutoff, an extra cutoff needs a measure without one."""
    return "{k}" not in text if cutoff is None else "{k}" in text or dimension != "cutoff"


def combined_mistakes(dimensions: Mapping[str, Words], number: int) -> Iterator[Mistakes]:
    """Every combination of `number` mistakes."""
    for chosen in combinations(dimensions, number):
        yield from product(*[[(dimension, choice) for choice in dimensions[dimension]] for dimension in chosen])


def outcome_of(model: FormulaModel, facts: Facts, choices: Choices) -> Outcome:
    """The result of a formula with these choices."""
    nothing = choices["nothing relevant"] if not facts.relevant_in_all else "formula"
    if nothing == "formula" and not facts.case.ranking:
        nothing = choices["nothing retrieved"]
    if choices["too short"] != "formula" and facts.too_short(choices):
        nothing = choices["too short"]
    if nothing != "formula":
        return EDGES[nothing]
    value = model.formula(facts, choices)
    outcome = EDGES[choices["undefined"]] if value is None else value
    if isinstance(outcome, str):
        return outcome
    scaled = outcome * float(choices["scale"])
    return scaled if choices["rounding"] == "none" else round(scaled, int(choices["rounding"]))
