"""`assay conventions`: one row per named convention, each with the value a tool would report and why."""

from __future__ import annotations

import pytest

from assay import Rules, evaluate, parse_qrels, parse_run
from assay.conventions import compare_conventions
from assay.errors import MeasureError
from assay.measures.conventions import CONVENTIONS, convention

# q1: the ranks contradict the scores; q2: a and b are equal, as 64-bit floats c and d are not;
# q3: the first document has the query's own id; q4: fractional grades; every query is answered.
QRELS = parse_qrels(
    """
    q1 0 right 1
    q2 0 a 1
    q2 0 c 1
    q3 0 good 1
    q4 0 half 0.9
    q4 0 full 1.9
    """
)
RUN = parse_run(
    """
    q1 Q0 right 2 9 t
    q1 Q0 other 1 1 t
    q2 Q0 a 1 5 t
    q2 Q0 b 2 5 t
    q2 Q0 c 3 0.900000001 t
    q2 Q0 d 4 0.9 t
    q3 Q0 q3 1 3 t
    q3 Q0 good 2 2 t
    q4 Q0 full 1 2 t
    q4 Q0 half 2 1 t
    """
)


def rows(measure: str, run=RUN, qrels=QRELS) -> dict:
    return {row.convention: row for row in compare_conventions(qrels, run, [measure])}


def test_every_row_of_rr_is_checked_by_hand():
    """Reciprocal ranks of q1 to q4, the first relevant document at rank ...

    assay         1 (score), 2 (b before a), 2, 1  -> (1 + 1/2 + 1/2 + 1) / 4 = 0.75
    trec_eval-9   the same: no cutoff, 0.9 is no grade any more but 1.9 is 1
    trec_eval-10  the same
    ir_measures   RR@10 orders ties by id ascending: a first -> (1 + 1 + 1/2 + 1) / 4
    ranx          ties in the order of the input: a first, the same
    beir          the order of the input, and q3 is dropped: good is first -> (1 + 1 + 1 + 1) / 4
    msmarco       by the rank column: right is second -> (1/2 + 1 + 1/2 + 1) / 4
    """
    found = rows("RR@10")

    assert {
        "assay": 0.75,
        "trec_eval-9": 0.75,
        "trec_eval-10": 0.75,
        "ir_measures": 0.875,
        "ranx": 0.875,
        "beir": 1.0,
        "msmarco": 0.75,
    } == {name: row.value for name, row in found.items()}
    assert ("equal scores are ordered by id ascending: 1 query changes",) == texts(found["ir_measures"])
    assert ("equal scores keep the order of the input: 1 query changes",) == texts(found["ranx"])
    assert (
        "equal scores keep the order of the input: 1 query changes",
        "documents with the query's own id are dropped: 1 query changes",
    ) == texts(found["beir"])
    # By the rank column q1 loses 1/2 and q2 wins 1/2: the value stays, the queries do not.
    assert (0.0, ()) == (found["msmarco"].difference, found["msmarco"].reasons)


def texts(row) -> tuple[str, ...]:
    return tuple(reason.text for reason in row.reasons)


# A run on which all seven differ: a query without results, one beyond rank 10, and the cases of above.
SEVEN_QRELS = parse_qrels(
    "q1 0 right 1\nq2 0 a 1\nq3 0 good 1\nq4 0 x12 1\nq5 0 lost 1\nq6 0 c 1\n",
)
SEVEN_RUN = parse_run(
    "q1 Q0 right 2 9 t\nq1 Q0 other 1 1 t\nq1 Q0 third 3 0.5 t\n"
    "q2 Q0 a 1 5 t\nq2 Q0 b 2 5 t\n"
    "q3 Q0 q3 1 3 t\nq3 Q0 good 2 2 t\n"
    + "".join(f"q4 Q0 x{n} {n} {20 - n} t\n" for n in range(1, 13))
    + "q6 Q0 d 2 0.9 t\nq6 Q0 c 1 0.900000001 t\n"
)


def test_a_run_on_which_all_seven_differ():
    """Reciprocal ranks of q1 to q4 and q6; q5 has no results.

    assay         1, 1/2, 1/2, 0 (rank 12), 1                 over 6: 3 / 6
    trec_eval-9   1, 1/2, 1/2, 1/12 (no cutoff), 1/2 (tie)    over 5: (2.5 + 1/12) / 5
    trec_eval-10  refuses: q5 has no results
    ir_measures   1, 1 (a first), 1/2, 0, 1                   over 6: 3.5 / 6
    ranx          refuses: q5 has no results
    beir          1, 1, 1 (q3 dropped), 0, 1                  over 6: 4 / 6
    msmarco       1/2 (rank column), 1, 1/2, 0, 1             over 6: 3 / 6
    """
    found = rows("MRR@10", SEVEN_RUN, SEVEN_QRELS)

    assert 0.5 == found["assay"].value
    assert (2.5 + 1 / 12) / 5 == pytest.approx(found["trec_eval-9"].value)
    assert (
        "scores are 32-bit floats, which makes false ties: 1 query changes",
        "1 query without results is left out: the mean is over 5, not 6",
        "recip_rank knows no cutoff and ignores one",
    ) == texts(found["trec_eval-9"])
    assert found["trec_eval-9"].difference == pytest.approx(sum(r.effect for r in found["trec_eval-9"].reasons))
    assert (None, "refuses the run: 1 query has no results (q5)") == (
        found["trec_eval-10"].value,
        found["trec_eval-10"].note,
    )
    assert 3.5 / 6 == pytest.approx(found["ir_measures"].value)
    assert (None, "refuses the run: 1 query has no results (q5)") == (found["ranx"].value, found["ranx"].note)
    assert 0.66667 == found["beir"].value
    assert texts(found["beir"])[-1] == "means are rounded to 5 decimals"
    assert 0.5 == found["msmarco"].value
    explained = {(row.value, texts(row), row.note) for row in found.values()}
    assert 6 <= len(explained)  # the two that refuse do so alike, all others differ in value or reasons


def test_a_measure_that_a_tool_lacks_is_said():
    found = rows("ERR@10")

    assert (None, "reports nothing: trec_eval has no such measure") == (
        found["trec_eval-9"].value,
        found["trec_eval-9"].note,
    )


def test_rules_that_the_user_changes_win_over_the_convention():
    result = evaluate(SEVEN_QRELS, SEVEN_RUN, ["RR"], like="trec_eval-9", rules=Rules(ties="input"))

    assert ("input", "float32", "both") == (result.rules.ties, result.rules.scores, result.rules.queries)


def test_measures_of_one_table_may_be_over_different_queries():
    """BEIR averages nDCG over the queries with results, and MRR over all that are judged."""
    result = evaluate(SEVEN_QRELS, SEVEN_RUN, ["nDCG@10", "RR@10"], like="beir")

    assert (1, 0) == tuple(int(count) for count in result.undefined().values())


def test_an_unknown_convention_gets_a_hint():
    with pytest.raises(MeasureError, match="no convention called 'trec_eval-8'; did you mean 'trec_eval-9'"):
        convention("trec_eval-8")


def test_ours_changes_nothing():
    assert Rules() == CONVENTIONS["assay"].rules_for(evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["AP"]).measures[0])
