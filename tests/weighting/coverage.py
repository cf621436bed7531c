"""How far off the weighted mean of a sample is, and how often its interval holds: 2,000 samples from planted logs.

python tests/weighting/coverage.py    prints the table of docs/traffic.md; it takes a minute or two
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from assay.weighting.estimating import weighted_mean
from assay.weighting.sampling import _drawn, probabilities, strata_of
from assay.weighting.weights import QueryWeights

DRAWS = 2000
EXPONENTS = (0.8, 1.0, 1.2)
SIZES = (50, 200, 500)
VALUES = ("rising", "falling", "success", "reciprocal rank", "difference")


class Found(Struct, frozen=True):
    """What 2,000 samples gave."""

    exponent: float
    values: str
    size: int
    certain: int  # queries that every sample has
    bias: float  # of the mean estimate, in standard errors of that mean
    error: float  # standard deviation of the estimates
    stated: float  # square root of the mean stated variance, over `error`
    covered: float  # share of the intervals that contain the truth


class Planted(Struct, frozen=True):
    """A log and the value of every query in it."""

    counts: np.ndarray
    values: np.ndarray

    @property
    def truth(self) -> float:
        """The mean over all searches."""
        return float((self.counts * self.values).sum() / self.counts.sum())


def planted(exponent: float, kind: str, queries: int = 20_000) -> Planted:
    """A Zipf log, with values that depend on how often a query is asked."""
    random = np.random.default_rng(7)
    counts = np.floor(3 * queries ** (exponent - 1) * queries / np.arange(1, queries + 1) ** exponent) + 1
    frequent = np.log(counts)
    frequent = (frequent - frequent.mean()) / frequent.std()
    noise = random.standard_normal(queries)
    if kind == "rising":
        values = np.clip(0.4 + 0.12 * frequent + 0.25 * noise, 0, 1)
    elif kind == "falling":
        values = np.clip(0.5 - 0.12 * frequent + 0.25 * noise, 0, 1)
    elif kind == "success":
        values = (random.random(queries) < np.clip(0.4 + 0.15 * frequent, 0.02, 0.98)).astype(float)
    elif kind == "reciprocal rank":
        rank = random.geometric(np.clip(0.25 + 0.08 * frequent, 0.03, 0.9))
        values = np.where(rank > 10, 0, 1 / rank)
    else:  # of two systems, which are equal on most queries
        values = np.where(random.random(queries) < 0.2 + 0.02 * frequent, 0.05 + 0.3 * noise, 0.0)
    return Planted(counts, values)


def measured(exponent: float, kind: str, size: int, *, draws: int = DRAWS, queries: int = 20_000) -> Found:
    """Draw samples from a planted log, and estimate from each."""
    log = planted(exponent, kind, queries)
    strata = strata_of(log.counts)
    chance = probabilities(log.counts, strata, size)
    names = np.array([str(number) for number in range(len(log.counts))], np.object_)
    random = np.random.default_rng(1)
    estimates, variances, hits = np.zeros(draws), np.zeros(draws), 0
    for draw in range(draws):
        chosen = _drawn(chance, strata, random)
        queries_drawn = tuple(names[chosen].tolist())
        weights = QueryWeights(
            queries_drawn,
            log.counts[chosen] / chance[chosen],
            chance[chosen],
            tuple(map(str, strata[chosen].tolist())),
        )
        found = weighted_mean(weights, queries_drawn, log.values[chosen])
        estimates[draw], variances[draw] = found.mean, (found.error or 0.0) ** 2
        hits += found.interval is not None and found.interval[0] <= log.truth <= found.interval[1]
    error = float(estimates.std(ddof=1))
    return Found(
        exponent,
        kind,
        size,
        int((chance >= 1).sum()),
        (float(estimates.mean()) - log.truth) / (error / math.sqrt(draws)),
        error,
        math.sqrt(float(variances.mean())) / error,
        hits / draws,
    )


def cases() -> Iterator[tuple[float, str, int]]:
    """Every case of the table."""
    for exponent in EXPONENTS:
        for kind in VALUES:
            for size in SIZES:
                yield exponent, kind, size


def table() -> str:
    """The figures as a table in Markdown: one row for each log and values, the sizes side by side."""
    head = ["Zipf", "values", *(f"{what}, {size}" for size in SIZES for what in ("bias", "covered"))]
    rows = [head, ["---:", "---", *["---:"] * (2 * len(SIZES))]]
    for exponent in EXPONENTS:
        for kind in VALUES:
            found = [measured(exponent, kind, size) for size in SIZES]
            rows.append(
                [f"{exponent:g}", kind, *(cell for one in found for cell in (f"{one.bias:+.1f}", f"{one.covered:.1%}"))]
            )
    return "\n".join("| " + " | ".join(row) + " |" for row in rows)


if __name__ == "__main__":
    print(table())  # noqa: T201
