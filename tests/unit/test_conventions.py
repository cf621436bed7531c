"""`assay conventions`: one row per named convention, each with the value a tool would report and why."""

from __future__ import annotations

import pytest

from assay import Rules, evaluate, parse_qrels, parse_run
from assay.disagreements import compare_conventions
from assay.errors import MeasureError, RulesError
from assay.measures.conventions import CONVENTIONS, convention
from assay.ranking import ranked_documents
from assay.tables import Run

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


RANX_TIES = "ties are in the order of ranx's sort (input order up to 15 documents): 1 query changes"


def rows(measure: str, run=RUN, qrels=QRELS) -> dict:
    return {row.convention: row for row in compare_conventions(qrels, run, [measure])}


def test_every_row_of_rr_is_checked_by_hand():
    """Reciprocal ranks of q1 to q4, the first relevant document at rank ...

    assay         1 (score), 2 (b before a), 2, 1  -> (1 + 1/2 + 1/2 + 1) / 4 = 0.75
    trec_eval-9   the same: no cutoff, 0.9 is no grade any more but 1.9 is 1
    trec_eval-10  the same
    ir_measures   nothing: it does not read 0.9 and 1.9
    ranx          ties of up to 15 documents in the order of the input: a first, the same
    beir          the order of the input, and q3 is dropped: good is first -> (1 + 1 + 1 + 1) / 4
    mteb          as trec_eval-9
    msmarco       by the rank column: right is second -> (1/2 + 1 + 1/2 + 1) / 4
    sentence-transformers  ids ascending, a first -> (1 + 1 + 1/2 + 1) / 4
    torchmetrics  refuses: a and b are equal
    """
    found = rows("RR@10")

    assert {
        "assay": 0.75,
        "trec_eval-9": 0.75,
        "trec_eval-10": 0.75,
        "ranx": 0.875,
        "beir": 1.0,
        "mteb": 0.75,
        "msmarco": 0.75,
        "sentence-transformers": 0.875,
    } == {name: row.value for name, row in found.items() if row.value is not None}
    assert found["torchmetrics"].note == (
        "gives no number: torch does not define the order of equal scores, which changes the value in 1 of 4 queries (q2)"
    )
    assert [True, True] == [found[name].lacking for name in ("sklearn", "opensearch")]
    assert "reports nothing: it reads only whole grades, not 0.9" == found["ir_measures"].note
    assert (RANX_TIES,) == texts(found["ranx"])
    assert (
        "ties are broken by input order: 1 query changes",
        "documents whose id is the query id are dropped: 1 query changes",
    ) == texts(found["beir"])
    # By the rank column q1 loses 1/2 and q2 wins 1/2: the value stays, the queries do not.
    assert (0.0, ()) == (found["msmarco"].difference, found["msmarco"].reasons)


def texts(row) -> tuple[str, ...]:
    return tuple(reason.text for reason in row.reasons)


# A run on which all seven differ.
SEVEN_QRELS = parse_qrels("q1 0 right 1\nq3 0 good 1\nq4 0 x11 1\nq6 0 c 1\nq7 0 a 1\n")
SEVEN_RUN = parse_run(
    "q1 Q0 right 3 9 t\nq1 Q0 other 1 8 t\nq1 Q0 third 2 7 t\n"
    "q3 Q0 q3 1 3 t\nq3 Q0 good 2 2 t\n"
    + "".join(f"q4 Q0 x{n} {n} {20 - n} t\n" for n in range(1, 12))
    + "q6 Q0 d 2 0.9 t\nq6 Q0 c 1 0.900000001 t\n"
    "q7 Q0 b 1 5 t\nq7 Q0 c 2 5 t\nq7 Q0 a 3 5 t\nq7 Q0 d 4 5 t\n"
)


