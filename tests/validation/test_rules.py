"""Every rule finds its problem on the right line, and nothing in a good file."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import validate_qrels, validate_run
from assay.errors import AssayError, InputError
from assay.formats import read_qrels, read_run
from assay.validation.registry import RULES, all_rules, find_rule, rule
from validation.cases import ELSEWHERE, GOOD_QRELS, GOOD_RUN, QRELS_CASES, RUN_CASES


def written(folder: Path, name: str, content: bytes | str) -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize(("code", "content", "line", "count"), RUN_CASES)
def test_a_run_that_breaks_a_rule(tmp_path: Path, code: str, content: bytes, line: int | None, count: int) -> None:
    found = {f.code: f for f in validate_run(written(tmp_path, "a.run", content)).findings}

    assert code in found
    assert (line, count) == (found[code].line, found[code].count)
    assert RULES[code].severity == found[code].severity


@pytest.mark.parametrize(("code", "content", "line", "count"), QRELS_CASES)
def test_judgments_that_break_a_rule(tmp_path: Path, code: str, content: bytes, line: int | None, count: int) -> None:
    found = {f.code: f for f in validate_qrels(written(tmp_path, "a.qrels", content)).findings}

    assert code in found
    assert (line, count) == (found[code].line, found[code].count)
    assert RULES[code].severity == found[code].severity


def test_every_rule_has_a_case() -> None:
    cases = {case[0] for case in RUN_CASES + QRELS_CASES} | ELSEWHERE

    assert cases == {rule.code for rule in all_rules() if rule.kind != "collection"}  # tested in tests/collections


@pytest.mark.parametrize("content", [content for _, content, _, _ in RUN_CASES])
def test_a_run_is_valid_just_if_it_can_be_read(tmp_path: Path, content: bytes) -> None:
    """Validation reports an error exactly if evaluation rejects the file."""
    path = written(tmp_path, "a.run", content)
    valid = validate_run(path).valid
    try:
        run = read_run(path)
        pairs = list(zip(run.query.tolist(), run.doc.tolist(), strict=True))
        readable = len(set(pairs)) == len(pairs)
    except AssayError:
        readable = False

    assert valid == readable


@pytest.mark.parametrize("content", [content for _, content, _, _ in QRELS_CASES])
def test_judgments_are_valid_just_if_they_can_be_read(tmp_path: Path, content: bytes) -> None:
    path = written(tmp_path, "a.qrels", content)
    valid = validate_qrels(path).valid
    try:
        qrels = read_qrels(path)
        pairs = list(zip(qrels.query.tolist(), qrels.doc.tolist(), qrels.iteration.tolist(), strict=True))
        readable = len(set(pairs)) == len(pairs)
    except AssayError:
        readable = False

    assert valid == readable


def test_nothing_is_said_about_a_good_run(tmp_path: Path) -> None:
    assert () == validate_run(written(tmp_path, "a.run", GOOD_RUN)).findings


def test_of_good_judgments_only_their_number_is_mentioned(tmp_path: Path) -> None:
    assert ["QRL041"] == validate_qrels(written(tmp_path, "a.qrels", GOOD_QRELS)).codes()


def test_a_run_in_windows_lines_is_good(tmp_path: Path) -> None:
    assert () == validate_run(written(tmp_path, "a.run", GOOD_RUN.replace("\n", "\r\n"))).findings


def test_ranks_are_not_missed_where_a_row_cannot_be_read(tmp_path: Path) -> None:
    """The gap comes from the unreadable row, not from the file."""
    assert ["RUN011"] == validate_run(written(tmp_path, "a.run", GOOD_RUN.replace("8.0", "nan"))).codes()


@pytest.mark.slow
def test_a_million_bad_lines_give_a_page(tmp_path: Path) -> None:
    path = written(tmp_path, "a.run", GOOD_RUN + "oh no\n" * 1_000_000)

    found = validate_run(path).findings

    assert [("RUN009", 1_000_000, 5)] == [(f.code, f.count, len(f.examples)) for f in found]
    assert 6 == found[0].line


def test_a_file_that_is_not_there_is_refused() -> None:
    with pytest.raises(InputError, match=r"nowhere\.run: no such file"):
        validate_run("nowhere.run")


@pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)
def test_every_rule_has_a_page(rule) -> None:
    page = "\n".join(rule.page)

    assert rule.page[0].endswith(".")
    assert not rule.page[1]
    assert "Why: " in page
    assert "Example: " in page
    assert rule.fix.endswith((".", "?"))


def test_a_code_that_is_nearly_right_is_guessed() -> None:
    assert "RUN020" == find_rule("run020").code
    with pytest.raises(InputError, match=r"no rule has the code 'RNU020'; did you mean 'RUN020'\?"):
        find_rule("RNU020")


def test_a_code_is_given_once() -> None:
    with pytest.raises(ValueError, match="two rules have the code RUN001"):
        rule("RUN001", "file", "note", "", fix="")(lambda facts: ())
