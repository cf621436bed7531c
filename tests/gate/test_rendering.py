"""One decision in every format; names, rules and ids are escaped in all of them."""

from __future__ import annotations

import json
import re
from xml.etree import ElementTree

import pytest
from msgspec.structs import replace

from assay.formats.unread import open_run
from assay.gate import decide
from assay.gate.baselines import Caution
from assay.report.gate import RENDERERS
from assay.report.gate.documents import SCHEMA
from assay.report.gate.words import headline
from docs.blocks import DOCS
from docs.schema import changed, problems
from gate.files import write_files, write_report

DOCUMENT = json.loads((DOCS / "schemas" / "gate-1.json").read_text(encoding="utf-8"))
TARGETS = '[measures.RR]\ngood = 0.65\nstrong = 0.8\n\n[measures."P@1"]\ngood = 0.5\n'
RULES = ("RR >= -0.01", "R@10 >= 0", "P@1 >= -23%")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_files(tmp_path))
    return tmp_path


@pytest.fixture
def gate(folder):
    """Two rules fail and one is unchanged; one target passes with a warning and one fails."""
    (folder / "house.toml").write_text(TARGETS)
    return decide("qrels.txt", "main.run", "worse.run", RULES, targets="house.toml")


def test_the_first_line_says_it_all(gate):
    assert ["fail", "unchanged", "fail", "pass", "fail"] == gate.statuses()
    assert "Gate: fail (3 fail, 1 is unchanged, 1 passes): worse against main, 60 queries" == headline(gate)


def test_the_terminal(gate):
    assert """\
Gate: fail (3 fail, 1 is unchanged, 1 passes): worse against main, 60 queries

rule         baseline  candidate  difference           bounds  decision
────────────────────────────────────────────────────────────────────────
RR >= -0.01    0.7500     0.6250     -0.1250  -0.1808 -0.0754  fail
R@10 >= 0      1.0000     1.0000     +0.0000  +0.0000 +0.0000  unchanged
P@1 >= -23%    0.5000     0.2500     -0.2500  -0.3452 -0.1632  fail

fail          RR >= -0.01: the upper bound -0.0754 is below the margin -0.01.
unchanged     R@10 >= 0: both runs have the same value on every query; on other queries a loss of up to 0.049 remains
              possible.
""" in RENDERERS["table"](gate)


def test_a_column_of_queries_stands_only_where_they_differ(folder):
    (folder / "half.txt").write_text("".join(f"q{n} 0 a {n % 2}\n" for n in range(60)))
    gate = decide("half.txt", "main.run", "better.run", ["RR >= -0.01", "RR(rel=3) >= 0"], rules={"undefined": "nan"})
    text = RENDERERS["table"](gate)

    assert "Gate: inconclusive (1 is inconclusive, 1 passes): better against main\n" in text
    assert re.search(r"^RR\(rel=3\) >= 0 +- +- +- +- +0  inconclusive$", text, re.MULTILINE)


@pytest.mark.parametrize(("alpha", "shown"), [(0.05, "95%"), (0.025, "97.5%"), (1e-6, "99.9999%")])
def test_confidence_is_never_certainty(folder, alpha, shown):
    found = decide("qrels.txt", "main.run", "better.run", "RR >= -0.01", alpha=alpha)

    assert f"bounds one-sided at {shown}." in RENDERERS["table"](found)


def test_a_question_ends_with_its_own_mark():
    judgments = {"q1": {"a": 1}, "q2": {"a": 1}}
    nothing = {"q1": {"x": 1.0}, "q2": {"x": 1.0}}
    gate = decide(judgments, nothing, nothing, "RR >= 0", unmatched="zero")

    for name in ("table", "github", "markdown"):
        assert "do their ids match the judgments?\n" in RENDERERS[name](gate)


# JSON


def test_json_is_what_its_schema_says(folder, gate):
    write_report()
    others = [
        decide("qrels.txt", "base", "better.run", RULES[:1], max_age=0),
        decide("qrels.txt", "main.run", "worse.run", "RR >= -0.12"),
        decide("qrels.txt", "main.run", "better.run", targets="house.toml"),
        decide({"q": {"a": 1}}, {"q": {"a": 1.0}}, {"q": {"a": 1.0}}, ["RR >= 0", "Unjudged@5 <= 50%"]),
    ]

    for each in [gate, *others]:
        assert [] == list(problems(json.loads(RENDERERS["json"](each)), DOCUMENT))
    assert SCHEMA == DOCUMENT["$id"] == DOCUMENT["properties"]["schema"]["const"]


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        (("status",), "maybe", "$.status: 'maybe' is not one of ['pass', 'fail', 'inconclusive', 'unchanged']"),
        (("exit_code",), 2, "$.exit_code: 2 is not one of [0, 1, 3]"),
        (("rules", 0, "lower"), "0", "$.rules[0].lower: '0' is not of type 'number', 'null'"),
        (("baseline", "extra"), 1, "$.baseline: Additional properties are not allowed ('extra' was unexpected)"),
    ],
)
def test_other_output_is_not(gate, path, to, problem):
    assert problem in list(problems(changed(json.loads(RENDERERS["json"](gate)), *path, to=to), DOCUMENT))


