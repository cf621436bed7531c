"""Incomplete labels: how much of the top nobody judged, and whether measures that look past it tell another story."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.comparison.agreement import kendall_tau
from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import Interval, mean_interval
from assay.comparison.significance import significance_of
from assay.diagnosis.figures import mean_of
from assay.diagnosis.material import Material
from assay.diagnosis.model import Cell, Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Floats
from assay.words import show_p

HALF, MOST = 0.5, 0.8  # shares of judged documents under which figures say little, or are to be read with care
UNEVEN = 0.1  # difference in that share between runs that makes a comparison unfair
FORGIVING = ("AP", "Bpref", "infAP")  # AP, and the measures that do not punish documents that nobody judged


@look(
    "DIA001",
    "labels",
    advice="Judge the documents of DIA006 first. Until then report judged@k beside every figure, look at the bounds of "
    "DIA002, and do not compare a run that helped to make the pool with one that did not.",
)
def unjudged_at_the_top(material: Material) -> LookResult | CannotLook:
    """Documents at the top that nobody judged.

    Why: a document without a judgment counts as not relevant. A new system that finds what the old ones did not is
    punished for it, and two runs of which one is judged more thoroughly are not compared on equal terms.

    Measured: judged@k, the share of the first k documents that are in the judgments with whatever grade, as the mean
    over the queries that a run has documents for; whether it is the same for all runs, by analysis of variance over
    queries.

    Limits: it says how much is unknown, not whether the unknown is relevant. A problem under 50 % in any run, a warning
    under 80 % or where runs differ by 10 points and more than chance; these limits are ours.
    """
    runs, k = material.runs, material.settings.k
    if np.isnan(material.judged_share).all():
        return CannotLook("no run has a document for a judged query")
    rows = _judged_rows(material)
    spread, p = rows[-1].share - rows[0].share, _all_alike(material.judged_share)
    evidence = [Evidence(f"judged@{k} of {show_id(row.run)}", row.share, row.interval, n=row.queries) for row in rows]
    how = "Intervals are over queries."
    if p is not None:
        how += f" Judged alike in all runs: p {show_p(p)} (analysis of variance over queries)."
        evidence.append(Evidence("judged alike in all runs", spread, p=p, test="anova", n=len(runs.queries)))
    uneven = p is not None and p < material.settings.alpha and spread >= UNEVEN
    table = Table(
        "",
        (
            Column("run"),
            Column(f"judged@{k}", "share"),
            Column("95% interval", "shares"),
            Column("queries all judged", "count"),
            Column("queries", "count"),
            Column("unjudged", "count"),
        ),
        tuple(map(astuple, rows)),
    )
    severity = _judged_severity(rows[0].share, uneven=uneven)
    return LookResult(severity, _judged_words(rows, k, int(material.holes.sum())), how, tuple(evidence), (table,))


class JudgedRow(Struct, frozen=True):
    """How much of the top of a run is judged."""

    run: str
    share: float
    interval: Interval | None
    all_judged: int  # queries
    queries: int
    unjudged: int  # documents


def _judged_rows(material: Material) -> list[JudgedRow]:
    """The runs, from the one that is judged least to the one that is judged most."""
    runs = material.runs
    top = runs.within(material.settings.k) & ~runs.judged
    rows = [
        JudgedRow(
            system,
            mean_of(share),
            _of_a_share(mean_interval(share)),
            int(np.count_nonzero(share >= 1)),
            int(np.count_nonzero(~np.isnan(share))),
            int(unjudged.sum()),
        )
        for system, share, unjudged in zip(runs.systems, material.judged_share, top, strict=True)
    ]
    return sorted(rows, key=lambda row: row.share)


def _judged_severity(lowest: float, *, uneven: bool) -> Severity:
    if lowest < MOST or uneven:
        return "problem" if lowest < HALF else "warning"
    return "note" if lowest < 1 else "fine"


def _judged_words(rows: list[JudgedRow], k: int, holes: int) -> str:
    lowest, highest = rows[0], rows[-1]
    if lowest.share >= 1:
        return f"All of the first {k} documents of every run are judged."
    other = f", {show_id(highest.run)} {highest.share:.1%}" if len(rows) > 1 else ""
    return (
        f"Of its first {k} documents, {show_id(lowest.run)} has {lowest.share:.1%} judged{other}; "
        f"{holes:,} documents in the first {k} of a run have no judgment."
    )


def _all_alike(columns: Floats) -> float | None:
    """How likely runs lie so far apart if all have the same mean, by analysis of variance."""
    if len(columns) < 2:
        return None
    found = significance_of(columns.T, [(0, 1)], "anova")
    return None if found.overall is None else found.overall.p


@look(
    "DIA004",
    "labels",
    advice="Report bpref (or infAP where the judgments are a sample of the pool) beside AP, and do not call one of "
    "the two "
    "runs better while the measures disagree.",
)
def measures_for_incomplete_labels(material: Material) -> LookResult | CannotLook:
    """Measures that do not punish unjudged documents tell another story than AP.

    Why: bpref looks only at judged documents. Where it orders two runs otherwise than AP, what AP sees may be holes.

    Measured: AP, bpref and infAP of each run, and for each two runs the paired t test by AP and by bpref, corrected
    (Holm) over all pairs and both measures.

    Limits: bpref is blind to unjudged documents before relevant ones, so a run full of them looks too good by it: the
    truth often lies between. infAP differs from AP only where negative grades mark documents that were pooled and not
    judged; without them it adds nothing.
    """
    runs = material.runs
    lacking = [name for name in FORGIVING if name not in material.beside]
    if lacking:
        return CannotLook(
            f"there is no {' and no '.join(lacking)} under these conventions and rules; leave --like and --ties out"
        )
    means = runs.means(material.values)[:, [material.beside[name] for name in FORGIVING]]
    table = _places_table(material, means)
    if len(runs.systems) < 2:
        words = (
            f"AP {means[0, 0]:.4f}, bpref {means[0, 1]:.4f}, infAP {means[0, 2]:.4f}. One run has no order to change."
        )
        return LookResult("note", words, "Means over queries.", tables=(table,), advice="")
    swapped = _disagreements(material, means)
    against = [pair for pair in swapped if max(pair.p_ap, pair.p_bpref) < material.settings.alpha]
    tau = kendall_tau(means[:, 0], means[:, 1])
    pairs = len(runs.systems) * (len(runs.systems) - 1) // 2
    words = (
        f"AP and bpref put {len(swapped)} of {pairs} pairs of runs in opposite order (Kendall's tau "
        f"{'-' if tau is None else f'{tau:.2f}'})"
        + (f"; in {len(against)} of them both differences are significant" if swapped else "")
        + "."
    )
    evidence = [Evidence("Kendall's tau of AP and bpref", tau, n=len(runs.systems), unit="runs")]
    evidence += [
        Evidence(
            f"bpref: {show_id(pair.first)} - {show_id(pair.second)}",
            pair.bpref,
            p_corrected=pair.p_bpref,
            test="paired t, Holm",
            n=len(runs.queries),
        )
        for pair in against
    ]
    severity: Severity = "warning" if against else "note" if swapped else "fine"
    opposite = Table(
        "Pairs in opposite order (difference = first - second)", _PAIR_COLUMNS, tuple(map(astuple, swapped))
    )
    how = f"Paired t tests over queries, p corrected by Holm over {2 * pairs} comparisons."
    return LookResult(severity, words, how, tuple(evidence), (table, opposite) if swapped else (table,))


def _places_table(material: Material, means: Floats) -> Table:
    """The runs in the order of AP, and their places by AP and bpref."""
    by_ap, by_bpref = (_places(means[:, number]) for number in (0, 1))
    rows: tuple[tuple[Cell, ...], ...] = tuple(
        (system, *map(float, means[number]), by_ap[number], by_bpref[number])
        for number, system in sorted(enumerate(material.runs.systems), key=lambda item: by_ap[item[0]])
    )
    columns = (
        Column("run"),
        *(Column(name, "value") for name in FORGIVING),
        *(Column(f"place by {name}", "count") for name in FORGIVING[:2]),
    )
    note = "No grade is negative: nothing was pooled and left unjudged, and infAP is AP but for smoothing."
    sampled = bool((material.runs.pairs.grade < 0).any())
    return Table("", columns, rows, note="" if sampled else note)


class Disagreement(Struct, frozen=True):
    """Two runs that AP and bpref put in opposite order: differences (first - second), p corrected."""

    first: str
    second: str
    ap: float
    p_ap: float
    bpref: float
    p_bpref: float


_PAIR_COLUMNS = (
    Column("first"),
    Column("second"),
    Column("AP", "signed"),
    Column("p of AP", "p"),
    Column("bpref", "signed"),
    Column("p of bpref", "p"),
)


def _disagreements(material: Material, means: Floats) -> list[Disagreement]:
    """The pairs that AP and bpref order otherwise, the surest first."""
    systems = material.runs.systems
    pairs = [(a, b) for a in range(len(means)) for b in range(a + 1, len(means))]
    columns = [material.beside["AP"], material.beside["Bpref"]]
    p = corrected_p(np.array([significance_of(material.values[:, :, column].T, pairs, "t").p for column in columns]))
    found = []
    for number, (a, b) in enumerate(pairs):
        ap, bpref = (float(means[a, place] - means[b, place]) for place in (0, 1))
        if ap * bpref < 0:
            found.append(Disagreement(systems[a], systems[b], ap, float(p[0, number]), bpref, float(p[1, number])))
    return sorted(found, key=lambda pair: max(pair.p_ap, pair.p_bpref))


def _places(values: Floats) -> list[int]:
    return [int(np.count_nonzero(values > value)) + 1 for value in values]


def _of_a_share(interval: Interval | None) -> Interval | None:
    """The part of an interval that a share can lie in."""
    return None if interval is None else (max(interval[0], 0.0), min(interval[1], 1.0))
