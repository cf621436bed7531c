"""For every form of a run and all rules, the kernel and NumPy find the same hits, bit for bit."""

from __future__ import annotations

import random
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules
from assay.rules import RULE_CHOICES
from native.inputs import (
    FORMS,
    Case,
    DripRun,
    Row,
    as_arrow,
    as_dict,
    as_table,
    as_text_file,
    cases,
    odd_texts,
    qrels_text,
    run_line,
    some_rules,
)
from native.paths import NEEDS_KERNEL, both_paths, hits, kernel_and_numpy

pytestmark = NEEDS_KERNEL


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same_hits")


# Every rule with every other


def every_rules(**fixed: Any) -> list[Rules]:
    """All combinations of rules."""
    choices = {**RULE_CHOICES, "undefined": ["zero"], "judges": ["error"], "depth": [None, 0, 1, 3], **fixed}
    combinations = (dict(zip(choices, chosen, strict=True)) for chosen in product(*choices.values()))
    return [
        Rules(**chosen)
        for chosen in combinations
        if chosen["depth"] is None or chosen["ties"] not in ("expected", "error")
    ]


def row(query: str, doc: str, score: str, rank: int) -> Row:
    return Row(query.encode(), doc.encode("utf-8", "surrogateescape"), score.encode(), rank)


# Ties, some only as 32-bit floats; ranks that contradict the scores; documents with the id of their query; q1 is missing
# from the run, and x is not judged.
WITHOUT_REPEATS = [
    *(row("q3", "a", "1", 4), row("q3", "q3", "1.0", 1), row("q3", "b", "1", 2), row("q3", "ab", "16777217", 6)),
    *(row("q3", "abc", "16777216", 3), row("q3", "\udcff", "1e39", 8), row("q3", "é", "2e39", 7)),
    *(row("x", "a", "1", 1), row("x", "b", "1", 1)),
    *(row("q2", "d1", "0.5", 3), row("q2", "d2", "0.5", 2), row("q2", "d3", "0.5", 2), row("q2", "q2", "0.5", 1)),
]
REPEATS = [row("q3", "a", "16777216", 2), row("q3", "b", "1", 1), row("q2", "d2", "0.25", 1), row("q2", "d1", "0.5", 9)]
GRADES = {
    "q1": {"a": 1},
    "q2": {"d2": 1, "d1": 2, "q2": 1, "d9": 0},
    "q3": {"a": 1, "b": 0, "é": 3, "\udcff": 1, "abc": 2, "ab": 1, "q3": 1},
}


def differing(run: Any, every: list[Rules]) -> list[Rules]:
    """The rules under which the two paths differ."""

    def differs(rules: Rules) -> bool:
        native, numpy = both_paths(lambda: hits(GRADES, run, rules))
        return bool(native != numpy)

    return list(filter(differs, every))


@pytest.mark.parametrize("rows", [WITHOUT_REPEATS, WITHOUT_REPEATS + REPEATS], ids=["once", "repeated"])
def test_every_combination_of_rules_on_text(folder: Path, rows: list[Row]) -> None:
    assert [] == differing(as_text_file(rows, folder), every_rules())


@pytest.mark.parametrize("form", [as_table, as_dict, as_arrow])
def test_every_combination_of_rules_that_rank(folder: Path, form: Any) -> None:
    run = form(WITHOUT_REPEATS + REPEATS, folder)

    assert [] == differing(run, every_rules(queries=["both"], depth=[None]))


# Random runs


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=80)
@given(case=cases(), rules=some_rules(), from_file=st.booleans())
def test_any_run_under_any_rules(folder: Path, form: str, case: Case, rules: Rules, from_file: bool) -> None:
    run, qrels = FORMS[form](case.rows, folder), folder / "any.qrels"
    qrels.write_bytes(qrels_text(case))

    native, numpy = both_paths(lambda: hits(qrels if from_file else case.qrels, run, rules))
    assert numpy == native


@settings(max_examples=150)
@given(data=st.data(), case=cases(), rules=some_rules())
def test_lines_of_any_shape(folder: Path, data: st.DataObject, case: Case, rules: Rules) -> None:
    path = folder / "odd.run"
    path.write_bytes(data.draw(odd_texts(case.rows)))

    native, numpy = both_paths(lambda: hits(case.qrels, path, rules))
    assert numpy == native


@settings(max_examples=150)
@given(data=st.data(), case=cases(), rules=some_rules())
def test_lines_that_come_in_pieces(data: st.DataObject, case: Case, rules: Rules) -> None:
    text = data.draw(odd_texts(case.rows))
    pieces = data.draw(st.lists(st.sampled_from([1, 2, 3, 30, 64, 65, 128, 200, 1000]), min_size=1, max_size=4))

    native, numpy = both_paths(lambda: hits(case.qrels, DripRun(text, pieces), rules))
    assert numpy == native


