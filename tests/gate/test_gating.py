"""From files to a decision: pairing by query, targets and cautions."""

from __future__ import annotations

import pytest

from assay.errors import InputError
from assay.gate import Gate, decide, parse_rule
from gate.files import run_text, write_files, write_report


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_files(tmp_path))
    return tmp_path


def kinds(gate: Gate) -> list[str]:
    return [caution.kind for caution in gate.cautions]


@pytest.mark.parametrize(
    ("candidate", "rules", "status", "exit_code"),
    [
        ("better.run", ["RR >= 0", "P@1 >= -0.01"], "pass", 0),
        ("worse.run", ["RR >= -0.01"], "fail", 1),
        ("worse.run", ["RR >= -0.12"], "inconclusive", 3),
        ("worse.run", ["RR >= -0.12", "RR >= -0.5"], "inconclusive", 3),
        ("worse.run", ["RR >= -0.12", "RR >= -0.5", "RR >= 0"], "fail", 1),  # a failure outweighs an inconclusive rule
        ("main.run", ["RR >= 0", "RR >= -1%"], "unchanged", 0),
    ],
)
def test_all_rules_must_pass(folder, candidate, rules, status, exit_code):
    gate = decide("qrels.txt", "main.run", candidate, rules)

    assert (status, exit_code) == (gate.status, gate.exit_code)


def test_values_in_memory_and_rules_made_before_will_do():
    qrels = {f"q{n}": {"a": 1} for n in range(4)}
    better = {query: {"a": 2.0, "b": 1.0} for query in qrels}
    worse = {**better, "q1": {"b": 2.0, "a": 1.0}, "q2": {"c": 3.0, "b": 2.0, "a": 1.0}}

    gate = decide(qrels, worse, better, [parse_rule("RR >= -0.1"), "P@1 >= -1%"])

    assert [0.7083333, 1.0] == pytest.approx([gate.decisions[0].baseline_mean, gate.decisions[0].candidate_mean])
    assert ("", ["few"]) == (gate.qrels, kinds(gate))


def test_queries_are_paired_by_id_whatever_their_order(folder):
    lines = (folder / "better.run").read_text().splitlines(keepends=True)
    (folder / "turned.run").write_text("".join(reversed(lines)))

    first, second = (
        decide("qrels.txt", "main.run", name, "RR >= 0").decisions for name in ("better.run", "turned.run")
    )

    assert first == second


# Missing queries


def test_a_query_that_the_candidate_lacks_counts_as_0_and_is_said(folder):
    (folder / "short.run").write_text(run_text(lambda n: True, count=58))

    gate = decide("qrels.txt", "main.run", "short.run", "RR >= 0")

    assert 60 == gate.decisions[0].queries
    assert ["the candidate is missing 2 of 60 judged queries (q58, q59), counted as 0."] == [
        c.words for c in gate.cautions
    ]


def test_under_both_a_candidate_that_answers_only_some_queries_is_told_so(folder):
    (folder / "short.run").write_text(run_text(lambda n: n % 4 != 1, count=55))

    gate = decide("qrels.txt", "main.run", "short.run", "RR >= 0", rules={"queries": "both"})

    assert (55, ["missing", "queries"]) == (gate.decisions[0].queries, kinds(gate))
    assert (
        "LEFT OUT: 5 queries with a value in the baseline only (q55, q56, q57, ...; RR). The decision covers the others."
        == gate.cautions[1].words
    )


def test_queries_without_a_defined_value_do_not_count(folder):
    """Half of the queries have no relevant document; under nan they have no value in either run."""
    (folder / "half.txt").write_text("".join(f"q{n} 0 a {n % 2}\n" for n in range(60)))

    gate = decide("half.txt", "main.run", "better.run", ["RR >= -0.01", "RR(rel=3) >= 0"], rules={"undefined": "nan"})

    assert [30, 0] == [decision.queries for decision in gate.decisions]
    assert ["pass", "inconclusive"] == [decision.status for decision in gate.decisions]
    assert "no query has a value in both runs" == gate.decisions[1].words


