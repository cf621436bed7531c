"""Unlabelled queries: which ones a change touches, what that bounds, and a gate that uses it."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from assay import Rules, native
from assay.errors import AssayError, InputError
from assay.formats.unread import open_run
from assay.gate import decide
from assay.gate.traffic import Touched, traffic_bounds, traffic_of
from assay.measures import parse_measure
from assay.report.gate import RENDERERS
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

WHOLE = (-1.0, 1.0)


def ranked(*docs):
    return dict(zip(docs, range(len(docs), 0, -1), strict=True))


def touched(before, after, measure="nDCG@2", rules=Rules()):
    runs = open_run(before), open_run(after)
    found = parse_measure(measure)
    return set(traffic_of(*runs, [found], rules, 1).touched(found.param("cutoff") or 2**31 - 1))


# Which queries


def test_a_query_is_touched_if_its_first_documents_differ():
    before = {"same": ranked("a", "b", "c"), "deep": ranked("a", "b", "c"), "order": ranked("a", "b", "c"),
              "new": ranked("a", "b"), "short": ranked("a", "b"), "gone": ranked("a")}  # fmt: skip
    after = {"same": ranked("a", "b", "c"), "deep": ranked("a", "b", "d"), "order": ranked("b", "a", "c"),
             "new": ranked("a", "d"), "short": ranked("a"), "come": ranked("a")}  # fmt: skip

    assert {"order", "new", "short", "gone", "come"} == touched(before, after)
    assert {"order", "new", "short", "gone", "come", "deep"} == touched(before, after, "AP")


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize(
    ("rules", "expected"),
    [(Rules(), set()), (Rules(ties="input"), {"q"}), (Rules(order="rank"), {"q"}), (Rules(depth=0), set())],
)
def test_touched_depends_on_the_rules(tmp_path, monkeypatch, kernel, rules, expected):
    """Two tied documents in another order: the same ranking, unless ties are broken by the file."""
    if kernel and not native.enabled():
        pytest.skip("the kernel is not built")
    if not kernel:
        monkeypatch.setenv("ASSAY_NATIVE", "0")
    (tmp_path / "a.run").write_text("q Q0 a 1 1.0 t\nq Q0 b 2 1.0 t\n")
    (tmp_path / "b.run").write_text("q Q0 b 1 1.0 t\nq Q0 a 2 1.0 t\n")

    assert expected == touched(tmp_path / "a.run", tmp_path / "b.run", rules=rules)


def test_averages_over_ties_are_refused():
    with pytest.raises(AssayError, match="depends on the order of ties"):
        touched({"q": ["a"]}, {"q": ["a"]}, rules=Rules(ties="expected"))


def test_the_order_to_judge_in_is_random_but_always_the_same():
    before = {f"q{n}": ["a", "b"] for n in range(200)}
    after = {query: ["b", "a"] for query in before}
    measures = [parse_measure("P@1")]

    def order(one, other):
        return traffic_of(open_run(one), open_run(other), measures, Rules(), 1).touched(1)

    found = order(before, after)
    less = {query: docs for query, docs in after.items() if query != found[0]}

    assert found == order(dict(reversed(before.items())), after)
    assert found[1:] == order({query: before[query] for query in less}, less)
    assert sorted(before) == sorted(found) != found
    assert 0.2 < np.mean([int(query[1:]) < 100 for query in found[:30]]) < 0.8


# What it bounds


def test_a_change_cannot_lose_more_than_it_touches():
    """50 of 10,000 queries; Clopper-Pearson's upper bound of the share is 0.0063."""
    found = traffic_bounds(Touched(10_000, 50, np.array([])), WHOLE, 0.05)

    assert found is not None
    assert (-0.0063, 0.0063) == tuple(round(end, 4) for end in found.ends)
    assert traffic_bounds(Touched(10_000, 50, np.array([])), None, 0.05) is None


def simulated(random, share, draw, margin=-0.01, draws=400):
    """How often a rule passes with 10,000 unlabelled queries and 30 judged touched ones."""
    passed = 0
    for count in random.binomial(10_000, share, draws):
        found = traffic_bounds(Touched(10_000, int(count), draw(30)), WHOLE, 0.05)
        passed += found.ends[0] >= margin
    return passed / draws


