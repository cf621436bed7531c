"""Random qrels and runs on which each convention is held against its tool, and the comparison itself.

`make test-conventions` runs it, with an environment for each tool.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError

PARTS = 10
CASES = 1000  # for each tool
QUERIES = 5


class Case(NamedTuple):
    """Judgments and a run as dicts of dicts."""

    seed: int
    grades: dict[str, dict[str, int]]
    scores: dict[str, dict[str, float]]

    def answered(self) -> list[str]:
        """The judged queries that the run answers."""
        return [query for query in self.grades if query in self.scores]


def cases(part: int, *, missing: bool = True) -> Iterator[Case]:
    """One of the ten parts of the thousand cases; `missing`: in a third of them, the run lacks some judged queries."""
    for seed in range(part * CASES // PARTS, (part + 1) * CASES // PARTS):
        yield random_case(seed, missing=missing)


def random_case(seed: int, *, missing: bool = True) -> Case:
    """Lists of 5 to 1,000 documents with anything from no ties to nothing but ties, in any order, with negative scores.

    Judgments are binary in every other case, otherwise from 0 to 3 and sometimes from -1. Some queries have no relevant
    document, some relevant documents are not retrieved, and scores may differ only beyond 32 bits.
    """
    random = np.random.default_rng(seed)
    lowest, highest = (0, 1) if seed % 2 else (-1 if seed % 8 == 0 else 0, 3)
    grades: dict[str, dict[str, int]] = {}
    scores: dict[str, dict[str, float]] = {}
    for number in range(QUERIES):
        query, size = f"q{number}", int(np.exp(random.uniform(np.log(5), np.log(1001))))
        docs = [f"d{n}" for n in random.permutation(size + 20)]
        scores[query] = dict(zip(docs, _scores(random, size).tolist(), strict=False))
        judged = random.permutation(docs)[: random.integers(1, size + 2)].tolist()
        rare = random.random(len(judged)) < random.choice([0.0, 0.1, 0.5, 1.0], p=[0.1, 0.4, 0.3, 0.2])
        grade = np.where(rare, random.integers(1, highest + 1, len(judged)), random.integers(lowest, 1, len(judged)))
        grades[query] = dict(zip(judged, grade.tolist(), strict=True))
    if missing and seed % 3 == 0:
        for query in random.permutation(list(scores))[: random.integers(1, QUERIES)].tolist():
            del scores[query]
    return Case(seed, grades, scores)


def _scores(random: np.random.Generator, size: int) -> np.ndarray:
    """All different, some tied, mostly tied or equal as 32-bit floats only; negative, positive or both."""
    kind = random.choice(["different", "some", "few", "close"])
    if kind == "different":
        values = random.permutation(size) + random.choice([0.5, 1.0])
    elif kind == "some":
        values = random.integers(0, size, size).astype(float)
    elif kind == "few":
        values = random.integers(0, 6, size).astype(float)
    else:
        values = random.integers(1, size + 1, size) + random.integers(0, 3, size) * 1e-9
    values = (values - random.choice([-1, 0, size // 2, size + 1])) * random.choice([0.1, 1.0, 1e6])
    return np.sort(values)[::-1] if random.random() < 0.5 else values


class Tally:
    """Compares values, and counts what was compared and what was refused."""

    def __init__(self, like: str, tolerance: float = 1e-9) -> None:
        self.like, self.tolerance = like, tolerance
        self.equal = self.refused = 0

    def compare(self, case: Case, theirs: Mapping[str, float], **rules: Any) -> None:
        """The mean of every measure by the tool and by us, unless the convention refuses the case."""
        names = list(theirs)
        while names:
            try:
                ours = evaluate(case.grades, case.scores, names, rules=rules, like=self.like, unmatched="zero").mean()
            except MeasureError as error:
                refused = next(
                    name for name in names if str(error).startswith(f"{self.like} gives no number for {name}: ")
                )
                names.remove(refused)
                self.refused += 1
                continue
            for name in names:
                assert theirs[name] == pytest.approx(ours[name], abs=self.tolerance), (case.seed, name)
            self.equal += len(names)
            return
