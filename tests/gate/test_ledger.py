"""A change that is tried again and again, small losses that add up, and what is unchanged."""

from __future__ import annotations

import json
import math
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from assay.errors import InputError
from assay.gate import decide
from assay.gate.deciding import decide_rule
from assay.gate.grammar import parse_rule
from assay.gate.ledger import opened_ledger, part_of, read_ledger
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems
from gate.files import write_files

RULE = "RR >= -0.01"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(write_files(tmp_path))
    return tmp_path


def tried(candidate="better.run", change="tuning", **more):
    return decide("qrels.txt", "main.run", candidate, RULE, ledger="ledger.jsonl", change=change, **more)


# Attempts


def test_each_attempt_gets_a_part_of_the_error():
    """alpha / 2, / 6, / 12, ...: a thousand attempts together get no more than 5%."""
    assert [0.025, 0.05 / 6, 0.05 / 12] == pytest.approx([part_of(0.05, attempt) for attempt in (1, 2, 3)])
    assert 0.05 > math.fsum(part_of(0.05, attempt) for attempt in range(1, 1001)) > 0.0499


def test_attempts_are_counted_by_change_and_the_same_evidence_is_the_same_attempt(folder):
    found = [tried(), tried("worse.run"), tried(), tried("worse.run", "other"), tried("main.run")]

    assert [("tuning", 1), ("tuning", 2), ("tuning", 1), ("other", 1), ("tuning", 3)] == [
        (gate.attempt.change, gate.attempt.attempt) for gate in found
    ]
    assert [part_of(0.05, n) for n in (1, 2, 1, 1, 3)] == [gate.alpha for gate in found]
    assert 4 == len(read_ledger("ledger.jsonl"))
    assert ["pass", "fail", "fail", "unchanged"] == [attempt.status for attempt in read_ledger("ledger.jsonl")]


def test_bounds_get_wider_with_each_attempt(folder):
    lower = [tried(name).decisions[0].lower for name in ("better.run", "worse.run")]
    plain = [decide("qrels.txt", "main.run", name, RULE).decisions[0].lower for name in ("better.run", "worse.run")]

    assert lower[0] < plain[0]
    assert plain[1] - lower[1] > plain[0] - lower[0]


def test_other_rules_are_another_attempt(folder):
    tried()
    again = decide("qrels.txt", "main.run", "better.run", "RR >= -0.5", ledger="ledger.jsonl", change="tuning")

    assert 2 == again.attempt.attempt


def test_jobs_that_run_at_once_lose_no_attempt(folder):
    with ThreadPoolExecutor(8) as jobs:
        list(jobs.map(lambda n: tried(change=f"change {n}"), range(24)))

    assert {f"change {n}" for n in range(24)} == {attempt.change for attempt in read_ledger("ledger.jsonl")}


def test_ledgers_that_were_merged_count_what_is_in_both(folder):
    """Two branches, each with an attempt of the same change."""
    tried()
    one = Path("ledger.jsonl").read_text()
    Path("ledger.jsonl").unlink()
    tried("worse.run")
    Path("ledger.jsonl").write_text(one + Path("ledger.jsonl").read_text())

    assert 3 == tried("main.run").attempt.attempt


@pytest.mark.parametrize("line", ["<<<<<<< HEAD", '{"change": 1}', "{}", '{"\udcad": 1}'])
def test_what_is_no_attempt_is_said_with_its_line(folder, line):
    tried()
    with Path("ledger.jsonl").open("a", errors="surrogateescape") as file:  # not UTF-8, too
        file.write(f"{line}\n")

    with pytest.raises(InputError, match=r"^ledger\.jsonl:2: is not an attempt of `assay gate`: .* Restore the ledger"):
        tried("worse.run")
    assert 2 == Path("ledger.jsonl").read_bytes().count(b"\n")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"ledger": "ledger.jsonl"}, "`ledger=` and `change=` go together"),
        ({"change": "tuning"}, "`ledger=` and `change=` go together"),
        ({"ledger": "ledger.jsonl", "change": " "}, "a ledger needs the name of the change"),
        ({"ledger": "ledger.jsonl", "change": "a\nb"}, r"'a\\nb' cannot be the name of a change|cannot be the name"),
        ({"ledger": "no/folder/ledger.jsonl", "change": "tuning"}, r"no/folder/ledger\.jsonl: cannot be written"),
        ({"anchor": "main.run"}, "an anchor needs a rule of its own"),
        ({"anchor_rules": "RR >= -0.1"}, "`anchor_rules=` are about an anchor"),
        ({"population": "all"}, "population cannot be 'all'; it takes sample or strict"),
    ],
)
def test_what_is_not_complete_is_refused(folder, given, words):
    with pytest.raises(InputError, match=words):
        decide("qrels.txt", "main.run", "better.run", RULE, **given)


def test_the_command_says_which_attempt_it_is(folder):
    given = ("gate", "--baseline", "main.run", "--qrels", "qrels.txt", "--rule", RULE)
    ledger = ("--ledger", "ledger.jsonl", "--change", "tuning")
    first, second = (
        assay(*given, "--candidate", name, *ledger, env={"COLUMNS": "80"}) for name in ("better.run", "worse.run")
    )

    assert "first attempt of 'tuning'. Its bounds are at 97.5%" in first.stdout
    assert "attempt 2 of 'tuning'. Its bounds are at 99.17%" in second.stdout
    assert "bounds one-sided at 99.17%" in second.stdout
    found = json.loads(assay(*given, "--candidate", "main.run", *ledger, "--format", "json").stdout)
    assert ("tuning", 3) == (found["attempt"]["change"], found["attempt"]["number"])
    assert 2 == assay(*given, "--candidate", "better.run", "--ledger", "qrels.txt", "--change", "x").returncode


