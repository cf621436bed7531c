"""Several judgments of one document: which grade counts, and how far the judges agree."""

from __future__ import annotations

import math
import pickle
import random
import statistics
from itertools import combinations

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import fleiss_kappa

from assay import Evaluator, Qrels, Rules, Run, concat, evaluate, merge_judges, parse_qrels, read_qrels
from assay.errors import DuplicateError
from assay.judges import Agreement, agreement_of, interval_alpha, ordinal_alpha
from assay.judgments import index_judgments
from assay.topics import index_topics
from strategies import run_of

# d1: 2, 0 and 2; d2: 1 from one judge; d3: 0 and 1; in q2, d1: 1 and 1
TEXT = "q1 A d1 2\nq1 A d2 1\nq1 B d1 0\nq1 A d3 0\nq1 B d3 1\nq1 C d1 2\nq2 A d1 1\nq2 B d1 1\n"
QRELS = parse_qrels(TEXT)
RUN = run_of({"q1": {"d3": 3.0, "d1": 2.0, "d2": 1.0}, "q2": {"d9": 2.0, "d1": 1.0}})


# Which grade counts


@pytest.mark.parametrize(
    ("judges", "grades"),
    [
        ("first", [2.0, 1.0, 0.0, 1.0]),
        ("best", [2.0, 1.0, 1.0, 1.0]),
        ("mean", [4 / 3, 1.0, 0.5, 1.0]),
        ("median", [2.0, 1.0, 0.5, 1.0]),
        ("majority", [2.0, 1.0, 0.0, 1.0]),  # d3 has 0 and 1 equally often: the lower
    ],
)
def test_one_grade_of_several(judges, grades):
    merged = merge_judges(QRELS, judges).qrels

    assert ["d1", "d2", "d3", "d1"] == merged.doc.tolist()
    assert grades == merged.rel.tolist() == index_judgments(QRELS, judges).rel.tolist()


GRADES = st.sampled_from([-2.0, 0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0])


@given(st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("abc"), GRADES), min_size=1, max_size=25))
def test_the_grades_are_those_of_pythons_statistics(rows):
    query, doc, grade = zip(*rows, strict=True)
    qrels = Qrels.from_columns(query, doc, grade)
    by_pair: dict[tuple[str, str], list[float]] = {}
    for row in rows:
        by_pair.setdefault(row[:2], []).append(row[2])
    expected = {
        "first": lambda grades: grades[0],
        "best": max,
        "mean": statistics.mean,
        "median": statistics.median,
        "majority": lambda grades: min(statistics.multimode(grades)),
    }

    for judges, of in expected.items():
        merged = merge_judges(qrels, judges).qrels
        assert list(by_pair) == [
            (merged.queries[code], doc) for code, doc in zip(merged.query, merged.doc, strict=True)
        ]
        assert [of(grades) for grades in by_pair.values()] == pytest.approx(merged.rel.tolist(), abs=1e-15)


def test_the_order_of_the_judges_does_not_change_a_bit():
    grades = [0.1, 0.7, 0.2, 1.3, 0.4, 2.9, 0.3]
    means = set()
    for seed in range(50):
        random.Random(seed).shuffle(grades)
        means |= set(merge_judges(Qrels.from_columns(["q"] * 7, ["a"] * 7, grades), "mean").qrels.rel.tolist())

    assert 1 == len(means)
    assert [0.1] == merge_judges(Qrels.from_columns(["q"] * 3, ["a"] * 3, [0.1] * 3), "mean").qrels.rel.tolist()


def test_qrels_with_one_judgment_per_document_stay_as_they_are():
    qrels = parse_qrels("q 1 a 1\nq 1 b 0\np 2 a 1")

    assert qrels is merge_judges(qrels).qrels
    assert None is merge_judges(qrels, "mean").agreement


def test_column_2_is_kept_only_if_it_does_not_differ_between_judges():
    same = merge_judges(parse_qrels("q 7 a 1\nq 7 a 0\nq 8 b 0"), "best")
    judges = merge_judges(QRELS, "best")

    assert (["7", "8"], False) == (same.qrels.iteration.tolist(), same.column_2_differs)
    assert (None, True) == (judges.qrels.iteration, judges.column_2_differs)


def test_the_rule_changes_the_values():
    """d3 is at rank 1: relevant for its best grade, and not for the mean of 0.5, which is below rel=1."""
    values = {
        judges: evaluate(QRELS, RUN, ["P@1", "P(rel=0.5)@1"], rules=Rules(judges=judges)).mean()
        for judges in ("first", "best", "mean", "median", "majority")
    }

    assert [0.0, 0.5, 0.0, 0.0, 0.0] == [found["P@1"] for found in values.values()]
    assert [0.0, 0.5, 0.5, 0.5, 0.0] == [found["P(rel=0.5)@1"] for found in values.values()]


