"""Counts with singular or plural nouns, and p values."""

from __future__ import annotations

import pytest

from assay.words import noun_for, number_of, plural, show_p


@pytest.mark.parametrize(
    ("count", "words"),
    [(0, "0 queries are left out"), (1, "1 query is left out"), (2, "2 queries are left out"), (6980, "6,980 queries are left out")],
)  # fmt: skip
def test_nouns_and_verbs_follow_the_count(count, words):
    assert words == plural("{count} {query is|queries are} left out", count)
    assert words == f"{number_of(count, 'query')} {plural('{is|are}', count)} left out"


def test_a_message_without_choices_stays():
    assert "nothing to choose" == plural("nothing to choose", 3)
    assert ("run", "runs") == (noun_for(1, "run"), noun_for(0, "run"))


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "<0.0001"), (0.00009999, "<0.0001"), (0.0001, "0.0001"), (0.04999, "0.0500"), (1.0, "1.0000")]
)  # fmt: skip
def test_p_values(value, text):
    assert text == show_p(value)
