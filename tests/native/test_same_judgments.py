"""The kernel and the Python readers read the same judgments: queries, documents, grades and their order."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.formats import unread
from assay.formats.unread import read_judgments
from assay.rules import RULE_CHOICES, Judges
from native.inputs import BLANKS, DOCS, LINE_ENDS, NO_DATA, QUERIES, DripOrigin
from native.paths import NEEDS_KERNEL, both_paths, by_numpy

pytestmark = NEEDS_KERNEL

GRADES = [
    *(b"0", b"1", b"2", b"-1", b"+1", b"1.", b".5", b"0.5", b"2.5", b"-2.5", b"-0.5", b"-0", b"-0.0", b"1e2", b"1E-2"),
    *(b"007", b"1.9999999999999999", b"4294967297", b"9007199254740993", b"1e308", b"1e-400", b"12345678.123456789"),
]
LINES = st.tuples(st.sampled_from(QUERIES), st.just(b"0"), st.sampled_from(DOCS), st.sampled_from(GRADES))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same_judgments")


def judgments(path: Path, **options: Any) -> dict[str, Any]:
    """The contents of judgments."""
    found = read_judgments(path, **options)
    return {
        "queries": found.queries,
        "docs": list(found.docs),
        "rel": found.rel,
        "pool": found.pool.grade,
        "start": found.pool.start,
        "top_grade": found.top_grade,
        "source": found.source,
    }


@st.composite
def texts(draw: st.DrawFn) -> bytes:
    repeats = draw(st.booleans())
    rows = draw(st.lists(LINES, min_size=1, max_size=25, unique_by=None if repeats else lambda row: (row[0], row[2])))
    if draw(st.booleans()):
        rows.sort(key=lambda row: row[0])
    columns = draw(st.sampled_from([(0, 1, 2, 3), (0, 2, 3)]))
    blanks, ends = (
        st.sampled_from(draw(st.lists(st.sampled_from(given), min_size=1, max_size=2))) for given in (BLANKS, LINE_ENDS)
    )
    between = st.one_of(st.just(b""), st.sampled_from(NO_DATA)) if draw(st.booleans()) else st.just(b"")
    lines = [draw(between) + draw(blanks).join(row[place] for place in columns) + draw(ends) for row in rows]
    return draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + b"".join(lines)


@settings(max_examples=150)
@given(text=texts(), whole_grades=st.booleans(), judges=st.sampled_from(RULE_CHOICES["judges"]))
def test_any_judgments(folder: Path, text: bytes, whole_grades: bool, judges: Judges) -> None:
    path = folder / "any.qrels"
    path.write_bytes(text)

    native, numpy = both_paths(lambda: judgments(path, whole_grades=whole_grades, judges=judges))
    assert numpy == native


@settings(max_examples=60)
@given(text=texts(), pieces=st.lists(st.integers(1, 100), min_size=1, max_size=3))
def test_judgments_that_come_in_pieces(folder: Path, text: bytes, pieces: list[int]) -> None:
    path = folder / "drip.qrels"
    path.write_bytes(text)
    origin = DripOrigin(text, pieces)
    origin.path = str(path)

    with patch.object(unread, "Origin", lambda _: origin):
        native, numpy = both_paths(lambda: judgments(path))
    assert numpy == native


@pytest.mark.parametrize("grade", GRADES)
@pytest.mark.parametrize("whole_grades", [False, True])
def test_every_form_of_a_grade(folder: Path, grade: bytes, whole_grades: bool) -> None:
    path = folder / "grade.qrels"
    path.write_bytes(b"q 0 a 1\nq 0 b " + grade + b"\nq 0 c 0\n")

    native, numpy = both_paths(lambda: judgments(path, whole_grades=whole_grades))
    assert numpy == native


def test_plain_judgments_are_read_by_the_kernel(folder: Path) -> None:
    path = folder / "plain.qrels"
    path.write_bytes(b"\xef\xbb\xbfq2\t0  a 1\r\n# comment\n\nq1 0 \xff -1.5")

    assert read_judgments(path).kept_index is not None
    assert by_numpy(lambda: read_judgments(path).kept_index) is None


@pytest.mark.parametrize(
    "grade", [b"x", b"", b"nan", b"1_0", b"0x1", b"1e999", b"1 2", b"\xd9\xa1", b"1\x001", b"1\r2"]
)
@pytest.mark.parametrize("whole_grades", [False, True])
def test_what_is_no_grade_is_refused_in_the_same_words(folder: Path, grade: bytes, whole_grades: bool) -> None:
    path = folder / "wrong.qrels"
    path.write_bytes(b"q 0 a 1\n# comment\nq 0 b " + grade + b"\nq 0 c 0\nq 0 d y\n")

    native, numpy = both_paths(lambda: judgments(path, whole_grades=whole_grades))
    assert numpy == native
    assert isinstance(native, tuple)


def test_many_queries_in_any_order(folder: Path) -> None:
    """More ids than the initial size of the id tables, not in sorted order."""
    path = folder / "many.qrels"
    numbers = [number * 7919 % 20011 for number in range(20011)]
    path.write_bytes(b"".join(b"q%d 0 d%d %d\n" % (number % 5003, number, number % 4) for number in numbers))

    native, numpy = both_paths(lambda: judgments(path))
    assert numpy == native
