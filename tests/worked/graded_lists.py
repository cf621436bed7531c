"""Random graded lists, small enough to check by hand: unjudged results, negative grades, fractions, missed documents."""

from __future__ import annotations

from hypothesis import strategies as st

import assay
from assay.worked import GradedList

GRADES = st.sampled_from([-2, -1, 0, 0.5, 1, 1.25, 2, 3, 4])
RESULTS = st.lists(st.none() | GRADES, max_size=14).map(tuple)
MISSED = st.lists(GRADES, max_size=5).map(tuple)
GRADED = st.builds(GradedList, RESULTS, MISSED)
SEVERAL = st.lists(GRADED, min_size=1, max_size=5)


def scored(ranked: GradedList, measures) -> list[float]:
    """What assay.score gives for the list, with ids."""
    ids = [f"result {rank}" for rank in range(len(ranked))]
    grades = {doc: grade for doc, grade in zip(ids, ranked.grades, strict=True) if grade is not None}
    grades |= {f"missed {number}": grade for number, grade in enumerate(ranked.missed)}
    return list(assay.score(ids, grades, measures).values())