@pytest.mark.parametrize(
    ("share", "kind"),
    [(0.02, "normal"), (0.02, "all or nothing"), (0.1, "rare and total"), (0.05, "normal"), (0.2, "rare and total")],
)
def test_at_the_margin_it_rarely_passes(share, kind):
    random, mean = np.random.default_rng(3), -0.01 / share
    draw = {
        "normal": lambda n: np.clip(random.normal(mean, 0.2, n), -1, 1),
        "all or nothing": lambda n: random.choice([-1.0, 0.0], n, p=[-mean, 1 + mean]),
        "rare and total": lambda n: random.choice([-1.0, 0.02], n, p=[(0.02 - mean) / 1.02, (1 + mean) / 1.02]),
    }[kind]

    assert simulated(random, share, draw) <= 0.055 + 3 * math.sqrt(0.055 * 0.945 / 400)


@pytest.mark.parametrize("kind", ["normal", "all or nothing"])
def test_a_change_that_loses_nothing_passes(kind):
    random = np.random.default_rng(4)
    draw = {
        "normal": lambda n: np.clip(random.normal(0, 0.3, n), -1, 1),
        "all or nothing": lambda n: random.choice([-1.0, 0.0, 1.0], n, p=[0.1, 0.8, 0.1]),
    }[kind]

    assert 0.8 <= simulated(random, 0.02, draw)


# A gate


@pytest.fixture
def files(tmp_path, monkeypatch):
    """50 judged queries that do not change, and 2,000 unlabelled ones of which 40 do."""
    monkeypatch.chdir(tmp_path)
    labelled, others = [f"q{n}" for n in range(50)], [f"u{n}" for n in range(2000)]

    def write(name, queries, changed=()):
        lines = []
        for query in queries:
            docs = ["b", "a", "c"] if query in changed else ["a", "b", "c"]
            lines += [f"{query} Q0 {doc} {rank} {10 - rank} t\n" for rank, doc in enumerate(docs, 1)]
        (tmp_path / name).write_text("".join(lines))

    write("main.run", labelled)
    write("new.run", labelled)
    write("main-log.run", others)
    write("new-log.run", others, set(others[::50]))
    (tmp_path / "qrels.txt").write_text("".join(f"{query} 0 a 1\n" for query in labelled))
    return tmp_path


def gate(*more, qrels="qrels.txt", rule="RR >= -0.01"):
    given = ("--baseline", "main.run", "--candidate", "new.run", "--qrels", qrels, "--rule", rule)
    log = ("--unlabelled-baseline", "main-log.run", "--unlabelled-candidate", "new-log.run")
    return assay("gate", *given, *log, *more)


def test_a_gate_names_the_touched_queries_and_settles_once_they_are_judged(files):
    """40 of 2,000 are touched, which alone could lose 0.027; the 30 judged ones gain."""
    first = gate("--format", "json")
    found = json.loads(first.stdout)
    (rule,) = found["rules"]

    assert (3, "inconclusive", "traffic") == (first.returncode, found["status"], rule["method"])
    assert (2000, 40, 0, 30) == (rule["unlabelled"], rule["touched"], rule["judged"], len(rule["to_judge"]))
    assert set(rule["to_judge"]) <= {f"u{n}" for n in range(0, 2000, 50)}
    schema = json.loads((DOCS / "schemas" / "gate-1.json").read_text())
    assert [] == list(problems(found, schema))

    judgments = (files / "qrels.txt").read_text() + "".join(f"{query} 0 b 1\n" for query in rule["to_judge"])
    (files / "more.txt").write_text(judgments)
    second = gate(qrels="more.txt")

    assert 0 == second.returncode, second.stdout
    assert "the change touches 40 of 2,000 unlabelled queries (2.00%, at most " in " ".join(second.stdout.split())
    assert "the 30 judged so far differ by +0.5000" in " ".join(second.stdout.split())
    assert "missing" not in second.stdout  # judged queries that are only in the unlabelled runs are not missing


