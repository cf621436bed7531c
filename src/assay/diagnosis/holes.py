"""Incomplete labels: unjudged documents that decide a comparison, and those worth judging first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.diagnosis.figures import mean_of, paired_p
from assay.diagnosis.material import Material, relevant_grade
from assay.diagnosis.model import Cell, Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Floats
from assay.words import plural

PERSISTENCE = 0.8  # of the reader in rank-biased weights
LISTED = 100  # holes that are kept; a page shows fewer


@look(
    "DIA003",
    "labels",
    advice="Judge the documents listed here: they are the ones that can turn the comparison. Until then call it open.",
)
def comparisons_that_holes_decide(material: Material) -> LookResult | CannotLook:
    """Comparisons that unjudged documents could turn.

    Why: a difference between two runs may be significant over queries and still hang on documents that nobody looked
    at.

    Measured: each run against the baseline. Holes are given the labels that favour the baseline (relevant where it
    ranks them higher) and those that favour the run; the difference and the paired t test are computed again. Then
    each hole by itself is taken for relevant, and what it does to the difference by the first measure is added up,
    the most telling first, until the sign turns.

    Limits: both labellings are extremes that are hardly ever true. A difference that keeps its sign under both is safe
    from these holes by P and recall at k; by measures that divide by what is relevant it is almost so. Effects of
    several holes on the same query do not quite add up.
    """
    runs, k = material.runs, material.settings.k
    if len(runs.systems) < 2:
        return CannotLook("comparing takes two RUNs or more")
    if not material.asked:
        return CannotLook("none of the measures asked for rewards a good ranking")
    if not material.holes.any():
        return LookResult("fine", f"No run has an unjudged document in its first {k}.", "A count, without chance.")
    base = show_id(runs.systems[material.baseline])
    rows = _turned(material)
    turned = [row for row in rows if row.verdict in ("open", "can be reversed")]
    lost = [row for row in rows if row.verdict == "can be reversed"]
    words = (
        f"Of {len(rows)} comparisons with {base}, {len(turned)} can change {'its' if len(turned) == 1 else 'their'} "
        f"sign with the "
        f"labels of unjudged documents in the first {k}; {len(lost)} can become significant the other way."
    )
    severity: Severity = "problem" if lost else "warning" if turned else "fine"
    table = Table(
        "",
        (
            Column("measure"),
            Column("run"),
            Column("difference", "signed"),
            Column("p", "p"),
            Column("if holes favour the baseline", "signed"),
            Column("if they favour the run", "signed"),
            Column("it"),
        ),
        tuple(map(astuple, rows)),
        shown=24,
    )
    evidence = tuple(
        Evidence(
            f"{row.measure}: {show_id(row.run)} - {base}",
            row.difference,
            (row.for_baseline, row.for_run),
            p=row.p,
            test="paired t, not corrected; the interval is what labels that favour either run give",
            n=len(runs.queries),
        )
        for row in rows
    )
    sure = "Paired t tests over queries, each on its own; the two columns of holes are extremes, not intervals."
    return LookResult(severity, words, sure, evidence, (table, *_deciding(material)) if turned else (table,))


class TurnedRow(Struct, frozen=True):
    """One comparison under the labels as they are, and under the two that favour one of the two runs."""

    measure: str
    run: str
    difference: float
    p: float
    for_baseline: float
    for_run: float
    verdict: str


def _turned(material: Material) -> list[TurnedRow]:
    """By measure, and within it by run."""
    runs, columns = material.runs, list(material.asked)
    depth = np.where(runs.rank > 0, runs.rank, np.iinfo(np.int64).max)
    found: dict[tuple[int, int], TurnedRow] = {}
    for system in material.others:
        labelled = [material.values[:, :, columns][[material.baseline, system]]]
        for better, worse in ((material.baseline, system), (system, material.baseline)):
            given = np.where(material.holes, 0.0, runs.pairs.grade)
            given[material.holes & (depth[better] < depth[worse])] = relevant_grade(runs)
            labelled.append(runs.values(given, runs=[material.baseline, system], columns=columns))
        for place, column in enumerate(columns):
            differences = [table[1, :, place] - table[0, :, place] for table in labelled]
            means = [mean_of(difference) for difference in differences]
            ps = [paired_p(difference) for difference in differences]
            verdict = _turned_verdict(means, ps, material.settings.alpha)
            names = runs.labels[column], runs.systems[system]
            found[column, system] = TurnedRow(*names, means[0], ps[0], min(means), max(means), verdict)
    return [found[column, system] for column in columns for system in material.others]


def _turned_verdict(means: Sequence[float], ps: Sequence[float], alpha: float) -> str:
    """In words, from the differences as they are, with labels for the baseline, and with labels for the run."""
    against = 1 if means[0] > 0 else 2
    if means[0] == 0:
        return "equal"
    if means[against] * means[0] >= 0:
        return "stands"
    return "can be reversed" if ps[0] < alpha and ps[against] < alpha else "open"


def _deciding(material: Material) -> list[Table]:
    """For each run, the holes that would move its difference to the baseline most, against the sign that it has."""
    runs, column = material.runs, material.asked[0]
    rows: list[tuple[Cell, ...]] = []
    for system in material.others:
        difference = material.values[system, :, column] - material.values[material.baseline, :, column]
        known = int(np.count_nonzero(~np.isnan(difference)))
        mean = mean_of(difference)
        effect = (material.hole_effects[system] - material.hole_effects[material.baseline]) / max(known, 1)
        against = np.round(-np.sign(mean) * effect, 12)  # equal effects are equal, and stay in order
        order = np.argsort(-against, kind="stable")
        order = order[against[order] > 0]
        reached = np.flatnonzero(np.cumsum(against[order]) > abs(mean) + 1e-9)
        if mean == 0 or not len(order):
            continue
        first = [_pair_name(material, int(material.hole_rows[row])) for row in order[:3]]
        enough = int(reached[0]) + 1 if len(reached) else None
        rows.append((runs.systems[system], mean, len(order), enough, "; ".join(first)))
    if not rows:
        return []
    return [
        Table(
            f"Holes that speak against the difference by {runs.labels[column]}, if relevant",
            (
                Column("run"),
                Column("difference", "signed"),
                Column("holes against it", "count"),
                Column("enough to turn it", "count"),
                Column("first to judge (query: document)"),
            ),
            tuple(rows),
        )
    ]


def _pair_name(material: Material, pair: int) -> str:
    pairs = material.runs.pairs
    return f"{show_id(material.runs.queries[pairs.query[pair]], 24)}: {show_id(str(pairs.doc[pair]), 32)}"


@look(
    "DIA006",
    "labels",
    advice="Judge these from the top, blind to the run and rank they come from, and diagnose again.",
)
def holes_worth_judging(material: Material) -> LookResult | CannotLook:
    """Unjudged documents worth judging first.

    Why: judging costs. A document that many runs put at the top moves their figures most.

    Measured: each unjudged document in the first k of a run is weighted by the sum over runs of (1 - p) p^(rank - 1)
    with p = 0.8, what a reader with the patience of rank-biased precision would see of it (Moffat, Webber and Zobel
    2007). Beside it, what the first measure of a run would gain at most on that query if this document alone had the
    highest grade.

    Limits: the weight does not ask how likely the document is to be relevant.
    """
    runs, k = material.runs, material.settings.k
    if not material.asked:
        return CannotLook("none of the measures asked for rewards a good ranking")
    if not material.holes.any():
        return LookResult("fine", f"No run has an unjudged document in its first {k}.", "A count, without chance.")
    rank = runs.rank[:, material.hole_rows]
    weight = np.where(rank > 0, (1 - PERSISTENCE) * PERSISTENCE ** (np.maximum(rank, 1) - 1.0), 0.0).sum(axis=0)
    order = np.argsort(-weight, kind="stable")[:LISTED]
    share = float(weight[order].sum() / weight.sum())
    count = len(material.hole_rows)
    words = (
        f"{plural('{count} unjudged {document stands|documents stand}', count)} in the first {k} of a run. The "
        f"first {len(order)} of this list hold {share:.0%} of the weight that runs give to all of them."
    )
    evidence = (Evidence("unjudged documents at the top", float(count), n=len(runs.queries)),)
    table = _holes_table(material, order.tolist(), weight)
    return LookResult("note", words, "A count, without chance; the order is a choice of ours.", evidence, (table,))


def _holes_table(material: Material, places: Sequence[int], weight: Floats) -> Table:
    """These of the holes, with their texts where they are known."""
    runs, k, corpus = material.runs, material.settings.k, material.corpus
    rows: list[tuple[Cell, ...]] = []
    for place in places:
        pair = int(material.hole_rows[place])
        doc, query = str(runs.pairs.doc[pair]), runs.queries[runs.pairs.query[pair]]
        seen = runs.rank[:, pair]
        shown = (
            query,
            doc,
            int(np.count_nonzero(seen)),
            int(np.count_nonzero((seen > 0) & (seen <= k))),
            int(seen[seen > 0].min()),
            float(weight[place]),
            float(material.hole_effects[:, place].max()),
        )
        rows.append(shown if corpus is None else (*shown, _snippet(corpus.get(doc))))
    columns = (
        Column("query"),
        Column("document"),
        Column("runs", "count"),
        Column(f"in top {k}", "count"),
        Column("best rank", "count"),
        Column("weight", "value"),
        Column(f"{runs.labels[material.asked[0]]} up to", "signed"),
        *(() if corpus is None else (Column("text", "passage"),)),
    )
    note = "With --corpus FILE their texts are shown." if corpus is None else ""
    return Table("", columns, tuple(rows), note=note, shown=10)


def _snippet(text: str | None, length: int = 120) -> str:
    words = " ".join((text or "").split())
    return words if len(words) <= length else words[: length - 3] + "..."