def test_judges_are_about_qrels_and_duplicates_about_runs():
    twice = Run.from_columns(["q1", "q1"], ["d1", "d1"], [1.0, 2.0])

    with pytest.raises(DuplicateError, match="is judged"):
        evaluate(QRELS, RUN, rules=Rules(duplicates="first"))
    with pytest.raises(DuplicateError, match="is retrieved more than once"):
        evaluate(QRELS, twice, rules=Rules(judges="first"))
    evaluate(QRELS, twice, rules=Rules(judges="first", duplicates="first"))


@pytest.mark.parametrize("measures", [["nDCG@3", "AP"], ["alpha_nDCG@3"], ["AP", "alpha_nDCG@3"]])
def test_whole_grades_are_truncated_after_merging(measures):
    """As if the merged qrels were given to trec_eval: the mean 4/3 becomes 1, and 0.5 becomes 0."""
    fractions = parse_qrels("q1 0 d1 2.9\nq1 0 d1 0.2\nq1 0 d3 0.6\nq1 0 d3 0.6\nq1 0 d2 1.5\nq1 0 d2 1.7\n")
    like = "trec_eval-9" if "alpha_nDCG@3" not in measures else "assay"
    for judges in ("first", "best", "mean", "median", "majority"):
        merged = merge_judges(fractions, judges).qrels
        later = evaluate(merged, RUN, measures, like=like)

        assert (
            later.values.tolist()
            == evaluate(fractions, RUN, measures, like=like, rules=Rules(judges=judges)).values.tolist()
        )
        whole = index_topics(fractions, judges, whole_grades=True).judgments.rel.tolist()
        assert (
            np.trunc(merged.rel).tolist() == whole == index_judgments(fractions, judges, whole_grades=True).rel.tolist()
        )


def test_judges_of_a_subtopic():
    """Subtopic 1 has two judgments of a, subtopic 2 has one: only the former are merged."""
    qrels = parse_qrels("q 1 a 0\nq 1 a 1\nq 2 a 3\nq 2 b 1")
    topics = index_topics(qrels, "mean")

    assert [0.5, 3.0, 1.0] == topics.matrix.cell_rel.tolist()
    assert [3.0, 1.0] == topics.judgments.rel.tolist()
    assert (3, 1) == (topics.judgments.agreement.documents, topics.judgments.agreement.several)


def test_a_table_may_have_a_column_with_the_judge(tmp_path):
    path = tmp_path / "judged.csv"
    path.write_text("query_id,doc_id,assessor,relevance\nq,a,ann,2\nq,a,bob,1\nq,b,ann,0\n")

    assert [1.5, 0.0] == index_judgments(read_qrels(path), "mean").rel.tolist()


# Errors


def complaint(text: str, **options: bool) -> str:
    with pytest.raises(DuplicateError) as caught:
        merge_judges(parse_qrels(text) if isinstance(text, str) else text, **options)
    return str(caught.value)


def test_several_judgments_are_an_error_by_default():
    assert (
        "<text>:3: document d1 is judged 3 times for query q1, with grades 2, 0, 2 (lines 1, 3, 6). In all, 3 documents "
        "have several judgments, 2 of them with different grades. Column 2 differs (A, B, C); if it holds subtopics, use "
        "measures such as alpha_nDCG. Choose which grade counts: `Rules(judges='mean')`, median, majority, best or first."
    ) == complaint(TEXT)


def test_repeated_rows_with_the_same_grade_are_another_problem():
    assert (
        "<text>:2: document a is judged twice for query q, with grade 1 each time (lines 1, 2). "
        "Remove the repeated rows, or keep the first (`Rules(judges='first')`)."
    ) == complaint("q 0 a 1\nq 0 a 1\nq 0 b 1")
    assert (
        "<text>:2: document a is judged twice for query q, with grade 1 each time (lines 1, 2). In all, 2 documents have "
        "several judgments, never with different grades. Remove the repeated rows, or keep the first (`Rules(judges='first')`)."
    ) == complaint("q 0 a 1\nq 0 a 1\nq 0 b 0\nq 0 b 0")


def test_the_message_needs_no_lines_and_lists_a_few():
    many = Qrels.from_columns(["q"] * 7, ["a"] * 7, range(7))

    assert (
        "qrels: document a is judged 7 times for query q, with grades 0, 1, 2, 3, 4 and 2 more. "
        "Choose which grade counts: `Rules(judges='mean')`, median, majority, best or first."
    ) == complaint(many)
    with pytest.raises(DuplicateError) as caught:
        merge_judges(QRELS)
    assert (("q1", "d1"), ("q1", "d3"), ("q1", "d1"), ("q2", "d1")) == caught.value.pairs


