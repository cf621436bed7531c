"""Simulated searches with known truth, with or without a pitfall."""

from __future__ import annotations

import numpy as np

Grades = dict[str, dict[str, int]]
Scores = dict[str, dict[str, float]]


class World:
    """Queries, documents and how relevant they are; systems see relevance through noise."""

    def __init__(self, seed: int, *, queries: int = 40, docs: int = 60, top: int = 2) -> None:
        self.rng = np.random.default_rng(seed)
        self.queries = [f"q{number:03d}" for number in range(queries)]
        self.docs = [f"d{number:03d}" for number in range(docs)]
        relevance = self.rng.exponential(1.0, (queries, docs))
        # The most relevant documents get the grades: a tenth the highest, and so on down.
        self.relevance = relevance
        self.grades = np.minimum(top, np.floor(relevance / 1.1)).astype(int)

    def system(self, noise: float, *, gain: float | np.ndarray = 1.0, depth: int | None = None) -> Scores:
        """A run: relevance times gain, and noise. `gain` may differ by query."""
        gain = np.broadcast_to(np.asarray(gain, float), (len(self.queries),))[:, None]
        score = self.relevance * gain + self.rng.normal(0, noise, self.relevance.shape)
        return {query: self._first(score[number], depth) for number, query in enumerate(self.queries)}

    def _first(self, score: np.ndarray, depth: int | None) -> dict[str, float]:
        order = np.argsort(-score)[:depth]
        return {self.docs[place]: float(score[place]) for place in order}

    def qrels(self, judged: np.ndarray | None = None) -> Grades:
        """The true grades of all documents, or of those that are marked."""
        kept = np.ones_like(self.grades, bool) if judged is None else judged
        return {
            query: {doc: int(self.grades[q, d]) for d, doc in enumerate(self.docs) if kept[q, d]}
            for q, query in enumerate(self.queries)
        }

    def pool(self, *runs: Scores, depth: int) -> Grades:
        """The true grades of the top documents of these runs."""
        judged = np.zeros_like(self.grades, bool)
        place = {doc: number for number, doc in enumerate(self.docs)}
        for run in runs:
            for number, query in enumerate(self.queries):
                for doc in ranked(run[query])[:depth]:
                    judged[number, place[doc]] = True
        return self.qrels(judged)


def ranked(scores: dict[str, float]) -> list[str]:
    """Documents, best first."""
    return sorted(scores, key=lambda doc: -scores[doc])


WORDS = [f"w{number}" for number in range(300)]
SHARES = (1 / np.arange(1, 301)) / (1 / np.arange(1, 301)).sum()


class Shop:
    """Traffic with a head and a long tail."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.texts = [self.query() for _ in range(600)]
        self.chance = (1 / np.arange(1, 601) ** 0.8) / (1 / np.arange(1, 601) ** 0.8).sum()

    def query(self, shortest: int = 1, longest: int = 5) -> str:
        return " ".join(self.rng.choice(WORDS, size=self.rng.integers(shortest, longest + 1), p=SHARES))

    def asked(self, count: int) -> list[str]:
        return [str(text) for text in self.rng.choice(self.texts, size=count, p=self.chance)]
