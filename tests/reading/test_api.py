"""The public interface of the package."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest

from assay import formats
from assay.formats import as_qrels, as_run, parse_qrels, parse_run, read_qrels, read_run
from assay.formats.readings import Reading
from reading.rows import qrels_rows, run_rows

KEYWORDS = {
    read_qrels: ["input_format", "grades", "columns", "queries"],
    parse_qrels: ["input_format", "grades", "columns", "queries"],
    as_qrels: [],
    read_run: ["input_format", "name", "columns", "queries"],
    parse_run: ["input_format", "name", "columns", "queries"],
    as_run: ["name"],
}


def test_the_names_are_these() -> None:
    assert {
        *("read_qrels", "read_run", "parse_qrels", "parse_run", "as_qrels", "as_run", "parse_grades", "INPUT_FORMATS"),
        *("write_qrels", "write_run", "OUTPUT_FORMATS"),
    } == set(formats.__all__)


@pytest.mark.parametrize("function", KEYWORDS)
def test_options_are_keywords(function: object) -> None:
    parameters = inspect.signature(function).parameters.values()  # type: ignore[arg-type]

    assert KEYWORDS[function] == [option.name for option in parameters if option.kind is option.KEYWORD_ONLY]  # type: ignore[index]


def test_text_path_and_value_give_the_same(tmp_path: Path) -> None:
    qrels_text, run_text = "q1 0 a E\nq1 0 b I\n", "q1 Q0 a 1 9.5 x\nq1 Q0 b 2 8.5 x\n"
    (tmp_path / "qrels.txt").write_text(qrels_text)
    (tmp_path / "bm25.run").write_text(run_text)
    grades = {"E": 3.0, "I": 0.0}
    qrels = [
        parse_qrels(qrels_text, grades=grades),
        parse_qrels(qrels_text.encode(), grades=grades),
        read_qrels(tmp_path / "qrels.txt", grades=grades),
        as_qrels(str(tmp_path / "qrels.txt"), Reading(grades=grades)),
        as_qrels({"q1": {"a": "E", "b": "I"}}, Reading(grades=grades)),
    ]
    runs = [
        parse_run(run_text, name="bm25"),
        parse_run(run_text.encode(), name="bm25"),
        read_run(str(tmp_path / "bm25.run")),
        as_run(tmp_path / "bm25.run"),
        as_run({"q1": {"a": 9.5, "b": 8.5}}, name="bm25"),
    ]

    assert [[("q1", "a", 3.0), ("q1", "b", 0.0)]] * 5 == [qrels_rows(table) for table in qrels]
    assert [[("q1", "a", 9.5), ("q1", "b", 8.5)]] * 5 == [run_rows(run) for run in runs]
    assert {"bm25"} == {run.name for run in runs}


def test_every_module_says_what_it_is_for() -> None:
    folder = Path(formats.__file__).parent

    assert all(path.read_text().startswith(('"""', 'r"""')) for path in folder.glob("*.py"))


def test_equal_queries_are_one_value_in_memory() -> None:
    qrels = parse_qrels("q1 0 a 1\nq1 0 b 1\nq1 7 c 1\nq1 0 d 1\n")

    assert ("q1",) == qrels.queries
    assert qrels.iteration is not None
    assert qrels.iteration[0] is qrels.iteration[3]


@pytest.mark.parametrize("input_format", ["trec", "auto"])
def test_a_large_run_is_read_whole(input_format: str) -> None:
    text = "".join(f"q{query} Q0 d{doc} {doc} {1 / (doc + 1)!r} x\n" for query in range(30) for doc in range(1000))
    run = parse_run(text, input_format=input_format)

    assert (30_000, 30) == (len(run), len(run.queries))
    assert [f"q{row // 1000}" for row in range(30_000)] == [run.queries[code] for code in run.query]
    assert [1 / (row % 1000 + 1) for row in range(30_000)] == run.score.tolist()
