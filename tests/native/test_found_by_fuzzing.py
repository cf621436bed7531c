"""Bugs in the kernel found by tests/native/fuzz, each as a small case. Both paths must give the same result."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from textwrap import dedent

import numpy as np
import pytest

from assay import Qrels, Rules, Run, evaluate, native
from assay.errors import InputError, RulesError
from assay.evaluation import Evaluator
from assay.formats.readings import Reading
from assay.formats.unread import open_run

ESCAPED, PLAIN = "\udcc3\udca9", "é"  # the same bytes, once as surrogate escapes
SANITIZED = "asan" in os.environ.get("LD_PRELOAD", "")  # see fuzz/run.py


@pytest.fixture(params=["native", "NumPy"], autouse=True)
def computed_by(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "native" and not native.enabled():
        pytest.skip("the kernel is not built, or turned off")
    monkeypatch.setattr(native, "turned_off", request.param == "NumPy")


def written(folder: Path, name: str, text: str) -> Path:
    (folder / name).write_bytes(text.encode())
    return folder / name


@pytest.fixture
def qrels(tmp_path: Path) -> Path:
    return written(tmp_path, "qrels", "q 0 a 1\n")


def in_a_process(code: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run Python code in a subprocess: a crash of the kernel would end the tests."""
    off = {"ASSAY_NATIVE": "0"} if native.turned_off else {}
    return subprocess.run(
        [sys.executable, "-c", dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **off, **environment},
    )


# Memory


def test_ids_of_a_long_ranking_are_let_go_when_it_ends(tmp_path: Path) -> None:
    """A query without judgments follows: at the next refill its ids were copied from freed memory."""
    code = f"""
        from pathlib import Path
        from assay import evaluate
        run = Path(r"{tmp_path}") / "run"
        rows = ((query, doc) for query in ("q1", "q2") for doc in range(50_000))
        run.write_text("".join(f"{{query}} Q0 document-{{doc:09}} 1 {{-doc}} t\\n" for query, doc in rows))
        qrels = {{"q1": {{"document-000000001": 1}}}}
        print(evaluate(qrels, run, ["RR"], threads=1).mean()["RR"])
    """
    done = in_a_process(code, MALLOC_MMAP_THRESHOLD_="131072")  # freed memory is unmapped immediately

    assert (0, "0.5\n") == (done.returncode, done.stdout)


def test_a_part_of_a_file_may_be_empty(tmp_path: Path) -> None:
    """One query that is too long to be split: the other threads have nothing to read."""
    code = f"""
        from pathlib import Path
        from assay import evaluate
        run = Path(r"{tmp_path}") / "run"
        run.write_text("".join(f"q Q0 document-{{doc:09}} 1 {{-doc}} t\\n" for doc in range(120_000)))
        for threads in (1, 2, 4):
            print(evaluate({{"q": {{"document-000000001": 1}}}}, run, ["RR"], threads=threads).mean()["RR"])
    """
    done = in_a_process(code)

    assert (0, ["0.5"] * 3) == (done.returncode, done.stdout.split())


@pytest.mark.skipif(sys.platform != "linux" or SANITIZED, reason="limits the memory as Linux does")
def test_threads_that_cannot_be_started_are_done_without(tmp_path: Path) -> None:
    if native.turned_off:
        pytest.skip("NumPy starts no threads")
    code = f"""
        import re, resource
        from pathlib import Path
        from assay import evaluate
        run = Path(r"{tmp_path}") / "run"
        rows = ((query, doc) for query in range(12) for doc in range(20_000))
        run.write_text("".join(f"{{query}} Q0 document-{{doc:09}} 1 {{-doc}} t\\n" for query, doc in rows))
        ask = lambda threads: evaluate({{"3": {{"document-000000001": 1}}}}, run, ["RR"], threads=threads).mean()["RR"]
        ask(1)
        used = int(re.search(r"VmSize:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) << 10
        resource.setrlimit(resource.RLIMIT_AS, (used + (14 << 20), used + (14 << 20)))  # the stack of one more thread
        print(ask(4))
    """
    done = in_a_process(code)

    assert (0, "0.5\n") == (done.returncode, done.stdout)