def at_the_margin(random, queries=100):
    """Differences of a change that loses exactly 0.01: half of the queries change, by 0.02 less on average."""
    return np.where(random.random(queries) < 0.5, np.clip(random.normal(-0.02, 0.2, queries), -1, 1), 0.0)


def passes(difference, alpha=0.05, margin=-0.01):
    rule = parse_rule(f"AP >= {margin}")
    return decide_rule(rule, np.zeros(len(difference)), difference, alpha).status == "pass"


def test_a_change_at_the_margin_that_is_tried_20_times_passes_in_at_most_5_percent():
    """Without a ledger it would in 64%."""
    random, draws = np.random.default_rng(5), 400
    with_ledger = without = 0
    for _ in range(draws):
        samples = [at_the_margin(random) for _ in range(20)]
        without += any(passes(sample) for sample in samples)
        with_ledger += any(passes(sample, part_of(0.05, n)) for n, sample in enumerate(samples, 1))

    assert with_ledger / draws <= 0.055 + 3 * math.sqrt(0.055 * 0.945 / draws)
    assert 0.4 < without / draws


def test_adding_queries_until_it_settles_stays_valid():
    """40 looks, each with 25 queries more than the one before."""
    random, draws, passed = np.random.default_rng(6), 300, 0
    for _ in range(draws):
        everything = at_the_margin(random, 1000)
        passed += any(passes(everything[: 25 * n], part_of(0.05, n)) for n in range(1, 41))

    assert passed / draws <= 0.055 + 3 * math.sqrt(0.055 * 0.945 / draws)


# Anchors


def runs_that_creep(random, steps, queries):
    """Values of systems, each 0.005 worse than the one before."""
    values = [random.uniform(0.4, 0.8, queries)]
    for _ in range(steps):
        values.append(np.clip(values[-1] + random.normal(-0.005, 0.05, queries), 0, 1))
    return values


@pytest.mark.parametrize("queries", [50, 400])
def test_an_anchor_stops_losses_that_add_up(queries):
    """20 merges of -0.005 each. The anchor's margin of 0.03 is lost with the sixth."""
    random, draws, stopped = np.random.default_rng(7), 200, 0
    rule = parse_rule("AP >= -0.03")
    for _ in range(draws):
        values = runs_that_creep(random, 7, queries)
        stopped += any(decide_rule(rule, values[0], later).status != "pass" for later in values[1:7])

    assert stopped / draws >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / draws)


def test_an_anchor_is_decided_beside_the_baseline(folder):
    gate = decide(
        "qrels.txt", "worse.run", "worse.run", RULE, anchor="main.run", anchor_rules=["RR >= -0.03", "P@1 >= -1%"]
    )

    assert ["unchanged", "fail", "fail"] == [decision.status for decision in gate.decisions]
    assert ["baseline", "anchor", "anchor"] == [decision.against for decision in gate.decisions]
    assert ("fail", 1, "main") == (gate.status, gate.exit_code, gate.anchor.name)


def test_an_anchor_can_be_an_old_report(folder):
    write = assay("evaluate", "qrels.txt", "main.run", "-m", "RR", "--report", "old")
    assert 0 == write.returncode, write.stderr
    path = Path("old/EvaluationReport.json")
    path.write_text(path.read_text().replace('"created": "20', '"created": "19'))
    given = ("gate", "--baseline", "main.run", "--candidate", "better.run", "--qrels", "qrels.txt", "--rule", RULE)
    done = assay(*given, "--anchor", "old", "--anchor-rule", "RR >= -0.03", env={"COLUMNS": "80"})

    assert 0 == done.returncode, done.stdout + done.stderr
    assert "RR >= -0.03 (anchor)" in done.stdout
    assert "days old" not in done.stdout


# Unchanged


@pytest.mark.parametrize(
    ("given", "exit_code"),
    [
        ({}, 0),
        ({"population": "strict"}, 3),
        ({"population": "strict", "inconclusive": "fail"}, 1),
        ({"population": "strict", "inconclusive": "warn"}, 0),
        ({"inconclusive": "fail"}, 0),
    ],
)
def test_unchanged_passes_unless_the_population_is_what_counts(folder, given, exit_code):
    (folder / "copy.run").write_text((folder / "main.run").read_text())
    gate = decide("qrels.txt", "main.run", "copy.run", RULE, **given)

    assert ("unchanged", exit_code) == (gate.status, gate.exit_code)


def test_one_rule_that_is_unchanged_does_not_hide_one_that_passes(folder):
    """R@10 is 1 in both runs; RR is better."""
    plain, strict = (
        decide("qrels.txt", "main.run", "better.run", ["RR >= 0", "R@10 >= 0"], population=population)
        for population in ("sample", "strict")
    )

    assert [("pass", 0), ("unchanged", 3)] == [(gate.status, gate.exit_code) for gate in (plain, strict)]


def test_a_ledger_is_written_whole(folder):
    with opened_ledger("ledger.jsonl") as ledger:
        kept = ledger.attempt("tuning", [(("RR", (), ()), b"")], 0.05)
        ledger.keep(kept)
    with opened_ledger("ledger.jsonl") as ledger:
        ledger.keep(kept)  # the same evidence again adds nothing

    assert (kept,) == read_ledger("ledger.jsonl")
    schema = json.loads((DOCS / "schemas" / "gate-ledger-1.json").read_text())
    assert [] == list(problems(json.loads(Path("ledger.jsonl").read_text()), schema))
