"""Limits: which one was met, what was seen, and how to raise it."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from assay import evaluate, read_qrels, read_run, validate_run
from assay.errors import InputError, LimitError
from assay.limits import LIMITS, limit, limits_from

COMMENT = b"# " + b"c" * 1000 + b"\n"
REPEATED = "q1 Q0 d 1 1 t\n"


@pytest.fixture
def limits(monkeypatch):
    """Sets the limits, as users do."""
    return lambda text: monkeypatch.setenv("ASSAY_LIMITS", text)


def test_limits_are_set_by_name(limits):
    limits("line=64MB, expansion=none rows=5")

    assert (64 << 20, 2**63, 5) == (limit("line"), limit("expansion"), limit("rows"))
    assert LIMITS["whole"].usual == limit("whole")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "lines=5",
            "ASSAY_LIMITS: no limit called 'lines'; did you mean 'line'? The limits are expansion, line, rows, whole.",
        ),
        (
            "line=many",
            "ASSAY_LIMITS: 'line=many' is not a limit. Write ASSAY_LIMITS='NAME=NUMBER', such as "
            "ASSAY_LIMITS='line=64MB'; the limits are expansion, line, rows, whole.",
        ),
    ],
)
def test_a_limit_that_does_not_exist_is_an_error(text, message):
    with pytest.raises(InputError) as caught:
        limits_from(text)

    assert message == str(caught.value)


def test_the_page_lists_all_limits():
    page = (Path(__file__).parents[2] / "docs" / "formats.md").read_text(encoding="utf-8")

    for name, each in LIMITS.items():
        assert f"| `{name}` | {each.shown(each.usual)} | {each.what} | {each.why} |" in page


def test_a_file_that_expands_too_much_is_refused(tmp_path, limits):
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(COMMENT * 24_000))  # 24 MB from 70 KB

    with pytest.raises(
        LimitError, match=r"a\.run\.gz: expands to more than 200 times its size \(.* so far\)"
    ) as caught:
        read_run(path)
    assert str(caught.value).endswith("If this is what you want, raise the limit: ASSAY_LIMITS=expansion=2000.")
    limits("expansion=2000")
    with pytest.raises(InputError, match="no data"):
        read_run(path)


def test_small_files_may_expand_as_they_like(tmp_path):
    path = tmp_path / "a.run.gz"
    path.write_bytes(gzip.compress(COMMENT * 12_000 + b"q1 Q0 d 1 1 t\n"))

    assert 1 == len(read_run(path))


@pytest.mark.parametrize("native", [True, False])
def test_the_longest_line_can_be_set(tmp_path, limits, monkeypatch, native):
    monkeypatch.setattr("assay.native.turned_off", not native)
    qrels, run = tmp_path / "qrels", tmp_path / "a.run"
    qrels.write_text("q1 0 d 1\n")
    run.write_text("q1 Q0 d 1 9 t\n" + f"q1 Q0 {'e' * 400_000} 2 8 t\n" * 2)
    limits("line=100KB")

    with pytest.raises(LimitError) as caught:
        evaluate(qrels, run, ["AP"])
    assert (
        f"{run}: a line has more than 100 KB. Are the line ends missing, or is this another kind of file? If this is what "
        "you want, raise the limit: ASSAY_LIMITS=line=1000KB."
    ) == str(caught.value)


@pytest.mark.parametrize(("read", "text"), [(read_run, REPEATED), (read_qrels, "q1 0 d 1\n")])
def test_a_row_that_is_repeated_without_end_is_refused(tmp_path, limits, read, text):
    path = tmp_path / "a"
    path.write_text(text * 100_000)
    limits("rows=100000")

    with pytest.raises(LimitError, match=r"repeats the same documents without end \([\d,]+ rows for 1 query so far\)"):
        read(path)


def test_a_whole_collection_for_one_query_is_read(tmp_path, limits):
    path = tmp_path / "a.run"
    path.write_text("".join(f"q1 Q0 d{rank} {rank} {-rank} t\n" for rank in range(50_000)))
    limits("rows=60000")

    assert 50_000 == len(read_run(path))
    limits("rows=40000")
    with pytest.raises(
        LimitError, match=r"has more than 40,000 documents per query \([\d,]+ rows for 1 query so far\)"
    ):
        read_run(path)


def test_validation_reports_a_limit_as_a_finding(tmp_path, limits):
    path = tmp_path / "a.run"
    path.write_text(REPEATED * 100_000)
    limits("rows=100000")

    assert "RUN001" in validate_run(path).codes()


def test_values_of_json_are_limited_but_not_the_file(tmp_path, limits):
    path = tmp_path / "a.json"
    path.write_text("{" + ",".join(f'"q{number}": {{"d": 1.5}}' for number in range(50_000)) + "}")
    limits("whole=600KB")

    assert path.stat().st_size > 1_000_000
    assert 50_000 == len(read_run(path).queries)
    path.write_text(f'{{"q1": {{"{"d" * 1_000_000}": 1.5}}}}')
    with pytest.raises(LimitError, match="one JSON value has more than 600 KB"):
        read_run(path)
