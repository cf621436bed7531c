"""Policies: repairs that change the data, each with what it touched, what it is worth and a record of it."""

from __future__ import annotations

import gzip
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import assay
from assay import Rules, evaluate, fix_qrels, fix_run, validate_qrels, validate_run
from assay.errors import InputError
from assay.formats.ir_metadata import read_metadata
from assay.validation.policies import POLICIES, chosen_policies
from golden.trec import trec_eval

GOLDEN = Path(__file__).parents[1] / "golden" / "data"

RUN = "1 Q0 a 1 9.5 x\n1 Q0 b 2 8.0 x\n1 Q0 c 3 7.5 x\n2 Q0 d 1 4.0 x\n"
QRELS = "1 0 a 1\n1 0 b 0\n2 0 d 2\n"


@pytest.fixture
def fixed(tmp_path: Path):
    """The repaired text without its header, and how many lines each policy touched."""

    def fix(text: str, policies: dict, repair=fix_run, **options) -> tuple[str, dict[str, int]]:
        source, target = tmp_path / "old", tmp_path / "new"
        source.write_text(text)
        repairs = repair(source, target, policies=policies, **{"metadata": False, **options})
        return target.read_text(), {each.policy: each.repair.count for each in repairs.policies}

    return fix


@pytest.mark.parametrize(
    ("text", "policies", "expected", "count"),
    [
        (RUN, {"cut": 2}, RUN.replace("1 Q0 c 3 7.5 x\n", ""), 1),
        (RUN, {"cut": 1000}, RUN, 0),
        ("1 Q0 a 1 1.0 x\n1 Q0 b 2 1.0 x\n", {"cut": 1}, "1 Q0 b 1 1.0 x\n", 1),  # ties: by document id, descending
        (RUN + "2 Q0 d 2 9.0 x\n", {"duplicates": "best"}, RUN.replace("2 Q0 d 1 4.0", "2 Q0 d 1 9.0"), 1),
        (RUN + "2 Q0 d 2 9.0 x\n", {"duplicates": "first"}, RUN, 1),
        ("001 Q0 0d7 1 9 x\nq01 Q0 007 1 8 x\n", {"ids": "strip-zeros"}, "1 Q0 0d7 1 9 x\nq1 Q0 7 1 8 x\n", 2),
        ("1 Q0 doc-1 1 9 x\n1 Q0 2 2 8 x\n", {"ids": "strip-prefix=doc-"}, "1 Q0 1 1 9 x\n1 Q0 2 2 8 x\n", 1),
        ("Q1 Q0 D\u00c91 1 9 X\n", {"ids": "lower"}, "q1 Q0 d\u00e91 1 9 X\n", 1),
        (
            "1 Q0 \u00a0a\u200b 1 9\u00a0 x\n1 Q0 b\u00a0c 2 8 x\n",
            {"blanks": "trim"},
            "1 Q0 a 1 9 x\n1 Q0 b\u00a0c 2 8 x\n",
            1,
        ),
        (
            "1 Q0 a 1 2 x\n1 Q0 b 2 3 x\n1 Q0 c 3 1 x\n",
            {"ranks": "renumber"},
            "1 Q0 b 1 3 x\n1 Q0 a 2 2 x\n1 Q0 c 3 1 x\n",
            2,
        ),
        ("1\ta\t1\n1\tb\t2\n2\tc\t7\n", {"cut": 1}, "1\ta\t1\n2\tc\t7\n", 1),  # no scores: by rank
    ],
)
def test_what_a_policy_does_to_a_run(fixed, text: str, policies: dict, expected: str, count: int) -> None:
    (name, value), *_ = policies.items()

    assert (expected, {f"{name}={value}": count}) == fixed(text, policies)
    assert (expected, {f"{name}={value}": 0}) == fixed(expected, policies)  # a second time, there is nothing to do


