"""Incomplete labels: how far each figure could be from what full judgments would give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.diagnosis.labelled import LabelledRuns
from assay.diagnosis.material import Material, relevant_grade
from assay.diagnosis.model import Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.measures import Measure
from assay.tables import Booleans, Floats
from assay.words import plural

WIDE = 0.1  # distance of two bounds that leaves a figure open
MOST_GRADES = 4  # beyond so many only the highest is tried

# Depend on the grades of a run's own documents alone, and never fall when one of them rises.
OWN_LABELS = {"P", "RR", "Success", "CG", "DCG", "ERR", "RBP", "SDCG", "SetP"}
# Depend on which documents are relevant: of equally many, none count for more than the first and less than the last.
RELEVANCE = {"R", "SetR", "AP"}


@look(
    "DIA002",
    "labels",
    advice="Quote the figure with its bounds, or judge holes (DIA006) until the bounds are close enough. A single "
    "figure "
    "out of a wide range should not be compared with one of another paper.",
)
def bounds_of_figures(material: Material) -> LookResult | CannotLook:
    """How far each figure could be from what full judgments would give.

    Why: recall, AP and nDCG are divided by what is known to be relevant. If only the top documents of some systems were
    judged, recall looks better than it is; and a run whose own documents are unjudged looks worse than it is.

    Measured: unjudged documents in the first k of any run are given labels: none relevant (the usual figure), all
    relevant, and query by query what makes the figure lowest and highest. Tried are, for every number of holes and
    every grade that occurs: the holes that this run ranks highest relevant and no others; and those that it ranks
    lowest or lacks.

    Limits: documents below the first k of every run, and those that no run found, are taken for not relevant. For P,
    RR, Success, ERR, RBP, DCG, R and AP, and for nDCG with yes-or-no judgments, no other labels give less or more
    ("bounds"). For other measures, nDCG with several grades among them, the ends are those of all that was tried
    ("tried"). Adding relevant documents can lower recall, AP and nDCG: with all holes relevant a figure is not at its
    highest.
    """
    runs, k = material.runs, material.settings.k
    if not material.asked:
        return CannotLook("none of the measures asked for rewards a good ranking")
    holes = int(material.holes.sum())
    if not holes:
        words = f"No run has an unjudged document in its first {k}: the figures have no holes there."
        return LookResult("fine", words, "A count, without chance.")
    columns = list(material.asked)
    rows = _bounds_rows(material, columns)
    widest = max(rows, key=lambda row: row.highest - row.lowest)
    concerned = int(np.count_nonzero(runs.count(material.holes)))
    words = (
        f"{plural('{count} unjudged {document stands|documents stand}', holes)} in the first {k} of a run, in "
        f"{concerned} of {len(runs.queries)} queries. "
        f"Depending on them, {widest.measure} of {show_id(widest.run)} lies between {widest.lowest:.4f} and "
        f"{widest.highest:.4f}; with all taken for not relevant it is {widest.usual:.4f}."
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
        note="bounds: no labels of these documents give less or more. tried: the ends of all labels that were tried.",
        shown=24,
    )
    evidence = tuple(
        Evidence(f"{row.measure} of {show_id(row.run)}", row.usual, (row.lowest, row.highest), n=len(runs.queries))
        for row in rows
    )
    sure = (
        "Bounds, not intervals: they say what unknown labels leave open, on top of the chance in the choice of queries."
    )
    severity: Severity = "warning" if widest.highest - widest.lowest >= WIDE else "note"
    return LookResult(severity, words, sure, evidence, (table,))


class BoundsRow(Struct, frozen=True):
    """What unjudged documents leave open of one figure."""

    measure: str
    run: str
    usual: float  # with none of them relevant
    all_relevant: float
    lowest: float
    highest: float
    ends: str


def _bounds_rows(material: Material, columns: Sequence[int]) -> list[BoundsRow]:
    """By measure, and within it by run."""
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
    """Whether no labels of the holes give less or more than `bounds` finds."""
    if dict(measure.params).get("judged_only"):
        return False
    grades = runs.pairs.grade[runs.pairs.grade > 0]
    yes_or_no = not len(grades) or bool(grades.min() == grades.max())
    return measure.name in OWN_LABELS | RELEVANCE or (measure.name == "nDCG" and yes_or_no)


def bounds(runs: LabelledRuns, number: int, holes: Booleans, columns: Sequence[int]) -> tuple[Floats, Floats]:
    """The lowest and highest value of one run for each query over labels of the holes: two tables (queries, measures).

    Of equally many relevant holes it is best for the run if they are those that it ranks highest, and worst if they are
    those that it ranks lowest or lacks. So of each query the first few holes are relevant, or all but these.
    """
    rows = np.flatnonzero(holes)
    rank = np.where(runs.rank[number, rows] > 0, runs.rank[number, rows], np.iinfo(np.int64).max)
    query = runs.pairs.query[rows]
    order = np.lexsort((rank, query))
    nth = np.empty(len(rows), np.int64)
    nth[order] = np.arange(len(rows)) - np.searchsorted(query, query)  # the place of each among those of its query
    own = nth[runs.rank[number, rows] > 0]
    grades = np.unique(runs.pairs.grade[runs.pairs.grade > 0])
    low = high = runs.usual[number][:, columns]
    for first in range(int(own.max(initial=-1)) + 2):  # those that the run lacks change sides together
        for grade in grades if 0 < len(grades) <= MOST_GRADES else (relevant_grade(runs),):
            for relevant in (nth < first, nth >= first):
                given = runs.pairs.grade.copy()
                given[rows] = np.where(relevant, grade, 0.0)
                found = runs.values(given, runs=[number], columns=columns)[0]
                low, high = np.fmin(low, found), np.fmax(high, found)
    return low, high
