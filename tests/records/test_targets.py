"""Target profiles: reading them, and checking means against them."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation import DEFAULT_MEASURES, evaluate
from assay.records.model import Baseline, Target, Targets
from assay.records.recording import check_all, find_baseline
from assay.records.targets import (
    baseline_of,
    built_in_profiles,
    check_targets,
    over_baseline,
    overall,
    parse_targets,
    read_targets,
    with_targets,
)
from strategies import ranking

PROFILE = """
name = "web"
description = "What we aim at"

[measures."nDCG@10"]
baseline = [0.30, 0.32]
good = 0.35
strong = 0.40
note = "first of all"

[measures."AP"]
uplift = 0.03
over = "bm25"
"""


def evaluated(mean: float, name: str = "mine", measure: str = "P@4"):
    """An evaluation with a mean of this many quarters."""
    quarters = round(mean * 4)
    docs = ["a", "b", "c", "d"]
    qrels = {"q": {doc: int(place < quarters) for place, doc in enumerate(docs)}}
    return evaluate(qrels, {"q": ranking(docs)}, [measure], name=name)


def outcome(text: str, mean: float, baselines=()):
    return check_targets(parse_targets(text), evaluated(mean), baselines).results["P@4"]


# Reading


def test_levels_uplifts_and_what_is_usual():
    found = parse_targets(PROFILE)

    assert ("web", "What we aim at") == (found.name, found.description)
    assert (
        Target(measure="nDCG@10", levels={"good": 0.35, "strong": 0.4}, typical=(0.3, 0.32), note="first of all"),
        Target(measure="AP", levels={"uplift": 0.03}, over="bm25"),
    ) == found.measures


def test_json_says_the_same():
    table = {
        "name": "web",
        "description": "What we aim at",
        "measures": {
            "nDCG@10": {"baseline": [0.30, 0.32], "good": 0.35, "strong": 0.40, "note": "first of all"},
            "AP": {"uplift": 0.03, "over": "bm25"},
        },
    }

    assert parse_targets(PROFILE) == parse_targets(json.dumps(table))


def test_a_bare_number_is_a_level_and_levels_are_sorted():
    found = parse_targets('[measures]\nAP = 0.3\n[measures.RR]\nstrong = 0.9\n"just ok" = 0.5\n', source="my.toml")

    assert ({"target": 0.3}, {"just ok": 0.5, "strong": 0.9}) == tuple(target.levels for target in found.measures)
    assert ["just ok", "strong"] == list(found.measures[1].levels)
    assert "my" == found.name


def test_uplifts_may_have_levels_and_what_is_usual_may_be_one_number():
    (found,) = parse_targets(
        '[measures.AP]\nuplift = {strong = 0.05, good = 0.03}\nover = "a"\nbaseline = 0.2'
    ).measures

    assert ({"good": 0.03, "strong": 0.05}, (0.2, 0.2)) == (found.levels, found.typical)


def test_files_are_read_by_their_content(tmp_path):
    (tmp_path / "a.toml").write_text(PROFILE)
    (tmp_path / "b.json").write_text('{"measures": {"AP": 0.3}}')

    assert "web" == read_targets(tmp_path / "a.toml").name
    assert "b" == read_targets(str(tmp_path / "b.json")).name


def test_the_profile_that_comes_with_assay():
    found = read_targets("trec-rag")
    by_name = {target.measure: target for target in found.measures}

    assert ["trec-rag"] == built_in_profiles()
    assert "trec-rag" == found.name
    assert {
        "nDCG@10": ({"good": 0.35, "strong": 0.40}, None, (0.30, 0.32)),
        "MAP@100": ({"good": 0.03, "strong": 0.05}, "bm25", (0.25, 0.27)),
        "MRR@10": ({"good": 0.55}, None, (0.45, 0.45)),
        "Recall@50": ({"good": 0.62}, None, (0.55, 0.60)),
        "Recall@100": ({"good": 0.70}, None, (0.60, 0.65)),
        "HitRate@10": ({"good": 0.80}, None, (0.70, 0.75)),
    } == {name: (target.levels, target.over, target.typical) for name, target in by_name.items()}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", 'measures: is missing; add at least one measure: [measures."nDCG@10"] with good = 0.35.'),
        ("measures = 3", 'measures: is missing; add at least one measure: [measures."nDCG@10"] with good = 0.35.'),
        ("mesures = 3", "mesures: unknown key; did you mean 'measures'?"),
        ("version = 3", "version: unknown key; the keys are name, description, measures."),
        ('["nDCG@10"]\ngood = 0.3', 'nDCG@10: measures go into the table of that name; write [measures."nDCG@10"].'),
        ("name = 3\nmeasures.AP = 0.3", "name: 3 is not text; write it in quotes."),
        ("measures.AP = 0.3\ndescription = []", "description: [] is not text; write it in quotes."),
        ('measures."nDGC@10" = 0.3', "measures.\"nDGC@10\": no measure called 'nDGC'; did you mean 'nDCG'?"),
        (
            'measures.AP = "high"',
            "measures.\"AP\": 'high' is neither a number nor a table of levels; write good = 0.35.",
        ),
        ("measures.AP = true", 'measures."AP": True is neither a number nor a table of levels; write good = 0.35.'),
        ("measures.AP = nan", 'measures."AP": nan is neither a number nor a table of levels; write good = 0.35.'),
        ("[measures.AP]", 'measures."AP": has no target; add a level such as good = 0.35.'),
        (
            "[measures.AP]\nbaseline = 0.3",
            'measures."AP": has no target; add a level such as good = 0.35.',
        ),
        (
            '[measures.AP]\ngood = "0.3"',
            "measures.\"AP\".good: '0.3' is not a number; write it like 0.35, without quotes.",
        ),
        (
            f"[measures.AP]\ngood = {'9' * 400}",
            f'measures."AP".good: {"9" * 37}...{"9" * 20} is not a number; write it like 0.35, without quotes.',
        ),
        (
            "[measures.AP]\ngood = [0.3]",
            'measures."AP".good: [0.3] is not a number; write it like 0.35, without quotes.',
        ),
        (
            "[measures.AP]\nuplfit = 0.03",
            "measures.\"AP\".uplfit: unknown key; did you mean 'uplift'? If it is a level, give it another name.",
        ),
        (
            "[measures.AP]\nuplift = 0.03",
            'measures."AP".uplift: has no baseline; add over = "bm25" with the name of a run.',
        ),
        (
            '[measures.AP]\nover = "bm25"',
            'measures."AP".over: has no effect without an uplift; add uplift = 0.03.',
        ),
        ("[measures.AP]\nuplift = 0.03\nover = 25", 'measures."AP".over: 25 is not text; write it in quotes.'),
        (
            '[measures.AP]\nuplift = "some"\nover = "a"',
            "measures.\"AP\".uplift: 'some' is not a number; write it like 0.35, without quotes.",
        ),
        (
            '[measures.AP]\nuplift = {good = "x"}\nover = "a"',
            "measures.\"AP\".uplift.good: 'x' is not a number; write it like 0.35, without quotes.",
        ),
        (
            '[measures.AP]\ngood = 0.3\nuplift = 0.03\nover = "a"',
            "measures.\"AP\": has both the level 'good' and an uplift; keep one of them.",
        ),
        (
            "[measures.AP]\ngood = 35",
            'measures."AP".good: 35 is out of range for AP, which goes from 0 to 1.',
        ),
        (
            '[measures.AP]\nuplift = 3\nover = "a"',
            'measures."AP".uplift: 3 is out of range as an uplift of AP, which goes from 0 to 1.',
        ),
        (
            "[measures.AP]\ngood = 0.3\nbaseline = [0.1, 0.2, 0.3]",
            'measures."AP".baseline: takes one number, or two for a range.',
        ),
        (
            '[measures.AP]\ngood = 0.3\nbaseline = "low"',
            "measures.\"AP\".baseline: 'low' is not a number; write it like 0.35, without quotes.",
        ),
        ("[measures.AP]\ngood = 0.3\nnote = 7", 'measures."AP".note: 7 is not text; write it in quotes.'),
        (
            "[measures]\nAP = 0.3\nMAP = 0.4",
            "measures.\"MAP\": is the same measure as 'AP'; keep one of them.",
        ),
    ],
)
def test_mistakes_are_named_with_file_and_key(text, complaint):
    with pytest.raises(InputError) as refused:
        parse_targets(text, source="t.toml")

    assert f"t.toml: {complaint}" == str(refused.value)


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("measures.official = 0.3", "t.toml: measures.\"official\": 'official' means 29 measures (num_q, "),
        ("a = = 3", "t.toml:1: is not valid TOML: "),
        ('{"measures":\n {"AP": 0.3}', "t.toml:2: is not valid JSON: "),
    ],
)
def test_what_other_parsers_say_is_passed_on(text, start):
    with pytest.raises(InputError) as refused:
        parse_targets(text, source="t.toml")

    assert str(refused.value).startswith(start)


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        (
            "trec-rga",
            "no target profile called 'trec-rga'; did you mean 'trec-rag'? "
            "Give a TOML or JSON file, or a built-in profile: trec-rag.",
        ),
        (
            "nowhere.toml",
            "no target profile called 'nowhere.toml'. Give a TOML or JSON file, or a built-in profile: trec-rag.",
        ),
        (".", "no target profile called '.'. Give a TOML or JSON file, or a built-in profile: trec-rag."),
    ],
)
def test_targets_that_are_not_there(name, complaint):
    with pytest.raises(InputError) as refused:
        read_targets(name)

    assert complaint == str(refused.value)


def test_targets_that_are_no_text(tmp_path):
    (tmp_path / "t.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InputError, match="is not valid UTF-8; save it as UTF-8 text"):
        read_targets(tmp_path / "t.toml")


# Measures that a profile adds


def test_measures_of_the_profile_are_added_unless_they_are_asked_for_under_any_name():
    targets = parse_targets('[measures]\n"nDCG@10" = 0.3\nAP = 0.2\n"MRR@10" = 0.5\n"P@5" = 0.4')

    assert ("ndcg_cut_10", "map", "MRR@10", "P@5") == with_targets(["ndcg_cut_10", "map"], targets)
    assert (*DEFAULT_MEASURES, "P@5") == with_targets(DEFAULT_MEASURES, targets)


# Status


@pytest.mark.parametrize(
    ("mean", "status", "words", "reached"),
    [
        (1.0, "pass", "1.0000 of 0.5000 (good), also strong (0.7500)", "strong"),
        (0.75, "pass", "0.7500 of 0.5000 (good), also strong (0.7500)", "strong"),
        (0.5, "pass", "0.5000 of 0.5000 (good)", "good"),
        (0.25, "fail", "0.2500 of 0.5000 (good): 0.2500 short", None),
        (0.0, "fail", "0.0000 of 0.5000 (good): 0.5000 short", None),
    ],
)
def test_the_goal_is_the_lowest_level(mean, status, words, reached):
    found = outcome('[measures."P@4"]\ngood = 0.5\nstrong = 0.75', mean)

    assert (status, 0.5, words, reached) == (found.status, found.goal, found.words, found.reached)
    assert {"good": 0.5, "strong": 0.75} == found.levels


@pytest.mark.parametrize(("goal", "status"), [(0.75, "pass"), (0.76, "warn"), (0.83, "warn"), (0.84, "fail")])
def test_up_to_a_tenth_of_the_goal_below_it_is_a_warning(goal, status):
    assert status == outcome(f'[measures."P@4"]\ngood = {goal}', 0.75).status


def test_the_last_of_a_tenth_still_warns():
    # 0.9 * 0.8333... = 0.75, exactly the limit
    assert "warn" == outcome(f'[measures."P@4"]\ngood = {0.75 / 0.9!r}', 0.75).status


UPLIFT = '[measures."P@4"]\nuplift = {good = 0.25, strong = 0.5}\nover = "bm25"'


@pytest.mark.parametrize(
    ("mean", "status", "words"),
    [
        (1.0, "pass", "1.0000 of 0.7500 (0.2500 over bm25, which has 0.5000), also strong (1.0000)"),
        (0.75, "pass", "0.7500 of 0.7500 (0.2500 over bm25, which has 0.5000)"),
        (0.5, "fail", "0.5000 of 0.7500 (0.2500 over bm25, which has 0.5000): 0.2500 short"),
    ],
)
def test_uplifts_are_over_the_baseline(mean, status, words):
    found = outcome(UPLIFT, mean, [baseline_of(evaluated(0.5, "bm25"))])

    assert (status, 0.75, words, "bm25") == (found.status, found.goal, found.words, found.baseline)
    assert {"good": 0.75, "strong": 1.0} == found.levels


def test_an_uplift_that_is_just_reached_is_reached_whatever_the_last_bits():
    docs = [f"d{number}" for number in range(7)]
    evaluation = evaluate({"q": dict.fromkeys(docs, 1)}, {"q": ranking(docs)}, ["P@25"])
    targets = parse_targets('[measures."P@25"]\nuplift = 0.03\nover = "bm25"')
    found = check_targets(targets, evaluation, [Baseline(name="bm25", means={"P@25": 0.25})]).results["P@25"]

    assert (0.28, 0.28000000000000003) == (evaluation.mean()["P@25"], found.goal)
    assert "pass" == found.status


@pytest.mark.parametrize(
    ("baselines", "words"),
    [
        ([], "no baseline called 'bm25': evaluate that run too, or name another baseline"),
        ([Baseline(name="bm25", means={"AP": 0.3})], "the baseline 'bm25' has no value for P@4"),
        ([Baseline(name="bm25", means={"P@4": None})], "the baseline 'bm25' has no value for P@4"),
    ],
)
def test_without_a_baseline_an_uplift_is_unknown(baselines, words):
    found = outcome(UPLIFT, 1.0, baselines)

    assert ("unknown", None, words, {}) == (found.status, found.goal, found.words, found.levels)


def test_a_mean_that_is_no_number_is_unknown():
    qrels, run = {"q": {"a": 0}}, {"q": ranking(["a"])}
    found = check_targets(parse_targets("measures.AP = 0.3"), evaluate(qrels, run, ["AP"], rules={"undefined": "nan"}))

    assert ("unknown", "no query has a value") == (
        found.results["AP"].status,
        found.results["AP"].words,
    )
    assert 0.3 == found.results["AP"].goal


def test_the_baseline_itself_has_nothing_to_reach():
    runs = [evaluated(0.5, "bm25"), evaluated(0.75, "mine")]
    found = check_all(parse_targets(UPLIFT), runs)

    assert {} == found["bm25"].results
    assert "pass" == found["mine"].results["P@4"].status


def test_another_baseline_can_be_chosen():
    runs = [evaluated(0.5, "old"), evaluated(0.75, "mine")]
    targets = parse_targets(UPLIFT)

    assert "unknown" == check_all(targets, runs)["mine"].status
    assert "pass" == check_all(targets, runs, find_baseline("old", ["old", "mine"]))["mine"].status
    assert ("old",) == tuple(target.over for target in over_baseline(targets, "old").measures)


def test_absolute_targets_do_not_move_with_the_baseline():
    targets = parse_targets('[measures."P@4"]\ngood = 0.3')

    assert targets == over_baseline(targets, "old")


def test_a_measure_that_was_asked_for_twice_has_its_target_twice():
    qrels, run = {"q": {"a": 1}}, {"q": ranking(["a"])}
    found = check_targets(parse_targets("measures.RR = 0.3"), evaluate(qrels, run, ["RR", "MRR", "P@1"]))

    assert ["RR", "MRR"] == list(found.results)


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        (["pass", "pass"], "pass"),
        (["pass", "unknown"], "unknown"),
        (["unknown", "warn", "pass"], "warn"),
        (["warn", "fail", "unknown"], "fail"),
        ([], "unknown"),
    ],
)
def test_all_together_are_as_good_as_the_worst(statuses, worst):
    assert worst == overall(statuses)


@given(st.lists(st.sampled_from(["pass", "warn", "fail", "unknown"]), min_size=1))
def test_one_more_status_never_makes_it_better(statuses):
    order = ["pass", "unknown", "warn", "fail"]

    assert max(order.index(status) for status in statuses) == order.index(overall(statuses))


@given(st.floats(0, 1), st.floats(0, 1), st.sampled_from([0, 0.25, 0.5, 0.75, 1]))
def test_a_higher_goal_is_never_easier(one, other, mean):
    order = ["pass", "warn", "fail"]
    low, high = sorted([one, other])
    statuses = [outcome(json.dumps({"measures": {"P@4": goal}}), mean).status for goal in (low, high)]

    assert order.index(statuses[0]) <= order.index(statuses[1])


def test_counts_are_worst_first():
    targets = Targets(
        name="t",
        measures=tuple(Target(measure=name, levels={"good": 0.6}) for name in ("P@1", "RR", "P@2")),
    )
    evaluation = evaluate({"q": {"b": 1, "c": 1}}, {"q": ranking(["a", "b", "c"])}, ["P@1", "RR", "P@2", "AP"])
    found = check_targets(targets, evaluation)

    assert {"fail": 3} == found.counts()
    assert math.isclose(0.5, evaluation.mean()["RR"])


# Baselines


def test_a_baseline_that_is_neither_a_run_nor_a_folder():
    with pytest.raises(InputError) as refused:
        find_baseline("bm52", ["bm25", "mine"])

    assert (
        "no run called 'bm52'; did you mean 'bm25'? A baseline is one of the runs (bm25, mine) or a folder with a report."
        == str(refused.value)
    )


def test_a_folder_without_a_report(tmp_path):
    with pytest.raises(InputError) as refused:
        find_baseline(str(tmp_path), ["mine"])

    assert f"{tmp_path}: is not a report: it has no EvaluationReport.json." == str(refused.value)
