"""The output of `assay evaluate --format json` matches docs/schemas/evaluation-1.json."""

from __future__ import annotations

import json

import pytest

from assay import Evaluator, Qrels, Rules, evaluate
from assay.example import QRELS, RUNS
from assay.report.evaluation import RENDERERS, tabulate
from assay.report.evaluation.json import SCHEMA
from assay.rules import RULE_CHOICES
from docs.blocks import DOCS
from docs.schema import changed, problems

DOCUMENT = json.loads((DOCS / "schemas" / "evaluation-1.json").read_text(encoding="utf-8"))


def printed(
    *, per_query: bool = False, rules: Rules = Rules(), measures: tuple[str, ...] = ("nDCG@5", "AP", "NumRet")
) -> dict:
    evaluator = Evaluator(QRELS, measures, rules)
    return json.loads(RENDERERS["json"](tabulate([evaluator.evaluate(run) for run in RUNS], per_query=per_query)))


@pytest.mark.parametrize("per_query", [False, True])
@pytest.mark.parametrize("rules", [Rules(), Rules(queries="both", undefined="nan", depth=3)], ids=["default", "other"])
def test_real_output_is_valid(per_query, rules):
    value = printed(per_query=per_query, rules=rules)

    assert [] == list(problems(value, DOCUMENT))
    assert per_query == ("queries" in value["runs"][0])


def test_undefined_values_are_null():
    value = printed(rules=Rules(undefined="nan"), measures=("AP(rel=9)",))

    assert None is value["runs"][0]["mean"]["AP(rel=9)"]
    assert [] == list(problems(value, DOCUMENT))


@pytest.mark.parametrize("grade", [0, 1])
def test_the_agreement_of_judges_is_valid(grade):
    qrels = Qrels.from_columns(["q", "q"], ["a", "a"], [1, grade])
    evaluation = evaluate(qrels, {"q": {"a": 1.0}}, ["AP"], rules=Rules(judges="best"))
    value = json.loads(RENDERERS["json"](tabulate([evaluation])))

    assert grade == value["runs"][0]["coverage"]["agreement"]["equal_pairs"]
    assert [] == list(problems(value, DOCUMENT))


def test_the_schema_knows_the_rules_and_its_own_name():
    rules = DOCUMENT["$defs"]["rules"]["properties"]

    assert SCHEMA == DOCUMENT["$id"] == DOCUMENT["properties"]["schema"]["const"]
    assert {name: list(values) for name, values in RULE_CHOICES.items()} == {
        name: rule["enum"] for name, rule in rules.items() if "enum" in rule
    }


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        (("schema",), "assay/evaluation/2", "$.schema: 'assay/evaluation/1' was expected"),
        (("rules", "ties"), "random", "$.rules.ties: 'random' is not one of ['doc-desc', 'doc-asc', 'input', 'rank-column', 'ranx', 'expected', 'error']"),
        (("rules", "depth"), "3", "$.rules.depth: '3' is not of type 'integer', 'null'"),
        (("runs",), [], "$.runs: [] should be non-empty"),
        (("runs", 0, "mean", "AP"), "0.5", "$.runs[0].mean.AP: '0.5' is not of type 'number', 'null'"),
        (("runs", 0, "extra"), 1, "$.runs[0]: Additional properties are not allowed ('extra' was unexpected)"),
        (("runs", 0, "coverage", "tied"), -1, "$.runs[0].coverage.tied: -1 is less than the minimum of 0"),
        (("runs", 0, "coverage", "straddling"), {"x": 1}, "$.runs[0].coverage.straddling: 'x' does not match '^[1-9][0-9]*$'"),
        (("runs", 1, "coverage"), {}, "$.runs[1].coverage: 'judged' is a required property"),
    ],
)  # fmt: skip
def test_other_output_is_not(path, to, problem):
    assert problem in list(problems(changed(printed(), *path, to=to), DOCUMENT))