@pytest.mark.parametrize("hook", ["__class__", "__float__"])
def test_a_dict_that_its_values_change_is_no_danger(hook: str) -> None:
    """There may be an error, but no crash."""
    code = f"""
        from assay import evaluate
        scores = {{}}
        def clear(self):
            scores.clear()
            return 1.0 if "{hook}" == "__float__" else float
        hooks = {{"__class__": property(clear)}} if "{hook}" == "__class__" else {{"__float__": clear}}
        Score = type("Score", () if "{hook}" == "__class__" else (int,), hooks)
        for _ in range(20):
            scores.update((f"document-{{number}}", Score()) for number in range(1000))
            try:
                evaluate({{"q": {{"document-1": 1}}}}, {{"q": scores}}, ["RR"])
            except Exception:
                pass
        print("still here")
    """
    done = in_a_process(code, PYTHONMALLOC="malloc")

    assert (0, "still here\n") == (done.returncode, done.stdout)


# Values


@pytest.mark.parametrize("rows", ["q q 1\nq a 1\n", "q q 0\nq a 1\n", "q q 5\nr a 1\n"])
def test_ranks_of_dropped_documents_are_looked_at_too(qrels: Path, tmp_path: Path, rows: str) -> None:
    with pytest.raises(InputError):
        evaluate(qrels, written(tmp_path, "run", rows), ["RR"], rules=Rules(self_match="drop"))


@pytest.mark.parametrize("rules", [Rules(order="rank"), Rules(ties="rank-column")])
@pytest.mark.parametrize(
    ("input_format", "rows"),
    [("beir", "q b 2.5\nq a 1.5\n"), ("tsv", "query_id\tdoc_id\tscore\nq\tb\t2.5\nq\ta\t1.5\n")],
)
def test_rules_about_ranks_need_a_rank_column(
    qrels: Path, tmp_path: Path, input_format: str, rows: str, rules: Rules
) -> None:
    run = open_run(written(tmp_path, "run", rows), Reading(input_format))
    with pytest.raises(RulesError, match="has no rank column"):
        Evaluator(qrels, ["RR"], rules).evaluate(run)


@pytest.mark.parametrize(
    "row", ["q\t\ta\t1\n", "\tq\ta\t1\n", "q\ta\t1\t\n"], ids=["in the middle", "at the start", "at the end"]
)
def test_an_empty_field_is_a_field(qrels: Path, tmp_path: Path, row: str) -> None:
    run = written(tmp_path, "run.tsv", f"query_id\tdoc_id\tscore\nq\tb\t2\n{row}")
    with pytest.raises(InputError, match=r"run\.tsv:3: line has 4 fields, the header has 3"):
        evaluate(qrels, run, ["RR"])


@pytest.mark.parametrize(("line", "text"), [(1, "sco\0re\nq\ta\t1\n"), (2, "sco\nq\ta\0\t1\n")])
def test_a_table_with_nul_is_refused_for_that(qrels: Path, tmp_path: Path, line: int, text: str) -> None:
    """Not an error about the header, which has no score column."""
    with pytest.raises(InputError, match=rf"run\.tsv:{line}: the line contains a NUL byte"):
        evaluate(qrels, written(tmp_path, "run.tsv", f"query_id\tdoc_id\t{text}"), ["RR"])


def test_ids_of_the_same_bytes_are_two_in_a_dict() -> None:
    """They are equal as bytes and keep the order of the dict."""
    assert 1.0 == evaluate({"q": {PLAIN: 1}}, {"q": {PLAIN: 1.0, ESCAPED: 1.0}}, ["RR"]).mean()["RR"]


def test_ids_of_the_same_bytes_are_two_in_a_table() -> None:
    run = Run.from_columns(["q"] * 3, [PLAIN, ESCAPED, "a"], [3.0, 2.0, 1.0])
    third = evaluate(Qrels.from_columns(["q"], ["a"], [1]), run, ["RR"], rules=Rules(duplicates="first"))
    nothing = evaluate(
        Qrels.from_columns(["q"], [ESCAPED], [1]), Run.from_columns(["q"], [PLAIN], [1.0]), ["RR"], unmatched="zero"
    )

    assert 1 / 3 == third.mean()["RR"]
    assert 0.0 == nothing.mean()["RR"]


@pytest.mark.parametrize("lines", [3, 300_000])
def test_a_header_behind_more_blank_lines_than_a_buffer_holds(qrels: Path, tmp_path: Path, lines: int) -> None:
    run = written(tmp_path, "run.tsv", "\n" * lines + "query_id\tdoc_id\tscore\nq\tb\t2.0\nq\ta\t1.0\n")

    assert 0.5 == evaluate(qrels, run, ["RR"]).mean()["RR"]


