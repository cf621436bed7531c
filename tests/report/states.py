"""Random states of the pages of the workbench, and what the library says about their lists when the documents have ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from urllib.parse import parse_qs, urlsplit

from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

import assay
from assay.report.evaluator import EvaluatorState
from assay.report.learning import LearnState
from assay.report.learning.state import FIELDS

GRADE = st.sampled_from([-60, -2, -1, 0, 0.5, 1, 1.25, 2, 3, 4, 60, 1e-7])
RESULTS = st.lists(st.none() | GRADE, max_size=12).map(tuple)
MISSED = st.lists(GRADE, max_size=4).map(tuple)
WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
NAMES = st.lists(WORDS, max_size=6).filter(lambda names: not names or names[-1]).map(tuple)  # none is empty at the end

EVALUATED = st.builds(
    EvaluatorState,
    grades=RESULTS,
    name=NAMES,
    other=st.just(()) | RESULTS,
    other_name=NAMES,
    k=st.integers(1, 15) | st.just(1000),
    relevant=st.none() | st.integers(0, 20),
    missed=MISSED,
    gain=st.sampled_from(["linear", "exp"]),
    rel=st.sampled_from([0.001, 0.5, 1, 1.5, 2, 60]),
    move=st.none() | st.integers(2, 14),
    title=WORDS,
)


def _counts(hits: int, wrong: int, missed: int) -> dict[str, int]:
    return {"hits": hits, "retrieved": hits + wrong, "relevant": hits + missed}


COUNTS = st.builds(_counts, st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
CUTOFF = st.integers(1, 15) | st.just(1000)
KEYS = {field.name: st.sampled_from(field.kind.choices) for field in FIELDS if hasattr(field.kind, "choices")}
LEARNED = st.builds(
    lambda counts, **others: LearnState(**counts, **others),
    COUNTS,
    query=NAMES,
    ranks=st.lists(st.none() | st.integers(1, 30), max_size=6).map(tuple),
    at=CUTOFF,
    lists=st.lists(st.text("RN", max_size=10), min_size=1, max_size=5).map(tuple),
    totals=st.lists(st.integers(0, 12), max_size=5).map(tuple),
    depth=CUTOFF,
    grades=RESULTS,
    missed=MISSED,
    k=CUTOFF,
    seen=CUTOFF,
    **KEYS,
)


def fields_in(address: str) -> dict[str, list[str]]:
    """The fields of an address, as a server reads them."""
    return parse_qs(urlsplit(address).query, keep_blank_values=True)


Judged = tuple[list[str], dict[str, float]]  # ids of a list, and the grades of ids


def with_ids(
    *lists: Sequence[float | None],
    missed: Iterable[float] = (),
    fill: float = 1,
    relevant: int = 0,
    names: Sequence[Sequence[str]] = ((), ()),
) -> list[Judged]:
    """Lists for one query with ids. As many results as possible of the same grade are the same document in both lists.

    Results with different names are not. `missed` are grades of other documents. As many documents of grade `fill` are
    added as it takes to have `relevant` ones.
    """
    named = [
        list(zip_longest(ranked, each[: len(ranked)], fillvalue="")) for ranked, each in zip(lists, names, strict=False)
    ]
    rankings = [[f"{place} of list {number}" for place, _ in enumerate(ranked)] for number, ranked in enumerate(lists)]
    if len(lists) > 1 and all(lists):
        can_be_same = [
            [one is not None and one == two and (not name or not other or name == other) for one, name in named[0]]
            for two, other in named[1]
        ]
        found = maximum_bipartite_matching(csr_array(can_be_same), perm_type="column")
        rankings[1] = [
            doc if place < 0 else rankings[0][place] for doc, place in zip(rankings[1], found.tolist(), strict=True)
        ]
    judged = [pair for ranked, ids in zip(lists, rankings, strict=True) for pair in zip(ids, ranked, strict=True)]
    grades = {doc: grade for doc, grade in judged if grade is not None}
    grades |= {f"missed, number {number}": grade for number, grade in enumerate(missed)}
    known = sum(grade >= fill for grade in grades.values())
    grades |= {f"filled in, number {number}": fill for number in range(known, relevant)}
    return [(ranking, grades) for ranking in rankings]


def evaluated_with_ids(state: EvaluatorState) -> list[Judged]:
    """The lists of the evaluator."""
    lists = [state.grades, state.other] if state.other else [state.grades]
    return with_ids(
        *lists, missed=state.missed, fill=state.rel, relevant=state.relevant or 0, names=(state.name, state.other_name)
    )


def scored(judged: Judged, measures: Iterable[object]) -> dict[str, float]:
    """What the library gives for a list."""
    return dict(assay.score(*judged, list(measures)))


def mean(judged: Sequence[Judged], measures: Iterable[str]) -> Mapping[str, float]:
    """What the library gives for several queries."""
    return assay.score_many([ranking for ranking, _ in judged], [grades for _, grades in judged], list(measures)).mean()
