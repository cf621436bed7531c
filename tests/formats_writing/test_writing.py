"""The output of each format, checked by hand; extensions, compression, ranks, tags and notes."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow
import pyarrow.ipc
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay.errors import MissingExtraError
from assay.formats import parse_qrels, parse_run, read_qrels, read_run
from assay.formats.sheets import BLOCK, score_texts
from assay.formats.sources import COMPRESSION_SUFFIXES, FORMAT_SUFFIXES
from assay.formats.writing import (
    OUTPUT_FORMATS,
    SUFFIXES,
    output_format,
    packed,
    qrels_as_bytes,
    run_as_bytes,
    write_qrels,
    write_run,
)
from assay.ranking import ranks_of
from assay.tables import Qrels, Run
from formats_writing.odd_tables import NAMED, bits, contents_of_run
from reading.rows import listed, qrels_rows, run_rows

RUN = parse_run("q1 Q0 b 1 9.5 my\nq1 Q0 a 2 8.25 my\nq2 Q0 c 1 -0.5 my\n")
QRELS = parse_qrels("q1 0 a 2\nq1 0 b 0\nq2 0 a 0.5\n")

WRITTEN_RUNS = {
    "trec": "q1 Q0 b 1 9.5 my\nq1 Q0 a 2 8.25 my\nq2 Q0 c 1 -0.5 my\n",
    "beir": "query-id\tcorpus-id\tscore\nq1\tb\t9.5\nq1\ta\t8.25\nq2\tc\t-0.5\n",
    "msmarco": "q1\tb\t1\nq1\ta\t2\nq2\tc\t1\n",
    "json": '{"q1": {"b": 9.5, "a": 8.25},\n"q2": {"c": -0.5}}\n',
    "jsonl": '{"query_id": "q1", "doc_id": "b", "rank": 1, "score": 9.5, "tag": "my"}\n'
    '{"query_id": "q1", "doc_id": "a", "rank": 2, "score": 8.25, "tag": "my"}\n'
    '{"query_id": "q2", "doc_id": "c", "rank": 1, "score": -0.5, "tag": "my"}\n',
    "csv": "query_id,doc_id,rank,score,tag\nq1,b,1,9.5,my\nq1,a,2,8.25,my\nq2,c,1,-0.5,my\n",
    "tsv": "query_id\tdoc_id\trank\tscore\ttag\nq1\tb\t1\t9.5\tmy\nq1\ta\t2\t8.25\tmy\nq2\tc\t1\t-0.5\tmy\n",
}
WRITTEN_QRELS = {
    "trec": "q1 0 a 2\nq1 0 b 0\nq2 0 a 0.5\n",
    "beir": "query-id\tcorpus-id\tscore\nq1\ta\t2\nq1\tb\t0\nq2\ta\t0.5\n",
    "msmarco": "q1\t0\ta\t2\nq1\t0\tb\t0\nq2\t0\ta\t0.5\n",
    "json": '{"q1": {"a": 2, "b": 0},\n"q2": {"a": 0.5}}\n',
    "jsonl": '{"query_id": "q1", "iteration": "0", "doc_id": "a", "relevance": 2}\n'
    '{"query_id": "q1", "iteration": "0", "doc_id": "b", "relevance": 0}\n'
    '{"query_id": "q2", "iteration": "0", "doc_id": "a", "relevance": 0.5}\n',
    "csv": "query_id,iteration,doc_id,relevance\nq1,0,a,2\nq1,0,b,0\nq2,0,a,0.5\n",
    "tsv": "query_id\titeration\tdoc_id\trelevance\nq1\t0\ta\t2\nq1\t0\tb\t0\nq2\t0\ta\t0.5\n",
}


@pytest.mark.parametrize("to", WRITTEN_RUNS)
def test_a_run_in_each_format(to: str) -> None:
    assert WRITTEN_RUNS[to] == run_as_bytes(RUN, to)[0].decode()


@pytest.mark.parametrize("to", WRITTEN_QRELS)
def test_qrels_in_each_format(to: str) -> None:
    assert WRITTEN_QRELS[to] == qrels_as_bytes(QRELS, to)[0].decode()


def test_tables_of_arrow() -> None:
    run = pyarrow.parquet.read_table(pyarrow.BufferReader(run_as_bytes(RUN, "parquet")[0]))
    qrels = pyarrow.ipc.open_file(qrels_as_bytes(QRELS, "arrow")[0]).read_all()

    assert {
        "query_id": ["q1", "q1", "q2"],
        "doc_id": ["b", "a", "c"],
        "rank": [1, 2, 1],
        "score": [9.5, 8.25, -0.5],
        "tag": ["my"] * 3,
    } == run.to_pydict()
    assert ["string", "string", "int64", "double", "string"] == [str(kind) for kind in run.schema.types]
    assert {
        "query_id": ["q1", "q1", "q2"],
        "iteration": ["0"] * 3,
        "doc_id": ["a", "b", "a"],
        "relevance": [2.0, 0.0, 0.5],
    } == qrels.to_pydict()


@pytest.mark.parametrize(("grades", "kind"), [([2, 0], "int64"), ([2, 0.5], "double"), ([-0.0, 1], "double")])
def test_grades_are_whole_numbers_in_arrow_where_all_are(grades: list[float], kind: str) -> None:
    data, _ = qrels_as_bytes(Qrels.from_columns(["q", "q"], ["a", "b"], grades), "arrow")

    assert kind == str(pyarrow.ipc.open_file(data).schema.field("relevance").type)


def test_scores_are_the_shortest_that_read_back() -> None:
    scores = [0.1 + 0.2, 1e22, 5e-324, -0.0, 1.7976931348623157e308, 3.0]
    run = Run.from_columns(["q"] * 6, list("abcdef"), scores)
    written = run_as_bytes(run, "csv")[0].decode().splitlines()[1:]

    assert ["0.30000000000000004", "1e+22", "5e-324", "-0.0", "1.7976931348623157e+308", "3.0"] == [
        line.split(",")[2] for line in written
    ]
    for to in set(OUTPUT_FORMATS) - {"msmarco"}:
        assert bits(scores) == bits(parse_run(run_as_bytes(run, to)[0]).score)


def test_csv_quotes_what_must_be_quoted() -> None:
    run = Run.from_columns(["q,1", 'q"2'], ["a\nb", "c;d"], [2, 1])

    assert b'query_id,doc_id,score\n"q,1","a\nb",2.0\n"q""2",c;d,1.0\n' == run_as_bytes(run, "csv")[0]
    assert b'query_id\tdoc_id\tscore\nq,1\t"a\nb"\t2.0\n"q""2"\tc;d\t1.0\n' == run_as_bytes(run, "tsv")[0]


def test_bytes_that_are_not_utf8_come_out_as_they_came_in() -> None:
    run = parse_run(b"q1 Q0 caf\xe9 1 2.0 x\n")

    assert b"q1 Q0 caf\xe9 1 2.0 x\n" == run_as_bytes(run, "trec")[0]
    assert b"query_id,doc_id,rank,score,tag\nq1,caf\xe9,1,2.0,x\n" == run_as_bytes(run, "csv")[0]


def test_rows_stay_in_their_order_but_in_json() -> None:
    run = parse_run("q2 Q0 a 1 1 x\nq1 Q0 a 1 2 x\nq2 Q0 b 2 3 x\n")
    order = [("q2", "a", 1.0), ("q1", "a", 2.0), ("q2", "b", 3.0)]

    for to in ("trec", "beir", *NAMED):
        assert order == run_rows(parse_run(run_as_bytes(run, to)[0]))
    data, told = run_as_bytes(run, "json")
    assert b'{"q2": {"a": 1.0, "b": 3.0},\n"q1": {"a": 2.0}}\n' == data
    assert "json files group rows by query, so the order of the rows changed." == told[-1]


def test_a_table_of_several_blocks_is_written_whole() -> None:
    rows = BLOCK + 7
    run = Run.from_columns(["q1"] * rows, [f"d{row}" for row in range(rows)], np.arange(rows, 0, -1) / 7)
    expected = contents_of_run(run)

    for to in NAMED:
        assert expected == contents_of_run(parse_run(run_as_bytes(run, to)[0]))


# Ranks


def test_ranks_are_made_by_the_scores_and_equal_scores_by_document_descending() -> None:
    run = Run.from_columns(["q1", "q1", "q1", "q2"], ["a", "c", "b", "a"], [1.0, 1.0, 5.0, 0.0], name="bm25")

    assert "q1 Q0 a 3 1.0 bm25\nq1 Q0 c 2 1.0 bm25\nq1 Q0 b 1 5.0 bm25\nq2 Q0 a 1 0.0 bm25\n" == (
        run_as_bytes(run, "trec")[0].decode()
    )
    assert b"q1\ta\t3\nq1\tc\t2\nq1\tb\t1\nq2\ta\t1\n" == run_as_bytes(run, "msmarco")[0]
    assert b"rank" not in run_as_bytes(run, "csv")[0]


def test_ids_that_are_not_utf8_are_ranked_by_their_bytes() -> None:
    run = Run.from_columns(["q"] * 3, ["\udcff", "\U0001f600", "\ue000"], [1, 1, 1])

    assert [1, 2, 3] == ranks_of(run).tolist()  # 0xff, 0xf0..., 0xee...


def test_a_document_that_stands_twice_has_two_ranks() -> None:
    assert [1, 2, 3] == ranks_of(Run.from_columns(["q"] * 3, ["a", "a", "a"], [2, 1, 1])).tolist()


def test_the_ranks_of_the_file_are_kept_even_if_they_are_odd() -> None:
    run = parse_run("q1 Q0 a 7 1.0 x\nq1 Q0 b 7 2.0 x\n")

    for to in ("trec", *NAMED):
        data, told = run_as_bytes(run, to)
        assert ([7, 7], ()) == (listed(parse_run(data).rank), told)


def test_ms_marco_keeps_ranks_that_follow_the_scores() -> None:
    text = "q1\ta\t1\nq1\tb\t3\nq2\tc\t1\n"
    run = parse_run(text)
    data, told = run_as_bytes(run, "msmarco")

    assert (text.encode(), ()) == (data, told)
    assert contents_of_run(run) == contents_of_run(parse_run(data))


@pytest.mark.parametrize("ranks", [(2, 1), (1, 1), (2, 3), (0, 1)])
def test_ms_marco_makes_ranks_anew_that_do_not_follow_the_scores(ranks: tuple[int, int]) -> None:
    run = Run.from_columns(["q1", "q1"], ["a", "b"], [2.0, 1.0], rank=ranks)
    data, told = run_as_bytes(run, "msmarco")

    assert b"q1\ta\t1\nq1\tb\t2\n" == data
    assert (
        "the rank column contradicts the scores: ranks were recomputed, since this format has no scores." == (told[-1])
    )


@pytest.mark.parametrize(("to", "rank"), [("trec", -1), ("trec", 2**63 - 1), ("csv", 2**53), ("parquet", -(2**53))])
def test_ranks_that_are_not_read_back_are_told(to: str, rank: int) -> None:
    data, told = run_as_bytes(Run.from_columns(["q1"], ["a"], [1.0], rank=[rank], tag="x"), to)

    assert None is parse_run(data).rank
    assert (
        f"the rank column has numbers that are out of range for {to} files: readers will ignore the ranks.",
    ) == told


@pytest.mark.parametrize(
    ("to", "rank"), [("trec", 0), ("trec", 2**63 - 2), ("csv", 2**53 - 1), ("json" + "l", 1 - 2**53)]
)
def test_ranks_up_to_there_come_back(to: str, rank: int) -> None:
    data, told = run_as_bytes(Run.from_columns(["q1"], ["a"], [1.0], rank=[rank], tag="x"), to)

    assert ([rank], ()) == (listed(parse_run(data).rank), told)


# Notes


ALL_COLUMNS = "To keep everything, write jsonl, csv, tsv, parquet or arrow."


@pytest.mark.parametrize(
    ("to", "told"),
    [
        ("trec", ()),
        ("beir", (f"left out ranks and tag, which beir files cannot store. {ALL_COLUMNS}",)),
        (
            "msmarco",
            (
                f"left out scores and tag, which msmarco files cannot store. The ranks keep the order of the scores. {ALL_COLUMNS}",
            ),
        ),
        ("json", (f"left out ranks and tag, which json files cannot store. {ALL_COLUMNS}",)),
        *((to, ()) for to in NAMED),
    ],
)
def test_columns_that_a_format_does_not_have_are_told(to: str, told: tuple[str, ...]) -> None:
    assert told == run_as_bytes(RUN, to)[1]


@pytest.mark.parametrize("to", ["beir", "json"])
def test_subtopics_are_told_and_a_column_of_zeros_is_not(to: str) -> None:
    topics = parse_qrels("q1 1 a 1\nq1 2 b 1\n")

    assert () == qrels_as_bytes(QRELS, to)[1]
    assert (f"left out iterations or subtopics, which {to} files cannot store. {ALL_COLUMNS}",) == qrels_as_bytes(
        topics, to
    )[1]
    assert () == qrels_as_bytes(topics, "trec")[1] == qrels_as_bytes(topics, "msmarco")[1]


# Tags


def test_the_tag_is_the_files_own_or_the_one_given_or_the_name_of_the_run() -> None:
    untagged = Run.from_columns(["q1"], ["a"], [1.0], name="my best run")

    assert b"q1 Q0 a 1 1.0 my_best_run\n" == run_as_bytes(untagged, "trec")[0]
    assert b"q1 Q0 a 1 1.0 bm25\n" == run_as_bytes(untagged, "trec", tag="bm25")[0]
    assert b"query_id,doc_id,score\nq1,a,1.0\n" == run_as_bytes(untagged, "csv")[0]
    assert b"query_id,doc_id,score,tag\nq1,a,1.0,bm25\n" == run_as_bytes(untagged, "csv", tag="bm25")[0]


def test_several_tags_become_the_last_one_and_that_is_told() -> None:
    text = "q1 Q0 a 1 2 one\nq1 Q0 b 2 1 two\n"
    as_csv = "query_id,doc_id,score,tag\nq1,a,2,one\nq1,b,1,two\n"

    for run in (parse_run(text), parse_run(as_csv)):
        assert (("one", "two"), "two") == (run.tags, run.tag)
        assert ("the run has 2 tags (one, two); every row gets the last one, two.",) == run_as_bytes(run, "trec")[1]
        assert () == run_as_bytes(run, "trec", tag="both")[1]
    assert (("my",), ()) == (RUN.tags, parse_run("q1\ta\t1\n").tags)


# Files


@pytest.mark.parametrize("ending", sorted(SUFFIXES))
def test_the_ending_says_the_format(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"bm25{ending.upper()}"
    write_run(RUN, path)
    write_qrels(QRELS, tmp_path / f"qrels{ending}")

    assert run_rows(RUN) == run_rows(read_run(path, input_format=SUFFIXES[ending]))
    assert qrels_rows(QRELS) == qrels_rows(read_qrels(tmp_path / f"qrels{ending}"))


def test_every_ending_that_names_a_format_is_known() -> None:
    assert set(FORMAT_SUFFIXES) == set(SUFFIXES)


@pytest.mark.parametrize("ending", COMPRESSION_SUFFIXES)
@pytest.mark.parametrize("name", ["bm25.run", "bm25.parquet"])
def test_the_ending_says_the_compression(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / (name + ending)
    write_run(RUN, path)
    first = path.read_bytes()
    write_run(RUN, path)

    assert contents_of_run(RUN) == contents_of_run(read_run(path))
    assert run_as_bytes(RUN, output_format(path))[0] != first
    assert first == path.read_bytes()  # no timestamp and no file name
    assert "bm25" == read_run(path).name


def test_what_the_caller_names_wins_over_the_ending(tmp_path: Path) -> None:
    write_run(RUN, str(tmp_path / "bm25.tsv"), to="beir")

    assert WRITTEN_RUNS["beir"] == (tmp_path / "bm25.tsv").read_text()


def test_what_was_not_held_is_given_to_the_caller(tmp_path: Path) -> None:
    assert 1 == len(assay.write_run(RUN, tmp_path / "a.json"))
    assert () == assay.write_qrels(QRELS, tmp_path / "b.json")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "zstandard", None)
    for to in ("parquet", "arrow"):
        with pytest.raises(MissingExtraError, match=r"writing Parquet and Arrow files needs .*assay-ir\[frames\]"):
            run_as_bytes(RUN, to)
    with pytest.raises(MissingExtraError, match=r"writing .zst files needs .*assay-ir\[zstd\]"):
        packed(b"", "a.zst")
    with pytest.raises(MissingExtraError):
        write_run(RUN, tmp_path / "a.run.zst")
    assert [] == list(tmp_path.iterdir())


def test_nothing_that_is_given_is_changed() -> None:
    run = parse_run("q2 Q0 a 1 1 x\nq1 Q0 a 1 2 x\nq2 Q0 b 2 3 x\n")
    before = contents_of_run(run)
    for to in OUTPUT_FORMATS:
        run_as_bytes(run, to)

    assert before == contents_of_run(run)


@given(
    st.lists(
        st.floats(allow_nan=False, allow_infinity=False)
        | st.sampled_from([0.0, -0.0, 1e16, 1e-4, 5e-324])
        | st.integers(-(2**53), 2**53).map(float)
    )
)
def test_scores_are_written_as_python_does(scores: list[float]) -> None:
    assert list(map(repr, scores)) == score_texts(np.array(scores, np.float64))
