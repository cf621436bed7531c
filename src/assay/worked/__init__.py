"""The values of ranked lists that are given by the grades of their results, how they are worked out, and what changes them.

lists      graded lists and their values              changes    moves, what each result adds, values by cutoff
formulas   the arithmetic of a value                  counts     lists from counts

Knows no files, no ids and no runs. All values come from the registered measures.
"""

from __future__ import annotations

from assay.worked.changes import (
    Move,
    Point,
    best_move,
    by_cutoff,
    gains_of_moves,
    interpolated,
    moved,
    moves_up,
    precision_recall,
    worth,
)
from assay.worked.counts import counted, first_relevant
from assay.worked.formulas import Line, mean_of, worked
from assay.worked.lists import GradedList, TopicList, Values, judged, measures_for, topic_values, values

__all__ = [
    "GradedList",
    "Line",
    "Move",
    "Point",
    "TopicList",
    "Values",
    "best_move",
    "by_cutoff",
    "counted",
    "first_relevant",
    "gains_of_moves",
    "interpolated",
    "judged",
    "mean_of",
    "measures_for",
    "moved",
    "moves_up",
    "precision_recall",
    "topic_values",
    "values",
    "worked",
    "worth",
]
