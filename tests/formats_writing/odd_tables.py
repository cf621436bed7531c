"""Tables with odd ids, scores and grades, and what should be read back from each format."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st
from msgspec import structs

from assay.formats import INPUT_FORMATS
from assay.formats.writers import gathered
from assay.ranking import ranks_of
from assay.tables import Qrels, Run

FORMATS = [name for name in INPUT_FORMATS if name != "ranklib"]  # which is read only: it holds no run
NAMED = ("jsonl", "csv", "tsv", "parquet", "arrow")  # with all columns of a table, by their names
UNICODE = ("json", "jsonl", "parquet", "arrow")
COLUMNS = ("trec", "beir", "msmarco")

# Characters that could break a reader: spaces, quotes, delimiters, braces, comments, marks, controls, rare letters.
ODD = " \t\n\r\v\f\"',;|\\{}[]:#%&=+-.0123eE\0\x1b\x1c\x85\xa0\u2028\ufeffäß日😀qd"
not_utf8 = st.binary(min_size=1, max_size=6).map(lambda data: data.decode("utf-8", "surrogateescape"))
starts_like_a_file = st.sampled_from(["%PDF", "PAR1", "ARROW1", "PK\x03\x04", "SQLite", '{"', "[[", "BZh91AY&SY", "#x"])
odd_ids = (
    st.text(st.sampled_from(ODD), min_size=1, max_size=6)
    | st.text(st.characters(blacklist_categories=["Cs"]), min_size=1, max_size=8)
    | not_utf8
    | starts_like_a_file
)
# A letter first and last, and in between characters that all formats can store.
plain_ids = st.builds(
    "q{}z".format, st.text(st.sampled_from("\"',;|\\{}[]:#%&=+-.09eE\x1b\xa0\u2028\ufeffäß日😀"), max_size=6)
)
numbers = st.floats(allow_nan=False, allow_infinity=False)
grades = numbers | st.integers(-2, 4).map(float)
ranks = st.integers(0, 2**53 - 1) | st.integers(1, 20)


@st.composite
def runs(draw: Any, ids: st.SearchStrategy[str] = odd_ids, scores: st.SearchStrategy[float] = numbers) -> Run:
    """A run with few queries, whose rows are interleaved; with or without ranks and a tag."""
    queries = draw(st.lists(ids, min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(st.sampled_from(queries), ids, scores, ranks), min_size=1, max_size=8))
    query, doc, score, rank = (list(column) for column in zip(*rows, strict=True))
    tag = draw(st.just("") | plain_ids)
    return Run.from_columns(query, doc, score, rank=rank if draw(st.booleans()) else None, tag=tag, name="my run")


@st.composite
def qrels(draw: Any, ids: st.SearchStrategy[str] = odd_ids) -> Qrels:
    """Qrels with few queries, with or without iterations."""
    queries = draw(st.lists(ids, min_size=1, max_size=3))
    rows = draw(st.lists(st.tuples(st.sampled_from(queries), ids, grades, ids), min_size=1, max_size=8))
    query, doc, grade, iteration = (list(column) for column in zip(*rows, strict=True))
    return Qrels.from_columns(query, doc, grade, iteration=iteration if draw(st.booleans()) else None)


def without_repeats(table: Any) -> bool:
    """Whether no query has duplicate documents."""
    pairs = list(zip(table.query.tolist(), table.doc.tolist(), strict=True))
    return len(set(pairs)) == len(pairs)


def bits(values: Any) -> list[int] | None:
    """Numbers as bytes, because -0.0 must differ from 0.0."""
    return None if values is None else np.asarray(values, np.float64).view(np.int64).tolist()


def contents_of_run(run: Run) -> dict[str, Any]:
    """The contents of a run, for comparison."""
    return {
        "query": [run.queries[code] for code in run.query],
        "queries": run.queries,
        "doc": run.doc.tolist(),
        "score": bits(run.score),
        "rank": None if run.rank is None else run.rank.tolist(),
        "tag": run.tag,
    }


def contents_of_qrels(table: Qrels) -> dict[str, Any]:
    """The contents of qrels, for comparison."""
    return {
        "query": [table.queries[code] for code in table.query],
        "queries": table.queries,
        "doc": table.doc.tolist(),
        "rel": bits(table.rel),
        "iteration": None if table.iteration is None else table.iteration.tolist(),
    }


def expected_run(run: Run, to: str, tag: str | None = None) -> dict[str, Any]:
    """What should be read back: everything except the columns that the format does not have."""
    held = contents_of_run(in_written_order(run, to))
    held["tag"] = run.tag if tag is None else tag
    if to in ("beir", "json"):
        return held | {"rank": None, "tag": ""}
    if to == "trec":
        rank = ranks_of(run).tolist() if run.rank is None else held["rank"]
        return held | {"rank": rank, "tag": held["tag"] or "my_run"}
    if to == "msmarco":
        made = ranks_of(run)
        return held | {"rank": made.tolist(), "score": bits(-made), "tag": ""}
    return held


def expected_qrels(table: Qrels, to: str) -> dict[str, Any]:
    """What should be read back of qrels."""
    held = contents_of_qrels(in_written_order(table, to))
    if to in ("beir", "json"):
        return held | {"iteration": None}
    if to in ("trec", "msmarco"):
        return held | {"iteration": held["iteration"] or ["0"] * len(table)}
    return held


def in_written_order(table: Any, to: str) -> Any:
    if to != "json":
        return table
    order = gathered(table.query)
    by_row = {
        name: value[order]
        for name, value in structs.asdict(table).items()
        if isinstance(value, np.ndarray) and len(value) == len(table)
    }
    return type(table)(**{**structs.asdict(table), **by_row, "lines": None})
