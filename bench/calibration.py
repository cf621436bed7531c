"""Check on real TREC data that our tests have their nominal error rates and our intervals their nominal coverage.

usage: python calibration.py [--draws 20000] [--data ../shared/data/statistics/urbano2019] [--parts PART,...] [--redraw]

Writes bench/results/calibration.json and .md, the tables in docs/statistics.md and the charts docs/calibration-*.svg.
docs/statistics.md explains each part. Jobs run in two processes; each is seeded by its position in the list.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process per core

import argparse
import json
import math
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from assay.comparison.corrections import corrected_p, level_of
from assay.comparison.intervals import bca_intervals, mean_interval, percentile_intervals
from assay.comparison.paired import Paired, PairedOptions
from assay.comparison.pairs import SIGNIFICANT, Study, SystemScores
from assay.comparison.segments import Segmentation, compare_segments
from assay.comparison.significance import definition_of, significance_of

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "bench" / "results"
DOCS = PROJECT / "docs"
PAGE = DOCS / "statistics.md"
BEGIN, END = "<!-- calibration begins -->\n", "<!-- calibration ends -->\n"
SEED = 2019
ALPHA = 0.05
QUERIES = (25, 50, 100)
TESTS = ("t", "permutation", "wilcoxon", "sign", "bootstrap")
NULLS = {"swapped": "labels swapped per query", "centred": "differences centred, queries resampled"}
FEW = (2, 3, 5, 10, 15, 20, 25)  # queries of tests with very few
SMALL_TESTS = ("t", "permutation", "bootstrap")
SEGMENTED = (50, 100, 200)  # queries, in three segments
SEGMENT_CASES = ("any segment", "against the mean", "between segments")
FAMILIES = ((5, 25), (5, 50), (5, 100), (10, 50))  # systems, queries
TEST_DRAWS = 9_999
SMALL_DRAWS = 1_999
INTERVAL_DRAWS = 2_000

# Bounds of the rates: (part, case, queries) -> low and high. Other rates are reported only.
BOUNDS: Mapping[tuple[str, str, int], tuple[float, float]] = {
    **{("swapped", test, n): (0.04, 0.06) for test in ("t", "permutation") for n in QUERIES},
    **{("swapped", test, n): (0.0, 0.06) for test in ("sign", "wilcoxon") for n in QUERIES},
    ("centred", "t", 50): (0.04, 0.06),
    **{("few", test, n): (0.0, 0.06) for test in ("t", "permutation") for n in FEW},
    **{("few", "bootstrap", n): (0.0, 0.08) for n in (20, 25)},
    **{("segments", f"{case}, swapped", n): (0.0, 0.055) for case in SEGMENT_CASES for n in SEGMENTED},
    **{("segments", "against the mean, centred", n): (0.0, 0.055) for n in SEGMENTED},
    **{("family-wise", f"intervals beside Holm, {systems} systems", n): (0.0, 0.055) for systems, n in FAMILIES},
    **{("family-wise", f"t, Holm, {systems} systems", n): (0.0, 0.055) for systems, n in FAMILIES},
    **{("coverage", f"{kind}, {of}", 50): (0.93, 0.97) for kind in ("t", "bca") for of in ("difference", "mean")},
}


@dataclass(frozen=True)
class Job:
    """One unit of work: a number of draws from one matrix."""

    number: int
    part: str
    queries: int
    matrix: str
    draws: int
    systems: int = 2


@dataclass(frozen=True)
class Rate:
    """An observed rate with its standard error and bounds."""

    part: str
    case: str
    queries: int
    hits: int
    draws: int

    @property
    def rate(self) -> float:
        return self.hits / self.draws

    @property
    def error(self) -> float:
        """The standard error of the rate."""
        return math.sqrt(self.rate * (1 - self.rate) / self.draws)

    @property
    def bounds(self) -> tuple[float, float] | None:
        return BOUNDS.get((self.part, self.case, self.queries))

    @property
    def verdict(self) -> str:
        if self.bounds is None:
            return "reported"
        low, high = self.bounds
        return "holds" if low <= self.rate <= high else "fails"

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {
            "rate": self.rate,
            "error": self.error,
            "bounds": list(self.bounds) if self.bounds else None,
            "verdict": self.verdict,
        }


def read_matrix(path: str) -> np.ndarray:
    """All matrices of topics x systems."""
    return np.genfromtxt(path, delimiter=",", skip_header=1)


def random_differences(values: np.ndarray, draws: int, rng: np.random.Generator) -> np.ndarray:
    """Differences of random pairs of systems that differ on some topic: (topics, draws)."""
    pairs = [
        pair for pair in combinations(range(values.shape[1]), 2) if np.ptp(values[:, pair[0]] - values[:, pair[1]])
    ]
    chosen = np.array(pairs)[rng.integers(0, len(pairs), draws)]
    swap = rng.random(draws) < 0.5
    first, second = np.where(swap, chosen[:, 1], chosen[:, 0]), np.where(swap, chosen[:, 0], chosen[:, 1])
    return values[:, first] - values[:, second]


def resampled(columns: np.ndarray, queries: int, rng: np.random.Generator) -> np.ndarray:
    """The given number of topics, drawn with replacement separately for each column."""
    rows = rng.integers(0, len(columns), (queries, columns.shape[1]))
    return np.take_along_axis(columns, rows, axis=0)


def errors_of_tests(job: Job, rng: np.random.Generator) -> dict[str, int]:
    """How often each test rejects although there is no difference."""
    differences = random_differences(read_matrix(job.matrix), job.draws, rng)
    if job.part == "centred":
        sample = resampled(differences - differences.mean(axis=0), job.queries, rng)
    else:
        sample = resampled(differences, job.queries, rng)
        sample *= rng.choice([-1.0, 1.0], sample.shape)
    table = np.column_stack((sample, np.zeros(job.queries)))
    pairs = [(draw, job.draws) for draw in range(job.draws)]
    options = PairedOptions(draws=TEST_DRAWS, seed=job.number)
    return {test: int((significance_of(table, pairs, test, options).p <= ALPHA).sum()) for test in TESTS}


def errors_with_few_queries(job: Job, rng: np.random.Generator) -> dict[str, int]:
    """How often tests reject with few queries, also the bootstrap where it is refused."""
    differences = random_differences(read_matrix(job.matrix), job.draws, rng)
    sample = resampled(differences, job.queries, rng)
    sample *= rng.choice([-1.0, 1.0], sample.shape)
    paired = Paired(
        np.column_stack((sample, np.zeros(job.queries))), tuple((draw, job.draws) for draw in range(job.draws))
    )
    options = PairedOptions(draws=SMALL_DRAWS, seed=job.number)
    same = ~sample.any(axis=0)
    return {
        test: int((np.where(same, 1.0, definition_of(test).kernel(paired, options).p) <= ALPHA).sum())
        for test in SMALL_TESTS
    }


def errors_of_segments(job: Job, rng: np.random.Generator) -> dict[str, int]:
    """How often a segment, a contradiction or a difference between segments is found where there is none."""
    differences = random_differences(read_matrix(job.matrix), job.draws, rng)
    samples = {"swapped": resampled(differences, job.queries, rng)}
    samples["swapped"] *= rng.choice([-1.0, 1.0], samples["swapped"].shape)
    samples["centred"] = resampled(differences - differences.mean(axis=0), job.queries, rng)
    queries = tuple(map(str, range(job.queries)))
    kinds = Segmentation.from_labels("kind", {query: "xyz"[place % 3] for place, query in enumerate(queries)})
    hits = dict.fromkeys((f"{case}, {null}" for null in samples for case in SEGMENT_CASES), 0)
    for null, sample in samples.items():
        for column in sample.T:
            scores = SystemScores(("a", "b"), queries, ("AP",), np.column_stack((np.zeros(job.queries), column))[None])
            found = compare_segments(scores, Study(), kinds)
            sure = any(segment.pairs[0].verdict in SIGNIFICANT for segment in found.segments)
            between = any(each.p_corrected < ALPHA for each in found.interactions)
            for case, hit in zip(SEGMENT_CASES, (sure, bool(found.reversals), between), strict=True):
                hits[f"{case}, {null}"] += hit
    return hits


def errors_of_families(job: Job, rng: np.random.Generator) -> dict[str, int]:
    """How often Holm's correction lets any pair of equal systems be significant, and an interval beside it misses."""
    values = read_matrix(job.matrix)
    pairs = np.array(list(combinations(range(job.systems), 2)))
    families = []
    for _ in range(job.draws):
        systems = rng.choice(values.shape[1], job.systems, replace=False)
        topics = rng.integers(0, len(values), job.queries)
        families.append(rng.permuted(values[np.ix_(topics, systems)], axis=1))
    offsets = np.arange(job.draws)[:, None, None] * job.systems
    columns = [(int(first), int(second)) for first, second in (pairs[None] + offsets).reshape(-1, 2)]
    p = significance_of(np.concatenate(families, axis=1), columns).p.reshape(job.draws, -1)
    found = sum(bool((corrected_p(family) <= ALPHA).any()) for family in p)
    missed = sum(bool((family < level_of(family, "holm", ALPHA)).any()) for family in p)
    return {f"t, Holm, {job.systems} systems": found, f"intervals beside Holm, {job.systems} systems": missed}