def test_judged_ones_that_lose_stop_it(files):
    """30 touched queries that lose half each; 40 of 2,000 lose 0.01 at a margin of 0.002."""
    found = json.loads(gate("--format", "json", rule="RR >= -0.002").stdout)
    worse = "".join(f"{query} 0 a 1\n" for query in found["rules"][0]["to_judge"])
    (files / "more.txt").write_text((files / "qrels.txt").read_text() + worse)

    assert 1 == gate(qrels="more.txt", rule="RR >= -0.002").returncode


def test_people_are_told_what_to_judge(files):
    short, long = gate().stdout, gate("-v").stdout

    assert " and 25 more (all with -v, and in the JSON)" in short
    assert 30 == len(set(long.replace(",", " ").split()) & {f"u{n}" for n in range(2000)})
    assert "judge next" in short


def test_without_unjudged_documents_any_document_may_be_among_the_first():
    """The third document of every query of the log is another one, and may be the first that is judged."""
    judged = {f"q{n}": ["a", "b"] for n in range(20)}
    before = {f"u{n}": ["b", "c", "a"] for n in range(2000)}
    after = {query: ["b", "c", "d"] for query in before}
    qrels = {query: {"a": 1} for query in judged}
    found = decide(qrels, judged, judged, "P(judged_only=True)@1 >= -0.01", unlabelled=(before, after))

    assert ("inconclusive", 2000) == (found.status, found.decisions[0].touched)


@pytest.mark.parametrize(
    ("measure", "like"),
    [("nDCG(ideal='retrieved')@2", "assay"), ("R(among='retrieved')@2", "assay"), ("nDCG@2", "ir_measures")],
)
def test_what_is_retrieved_deeper_touches_measures_that_depend_on_it(measure, like):
    judged = {f"q{n}": {"a": 2.0, "b": 1.0} for n in range(20)}
    before = {f"u{n}": {"b": 3.0, "c": 2.0, "a": 1.0} for n in range(2000)}
    after = {query: {"b": 3.0, "c": 2.0, "d": 1.0} for query in before}
    qrels = {query: {"a": 1, "b": 0} for query in judged}
    found = decide(qrels, judged, judged, f"{measure} >= -0.01", unlabelled=(before, after), like=like)

    assert ("inconclusive", 2000) == (found.status, found.decisions[0].touched)


def test_a_measure_without_limits_needs_judged_touched_queries():
    judged = {f"q{n}": ["a", "b"] for n in range(60)}
    after = {query: ["b", "a"] if n < 9 else ["a", "b"] for n, query in enumerate(judged)}
    log = {f"u{n}": ["a"] for n in range(100)}
    found = decide({query: {"a": 1} for query in judged}, judged, after, "DCG@5 >= -0.01", unlabelled=(log, log))

    assert (
        "so far 9 touched queries are judged, and DCG@5 has no upper limit: a bound needs 7 that differ, and not all by the "
        "same amount"
    ) == found.decisions[0].words


def test_runs_may_be_the_unlabelled_ones_too():
    """All judged queries are then among the unlabelled ones, so none is left for the ordinary sample."""
    before = {f"q{n}": ["a", "b"] for n in range(5000)}
    after = {query: ["b", "a"] if n % 500 == 0 else ["a", "b"] for n, query in enumerate(before)}
    qrels = {f"q{n}": {"a": 1} for n in range(50)}
    found = decide(qrels, before, after, "RR >= -0.01", unlabelled=(before, after))

    assert ("pass", 1, 10, ()) == (found.status, found.decisions[0].judged, found.decisions[0].touched, found.cautions)
    assert "Gate: pass (1 passes): run against run\n" in RENDERERS["table"](found)


def test_small_shares_have_enough_digits():
    """10 of 200,000, and so at most 17.8 (Clopper and Pearson) or 0.009%."""
    judged = {f"q{n}": ["a", "b"] for n in range(20)}
    before = {f"u{n}": ["a"] for n in range(200_000)}
    after = {query: ["b"] if n % 20_000 == 0 else ["a"] for n, query in enumerate(before)}
    found = decide({query: {"a": 1} for query in judged}, judged, judged, "RR >= -0.01", unlabelled=(before, after))

    assert "10 of 200,000 unlabelled queries (0.005%, at most 0.008%)" in found.decisions[0].words


