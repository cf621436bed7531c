"""Position bias in labels: grades that decrease with the position shown, beyond what relevance explains."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import Interval
from assay.diagnosis.labelled import LabelledRuns
from assay.diagnosis.material import Material
from assay.diagnosis.model import Cell, Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Booleans, Floats, Integers
from assay.words import number_of, show_p

BUCKETS = ((1, 1), (2, 3), (4, 5), (6, 10), (11, 20), (21, 50), (51, 100), (101, None))
RRF_K = 60  # of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009)
SAME_ORDER = 0.99  # rank correlation from which a run counts as the order shown
RANDOM_ORDER = 0.2  # rank correlation with relevance up to which an order counts as random
FEWEST = 30  # pairs that a correlation needs
AT_ONCE = 2**22  # numbers in memory at once while permuting
MOST = 2**22  # numbers to permute; with more, use the normal distribution with the exact variance


class Partial(Struct, frozen=True):
    """Rank correlations within queries."""

    raw: float  # of grade and position
    with_proxy: float  # of position and estimated relevance; positive if the most relevant come first
    partial: float  # of grade and position, controlling for estimated relevance
    interval: Interval | None
    p: float  # of grades decreasing with position, one-sided
    test: str
    pairs: int
    queries: int


@look(
    "DIA010",
    "position",
    advice="Have a sample of the documents judged again in random order, by assessors who do not see rank or score, and "
    "compare the grades (Cohen's kappa, and this check with what was presented). From now on, shuffle what assessors see.",
)
def grades_fall_with_position(material: Material) -> LookResult | CannotLook:
    """Grades that decrease with the position at which a document was shown.

    Why: people rate documents at the top as more relevant. Systems that resemble the one whose results were shown then
    look better than they are.

    Measured: within each query, the partial rank correlation (Spearman) of grade and position, controlling for
    relevance as estimated from the ranks in the runs (reciprocal rank fusion). A run that is the order shown itself is
    left out of the estimate. The p value is for grades that decrease with position: residuals of position are permuted
    within queries. The interval resamples queries. A finding needs both a significant p and an interval below 0.

    Limits: the estimate is not relevance. If the order shown reflects relevance better than the runs do, grades
    decrease with position without any bias. Only if the order is nearly unrelated to relevance (as after shuffling) is
    a decrease certainly bias, and a problem. Otherwise it is a warning if the order correlates with the grades
    significantly more than every run does, and a note if not. Without --presented, each run in turn is taken as the
    order shown and the others as relevance: this cannot distinguish bias from a good ranking, and is never more than a
    note.
    """
    if material.presented is None:
        return _from_runs(material)
    position = positions(material.runs, material.presented)
    shown = (position > 0) & material.runs.judged
    if np.count_nonzero(shown) < FEWEST:
        return CannotLook(
            f"`presented=` has fewer than {FEWEST} judged documents; does it use the same ids as the judgments?"
        )
    return _from_presentation(material, position, shown)


def positions(runs: LabelledRuns, presented: Mapping[str, Mapping[str, int]]) -> Integers:
    """The position at which each pair was shown, 0 if it was not."""
    empty: Mapping[str, int] = {}
    by_query = [presented.get(query, empty) for query in runs.queries]
    rows = zip(runs.pairs.query.tolist(), runs.pairs.doc.tolist(), strict=True)
    return np.fromiter((by_query[query].get(doc, 0) for query, doc in rows), np.int64, len(runs.pairs.query))


def _from_presentation(material: Material, position: Integers, shown: Booleans) -> LookResult | CannotLook:
    runs, settings = material.runs, material.settings
    query = runs.pairs.query[shown]
    used = [number for number in range(len(runs.systems)) if not _is_order(runs.rank[number], position, shown, query)]
    if not used:
        return CannotLook("the only RUNs given are the order that was shown; add a run of another system")
    proxy = fused(runs.rank[used])[shown]
    grade = runs.pairs.grade[shown]
    found = partial_correlation(query, grade, position[shown], proxy, settings.draws, settings.seed)
    if found is None:
        return CannotLook("no query has documents of different grades at different positions")
    falls = _falls(found.p, found.interval, settings.alpha)
    random_order = abs(found.with_proxy) < RANDOM_ORDER
    rivals = {runs.systems[number]: _as_positions(runs.rank[number])[shown] for number in used}
    better = _lead(query, grade, position[shown], rivals, settings.draws, settings.seed)
    severity: Severity = "fine"
    told = "This is not significant."
    if falls and random_order:
        severity, told = (
            "problem",
            "The order shown is nearly unrelated to relevance as estimated from the runs: this is bias.",
        )
    elif falls and better.is_sure:
        severity = "warning"
        told = (
            f"The order shown correlates with the grades more than any run does ({better.shown:+.2f}; the closest run is "
            f"{show_id(better.run)} with {better.nearest:+.2f}): bias, or an order far better than the runs."
        )
    elif falls:
        severity = "note"
        told = (
            f"But the order shown does not correlate with the grades significantly more than a run does "
            f"({show_id(better.run)}: {better.nearest:+.2f}): any good order would show this."
        )
    words = (
        f"The rank correlation of grade and position within queries is {found.raw:+.2f}, and {found.partial:+.2f} after "
        f"controlling for relevance as estimated from {number_of(len(used), 'run')}. {told}"
    )
    low, high = found.interval or (math.nan, math.nan)
    sure = (
        f"95% interval {low:+.2f} to {high:+.2f}, p {show_p(found.p)} (one-sided; {found.test}); {found.pairs:,} "
        f"documents in {found.queries} queries."
    )
    evidence = (
        Evidence(
            "partial rank correlation of grade and position",
            found.partial,
            found.interval,
            found.p,
            test=found.test,
            n=found.queries,
        ),
        Evidence("rank correlation of grade and position", found.raw, n=found.queries),
        Evidence(
            "rank correlation of position and relevance as estimated from the runs", found.with_proxy, n=found.queries
        ),
    )
    return LookResult(severity, words, sure, evidence, (by_position(query, grade, position[shown], proxy),))


def _falls(p: float, interval: Interval | None, alpha: float) -> bool:
    """Whether grades decrease significantly, by the permutation test and by the interval over queries."""
    return p < alpha and (interval is None or interval[1] < 0)


class Lead(Struct, frozen=True):
    """How much more the order shown correlates with the grades than the closest run."""

    shown: float  # rank correlation of grade and position
    run: str
    nearest: float  # rank correlation of grade and rank in this run
    interval: Interval | None  # of the lead

    @property
    def is_sure(self) -> bool:
        """Whether the lead is significant."""
        return self.interval is not None and self.interval[0] > 0


def _as_positions(rank: Integers) -> Integers:
    """Ranks, with documents that the run did not retrieve last."""
    return np.where(rank > 0, rank, rank.max(initial=0) + 1)


def _lead(
    query: Integers, grade: Floats, position: Integers, rivals: Mapping[str, Integers], draws: int, seed: int
) -> Lead:
    """Compare the order shown with each run as predictors of the grades, by resampling queries."""
    number = np.unique(query, return_inverse=True)[1]
    g = within_ranks(grade, query)

    def sums(order: Integers) -> Floats:
        x = within_ranks(order.astype(np.float64), query)
        return np.stack([np.bincount(number, weights=a * b) for a, b in ((g, x), (g, g), (x, x))]).astype(np.float64)

    def correlation(parts: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(np.nan_to_num(parts[0] / np.sqrt(parts[1] * parts[2])), np.float64)

    own = sums(position)
    others = {name: sums(order) for name, order in rivals.items()}
    nearest = min(others, key=lambda name: float(correlation(others[name].sum(axis=1))))
    queries = own.shape[1]
    counts = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), size=draws)
    lead = correlation(others[nearest] @ counts.T) - correlation(own @ counts.T)
    return Lead(
        shown=float(correlation(own.sum(axis=1))),
        run=nearest,
        nearest=float(correlation(others[nearest].sum(axis=1))),
        interval=_middle(lead) if queries > 1 else None,
    )


def _is_order(rank: Integers, position: Integers, shown: Booleans, query: Integers) -> bool:
    """Whether a run is the order shown: it has most of these documents, in the same order."""
    there = rank[shown] > 0
    if np.count_nonzero(there) < 0.5 * len(there):
        return False
    x, y = (within_ranks(values[shown][there].astype(np.float64), query[there]) for values in (rank, position))
    size = math.sqrt(float((x * x).sum() * (y * y).sum()))
    return size > 0 and float((x * y).sum()) / size >= SAME_ORDER


def _from_runs(material: Material) -> LookResult | CannotLook:
    runs, settings = material.runs, material.settings
    if len(runs.systems) < 2:
        return CannotLook("needs `presented=` (query, document, position shown), or at least two RUNs")
    found = {system: _as_if_shown(material, number) for number, system in enumerate(runs.systems)}
    known = [(system, one) for system, one in found.items() if one is not None]
    if not known:
        return CannotLook("no run has enough judged documents of different grades; needs `presented=`")
    corrected = corrected_p(np.array([one.p for _, one in known]))
    rows = [
        RunRow(system, one.pairs, one.raw, one.with_proxy, one.partial, one.interval, float(p))
        for (system, one), p in zip(known, corrected, strict=True)
    ]
    rows.sort(key=lambda row: row.partial)
    falling = [row for row in rows if _falls(row.p, row.interval, settings.alpha)]
    words = (
        f"Grades decrease with rank beyond what the other runs explain in {len(falling)} of {len(rows)} runs"
        + (f", most in {show_id(rows[0].run)} (partial correlation {rows[0].partial:+.2f})" if falling else "")
        + ". Without the order shown to assessors, bias cannot be distinguished from a good ranking."
    )
    best = np.where(runs.rank > 0, runs.rank, np.iinfo(np.int64).max).min(axis=0)
    pooled = runs.judged & (runs.rank > 0).any(axis=0)
    table = Table(
        "Each run taken as the order shown",
        (
            Column("run"),
            Column("documents", "count"),
            Column("grade, rank", "signed"),
            Column("rank, others", "signed"),
            Column("partial", "signed"),
            Column("95% interval", "interval"),
            Column("corrected p", "p"),
        ),
        tuple(map(astuple, rows)),
    )
    evidence = tuple(
        Evidence(
            f"partial rank correlation of grade and rank in {show_id(row.run)}",
            row.partial,
            row.interval,
            p_corrected=row.p,
            test="permutation within queries, one-sided, Holm",
            n=len(runs.queries),
        )
        for row in rows
    )
    buckets = by_position(runs.pairs.query[pooled], runs.pairs.grade[pooled], best[pooled], fused(runs.rank)[pooled])
    return LookResult(
        "note" if falling else "fine",
        words,
        f"Permutation within queries, one-sided, p corrected by Holm over {len(rows)} runs; intervals resample queries.",
        evidence,
        (table, buckets),
        advice="Give a file of what was presented, with query, document and position shown to assessors."
        if falling
        else None,
    )


class RunRow(Struct, frozen=True):
    """Rank correlations of a run taken as the order shown."""

    run: str
    documents: int
    raw: float
    with_others: float
    partial: float
    interval: Interval | None
    p: float  # corrected


def _as_if_shown(material: Material, number: int) -> Partial | None:
    """The correlations with this run as the order shown and the others as relevance."""
    runs, settings = material.runs, material.settings
    chosen = (runs.rank[number] > 0) & runs.judged
    if np.count_nonzero(chosen) < FEWEST:
        return None
    proxy = fused(np.delete(runs.rank, number, axis=0))[chosen]
    query, grade, rank = runs.pairs.query[chosen], runs.pairs.grade[chosen], runs.rank[number][chosen]
    return partial_correlation(query, grade, rank, proxy, settings.draws, settings.seed)


def fused(rank: Integers) -> Floats:
    """Reciprocal rank fusion score of each pair, 0 if no run retrieved it."""
    score: Floats = np.where(rank > 0, 1.0 / (RRF_K + rank), 0.0).sum(axis=0)
    return score


def within_ranks(values: Floats, query: Integers) -> Floats:
    """Ranks of values within their query, mean ranks for ties, centred and divided by the number of values.

    >>> within_ranks(np.array([3.0, 1.0, 1.0, 5.0]), np.array([0, 0, 0, 1])).tolist()
    [0.3333333333333333, -0.16666666666666666, -0.16666666666666666, 0.0]
    """
    order = np.lexsort((values, query))
    same_query = np.concatenate(([False], query[order][1:] == query[order][:-1]))
    same = same_query & np.concatenate(([False], values[order][1:] == values[order][:-1]))
    group = np.cumsum(~same) - 1
    size = np.bincount(group)
    last = np.cumsum(size)
    middle = (2 * last - size - 1) / 2  # mean rank of each group of ties, over all queries
    start = np.flatnonzero(~same_query)
    count = np.diff(np.append(start, len(values)))
    number = np.cumsum(~same_query) - 1
    place = middle[group] - start[number]
    centred = np.empty(len(values))
    centred[order] = (place - (count[number] - 1) / 2) / count[number]
    return centred


def partial_correlation(
    query: Integers, grade: Floats, position: Integers, proxy: Floats, draws: int, seed: int
) -> Partial | None:
    """Partial rank correlation of grade and position within queries, controlling for the proxy.

    None if nothing varies. `query` must be ascending.
    """
    g, p = within_ranks(grade, query), within_ranks(position.astype(np.float64), query)
    x = within_ranks(-proxy, query)  # as positions: most relevant first
    number = np.unique(query, return_inverse=True)[1]
    sums: Floats = np.stack(
        [
            np.bincount(number, weights=a * b).astype(np.float64)
            for a, b in ((g, p), (g, x), (p, x), (g, g), (p, p), (x, x))
        ]
    )
    total = sums.sum(axis=1)
    partial = float(_partial(total))
    if math.isnan(partial):
        return None
    interval = _middle(_resampled(sums, draws, seed))
    slope_g, slope_p = (total[1] / total[5], total[2] / total[5]) if total[5] > 0 else (0.0, 0.0)
    chance, test = _chance_of_fall(number, g - slope_g * x, p - slope_p * x, draws, seed)
    return Partial(
        raw=_ratio(total[0], total[3], total[4]),
        with_proxy=_ratio(total[2], total[4], total[5]),
        partial=partial,
        interval=interval,
        p=chance,
        test=test,
        pairs=len(query),
        queries=int(number[-1]) + 1,
    )


def _ratio(product: float, first: float, second: float) -> float:
    return float(product / math.sqrt(first * second)) if first * second > 0 else 0.0


def _partial(sums: Floats) -> Floats:
    """The partial correlation from sums of products; NaN if nothing varies."""
    gp, gx, px, gg, pp, xx = sums
    with np.errstate(divide="ignore", invalid="ignore"):
        share_g = np.where(xx > 0, gx * gx / xx, 0.0)
        share_p = np.where(xx > 0, px * px / xx, 0.0)
        both = np.where(xx > 0, gx * px / xx, 0.0)
        left_g, left_p = gg - share_g, pp - share_p
        varies = (left_g > 1e-12 * gg) & (left_p > 1e-12 * pp)
        found: Floats = np.where(varies, (gp - both) / np.sqrt(left_g * left_p), np.nan)
    return found


def _middle(values: Floats) -> Interval | None:
    """The middle 95 % of the values."""
    if not len(values):
        return None
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _resampled(sums: Floats, draws: int, seed: int) -> Floats:
    """Partial correlations over resampled queries."""
    queries = sums.shape[1]
    if queries < 2:
        return np.zeros(0)
    counts = np.random.default_rng(seed).multinomial(queries, np.full(queries, 1 / queries), size=draws)
    found = _partial((counts @ sums.T).T)
    return found[~np.isnan(found)]


def _chance_of_fall(query: Integers, grade: Floats, position: Floats, draws: int, seed: int) -> tuple[float, str]:
    """The p value from residuals permuted within queries, and how it was computed."""
    observed = float((grade * position).sum())
    if len(query) * draws > MOST:
        from scipy.special import ndtr

        count = np.bincount(query)
        spread = np.bincount(query, weights=grade**2) * np.bincount(query, weights=position**2)
        several = count > 1
        deviation = math.sqrt(float((spread[several] / (count[several] - 1)).sum()))
        return float(ndtr(observed / deviation)), "permutation within queries, by its exact variance"
    rng = np.random.default_rng(seed)
    reached = 0
    block = max(1, AT_ONCE // len(query))
    tie = 1e-12 * float(np.abs(grade).sum())
    for start in range(0, draws, block):
        size = min(block, draws - start)
        order = np.argsort(query + rng.random((size, len(query))), axis=1)
        reached += int(np.count_nonzero((grade * position[order]).sum(axis=1) <= observed + tie))
    return (reached + 1) / (draws + 1), f"permutation within queries, {draws:,} draws, seed {seed}"


def by_position(query: Integers, grade: Floats, position: Integers, proxy: Floats) -> Table:
    """Grades by position, with those expected from estimated relevance."""
    x = within_ranks(-proxy, query)
    number = np.unique(query, return_inverse=True)[1]
    mean = (np.bincount(number, weights=grade) / np.bincount(number))[number]
    slope = float(((grade - mean) * x).sum() / (x * x).sum()) if (x * x).sum() > 0 else 0.0
    expected = mean + slope * x
    rows: list[tuple[Cell, ...]] = []
    for first, last in BUCKETS:
        chosen = (position >= first) & (position <= (last or np.iinfo(np.int64).max))
        if chosen.any():
            name = str(first) if first == last else f"{first}-{last}" if last else f"{first} and more"
            given, likely = float(grade[chosen].mean()), float(expected[chosen].mean())
            relevant = float((grade[chosen] > 0).mean())
            rows.append((name, int(chosen.sum()), relevant, given, likely, given - likely))
    return Table(
        "Grades by position",
        (
            Column("position"),
            Column("judged", "count"),
            Column("relevant", "share"),
            Column("mean grade", "value"),
            Column("expected", "value"),
            Column("beyond", "signed"),
        ),
        tuple(rows),
        note="Expected: linear fit within queries on the ranks of the documents in the runs.",
    )