def test_a_run_on_which_all_seven_differ():
    """Reciprocal ranks of q1, q3, q4, q6 and q7, over five queries.

    assay         1, 1/2, 0 (rank 11), 1, 1/4 (d, c, b, a)
    trec_eval-9   1, 1/2, 1/11 (no cutoff), 1/2 (c and d are equal: d first), 1/4
    trec_eval-10  1, 1/2, 1/11 (no cutoff), 1, 1/4
    ir_measures   1, 1/2, 0, 1, 1 (a, b, c, d)
    ranx          1, 1/2, 0, 1, 1/3 (b, c, a, d)
    beir          1, 1 (q3 is dropped), 0, 1, 1/3 (b, c, a, d)
    msmarco       1/3 (rank column), 1/2, 0, 1, 1/3 (rank column)
    """
    rows_of_all = rows("MRR@10", SEVEN_RUN, SEVEN_QRELS)
    by_hand = {
        "assay": 1 + 1 / 2 + 0 + 1 + 1 / 4,
        "trec_eval-9": 1 + 1 / 2 + 1 / 11 + 1 / 2 + 1 / 4,
        "trec_eval-10": 1 + 1 / 2 + 1 / 11 + 1 + 1 / 4,
        "ir_measures": 1 + 1 / 2 + 0 + 1 + 1,
        "ranx": 1 + 1 / 2 + 0 + 1 + 1 / 3,
        "beir": 1 + 1 + 0 + 1 + 1 / 3,
        "msmarco": 1 / 3 + 1 / 2 + 0 + 1 + 1 / 3,
    }

    found = {name: rows_of_all[name] for name in by_hand}
    assert {name: total / 5 for name, total in by_hand.items()} == pytest.approx(
        {name: row.value for name, row in found.items()}, abs=0.00001
    )
    assert 7 == len({row.value for row in found.values()})
    assert (
        "scores are 32-bit floats, which creates false ties: 1 query changes",
        "recip_rank has no cutoff and ignores one",
    ) == texts(found["trec_eval-9"])
    assert ("recip_rank has no cutoff and ignores one",) == texts(found["trec_eval-10"])
    assert ("ties are broken by document id, ascending: 1 query changes",) == texts(found["ir_measures"])
    assert (RANX_TIES,) == texts(found["ranx"])
    assert (
        "ties are broken by input order: 1 query changes",
        "documents whose id is the query id are dropped: 1 query changes",
        "means are rounded to 5 decimals",
    ) == texts(found["beir"])
    assert ("documents are ranked by the rank column, not by score: 2 queries change",) == texts(found["msmarco"])
    for row in found.values():
        assert row.difference == pytest.approx(sum(reason.effect for reason in row.reasons))


EDGE_QRELS = parse_qrels("1 0 found 1\n1 0 missed 1\n2 0 lost 1\n")
EDGE_RUN = parse_run("1 Q0 found 1 -1 t\n1 Q0 other 2 -2 t\n")
BEST = 1 + 0.95 * 2 / 2  # Compat's ideal ranking against itself


@pytest.mark.parametrize(
    ("measure", "ours", "theirs", "reason"),
    [
        (
            "Compat",
            (1 + 0.95 / 2) / BEST / 2,
            (0.95 / 2) / BEST / 2,
            "in the ideal ranking, documents that were not retrieved have a score of 0",
        ),
        ("NumRel", 3, 2, "unanswered queries count as 0"),
        ("NumQ", 2, 1, "unanswered queries count as 0"),
        (
            "Accuracy",
            1 / 2,
            1,
            "queries without a relevant document found are left out if Accuracy is computed alone",
        ),
        (
            "ERR@5",
            (1 / 2) / 2,
            (1 / 16) / 2,
            "the highest grade is assumed to be 4, and values are rounded to 5 decimals",
        ),
    ],
)
def test_what_ir_measures_does_at_the_edges_is_a_reason(measure, ours, theirs, reason):
    """Query 2 has no results; of query 1 one of two relevant documents was found, with a negative score."""
    found = rows(measure, EDGE_RUN, EDGE_QRELS)

    assert [ours, theirs] == pytest.approx([found[name].value for name in ("assay", "ir_measures")])
    assert (reason,) == texts(found["ir_measures"])