def test_json_has_every_figure(gate):
    found = json.loads(RENDERERS["json"](gate))
    rule = found["rules"][2]

    assert ("fail", 1, 0.05) == (found["status"], found["exit_code"], found["alpha"])
    assert ("P@1 >= -23%", "P@1", "at least", -0.23, 60) == tuple(
        rule[name] for name in ("rule", "canonical", "direction", "relative", "queries")
    )
    assert [0.5, 0.25, -0.25, -0.115] == pytest.approx(
        [rule[name] for name in ("baseline_mean", "candidate_mean", "difference", "margin")]
    )
    assert (0, 45, 15) == (rule["wins"], rule["ties"], rule["losses"])


# GitHub


def test_github_gets_an_annotation_for_each(folder, gate):
    lines = RENDERERS["github"](gate).splitlines()

    assert (
        "::error title=assay gate::Gate: fail (3 fail, 1 is unchanged, 1 passes): worse against main, 60 queries"
        == lines[0]
    )  # GitHub shows ten of each kind: the overall result comes first
    assert (
        "::error title=RR >= -0.01%3A fail::difference -0.1250 (0.7500 to 0.6250), the upper bound -0.0754 is below the "
        "margin -0.01." == lines[1]
    )
    assert lines[2].startswith("::notice title=R@10 >= 0%3A unchanged::")
    assert "-0.1150 (-23%25)." in lines[3]  # a percent sign would start an escape
    assert ["::warning", "::error"] == [line.split(" ")[0] for line in lines[4:]]


def test_what_is_open_and_what_is_doubtful_are_warnings(folder):
    gate = decide("qrels.txt", "main.run", "worse.run", ["RR >= -0.12", "RR >= 0.5"])
    lines = RENDERERS["github"](gate).splitlines()

    assert ["::error", "::warning", "::error", "::warning"] == [line.split(" ")[0] for line in lines]


# JUnit


def test_junit_has_a_case_for_each_rule_and_target(folder, gate):
    root = ElementTree.fromstring(RENDERERS["junit"](gate))
    (suite,) = root
    cases = suite.findall("testcase")

    assert {"name": "assay gate", "tests": "5", "failures": "3", "errors": "0", "skipped": "0"} == suite.attrib
    assert [*RULES, "target RR", "target P@1"] == [case.get("name") for case in cases]
    assert ["failure", "system-out", "failure", "system-out", "failure"] == [case[0].tag for case in cases]
    assert "difference -0.1250 (0.7500 to 0.6250), the upper bound -0.0754 is below the margin -0.01" == (
        cases[0][0].get("message")
    )
    assert "0.6250 of 0.6500 (good): 0.0250 short, within a tenth of the goal (warning)" == cases[3][0].text


def test_what_is_open_is_an_error_so_that_no_server_shows_it_green(folder):
    gate = decide("qrels.txt", "main.run", "worse.run", "RR >= -0.12")
    (suite,) = ElementTree.fromstring(RENDERERS["junit"](gate))

    assert ("0", "1") == (suite.get("failures"), suite.get("errors"))
    assert "inconclusive" == suite.find("testcase/error").get("type")


# Markdown


def test_markdown_is_ready_for_a_pull_request(gate):
    text = RENDERERS["markdown"](gate)

    assert text.startswith(
        "**Gate: fail (3 fail, 1 is unchanged, 1 passes): worse against main, 60 queries**\n\n| rule | baseline |"
    )
    assert "| RR \\>= -0.01 | 0.7500 | 0.6250 | -0.1250 | -0.1808 -0.0754 | 60 | fail |\n" in text
    assert "\n- **fail** RR \\>= -0.01: the upper bound -0.0754 is below the margin -0.01.\n" in text


# Hostile texts

HOSTILE = "a|b`*<i>&amp;]]>--\x1b[31m\x00\r\n::error::x\t%0A[red]\udce9\ufffe\U0001f600"


@pytest.fixture
def hostile(folder):
    """Hostile run names, query ids, targets and cautions."""
    (folder / "house.toml").write_text('name = "\\u001b[31m<x>"\n[measures.RR]\nuplift = 0.1\nover = "b"\n')
    judgments = {f"{HOSTILE}{number}": {"a": 1} for number in range(3)}
    first = open_run({query: {"a": 1.0, "b": 2.0} for query in judgments}, name=f"{HOSTILE}main")
    second = open_run({f"{HOSTILE}0": {"a": 1.0}}, name=f"{HOSTILE}new")
    gate = decide(judgments, first, second, "RR >= 0", targets="house.toml", rules={"queries": "both"})
    assert [f"{HOSTILE}main", f"{HOSTILE}new"] == [gate.baseline.name, gate.candidate.name]
    return replace(gate, cautions=(*gate.cautions, Caution("qrels", f"from {HOSTILE}")))


@pytest.mark.parametrize("renderer", RENDERERS)
def test_hostile_texts_are_data(hostile, renderer):
    text = RENDERERS[renderer](hostile)

    assert set() == set(re.findall(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe]", text))
    assert "\\x1b[31m" in text.replace("\\\\", "\\").replace("\\[", "[")
    if renderer == "github":
        assert all(re.match(r"::(error|warning|notice) title=[^:,]*::", line) for line in text.splitlines())
    if renderer == "junit":
        (suite,) = ElementTree.fromstring(text)
        assert "a|b`*<i>&amp;]]>--\\x1b[31m" in suite.find("properties/property").get("value")
    if renderer == "json":
        assert [] == list(problems(json.loads(text), DOCUMENT))
    if renderer == "markdown":
        assert "<i>" not in text
    if renderer == "table":
        assert "[red]" in text