# Runs that the kernel must not leave to NumPy


@pytest.mark.parametrize("form", FORMS)
def test_plain_input_is_joined_by_the_kernel_alone(folder: Path, form: str) -> None:
    native, numpy = kernel_and_numpy(lambda: hits(GRADES, FORMS[form](WITHOUT_REPEATS, folder)))

    assert numpy == native


@pytest.mark.parametrize("form", [as_text_file, as_table, as_arrow])
@pytest.mark.parametrize(
    "rules",
    [
        Rules(duplicates="first", self_match="drop", scores="float32"),
        Rules(duplicates="best", ties="rank-column"),
        Rules(duplicates="best", order="rank", ties="doc-asc"),
        Rules(duplicates="first", ties="input", depth=2),
    ],
)
def test_rules_are_no_reason_to_leave_it_to_numpy(folder: Path, form: Any, rules: Rules) -> None:
    native, numpy = kernel_and_numpy(lambda: hits(GRADES, form(WITHOUT_REPEATS + REPEATS, folder), rules))

    assert numpy == native


LONG_RULES = [Rules(duplicates=name) for name in ("error", "first", "best")] + [  # type: ignore[arg-type]
    Rules(duplicates="best", scores="float32"),
    Rules(duplicates="first", self_match="drop"),
    Rules(duplicates="first", order="rank"),
    Rules(duplicates="best", ties="rank-column"),
]


@pytest.mark.parametrize("rules", LONG_RULES, ids=str)
@pytest.mark.parametrize("share", [0.0, 0.02, 0.3])
def test_rankings_longer_than_what_is_joined_at_once(folder: Path, rules: Rules, share: float) -> None:
    """64 documents are joined at once: duplicates, judged documents and changes of the query may be anywhere in them."""
    numbers = random.Random(7)
    rows = [
        row(query, f"d{numbers.randrange(place or 1) if numbers.random() < share else place}", str(score), place)
        for query, length in (("q3", 1), ("q1", 63), ("x", 70), ("q2", 64), ("q5", 65), ("q4", 500), ("q6", 3))
        for place, score in ((place, numbers.randrange(length)) for place in range(length))
    ]
    path = as_text_file(rows, folder)
    grades = {f"q{n}": {f"d{numbers.randrange(520)}": 1 for _ in range(n * n * n)} for n in range(1, 7)}

    native, numpy = both_paths(lambda: hits(grades, path, rules))
    assert numpy == native


@pytest.mark.parametrize("blank", [b" ", b"\t", b" \t ", b"\v\f"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b" \r\n"])
def test_lines_of_every_length_around_those_that_are_read_at_once(folder: Path, blank: bytes, end: bytes) -> None:
    """Lines of up to 64 and up to 128 bytes are read at once; here the last column is used and ends with the line."""
    rows = [row("q3", f"d{number}", str(number), number) for number in range(20, 400)]
    path = folder / "lengths.run"
    path.write_bytes(b"".join(run_line(row, blank=blank, end=end, length=row.rank) for row in rows))

    native, numpy = kernel_and_numpy(lambda: hits({"q3": {f"d{number}": 1 for number in range(400)}}, path))
    assert numpy == native
    assert 380 == len(native["hit_rank"][2])


@pytest.mark.parametrize("length", [62, 63, 64, 65, 126, 127, 128, 129, 4000])
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_last_column_may_end_anywhere(folder: Path, length: int, end: bytes) -> None:
    """In BEIR's three columns the number is the last: its end is the line's."""
    line = b"q " + b"d" * (length - 6 - len(end)) + b" 1.5" + end
    path = folder / "last.run"
    path.write_bytes(b"q a 1.25\nq b 1.75\n" + line)
    grades = {"q": {"d" * (length - 6 - len(end)): 1}}

    native, numpy = kernel_and_numpy(lambda: hits(grades, path, input_format="beir"))
    assert numpy == native
    assert [2] == native["hit_rank"][2]


@pytest.mark.parametrize("columns", [6, 7, 8, 12, 31, 32, 33, 80])
def test_any_number_of_columns_behind_the_six(folder: Path, columns: int) -> None:
    path = folder / "wide.run"
    more = b" x" * (columns - 6) + b"\n"
    path.write_bytes(b"".join(run_line(row).replace(b"\n", more) for row in WITHOUT_REPEATS))

    native, numpy = (kernel_and_numpy if columns < 32 else both_paths)(lambda: hits(GRADES, path))
    assert numpy == native
    assert "t" == native["tag"]
