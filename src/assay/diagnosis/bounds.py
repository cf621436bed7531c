"""Incomplete labels: the range of each value that unjudged documents allow."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.diagnosis.labelled import LabelledRuns
from assay.diagnosis.material import Material, relevant_grade
from assay.diagnosis.model import Column, Evidence, Severity, Table
from assay.diagnosis.registry import ONLY_RELEVANT, CannotLook, LookResult, look
from assay.errors import show_id
from assay.measures import Measure
from assay.tables import Booleans, Floats
from assay.words import plural

WIDE = 0.1  # range that makes a figure doubtful
MOST_GRADES = 4  # with more, only the highest is tried

# Depend only on the grades of a run's own documents, and never decrease when one of them increases.
OWN_LABELS = {"P", "RR", "Success", "CG", "DCG", "ERR", "RBP", "SDCG", "SetP"}
# Depend only on which documents are relevant: for a given number, best if they come first, worst if last.
RELEVANCE = {"R", "SetR", "AP"}


@look(
    "DIA002",
    "labels",
    advice="Report the figure with its bounds, or judge holes (DIA006) until the bounds are close enough. Do not compare a "
    "figure with a wide range with one from another paper.",
)
def bounds_of_figures(material: Material) -> LookResult | CannotLook:
    """Range of each value that unjudged documents allow.

    Why: recall, AP and nDCG are divided by what is known to be relevant. If only the top documents of some systems were
    judged, recall looks better than it is; and a run whose own documents are unjudged looks worse than it is.

    Measured: unjudged documents in the first k of any run are given labels: none relevant (the usual value), all
    relevant, and for each query those that give the lowest and the highest value. For every number of holes and every
    grade that occurs, two labellings are tried: relevant are the holes that this run ranks highest, or those that it
    ranks lowest or does not retrieve.

    Limits: documents below the first k of every run, and those that no run found, count as not relevant. For P, RR,
    Success, ERR, RBP, DCG, R and AP, and for nDCG with binary judgments, no other labels give a lower or higher value
    ("bounds"). For other measures, including nDCG with several grades, the ends are the extremes of what was tried
    ("tried"). Adding relevant documents can lower recall, AP and nDCG: a value is not highest with all holes relevant.
    """
    runs, k = material.runs, material.settings.k
    if not material.asked:
        return CannotLook("none of the requested measures rewards a good ranking")
    if runs.only_relevant:
        return ONLY_RELEVANT
    holes = int(material.holes.sum())
    if not holes:
        words = f"No run has an unjudged document in its first {k}."
        return LookResult("fine", words, "An exact count.")
    columns = list(material.asked)
    rows = _bounds_rows(material, columns)
    widest = max(rows, key=lambda row: row.highest - row.lowest)
    concerned = int(np.count_nonzero(runs.count(material.holes)))
    words = (
        f"{plural('{count} unjudged {document is|documents are}', holes)} in the first {k} of a run, in "
        f"{concerned} of {len(runs.queries)} queries. "
        f"Depending on their labels, {widest.measure} of {show_id(widest.run)} is between {widest.lowest:.4f} and "
        f"{widest.highest:.4f}; with none of them relevant it is {widest.usual:.4f}."
    )
    table = Table(
        "",
        (
            Column("measure"),
            Column("run"),
            Column("none relevant", "value"),
            Column("all relevant", "value"),
            Column("lowest", "value"),
            Column("highest", "value"),
            Column("ends are"),
        ),
        tuple(map(astuple, rows)),
        note="bounds: no labels of these documents give a lower or higher value. tried: the extremes of the labels tried.",
        shown=24,
    )
    evidence = tuple(
        Evidence(f"{row.measure} of {show_id(row.run)}", row.usual, (row.lowest, row.highest), n=len(runs.queries))
        for row in rows
    )
    sure = (
        "Bounds, not confidence intervals: uncertainty from unknown labels, on top of that from the choice of queries."
    )
    severity: Severity = "warning" if widest.highest - widest.lowest >= WIDE else "note"
    return LookResult(severity, words, sure, evidence, (table,))


class BoundsRow(Struct, frozen=True):
    """The range of one value that unjudged documents allow."""

    measure: str
    run: str
    usual: float  # with none of them relevant
    all_relevant: float
    lowest: float
    highest: float
    ends: str


def _bounds_rows(material: Material, columns: Sequence[int]) -> list[BoundsRow]:
    """Rows by measure, then by run."""
    runs = material.runs
    every = np.where(material.holes, relevant_grade(runs), runs.pairs.grade)
    usual = runs.means(material.values)[:, columns]
    all_relevant = runs.means(runs.values(every, columns=columns), columns)
    ends = [bounds(runs, number, material.holes, columns) for number in range(len(runs.systems))]
    return [
        BoundsRow(
            runs.labels[column],
            system,
            float(usual[number, place]),
            float(all_relevant[number, place]),
            material.mean(ends[number][0][:, place], column),
            material.mean(ends[number][1][:, place], column),
            "bounds" if is_bound(runs.plans[column].measure, runs) else "tried",
        )
        for place, column in enumerate(columns)
        for number, system in enumerate(runs.systems)
    ]


def is_bound(measure: Measure, runs: LabelledRuns) -> bool:
    """Whether no labels of the holes give a lower or higher value than `bounds` finds."""
    if dict(measure.params).get("judged_only"):
        return False
    grades = runs.pairs.grade[runs.pairs.grade > 0]
    yes_or_no = not len(grades) or bool(grades.min() == grades.max())
    return measure.name in OWN_LABELS | RELEVANCE or (measure.name == "nDCG" and yes_or_no)


def bounds(runs: LabelledRuns, number: int, holes: Booleans, columns: Sequence[int]) -> tuple[Floats, Floats]:
    """The lowest and highest value of one run on each query over labels of the holes: two tables (queries, measures).

    For a given number of relevant holes, those ranked highest are best for the run, and those ranked lowest or not
    retrieved are worst. So for each query the first few holes are relevant, or all except these.
    """
    rows = np.flatnonzero(holes)
    rank = np.where(runs.rank[number, rows] > 0, runs.rank[number, rows], np.iinfo(np.int64).max)
    query = runs.pairs.query[rows]
    order = np.lexsort((rank, query))
    nth = np.empty(len(rows), np.int64)
    nth[order] = np.arange(len(rows)) - np.searchsorted(query, query)  # position among the holes of its query
    own = nth[runs.rank[number, rows] > 0]
    grades = np.unique(runs.pairs.grade[runs.pairs.grade > 0])
    low = high = runs.usual[number][:, columns]
    for first in range(int(own.max(initial=-1)) + 2):  # holes that the run did not retrieve change together
        for grade in grades if 0 < len(grades) <= MOST_GRADES else (relevant_grade(runs),):
            for relevant in (nth < first, nth >= first):
                given = runs.pairs.grade.copy()
                given[rows] = np.where(relevant, grade, 0.0)
                found = runs.values(given, runs=[number], columns=columns)[0]
                low, high = np.fmin(low, found), np.fmax(high, found)
    return low, high
