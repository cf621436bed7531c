"""The order of a run under the rules, by hand."""

from __future__ import annotations

import pytest

from assay import Rules, parse_run
from assay.ranking import ranked_documents, ranks_of

RUN = "q Q0 a 3 9 t\nq Q0 b 1 8 t\nq Q0 c 2 8 t\n"  # the ranks contradict the scores; b and c are tied


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        ({}, "a c b"),
        ({"ties": "doc-asc"}, "a b c"),
        ({"ties": "input"}, "a b c"),
        ({"ties": "rank-column"}, "a b c"),
        ({"order": "rank"}, "b c a"),
        ({"order": "rank", "depth": 2}, "b c"),
    ],
)
def test_the_order(rules, expected):
    assert {"q": expected.split()} == ranked_documents(parse_run(RUN), Rules(**rules))


# a comes three times: in the middle, last and first of the ranking; in the file, the middle one comes first.
REPEATED = "q Q0 a 2 5 t\nq Q0 b 3 4 t\nq Q0 a 4 3 t\nq Q0 c 5 6 t\nq Q0 a 1 7 t\n"


@pytest.mark.parametrize(("duplicates", "expected"), [("best", "a c b"), ("first", "c a b")])
def test_of_a_repeated_document_one_stays(duplicates, expected):
    assert {"q": expected.split()} == ranked_documents(parse_run(REPEATED), Rules(duplicates=duplicates))


def test_the_ranks_of_rows():
    """By score, then by document id, descending; each query starts at 1."""
    run = parse_run("q Q0 a 1 5 t\nq Q0 c 1 5 t\nq Q0 b 1 9 t\np Q0 a 1 1 t\n")

    assert [3, 2, 1, 1] == ranks_of(run).tolist()
