"""The kernel and NumPy find the same first documents, and the same ranks of them in another run."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import marking, native
from assay.errors import AssayError
from assay.formats.readings import Reading
from assay.formats.unread import open_run
from assay.heads import Heads, heads_of_table, ranks_in
from assay.marking import heads_of
from native.inputs import FORMS, Case, DripRun, Row, as_gzip_file, as_table, as_text_file, cases, odd_texts, run_text
from native.paths import NEEDS_KERNEL, both_paths, plain

pytestmark = NEEDS_KERNEL


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("same_heads")


def head(run: Any, depth: int, threads: int = 1, input_format: str = "auto") -> Any:
    """A head as plain columns."""
    heads = heads_of(open_run(run, Reading(input_format)), depth, threads=threads)
    return {**columns(heads), "some": heads.documents_at(heads.start[:-1][heads.lengths > 0])}


def columns(heads: Heads) -> dict[str, Any]:
    names = ("depth", "queries", "start", "score", "retrieved")
    return {**{name: getattr(heads, name) for name in names}, "docs": heads.docs.tolist()}


def obvious(rows: list[Row], depth: int) -> dict[str, list[str]]:
    """The first documents, by sorting whole rankings."""
    found: dict[bytes, list[tuple[float, bytes]]] = {}
    for row in rows:
        found.setdefault(row.query, []).append((float(row.score), row.doc))
    return {
        query.decode("utf-8", "surrogateescape"): [
            doc.decode("utf-8", "surrogateescape") for _, doc in sorted(docs, reverse=True)[:depth]
        ]
        for query, docs in sorted(found.items())
    }


def row(query: str, doc: str, score: str) -> Row:
    return Row(query.encode(), doc.encode(), score.encode(), 1)


TIES = [
    *(row("q2", "a", "1"), row("q2", "c", "1"), row("q2", "b", "1"), row("q2", "d", "2")),
    *(row("q1", "x", "0.5"), row("q1", "y", "0.75"), row("q1", "z", "0.5")),
]


def test_ties_at_the_end_of_a_head_are_broken_by_id(folder: Path) -> None:
    """q2: d leads, then c, b and a share a score; of these only the highest id is among the first two."""
    found = heads_of(open_run(as_text_file(TIES, folder)), 2)

    assert (("q1", "q2"), [0, 2, 4]) == (found.queries, found.start.tolist())
    assert ["y", "z", "d", "c"] == found.docs.tolist()
    assert ([0.75, 0.5, 2.0, 1.0], [3, 4]) == (found.score.tolist(), found.retrieved.tolist())
    assert ["d"] == heads_of(open_run(as_text_file(TIES, folder)), 2).documents_at(found.start[1:2])


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=60)
@given(case=cases(), depth=st.integers(1, 16))
def test_any_run_at_any_depth(folder: Path, form: str, case: Case, depth: int) -> None:
    run = FORMS[form](case.rows, folder)
    native, numpy = both_paths(lambda: head(run, depth))

    assert numpy == native
    if len({(row.query, row.doc) for row in case.rows}) == len(case.rows):
        docs, start = native["docs"], native["start"][2]
        found = [docs[first:end] for first, end in itertools.pairwise(start)]
        assert obvious(case.rows, depth) == dict(zip(native["queries"], found, strict=True))


@settings(max_examples=100)
@given(data=st.data(), case=cases(), depth=st.integers(1, 4))
def test_lines_of_any_shape_in_pieces(data: st.DataObject, case: Case, depth: int) -> None:
    text = data.draw(odd_texts(case.rows))
    pieces = data.draw(st.lists(st.sampled_from([1, 2, 3, 30, 64, 65, 128, 1000]), min_size=1, max_size=4))

    native, numpy = both_paths(lambda: head(DripRun(text, pieces), depth))
    assert numpy == native


@settings(max_examples=100)
@given(one=cases(), other=cases(), depth=st.integers(1, 8), tables=st.tuples(st.booleans(), st.booleans()))
def test_ranks_in_another_run(folder: Path, one: Case, other: Case, depth: int, tables: tuple[bool, bool]) -> None:
    """Whether the kernel or Python has the ids of either run."""

    def ranks() -> Any:
        found = []
        for number, (case, table) in enumerate(zip((one, other), tables, strict=True)):
            path = folder / f"{number}.run"
            path.write_bytes(run_text(case.rows))
            opened = open_run(as_table(case.rows, folder) if table else path)
            found.append(heads_of(opened, depth))
        return ranks_in(*found)

    native, numpy = both_paths(ranks)
    assert numpy == native


@pytest.mark.parametrize("form", [as_text_file, as_gzip_file])
@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_kernel_needs_no_help_with_plain_text(folder: Path, form: Any, threads: int) -> None:
    """Half a million lines: enough for three threads. Every second query is out of order."""
    rows = [row(f"q{query ^ 1}", f"d{doc * 7 % 500}", str(doc % 17)) for query in range(1000) for doc in range(500)]
    run = form(rows, folder)
    with patch.object(marking, "heads_of_table", side_effect=AssertionError("the kernel left it to NumPy")):
        found = head(run, 10, threads)

    assert plain(columns(heads_of_table(as_table(rows, folder), 10))) == {
        name: value for name, value in plain(found).items() if name != "some"
    }


def test_scattered_queries_are_gathered_by_the_kernel(folder: Path) -> None:
    rows = sorted(TIES, key=lambda row: row.doc)
    run = as_text_file(rows, folder)
    with patch.object(marking, "heads_of_table", side_effect=AssertionError("the kernel left it to NumPy")):
        assert ["y", "z", "d", "c"] == head(run, 2)["docs"]


def test_ranks_without_scores(folder: Path) -> None:
    path = folder / "ranks.tsv"
    path.write_text("q1\tb\t2\nq1\ta\t1\nq2\tc\t1\n")
    native, numpy = both_paths(lambda: head(path, 1, input_format="msmarco"))

    assert numpy == native
    assert ["a", "c"] == native["docs"]


def test_a_repeated_document_is_an_error_with_its_line(folder: Path) -> None:
    path = folder / "twice.run"
    path.write_text("q1 Q0 a 1 2 t\nq1 Q0 b 2 1 t\nq1 Q0 a 3 0 t\n")
    native_error, numpy_error = both_paths(lambda: head(path, 1))

    assert native_error == numpy_error
    with pytest.raises(AssayError, match=r"twice\.run:3: document a is retrieved more than once for query q1"):
        heads_of(open_run(path), 1)


def test_documents_that_are_not_there_are_refused(folder: Path) -> None:
    with patch.object(native, "turned_off", False):
        heads = heads_of(open_run(as_text_file(TIES, folder)), 2)
    with pytest.raises(ValueError, match="no such document"):
        heads.documents_at(heads.start[-1:])
