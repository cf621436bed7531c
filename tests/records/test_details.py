"""What pages show of single queries: the first documents, and the relevant ones that are not among them."""

from __future__ import annotations

import pytest

from assay import native
from assay.evaluation import ABOVE_ZERO, Evaluator
from assay.formats.unread import open_run
from assay.records.details import EXTREMES, Details, ShownDocument
from assay.records.recording import measure_run

# q1 has 12 documents, d1 first; d3 and d12 are relevant, so are x and y, which are not retrieved. q2 is not answered.
QRELS = "q1 0 d3 1\nq1 0 d12 2\nq1 0 x 2\nq1 0 y 3\nq1 0 d1 0\nq2 0 z 1\n"
RUN = "".join(f"q1 Q0 d{rank} {rank} {100 - rank} sample\n" for rank in range(1, 13))


@pytest.fixture(params=["kernel", "numpy"])
def here(request, tmp_path, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setenv("ASSAY_NATIVE", "0")
    elif not native.enabled():
        pytest.skip("there is no kernel")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "some.run").write_text(RUN)
    return tmp_path


def details(measures=("nDCG@10",), rules=None, texts=None, like="assay") -> Details:
    evaluator = Evaluator("qrels.txt", measures, rules or {}, like=like)
    return measure_run(evaluator, open_run("some.run"), texts=texts or {}).details


def test_a_query_by_hand(here):
    found = details().queries["q1"]

    assert (12, 4, 1, 2) == (found.retrieved, found.relevant, found.among_first, found.unretrieved)
    assert [(f"d{rank}", rank) for rank in range(1, 11)] == [(each.doc, each.rank) for each in found.first]
    assert {"d1": 0.0, "d3": 1.0} == {each.doc: each.rel for each in found.first if each.rel is not None}
    assert (
        ShownDocument("y", None, 3.0),
        ShownDocument("d12", 12, 2.0),
        ShownDocument("x", None, 2.0),
    ) == found.lacking


def test_a_query_that_the_run_does_not_answer(here):
    found = details().queries["q2"]

    assert (0, 1, 0, 1, ()) == (found.retrieved, found.relevant, found.among_first, found.unretrieved, found.first)
    assert (ShownDocument("z", None, 1.0),) == found.lacking


def test_the_first_measure_that_is_no_count_says_what_is_relevant(here):
    assert ABOVE_ZERO == details().relevant_from
    assert 2 == details(("NumRelRet", "P(rel=2)@10")).relevant_from
    assert 3 == details(("P(rel=2)@10",)).queries["q1"].relevant


def test_ranks_follow_the_rules(here):
    (here / "some.run").write_text("q1 Q0 a 1 1 s\nq1 Q0 d3 2 1 s\nq1 Q0 b 3 1 s\n")
    first = [each.doc for each in details(rules={"ties": "doc-asc"}).queries["q1"].first]

    assert ["a", "b", "d3"] == first
    assert ["d3", "b", "a"] == [each.doc for each in details().queries["q1"].first]
    assert [3, 1] == [
        next(each.rank for each in details(rules=rules).queries["q1"].first if each.rel == 1)
        for rules in ({"ties": "doc-asc"}, {})
    ]


@pytest.mark.parametrize("depth", [0, 2])
def test_documents_below_the_depth_are_not_retrieved(here, depth):
    found = details(rules={"depth": depth}).queries["q1"]

    assert (depth, 4) == (len(found.first), found.unretrieved)


def test_duplicates_of_a_query_without_judgments_are_no_obstacle(here):
    (here / "some.run").write_text(RUN + "other Q0 a 1 2 s\nother Q0 a 2 1 s\n")

    assert {"q1", "q2"} == set(details().queries)


def test_judgments_by_subtopic(here):
    (here / "qrels.txt").write_text("q1 1 d2 1\nq1 2 d2 2\nq1 2 far 1\n")
    found = details(("alpha_nDCG@10",)).queries["q1"]

    assert [2.0] == [each.rel for each in found.first if each.rel is not None]
    assert ["far"] == [each.doc for each in found.lacking]


@pytest.mark.parametrize("like", ["trec_eval-9", "ranx", "torchmetrics", "ir_measures"])
def test_other_conventions(here, like):
    (here / "qrels.txt").write_text("q1 0 d3 1\nq1 0 d12 1\n")
    found = details(("nDCG@10",), like=like).queries["q1"]

    assert (["d12"], ["d3"]) == ([each.doc for each in found.lacking], [each.doc for each in found.first if each.rel])


def test_texts_are_those_of_the_queries_of_the_report(here):
    assert {"q1": "rain"} == details(texts={"q1": "rain", "q2": "", "other": "x"}).texts


def test_ids_that_are_no_utf_8_are_written_as_in_the_report(here):
    (here / "qrels.txt").write_bytes(b"caf\xe9 0 d3 1\n")
    (here / "some.run").write_bytes(b"caf\xe9 Q0 d3 1 1 s\n")

    assert {"caf\\xe9"} == set(details().queries) == set(details(texts={"caf\udce9": "coffee"}).texts)


def test_of_many_queries_those_with_the_lowest_and_the_highest_values(here):
    """1000 queries: the relevant document is first for q300 to q699, and not retrieved for the others."""
    ids = [f"q{number}" for number in range(1000)]
    (here / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in ids))
    found = ids[300:700]
    (here / "some.run").write_text("".join(f"{query} Q0 {'a' if query in found else 'b'} 1 2 s\n" for query in ids))

    assert {*ids[:EXTREMES], *found[:EXTREMES]} == set(details(("RR",)).queries)


def test_without_texts_there_are_no_details(here):
    assert {} == measure_run(Evaluator("qrels.txt", ["RR"]), open_run("some.run")).details.queries
