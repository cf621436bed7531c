"""Repairs: unambiguous problems are fixed and reported, ambiguous ones are left unchanged."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import evaluate, validate_qrels, validate_run
from assay.errors import AssayError, InputError
from assay.formats.readings import Reading
from assay.validation.fixing import fix_qrels, fix_run
from validation.cases import GOOD_QRELS, GOOD_RUN, QRELS_CASES, RUN_CASES


@pytest.fixture
def fixed(tmp_path: Path):
    """The repaired text, and the number of lines per repair."""

    def fix(content: bytes | str, repair=fix_run) -> tuple[str, dict[str, int]]:
        source, target = tmp_path / "old", tmp_path / "new"
        source.write_bytes(content if isinstance(content, bytes) else content.encode())
        repairs = repair(source, target)
        return target.read_bytes().decode("utf-8", "surrogateescape"), {r.what: r.count for r in repairs.made}

    return fix


def test_a_good_run_stays_as_it_is(fixed) -> None:
    assert (GOOD_RUN, {}) == fixed(GOOD_RUN)
    assert (GOOD_RUN.replace("\n", "\r\n"), {}) == fixed(GOOD_RUN.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    ("content", "what", "count"),
    [
        (GOOD_RUN.encode("utf-16"), "UTF-16 converted to UTF-8", 1),
        (b"\xef\xbb\xbf" + GOOD_RUN.encode(), "byte order mark removed", 1),
        (GOOD_RUN.replace("\n", "\r").encode(), "carriage returns converted to line feeds", 1),
        (GOOD_RUN.replace("\n", " \n").encode(), "whitespace around lines removed", 5),
        (GOOD_RUN.replace("\n", "\n\n").encode(), "blank lines removed", 5),
        (GOOD_RUN.rstrip("\n").encode(), "line end added to the last line", 1),
        (b"qid iter docno rank score tag\n" + GOOD_RUN.encode(), "header line removed", 1),
        (GOOD_RUN.replace("9.5", "٩.٥").encode(), "non-ASCII digits converted", 1),
        ((GOOD_RUN + "2 Q0 e 3 3.0 x\n").encode(), "duplicate rows removed", 1),
        (
            GOOD_RUN.replace("d 1 4", "d 0 4").replace("e 2 3", "e 1 3").encode(),
            "ranks renumbered 1, 2, 3",
            2,
        ),
        (GOOD_RUN.replace("c 3", "c 7").encode(), "ranks renumbered 1, 2, 3", 1),
        (GOOD_RUN.replace("b 2", "b 1").encode(), "ranks renumbered 1, 2, 3", 1),
    ],
)
def test_what_has_one_reading_is_repaired(fixed, content: bytes, what: str, count: int) -> None:
    assert (GOOD_RUN, {what: count}) == fixed(content)


@pytest.mark.parametrize(
    "line",
    [
        "3 Q0 a 1\n",  # which column is missing?
        "3 Q0 a 1 nan x\n",
        "3 Q0 a 1 9,5 x\n",  # nine and a half, or ninety-five?
        "3 Q0 a 1 1_000 x\n",
        "3 Q0 a 1 0x10 x\n",
        "3 Q0 a 1 2.0 x\n3 Q0 a 2 1.0 x\n",  # which score?
        "3 Q0 a 1 1.0 x\n3 Q0 b 2 2.0 x\n",  # by rank, or by score?
        "3\tQ0\tdoc 1\t1\t2.0\tx\n",
    ],
)
def test_what_has_two_readings_is_left(fixed, line: str) -> None:
    assert (GOOD_RUN + line, {}) == fixed(GOOD_RUN + line)


def test_ranks_of_a_query_in_two_parts_are_ranks_of_one_query(fixed) -> None:
    text = "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n1 Q0 b 2 8 x\n"

    assert (text, {}) == fixed(text)
    assert (text, {"ranks renumbered 1, 2, 3": 1}) == fixed(text.replace("b 2", "b 7"))
    assert (text, {"duplicate rows removed": 1}) == fixed(text + "1 Q0 a 3 9 x\n")


def test_a_row_does_not_become_a_comment(fixed) -> None:
    assert (" #1 Q0 a 1 9 x\n", {"whitespace around lines removed": 1}) == fixed(" #1 Q0 a 1 9 x \n")


def test_comments_stay(fixed) -> None:
    assert ("# ir_metadata\n" + GOOD_RUN, {}) == fixed("# ir_metadata\n" + GOOD_RUN)


def test_the_blanks_between_columns_stay(fixed) -> None:
    assert "1\tQ0  a\t1   2.0 x\n" == fixed("1\tQ0  a\t7   2.0 x \n")[0]


def test_a_number_is_put_into_its_own_column(fixed) -> None:
    """The rank 7 is also the id and the score."""
    assert "7 Q0 7 1 7 7\n" == fixed("7 Q0 7 9 7 7\n")[0]


def test_repeated_judgments_are_left_as_two_judges_may_agree(fixed) -> None:
    assert (GOOD_QRELS + "1 0 a 1\n", {}) == fixed(GOOD_QRELS + "1 0 a 1\n", fix_qrels)
    assert (GOOD_QRELS + "1 0 a 0\n", {}) == fixed(GOOD_QRELS + "1 0 a 0\n", fix_qrels)


def test_the_file_itself_is_not_replaced(tmp_path: Path) -> None:
    source = tmp_path / "a.run"
    source.write_text(GOOD_RUN + "\n")

    with pytest.raises(InputError, match="the repaired copy would overwrite the original"):
        fix_run(source, source)
    assert GOOD_RUN + "\n" == source.read_text()


def test_what_is_no_text_in_columns_is_not_repaired(tmp_path: Path) -> None:
    source = tmp_path / "a.json"
    source.write_text('{"1": {"a": 1.0}}')

    with pytest.raises(InputError, match="only text in columns can be repaired, and this is json"):
        fix_run(source, tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("content", [case[1] for case in RUN_CASES if case[0] not in {"RUN001"}])
def test_no_repair_makes_it_worse(tmp_path: Path, content: bytes) -> None:
    """No new errors, and a valid run keeps its value."""
    source, target = tmp_path / "a.run", tmp_path / "b.run"
    source.write_bytes(content)
    fix_run(source, target)
    before, after = validate_run(source), validate_run(target)

    assert {f.code for f in after.findings if f.severity == "error"} <= {f.code for f in before.findings}
    if before.valid:
        assert value(source) == value(target)
    assert [] == [r.what for r in fix_run(target, tmp_path / "c.run").made]  # a second repair finds nothing


def value(run: Path) -> float | None:
    try:
        return evaluate({"1": {"a": 1}, "2": {"e": 1}, "3": {"a": 1}}, run, ["RR"]).mean()["RR"]
    except AssayError:
        return None


@pytest.mark.parametrize("content", [case[1] for case in QRELS_CASES if case[0] not in {"QRL001"}])
def test_no_repair_of_judgments_makes_them_worse(tmp_path: Path, content: bytes) -> None:
    source, target = tmp_path / "a.qrels", tmp_path / "b.qrels"
    source.write_bytes(content)
    fix_qrels(source, target)

    errors = {f.code for f in validate_qrels(target).findings if f.severity == "error"}
    assert errors <= {f.code for f in validate_qrels(source).findings}


@given(st.lists(st.integers(0, 9), min_size=1, max_size=6), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_new_ranks_say_the_order_of_old_ranks_and_scores(tmp_path_factory, ranks: list[int], scores: list[int]) -> None:
    folder = tmp_path_factory.getbasetemp()
    rows = list(zip(ranks, scores, strict=False))
    (folder / "ranks.run").write_text("".join(f"1 Q0 d{n} {r} {s} x\n" for n, (r, s) in enumerate(rows)))
    fix_run(folder / "ranks.run", folder / "fixed.run")
    new = [int(line.split()[3]) for line in (folder / "fixed.run").read_text().splitlines()]

    if any(a[0] < b[0] and a[1] < b[1] for a in rows for b in rows):
        assert ranks[: len(rows)] == new
    else:
        in_new_order = [score for _, score in sorted(zip(new, (score for _, score in rows), strict=True))]
        assert list(range(1, len(rows) + 1)) == sorted(new)
        assert sorted(in_new_order, reverse=True) == in_new_order


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("qid Q0 docno score rank tag\nq1 Q0 a 9 1 x\nq1 Q0 b 8 2 x\n", fix_run),
        ("query_id doc_id score\nq1 a 2.0\nq1 b 1.0\n", fix_run),
        ("docno iter qid rel\nd1 0 q1 1\nd2 0 q1 -1\n", fix_qrels),
    ],
    ids=["score before rank", "three columns", "document first"],
)
def test_columns_in_another_order_are_not_repaired_by_position(tmp_path: Path, text: str, fix) -> None:
    (tmp_path / "old").write_text(text)

    with pytest.raises(InputError, match="the header names other columns than"):
        fix(tmp_path / "old", tmp_path / "new")
    assert not (tmp_path / "new").exists()


def test_columns_that_the_user_named_count_as_well(tmp_path: Path) -> None:
    (tmp_path / "old").write_text("term Q0 sku position s tag\nq1 Q0 a 2 9.0 x\nq1 Q0 b 1 2.0 x\n")
    reading = Reading(columns={"query": "term", "doc": "sku", "score": "position"})

    with pytest.raises(InputError, match="the header names other columns than"):
        fix_run(tmp_path / "old", tmp_path / "new", policies={"cut": 1}, reading=reading)
