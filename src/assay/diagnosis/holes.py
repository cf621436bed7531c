"""Incomplete labels: unjudged documents that decide a comparison, and those to judge first."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.diagnosis.figures import mean_of, paired_p
from assay.diagnosis.material import Material, relevant_grade
from assay.diagnosis.model import Cell, Column, Evidence, Severity, Table
from assay.diagnosis.registry import ONLY_RELEVANT, CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Floats
from assay.words import plural

PERSISTENCE = 0.8  # of the reader in rank-biased weights
LISTED = 100  # holes to keep; a page shows fewer


@look(
    "DIA003",
    "labels",
    advice="Judge the documents listed here, since they can change the comparison. Until then call it open.",
)
def comparisons_that_holes_decide(material: Material) -> LookResult | CannotLook:
    """Comparisons that depend on unjudged documents.

    Why: a difference between two runs may be significant over queries and still depend on documents that nobody judged.

    Measured: each run against the baseline. Holes are given the labels that favour the baseline (relevant if it ranks
    them higher) and those that favour the run; the difference and the paired t test are computed again. Then each hole
    alone is taken as relevant, and the changes in the difference by the first measure are added up, largest first,
    until the sign changes.

    Limits: both labellings are extremes that are hardly ever true. By P and recall at k, a difference that keeps its
    sign under both is safe from these holes; by measures that divide by the number of relevant documents it is almost
    so. Effects of several holes on the same query do not add up exactly.
    """
    runs, k = material.runs, material.settings.k
    if len(runs.systems) < 2:
        return CannotLook("needs at least two RUNs")
    if runs.only_relevant:
        return ONLY_RELEVANT
    if not material.asked:
        return CannotLook("none of the requested measures rewards a good ranking")
    if not material.holes.any():
        return LookResult("fine", f"No run has an unjudged document in its first {k}.", "An exact count.")
    base = show_id(runs.systems[material.baseline])
    rows = _turned(material)
    turned = [row for row in rows if row.verdict in ("open", "can be reversed")]
    lost = [row for row in rows if row.verdict == "can be reversed"]
    words = (
        f"Depending on the labels of unjudged documents in the first {k}, {len(turned)} of {len(rows)} comparisons with "
        f"{base} can change sign; {len(lost)} can become significant in the opposite direction."
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
            test="paired t, not corrected; interval from the labels that favour either run",
            n=len(runs.queries),
        )
        for row in rows
    )
    sure = "Paired t tests over queries, not corrected; the two columns for holes are extremes, not intervals."
    return LookResult(severity, words, sure, evidence, (table, *_deciding(material)) if turned else (table,))


class TurnedRow(Struct, frozen=True):
    """One comparison under the given labels, and under the two labellings that favour either run."""

    measure: str
    run: str
    difference: float
    p: float
    for_baseline: float
    for_run: float
    verdict: str


def _turned(material: Material) -> list[TurnedRow]:
    """Rows by measure, then by run."""
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
    """The verdict, from the values for the given labels, those favouring the baseline, and those favouring the run."""
    against = 1 if means[0] > 0 else 2
    if means[0] == 0:
        return "equal"
    if means[against] * means[0] >= 0:
        return "stands"
    return "can be reversed" if ps[0] < alpha and ps[against] < alpha else "open"


def _deciding(material: Material) -> list[Table]:
    """For each run, the holes that would move its difference to the baseline most in the opposite direction."""
    runs, column = material.runs, material.asked[0]
    rows: list[tuple[Cell, ...]] = []
    for system in material.others:
        difference = material.values[system, :, column] - material.values[material.baseline, :, column]
        known = int(np.count_nonzero(~np.isnan(difference)))
        mean = mean_of(difference)
        effect = (material.hole_effects[system] - material.hole_effects[material.baseline]) / max(known, 1)
        against = np.round(-np.sign(mean) * effect, 12)  # rounded so that ties keep their order
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
            f"Holes that would reduce the difference by {runs.labels[column]} if relevant",
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
    advice="Judge these from the top, without seeing which run and rank they come from, and diagnose again.",
)
def holes_worth_judging(material: Material) -> LookResult | CannotLook:
    """Unjudged documents to judge first.

    Why: judging costs time. A document that many runs rank at the top changes their figures most.

    Measured: each unjudged document in the first k of a run is weighted by the sum over runs of (1 - p) p^(rank - 1)
    with p = 0.8, the weights of rank-biased precision (Moffat, Webber and Zobel 2007). In addition, the largest gain of
    any run by the first measure on that query if this document alone had the highest grade.

    Limits: the weight ignores how likely the document is to be relevant.
    """
    runs, k = material.runs, material.settings.k
    if not material.asked:
        return CannotLook("none of the requested measures rewards a good ranking")
    if not material.holes.any():
        return LookResult("fine", f"No run has an unjudged document in its first {k}.", "An exact count.")
    rank = runs.rank[:, material.hole_rows]
    weight = np.where(rank > 0, (1 - PERSISTENCE) * PERSISTENCE ** (np.maximum(rank, 1) - 1.0), 0.0).sum(axis=0)
    order = np.argsort(-weight, kind="stable")[:LISTED]
    share = float(weight[order].sum() / weight.sum())
    count = len(material.hole_rows)
    words = (
        f"{plural('{count} unjudged {document is|documents are}', count)} in the first {k} of a run. The "
        f"first {len(order)} of this list have {share:.0%} of the total weight."
    )
    evidence = (Evidence("unjudged documents at the top", float(count), n=len(runs.queries)),)
    table = _holes_table(material, order.tolist(), weight)
    return LookResult("note", words, "An exact count; the order is our choice.", evidence, (table,))


def _holes_table(material: Material, places: Sequence[int], weight: Floats) -> Table:
    """The table of these holes, with their texts if known."""
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
    note = "Give a corpus to see their texts." if corpus is None else ""
    return Table("", columns, tuple(rows), note=note, shown=10)


def _snippet(text: str | None, length: int = 120) -> str:
    words = " ".join((text or "").split())
    return words if len(words) <= length else words[: length - 3] + "..."
