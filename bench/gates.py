"""Check how often a gate lets a change pass that loses exactly what is allowed, and how often one that loses nothing.

usage: python gates.py [--draws 10000] [--data ../shared/data/statistics/urbano2019]

Writes bench/results/gates.json and .md, the tables in docs/statistics.md and the chart docs/gate-calibration.svg. A change
touches a share of all queries: the others have a difference of exactly 0. Differences of touched queries are those of real
TREC systems (shifted so that their mean is what a case asks for), normal, or rare total losses among small gains.
"""

from __future__ import annotations

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one process per core

import argparse
import json
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import numpy as np

from assay.comparison.intervals import mean_interval
from assay.gate.deciding import decide_rule
from assay.gate.grammar import parse_rule
from assay.gate.ledger import part_of
from assay.gate.traffic import Touched, traffic_bounds
from assay.tables import Floats

PROJECT = Path(__file__).parents[1]
RESULTS = PROJECT / "bench" / "results"
PAGE = PROJECT / "docs" / "statistics.md"
PICTURE = PROJECT / "docs" / "gate-calibration.svg"
BEGIN, END = "<!-- calibration of the gate begins -->\n", "<!-- calibration of the gate ends -->\n"
SEED = 2026
ALPHA, MARGIN = 0.05, -0.01
HIGHEST = 0.055  # rate of false passes
QUERIES = (20, 50, 100, 300, 1000)
SHARES = (0.01, 0.02, 0.05, 0.2, 1.0)  # of the queries that a change touches
DENSE = 0.2  # share from which t is calibrated
SHAPES = ("TREC", "normal", "rare losses")

Draw = Callable[[int, np.random.Generator], Floats]  # differences of touched queries


@dataclass(frozen=True)
class Rate:
    """How often something happened, and how often it may."""

    part: str
    case: str
    column: str
    hits: int
    draws: int
    at_most: float | None = None
    at_least: float | None = None

    @property
    def rate(self) -> float:
        return self.hits / self.draws if self.draws else 0.0

    @property
    def error(self) -> float:
        return float(np.sqrt(self.rate * (1 - self.rate) / max(self.draws, 1)))

    @property
    def holds(self) -> bool:
        """Whether the rate is within its bounds, but for two standard errors of chance."""
        high = self.at_most is None or self.rate <= self.at_most + 2 * self.error
        return high and (self.at_least is None or self.rate >= self.at_least - 2 * self.error)


# Populations


def centred(sample: Floats, mean: float) -> Floats:
    """The values shifted and cut at -1 and 1 so that their mean is this one."""
    low, high = -3.0, 3.0
    for _ in range(60):
        shift = (low + high) / 2
        low, high = (shift, high) if np.clip(sample + shift, -1, 1).mean() < mean else (low, shift)
    return np.clip(sample + low, -1, 1)


def population(shape: str, mean: float, real: Floats) -> Draw:
    """Differences of touched queries with this mean."""
    if shape == "rare losses":  # everything on some queries, and a small gain on the others
        chance = (0.05 - mean) / 1.05
        return lambda count, random: np.where(random.random(count) < chance, -1.0, 0.05)
    normal = 0.2 * np.random.default_rng(SEED).standard_normal(100_000)
    values = centred(real if shape == "TREC" else normal, mean)
    return lambda count, random: random.choice(values, count)


