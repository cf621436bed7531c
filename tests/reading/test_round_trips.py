"""Text in each format reads back unchanged: random tables, random ids, random line endings."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from contextlib import suppress
from unittest.mock import patch

from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError
from assay.formats import as_run, parse_qrels, parse_run, sources
from reading.rows import listed, qrels_rows, run_rows

# Ids in columns: any characters except C's whitespace, NUL, and the start of a comment or a byte order mark.
bare_ids = st.text(
    st.characters(blacklist_characters=" \t\n\r\v\f\0", blacklist_categories=["Cs"]), min_size=1, max_size=8
).filter(lambda text: not text.startswith(("#", "\ufeff", "{", "[")))
any_ids = st.text(st.characters(blacklist_characters="\0", blacklist_categories=["Cs"]), min_size=1, max_size=8)
numbers = st.floats(allow_nan=False, allow_infinity=False)
blanks = st.sampled_from([" ", "\t", "  ", " \t ", "\v", "\f"])
line_ends = st.sampled_from(["\n", "\r\n", "\n\n", " \n", "\n# comment\n", "\r\n \r\n"])


def rows(ids: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str, float]]]:
    return st.lists(st.tuples(ids, ids, numbers), min_size=1, max_size=12)


def written(lines: Iterable[Iterable[str]], blank: str, line_end: str) -> str:
    return line_end.join(blank.join(line) for line in lines)


@given(rows(bare_ids), blanks, line_ends, st.booleans(), st.integers(1, 40))
def test_trec_runs(table: list[tuple[str, str, float]], blank: str, line_end: str, final: bool, block: int) -> None:
    lines = [(query, "Q0", doc, str(rank), repr(score), "tag") for rank, (query, doc, score) in enumerate(table, 1)]
    text = written(lines, blank, line_end) + line_end * final
    with patch.object(sources, "BLOCK_SIZE", block):
        run = parse_run(text, input_format="trec")

    assert table == run_rows(run)
    assert list(range(1, len(table) + 1)) == listed(run.rank)
    assert tuple(sorted({query for query, _, _ in table}, key=str.encode)) == run.queries


@given(rows(bare_ids), blanks, line_ends)
def test_trec_qrels(table: list[tuple[str, str, float]], blank: str, line_end: str) -> None:
    text = written([(query, "0", doc, repr(grade)) for query, doc, grade in table], blank, line_end)

    assert table == qrels_rows(parse_qrels(text, input_format="trec"))


@given(rows(bare_ids))
def test_detection_agrees_with_the_name_of_the_format(table: list[tuple[str, str, float]]) -> None:
    text = written([(query, "Q0", doc, "1", repr(score), "tag") for query, doc, score in table], " ", "\n")

    assert table == run_rows(parse_run(text))


@given(rows(any_ids))
def test_json(table: list[tuple[str, str, float]]) -> None:
    nested: dict[str, dict[str, float]] = {}
    for query, doc, score in table:
        nested.setdefault(query, {})[doc] = score
    expected = [(query, doc, score) for query, docs in nested.items() for doc, score in docs.items()]
    records = [{"query_id": query, "doc_id": doc, "score": score} for query, doc, score in table]

    assert expected == run_rows(parse_run(json.dumps(nested))) == run_rows(as_run(nested))
    assert expected == run_rows(parse_run(json.dumps(nested, indent=1, ensure_ascii=False)))
    assert table == run_rows(parse_run("\n".join(map(json.dumps, records))))
    assert table == run_rows(parse_run(json.dumps(records)))


@given(rows(any_ids.filter(lambda text: text == text.strip(" \t") and text[0] != "\ufeff")), st.sampled_from(",;\t"))
def test_csv(table: list[tuple[str, str, float]], delimiter: str) -> None:
    file = io.StringIO()
    writer = csv.writer(file, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerows([("query_id", "doc_id", "score"), *((query, doc, repr(score)) for query, doc, score in table)])

    assert table == run_rows(parse_run(file.getvalue()))


@given(st.binary(max_size=200) | st.text(alphabet='q0 \t\n\r1.5e#{}[]",:\\', max_size=80).map(str.encode))
def test_whatever_comes_is_read_or_refused_but_never_breaks(data: bytes) -> None:
    for parse in (parse_qrels, parse_run):
        with suppress(AssayError):
            assert len(parse(data)) > 0
