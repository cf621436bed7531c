"""Other tools can read what we write, in each format."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pandas
import polars
import pytest
import pytrec_eval

from assay import evaluate
from assay.compat.trec_eval import run_trec_eval
from assay.example import QRELS as EXAMPLE_QRELS
from assay.example import RUNS as EXAMPLE_RUNS
from assay.formats import read_qrels, read_run
from assay.formats.writing import qrels_as_bytes, run_as_bytes, write_qrels, write_run
from assay.tables import Qrels, Run

IDS = ["plain", "a,b", 'say "x"', "two words", "line\nend", "tab\there", "é日😀", "semi;colon", "'", "#1", "=1+1"]
RUN = Run.from_columns(
    ["q 1"] * len(IDS), IDS, [1 / (row + 1) for row in range(len(IDS))], rank=range(1, 12), tag="t t"
)
QRELS = Qrels.from_columns(["q 1"] * len(IDS), IDS, [row % 3 for row in range(len(IDS))])
SCORES = dict(zip(IDS, RUN.score.tolist(), strict=True))
GRADES = {doc: int(grade) for doc, grade in zip(IDS, QRELS.rel.tolist(), strict=True)}


@pytest.mark.parametrize(("to", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_delimited_text_by_python_and_pandas(to: str, delimiter: str) -> None:
    text = run_as_bytes(RUN, to)[0].decode()
    rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter))
    frame = pandas.read_csv(io.StringIO(text), sep=delimiter)

    assert SCORES == {row["doc_id"]: float(row["score"]) for row in rows}
    assert {("q 1", "t t")} == {(row["query_id"], row["tag"]) for row in rows}
    assert SCORES == pytest.approx(dict(zip(frame["doc_id"], frame["score"], strict=True)), rel=1e-15)
    assert list(range(1, 12)) == frame["rank"].tolist()


def test_csv_by_polars() -> None:
    frame = polars.read_csv(io.BytesIO(run_as_bytes(RUN, "csv")[0]))

    assert SCORES == dict(zip(frame["doc_id"], frame["score"], strict=True))


@pytest.mark.parametrize("library", [pandas, polars])
def test_parquet_and_arrow_by_pandas_and_polars(library) -> None:
    read_arrow = pandas.read_feather if library is pandas else polars.read_ipc
    frames = [
        library.read_parquet(io.BytesIO(run_as_bytes(RUN, "parquet")[0])),
        read_arrow(io.BytesIO(run_as_bytes(RUN, "arrow")[0])),
    ]

    for frame in frames:
        assert ["query_id", "doc_id", "rank", "score", "tag"] == list(frame.columns)
        assert SCORES == dict(zip(frame["doc_id"], frame["score"], strict=True))
    grades = library.read_parquet(io.BytesIO(qrels_as_bytes(QRELS, "parquet")[0]))
    assert GRADES == dict(zip(grades["doc_id"], grades["relevance"], strict=True))
    assert "int64" == str(grades["relevance"].dtype).casefold()


def test_json_by_python() -> None:
    assert {"q 1": SCORES} == json.loads(run_as_bytes(RUN, "json")[0])
    assert {"q 1": GRADES} == json.loads(qrels_as_bytes(QRELS, "json")[0])
    records = [json.loads(line) for line in run_as_bytes(RUN, "jsonl")[0].splitlines()]
    assert SCORES == {record["doc_id"]: record["score"] for record in records}


def test_json_goes_into_pytrec_eval_which_takes_whole_grades_only() -> None:
    """It rejects 1.0 as a grade, so whole grades have no decimal point."""
    qrels = json.loads(qrels_as_bytes(read_qrels(EXAMPLE_QRELS), "json")[0])
    run = json.loads(run_as_bytes(read_run(EXAMPLE_RUNS[0]), "json")[0])
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map", "ndcg"}).evaluate(run)
    ours = evaluate(EXAMPLE_QRELS, EXAMPLE_RUNS[0], ["map", "ndcg"]).per_query()

    with pytest.raises(TypeError):
        pytrec_eval.RelevanceEvaluator({"q1": {"a": 1.0}}, {"map"})
    assert {query: dict(ours[query]) for query in theirs} == theirs


def test_beir_text_by_the_way_beir_reads_it(tmp_path: Path) -> None:
    """Its loader uses the csv module with tabs, which handles quotes; it skips a header and needs whole grades."""
    write_qrels(read_qrels(EXAMPLE_QRELS), tmp_path / "test.tsv", to="beir")
    with (tmp_path / "test.tsv").open(encoding="utf-8") as file:
        header, *rows = csv.reader(file, delimiter="\t")

    assert ["query-id", "corpus-id", "score"] == header
    expected = [line.split() for line in EXAMPLE_QRELS.read_text().splitlines()]
    assert [(query, doc, int(grade)) for query, _, doc, grade in expected] == [
        (query, doc, int(grade)) for query, doc, grade in rows
    ]


def test_trec_text_by_trec_eval(tmp_path: Path) -> None:
    """Our version of the C program's reader, which supports neither comments nor headers."""
    for name, write, table in (
        ("qrels.jsonl", write_qrels, read_qrels(EXAMPLE_QRELS)),
        ("run.parquet", write_run, read_run(EXAMPLE_RUNS[0])),
    ):
        write(table, tmp_path / name)
    write_qrels(read_qrels(tmp_path / "qrels.jsonl"), tmp_path / "qrels.txt")
    write_run(read_run(tmp_path / "run.parquet"), tmp_path / "run.txt")

    def printed(*files: Path) -> str:
        return run_trec_eval(["-q", "-m", "all_trec", *map(str, files)])

    assert printed(EXAMPLE_QRELS, EXAMPLE_RUNS[0]) == printed(tmp_path / "qrels.txt", tmp_path / "run.txt")


def test_ms_marco_text_by_the_way_its_scorer_reads_it() -> None:
    """It splits at tabs and reads query, passage and rank as whole numbers; ranks start at 1."""
    run = Run.from_columns(["7", "7", "3"], ["11", "12", "13"], [0.5, 1.5, 9.0])
    lines = run_as_bytes(run, "msmarco")[0].decode().splitlines()
    passage_at = {(query, rank): doc for query, doc, rank in (map(int, line.split("\t")) for line in lines)}

    assert {(7, 1): 12, (7, 2): 11, (3, 1): 13} == passage_at
