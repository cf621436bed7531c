"""Text that a format cannot store is an error before anything is written, with the place and an alternative."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.formats import parse_qrels, parse_run
from assay.formats.holding import _HARMLESS
from assay.formats.writing import (
    FORMATS,
    OUTPUT_FORMATS,
    output_format,
    qrels_as_bytes,
    run_as_bytes,
    write_qrels,
    write_run,
)
from assay.tables import Qrels, Run
from formats_writing.odd_tables import COLUMNS, NAMED, UNICODE
from reading.rows import refusal


def a_run(query: str = "q1", doc: str = "a", tag: str = "") -> Run:
    """Two rows, the second of them with this query and document."""
    return Run.from_columns(["q0", query], ["first", doc], [2.0, 1.0], tag=tag, source="odd.jsonl", lines=[1, 2])


def formats_that_refuse(run: Run) -> set[str]:
    refused = set()
    for to in OUTPUT_FORMATS:
        try:
            run_as_bytes(run, to)
        except InputError:
            refused.add(to)
    return refused


def test_a_blank_ends_a_column() -> None:
    assert (
        "odd.jsonl:2: document id 'a b' contains whitespace, which separates columns in trec files (query q1; 1 such row). "
        "Write json, jsonl, csv, tsv, parquet or arrow instead, or change it."
    ) == refusal(lambda: run_as_bytes(a_run(doc="a b"), "trec"))
    assert (
        "odd.jsonl:2: query id 'q 1' contains whitespace, which separates columns in beir files (1 such row). "
        "Write json, jsonl, csv, tsv, parquet or arrow instead, or change it."
    ) == refusal(lambda: run_as_bytes(a_run(query="q 1"), "beir"))


def test_what_is_not_utf8_is_no_json_and_no_parquet() -> None:
    assert (
        "latin.run:2: document id 'caf\\xe9' is not UTF-8, which parquet files require (query q1; 2 such rows). "
        "Write trec, beir, msmarco, csv or tsv instead, or change it."
    ) == refusal(
        lambda: run_as_bytes(
            Run.from_columns(["q1"] * 3, ["a", "caf\udce9", "\udcff"], [3, 2, 1], source="latin.run", lines=[1, 2, 3]),
            "parquet",
        )
    )


ALL = set(OUTPUT_FORMATS)
DELIMITED = {"csv", "tsv"}
CASES = {
    "a blank inside": ("a b", set(COLUMNS)),
    "a tab inside": ("a\tb", set(COLUMNS)),
    "a line feed": ("a\nb", set(COLUMNS)),
    "a carriage return": ("a\rb", set(COLUMNS)),
    "a form feed": ("a\fb", set(COLUMNS)),
    "a blank first": (" a", set(COLUMNS) | DELIMITED),
    "a tab last": ("a\t", set(COLUMNS) | DELIMITED),
    "only a blank": (" ", set(COLUMNS) | DELIMITED),
    "NUL": ("a\0", set(COLUMNS) | DELIMITED),
    "bytes that are not UTF-8": ("\udce9", set(UNICODE)),
    "half a character": ("\ud800", ALL),
    "nothing": ("", ALL),
    "a quote first": ('"a', {"beir"}),
    "a quote inside": ('a"b', set()),
    "commas and semicolons": ("a,b;c", set()),
    "a no-break space": ("\u00a0", set()),
    "a line separator": ("a\u2028b\x85", set()),
    "control characters": ("\x1b[31m", set()),
    "letters of all kinds": ("ß日😀", set()),
}


@pytest.mark.parametrize("case", CASES)
def test_ids_are_refused_by_those_formats_only_that_cannot_hold_them(case: str) -> None:
    text, refusing = CASES[case]

    assert refusing == formats_that_refuse(a_run(doc=text))
    if case != "half a character":  # not possible as a query of a table
        assert refusing == formats_that_refuse(a_run(query=text))


@pytest.mark.parametrize("text", ["#1", "\ufeffq"])
def test_how_a_line_begins_matters_for_queries_only(text: str) -> None:
    assert set(COLUMNS) == formats_that_refuse(a_run(query=text))
    assert set() == formats_that_refuse(a_run(doc=text))


def test_the_advice_names_the_formats_that_do_hold_the_id() -> None:
    for (text, refusing), to in itertools.product(CASES.values(), OUTPUT_FORMATS):
        if to in refusing and refusing != ALL:
            said = refusal(lambda to=to, text=text: run_as_bytes(a_run(doc=text), to))
            advised = said.rpartition(" Write ")[2].removesuffix(" instead, or change it.").replace(" or ", ", ")
            assert ALL - refusing == set(advised.split(", "))


def test_what_no_format_holds() -> None:
    assert (
        "odd.jsonl:2: document id '\\ud800' contains a lone surrogate (half a character) (query q1; 1 such row). "
        "No format can store it: change it."
    ) == refusal(lambda: run_as_bytes(a_run(doc="\ud800"), "csv"))
    assert "odd.jsonl:2: query id '' is empty (1 such row). No format can store it: change it." == refusal(
        lambda: run_as_bytes(a_run(query=""), "jsonl")
    )


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("%PDF-1.4", "another kind of file"),
        ("PAR1", "parquet"),
        ("ARROW1", "arrow"),
        ('{"q', "json"),
        ("PK\x03\x04", "another kind of file"),
        ("BZh91AY&SY", "another kind of file"),
        ("\udc1f\udc8b".replace("\udc1f", "\x1f"), "another kind of file"),
        ("\udcff\udcfe", "another kind of file"),
        ("(\udcb5/\udcfd", "another kind of file"),
    ],
)
def test_a_file_that_would_look_like_another_is_refused(query: str, found: str) -> None:
    run = Run.from_columns([query, "q2"], ["a", "a"], [1, 2], source="odd.json")
    shown = refusal(lambda: run_as_bytes(run, "trec"))

    assert shown.startswith("odd.json: a trec file that starts with query id '")
    assert shown.endswith(
        f"' would be read as {found}. Write jsonl, csv, tsv, parquet or arrow instead, or put another row first."
    )
    assert run_as_bytes(run, "csv")[0].startswith(b"query_id,")
    with pytest.raises(InputError, match="would be read as"):
        qrels_as_bytes(Qrels.from_columns([query], ["a"], [1]), "msmarco")


def test_ids_that_make_columns_look_like_csv() -> None:
    run = Run.from_columns(["q,", "q,"], ["d,", "e,"], [2, 1])

    assert "would be read as csv" in refusal(lambda: run_as_bytes(run, "msmarco"))
    assert run_as_bytes(run, "trec")


def test_tags() -> None:
    assert (
        "odd.jsonl: the tag 'my run' contains whitespace, which separates columns in trec files. "
        "Set another with `tag=`."
    ) == refusal(lambda: run_as_bytes(a_run(tag="my run"), "trec"))
    assert b"my run" in run_as_bytes(a_run(tag="my run"), "csv")[0]
    assert b" other\n" in run_as_bytes(a_run(tag="my run"), "trec", tag="other")[0]
    assert (
        "beir files have no tag column. Leave out the tag, or write trec, jsonl, csv, tsv, parquet or arrow."
    ) == refusal(lambda: run_as_bytes(a_run(), "beir", tag="bm25"))


def test_iterations() -> None:
    some = Qrels.from_columns(["q1", "q1"], ["a", "b"], [1, 0], iteration=["1", ""], source="x.csv", lines=[2, 3])

    assert (
        "x.csv:3: iteration '' is empty, but trec files need a value in every column (query q1; 1 such row). "
        "Write jsonl, csv, tsv, parquet or arrow instead, or change it."
    ) == refusal(lambda: qrels_as_bytes(some, "trec"))
    none = Qrels.from_columns(["q1", "q1"], ["a", "b"], [1, 0], iteration=["", ""])
    assert b"q1 0 a 1\nq1 0 b 0\n" == qrels_as_bytes(none, "trec")[0]


def test_json_objects_hold_a_name_once() -> None:
    run = parse_run("q1 Q0 a 1 9 x\nq1 Q0 b 2 8 x\nq1 Q0 b 3 7 x\n")

    assert (
        "<text>:3: document b appears twice for query q1, but a JSON object cannot repeat a key. "
        "Remove one of the rows, or write jsonl, which keeps both."
    ) == refusal(lambda: run_as_bytes(run, "json"))
    topics = parse_qrels("q1 1 a 1\nq2 1 a 0\nq1 2 a 1\n")
    assert refusal(lambda: qrels_as_bytes(topics, "json")).startswith("<text>:3: document a appears twice for query q1")


def test_json_whose_queries_are_called_like_columns() -> None:
    run = Run.from_columns(["query_id", "doc_id", "score"], ["a", "b", "c"], [1, 2, 3], source="odd.csv")

    assert (
        "odd.csv: the query ids are names of table columns, so the JSON would be read as a table. Write jsonl instead."
    ) == refusal(lambda: run_as_bytes(run, "json"))


def test_a_table_without_rows_is_not_written() -> None:
    for to in OUTPUT_FORMATS:
        assert "run: no rows to write" == refusal(lambda to=to: run_as_bytes(Run.from_columns([], [], []), to))
        with pytest.raises(InputError, match="no rows"):
            qrels_as_bytes(Qrels.from_columns([], [], []), to)


def test_the_name_of_the_file_says_the_format_or_the_caller_does() -> None:
    assert (
        "out.dat.gz: cannot tell the format from the file name. Choose it with `to=`: "
        "trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow."
    ) == refusal(lambda: output_format("out.dat.gz"))
    assert (
        "no format called 'parket'; did you mean 'parquet'? "
        "The formats are trec, beir, msmarco, json, jsonl, csv, tsv, parquet, arrow."
    ) == refusal(lambda: output_format("out.run", "parket"))


@pytest.mark.parametrize("to", [*COLUMNS, *NAMED])
def test_nothing_is_written_when_something_is_refused(tmp_path: Path, to: str) -> None:
    out = tmp_path / "out"
    out.write_bytes(b"old")
    with pytest.raises(InputError):
        write_run(a_run(doc="\ud800"), out, to=to)
    with pytest.raises(InputError):
        write_qrels(Qrels.from_columns(["q1"], ["\ud800"], [1]), out, to=to)

    assert ["out"] == [path.name for path in tmp_path.iterdir()]
    assert b"old" == out.read_bytes()


def test_no_bar_has_a_character_that_is_called_harmless() -> None:
    """Blocks of ids with only these characters are not looked at one by one."""
    harmless = [chr(code) for code in range(128) if _HARMLESS.fullmatch(chr(code))]

    assert set("aZ09-_.:/+") < set(harmless)
    for form in FORMATS.values():
        for bar in form.bars:
            assert [] == [character for character in harmless if re.search(bar.pattern, character)]
