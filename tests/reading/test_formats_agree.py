"""The same table in every format and compression, from every source, gives the same rows."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path

import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
import zstandard

from assay.formats import INPUT_FORMATS, as_qrels, as_run, parse_qrels, parse_run, read_qrels, read_run
from reading.rows import GOOD_QRELS, GOOD_RUN, qrels_rows, run_rows

QRELS_FRAME = pyarrow.table(
    {"query_id": ["q1", "q1", "q2"], "doc_id": ["a", "b", "a"], "relevance": pyarrow.array([1, 0, 2], pyarrow.int8())}
)
RUN_FRAME = pyarrow.table({"qid": ["q1", "q1", "q2"], "docno": ["b", "a", "c"], "score": [9.5, 8.25, -0.5]})


def parquet(table: pyarrow.Table) -> bytes:
    file = io.BytesIO()
    pyarrow.parquet.write_table(table, file)
    return file.getvalue()


def feather(table: pyarrow.Table) -> bytes:
    file = io.BytesIO()
    pyarrow.feather.write_feather(table, file)
    return file.getvalue()


def arrow_stream(table: pyarrow.Table) -> bytes:
    file = io.BytesIO()
    with pyarrow.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    return file.getvalue()


QRELS: dict[str, tuple[str, str | bytes]] = {
    "TREC": ("trec", "q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"),
    "TREC with tabs and runs of blanks": ("trec", "q1\t0  a 1\nq1\t0  b 0\nq2\t0  a 2\n"),
    "TREC with other blanks of C": ("trec", "q1\v0\fa 1\nq1 0 b 0\n q2 0 a 2 \n"),
    "TREC with CRLF": ("trec", "q1 0 a 1\r\nq1 0 b 0\r\nq2 0 a 2\r\n"),
    "TREC with byte order mark": ("trec", "\ufeffq1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"),
    "TREC with blank lines": ("trec", "\n\nq1 0 a 1\n  \nq1 0 b 0\n\t\nq2 0 a 2\n\n"),
    "TREC without final newline": ("trec", "q1 0 a 1\nq1 0 b 0\nq2 0 a 2"),
    "TREC with comments": ("trec", "# by NIST\nq1 0 a 1\n#\nq1 0 b 0\nq2 0 a 2\n# end"),
    "TREC with header": ("trec", "qid iter docno rel\nq1 0 a 1\nq1 0 b 0\nq2 0 a 2\n"),
    "TREC with reordered header": ("trec", "# x\n\nDocNo Grade Query-ID\na 1 q1\nb 0 q1\na 2 q2\n"),
    "BEIR": ("beir", "query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\ta\t2\n"),
    "BEIR without header": ("beir", "q1\ta\t1\nq1\tb\t0\nq2\ta\t2\n"),
    "MS MARCO": ("msmarco", "q1\t0\ta\t1\nq1\t0\tb\t0\nq2\t0\ta\t2\n"),
    "JSON": ("json", '{"q1": {"a": 1, "b": 0}, "q2": {"a": 2.0}}'),
    "JSON in many lines": ("json", json.dumps({"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, indent=2)),
    "JSON with text for numbers": ("json", '{"q1": {"a": "1", "b": "0.0"}, "q2": {"a": "2e0"}}'),
    "JSON records": (
        "json",
        '[{"query_id": "q1", "doc_id": "a", "relevance": 1}, {"relevance": 0, "doc_id": "b", "query_id": "q1"},\n'
        ' {"query_id": "q2", "doc_id": "a", "relevance": 2, "note": "extra"}]',
    ),
    "JSON Lines": (
        "jsonl",
        '{"qid": "q1", "pid": "a", "label": 1}\n\n{"qid": "q1", "pid": "b", "label": false}\n'
        '{"qid": "q2", "pid": "a", "label": 2.0}',
    ),
    "CSV": ("csv", "query_id,doc_id,relevance\nq1,a,1\nq1,b,0\nq2,a,2\n"),
    "CSV with quotes": (
        "csv",
        '"query_id","text","doc_id","relevance"\r\nq1,"x, ""y""\nz",a,1\r\nq1,,b,0\r\nq2,,"a",2',
    ),
    "CSV with blanks": ("csv", "query_id, doc_id, relevance\nq1, a, 1\nq1, b , 0\n\nq2, a, 2\n"),
    "CSV with semicolons": ("csv", "\ufeffquery id;Product ID;rating\nq1;a;1\nq1;b;0\nq2;a;2\n"),
    "CSV after a comment": ("csv", "# from the shop, 2026\nquery_id,doc_id,relevance\nq1,a,1\nq1,b,0\nq2,a,2\n"),
    "TSV": ("tsv", "query_id\tquery\tproduct_id\tgrade\nq1\ta tv\ta\t1\nq1\ta tv\tb\t0\nq2\t\ta\t2\n"),
    "JSON of relevant documents": ("json", '{"q1": [["a", 1], ["b", 0]], "q2": [["a", 2]]}'),
    "JSON Lines of relevant documents": (
        "jsonl",
        '{"query_id": "q1", "judgments": {"a": 1, "b": 0}}\n{"query_id": "q2", "judgments": {"a": 2}}\n',
    ),
    "request of _rank_eval": (
        "json",
        '{"requests": [{"id": "q1", "request": {"query": {"match_all": {}}}, "ratings": [{"_index": "i", "_id": "a", '
        '"rating": 1}, {"_index": "i", "_id": "b", "rating": 0}]}, {"id": "q2", "request": {}, "ratings": '
        '[{"_index": "i", "_id": "a", "rating": 2}]}], "metric": {"precision": {"k": 20}}}',
    ),
    "RankLib": ("ranklib", "# by qid\n1 qid:q1 1:0.5 2:1 # a the title\n0 qid:q1 1:0 2:0.25 # b\n2\tqid:q2\t#\ta\n"),
    "Parquet": ("parquet", parquet(QRELS_FRAME)),
    "Feather": ("arrow", feather(QRELS_FRAME)),
    "Arrow stream": ("arrow", arrow_stream(QRELS_FRAME)),
}
RUNS: dict[str, tuple[str, str | bytes]] = {
    "TREC": ("trec", "q1 Q0 b 1 9.5 x\nq1 Q0 a 2 8.25 x\nq2 Q0 c 1 -0.5 x\n"),
    "TREC with a seventh column": ("trec", "q1 Q0 b 1 9.5 x y\nq1 Q0 a 2 8.25 x y\nq2 Q0 c 1 -5e-1 x y\n"),
    "TREC with ranks of any kind": ("trec", "q1 Q0 b - 9.5 x\nq1 Q0 a NaN 8.25 x\nq2 Q0 c 1.0 -0.5 x\n"),
    "TREC with header": ("trec", "qid iter docno rank score tag\nq1 Q0 b 1 9.5 x\nq1 Q0 a 2 8.25 x\nq2 Q0 c 1 -.5 x\n"),
    "three columns and a header": ("beir", "qid docno score\nq1 b 9.5\nq1 a +8.25\nq2 c -0.5\n"),
    "JSON": ("json", '{"q1": {"b": 9.5, "a": 8.25}, "q2": {"c": -0.5}}'),
    "JSON Lines": (
        "jsonl",
        '{"q_id": "q1", "doc_id": "b", "score": 9.5}\n{"q_id": "q1", "doc_id": "a", "score": "8.25"}\n'
        '{"q_id": "q2", "doc_id": "c", "score": -5e-1}\n',
    ),
    "CSV": ("csv", "topic,similarity,document\nq1,9.5,b\nq1,8.25,a\nq2,-0.5,c\n"),
    "TSV": ("tsv", "Query ID\tDoc ID\tScore\nq1\tb\t9.5\nq1\ta\t8.25\nq2\tc\t-0.5\n"),
    "JSON of lists": ("json", '{"q1": [["b", 9.5], ["a", 8.25]], "q2": [["c", -0.5]]}'),
    "JSON Lines of lists": (
        "jsonl",
        '{"query": {"qid": "q1", "text": "x"}, "candidates": [{"docid": "b", "score": 9.5, "doc": {"title": "y"}}, '
        '{"docid": "a", "score": 8.25, "doc": {}}]}\n'
        '{"query": {"qid": "q2", "text": "z"}, "candidates": [{"docid": "c", "score": -0.5, "doc": {}}]}\n',
    ),
    "answers of _search by query": (
        "json",
        '{"q1": {"took": 1, "hits": {"total": 2, "hits": [{"_id": "b", "_score": 9.5}, {"_id": "a", "_score": 8.25}]}}, '
        '"q2": {"took": 1, "hits": {"total": 1, "hits": [{"_id": "c", "_score": -0.5}]}}}',
    ),
    "Parquet": ("parquet", parquet(RUN_FRAME)),
    "Feather": ("arrow", feather(RUN_FRAME)),
    "Arrow stream": ("arrow", arrow_stream(RUN_FRAME)),
}


@pytest.mark.parametrize("case", QRELS)
def test_qrels_are_recognised_in_every_format(case: str) -> None:
    _, text = QRELS[case]

    assert GOOD_QRELS == qrels_rows(parse_qrels(text))


@pytest.mark.parametrize("case", RUNS)
def test_runs_are_recognised_in_every_format(case: str) -> None:
    _, text = RUNS[case]

    assert GOOD_RUN == run_rows(parse_run(text))


@pytest.mark.parametrize("case", QRELS)
def test_qrels_can_be_read_by_the_name_of_their_format(case: str) -> None:
    input_format, text = QRELS[case]

    assert GOOD_QRELS == qrels_rows(parse_qrels(text, input_format=input_format))


@pytest.mark.parametrize("case", RUNS)
def test_runs_can_be_read_by_the_name_of_their_format(case: str) -> None:
    input_format, text = RUNS[case]

    assert GOOD_RUN == run_rows(parse_run(text, input_format=input_format))


def test_every_format_is_in_these_tables() -> None:
    assert set(INPUT_FORMATS) == {name for name, _ in QRELS.values()}
    assert set(INPUT_FORMATS) - {"msmarco", "ranklib"} == {name for name, _ in RUNS.values()}


COMPRESSIONS: dict[str, Callable[[bytes], bytes]] = {
    "plain": bytes,
    "gzip": gzip.compress,
    "gzip in two members": lambda data: gzip.compress(data[:10]) + gzip.compress(data[10:]),
    "bzip2": bz2.compress,
    "xz": lzma.compress,
    "zstd": zstandard.compress,
    "zstd in two frames": lambda data: zstandard.compress(data[:10]) + zstandard.compress(data[10:]),
}


@pytest.mark.parametrize("compression", COMPRESSIONS)
@pytest.mark.parametrize("case", ["TREC", "JSON", "CSV", "Parquet", "Feather"])
def test_compression_is_told_by_content_not_by_name(tmp_path: Path, compression: str, case: str) -> None:
    text = RUNS[case][1]
    path = tmp_path / "bm25.dat"
    path.write_bytes(COMPRESSIONS[compression](text if isinstance(text, bytes) else text.encode()))

    assert GOOD_RUN == run_rows(read_run(path))


@pytest.mark.parametrize("case", ["TREC", "JSON", "Parquet"])
def test_standard_input_is_a_source_like_others(monkeypatch: pytest.MonkeyPatch, case: str) -> None:
    text = RUNS[case][1]
    stdin = io.TextIOWrapper(io.BytesIO(gzip.compress(text if isinstance(text, bytes) else text.encode())))
    monkeypatch.setattr("sys.stdin", stdin)
    run = read_run("-")

    assert (GOOD_RUN, "stdin", "<stdin>") == (run_rows(run), run.name, run.source)


FRAMES: dict[str, Callable[[pyarrow.Table], object]] = {
    "pyarrow table": lambda table: table,
    "pyarrow record batch": lambda table: table.to_batches()[0],
    "pyarrow reader": lambda table: table.to_reader(),
    "pandas": lambda table: table.to_pandas(),
    "pandas with categories": lambda table: table.to_pandas().astype({table.column_names[0]: "category"}),
    "pandas with object columns": lambda table: table.to_pandas().astype({table.column_names[1]: object}),
    "polars": polars.from_arrow,
    "polars lazy": lambda table: polars.from_arrow(table).lazy(),  # type: ignore[union-attr]
    "path": lambda table: None,
    "dict": lambda table: None,
}


@pytest.mark.parametrize("case", FRAMES)
def test_frames_of_every_library_are_read(tmp_path: Path, case: str) -> None:
    qrels, run = FRAMES[case](QRELS_FRAME), FRAMES[case](RUN_FRAME)
    if case == "dict":
        qrels, run = {"q1": {"a": 1, "b": 0}, "q2": {"a": 2}}, {"q1": {"b": 9.5, "a": 8.25}, "q2": {"c": -0.5}}
    if case == "path":
        qrels, run = tmp_path / "qrels", str(tmp_path / "run")
        qrels.write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n")
        Path(run).write_text("q1 Q0 b 1 9.5 x\nq1 Q0 a 2 8.25 x\nq2 Q0 c 1 -0.5 x\n")

    assert GOOD_QRELS == qrels_rows(as_qrels(qrels))
    assert GOOD_RUN == run_rows(as_run(run))


def test_our_own_values_are_returned_as_they_are() -> None:
    qrels, run = parse_qrels(QRELS["TREC"][1]), parse_run(RUNS["TREC"][1])

    assert as_qrels(qrels) is qrels
    assert as_run(run) is run
    assert as_run(run, name="other").name == "other"


def test_what_is_passed_in_is_not_changed() -> None:
    run = {"q1": {"b": 9.5, "a": 8.25}, "q2": {"c": -0.5}}
    frame = pandas.DataFrame({"qid": [1, 2], "docno": ["a", "b"], "score": ["1", "2"], "rank": [1, None]})
    run_before, frame_before = json.dumps(run), frame.copy(deep=True)
    as_run(run)
    as_run(frame)

    assert run_before == json.dumps(run)
    pandas.testing.assert_frame_equal(frame_before, frame)


def test_real_collections_are_read(shared_data: Path) -> None:
    cranfield = read_qrels(shared_data / "collections/cranfield/qrels/test.tsv")
    esci = read_qrels(
        shared_data / "collections/esci_us_judgments/derived_judgments.tsv", grades={"E": 3, "S": 2, "C": 1, "I": 0}
    )

    assert ("1", "184", 3.0) == qrels_rows(cranfield)[0]
    assert ("q001", "B07NCQWCQS", 3.0) == qrels_rows(esci)[0]
    assert {0.0, 1.0, 2.0, 3.0} >= set(esci.rel.tolist())


def test_all_real_qrels_and_runs_are_read(shared_data: Path) -> None:
    qrels = [
        *shared_data.glob("qrels/qrels.*"),
        *shared_data.glob("cases/_qrels/*"),
        *shared_data.glob("golden/*.qrels"),
    ]
    runs = [*shared_data.glob("cases/*/run*"), *shared_data.glob("golden/*.run")]

    assert all(len(read_qrels(path)) for path in qrels)
    assert all(read_run(path).rank is not None for path in runs)
