"""Columns that users name: the same rows from every format, ids of several columns, and what is refused."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas
import polars
import pyarrow
import pyarrow.feather
import pyarrow.parquet
import pytest

import assay
from assay import native
from assay.errors import InputError
from assay.formats import as_qrels, as_run, parse_qrels, parse_run, read_qrels, read_run
from assay.formats.chosen import joined_id, parse_columns
from assay.formats.readings import Reading, Readings
from assay.formats.unread import open_run
from assay.marking import _ranking_rules
from reading.rows import listed, qrels_rows, refusal, run_rows

# What a search engine exports: nothing is called as in TREC, and `score` is not what the results are sorted by.
RUN = {
    "Search Term": ["red shoes", "red shoes", "socks"],
    "locale": ["de", "de", "us"],
    "sku": ["x2", "x1", "x3"],
    "position": [1, 2, 1],
    "score": [0.1, 0.9, 0.5],
}
ROWS = [("red shoes", "x2", -1.0), ("red shoes", "x1", -2.0), ("socks", "x3", -1.0)]
COLUMNS = {"query": "search_term", "doc": "sku", "rank": "position"}


def separated(delimiter: str) -> bytes:
    rows = zip(*RUN.values(), strict=True)
    return "\n".join(delimiter.join(map(str, row)) for row in [tuple(RUN), *rows]).encode() + b"\n"


def records() -> list[dict[str, Any]]:
    return [dict(zip(RUN, row, strict=True)) for row in zip(*RUN.values(), strict=True)]


def written(write: Callable[[Any, Any], None]) -> bytes:
    file = io.BytesIO()
    write(pyarrow.table(RUN), file)
    return file.getvalue()


FILES = {
    "csv": separated(","),
    "semicolons": separated(";"),
    "tsv": separated("\t"),
    "json": json.dumps(records()).encode(),
    "jsonl": "\n".join(map(json.dumps, records())).encode(),
    "parquet": written(pyarrow.parquet.write_table),
    "feather": written(pyarrow.feather.write_feather),
}
FRAMES = {"pandas": pandas.DataFrame, "polars": polars.DataFrame, "pyarrow": pyarrow.table}


@pytest.fixture(params=["native", "NumPy"])
def path(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and not native.enabled():
        pytest.skip("the kernel is not built")
    monkeypatch.setattr(native, "turned_off", request.param == "NumPy")


@pytest.mark.parametrize("name", FILES)
def test_files_with_other_names_are_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "run").write_bytes(FILES[name])

    assert ROWS == run_rows(read_run(tmp_path / "run", columns=COLUMNS))
    assert ROWS == run_rows(parse_run(FILES[name], columns=COLUMNS))


@pytest.mark.parametrize("name", FRAMES)
def test_frames_with_other_names_are_read(name: str) -> None:
    assert ROWS == run_rows(as_run(FRAMES[name](RUN), Reading(columns=COLUMNS)))


@pytest.mark.parametrize("name", FILES)
def test_joined_columns_give_one_id(tmp_path: Path, name: str) -> None:
    columns = {"query": ["Search Term", "locale"], "doc": "sku", "rank": "position"}
    (tmp_path / "run").write_bytes(FILES[name])

    assert [("red shoes|de", "x2", -1.0), ("red shoes|de", "x1", -2.0), ("socks|us", "x3", -1.0)] == run_rows(
        read_run(tmp_path / "run", columns=columns)
    )
    assert ("red shoes|de", "socks|us") == parse_run(
        FILES[name], columns={**columns, "query": "Search Term+locale"}
    ).queries


def test_different_parts_never_give_the_same_id() -> None:
    parts = [("a|b", "c"), ("a", "b|c"), ("a\\", "b|c"), ("a\\|b", "c"), ("a", "b", "c"), ("a\\|b|c",)]

    assert len(parts) == len({joined_id(each) for each in parts})
    assert "a|b" == joined_id(["a", "b"])


def test_whole_numbers_are_joined_and_a_missing_part_is_refused() -> None:
    text = "term,page,doc_id,score\nq,{},d,1\n"

    assert ("q|7",) == parse_run(text.format(7), columns={"query": ["term", "page"]}).queries
    assert "<text>:2: query id is empty (query , document d)." in refusal(
        lambda: parse_run(text.format(""), columns={"query": ["term", "page"]})
    )


def test_a_named_rank_ranks_unless_the_score_is_named_too() -> None:
    text = "query_id,doc_id,position,score\nq,a,1,0.1\nq,b,2,0.9\n"

    assert [("q", "a", 0.1), ("q", "b", 0.9)] == run_rows(parse_run(text))
    assert [("q", "a", -1.0), ("q", "b", -2.0)] == run_rows(parse_run(text, columns={"rank": "position"}))
    both = parse_run(text, columns={"rank": "position", "score": "score"})
    assert [("q", "a", 0.1), ("q", "b", 0.9)] == run_rows(both)
    assert [1, 2] == listed(both.rank)


def test_a_named_column_has_no_other_role() -> None:
    """ESCI has both query_id and the query; whoever names the query gets it, and query_id is not looked for."""
    text = "query_id,query,product_id,label\n1,shoes,x,3\n"

    assert [("1", "x", 3.0)] == qrels_rows(parse_qrels(text))
    assert [("shoes", "x", 3.0)] == qrels_rows(parse_qrels(text, columns={"query": "query"}))
    assert "no document column" in refusal(
        lambda: parse_qrels("qid,docno,rel\n1,x,3\n", columns={"iteration": "docno"})
    )


def test_the_same_name_wins_over_one_that_is_alike() -> None:
    text = "qid,SKU,sku,score\nq,a,b,1\n"

    assert [("q", "b", 1.0)] == run_rows(parse_run(text, columns={"doc": "sku"}))
    assert "<text>:1: `columns=` doc: 'Sku' could be 'SKU' and 'sku'." == refusal(
        lambda: parse_run(text, columns={"doc": "Sku"})
    )


@pytest.mark.usefixtures("path")
@pytest.mark.parametrize("name", [*FILES, *FRAMES])
def test_evaluation_follows_the_named_columns(tmp_path: Path, name: str) -> None:
    """x1 is relevant: at position 2, but first by `score`. The qrels have the usual names."""
    (tmp_path / "run").write_bytes(FILES.get(name, b""))
    run = FRAMES[name](RUN) if name in FRAMES else tmp_path / "run"
    qrels = pandas.DataFrame({"qid": ["red shoes"], "docno": ["x1"], "rel": [1]})

    by_rank = assay.evaluate(qrels, run, ["RR"], columns=COLUMNS)
    by_score = assay.evaluate(qrels, run, ["RR"], columns={"query": "Search Term", "run.doc": "sku"})
    joined = assay.evaluate(
        {"red shoes|de": {"x1": 1}}, run, ["RR"], columns={**COLUMNS, "query": "search term+locale"}
    )

    assert [0.5, 1.0, 0.5] == [found.mean()["RR"] for found in (by_rank, by_score, joined)]


@pytest.mark.skipif(not native.enabled(), reason="the kernel is not built")
def test_the_kernel_reads_named_columns_and_leaves_joined_ones(tmp_path: Path) -> None:
    (tmp_path / "run.tsv").write_text("term\tlang\tsku\tpoints\nq\tde\ta\t2\nq\tde\tb\t1\n")
    evaluator = assay.Evaluator({"q": {"b": 1}}, ["RR"])
    rules = _ranking_rules(evaluator.rules)

    def judged(columns: dict[str, Any]) -> Any:
        opened: Any = open_run(tmp_path / "run.tsv", Reading(columns=columns))
        return opened.judged(evaluator.judgments, rules, 1)

    assert [2] == judged({"query": "term", "doc": "sku", "score": "points"}).hit_rank.tolist()
    assert judged({"query": ["term", "lang"], "doc": "sku", "score": "points"}) is None


@pytest.mark.usefixtures("path")
def test_a_name_is_for_each_table_that_has_it(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("query_id,doc_id,rel\nq,a,1\n")
    (tmp_path / "run.csv").write_text("query_id,doc_id,sku,score\nq,1,a,2\n")
    (tmp_path / "trec.run").write_text("q Q0 a 1 2 x\n")
    columns = {"doc": "sku"}

    assert 1.0 == assay.evaluate(tmp_path / "qrels.csv", tmp_path / "run.csv", ["RR"], columns=columns).mean()["RR"]
    found = assay.compare(
        tmp_path / "qrels.csv", [tmp_path / "trec.run", tmp_path / "run.csv"], ["RR"], columns=columns
    )
    assert [1.0, 1.0] == [evaluation.mean()["RR"] for evaluation in found.evaluations]
    assert 1.0 == assay.evaluate({"q": {"a": 1}}, tmp_path / "trec.run", ["RR"], columns=columns).mean()["RR"]


@pytest.mark.usefixtures("path")
def test_a_name_that_no_table_has_is_refused(tmp_path: Path) -> None:
    qrels, run = tmp_path / "qrels.csv", tmp_path / "run.csv"
    qrels.write_text("query_id,doc_id,rel\nq,a,1\n")
    run.write_text("query_id,doc_id,sku,score\nq,a,a,2\n")
    typo = {"doc": "skuu"}
    message = "`columns={'doc': 'skuu'}`: no table has a column 'skuu'; did you mean 'sku'? "

    assert f"{message}{qrels} has query_id, doc_id, rel; {run} has query_id, doc_id, sku, score." == refusal(
        lambda: assay.evaluate(qrels, run, ["RR"], columns=typo)
    )
    for refused in (
        refusal(lambda: assay.compare(qrels, {"a": run, "b": run}, ["RR"], columns=typo)),
        refusal(lambda: assay.diagnose(qrels, [run], ["RR"], only=["labels"], reading=Reading(columns=typo))),
        refusal(lambda: assay.validate_run(run, qrels=qrels, reading=Reading(columns=typo))),
    ):
        assert refused.startswith(message)


@pytest.mark.parametrize("columns", [{"run.doc": "url"}, {"doc": "url"}])
def test_a_name_for_one_file_must_be_there(columns: dict[str, str]) -> None:
    text = "query_id,doc_id,score\nq,a,1\n"

    assert refusal(lambda: parse_run(text, columns=columns)) == (
        f"<text>:1: `columns={columns}`: the table has no column 'url'. The columns are query_id, doc_id, score."
    )


@pytest.mark.parametrize("text", ["q Q0 a 1 2 x\n", '{"q": {"a": 2}}'])
def test_a_file_without_a_header_ignores_a_name_unless_it_is_for_that_file(text: str) -> None:
    assert [("q", "a", 2.0)] == run_rows(parse_run(text, columns={"doc": "sku", "qrels.query": "term"}))
    assert "`columns={'run.doc': 'sku'}`: there is no header with such a column" in refusal(
        lambda: parse_run(text, columns={"run.doc": "sku"})
    )


def test_so_do_dicts() -> None:
    assert [("q", "a", 1.0)] == qrels_rows(as_qrels({"q": {"a": 1}}, Reading(columns={"doc": "sku"})))
    for_runs = Reading(columns={"run.doc": "sku"})
    assert "there is no header" in refusal(lambda: as_run({"q": {"a": 1.0}}, for_runs))
    assert "there is no header" in refusal(lambda: open_run({"q": {"a": 1.0}}, for_runs))


def test_a_header_between_spaces_is_found_by_the_names() -> None:
    text = "term sku place\nq a 1\nq b 2\n"

    assert [("q", "a", -1.0), ("q", "b", -2.0)] == run_rows(
        parse_run(text, columns={"query": "term", "doc": "sku", "rank": "place"})
    )
    assert "<text>:1: columns can be joined, or used twice, only in tables with commas or tabs" in refusal(
        lambda: parse_run(text, columns={"query": ["term", "sku"], "doc": "sku", "rank": "place"})
    )


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (
            parse_run,
            "term,sku,place\nq,a,1\n",
            "<text>:1: no query, document or score column; the columns are term, sku, place. "
            "Say which ones they are with `columns={'query': 'NAME', 'doc': 'NAME', 'score': 'NAME'}`.",
        ),
        (
            parse_run,
            "search term\tsku\tplace\nred shoes\ta\t1\n",
            "<text>:1: no query, document or score column; the columns are search term, sku, place. "
            "Say which ones they are with `columns={'query': 'NAME', 'doc': 'NAME', 'score': 'NAME'}`.",
        ),
        (
            parse_run,
            "term sku place\nq a 1\n",
            "<text>:1: rank 'place' is not a positive whole number (query term, document sku). If this line is a header, "
            "say what its columns are, such as `columns={'query': 'term', 'doc': 'sku', 'rank': 'place'}`.",
        ),
        (
            parse_qrels,
            "term\tsku\tstars\nq\ta\t1\n",
            "<text>:1: grade 'stars' is not a number (query term, document sku). If this line is a header, "
            "say what its columns are, such as `columns={'query': 'term', 'doc': 'sku', 'rel': 'stars'}`.",
        ),
    ],
)
def test_unknown_names_are_answered_with_how_to_name_them(
    parse: Callable[[str], object], text: str, message: str
) -> None:
    assert message == refusal(lambda: parse(text))


def test_letters_as_grades_are_not_taken_for_a_header() -> None:
    assert "give letters a value" in refusal(lambda: parse_qrels("q\ta\tE\nq\tb\tS\n"))
    assert [("q", "a", 3.0)] == qrels_rows(parse_qrels("q\ta\tE\n", grades={"E": 3}))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        (
            {"qurey": "term"},
            "`columns=` has no role 'qurey'; did you mean 'query'? The roles of qrels: query, doc, rel, iteration; "
            "of a run: query, doc, score, rank, tag.",
        ),
        ({"run.rel": "stars"}, "`columns=` has no role 'run.rel'; did you mean 'run.score'?"),
        ({"run": {"doc": "sku"}}, "`columns=` has no role 'run'"),
        ({1: "sku"}, "`columns=` has no role '1'."),
        ({"doc": ""}, "`columns=` 'doc': a column has no name"),
        ({"doc": ["sku", 3]}, "`columns=` 'doc': a column has no name"),
        ({"doc": 3}, "`columns=` 'doc': a column has no name"),
        ({"doc": "sku+"}, "`columns=` 'doc': a column has no name"),
        ({"score": "a+b"}, "`columns=` 'score': score is a number, so its columns cannot be joined; name one column."),
        ("doc=sku", "`columns=` cannot be a value of type str; give a dict, such as {'doc': 'sku'}."),
    ],
)
def test_what_names_no_column_is_refused(columns: Any, message: str) -> None:
    assert refusal(lambda: Reading(columns=columns)).startswith(message)


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (
            ["query=search_term,doc=sku,rank=position"],
            {"query": ("search_term",), "doc": ("sku",), "rank": ("position",)},
        ),
        (["query=search_term", "run.doc=sku"], {"query": ("search_term",), "run.doc": ("sku",)}),
        ([" query = Search Term , doc=a + b"], {"query": ("Search Term",), "doc": ("a", "b")}),
        (['doc="a,b"+"c+d",query="x=y"'], {"doc": ("a,b", "c+d"), "query": ("x=y",)}),
        (["query=x=y"], {"query": ("x=y",)}),
    ],
)
def test_the_command_line_says_the_same(texts: list[str], expected: dict[str, tuple[str, ...]]) -> None:
    assert expected == parse_columns(texts)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["query=term,sku"], "'sku' names no role; write ROLE=COLUMN"),
        (["sku"], "'sku' names no role"),
        (["=sku"], "'=sku' names no role"),
        (["doc=a", "doc=b"], "`columns=` 'doc=b': doc is given twice; keep one of them."),
        (['doc="a'], "a quote is not closed"),
        (["doc="], "a column has no name"),
        (["doc=a++b"], "a column has no name"),
    ],
)
def test_the_command_line_is_refused(texts: list[str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_columns(texts)

    assert message in str(caught.value)


def test_what_was_named_for_one_side_is_kept_apart() -> None:
    same = Reading(columns={"doc": "sku", "run.query": "term"})
    other = Reading(columns={"doc": "id", "qrels.query": "topic"})

    assert {"doc": ("sku",), "run.query": ("term",)} == Readings(same, same).columns
    assert {"qrels.doc": ("id",), "qrels.query": ("topic",), "run.doc": ("sku",), "run.query": ("term",)} == Readings(
        other, same
    ).columns


def test_names_of_qrels(tmp_path: Path) -> None:
    (tmp_path / "qrels.csv").write_text("term,lang,sku,stars,round\nshoes,de,a,2,1\n")
    columns = {"query": "term+lang", "doc": "sku", "rel": "stars", "iteration": "round"}
    found = read_qrels(tmp_path / "qrels.csv", columns=columns)

    assert [("shoes|de", "a", 2.0)] == qrels_rows(found)
    assert ["1"] == listed(found.iteration)