def test_unlabelled_runs_of_other_queries_are_refused():
    run = {"q0": ["a"]}
    with pytest.raises(
        InputError, match=r"the unlabelled runs have no query in common \(baseline: u0; candidate: v0\)"
    ):
        decide({"q0": {"a": 1}}, run, run, "RR >= -0.01", unlabelled=({"u0": ["a"]}, {"v0": ["a"]}))


@pytest.mark.parametrize(("rule", "kind", "limit"), [("RR >= 0", "loss", 0.0015), ("Unjudged@2 <= 0", "rise", 0.0015)])
def test_what_touches_no_query_at_all_is_unchanged(rule, kind, limit):
    log = {f"u{n}": ["a", "b"] for n in range(2000)}
    runs = {f"q{n}": ["a", "b"] for n in range(20)}
    qrels = {query: {"a": 1} for query in runs}
    found = decide(qrels, runs, runs, rule, unlabelled=(log, log))
    strict = decide(qrels, runs, runs, rule, unlabelled=(log, log), population="strict")

    assert ("unchanged", 0, 3) == (found.status, found.exit_code, strict.exit_code)
    assert limit == pytest.approx(found.decisions[0].unseen, abs=1e-5)
    assert (
        "the change touches 0 of 2,000 unlabelled queries (0.00%, at most 0.15%), and no judged one; "
        f"on other queries a {kind} of up to 0.001 remains possible"
    ) == found.decisions[0].words


def test_the_difference_over_all_traffic_is_said_to_be_that(files):
    """The means are those of the judged queries; the difference between them is another one."""
    assert "Difference = candidate - baseline over all unlabelled queries; bounds" in gate().stdout
    annotation = gate("--format", "github").stdout
    assert "difference +0.0000 over all unlabelled queries (1.0000 to 1.0000 on judged ones), " in annotation


def test_a_change_that_touches_nothing_loses_at_most_what_could_be_unseen():
    """3 / 2,000: the rule of three."""
    log = {f"u{n}": ["a", "b"] for n in range(2000)}
    runs = {f"q{n}": ["a", "b"] for n in range(20)}
    qrels = {query: {"a": 1} for query in runs}
    found = decide(qrels, runs, runs, "RR >= -0.0015", unlabelled=(log, log))

    assert ("pass", 0) == (found.status, found.decisions[0].touched)
    assert found.decisions[0].lower == pytest.approx(-(1 - 0.05 ** (1 / 2000)))
    assert "touches 0 of 2,000 unlabelled queries" in RENDERERS["table"](found)


def test_touched_queries_of_the_judged_runs_are_judged_ones_too():
    before = {f"q{n}": ["a", "b"] for n in range(40)}
    after = {query: ["b", "a"] for query in before}
    qrels = {query: {"b": 1} for query in before}
    log = {f"u{n}": ["a", "b"] for n in range(100)}, {f"u{n}": ["b", "a"] for n in range(100)}
    found = decide(qrels, before, after, "RR >= 0", unlabelled=log)

    assert ("pass", 40, 100) == (found.status, found.decisions[0].judged, found.decisions[0].touched)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"gate_rules": "RR >= -1%"}, "unlabelled queries say nothing about the baseline's mean"),
        ({"query_weights": {"q0": 1.0}}, "unlabelled queries do not go with `query_weights=`"),
        ({"targets": "trec-rag"}, "unlabelled queries are for rules, not for targets"),
        ({"rules": {"queries": "both"}}, r"unlabelled queries do not go with `Rules\(queries='both'\)`"),
    ],
)
def test_what_does_not_go_together_is_refused(more, words):
    run = {"q0": ["a"]}
    with pytest.raises((InputError, AssayError), match=words):
        decide(
            **{
                "qrels": {"q0": {"a": 1}},
                "baseline": run,
                "candidate": run,
                "gate_rules": "RR >= -0.01",
                "unlabelled": (run, run),
                **more,
            }
        )


def test_one_unlabelled_run_is_not_enough(files):
    done = assay("gate", "--baseline", "main.run", "--candidate", "new.run", "--qrels", "qrels.txt", "--rule", "RR >= 0",
                 "--unlabelled-baseline", "main-log.run")  # fmt: skip

    assert 2 == done.returncode
    assert "--unlabelled-baseline and --unlabelled-candidate go together: give both runs." in done.stderr
