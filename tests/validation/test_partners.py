"""Validation of a run against its judgments and topics."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import evaluate, parse_qrels, validate_qrels, validate_run
from assay.errors import InputError
from assay.formats.readings import Reading
from assay.validation.validating import judgments_beside, validate_beside
from validation.cases import GOOD_QRELS, GOOD_RUN

QRELS = parse_qrels(GOOD_QRELS)


@pytest.fixture
def write(tmp_path: Path):
    def written(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return written


def said(validation, code: str) -> list[str]:
    return [finding.message for finding in validation.findings if finding.code == code]


def test_a_judged_query_that_the_run_lacks(write) -> None:
    found = validate_run(write("a.run", GOOD_RUN[: GOOD_RUN.index("2 Q0")]), qrels=QRELS)

    assert ["1 judged query is missing from the run: 2"] == said(found, "RUN050")
    assert found.valid
    assert (("run and qrels", 1, ("1",)), ("qrels only", 1, ("2",))) == found.coverage


def test_queries_in_three_files(write) -> None:
    topics = write("topics.tsv", "1\tone\n2\ttwo\n4\tfour\n")
    found = validate_run(write("a.run", GOOD_RUN + "3 Q0 a 1 2.0 x\n"), qrels=QRELS, queries=topics)

    assert ["1 query in the run is not judged: 3"] == said(found, "RUN051")
    assert ["1 topic is missing from the run: 4"] == said(found, "RUN052")
    assert ["1 query in the run is not in the topics: 3"] == said(found, "RUN053")
    assert (
        ("run, qrels and queries", 2, ("1", "2")),
        ("run only", 1, ("3",)),
        ("queries only", 1, ("4",)),
    ) == found.coverage


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [
        ("01", "1", "leading zeros"),
        ("Q1", "q1", "letter case"),
        ("q1", "1", "letters before the number"),
        ("e\u0301", "\u00e9", "Unicode normalisation"),
        ("\uff11", "1", "Unicode normalisation"),
        ("Q01", "q1", "letter case and leading zeros"),
    ],
)
def test_query_ids_that_are_nearly_the_same(write, ours: str, theirs: str, why: str) -> None:
    found = validate_run(write("a.run", f"{ours} Q0 a 1 1.0 x\n"), qrels=parse_qrels(f"{theirs} 0 a 1\n"))
    finding = next(f for f in found.findings if f.code == "RUN054")

    assert f"'{ours}' here, '{theirs}' in the other file ({why})" == finding.examples[0].text
    assert not found.valid


def test_two_candidates_are_no_match(write) -> None:
    """Never guess: 01 may be 1 or 001."""
    found = validate_run(write("a.run", "01 Q0 a 1 1.0 x\n"), qrels=parse_qrels("1 0 a 1\n001 0 a 1\n"))

    assert [] == said(found, "RUN054")


@pytest.mark.parametrize(
    ("ours", "theirs", "why"),
    [("D1", "d1", "letter case"), ("001", "1", "leading zeros"), ("e\u0301", "\u00e9", "Unicode normalisation")],
)
def test_document_ids_that_are_nearly_the_same(write, ours: str, theirs: str, why: str) -> None:
    found = validate_run(write("a.run", f"1 Q0 {ours} 1 1.0 x\n"), qrels=parse_qrels(f"1 0 {theirs} 1\n"))
    finding = next(f for f in found.findings if f.code == "RUN055")

    assert f"{ours} in the run, {theirs} in the qrels ({why})" == finding.examples[0].text
    assert 1 == finding.line


def test_documents_that_are_both_there_are_two(write) -> None:
    found = validate_run(write("a.run", "1 Q0 D1 1 2.0 x\n1 Q0 d1 2 1.0 x\n"), qrels=parse_qrels("1 0 d1 1\n"))

    assert [] == said(found, "RUN055")


def test_nothing_in_common(write) -> None:
    found = validate_run(write("a.run", GOOD_RUN), qrels=parse_qrels("301 0 a 1\n302 0 b 1\n"))

    assert ["the run (1, 2) and the judgments (301, 302) have no query in common"] == said(found, "RUN056")
    assert not found.valid


def test_what_nobody_has_judged(write) -> None:
    found = validate_run(write("a.run", "1 Q0 x 1 2.0 t\n1 Q0 y 2 1.5 t\n1 Q0 a 3 1.0 t\n"), qrels=QRELS)
    finding = next(f for f in found.findings if f.code == "RUN057")

    assert ("warning", "documents not judged: 67% of the top 10, 67% of the top 100") == (
        finding.severity,
        finding.message,
    )


def test_how_far_ties_decide_figures(write) -> None:
    found = validate_run(write("a.run", "1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n"), qrels=parse_qrels("1 0 a 1\n"))

    assert "RR@10 from 0.5000 to 1.0000" in said(found, "RUN059")[0]
    assert "RUN030" in found.codes()


def test_ties_across_a_cutoff(write) -> None:
    run = "".join(f"1 Q0 d{n} {n} {1.0 if n > 8 else 20.0 - n} t\n" for n in range(1, 13))
    found = validate_run(write("a.run", run))

    assert ["1 query has tied scores (across rank 10 in 1)"] == said(found, "RUN030")


def test_judgments_that_cannot_be_read_are_a_finding(write) -> None:
    found = validate_run(write("a.run", GOOD_RUN), qrels=write("bad.qrels", "1 0 a x\n"))
    finding = next(f for f in found.findings if f.code == "RUN058")

    assert "bad.qrels:1: grade 'x' is not a number" in finding.examples[0].text
    assert not found.valid


def test_judgments_that_are_not_there_are_refused(write) -> None:
    with pytest.raises(InputError, match="no such file"):
        validate_run(write("a.run", GOOD_RUN), qrels="nowhere.qrels")


def test_a_limit_of_depth(write) -> None:
    found = validate_run(write("a.run", GOOD_RUN), max_depth=2)
    finding = next(f for f in found.findings if f.code == "RUN040")

    assert ("1 query has more documents than allowed", 3) == (finding.message, finding.line)
    assert "3 documents, 2 allowed" == finding.examples[0].text
    assert "RUN040" not in validate_run(write("a.run", GOOD_RUN)).codes()


@pytest.mark.parametrize(
    ("run", "code"),
    [
        (GOOD_RUN.replace("2 8.0", "1 8.0"), "RUN022"),
        ("".join(f"1 Q0 {'a' if n == 1 else n} {n} {200 - n} x\n" for n in range(1, 102)), "RUN040"),
        ("1\ta\t1\n1\tb\t2\n", "RUN070"),
        ("1 Q0 a 1 2.0 x more\n1 Q0 b 2 1.0 x more\n", "RUN006"),
        (GOOD_RUN[: GOOD_RUN.index("2 Q0")], "RUN050"),
        ("", "RUN002"),
    ],
)
def test_the_profile_of_trec_rag_makes_errors_of_them(write, run: str, code: str) -> None:
    path = write("a.run", run)

    assert code in [
        f.code for f in validate_run(path, qrels=QRELS, profile="trec-rag").findings if f.severity == "error"
    ]
    assert validate_run(path, qrels=QRELS).valid or code == "RUN002"


def test_a_good_run_passes_the_profile(write) -> None:
    assert validate_run(write("a.run", GOOD_RUN), qrels=QRELS, profile="trec-rag").valid


def test_a_profile_that_there_is_not(write) -> None:
    with pytest.raises(InputError, match=r"no profile called 'trec-rga'; did you mean 'trec-rag'\?"):
        validate_run(write("a.run", GOOD_RUN), profile="trec-rga")


def test_judgments_and_topics(write) -> None:
    found = validate_qrels(write("a.qrels", GOOD_QRELS + "03 0 a 1\n5 0 a 1\n"), queries=write("t.tsv", "1\n2\n3\n4\n"))

    assert ["1 topic has no judgments: 4"] == said(found, "QRL052")
    assert ["1 judged query is not in the topics: 5"] == said(found, "QRL053")
    assert ["leading zeros: 1 query id would match a topic if written the same way"] == said(found, "QRL054")


def test_topics_that_cannot_be_read_are_a_finding(write) -> None:
    found = validate_qrels(write("a.qrels", GOOD_QRELS), queries=write("t.jsonl", '{"text": "no id"}\n'))

    assert "QRL058" in found.codes()


def test_values_of_python_are_validated_too() -> None:
    found = validate_run({"q1": {"a": 1.0, "b": 1.0}}, qrels={"q1": {"a": 1, "n": 0}, "q2": {"a": 1}})

    assert {"RUN030", "RUN032", "RUN050", "RUN057", "RUN059"} == set(found.codes())


def test_letters_are_grades_if_one_says_what_they_are_worth(write) -> None:
    path = write("a.qrels", "1 0 a E\n1 0 b I\n")

    assert not validate_qrels(path).valid
    assert validate_qrels(path, reading=Reading(grades={"E": 3, "I": 0})).valid


def test_findings_beside_an_evaluation(write) -> None:
    run, qrels = write("a.run", GOOD_RUN[: GOOD_RUN.index("2 Q0")] + "3 Q0 a 1 1.0 y\n"), write("a.qrels", GOOD_QRELS)

    found = validate_beside(evaluate(qrels, run), judgments_beside(qrels), run)

    assert ["QRL041", "RUN050", "RUN060", "RUN051", "RUN057"] == [finding.code for finding in found]


def test_a_large_run_is_not_looked_at_twice(write, monkeypatch) -> None:
    monkeypatch.setattr("assay.validation.validating.LARGE", 10)
    run, qrels = write("a.run", GOOD_RUN.replace("2 Q0 e 2 3.0 x", "2 Q0 e 2 3.0 y")), write("a.qrels", GOOD_QRELS)

    assert ["RUN057", "RUN072"] == [f.code for f in validate_beside(evaluate(qrels, run), judgments_beside(qrels), run)]
    assert [] == [f for f in validate_beside(evaluate(qrels, run), judgments_beside({}), "-") if f.code != "RUN057"]