def test_one_file_on_both_sides_is_said(folder):
    gate = decide("qrels.txt", "main.run", "./main.run", "RR >= 0")

    assert ("unchanged", 0, ["same"]) == (gate.status, gate.exit_code, kinds(gate))


def test_a_rule_that_was_meant_as_a_value_to_reach_is_said(folder):
    gate = decide("qrels.txt", "main.run", "better.run", ["RR >= 0.7", "P@1 >= -0.01"])

    assert ["RR >= 0.7 asks for a gain of 0.7 over the baseline. To require a value of 0.7, set a target."] == [
        caution.words for caution in gate.cautions
    ]


def test_few_queries_are_said():
    qrels = {"q1": {"a": 1}}

    gate = decide(qrels, {"q1": {"a": 1.0}}, {"q1": {"a": 1.0}}, "RR >= -0.5")

    assert ("inconclusive", ["few"]) == (gate.status, kinds(gate))
    assert "1 query, fewer than 50: the bounds are rough." == gate.cautions[0].words


# Targets


def profile(folder, text):
    (folder / "house.toml").write_text(text)
    return "house.toml"


@pytest.mark.parametrize(
    ("goal", "target_status", "status", "exit_code"),
    [(0.8, "pass", "pass", 0), (0.9, "warn", "pass", 0), (0.99, "fail", "fail", 1)],
)
def test_targets_count_too_and_a_warning_is_no_failure(folder, goal, target_status, status, exit_code):
    gate = decide(
        "qrels.txt", "main.run", "better.run", "RR >= 0", targets=profile(folder, f"[measures.RR]\ngood = {goal}\n")
    )

    assert (target_status, status, exit_code) == (gate.targets[0].target_status, gate.targets[0].status, gate.exit_code)
    assert f"0.8750 of {goal:.4f} (good)" in gate.targets[0].words


def test_a_target_without_a_value_is_inconclusive(folder):
    gate = decide(
        "qrels.txt",
        "main.run",
        "better.run",
        "P@1 >= 0",
        targets=profile(folder, '[measures."RR(rel=3)"]\ngood = 0.5\n'),
        rules={"undefined": "nan"},
    )

    assert ("unknown", "inconclusive", 3) == (gate.targets[0].target_status, gate.targets[0].status, gate.exit_code)


UPLIFT = '[measures.RR]\nuplift = 0.1\nover = "bm25"\n'


@pytest.mark.parametrize("baseline", ["main.run", "base"])
def test_uplifts_are_over_the_baseline_of_the_gate(folder, baseline):
    write_report()

    gate = decide("qrels.txt", baseline, "better.run", targets=profile(folder, UPLIFT))

    assert ("pass", "house") == (gate.status, gate.profile)
    assert "0.8750 of 0.8500 (0.1000 over main, which has 0.7500)" == gate.targets[0].words


def test_an_uplift_is_not_skipped_where_both_runs_have_one_name(folder):
    (folder / "new").mkdir()
    (folder / "new" / "main.run").write_text((folder / "worse.run").read_text())

    gate = decide("qrels.txt", "main.run", "new/main.run", targets=profile(folder, UPLIFT))

    assert ("main", "main", "fail") == (gate.baseline.name, gate.candidate.name, gate.status)


def test_an_uplift_needs_its_measure_in_the_report(folder):
    write_report()

    with pytest.raises(InputError, match="the report has no AP"):
        decide("qrels.txt", "base", "better.run", targets=profile(folder, UPLIFT.replace("RR", "AP")))


def test_a_measure_of_rule_and_target_is_computed_once(folder):
    gate = decide(
        "qrels.txt", "main.run", "better.run", "MRR >= 0", targets=profile(folder, "[measures.RR]\ngood = 0.5\n")
    )

    assert (["RR"], ["MRR"]) == (list(gate.candidate.values), [target.measure for target in gate.targets])


def test_nothing_to_decide_is_refused(folder):
    with pytest.raises(InputError, match="nothing to decide; give a rule with `gate_rules="):
        decide("qrels.txt", "main.run", "better.run")
