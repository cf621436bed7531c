"""Reading a written file gives the same table, or writing raised an error first."""

from __future__ import annotations

import statistics
from collections import Counter

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from assay import Rules, evaluate
from assay.errors import InputError
from assay.formats import parse_qrels, parse_run
from assay.formats.info import Spread, qrels_info, run_info
from assay.formats.readings import Reading
from assay.formats.writing import FORMATS as WRITERS
from assay.formats.writing import qrels_as_bytes, run_as_bytes
from assay.ranking import ranks_of
from assay.tables import Qrels, Run
from formats_writing.odd_tables import (
    FORMATS,
    contents_of_qrels,
    contents_of_run,
    expected_qrels,
    expected_run,
    numbers,
    plain_ids,
    qrels,
    runs,
    without_repeats,
)
from strategies import Case, cases
from topic_cases import TopicCase, topic_cases


def test_every_format_that_is_read_is_written() -> None:
    assert FORMATS == list(WRITERS)


def read_both_ways(parse, data: bytes, to: str, contents):
    """The table, which must be the same for a given and a detected format."""
    named, detected = contents(parse(data, input_format=to)), contents(parse(data))

    assert named == detected
    return named


def without_own_ranks(run: Run, to: str) -> Run:
    """MS MARCO keeps ranks only if they follow the scores, which is tested separately."""
    return Run(run.queries, run.query, run.doc, run.score, None, run.name, run.tag) if to == "msmarco" else run


@pytest.mark.parametrize("to", FORMATS)
@settings(max_examples=300)
@given(run=runs())
def test_any_run_comes_back_or_is_refused(to: str, run: Run) -> None:
    run = without_own_ranks(run, to)
    try:
        data, _ = run_as_bytes(run, to)
    except InputError:
        return  # before anything was written; test_refusals.py checks the errors

    assert expected_run(run, to) == read_both_ways(parse_run, data, to, contents_of_run)


@pytest.mark.parametrize("to", FORMATS)
@settings(max_examples=300)
@given(table=qrels())
def test_any_qrels_come_back_or_are_refused(to: str, table: Qrels) -> None:
    try:
        data, _ = qrels_as_bytes(table, to)
    except InputError:
        return

    assert expected_qrels(table, to) == read_both_ways(parse_qrels, data, to, contents_of_qrels)


@pytest.mark.parametrize("to", FORMATS)
@given(run=runs(plain_ids), tag=st.none() | plain_ids)
def test_ids_without_blanks_at_the_edges_are_held_by_all(to: str, run: Run, tag: str | None) -> None:
    assume(to != "json" or without_repeats(run))
    given_tag = None if to in ("beir", "msmarco", "json") else tag
    run = without_own_ranks(run, to)
    data, _ = run_as_bytes(run, to, tag=given_tag)

    assert expected_run(run, to, given_tag) == read_both_ways(parse_run, data, to, contents_of_run)


@pytest.mark.parametrize("to", FORMATS)
@given(table=qrels(plain_ids))
def test_grades_come_back_to_the_bit(to: str, table: Qrels) -> None:
    assume(to != "json" or without_repeats(table))
    data, _ = qrels_as_bytes(table, to)

    assert expected_qrels(table, to) == read_both_ways(parse_qrels, data, to, contents_of_qrels)


