"""The false alarm rate of a diagnosis: simulated searches without the pitfall, over many seeds.

python tests/diagnosis/alarms.py 500      prints the rates that docs/diagnosis.md shows
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))

from assay import diagnose
from diagnosis.worlds import Shop, World, ranked

Rates = dict[str, float]


def shuffled(world: World, seed: int) -> dict[str, dict[str, int]]:
    """Documents shown in random order."""
    rng = np.random.default_rng(seed + 10_000)
    return {
        query: {str(doc): place + 1 for place, doc in enumerate(rng.permutation(world.docs))} for query in world.queries
    }


def kinds(world: World) -> dict[str, str]:
    """A fifth of the queries are product codes."""
    return {query: "code" if number % 5 == 0 else "words" for number, query in enumerate(world.queries)}


def shuffled_order_and_true_grades(seed: int) -> Sequence[str]:
    """Position: assessors are not influenced by the order."""
    world = World(seed, queries=15, docs=30)
    runs = {"a": world.system(1.0), "b": world.system(1.0)}
    found = diagnose(
        world.qrels(), runs, ["P@5"], presented=shuffled(world, seed), only=["position"], settings={"draws": 300}
    )
    return found.codes("problem", "warning", "note")


def good_order_and_true_grades(seed: int) -> Sequence[str]:
    """Position: the order shown is good but no better than the runs; a note does not count as an alarm."""
    world = World(seed, queries=15, docs=30)
    shown = {q: {d: n for n, d in enumerate(ranked(docs), 1)} for q, docs in world.system(1.0).items()}
    runs = {"a": world.system(1.0), "b": world.system(1.0)}
    found = diagnose(world.qrels(), runs, ["P@5"], presented=shown, only=["position"], settings={"draws": 300})
    return found.codes("problem", "warning")


def queries_from_the_traffic(seed: int) -> Sequence[str]:
    """Query set: test queries are drawn at random from the traffic, one by one."""
    shop = Shop(seed)
    production = Counter(shop.asked(1500))
    queries = {f"q{number}": text for number, text in enumerate(shop.asked(40))}
    found = diagnose(
        {query: {"a": 1} for query in queries},
        {"r": {query: {"a": 1.0} for query in queries}},
        ["P@1"],
        queries=queries,
        production=production,
        only=["queries"],
        settings={"draws": 100},
    )
    return [code for code in found.codes("problem", "warning", "note") if code != "DIA022"]


def equal_systems(seed: int) -> Sequence[str]:
    """Gaming: neither system is better by any measure."""
    world = World(seed, queries=30, docs=30)
    return diagnose(world.qrels(), {"a": world.system(1.0), "b": world.system(1.0)}, only=["gaming"]).codes(
        "warning", "note"
    )


def the_same_gain_everywhere(seed: int) -> Sequence[str]:
    """Gaming: one system is better, equally in all segments."""
    world = World(seed, queries=40, docs=30)
    runs = {"base": world.system(2.0), "new": world.system(1.0)}
    return diagnose(world.qrels(), runs, ["nDCG@10"], segments=kinds(world), only=["gaming"]).codes("warning", "note")


# The checks, and the searches without the pitfall.
WITHOUT: dict[str, Callable[[int], Sequence[str]]] = {
    "DIA010 shuffled": shuffled_order_and_true_grades,
    "DIA010 a good order": good_order_and_true_grades,
    "DIA020 DIA021 DIA023": queries_from_the_traffic,
    "DIA030": equal_systems,
    "DIA031": the_same_gain_everywhere,
}


def alarms(scenario: Callable[[int], Sequence[str]], seeds: int) -> Counter[str]:
    """The number of seeds in which each code is found."""
    return Counter(code for seed in range(seeds) for code in scenario(seed))


if __name__ == "__main__":
    count = int(sys.argv[1])
    for name, scenario in WITHOUT.items():
        found = alarms(scenario, count)
        for code in (part for part in name.split() if part.startswith("DIA")):
            share = found[code] / count
            sys.stdout.write(f"{name}: {code} {share:.1%} ± {np.sqrt(share * (1 - share) / count):.1%}\n")
            sys.stdout.flush()