@pytest.mark.parametrize(
    ("text", "policies", "expected", "count"),
    [
        ("1 0 a -2\n1 0 b 3\n1 0 c E\n", {"grades": "clip"}, "1 0 a 0\n1 0 b 3\n1 0 c E\n", 1),
        ("1 0 a 0\n1 0 b 1\n1 0 a 2\n", {"duplicates": "best"}, "1 0 b 1\n1 0 a 2\n", 1),
        ("1 0 a 0\n1 0 b 1\n1 0 a 2\n", {"duplicates": "first"}, "1 0 a 0\n1 0 b 1\n", 1),
        ("1 1 a 0\n1 2 a 2\n", {"duplicates": "best"}, "1 1 a 0\n1 2 a 2\n", 0),  # two subtopics
        ("01 0 A 1\n", {"ids": ["strip-zeros", "lower"]}, "1 0 a 1\n", 1),
    ],
)
def test_what_a_policy_does_to_judgments(fixed, text: str, policies: dict, expected: str, count: int) -> None:
    new, counts = fixed(text, policies, fix_qrels)

    assert (expected, [count] * len(counts)) == (new, list(counts.values()))


def test_policies_are_applied_in_one_order_however_they_are_given(fixed) -> None:
    """Duplicates go before the cut, as under the rules, and ids before both."""
    text = "1 Q0 01 1 9 x\n1 Q0 1 2 8 x\n1 Q0 2 3 7 x\n1 Q0 3 4 6 x\n"
    new, counts = fixed(text, {"cut": 2, "duplicates": "best", "ids": "strip-zeros"})

    assert "1 Q0 1 1 9 x\n1 Q0 2 2 7 x\n" == new
    assert {"ids=strip-zeros": 1, "duplicates=best": 1, "cut=2": 1} == counts
    assert ["ids=strip-zeros", "duplicates=best", "cut=2"] == list(counts)


def test_a_query_with_a_row_that_cannot_be_read_is_not_cut(fixed) -> None:
    """Its rank is unknown. The ids are rewritten all the same."""
    text = "01 Q0 a 1 9 x\n01 Q0 b 2 8 x\n01 Q0 c 3\n02 Q0 a 1 9 x\n02 Q0 b 2 8 x\n"
    new, counts = fixed(text, {"ids": "strip-zeros", "cut": 1})

    assert "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n01 Q0 c 3\n2 Q0 a 1 9 x\n" == new
    assert {"ids=strip-zeros": 4, "cut=1": 1} == counts


