"""One message for many bad rows."""

from __future__ import annotations

from collections.abc import Iterator

from assay.formats.problems import SHOWN, Problem, Problems
from reading.rows import refusal


def test_one_problem_is_one_line() -> None:
    problems = Problems("bm25.run")
    problems.add("score 'nan' is not a number (query 51, document D12)", "Remove the line.", line=1041)

    assert "bm25.run:1041: score 'nan' is not a number (query 51, document D12). Remove the line." == refusal(
        problems.refuse
    )


def test_the_advice_is_given_once_and_the_others_are_listed() -> None:
    problems = Problems("run")
    problems.add("first", "Advice.", line=1)
    problems.add("second", "Other advice.", line=7)
    problems.add("third, in a table without lines", "Advice.")

    assert "run:1: first. Advice.\n  line 7: second\n  third, in a table without lines" == refusal(problems.refuse)


def test_no_more_are_described_than_are_shown() -> None:
    described = []

    def found() -> Iterator[Problem]:
        for row in range(1_000_000):
            described.append(row)
            yield Problem(f"row {row} is bad", "Advice.")

    problems = Problems("run")
    problems.add("the first", "Advice.")
    problems.extend(found(), 1_000_000)
    message = refusal(problems.refuse).splitlines()

    assert SHOWN - 1 == len(described)
    assert ["run: the first. Advice.", "  row 0 is bad"] == message[:2]
    assert "  and 999,991 more" == message[-1]
