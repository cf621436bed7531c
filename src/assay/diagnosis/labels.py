"""Incomplete labels: how much of the top is unjudged, and whether more robust measures disagree."""

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
from assay.diagnosis.registry import ONLY_RELEVANT, CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Floats
from assay.words import number_of, plural, show_p

HALF, MOST = (
    0.5,
    0.8,
)  # shares of judged documents: below the first, figures say little; below the second, read with care
UNEVEN = 0.1  # difference in that share that makes a comparison of runs unfair
FORGIVING = ("AP", "Bpref", "infAP")  # AP, and the measures that do not penalise unjudged documents


@look(
    "DIA001",
    "labels",
    advice="Judge the documents of DIA006 first. Until then report judged@k with every figure, check the bounds of DIA002, "
    "and do not compare a run that contributed to the pool with one that did not.",
)
def unjudged_at_the_top(material: Material) -> LookResult | CannotLook:
    """Unjudged documents at the top.

    Why: an unjudged document counts as not relevant. This penalises a new system that finds documents the old ones did
    not, and makes a comparison unfair if one run is judged more completely than the other.

    Measured: judged@k, the share of the first k documents that are judged, with any grade, as the mean over the queries
    that a run has documents for; and whether it is the same for all runs, by analysis of variance over queries.

    Limits: it shows how much is unknown, not whether the unknown documents are relevant. A problem below 50 % in any
    run, a warning below 80 % or if runs differ by at least 10 points and significantly; these thresholds are our
    choice.
    """
    runs, k = material.runs, material.settings.k
    if np.isnan(material.judged_share).all():
        return CannotLook("no run has a document for a judged query")
    if material.runs.only_relevant:
        return ONLY_RELEVANT
    rows = _judged_rows(material)
    spread, p = rows[-1].share - rows[0].share, _all_alike(material.judged_share)
    evidence = [Evidence(f"judged@{k} of {show_id(row.run)}", row.share, row.interval, n=row.queries) for row in rows]
    how = "Intervals over queries."
    if p is not None:
        how += f" Equal in all runs: p {show_p(p)} (analysis of variance over queries)."
        evidence.append(Evidence("judged@k equal in all runs", spread, p=p, test="anova", n=len(runs.queries)))
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
    """The judged share of the top of a run."""

    run: str
    share: float
    interval: Interval | None
    all_judged: int  # queries
    queries: int
    unjudged: int  # documents


def _judged_rows(material: Material) -> list[JudgedRow]:
    """The runs, least judged first."""
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
        return f"The first {k} documents of every run are all judged."
    other = f", {show_id(highest.run)} {highest.share:.1%}" if len(rows) > 1 else ""
    return (
        f"judged@{k}: {show_id(lowest.run)} {lowest.share:.1%}{other}. "
        f"{plural('{count} {document|documents} in the first', holes)} {k} of a run {plural('{is|are}', holes)} unjudged."
    )


def _all_alike(columns: Floats) -> float | None:
    """The p value of equal means in all runs, by analysis of variance."""
    if len(columns) < 2:
        return None
    found = significance_of(columns.T, [(0, 1)], "anova")
    return None if found.overall is None else found.overall.p


@look(
    "DIA004",
    "labels",
    advice="Report bpref with AP (or infAP if the judgments are a sample of the pool), and do not call either run better "
    "while the measures disagree.",
)
def measures_for_incomplete_labels(material: Material) -> LookResult | CannotLook:
    """Measures that do not penalise unjudged documents disagree with AP.

    Why: bpref uses only judged documents. If it orders two runs differently from AP, the difference by AP may come from
    holes.

    Measured: AP, bpref and infAP of each run, and for each pair of runs the paired t test by AP and by bpref, corrected
    (Holm) over all pairs and both measures.

    Limits: bpref ignores unjudged documents above relevant ones, so a run with many of them looks too good: the truth
    is often in between. infAP differs from AP only if negative grades mark documents that were pooled but not judged;
    without them it adds nothing.
    """
    runs = material.runs
    if runs.only_relevant:
        return ONLY_RELEVANT
    lacking = [name for name in FORGIVING if name not in material.beside]
    if lacking:
        return CannotLook(
            f"there is no {' and no '.join(lacking)} under these conventions and rules; leave out `like=` and `ties=`"
        )
    means = runs.means(material.values)[:, [material.beside[name] for name in FORGIVING]]
    table = _places_table(material, means)
    if len(runs.systems) < 2:
        words = f"AP {means[0, 0]:.4f}, bpref {means[0, 1]:.4f}, infAP {means[0, 2]:.4f}. With one run there is no order to compare."
        return LookResult("note", words, "Means over queries.", tables=(table,), advice="")
    swapped = _disagreements(material, means)
    against = [pair for pair in swapped if max(pair.p_ap, pair.p_bpref) < material.settings.alpha]
    tau = kendall_tau(means[:, 0], means[:, 1])
    pairs = len(runs.systems) * (len(runs.systems) - 1) // 2
    words = (
        f"AP and bpref put {len(swapped)} of {number_of(pairs, 'pair')} of runs in opposite order (Kendall's tau "
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
    """The runs ordered by AP, with their places by AP and bpref."""
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
    note = "No grade is negative, so no document was pooled but not judged, and infAP equals AP except for smoothing."
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
    """The pairs that AP and bpref order differently, most significant first."""
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
    """The interval clipped to [0, 1]."""
    return None if interval is None else (max(interval[0], 0.0), min(interval[1], 1.0))