@pytest.mark.parametrize("to", FORMATS)
@settings(max_examples=60)
@given(case=cases(scores=st.sampled_from([-0.0, 0.0, 1.0, 1.0000000000000002, 5e-324]) | numbers))
def test_values_stay_the_same_to_the_bit(to: str, case: Case, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("converted")
    judgments, run = folder / "qrels", folder / "run"
    judgments.write_bytes(qrels_as_bytes(case.qrels, to)[0])
    run.write_bytes(run_as_bytes(case.run, to)[0])
    measures = ["nDCG", "AP", "RR", "P@3", "Bpref", "RBP"]
    before = evaluate(case.qrels, case.run, measures, unmatched="zero")
    after = evaluate(judgments, run, measures, unmatched="zero")

    assert before.queries == after.queries
    assert before.values.tobytes() == after.values.tobytes()
    assert list(map(float.hex, before.mean().values())) == list(map(float.hex, after.mean().values()))


@given(cases())
def test_made_ranks_are_those_of_the_default_rules(case: Case) -> None:
    by_rank = Run(case.run.queries, case.run.query, case.run.doc, case.run.score, ranks_of(case.run))
    measures = ["nDCG", "AP", "P@2"]
    by_score = evaluate(case.qrels, case.run, measures, unmatched="zero")

    assert (
        by_score.values.tobytes()
        == evaluate(case.qrels, by_rank, measures, rules=Rules(order="rank"), unmatched="zero").values.tobytes()
    )
    for query in np.unique(by_rank.query):
        of_query = sorted(by_rank.rank[by_rank.query == query].tolist())
        assert list(range(1, len(of_query) + 1)) == of_query


@settings(max_examples=60)
@given(case=cases(), to=st.sampled_from(["trec", "jsonl", "csv", "tsv", "parquet", "arrow"]), data=st.data())
def test_other_rules_give_the_same_where_ranks_are_held(to: str, case: Case, data: st.DataObject) -> None:
    """With rules that use the rank column, or the order of the file."""
    ranks = data.draw(st.permutations(range(1, len(case.run) + 1)))
    run = Run(case.run.queries, case.run.query, case.run.doc, case.run.score, np.array(ranks), tag="x")
    back = parse_run(run_as_bytes(run, to)[0])

    for rules in ({"order": "rank"}, {"ties": "rank-column"}, {"ties": "input"}, {"ties": "doc-asc", "depth": 3}):
        before, after = (
            evaluate(case.qrels, table, ["nDCG", "AP"], rules=Rules(**rules), unmatched="zero") for table in (run, back)
        )
        assert before.values.tobytes() == after.values.tobytes()


@pytest.mark.parametrize("to", ["trec", "msmarco", "jsonl", "csv", "tsv", "parquet", "arrow"])
@settings(max_examples=40)
@given(case=topic_cases())
def test_diversity_stays_the_same_where_subtopics_are_held(to: str, case: TopicCase) -> None:
    measures = ["alpha_nDCG@5", "ERR_IA@5", "StRecall@3"]
    before = evaluate(case.qrels, case.run, measures, unmatched="zero")
    after = evaluate(parse_qrels(qrels_as_bytes(case.qrels, to)[0]), case.run, measures, unmatched="zero")

    assert before.values.tobytes() == after.values.tobytes()


@settings(max_examples=60)
@given(run=runs(plain_ids), path=st.permutations(["trec", "jsonl", "csv", "tsv", "parquet", "arrow"]))
def test_no_way_through_the_formats_changes_a_run(run: Run, path: list[str]) -> None:
    """A chain of formats that starts with TREC, which adds missing ranks and tags."""
    start = at = parse_run(run_as_bytes(run, "trec")[0])
    for to in path:
        at = parse_run(run_as_bytes(at, to)[0])

    assert contents_of_run(start) == contents_of_run(at)


@given(runs(st.sampled_from("abcd"), st.sampled_from([-1.0, -0.0, 0.0, 2.0])))
def test_ranks_are_places_in_a_sorted_list(run: Run) -> None:
    rows = list(zip(run.query.tolist(), (-run.score).tolist(), run.doc.tolist(), strict=True))
    expected = [
        1 + sum(other[0] == row[0] and (other[1] < row[1] or (other[1] == row[1] and other[2] > row[2])) for other in rows)
        + rows[:number].count(row)
        for number, row in enumerate(rows)
    ]  # fmt: skip

    assert expected == ranks_of(run).tolist()


@settings(max_examples=60)
@given(run=runs(plain_ids), to=st.sampled_from(FORMATS))
def test_what_is_said_about_a_run_is_what_is_in_it(run: Run, to: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    assume(to != "json" or without_repeats(run))
    path = tmp_path_factory.mktemp("info") / "file"
    path.write_bytes(run_as_bytes(run, to)[0])
    found, table = run_info(path, Reading(to)), parse_run(path.read_bytes(), input_format=to)
    held = contents_of_run(table)
    by_query = [[row for row, query in enumerate(held["query"]) if query == name] for name in table.queries]
    scores = [[table.score[row] for row in rows] for rows in by_query]

    assert (len(by_query), len(table), len(set(held["doc"]))) == (found.queries, found.rows, found.documents)
    sizes = list(map(len, by_query))
    assert Spread(min(sizes), statistics.median(sizes), max(sizes)) == found.documents_per_query
    assert sum(len(set(values)) < len(values) for values in scores) == found.tied_queries
    assert sum(rows[-1] - rows[0] >= len(rows) for rows in by_query) == found.queries_apart
    assert (min(table.score), max(table.score)) == (found.scores.lowest, found.scores.highest)
    assert (table.tag,) == found.tags.first if table.tag else not found.tags.count


@settings(max_examples=60)
@given(table=qrels(plain_ids), to=st.sampled_from(FORMATS))
def test_what_is_said_about_qrels_is_what_is_in_them(
    table: Qrels, to: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    assume(to != "json" or without_repeats(table))
    path = tmp_path_factory.mktemp("info") / "file"
    path.write_bytes(qrels_as_bytes(table, to)[0])
    found, held = qrels_info(path, Reading(to)), expected_qrels(table, to)
    relevant = [
        sum(grade > 0 for grade, code in zip(table.rel, table.query, strict=True) if code == query)
        for query in range(len(table.queries))
    ]

    assert sorted(Counter(table.rel.tolist()).items()) == [(each.grade, each.judgments) for each in found.grades]
    assert Spread(min(relevant), statistics.median(relevant), max(relevant)) == found.relevant_per_query
    assert relevant.count(0) == found.queries_without_relevant
    assert (None if held["iteration"] is None else len(set(held["iteration"]))) == (
        None if found.iterations is None else found.iterations.count
    )
    assert held["doc"][:5] == [row["document"] for row in found.first_rows]