def real_differences(folder: Path) -> Floats:
    """Differences that are not 0 between neighbours in the better half of each TREC collection."""
    found = []
    for path in sorted(folder.glob("*.csv")):
        table = np.loadtxt(path, delimiter=",", skiprows=1)
        better = table[:, np.argsort(-table.mean(axis=0))[: table.shape[1] // 2]]
        found.append(np.diff(better, axis=1).ravel())
    values = np.concatenate(found)
    return values[values != 0]


def sample(draw: Draw, queries: int, share: float, random: np.random.Generator) -> Floats:
    """The differences of a sample of queries."""
    values = np.zeros(queries)
    touched = random.random(queries) < share
    values[touched] = draw(int(touched.sum()), random)
    return values


# Decisions


def gate_passes(difference: Floats, alpha: float = ALPHA, margin: float = MARGIN) -> bool:
    """What the gate says."""
    rule = parse_rule(f"AP >= {margin}")
    return decide_rule(rule, np.zeros(len(difference)), difference, alpha).status == "pass"


def t_passes(difference: Floats) -> bool:
    """What plain t says."""
    interval = mean_interval(difference, 1 - 2 * ALPHA)
    return interval is not None and interval[0] >= MARGIN


@dataclass(frozen=True)
class Case:
    """One population and one size of sample."""

    number: int
    shape: str
    share: float
    queries: int
    draws: int
    real: Floats

    @property
    def random(self) -> np.random.Generator:
        return np.random.default_rng((SEED, self.number))


def at_the_margin(case: Case) -> list[Rate]:
    """False passes: the true loss is exactly the margin."""
    random, draw = case.random, population(case.shape, MARGIN / case.share, case.real)
    changed = by_t = by_t_changed = by_gate = 0
    for _ in range(case.draws):
        difference = sample(draw, case.queries, case.share, random)
        any_changed = bool(difference.any())
        by_t_now = t_passes(difference)
        changed += any_changed
        by_t += by_t_now
        by_t_changed += by_t_now and any_changed
        by_gate += gate_passes(difference)
    name, column = f"{case.shape}, {case.share:.0%} touched", str(case.queries)
    limit = HIGHEST if case.shape != "rare losses" or case.share < DENSE else None
    return [
        Rate("false passes of t", name, column, by_t, case.draws),
        Rate("false passes of t if a query changed", name, column, by_t_changed, changed),
        Rate("false passes, strict", name, column, by_gate, case.draws, limit),
        Rate("false passes if a query changed", name, column, by_gate, changed, limit),
    ]


def power(case: Case) -> list[Rate]:
    """Passes of a change that t would let pass in about 80%, as a share of these."""
    random = case.random
    spread = float(np.sqrt(case.share) * 0.2)
    gain = min(MARGIN + 2.5 * spread / np.sqrt(case.queries), 0.5 * case.share)
    draw = population(case.shape, gain / case.share, case.real)
    by_t = by_gate = 0
    for _ in range(case.draws):
        difference = sample(draw, case.queries, case.share, random)
        by_t += t_passes(difference)
        by_gate += gate_passes(difference)
    name = f"{case.shape}, {case.share:.0%} touched"
    return [Rate("passes for each pass of t", name, str(case.queries), by_gate, by_t)]


def resubmitted(case: Case, attempts: int = 20) -> list[Rate]:
    """A change at the margin, tried again and again on new queries."""
    random, draw = case.random, population(case.shape, MARGIN / case.share, case.real)
    alone = together = 0
    for _ in range(case.draws):
        tries = [sample(draw, case.queries, case.share, random) for _ in range(attempts)]
        alone += any(map(gate_passes, tries))
        together += any(gate_passes(each, part_of(ALPHA, number)) for number, each in enumerate(tries, 1))
    name, column = f"{case.shape}, {case.share:.0%} touched, {attempts} attempts", str(case.queries)
    return [
        Rate("ever passes without a ledger", name, column, alone, case.draws),
        Rate("ever passes with a ledger", name, column, together, case.draws, HIGHEST),
    ]


def creeping(case: Case, steps: int = 20, loss: float = 0.005, margin: float = -0.03) -> list[Rate]:
    """Merges that each lose a little: whether one is stopped before the anchor's margin is lost."""
    random, draw = case.random, population(case.shape, -loss / case.share, case.real)
    stopped = 0
    for _ in range(case.draws):
        lost = np.cumsum([sample(draw, case.queries, case.share, random) for _ in range(steps)], axis=0)
        within = round(-margin / loss)  # merges until the margin is lost
        stopped += any(not gate_passes(np.clip(each, -1, 1), margin=margin) for each in lost[:within])
    name = f"{case.shape}, {case.share:.0%} touched, {steps} merges of -{loss:g}"
    return [Rate("stopped by an anchor at -0.03", name, str(case.queries), stopped, case.draws, at_least=0.95)]


def unlabelled(case: Case, traffic: int = 10_000) -> list[Rate]:
    """Unlabelled queries and some judged touched ones: `queries` is how many of these there are."""
    random = case.random
    rates = []
    for part, mean in (("false passes", MARGIN / case.share), ("passes of what loses nothing", 0.0)):
        draw, passed = population(case.shape, mean, case.real), 0
        for touched in random.binomial(traffic, case.share, case.draws).tolist():
            found = traffic_bounds(Touched(traffic, touched, draw(case.queries, random)), (-1.0, 1.0), ALPHA)
            passed += found is not None and found.ends[0] >= MARGIN
        promised = case.share <= 0.02 and case.shape != "rare losses"
        limits = {"at_most": HIGHEST} if mean else {"at_least": 0.8} if promised else {}
        name = f"{case.shape}, {case.share:.0%} touched"
        rates.append(Rate(f"{part}, unlabelled", name, f"{case.queries} judged", passed, case.draws, **limits))
    return rates


def jobs(draws: int, real: Floats) -> list[tuple[Callable[[Case], list[Rate]], Case]]:
    """All that is measured."""
    wanted: list[tuple[Callable[[Case], list[Rate]], str, float, int, int]] = []
    wanted += [(at_the_margin, shape, share, n, draws) for shape in SHAPES for share in SHARES for n in QUERIES]
    wanted += [(power, shape, share, n, draws // 2) for shape in SHAPES[:2] for share in (DENSE, 1.0) for n in QUERIES]
    wanted += [(resubmitted, "TREC", share, n, draws // 10) for share in (0.05, 1.0) for n in (50, 300)]
    wanted += [(creeping, "TREC", share, n, draws // 10) for share in (0.2, 1.0) for n in (50, 300)]
    wanted += [(unlabelled, shape, share, 30, draws // 5) for shape in SHAPES for share in (0.02, 0.05, 0.2)]
    return [(work, Case(number, *rest, real)) for number, (work, *rest) in enumerate(wanted)]


def do(job: tuple[Callable[[Case], list[Rate]], Case]) -> list[Rate]:
    work, case = job
    return work(case)


# Reporting


def table(found: Iterable[Rate]) -> str:
    """A table per part: cases as rows, sizes of samples as columns."""
    rates, lines = list(found), []
    for part in dict.fromkeys(rate.part for rate in rates):
        some = [rate for rate in rates if rate.part == part]
        columns = list(dict.fromkeys(rate.column for rate in some))
        by_place = {(rate.case, rate.column): rate for rate in some}
        heads = [column if column.endswith("judged") else f"{int(column):,} queries" for column in columns]
        lines += [f"**{part[0].upper()}{part[1:]}**", "", f"| | {' | '.join(heads)} | asked for |"]
        lines += ["|---|" + "---:|" * len(columns) + "---|"]
        for case in dict.fromkeys(rate.case for rate in some):
            cells = [cell(by_place.get((case, column))) for column in columns]
            lines.append(f"| {case} | {' | '.join(cells)} | {asked([each for each in some if each.case == case])} |")
        lines.append("")
    return "\n".join(lines)


def cell(rate: Rate | None) -> str:
    if rate is None or not rate.draws:
        return ""
    return f"{100 * rate.rate:.1f} %{'' if rate.holds else ' **fails**'}"


def asked(rates: list[Rate]) -> str:
    first = rates[0]
    if first.at_most is not None:
        return f"at most {100 * first.at_most:g} %"
    return "reported" if first.at_least is None else f"at least {100 * first.at_least:g} %"


def picture(found: list[Rate], about: str) -> dict[str, object]:
    """False passes of t and of the gate, by share of touched queries and size of the sample."""
    methods = {"false passes of t": "Student's t", "false passes, strict": "gate"}
    points = [
        {
            "method": methods[rate.part],
            "touched": rate.case.partition(", ")[2],
            "queries": int(rate.column),
            "rate": rate.rate,
        }
        for rate in found
        if rate.part in methods and rate.case.startswith("TREC")
    ]
    y = {"field": "rate", "type": "quantitative", "title": "false passes", "axis": {"format": ".0%"}}
    x = {"field": "queries", "type": "ordinal", "title": "judged queries", "axis": {"labelAngle": 0}}
    colours = {"domain": list(methods.values()), "range": ["#e08214", "#2166ac"]}
    points_of = {"x": x, "y": y, "color": {"field": "method", "type": "nominal", "title": None, "scale": colours}}
    line = {"mark": {"type": "rule", "strokeDash": [4, 4], "color": "#777777"}, "encoding": {"y": {"datum": ALPHA}}}
    panel = {"field": "touched", "type": "nominal", "title": None, "sort": [f"{share:.0%} touched" for share in SHARES]}
    return {
        "title": {
            "text": "How often a change passes that loses exactly the margin of 0.01",
            "subtitle": about,
            "anchor": "start",
            "offset": 12,
        },
        "background": "white",
        "data": {"values": points},
        "facet": {"column": panel},
        "spec": {
            "width": 130,
            "height": 200,
            "layer": [line, {"mark": {"type": "line", "point": True}, "encoding": points_of}],
        },
        "config": {"font": "sans-serif", "axis": {"gridColor": "#eeeeee"}},
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=10_000)
    parser.add_argument("--data", type=Path, default=PROJECT.parent / "shared" / "data" / "statistics" / "urbano2019")
    given = parser.parse_args()
    if not list(given.data.glob("*.csv")):
        parser.error(f"no matrices in {given.data}; give their folder with --data")
    todo = jobs(given.draws, real_differences(given.data))
    with ProcessPoolExecutor(2) as workers:
        found = [rate for rates in workers.map(do, todo) for rate in rates]
    today = date.today().isoformat()
    record = {"date": today, "seed": SEED, "draws": given.draws, "rates": [asdict(rate) for rate in found]}
    (RESULTS / "gates.json").write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    about = (
        f"Measured on {today}: {given.draws:,} draws of each sample at the margin, fewer of the others; seed {SEED}."
    )
    text = f"{about}\n\n{table(found)}"
    (RESULTS / "gates.md").write_text(text, encoding="utf-8")
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n{text}\n{END}{rest.partition(END)[2]}", encoding="utf-8")
    import vl_convert

    PICTURE.write_text(vl_convert.vegalite_to_svg(picture(found, about)), encoding="utf-8")
    failed = [rate for rate in found if not rate.holds]
    print(text)
    print(
        f"{len(failed)} of {sum(rate.at_most is not None or rate.at_least is not None for rate in found)} bounds fail"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())
