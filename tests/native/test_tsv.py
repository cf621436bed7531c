"""Tab-separated tables with a header, as in BEIR: the kernel splits at tabs and leaves quotes and spaces to Python."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Rules
from assay.formats.unread import read_judgments
from native.inputs import Case, cases, some_rules, text
from native.paths import NEEDS_KERNEL, both_paths, hits, kernel_and_numpy, values

pytestmark = NEEDS_KERNEL

GRADES = {"q1": {"a": 1, "b": 0}, "q2": {"c": 2}}
RULES = (Rules(), Rules(order="rank", duplicates="best"), Rules(ties="rank-column", duplicates="first"))
HEADERS = {
    "run-id first": ("tag", "query_id", "doc_id", "score", "rank"),
    "as in TREC": ("qid", "iter", "docno", "rank", "score", "tag"),
    "BEIR": ("query-id", "corpus-id", "score"),
    "ranks alone": ("qid", "docid", "rank"),
    "more than is needed": ("score", "note", "docno", "qid", "another"),
}
CELLS = {"tag": "t", "run": "t", "iter": "Q0", "note": "#", "another": "x"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tsv")


def table(header: tuple[str, ...], rows: list[tuple[str, str, str, str]], end: str = "\n") -> bytes:
    """Rows of query, document, score and rank under a header."""
    places = {"query": 0, "q": 0, "doc": 1, "corpus": 1, "score": 2, "rank": 3}

    def cell(name: str, row: tuple[str, str, str, str]) -> str:
        place = next((place for word, place in places.items() if name.startswith(word)), None)
        return CELLS[name] if place is None else row[place]

    lines = ["\t".join(header), *("\t".join(cell(name, row) for name in header) for row in rows)]
    return "".join(line + end for line in lines).encode("utf-8", "surrogateescape")


ROWS = [
    ("q1", "a", "9.5", "2"),
    ("q1", "b", "1e1", "1"),
    ("x", "a", "7", "1"),
    ("q2", "d", "4", "1"),
    ("q2", "c", "4", "2"),
]


@pytest.mark.parametrize("header", HEADERS)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_plain_tables_are_joined_by_the_kernel_alone(folder: Path, header: str, end: str) -> None:
    path = folder / "plain.tsv"
    path.write_bytes(b"\xef\xbb\xbf" + table(HEADERS[header], ROWS, end))

    native, numpy = kernel_and_numpy(lambda: hits(GRADES, path))
    assert numpy == native


def test_plain_judgments_are_read_by_the_kernel(folder: Path) -> None:
    path = folder / "plain.qrels.tsv"
    path.write_text("query-id\tcorpus-id\tscore\nq1\ta\t1\nq1\tb\t0\nq2\tc\t2\n")

    assert read_judgments(path).kept_index is not None
    native, numpy = both_paths(lambda: values(path, {"q1": {"a": 1.0}, "q2": {"c": 1.0}}))
    assert numpy == native


@settings(max_examples=80)
@given(case=cases(), rules=some_rules(), header=st.sampled_from(sorted(HEADERS)))
def test_any_run(folder: Path, case: Case, rules: Rules, header: str) -> None:
    rows = [(text(row.query), text(row.doc), text(row.score), str(row.rank)) for row in case.rows]
    path = folder / "any.tsv"
    path.write_bytes(table(HEADERS[header], rows))

    native, numpy = both_paths(lambda: hits(case.qrels, path, rules))
    assert numpy == native


LINES = [
    *(
        "",
        "\r",
        "\t",
        "\t\t",
        "\t\r",
        "\r\r",
        "q1",
        "q1\tz",
        "q1\tz\t",
        "\tz\t1",
        "q1\t\t1",
        "q1\tz\t1\tt",
        "q1\tz\t1\t",
    ),
    *(
        "\tq1\tz\t1",
        "q1\t\tz\t1",
        "q1\tz\t\t1",
        "q1\tz\t1\r",
        "q1\tz\t1\r\r",
        "q1\tz\t1\t\r",
        "q1\tz\r\t1",
        "\rq1\tz\t1",
    ),
    *(
        "q1\tz z\t1",
        " q1\tz\t1",
        "q1 \tz\t1",
        "q1\tz\t 1",
        "q1\tz\t1 ",
        "q1 z 1",
        '"q1"\tz\t1',
        'q1\t"z\t1',
        'q1\tz"z\t1',
    ),
    *("q1\tz\v\t1", "q1\tz\f\t1", "\fq1\tz\t1", "q1\t\u00a0\t1", "q1\tz\x85\t1", "q1\tz\u2028\t1", "q1\tz\x1c\t1"),
    *(
        "q1\tz\0\t1",
        "#q1\tz\t1",
        "# comment",
        "#",
        "\ufeffq1\tz\t1",
        "query-id\tcorpus-id\tscore",
        "q1\ta\t1",
        "q2\ta\t1",
    ),
    *("q1\tz\tnan", "q1\tz\thigh", "q1\tz\t1_0", "q1\tz\t1,5", "q1\tz\t1e400", "q1\tz\t-", "x\tz\tnan", "x\ta\t1"),
]


@pytest.mark.parametrize("line", LINES, ids=repr)
@pytest.mark.parametrize("place", [0, 1, 3, 6])
def test_one_odd_line(folder: Path, line: str, place: int) -> None:
    lines = ["query-id\tcorpus-id\tscore", "q1\ta\t1", "q1\tb\t2", "x\ta\t1", "q2\tc\t2", "q2\td\t3"]
    path = folder / "odd.tsv"
    path.write_bytes("\n".join([*lines[:place], line, *lines[place:]]).encode())

    for rules in (Rules(), Rules(duplicates="first")):
        native, numpy = both_paths(lambda: hits(GRADES, path, rules))  # noqa: B023
        assert numpy == native
    native, numpy = both_paths(lambda: values(path, {"q1": {"a": 1.0, "b": 2.0}}, ["AP"]))
    assert numpy == native


@pytest.mark.parametrize("line", LINES, ids=repr)
def test_one_odd_line_in_a_wider_table(folder: Path, line: str) -> None:
    """An empty field and one extra: as many words as columns, but in the wrong columns."""
    path = folder / "wide.tsv"
    path.write_bytes(f"tag\tqid\tdocno\tscore\nt\tq1\ta\t1\nt\t{line}\nt\tq2\tc\t1\n".encode())

    native, numpy = both_paths(lambda: hits(GRADES, path))
    assert numpy == native


@pytest.mark.parametrize(
    "rank", ["0", "1", "01", "1.0", "1e0", "-1", "", "9007199254740993", "999999999999999999", "x"]
)
@pytest.mark.parametrize("header", ["as in TREC", "ranks alone"])
@pytest.mark.parametrize("rules", RULES)
def test_any_rank(folder: Path, rank: str, header: str, rules: Rules) -> None:
    path = folder / "rank.tsv"
    for rows in (
        [("q1", "a", "1", "1"), ("q1", "b", "1", rank)],
        [("q1", "a", "1", "1"), ("q1", "b", "1", "2"), ("x", "b", "1", rank), ("x", "a", "1", "1")],
    ):
        path.write_bytes(table(HEADERS[header], rows))
        native, numpy = both_paths(lambda: hits(GRADES, path, rules))
        assert numpy == native


@pytest.mark.parametrize(
    "content",
    [
        *("query-id\tcorpus-id\tscore", "query-id\tcorpus-id\tscore\n", "query-id\tcorpus-id\tscore\n\n\n"),
        *("query-id\tcorpus-id\n", "query id\tcorpus id\tscore\nq1\ta\t1\n", '"qid"\tdocno\tscore\nq1\ta\t1\n'),
        *(
            "# made by hand\nqid\tdocno\tscore\nq1\ta\t1\n",
            "\nqid\tdocno\tscore\nq1\ta\t1\n",
            "qid\tdocno\tscore\t\nq1\ta\t1\t\n",
        ),
        *(
            "qid\tdocno\tscore\r\nq1\ta\t1\r\n",
            "qid\tdocno\tdoc_id\tscore\nq1\ta\tb\t1\n",
            "qid\tdocno\tscore\rq1\ta\t1\r",
        ),
        *(
            "qid\tqid\tdocno\tscore\nq1\tq2\ta\t1\n",
            "qid\tdocno\tscore\tscore\nq1\ta\t1\t2\n",
            "qid\tdocno\trel\nq1\ta\t1\n",
        ),
        "qid\tdocno\tscore" + "\tx" * 40 + "\nq1\ta\t1" + "\ty" * 40 + "\n",
    ],
    ids=repr,
)
def test_any_header(folder: Path, content: str) -> None:
    path = folder / "header.tsv"
    path.write_text(content, newline="")

    native, numpy = both_paths(lambda: hits(GRADES, path))
    assert numpy == native
    native, numpy = both_paths(lambda: values(path, {"q1": {"a": 1.0}}, ["AP"]))
    assert numpy == native


@settings(max_examples=150)
@given(data=st.data())
def test_a_table_with_any_bytes_changed(folder: Path, data: st.DataObject) -> None:
    content = bytearray(table(HEADERS["as in TREC"], ROWS))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        put = data.draw(st.sampled_from([*(bytes([byte]) for byte in b'\0\t\t\n\v\r "#.+-0129eq\xff'), b""]))
        content[place : place + data.draw(st.integers(0, 2))] = put
    path = folder / "changed.tsv"
    path.write_bytes(bytes(content))

    for rules in RULES:
        native, numpy = both_paths(lambda: hits(GRADES, path, rules))  # noqa: B023
        assert numpy == native


def test_a_long_table_read_by_several_threads(folder: Path) -> None:
    rows = [(f"q{number // 100}", f"d{number * 7919 % 10007}", str(number % 50), "1") for number in range(10000)]
    path = folder / "long.tsv"
    path.write_bytes(table(("qid", "note", "docno", "score"), rows).replace(b"#", b"#" * 250))
    grades: dict[str, Any] = {
        f"q{query}": {f"d{doc}": 1 for doc in range(query, 10007, 97)} for query in range(0, 99, 2)
    }

    native, numpy = kernel_and_numpy(lambda: hits(grades, path, threads=2))
    assert numpy == native