def test_where_a_tool_divides_by_0_it_reports_nothing():
    found = rows("Accuracy", parse_run("1 Q0 found 1 2 t\n"), EDGE_QRELS)["ir_measures"]

    assert found.value is None
    assert (
        "reports nothing: ir_measures gives no number for Accuracy: 1 of 2 queries has only relevant documents (1), and it "
        "divides by 0. Use another measure or convention"
    ) == found.note


def test_queries_without_results_are_a_reason():
    """q5 has no results: left out by trec_eval-9, refused by trec_eval-10 and ranx, 0 for others; see each tool's rules."""
    qrels = parse_qrels("q1 0 right 1\nq5 0 lost 1\n")
    found = rows("nDCG@10", parse_run("q1 Q0 right 1 9 t\n"), qrels)

    left_out = dict.fromkeys(["trec_eval-9", "beir", "mteb", "torchmetrics"], 1.0)
    assert left_out | dict.fromkeys(["assay", "ir_measures", "sentence-transformers", "opensearch"], 0.5) == {
        name: row.value for name, row in found.items() if row.value is not None
    }
    assert ("1 query without results is left out: the mean is over 1, not 2",) == texts(found["trec_eval-9"])
    for name in ("trec_eval-10", "ranx"):
        assert "refuses the run: 1 query has no results (q5)" == found[name].note
    assert "reports nothing: MS MARCO's script reports only MRR" == found["msmarco"].note


def test_a_measure_that_a_tool_lacks_is_said():
    found = rows("ERR@10")

    assert (None, "reports nothing: trec_eval-9 has no such measure") == (
        found["trec_eval-9"].value,
        found["trec_eval-9"].note,
    )


def test_rules_that_the_user_changes_win_over_the_convention():
    result = evaluate(SEVEN_QRELS, SEVEN_RUN, ["RR"], like="trec_eval-9", rules=Rules(ties="input"))

    assert ("input", "float32", "both") == (result.rules.ties, result.rules.scores, result.rules.queries)


def test_a_rule_of_a_dict_wins_even_if_it_is_our_default():
    qrels, run = {"a": {"x": 1}, "b": {"x": 1}}, {"a": {"x": 1.0}}

    assert 1.0 == evaluate(qrels, run, ["AP"], like="beir").mean()["AP"]
    assert 0.5 == evaluate(qrels, run, ["AP"], like="beir", rules={"queries": "judged"}).mean()["AP"]
    with pytest.raises(RulesError, match="no rule called 'querys'; did you mean 'queries'"):
        evaluate(qrels, run, ["AP"], rules={"querys": "judged"})


@pytest.mark.parametrize(
    ("name", "measure"),
    [
        *(("trec_eval-9", "Compat"), ("trec_eval-9", "RBP"), ("trec_eval-9", "Unjudged@5"), ("trec_eval-9", "INST")),
        *(
            ("ranx", "alpha_nDCG@5"),
            ("ranx", "NumRelRet"),
            ("ranx", "nDCG(judged_only=True)@5"),
            ("ranx", "nDCG(gain={1: 3})@5"),
            ("ranx", "F(beta=2)@5"),
            ("ranx", "RBP(rel=1)"),
            ("ranx", "IPrec@0.25"),
            ("ir_measures", "binG"),
            ("ir_measures", "AP(norm='cutoff')@5"),
            ("beir", "RR(rel=2)@5"),
        ),
        *(("msmarco", "RR(rel=2)@10"), ("ir_measures", "NumRel(rel=2)")),
        *(("mteb", "R_cap@10"), ("mteb", "nDCG"), ("mteb", "P(rel=2)@5"), ("mteb", "Accuracy@1")),
        *(("sentence-transformers", "Rprec"), ("sentence-transformers", "AP"), ("sentence-transformers", "Accuracy@1")),
        *(
            ("sklearn", "AP"),
            ("sklearn", "RR"),
            ("torchmetrics", "Rprec"),
            ("torchmetrics", "nDCG(judged_only=True)@5"),
        ),
        *(("opensearch", "RR@10"), ("opensearch", "P(rel=2)@5")),
    ],
)
def test_a_tool_reports_only_what_it_has(name, measure):
    with pytest.raises(MeasureError, match=f"^{name} does not report "):
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [measure], like=name)


