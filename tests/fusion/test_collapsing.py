"""Chunks to documents: by a map, by a regular expression, by the best, the sum or the first."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay import collapse, evaluate, fuse
from assay.errors import FusionError, InputError
from assay.formats.sources import open_text
from assay.formats.text import NO_DATA
from assay.fusion import WAYS
from assay.inputs.chunks import chunks_from_text, read_chunks
from fusion.small import runs, scores_of
from strategies import run_of

CHUNKS = {"q": {"b#1": 1.0, "a#2": 2.0, "a#1": 3.0, "b#2": 2.5}, "p": {"a#1": -1.0, "a#3": -2.0}}
DOCUMENTS = {"a#1": "a", "a#2": "a", "a#3": "a", "b#1": "b", "b#2": "b"}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("max", {"q": {"a": 3.0, "b": 2.5}, "p": {"a": -1.0}}),
        ("sum", {"q": {"a": 5.0, "b": 3.5}, "p": {"a": -3.0}}),
        ("first", {"q": {"a": 2.0, "b": 1.0}, "p": {"a": -1.0}}),
    ],
)
@pytest.mark.parametrize(
    "documents", [DOCUMENTS, r"^(.+)#\d+$", r"[^#]+", re.compile("(.)#"), r"(x)?(?P<doc>.)#"], ids=str
)
def test_by_hand(documents, by, expected):
    assert expected == scores_of(collapse(run_of(CHUNKS), documents, by=by))


def test_by_max_is_the_default_and_rows_come_by_query_and_rank():
    run = collapse(run_of(CHUNKS).named("rag"), DOCUMENTS)

    assert (["p", "q", "q"], ["a", "a", "b"]) == ([run.queries[code] for code in run.query], run.doc.tolist())
    assert ("rag", None, None) == (run.name, run.rank, run.lines)


def test_recall_is_over_1_no_more():
    """Two chunks of the only relevant document: some tools count them as two of one."""
    qrels, run = {"q": {"a": 1}}, run_of({"q": {"a#1": 2.0, "a#2": 1.0}})

    assert {"R@10": 1.0} == dict(evaluate(qrels, collapse(run, r"(.)#"), ["R@10"]).mean())


def test_a_run_that_has_documents_twice_is_collapsed_by_their_ids():
    from assay import parse_run

    twice = parse_run("q Q0 a 1 3 t\nq Q0 b 2 2 t\nq Q0 a 3 1 t\n")

    assert {"q": {"a": 3.0, "b": 2.0}} == scores_of(collapse(twice, ".+"))
    assert {"q": {"a": 4.0, "b": 2.0}} == scores_of(collapse(twice, ".+", by="sum"))


def refusal(*given, **options) -> str:
    with pytest.raises(FusionError) as caught:
        collapse(*given, **options)
    return str(caught.value)


def test_refusals():
    run = run_of(CHUNKS)

    assert "2 of 5 chunks of run have no document in the map (first: b#1, b#2)." == refusal(
        run, {chunk: doc for chunk, doc in DOCUMENTS.items() if doc == "a"}
    )
    assert "5 of 5 chunks of run have no document in the regular expression (first: b#1, a#2, a#1, ...)." == refusal(
        run, "x"
    )
    assert "5 of 5 chunks of run have no document in the regular expression (first: b#1, a#2, a#1, ...)." == refusal(
        run, "(x?)"
    )
    assert "by cannot be 'mx'; did you mean 'max'? It takes max, sum, first." == refusal(run, DOCUMENTS, by="mx")
    assert "'(' is not a valid regular expression: missing ), unterminated subpattern at position 0." == refusal(
        run, "("
    )
    assert (
        "documents cannot be a value of type list; it takes a mapping from chunk to document, or a regular expression."
    ) == refusal(run, ["a"])
    assert "the sum of these scores overflows; use by='max'." == refusal(
        run_of({"q": {"a1": 1.7e308, "a2": 1.7e308}}), "a", by="sum"
    )


chunks = st.dictionaries(
    st.sampled_from(["q", "p"]),
    st.dictionaries(st.from_regex(r"[abé]#[0-9]", fullmatch=True), st.integers(-9, 9).map(lambda n: n / 7), min_size=1),
    min_size=1,
)


@given(table=chunks)
def test_laws(table):
    run = run_of(table)
    best, total, first = (scores_of(collapse(run, "(.)#", by=by)) for by in WAYS)
    for query, docs in table.items():
        grouped: dict[str, list[float]] = {}
        for chunk, score in docs.items():
            grouped.setdefault(chunk[0], []).append(score)

        assert {doc: max(scores) for doc, scores in grouped.items()} == best[query]
        assert {doc: sum(scores) for doc, scores in grouped.items()} == pytest.approx(total[query], abs=1e-12)
        assert {doc: scores[0] for doc, scores in grouped.items()} == first[query]


@given(table=chunks)
def test_the_order_of_rows_changes_no_bit_but_for_first(table):
    other = {query: dict(reversed(docs.items())) for query, docs in reversed(table.items())}
    for by in ("max", "sum"):
        assert scores_of(collapse(run_of(table), "(.)#", by=by)) == scores_of(collapse(run_of(other), "(.)#", by=by))


@given(table=chunks)
def test_documents_that_are_no_chunks_stay_as_they_are(table):
    run = run_of(table)
    for by in WAYS:
        assert table == scores_of(collapse(run, "(?s).+", by=by))
        assert run.doc.tolist() == run_of(table).doc.tolist()


def test_collapsed_runs_can_be_fused():
    both = [collapse(run, "(.)#") for run in runs(CHUNKS, {"q": {"b#9": 1.0}})]

    assert {"b": 1 / 62 + 1 / 61, "a": 1 / 61} == pytest.approx(scores_of(fuse(both))["q"])


# The map in a file


def chunks_of(text: str | bytes) -> dict[str, str]:
    with open_text(text, "chunks") as content:
        return chunks_from_text(content)


@pytest.mark.parametrize(
    "text",
    [
        "a#1\ta\na#2\ta\n",
        "a#1\ta\r\n\r\na#2\ta",
        "a#1,a\na#2,a\n",
        'a#1,"a"\na#2,a\n',
        "a#1 a\n\na#2   a\n",
        '{"a#1": "a", "a#2": "a"}',
        "a#1\ta\na#2\ta\na#1\ta\n",
    ],
)
def test_maps_are_read(text):
    assert {"a#1": "a", "a#2": "a"} == chunks_of(text)


def test_ids_with_blanks_commas_and_odd_bytes():
    assert {"a 1": "a, b"} == chunks_of("a 1\ta, b\n")
    assert {"a, 1": "a"} == chunks_of('"a, 1",a\n')
    assert {"caf\udce91": "caf\udce9"} == chunks_of(b"caf\xe91\tcaf\xe9\n")


def test_a_header_does_no_harm(tmp_path):
    (tmp_path / "map.csv").write_text("chunk_id,doc_id\nx1,x\n")

    assert {"chunk_id": "doc_id", "x1": "x"} == read_chunks(tmp_path / "map.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", NO_DATA),
        ("a#1\ta\na#1\tb\n", "<text>:2: chunk a#1 belongs to two documents: a and b"),
        ('{"a": "x", "a": "y"}', "<text>: chunk a belongs to two documents: x and y"),
        (
            "a#1\ta\tx\n",
            "<text>:1: expected a chunk and its document, separated by a tab, comma or spaces; found 3 columns",
        ),
        ("a#1\t\n", "<text>:1: expected a chunk and its document"),
        ("a#1 a\nb\n", "<text>:2: expected a chunk and its document"),
        ("a#1,a\na#2\r,a\n", "<text>:2: cannot read the line: new-line character seen in unquoted field"),
        ('{"a": 1}', '<text>: expected a JSON object that maps chunks to documents: {"a#1": "a"}'),
        ('{"a": ', "<text>: expected a JSON object that maps chunks to documents: "),
    ],
)
def test_maps_that_are_refused(text, message):
    with pytest.raises(InputError) as caught:
        chunks_of(text)

    assert message in str(caught.value)