@pytest.mark.parametrize("blanks", [" ", "  ", "\t", " \t "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n", " \n", "\n\n", "\n# a comment of more than six words here\n"])
def test_blanks_in_all_ways_mean_the_same(tmp_path: Path, blanks: str, line_end: str) -> None:
    """Text longer than one buffer, with single and repeated spaces."""
    rows = [f"q{query:03} Q0 d{rank} {rank} {50 - rank} x" for query in range(300) for rank in range(1, 50)]
    run = written(tmp_path, "run", line_end.join(row.replace(" ", blanks) for row in rows) + line_end)
    qrels = {f"q{query:03}": {f"d{1 + query % 49}": 1} for query in range(300)}

    found = evaluate(qrels, run, ["RR"]).per_query()

    assert all(1 / (1 + query % 49) == found[f"q{query:03}"]["RR"] for query in range(300))


def test_a_number_sign_behind_blanks_is_an_id(tmp_path: Path) -> None:
    """Only at the very start of a line does it begin a comment."""
    assert (
        1.0
        == evaluate({"#1": {"a": 1}}, written(tmp_path, "run", "q Q0 a 1 1.0 x\n  #1 Q0 a 1 1.0 x\n"), ["RR"]).mean()[
            "RR"
        ]
    )


# Inputs that once took quadratic time: these would take minutes


def test_judged_documents_among_many_of_the_same_score() -> None:
    run = {"q": {f"document-{number:05}": 1.0 for number in range(50_000)}}
    qrels = {"q": {f"document-{number:05}": 1 for number in range(1, 50_000, 5)}}

    assert 0.2 == evaluate(qrels, run, ["P@50000"]).mean()["P@50000"]


def test_many_queries_behind_one_with_many_judgments(tmp_path: Path) -> None:
    long = "".join(f"a 0 d{number} 1\n" for number in range(200_000))
    qrels = written(tmp_path, "qrels", long + "".join(f"b{number} 0 d 1\n" for number in range(20_000)))

    assert 1.0 == evaluate(qrels, {"a": {"d1": 1.0}}, ["RR"]).per_query()["a"]["RR"]


# Arguments that only a mistake in the Python modules around the kernel could pass: errors rather than crashes

JUDGMENTS = Evaluator({"q1": {"a": 1, "b": 0}, "q2": {"a": 1}}, ["RR"]).judgments
TREC = (0, 2, 4, 3, 5, 6, *(0,) * 8)
PLAIN_RULES = (0,) * 6


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        ("join_table", lambda handle: (np.zeros(2, np.int64), np.zeros(2, np.int64), np.ones(2), None, PLAIN_RULES)),
        ("join_table", lambda handle: (np.zeros(2, np.int64), np.array(["a"], object), np.ones(2), None, PLAIN_RULES)),
        ("join_table", lambda handle: (np.array([7]), np.array(["a"], object), np.ones(1), None, PLAIN_RULES)),
        ("join_table", lambda handle: (np.zeros(1), np.array(["a"], object), np.ones(1), None, PLAIN_RULES)),
        ("join_text", lambda handle: (lambda size: b"", (6, *TREC[1:]), PLAIN_RULES, False)),
        ("join_text", lambda handle: (lambda size: b"", (0, 2, -1, -1, *TREC[4:]), PLAIN_RULES, False)),
        ("join_text", lambda handle: (lambda size: b"", TREC, (9, *PLAIN_RULES[1:]), False)),
        ("join_text", lambda handle: (lambda size: b"x" * (size + 1), TREC, PLAIN_RULES, False)),
        ("dict_index", lambda handle: (None, {}, ())),
        ("dict_index", lambda handle: ([], {}, ())),
    ],
)
def test_the_kernel_refuses_arguments_that_do_not_fit(
    function: str, arguments: Callable[[object], tuple[object, ...]]
) -> None:
    if native.turned_off:
        pytest.skip("NumPy has no such functions")
    handle = JUDGMENTS.index._handle  # type: ignore[union-attr]
    with pytest.raises((TypeError, ValueError)):
        getattr(native.kernel, function)(handle, *arguments(handle))


@pytest.mark.parametrize("start", [[0], [0, 1], [0, 1, 9], [-5, 1, 2]])
def test_the_kernel_refuses_starts_that_do_not_fit(start: list[int]) -> None:
    if native.turned_off:
        pytest.skip("NumPy has no such function")
    with pytest.raises((ValueError, IndexError)):
        native.kernel.index_judgments(("q1", "q2"), np.array(start), ["a", "b"])
