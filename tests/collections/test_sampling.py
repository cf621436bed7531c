"""Judgments split into two parts: whole queries, similar parts, and the same on every machine."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.collections.sampling import sample_qrels, stratum_of
from assay.errors import InputError
from assay.formats import parse_qrels
from assay.tables import Qrels


def judged(*relevant: int) -> Qrels:
    """For each number, a query with that many relevant documents and one that is not relevant."""
    rows = [f"q{n} 0 d{m} {int(m > 0)}" for n, count in enumerate(relevant) for m in range(count + 1)]
    return parse_qrels("\n".join(rows))


def rows(qrels: Qrels) -> list[tuple[str, str, float]]:
    queries = [qrels.queries[code] for code in qrels.query.tolist()]
    return list(zip(queries, qrels.doc.tolist(), qrels.rel.tolist(), strict=True))


def test_each_stratum_gives_its_share() -> None:
    sample = sample_qrels(judged(*[1] * 10, *[3] * 20, *[9] * 5), share=0.2, seed=1)

    assert [(1, 1, 10, 2), (3, 4, 20, 4), (9, 16, 5, 1)] == [
        (one.fewest, one.most, one.queries, one.sampled) for one in sample.strata
    ]
    assert 7 == len(sample.sampled.queries)


def test_the_same_seed_gives_the_same_queries_everywhere() -> None:
    """The two of each stratum whose `printf "1\\0q4" | sha256sum` comes first: independent of Python and NumPy."""
    qrels = judged(*[1] * 6, *[2] * 6)

    assert ("q4", "q5", "q6", "q9") == sample_qrels(qrels, size=4, seed=1).sampled.queries
    assert sample_qrels(qrels, size=4, seed=1).sampled.queries != sample_qrels(qrels, size=4, seed=2).sampled.queries


def test_the_order_of_the_rows_does_not_matter_and_is_kept() -> None:
    lines = ["b 0 d1 1", "a 0 d2 1", "c 0 d1 0", "a 0 d1 2", "b 0 d3 0", "d 0 d1 1"]
    one, other = (sample_qrels(parse_qrels("\n".join(each)), size=2, seed=3) for each in (lines, lines[::-1]))

    assert one.sampled.queries == other.sampled.queries
    assert rows(one.sampled) == [row for row in rows(parse_qrels("\n".join(lines))) if row[0] in one.sampled.queries]


@given(st.lists(st.integers(0, 12), min_size=2, max_size=40), st.floats(0.01, 0.99), st.integers(-(2**40), 2**40))
def test_both_parts_are_the_whole(relevant: list[int], share: float, seed: int) -> None:
    qrels = judged(*relevant)
    try:
        sample = sample_qrels(qrels, share=share, seed=seed)
    except InputError:
        assert round(len(relevant) * share) in (0, len(relevant))
        return

    assert sorted(rows(qrels)) == sorted(rows(sample.sampled) + rows(sample.rest))
    assert not set(sample.sampled.queries) & set(sample.rest.queries)
    assert round(len(relevant) * share) == len(sample.sampled.queries)


@given(st.lists(st.integers(0, 12), min_size=2, max_size=40), st.integers(1, 39), st.integers(0, 9))
def test_no_stratum_is_off_its_share_by_a_whole_query(relevant: list[int], wanted: int, seed: int) -> None:
    if wanted >= len(relevant):
        return
    sample = sample_qrels(judged(*relevant), size=wanted, seed=seed)
    sizes = Counter(map(stratum_of, relevant))

    for one in sample.strata:
        assert sizes[one.fewest, one.most] == one.queries
        assert abs(one.sampled - one.queries * wanted / len(relevant)) < 1


def test_subtopics_and_lines_go_along() -> None:
    sample = sample_qrels(parse_qrels("1 a d1 1\n1 b d1 1\n2 a d2 1\n2 c d2 0\n"), size=1)

    assert [["a", "b"], ["a", "c"]] == sorted(part.iteration.tolist() for part in (sample.sampled, sample.rest))
    assert [1, 2, 3, 4] == sorted([*sample.sampled.lines, *sample.rest.lines])


def test_what_is_relevant_can_be_said() -> None:
    qrels = parse_qrels("1 0 d1 1\n2 0 d1 2\n3 0 d1 1\n4 0 d1 2\n")

    assert [(0, 2), (1, 2)] == [(one.fewest, one.queries) for one in sample_qrels(qrels, size=2, rel=2).strata]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "give either a share (`share=0.2`) or a number of queries (`size=50`) to sample."),
        ({"share": 0.5, "size": 1}, "give either a share"),
        ({"share": 1.5}, "the share cannot be 1.5; it takes a number between 0 and 1."),
        ({"share": 0.0}, "the share cannot be 0; it takes a number between 0 and 1."),
        ({"share": float("nan")}, "the share cannot be nan; it takes a number between 0 and 1."),
        (
            {"share": 0.5, "rel": float("nan")},
            "the lowest grade of a relevant document cannot be nan; it takes a finite number.",
        ),
        ({"share": 0.01}, "a sample of 0 of 3 queries leaves one part empty; each part needs a query."),
        ({"size": 3}, "a sample of 3 of 3 queries leaves one part empty; each part needs a query."),
    ],
)
def test_samples_that_are_none(options: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        sample_qrels(judged(1, 1, 1), **options)
    assert message in str(error.value)