DOCS = [f"d{number:02}" for number in range(40)]
GRADES = [-1, 3, 2, 1, 0, 3, 2, 0, 0, 3, 2, 1, 0, 3]  # of every third document


@pytest.mark.parametrize(
    ("scores", "by_ranx"),
    [
        ([10.0 - k // 10 for k in range(40)], (0.284685565, 0.215012394, 0.205261948, 0.577777778)),
        ([-1.5] * 40, (0.181224726, 0.095656245, 0.02356358, 0.244444444)),
        ([-float(k % 3) for k in range(15)], (0.212962963, 0.317910262, 1.0625, 0.266666667)),
        ([-float(k % 3) for k in range(16)], (0.287037037, 0.381819651, 0.734375, 0.333333333)),
    ],
    ids=["four scores", "one score", "fifteen documents", "sixteen documents"],
)
def test_ties_under_ranx_are_where_its_sort_leaves_them(scores, by_ranx):
    """The values are from ranx 0.3.21; tests/conventions/test_ranx.py has a thousand more lists."""
    run = dict(zip(DOCS, scores, strict=False))
    lines = parse_run("".join(f"q Q0 {doc} 1 {score} t\n" for doc, score in run.items()))
    names = ["AP", "nDCG@10", "RBP(p=0.5)", "Bpref"]
    for given in ({"q": run}, lines):
        found = evaluate({"q": dict(zip(DOCS[::3], GRADES, strict=True))}, given, names, like="ranx")

        assert by_ranx == pytest.approx(tuple(found.mean().values()), abs=1e-9)


def test_sixteen_documents_in_the_order_of_ranx():
    """As printed by ranx 0.3.21: list(Run({"q": scores})["q"])."""
    run = Run.from_columns(["q"] * 16, DOCS[:16], [-float(number % 3) for number in range(16)])
    order = "d12 d09 d06 d15 d00 d03 d04 d07 d01 d10 d13 d05 d02 d08 d11 d14"

    assert {"q": order.split()} == ranked_documents(run, Rules(ties="ranx"))


def test_the_sort_of_ranx_is_a_reason():
    """Every third of 40 documents is relevant, ten at a time have the same score: ranx gives AP 0.433442569."""
    qrels, run = {"q": dict.fromkeys(DOCS[::3], 1)}, {"q": {doc: 10.0 - k // 10 for k, doc in enumerate(DOCS)}}
    (row,) = [row for row in compare_conventions(qrels, run, ["AP"]) if row.convention == "ranx"]

    assert (RANX_TIES,) == texts(row)
    assert row.value == pytest.approx(0.433442569, abs=1e-9)
    assert evaluate(qrels, run, ["AP"], rules=Rules(ties="ranx")).mean()["AP"] == row.value
    assert evaluate(qrels, run, ["AP"], rules=Rules(ties="input")).mean()["AP"] == pytest.approx(0.4248, abs=0.00005)


def test_other_queries_do_not_change_the_sort_of_ranx():
    """The rows of the query are mixed with those of a judged and of an unjudged one."""
    rows = [(query, doc, 10.0 - k // 10) for k, doc in enumerate(DOCS) for query in ("p", "q", "z")]
    run = parse_run("".join(f"{query} Q0 {doc} 1 {score} t\n" for query, doc, score in rows))
    found = evaluate({"p": {"d00": 1}, "q": dict.fromkeys(DOCS[::3], 1)}, run, ["AP"], like="ranx")

    assert [1.0, 0.433442569] == pytest.approx(found.values[:, 0].tolist(), abs=1e-9)


def test_ranx_has_no_bpref_where_nothing_is_judged_not_relevant():
    qrels, run = {"p": {"a": 1, "b": 0}, "q": {"a": 1}}, {"p": {"a": 1.0}, "q": {"a": 1.0}}
    message = (
        "ranx gives no number for Bpref: 1 of 2 queries has no document judged not relevant (q), and it divides 0 by 0. "
        "Judge such documents, or use another measure or convention."
    )
    with pytest.raises(MeasureError) as error:
        evaluate(qrels, run, ["Bpref"], like="ranx")
    (row,) = [row for row in compare_conventions(qrels, run, ["Bpref"]) if row.convention == "ranx"]

    assert message == str(error.value)
    assert (None, f"reports nothing: {message[:-1]}") == (row.value, row.note)
    assert {"Bpref": 1.0} == evaluate(qrels, run, ["Bpref"]).mean()


@pytest.mark.filterwarnings("ignore:hits@5 is Success@5")
def test_hits_of_ranx_is_something_else():
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 2.0, "b": 1.0}}
    why = "its hits@k is the number of relevant documents among the first k; HitRate@k is its hit_rate@k"
    with pytest.raises(MeasureError) as error:
        evaluate(qrels, run, ["hits@5"], like="ranx")
    found = {row.convention: row for row in compare_conventions(qrels, run, ["hits@5"])}

    assert f"ranx does not report hits@5: {why}." == str(error.value)
    assert (None, f"reports nothing: {why}", 1.0) == (found["ranx"].value, found["ranx"].note, found["assay"].value)
    assert {"HitRate@5": 1.0} == evaluate(qrels, run, ["HitRate@5"], like="ranx").mean()


def test_judgments_by_subtopic_and_duplicates_have_conventions_too():
    qrels = parse_qrels("q1 1 a 1\nq1 2 a 1\nq1 2 c 1\n")
    found = rows("alpha_nDCG@10", parse_run("q1 Q0 a 1 2 t\n"), qrels)

    assert found["assay"].value == found["ir_measures"].value
    twice = parse_run("q1 Q0 a 1 2 t\nq1 Q0 a 2 1 t\n")
    assert len(CONVENTIONS) == len(compare_conventions({"q1": {"a": 1}}, twice, ["RR"], duplicates="first"))


def test_measures_of_one_table_may_be_over_different_queries():
    """BEIR averages nDCG over the queries with results, and MRR over all that are judged."""
    qrels, run = parse_qrels("q1 0 right 1\nq5 0 lost 1\n"), parse_run("q1 Q0 right 1 9 t\n")
    result = evaluate(qrels, run, ["nDCG@10", "RR@10"], like="beir")

    assert (1, 0) == tuple(int(count) for count in result.undefined().values())


def test_a_tool_that_has_a_measure_only_with_a_cutoff_says_so():
    with pytest.raises(MeasureError) as error:
        evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, ["AP"], like="mteb")

    assert "mteb does not report AP: it has AP only with a cutoff, such as AP@10." == str(error.value)


def test_an_unknown_convention_gets_a_hint():
    with pytest.raises(MeasureError, match="no convention called 'trec_eval-8'; did you mean 'trec_eval-9'"):
        convention("trec_eval-8")


def test_ours_changes_nothing():
    assert Rules() == CONVENTIONS["assay"].rules_for(evaluate({"q": {"a": 1}}, {"q": {"a": 1}}, ["AP"]).measures[0])


def test_beir_divides_recall_by_the_relevant_documents_if_there_are_any():
    run = {"q1": {"a": 2.0, "b": 1.0}}

    assert {"R_cap@2": 1.0} == evaluate({"q1": {"a": 1}}, run, ["R_cap@2"], like="beir").mean()
    with pytest.raises(MeasureError, match="it divides by the number of relevant documents, which is 0 in"):
        evaluate({"q1": {"a": 0}}, run, ["R_cap@2"], like="beir")


def test_trec_eval_refuses_precision_at_a_recall_of_nothing_only_for_answered_queries():
    """q2 needs no document for its recall: that is 0 / 0 if its ranking has no judged document, and 0 if it has no ranking."""
    qrels, measure = {"q1": {"a": 1}, "q2": {"b": 0}}, ["IPrec(judged_only=True)@0.1"]

    assert {measure[0]: 1.0} == evaluate(qrels, {"q1": {"a": 1.0}}, measure, like="trec_eval-9").mean()
    with pytest.raises(MeasureError, match="1 of 2 queries has no judged document in the run"):
        evaluate(qrels, {"q1": {"a": 1.0}, "q2": {"x": 1.0}}, measure, like="trec_eval-9")