def coverage(job: Job, rng: np.random.Generator) -> dict[str, int]:
    """How often an interval contains the mean of the matrix that its queries were drawn from."""
    values = read_matrix(job.matrix)
    system = rng.integers(0, values.shape[1], job.draws)
    populations = {"difference": random_differences(values, job.draws, rng), "mean": values[:, system]}
    hits = {}
    for of, population in populations.items():
        truth = population.mean(axis=0)
        sample = resampled(population, job.queries, rng)
        found = {
            "t": [mean_interval(column) for column in sample.T],
            "bca": bca_intervals(sample, draws=INTERVAL_DRAWS, seed=job.number),
            "percentile": percentile_intervals(sample, draws=INTERVAL_DRAWS, seed=job.number),
        }
        for kind, intervals in found.items():
            held = [low <= mean <= high for (low, high), mean in zip(intervals, truth, strict=True)]
            hits[f"{kind}, {of}"] = int(sum(held))
    return hits


WORK = {
    "swapped": errors_of_tests,
    "centred": errors_of_tests,
    "few": errors_with_few_queries,
    "segments": errors_of_segments,
    "family-wise": errors_of_families,
    "coverage": coverage,
}


def jobs(matrices: list[str], draws: int) -> list[Job]:
    """The jobs: the same number of draws from each matrix, for each part and number of queries."""
    each = -(-draws // len(matrices))
    cases = [(part, queries, 2) for part in (*NULLS, "coverage") for queries in QUERIES]
    cases += [("family-wise", queries, systems) for systems, queries in FAMILIES]
    cases += [("few", queries, 2) for queries in FEW] + [("segments", queries, 2) for queries in SEGMENTED]
    places = [(case, matrix) for case in cases for matrix in matrices]
    return [
        Job(number, part, queries, matrix, each, systems)
        for number, ((part, queries, systems), matrix) in enumerate(places)
    ]


def do(job: Job) -> dict[str, int]:
    return WORK[job.part](job, np.random.default_rng([SEED, job.number]))


def rates(done: Iterable[tuple[Job, Mapping[str, int]]]) -> list[Rate]:
    """The counts of all jobs, summed by case."""
    totals: dict[tuple[str, str, int], list[int]] = {}
    for job, hits in done:
        for case, count in hits.items():
            total = totals.setdefault((job.part, case, job.queries), [0, 0])
            total[0] += count
            total[1] += job.draws
    return [Rate(*key, *total) for key, total in totals.items()]


def markdown(found: list[Rate]) -> str:
    """A table per part: cases as rows, numbers of queries as columns."""
    lines = []
    for part, title in (
        ("swapped", "False findings at 5 %, labels swapped per query"),
        ("centred", "False findings at 5 %, differences centred and queries resampled"),
        ("few", "False findings at 5 % with few queries, labels swapped per query"),
        ("family-wise", "Any false finding in a family at 5 %, systems permuted within each query"),
        ("segments", "Any false finding in three random segments at 5 %"),
        ("coverage", "Intervals of 95 % that hold the truth"),
    ):
        of_part = [rate for rate in found if rate.part == part]
        counts = sorted({rate.queries for rate in of_part})
        lines += [f"### {title}", "", f"| | {' | '.join(f'{n} queries' for n in counts)} | asked for |"]
        lines += ["|---|" + "---:|" * len(counts) + "---|"]
        lines += [row(case, of_part, counts) for case in dict.fromkeys(rate.case for rate in of_part)]
        lines += [""]
    return "\n".join(lines).rstrip() + "\n"


def row(case: str, found: list[Rate], counts: list[int]) -> str:
    by_queries = {rate.queries: rate for rate in found if rate.case == case}
    cells = [cell(by_queries.get(queries)) for queries in counts]
    return f"| {case} | {' | '.join(cells)} | {asked(by_queries.values())} |"


def cell(rate: Rate | None) -> str:
    if rate is None:
        return ""
    mark = " **fails**" if rate.verdict == "fails" else ""
    return f"{100 * rate.rate:.2f} ± {100 * rate.error:.2f} %{mark}"


def asked(found: Iterable[Rate]) -> str:
    found = list(found)
    bounded = [rate for rate in found if rate.bounds]
    if not bounded:
        return "reported"
    low, high = bounded[0].bounds or (0, 1)
    least = min(rate.queries for rate in bounded)
    some = f" (from {least} queries)" if len(bounded) < len(found) else ""
    where = some if len(bounded) > 1 else f" ({least} queries)"
    return (f"{100 * low:g} to {100 * high:g} %" if low else f"at most {100 * high:g} %") + where


def picture(
    found: list[dict[str, Any]], title: str, note: str, aim: float, scale: Mapping[str, Any], ticks: list[float]
) -> dict[str, Any]:
    """A chart of rates with two standard errors, by number of queries, and the nominal rate."""
    x = {"field": "case", "type": "nominal", "title": None, "sort": None, "axis": {"labelAngle": -40}}
    axis = {"format": ".0%", "values": ticks}
    y = {"field": "rate", "type": "quantitative", "title": None, "axis": axis, "scale": scale}
    colours = {"range": ["#9ecae1", "#4292c6", "#084594"]}
    shared = {
        "x": x,
        "xOffset": {"field": "queries", "type": "ordinal"},
        "color": {"field": "queries", "type": "ordinal", "title": "queries", "scale": colours},
    }
    layers = [
        {"mark": {"type": "rule", "strokeDash": [4, 4], "color": "#777777"}, "encoding": {"y": {"datum": aim}}},
        {
            "mark": {"type": "rule", "strokeWidth": 2},
            "encoding": shared | {"y": y | {"field": "low"}, "y2": {"field": "high"}},
        },
        {"mark": {"type": "point", "filled": True, "size": 45, "opacity": 1}, "encoding": shared | {"y": y}},
    ]
    panels = list(dict.fromkeys(point["panel"] for point in found))
    panel = {"field": "panel", "type": "nominal", "title": None, "header": {"labelFontSize": 12}, "sort": panels}
    return {
        "title": {"text": title, "subtitle": note, "anchor": "start", "offset": 12},
        "background": "white",
        "data": {"values": found},
        "facet": {"column": panel},
        "spec": {"width": 280, "height": 240, "layer": layers},
        "config": {"font": "sans-serif", "axis": {"gridColor": "#eeeeee"}},
    }


def points(found: Iterable[Rate], panels: Mapping[str, str], panel_of: Mapping[str, str] | None = None) -> list[dict]:
    """The rates of some parts as rows for a chart."""
    return [
        {
            "panel": panels[rate.part] if panel_of is None else panel_of[rate.case.rpartition(", ")[2]],
            "case": rate.case if panel_of is None else rate.case.rpartition(", ")[0],
            "queries": rate.queries,
            "rate": rate.rate,
            "low": rate.rate - 2 * rate.error,
            "high": rate.rate + 2 * rate.error,
        }
        for rate in found
        if rate.part in panels
    ]


def draw(found: list[Rate], about: str) -> None:
    """The charts for the docs."""
    import vl_convert

    tests = picture(
        points(found, NULLS),
        "False findings of tests at 5 % (logarithmic)",
        about,
        ALPHA,
        {"type": "log", "domain": [0.02, 0.6], "nice": False},
        [0.02, 0.03, 0.05, 0.1, 0.2, 0.3, 0.5],
    )
    kinds = {"difference": "mean difference of two systems", "mean": "mean of one system"}
    held = picture(
        points(found, {"coverage": ""}, kinds),
        "Intervals of 95 % that hold the truth",
        about,
        0.95,
        {"domain": [0.9, 0.97], "zero": False},
        [0.9, 0.91, 0.92, 0.93, 0.94, 0.95, 0.96, 0.97],
    )
    (DOCS / "calibration-tests.svg").write_text(vl_convert.vegalite_to_svg(tests))
    (DOCS / "calibration-intervals.svg").write_text(vl_convert.vegalite_to_svg(held))


def measured(matrices: list[str], draws: int, parts: list[str]) -> dict[str, Any]:
    """The results of these parts and how they were obtained."""
    start = time.perf_counter()
    todo = [job for job in jobs(matrices, draws) if job.part in parts]
    with ProcessPoolExecutor(2) as workers:
        found = rates(zip(todo, workers.map(do, todo), strict=True))
    return {
        "date": str(date.today()),
        "seconds": round(time.perf_counter() - start, 1),
        "seed": SEED,
        "alpha": ALPHA,
        "resamples_of_a_test": TEST_DRAWS,
        "resamples_of_an_interval": INTERVAL_DRAWS,
        "matrices": [Path(matrix).name for matrix in matrices],
        "rates": [rate.as_dict() for rate in found],
    }


def with_others(new: dict[str, Any], old: Mapping[str, Any], parts: list[str]) -> dict[str, Any]:
    """The new results, with those of the parts that were not measured again."""
    return new | {"rates": [rate for rate in old["rates"] if rate["part"] not in parts] + new["rates"]}


def write(record: Mapping[str, Any]) -> list[Rate]:
    """Write the tables and charts, also into the docs page; returns the rates."""
    fields = ("part", "case", "queries", "hits", "draws")
    found = [Rate(**{name: rate[name] for name in fields}) for rate in record["rates"]]
    about = (
        f"{found[0].draws:,} draws each, from {len(record['matrices'])} TREC matrices, "
        f"with two standard errors; {record['date']}"
    )
    intro = (
        f"Measured on {record['date']}: {found[0].draws:,} draws for each figure, the same number from each of "
        f"{len(record['matrices'])} matrices, with the standard error of chance after ±."
    )
    tables = f"{intro}\n\n{markdown(found)}"
    (RESULTS / "calibration.md").write_text(tables)
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{tables}\n{END}{rest.partition(END)[2]}")
    draw(found, about)
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=20_000)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data" / "statistics" / "urbano2019")
    parser.add_argument("--parts", default=",".join(WORK), help="measure only these parts and keep the other results")
    parser.add_argument(
        "--redraw", action="store_true", help="measure nothing; draw tables and charts from the last results"
    )
    asked_for = parser.parse_args()
    kept = RESULTS / "calibration.json"
    if not asked_for.redraw:
        matrices = sorted(str(path) for path in asked_for.data.glob("*.csv"))
        if not matrices:
            parser.error(f"no matrices in {asked_for.data}; give their folder with --data")
        parts = asked_for.parts.split(",")
        new = measured(matrices, asked_for.draws, parts)
        record = new if set(parts) == set(WORK) else with_others(new, json.loads(kept.read_text()), parts)
        kept.write_text(json.dumps(record, indent=1) + "\n")
    record = json.loads(kept.read_text())
    found = write(record)
    failed = [rate for rate in found if rate.verdict == "fails"]
    print(markdown(found))
    bounded = sum(rate.bounds is not None for rate in found)
    print(f"{record['seconds']:.0f} s; {len(failed)} of {bounded} bounds fail")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
