"""Check how often rank intervals hold the true rank, and how often tiers split systems that are equally good.

usage: python leaderboards.py [--draws 1000] [--data ../shared/data/statistics/urbano2019]

Writes bench/results/leaderboards.json and .md, and the table in docs/leaderboard.md, which explains each part.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
from collections.abc import Callable, Iterator
from datetime import date
from pathlib import Path

import numpy as np

from assay.comparison.leaderboard import DRAWS
from assay.comparison.rank_intervals import rank_counts, rank_intervals, ranks_of
from assay.comparison.tiers import significantly_different, tiers_of
from assay.tables import Floats

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "bench" / "results"
PAGE = PROJECT / "docs" / "leaderboard.md"
BEGIN, END = "<!-- calibration begins -->\n", "<!-- calibration ends -->\n"
SEED = 2024
ALPHA = 0.05
MEASURES = ("adhoc5_ap", "adhoc6_ap", "adhoc7_ap", "adhoc8_ap", "web2010_ndcg20", "web2013_ndcg20")
GAPS = (0.0, 0.25, 0.5, 1.0, 2.0)  # between neighbours, in standard errors of their difference

Sample = Callable[[np.random.Generator], Floats]  # values of systems, the truly best first


def planted(systems: int, queries: int, gap: float) -> Sample:
    """Normal values: queries differ by 0.2, systems by 0.15 on the same query."""
    step = gap * 0.15 * np.sqrt(2 / queries)

    def sample(rng: np.random.Generator) -> Floats:
        difficulty = rng.normal(0.5, 0.2, (queries, 1))
        return difficulty + rng.normal(0, 0.15, (queries, systems)) - step * np.arange(systems)

    return sample


def real(table: Floats, queries: int) -> Sample:
    """Queries drawn from a real collection, whose own means are the truth."""

    def sample(rng: np.random.Generator) -> Floats:
        return table[rng.integers(0, len(table), queries)]

    return sample


def swapped(tables: list[Floats], systems: int, queries: int) -> Sample:
    """Real values whose systems are shuffled for each query: all are equally good."""

    def sample(rng: np.random.Generator) -> Floats:
        table = tables[rng.integers(len(tables))]
        some = table[:, rng.choice(table.shape[1], systems, replace=False)]
        return rng.permuted(some[rng.integers(0, len(some), queries)], axis=1)

    return sample


def coverage(sample: Sample, true: np.ndarray, draws: int, rng: np.random.Generator) -> float:
    """The share of rank intervals that hold the true rank."""
    held = []
    for seed in range(draws):
        ends = rank_intervals(rank_counts([sample(rng)], DRAWS, seed))
        held.append((ends[:, 0] <= true) & (true <= ends[:, 1]))
    return float(np.mean(held))


def first_tiers(sample: Sample, draws: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Which systems are in the first tier of each sample."""
    for _ in range(draws):
        table = sample(rng)
        yield tiers_of(table.mean(axis=0), significantly_different([table], ALPHA)) == 1


def rows(tables: dict[str, Floats], draws: int) -> Iterator[dict[str, object]]:
    """Every part that is measured, each with random numbers of its own."""
    rngs = (np.random.default_rng((SEED, number)) for number in range(1000))
    for gap in GAPS:
        true = np.arange(1, 11) if gap else np.ones(10, np.int64)
        case = f"10 systems, neighbours {gap:g} SE apart" if gap else "10 equal systems, true rank 1"
        yield row("planted ranks", case, 50, coverage(planted(10, 50, gap), true, draws, next(rngs)))
    for name, table in tables.items():
        true = ranks_of(table.mean(axis=0)[:, None])[:, 0]
        for queries in (10, 25, 50) if name == "adhoc8_ap" else (50,):
            found = coverage(real(table, queries), true, max(1, draws // 5), next(rngs))
            yield row("real ranks", f"{name}, {table.shape[1]} systems", queries, found)
    for systems in (2, 10, 50):
        for queries in (25, 50):
            some = [table for table in tables.values() if table.shape[1] >= systems]
            firsts = first_tiers(swapped(some, systems, queries), draws * 4, next(rngs))
            yield row(
                "equal systems split", f"{systems} systems", queries, np.mean([not each.all() for each in firsts])
            )
    for name, table in tables.items():
        best = table.mean(axis=0).argmax()
        lost = [not each[best] for each in first_tiers(real(table, 50), draws, next(rngs))]
        yield row("best system not in tier 1", f"{name}, {table.shape[1]} systems", 50, np.mean(lost))


def row(part: str, case: str, queries: int, rate: float) -> dict[str, object]:
    """One measured rate."""
    return {"part": part, "case": case, "queries": queries, "rate": round(float(rate), 4)}


def as_table(record: dict[str, object]) -> str:
    """The rates as a table in Markdown."""
    found = list(record["rates"])  # type: ignore[call-overload]
    lines = [f"| {each['part']} | {each['case']} | {each['queries']} | {each['rate']:.1%} |" for each in found]
    head = "| what | case | queries | rate |\n| --- | --- | ---: | ---: |\n"
    return f"{head}{chr(10).join(lines)}\n\nMeasured on {record['date']}, seed {SEED}.\n"


def main() -> None:
    """Measure and write all."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared/data/statistics/urbano2019")
    given = parser.parse_args()
    tables = {name: np.loadtxt(given.data / f"{name}.csv", delimiter=",", skiprows=1) for name in MEASURES}
    record = {"date": date.today().isoformat(), "draws": given.draws, "rates": list(rows(tables, given.draws))}
    (RESULTS / "leaderboards.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    table = as_table(record)
    (RESULTS / "leaderboards.md").write_text(table, encoding="utf-8")
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + table + END + rest.partition(END)[2], encoding="utf-8")
    print(table, end="")


if __name__ == "__main__":
    main()
