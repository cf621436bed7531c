"""Lists made from counts, as calculators need them."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.measures import parse_measure
from assay.worked import GradedList, counted, first_relevant, values


def value(name: str, *lists: GradedList) -> float:
    return float(values(lists, [parse_measure(name)]).table.mean())


def test_precision_and_recall_from_counts():
    ranked = counted(hits=5, retrieved=8, relevant=10)

    assert 5 / 8 == value("P@8", ranked) == value("SetP", ranked)
    assert 5 / 10 == value("R@8", ranked) == value("SetR", ranked)


def test_no_results_and_no_relevant_documents_are_counts_too():
    assert GradedList(()) == counted(0, 0, 0)
    assert GradedList((0.0,), (1.0,)) == counted(0, 1, 1)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((6, 5, 9), "6 relevant results, but only 5 results in all. Lower `hits=` or raise `retrieved=`."),
        ((6, 9, 5), "6 relevant results, but only 5 relevant documents in all. Lower `hits=` or raise `relevant=`."),
        ((-1, 5, 9), "`hits=` cannot be -1; it must be a whole number from 0 to 10,000."),
        ((1, 10_001, 9), "`retrieved=` cannot be 10001; it must be a whole number from 0 to 10,000."),
        ((1, 9, 10_001), "`relevant=` cannot be 10001; it must be a whole number from 0 to 10,000."),
        ((1.5, 9, 9), "`hits=` cannot be 1.5; it must be a whole number from 0 to 10,000."),
        ((True, 9, 9), "`hits=` cannot be True; it must be a whole number from 0 to 10,000."),
    ],
)
def test_counts_that_contradict_one_another(counts, message):
    with pytest.raises(InputError) as error:
        counted(*counts)

    assert message == str(error.value)


@pytest.mark.parametrize(("ranks", "expected"), [((1, 3, 2), 0.6111), ((1, 3, 1), 0.7778), ((2, None), 0.25)])
def test_the_mean_reciprocal_rank_of_first_relevant_documents(ranks, expected):
    assert expected == pytest.approx(value("RR", *map(first_relevant, ranks)), abs=0.00005)


@pytest.mark.parametrize("rank", [0, -1, 10_001, 1.0])
def test_a_rank_is_a_whole_number_from_1(rank):
    with pytest.raises(InputError) as error:
        first_relevant(rank)

    assert f"`rank=` cannot be {rank!r}; it must be a whole number from 1 to 10,000." == str(error.value)
