"""One cause gives one finding, which names the policy that repairs it; the repaired file no longer has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay import evaluate, fix_run, validate_qrels, validate_run

QUERIES = [str(n) for n in range(1, 13)]
QRELS = "".join(f"{query} 0 d{query}x{n} {int(n < 3)}\n" for query in QUERIES for n in range(5))
RUN = "".join(f"{query} Q0 d{query}x{n} {n + 1} {9 - n} x\n" for query in QUERIES for n in range(5))


@pytest.fixture
def files(tmp_path: Path, monkeypatch):
    """Files by name, in the current folder."""
    monkeypatch.chdir(tmp_path)

    def write(**texts: str) -> None:
        for name, text in texts.items():
            Path(name.replace("_", ".")).write_text(text)

    return write


def padded(text: str, as_written="{:>03}") -> str:
    return "".join(
        f"{as_written.format(query)} {rest}\n" for query, _, rest in (line.partition(" ") for line in text.splitlines())
    )


def found_in(run: str = "a.run", **others):
    return [(each.code, each.severity, each.message, each.explains) for each in validate_run(run, **others).findings]


def test_leading_zeros_are_one_finding_instead_of_six(files) -> None:
    """The run pads its query ids; the judgments and the topics do not."""
    files(q_txt=QRELS, a_run=padded(RUN), topics_tsv="".join(f"{query}\ttext\n" for query in QUERIES))
    (finding,) = (each for each in validate_run("a.run", qrels="q.txt", queries="topics.tsv").findings)

    assert ("RUN054", "error", 12) == (finding.code, finding.severity, finding.count)
    assert "leading zeros: 12 query ids would match if written the same way" == finding.message
    assert ("RUN050", "RUN051", "RUN056", "RUN052", "RUN053") == finding.explains
    assert "ids=strip-zeros" == finding.policy
    assert "Rewrite them: assay runs validate RUN --qrels QRELS --fix OUT --policy ids=strip-zeros." == finding.fix

    repairs = fix_run("a.run", "b.run", policies={"ids": "strip-zeros"}, qrels="q.txt", queries="topics.tsv")
    assert RUN == "".join(line for line in Path("b.run").read_text().splitlines(True) if not line.startswith("#"))
    assert [] == found_in("b.run", qrels="q.txt", queries="topics.tsv")
    assert evaluate("q.txt", "b.run", ["nDCG@10"]).mean()["nDCG@10"] == repairs.policies[0].after


@pytest.mark.parametrize(
    ("as_written", "what", "policy"),
    [
        ("Q{}", "the prefix 'Q'", "ids=strip-prefix=Q"),
        ("topic-{}", "the prefix 'topic-'", "ids=strip-prefix=topic-"),
        ("\u00a0{}", "surrounding blanks", "blanks=trim"),
    ],
)
def test_other_causes(files, as_written: str, what: str, policy: str) -> None:
    files(q_txt=QRELS, a_run=padded(RUN, as_written))
    (finding,) = validate_run("a.run", qrels="q.txt").findings

    assert policy == finding.policy
    assert what in finding.message or "invisible characters" in finding.message
    fix_run("a.run", "b.run", policies=dict([policy.split("=", 1)]), qrels="q.txt")
    assert [] == found_in("b.run", qrels="q.txt")


def test_invisible_characters_are_the_cause_of_what_they_do(files) -> None:
    files(q_txt=QRELS, a_run=padded(RUN, "{}\u00a0"))
    (finding,) = validate_run("a.run", qrels="q.txt").findings

    assert ("RUN068", "error", 60, 1) == (finding.code, finding.severity, finding.count, finding.line)
    assert ("RUN054", "RUN050", "RUN051", "RUN056") == finding.explains
    assert "Rewrite them: assay runs validate RUN --qrels QRELS --fix OUT --policy blanks=trim." == finding.fix


def test_byte_order_marks_in_the_middle_too(files) -> None:
    files(q_txt=QRELS, a_run=RUN.replace("7 Q0", "\ufeff7 Q0"))

    ((code, severity, _, explains),) = found_in(qrels="q.txt")
    assert ("RUN071", "error", ("RUN054", "RUN050", "RUN051")) == (code, severity, explains)
    fix_run("a.run", "b.run", policies={"blanks": "trim"})
    assert [] == found_in("b.run", qrels="q.txt")


def test_what_the_cause_does_not_explain_stays(files) -> None:
    """Query 13 is missing and 99 is not judged, however ids are written."""
    files(q_txt=QRELS + "13 0 d1 1\n", a_run=padded(RUN) + "99 Q0 d1 1 3.0 x\n")

    assert [
        ("RUN054", "error", "leading zeros: 12 query ids would match if written the same way", ("RUN056",)),
        ("RUN050", "warning", "1 judged query is missing from the run: 13", ()),
        ("RUN051", "note", "1 query in the run is not judged: 99", ()),
    ] == found_in(qrels="q.txt")


def test_two_causes_are_two_findings(files) -> None:
    files(q_txt="1 0 a 1\n2 0 a 1\nx 0 a 1\n", a_run="01 Q0 a 1 9 t\n02 Q0 a 1 9 t\nX Q0 a 1 9 t\n")

    assert [
        ("RUN054", "leading zeros: 2 query ids would match if written the same way", ("RUN050", "RUN051", "RUN056")),
        ("RUN054", "letter case: 1 query id would match if written the same way", ()),
    ] == [(code, message, explains) for code, _, message, explains in found_in(qrels="q.txt")]


def test_it_is_the_run_that_is_written_as_the_judgments(files) -> None:
    files(q_txt=padded(QRELS), a_run=RUN)
    (finding,) = validate_run("a.run", qrels="q.txt").findings

    assert "Rewrite them: assay runs validate RUN --qrels QRELS --fix OUT --policy ids=as-qrels." == finding.fix
    assert "ids=as-qrels" == finding.policy


def test_documents_that_are_written_differently(files) -> None:
    """No document matches: an error with figures. Some match: a warning."""
    files(q_txt=QRELS, a_run=RUN.replace("Q0 d", "Q0 D"), b_run=RUN.replace("x0", "X0"))
    (all_of_them,) = validate_run("a.run", qrels="q.txt").findings
    some = next(each for each in validate_run("b.run", qrels="q.txt").findings if each.code == "RUN055")

    assert ("RUN055", "error", ("RUN073",), 60) == (
        all_of_them.code,
        all_of_them.severity,
        all_of_them.explains,
        all_of_them.count,
    )
    assert (
        "letter case: 60 retrieved documents would match a judged one if the ids were written the same way"
        == all_of_them.message
    )
    assert (
        "The ids differ in letter case; without that, nDCG@10 would be 1.0000 instead of 0.0000. "
        "Rewrite them: assay runs validate RUN --qrels QRELS --fix OUT --policy ids=lower."
    ) == all_of_them.fix
    assert ("warning", (), "ids=lower") == (some.severity, some.explains, some.policy)
    for run in ("a.run", "b.run"):
        fix_run(run, "c.run", policies={"ids": "lower"}, qrels="q.txt")
        assert [] == found_in("c.run", qrels="q.txt")


def test_judgments_and_topics(files) -> None:
    files(q_txt=padded(QRELS))
    findings = {each.code: each for each in validate_qrels("q.txt", queries=QUERIES).findings}

    assert ("QRL052", "QRL053") == findings["QRL054"].explains
    assert not {"QRL052", "QRL053"} & findings.keys()
    assert "Rewrite them: assay qrels validate QRELS --queries QUERIES --fix OUT --policy ids=strip-zeros." == (
        findings["QRL054"].fix
    )


def test_a_profile_cannot_be_escaped(files) -> None:
    """Missing queries are an error for trec-rag; explained by a cause, they still are."""
    files(q_txt=QRELS, a_run=padded(RUN))

    assert not validate_run("a.run", qrels="q.txt", profile="trec-rag").valid