# Agreement

# Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C; None: not judged
FOUR_JUDGES = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def columns(table: list[list[float | None]]) -> tuple[np.ndarray, np.ndarray]:
    """The grades, and the document of each."""
    found = [(grade, doc) for judge in table for doc, grade in enumerate(judge) if grade is not None]
    return np.array([grade for grade, _ in found], float), np.array([doc for _, doc in found])


def paired(table: list[list[float | None]]) -> tuple[np.ndarray, np.ndarray]:
    """The same, without documents that have one grade, which alpha ignores."""
    grade, doc = columns(table)
    again = np.bincount(doc)[doc] > 1
    return grade[again], np.unique(doc[again], return_inverse=True)[1]


def test_alpha_of_the_published_example():
    assert 0.815 == round(ordinal_alpha(*paired(FOUR_JUDGES)), 3)
    assert 0.849 == round(interval_alpha(*paired(FOUR_JUDGES)), 3)
    assert 0.815 == round(agreement_of(*columns(FOUR_JUDGES)).alpha, 3)


@pytest.mark.parametrize("seed", range(60))
def test_alpha_is_that_of_another_implementation(seed):
    """Random judges who leave documents out, with whole and fractional grades."""
    draw = random.Random(seed)
    scale = draw.choice([[0, 1], [0, 1, 2, 3], [-1, 0, 0.5, 2.25, 7]])
    docs, judges = draw.randint(5, 40), draw.randint(2, 5)
    table = [[draw.choice(scale) if draw.random() < 0.6 else None for _ in range(docs)] for _ in range(judges)]
    grade, doc = paired(table)
    given = [[math.nan if value is None else value for value in row] for row in table]

    if len(set(grade.tolist())) > 1:
        for level, ours in (("ordinal", ordinal_alpha), ("interval", interval_alpha)):
            theirs = krippendorff.alpha(given, level_of_measurement=level, value_domain=scale)
            assert theirs == pytest.approx(ours(grade, doc), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_alpha_is_fleiss_kappa_up_to_its_correction_for_small_samples(seed):
    """With the same number of judges and two grades: 1 - alpha = (1 - kappa) (n - 1) / n for n judgments."""
    draw = np.random.default_rng(seed)
    judges, docs = 3, 15
    relevant = draw.integers(0, judges + 1, docs)
    grade = np.concatenate([[1.0] * number + [0.0] * (judges - number) for number in relevant.tolist()])
    kappa = fleiss_kappa(np.column_stack([judges - relevant, relevant]))
    n = judges * docs

    assert 1 - (1 - kappa) * (n - 1) / n == pytest.approx(ordinal_alpha(grade, np.repeat(np.arange(docs), judges)))


@given(st.lists(st.tuples(st.integers(0, 4), GRADES), min_size=1, max_size=20))
def test_the_counts_are_those_of_all_pairs(rows):
    docs = sorted({doc for doc, _ in rows})
    by_doc = [[grade for other, grade in rows if other == doc] for doc in docs]
    pairs = [pair for grades in by_doc for pair in combinations(grades, 2)]
    found = agreement_of(np.array([grade for _, grade in rows]), np.array([docs.index(doc) for doc, _ in rows]))

    assert (len(docs), sum(len(grades) > 1 for grades in by_doc)) == (found.documents, found.several)
    assert sum(len(set(grades)) > 1 for grades in by_doc) == found.disputed
    assert sum(len(grades) for grades in by_doc if len(grades) > 1) == found.judgments
    assert (sum(a == b for a, b in pairs) / len(pairs) if pairs else 1.0) == found.equal_pairs


def test_judges_who_always_give_the_same_grade_have_no_alpha():
    assert Agreement(documents=2, several=1, disputed=0, judgments=2, equal_pairs=1.0, alpha=None) == agreement_of(
        np.array([1.0, 1.0, 0.0]), np.array([0, 0, 1])
    )


def test_an_evaluation_and_its_parts_say_how_far_the_judges_agree():
    """Pairs: three of d1 in q1 (one agrees), one of d3 (none), one of d1 in q2 (agrees): 2 of 5."""
    evaluator = Evaluator(QRELS, ["AP"], Rules(judges="mean"))
    found = evaluator.evaluate(RUN).coverage.agreement
    parts = [evaluator.part([query]).evaluate(RUN) for query in ("q1", "q2")]

    assert (4, 3, 2, 7, 0.4) == (found.documents, found.several, found.disputed, found.judgments, found.equal_pairs)
    assert found == concat(parts).coverage.agreement
    assert found == pickle.loads(pickle.dumps(evaluator.judgments)).agreement
    assert None is evaluate({"q1": {"d1": 1}}, RUN).coverage.agreement