def test_safe_repairs_are_made_too(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("\n" + RUN)
    repairs = fix_run(tmp_path / "a.run", tmp_path / "b.run", policies={"cut": 2})

    assert [("blank lines removed", 1)] == [(repair.what, repair.count) for repair in repairs.made]
    assert [(1, (4,))] == [(each.repair.count, each.repair.lines) for each in repairs.policies]


# The same as evaluating with rules

rows = st.lists(st.tuples(st.sampled_from("pq"), st.sampled_from("abcdef"), st.integers(0, 3)), min_size=1, max_size=14)


@pytest.mark.parametrize(
    ("policies", "rules"),
    [
        ({"duplicates": "best"}, {"duplicates": "best"}),
        ({"duplicates": "first"}, {"duplicates": "first"}),
        ({"duplicates": "best", "cut": 2}, {"duplicates": "best", "depth": 2}),
        ({"duplicates": "first", "cut": 1}, {"duplicates": "first", "depth": 1}),
        ({"duplicates": "best", "ranks": "renumber"}, {"duplicates": "best"}),
    ],
)
@given(rows=rows)
def test_a_repaired_run_has_the_values_of_the_rules(tmp_path_factory, policies, rules, rows) -> None:
    """Also where the rows of a query are not grouped together."""
    folder = tmp_path_factory.getbasetemp()
    old, new = folder / "old.run", folder / "new.run"
    old.write_text("".join(f"{q} Q0 {d} {n} {s} x\n" for n, (q, d, s) in enumerate(rows)))
    fix_run(old, new, policies=policies)
    qrels = {"p": {"a": 2, "b": 1, "c": 0}, "q": {"d": 1, "a": 3}}
    measures = ["nDCG@2", "AP", "RR", "num_ret"]

    expected = evaluate(qrels, old, measures, rules=Rules(**rules), unmatched="zero")
    assert expected.mean() == evaluate(qrels, new, measures, unmatched="zero").mean()
    assert "RUN020" not in validate_run(new).codes()
    if "ranks" in policies:
        by_rank = Rules(order="rank")
        assert expected.mean() == evaluate(qrels, new, measures, rules=by_rank, unmatched="zero").mean()
        assert not {"RUN022", "RUN023", "RUN024", "RUN025"} & set(validate_run(new).codes())


@pytest.mark.parametrize("version", ["9.0.8", "10.0"])
def test_a_cut_run_gives_every_line_that_trec_eval_prints_with_max_num_docs(tmp_path: Path, version: str) -> None:
    """The run has ties and interleaved queries; here, its ids have a prefix that the judgments lack."""
    run, qrels = GOLDEN / "binary_deep.run", GOLDEN / "binary_deep.qrels"
    expected = gzip.decompress((GOLDEN / f"binary_deep.M10.trec_eval-{version}.txt.gz").read_bytes()).decode()
    prefixed = (line.split() for line in run.read_text().splitlines())
    (tmp_path / "a.run").write_text("".join(f"t:{q} {q0} t:{d} {' '.join(rest)}\n" for q, q0, d, *rest in prefixed))
    policies = {"ids": "strip-prefix=t:", "cut": 10, "ranks": "renumber"}
    fix_run(tmp_path / "a.run", tmp_path / "b.run", policies=policies, qrels=qrels, metadata=version == "10.0")

    code, out, _ = trec_eval("--as", version, "-m", "all_trec", "-q", "-c", qrels, tmp_path / "b.run")
    assert 0 == code
    assert expected.splitlines() == [line for line in out.splitlines() if not line.startswith("runid")]


@given(
    rows=st.lists(
        st.tuples(st.sampled_from("pq"), st.sampled_from("abc"), st.integers(-2, 3)), min_size=1, max_size=12
    ),
    how=st.sampled_from(["best", "first"]),
)
def test_repaired_judgments_have_the_values_of_the_rules(tmp_path_factory, rows, how: str) -> None:
    folder = tmp_path_factory.getbasetemp()
    old, new = folder / "old.qrels", folder / "new.qrels"
    old.write_text("".join(f"{q} 0 {d} {g}\n" for q, d, g in rows))
    fix_qrels(old, new, policies={"duplicates": how})
    run = {query: {"a": 3.0, "b": 2.0, "c": 1.0} for query in "pq"}

    expected = evaluate(old, run, ["nDCG@3", "AP"], rules=Rules(judges=how))
    assert expected.mean() == evaluate(new, run, ["nDCG@3", "AP"]).mean()
    assert not {"QRL020", "QRL021"} & set(validate_qrels(new).codes())


@given(st.lists(st.text("0179aQd-", min_size=1, max_size=4), min_size=1, max_size=6, unique=True))
def test_rewriting_ids_never_merges_two_in_silence(tmp_path_factory, docs: list[str]) -> None:
    folder = tmp_path_factory.getbasetemp()
    old, new = folder / "ids.run", folder / "new-ids.run"
    old.write_text("".join(f"x Q0 {doc} {n} {9 - n} x\n" for n, doc in enumerate(docs, 1)))
    new.write_text("what was there")
    policies = {"ids": ["strip-prefix=d-", "strip-zeros", "lower"]}
    expected = [rewritten(doc) for doc in docs]
    if len(set(expected)) < len(docs):
        with pytest.raises(InputError, match="the policies turn the document ids"):
            fix_run(old, new, policies=policies)
        assert "what was there" == new.read_text()  # whole or not at all
        policies |= {"duplicates": "first"}
    fix_run(old, new, policies=policies, metadata=False)

    assert list(dict.fromkeys(expected)) == [line.split()[2] for line in new.read_text().splitlines()]


def rewritten(doc: str) -> str:
    doc = doc[2:] if doc.startswith("d-") and doc != "d-" else doc
    number = re.fullmatch("([adQ]*)0*([0-9]+)", doc)
    return (number[1] + number[2] if number else doc).lower()


# Ids of other files


def test_ids_that_match_already_are_left_alone(fixed) -> None:
    """Leading zeros are wrong in the query ids and right in the document ids."""
    text = "007 Q0 0012 1 9 x\n007 Q0 0013 2 8 x\n"
    qrels = {"7": {"0012": 1}}

    assert "7 Q0 12 1 9 x\n7 Q0 13 2 8 x\n" == fixed(text, {"ids": "strip-zeros"})[0]
    assert "7 Q0 0012 1 9 x\n7 Q0 0013 2 8 x\n" == fixed(text, {"ids": "strip-zeros"}, qrels=qrels)[0]
    assert "7 Q0 0012 1 9 x\n7 Q0 0013 2 8 x\n" == fixed(text, {"ids": "strip-zeros"}, queries=["7"])[0]


def test_ids_are_written_as_in_the_judgments(fixed) -> None:
    """Zeros were lost and letters changed on the way to the run; an id that could be two of the judgments stays."""
    text = "7 Q0 ft-12 1 9 x\n7 Q0 a1 2 8 x\n7 Q0 new 3 7 x\n"
    qrels = {"007": {"FT-12": 1, "A1": 1, "A01": 0}}

    assert "007 Q0 FT-12 1 9 x\n007 Q0 a1 2 8 x\n007 Q0 new 3 7 x\n" == fixed(text, {"ids": "as-qrels"}, qrels=qrels)[0]
    with pytest.raises(InputError, match=r"writes the ids of a run as in the judgments. Give them with `qrels=`."):
        fixed(text, {"ids": "as-qrels"})


def test_the_columns_are_named(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("007 Q0 0012 1 9 x\n")

    def what(**others) -> str:
        repairs = fix_run(tmp_path / "a.run", tmp_path / "b.run", policies={"ids": "strip-zeros"}, **others)
        return repairs.policies[0].repair.what

    assert "leading zeros of query and document ids removed" == what()
    assert "leading zeros of query ids removed" == what(qrels={"7": {"0012": 1}})
    assert "leading zeros of document ids removed" == what(qrels={"007": {"12": 1}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "1 Q0 01 1 9 x\n1 Q0 1 2 8 x\n",
            "a.run:2: the policies turn the document ids '01' and '1' of query 1 into one. If they mean the same, say which "
            "row to keep of a document that is then listed twice: `policies={'duplicates': 'best'}`, or 'first'.",
        ),
        ("1 Q0 a 1 9 x\n01 Q0 b 1 8 x\n", "a.run:2: the policies turn the query ids '1' and '01' into one."),
        (
            "1 Q0 a 1 9 x\n2 Q0 a 1 9 x\n01 Q0 b 1 8 x\n",
            "a.run:3: the policies turn the query ids '1' and '01' into one.",
        ),
    ],
)
def test_two_ids_are_not_merged_unless_one_says_what_to_keep(tmp_path: Path, monkeypatch, text, message) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text(text)
    with pytest.raises(InputError) as refused:
        fix_run("a.run", "b.run", policies={"ids": "strip-zeros"})

    assert str(refused.value).startswith(message)
    assert ["a.run"] == [path.name for path in tmp_path.iterdir()]
    fix_run("a.run", "b.run", policies={"ids": "strip-zeros", "duplicates": "best"})
    assert "RUN020" not in validate_run("b.run").codes()


def test_a_row_does_not_become_a_comment(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("x#1 Q0 a 1 9 x\n")

    with pytest.raises(
        InputError, match=r"a.run:1: the policies turn the query id 'x#1' into one that starts with '#', "
    ):
        fix_run(tmp_path / "a.run", tmp_path / "b.run", policies={"ids": "strip-prefix=x"})


def test_queries_that_become_one_are_one_ranking(fixed) -> None:
    text = "1 Q0 a 1 9 x\n1 Q0 b 2 8 x\n2 Q0 a 1 5 x\n01 Q0 c 1 8.5 x\n01 Q0 a 2 7 x\n"
    new, _ = fixed(text, {"ids": "strip-zeros", "duplicates": "best", "ranks": "renumber"})

    assert ["1 a 1", "1 c 2", "2 a 1", "1 b 3"] == [
        f"{q} {d} {r}" for q, _, d, r, *_ in map(str.split, new.splitlines())
    ]


# What it is worth


def test_the_first_measure_before_and_after_each_policy(tmp_path: Path) -> None:
    old, qrels = tmp_path / "a.run", tmp_path / "q.txt"
    old.write_text(
        "".join(f"{q} Q0 {d} {n} {s} x\n" for n, (q, d, s) in enumerate([("001", "b", 9), ("001", "a", 8)], 1))
    )
    old.write_text(old.read_text() + "2 Q0 d 1 4.0 x\n")
    qrels.write_text(QRELS)
    repairs = fix_run(old, tmp_path / "b.run", policies={"ids": "strip-zeros", "cut": 1}, qrels=qrels)

    # Query 2 alone: 1/2. Then a, at rank 2 of query 1, adds 1/log2(3) / 2; the cut takes it away again.
    found = [
        (each.policy, each.measure, round(each.before or 0, 4), round(each.after or 0, 4)) for each in repairs.policies
    ]
    assert [("ids=strip-zeros", "nDCG@10", 0.5, 0.8155), ("cut=1", "nDCG@10", 0.8155, 0.5)] == found
    assert evaluate(qrels, tmp_path / "b.run", ["nDCG@10"]).mean()["nDCG@10"] == repairs.policies[-1].after


def test_a_run_that_could_not_be_scored_has_no_value_before(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text(RUN + "2 Q0 d 2 9.0 x\n")
    repairs = fix_run(tmp_path / "a.run", tmp_path / "b.run", policies={"duplicates": "best"}, qrels={"2": {"d": 1}})

    assert (None, 1.0) == (repairs.policies[0].before, repairs.policies[0].after)


# The record of it


def test_the_copy_records_where_it_comes_from(tmp_path: Path, monkeypatch) -> None:
    import hashlib

    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("# a remark\n\n" + RUN)
    fix_run("a.run", "b.run", policies={"cut": 2}, qrels={"1": {"a": 1}})
    (record,) = (read_metadata("b.run") or {})["repairs"]

    assert {"path": "a.run", "sha256": hashlib.sha256(Path("a.run").read_bytes()).hexdigest()} == record["source"]
    assert [{"policy": "cut=2", "lines": 1, "measure": "nDCG@10", "before": 1.0, "after": 1.0}] == record["policies"]
    assert [{"what": "blank lines removed", "lines": 1}] == record["others"]
    assert f"assay {assay.__version__}" == record["software"]
    assert "# a remark" in Path("b.run").read_text()


def test_a_header_is_kept_and_repairs_are_added_to_it(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.run").write_text("# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n" + RUN)
    fix_run("a.run", "b.run", policies={"cut": 2})
    fix_run("b.run", "c.run", policies={"cut": 1})
    metadata = read_metadata("c.run") or {}

    assert "bm25" == metadata["tag"]
    assert ["a.run", "b.run"] == [each["source"]["path"] for each in metadata["repairs"]]
    assert 1 == Path("c.run").read_text().count("ir_metadata.start")


def test_without_a_policy_nothing_is_recorded(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("\n" + RUN)
    fix_run(tmp_path / "a.run", tmp_path / "b.run")

    assert RUN == (tmp_path / "b.run").read_text()


# Names and values


@pytest.mark.parametrize(
    ("policies", "message"),
    [
        ({"cuts": 1}, "no policy called 'cuts'; did you mean 'cut'? `policies=` takes blanks=trim, "),
        (
            {"x": 1},
            "no policy called 'x'. `policies=` takes blanks=trim, ids=strip-zeros|strip-prefix=X|lower|as-qrels, ",
        ),
        (
            {"duplicates": "bets"},
            "policy 'duplicates' cannot be 'bets'; did you mean 'best'? `policies=` takes duplicates=best|first.",
        ),
        (
            {"ids": "strip-prefix="},
            "policy 'ids' cannot be 'strip-prefix='. `policies=` takes ids=strip-zeros|strip-prefix=X|lower|as-qrels.",
        ),
        ({"cut": 0}, "policy 'cut' cannot be '0'. `policies=` takes cut=N, where N is a whole number from 1."),
        ({"cut": "N"}, "policy 'cut' cannot be 'N'. `policies=` takes cut=N, where N is a whole number from 1."),
        ({"cut": ""}, "policy 'cut' needs a value. `policies=` takes cut=N, where N is a whole number from 1."),
        ({"cut": [1, 2]}, "policy 'cut' takes one value, not 2: 1, 2."),
        (
            {"grades": "clip"},
            "policy 'grades' is for judgments, and this file holds a run. `policies=` takes blanks=trim, ",
        ),
    ],
)
def test_a_policy_that_there_is_not(tmp_path: Path, policies: dict, message: str) -> None:
    (tmp_path / "a.run").write_text(RUN)
    with pytest.raises(InputError) as refused:
        fix_run(tmp_path / "a.run", tmp_path / "b.run", policies=policies)

    assert str(refused.value).startswith(message)
    assert not (tmp_path / "b.run").exists()


def test_ranks_need_a_column(tmp_path: Path) -> None:
    (tmp_path / "a.run").write_text("1\ta\t2.0\n")
    reading = assay.Reading(input_format="beir")
    with pytest.raises(InputError, match="policy 'ranks' needs a rank column, and beir runs have none"):
        fix_run(tmp_path / "a.run", tmp_path / "b.run", policies={"ranks": "renumber"}, reading=reading)


def test_every_policy_says_what_it_does() -> None:
    samples = {"N": "7", "strip-prefix=X": "strip-prefix=doc"}
    for policy in POLICIES.values():
        for value in policy.values:
            (chosen,) = chosen_policies({policy.name: samples.get(value, value)}, policy.kinds[0])
            assert chosen.what
            assert chosen.label.startswith(f"{policy.name}=")


# At any moment


@pytest.mark.slow
def test_a_process_killed_at_any_moment_leaves_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    old, new, whole = (tmp_path / name for name in ("old.run", "new.run", "whole.run"))
    old.write_text("".join(f"{query:03} Q0 d{n} {n} {300 - n} x\n" for query in range(200) for n in range(1, 201)))
    fix_run(old, whole, policies={"ids": "strip-zeros", "cut": 100}, metadata=False)
    new.write_text("what was there")
    code = "import sys, assay; print(flush=True); assay.fix_run(*sys.argv[1:], policies={policies}, metadata=False)"
    code = code.format(policies={"ids": "strip-zeros", "cut": 100})
    left = set()
    for delay in (0, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6):
        with subprocess.Popen([sys.executable, "-c", code, old, new], stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(delay)
            process.kill()
        left.add(new.read_bytes())

    assert {b"what was there", whole.read_bytes()} >= left
    assert b"what was there" in left
