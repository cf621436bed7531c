"""Programs and functions of Python as systems."""

from __future__ import annotations

import sys
import time
import warnings

import pytest

import assay
from assay.errors import FetchError, IncompleteWarning, ServerError
from assay.fetching.fetching import fetch_answers
from assay.fetching.program import Program

PYTHON = sys.executable


def program(tmp_path, code: str, arguments: str = "{query}", **given) -> Program:
    """A program of Python whose arguments are `a`."""
    file = tmp_path / "search.py"
    file.write_text(f"import sys, time\na = sys.argv[1:]\n{code}\n")
    return Program(f"'{PYTHON}' -S '{file}' {arguments}", **given)


def fetched(system, queries, **given):
    return fetch_answers(system, queries, name="mine", **given)


def test_a_program_prints_ids_best_first(tmp_path):
    found = fetched(program(tmp_path, "print(*a[0].split(), sep='\\n')"), {"q1": "b a c", "q2": ""}, top_k=2)

    assert (["b", "a"], [1, 2], ("q2",)) == (found.run.doc.tolist(), found.run.rank.tolist(), found.empty)


def test_a_program_prints_ids_and_scores(tmp_path):
    """Ids may have blanks; line ends of Windows and empty lines do not matter."""
    found = fetched(program(tmp_path, "print('d 1\\t2.5\\r\\n\\nd2\\t-1e-3')"), {"q1": "x"})

    assert (["d 1", "d2"], [2.5, -0.001]) == (found.run.doc.tolist(), found.run.score.tolist())


def test_no_shell_reads_the_query(tmp_path):
    """The query is one argument, whatever it holds."""
    queries = {"q1": "$(touch x); a | b > c && d 'e \"f", "q2": "--help", "q3": "ünï {query} {top_k}", "q4": "a\nb"}
    found = fetched(
        program(tmp_path, "print(len(a), a[0].encode().hex(), a[1], a[2], sep='-')", "{query} {query_id} n{top_k}"),
        queries,
        top_k=9,
    )

    expected = [f"3-{text.encode().hex()}-{query}-n9" for query, text in queries.items()]
    assert expected == found.run.doc.tolist()


def test_a_query_can_go_to_standard_input(tmp_path):
    found = fetched(program(tmp_path, "print(*sys.stdin.read().split(), sep='\\n')", "{top_k}"), {"q1": "b a"})

    assert ["b", "a"] == found.run.doc.tolist()


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('d1'); print('no index\\nis there', file=sys.stderr); sys.exit(3)", "exit status 3, 'is there'"),
        ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "ended by SIGSEGV"),
        ("print('d1', flush=True); time.sleep(60)", "no answer after 0.5 seconds (time-out)"),
        ("print('d1\\thigh')", "line 1: the score 'high' is not a number"),
        ("print('d1\\tnan')", "line 1: the score 'nan' is not a number"),
        ("print('d1\\t1\\nd2')", "some lines have a score and others have none"),
        ("print('\\t1')", "line 1 has a score, but no id"),
        ("print('d1\\nd1')", "document 'd1' comes twice: at 1 and 2"),
        ("while True: print('d' * 60000)", "it printed more than 32 MB"),
    ],
)
def test_a_query_whose_program_fails(code, reason, tmp_path):
    code = f"if a[0] == 'good': print('d0'); sys.exit()\n{code}"
    slow = 0.5 if "sleep" in code else 20.0
    if slow == 0.5:  # the good query must not be late on a busy machine
        good = fetched(program(tmp_path, code, timeout=20.0), {"q1": "good"})
        assert good.is_complete
        with pytest.raises(ServerError, match="time-out"):
            fetched(program(tmp_path, code, timeout=slow), {"q2": "bad"})
        return
    found = fetched(program(tmp_path, code, timeout=slow), {"q1": "good", "q2": "bad"})

    assert {"q2": reason} == {query: each.reason for query, each in found.failed.items()}


def test_a_program_is_ended_with_all_it_started(tmp_path):
    """One that leaves a child behind, which would hold the output open, costs no more than its time-out."""
    code = "import subprocess\nsubprocess.Popen(['sleep', '60'])\ntime.sleep(60)"
    start = time.monotonic()
    with pytest.raises(ServerError):
        fetched(program(tmp_path, code, timeout=1.0), {"q1": "x"})

    assert time.monotonic() - start < 20


def test_a_program_that_cannot_be_started_ends_the_fetch():
    with pytest.raises(
        FetchError, match=r"the command 'no-such-program' cannot be started: No such file or directory\."
    ):
        fetched(Program("no-such-program {query}"), {"q1": "x", "q2": "y"})


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("", "the command is empty"),
        ("search 'x", "cannot be read: no closing quotation"),
        ("  ", "the command is empty"),
    ],
)
def test_a_command_line_that_is_none(command, message):
    with pytest.raises(FetchError, match=message):
        Program(command)


def test_nul_cannot_be_an_argument(tmp_path):
    found = fetched(program(tmp_path, "print('d1')"), {"q1": "x", "q2": "a\0b"})

    assert "the query has a NUL character, which no command line can hold" == found.failed["q2"].reason


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("print('wrong:', a[1], file=sys.stderr); sys.exit(3)", "exit status 3, 'wrong: ***'"),
        ("print('d-' + a[1])", "it printed a key or password of its command line"),
    ],
)
def test_a_key_in_the_command_is_hidden_even_if_the_program_repeats_it(code, reason, tmp_path):
    asked = program(
        tmp_path, f"if a[2] == 'good': print('d0'); sys.exit()\n{code}", "--api-key planted-7f3a91c2 {query}"
    )
    found = fetched(asked, {"q1": "good", "q2": "bad"})

    assert reason == found.failed["q2"].reason
    assert "planted" not in f"{asked.place} {asked.identity}"


# Functions


def test_a_function_is_a_retriever():
    def search(text: str):
        return [("b", 2.0), ("a", 1.0)] if text else []

    found = assay.fetch({"q1": "x", "q2": ""}, search)

    assert ("search", ["b", "a"], ("q2",)) == (found.run.name, found.run.doc.tolist(), found.empty)
    assert 0.5 == assay.evaluate({"q1": {"a"}}, found.run, ["RR"]).mean()["RR"]


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        (["b", "a"], ["b", "a"]),
        ({"a": 1.0, "b": 2.0}, ["b", "a"]),
        ([{"id": "b", "score": 2.0}, {"id": "a", "score": 1.0}], ["b", "a"]),
        ((doc for doc in "ba"), ["b", "a"]),
        ([7, 3], ["7", "3"]),
    ],
)
def test_documents_come_in_many_shapes(documents, expected):
    assert expected == assay.fetch({"q1": "x"}, lambda text: documents).run.doc.tolist()


def test_a_function_that_fails_is_a_warning_and_no_empty_answer():
    def search(text: str):
        if text == "bad":
            raise ValueError("no such field")
        return ["a"]

    with pytest.warns(IncompleteWarning, match=r"1 query of 2 failed, .* \(first: q2: ValueError: no such field\)\."):
        found = assay.fetch({"q1": "x", "q2": "bad"}, search)

    assert (False, (), ["q2"]) == (found.is_complete, found.empty, list(found.failed))
    assert "Fetched(run='search', queries=2, failed=1)" == repr(found)


def test_a_function_goes_on_where_it_stopped(tmp_path):
    calls: list[str] = []

    def search(text: str):
        calls.append(text)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return [text]

    queries = {f"q{n}": f"d{n}" for n in range(5)}
    with pytest.raises(KeyboardInterrupt):
        assay.fetch(queries, search, journal=tmp_path / "answers")
    with warnings.catch_warnings(action="error"):
        found = assay.fetch(queries, search, journal=tmp_path / "answers")

    assert sorted([*queries.values(), "d2"]) == sorted(calls)
    assert list(queries.values()) == found.run.doc.tolist()
    assert found.kept >= 2  # what was under way could finish


@pytest.mark.parametrize("wrong", [3, None, "http://localhost"])
def test_what_cannot_be_asked(wrong):
    with pytest.raises(FetchError, match="expected a function from the text of a query"):
        assay.fetch({"q1": "x"}, wrong)


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (["green tea"], "a list has no ids and texts: pass the queries as a dict {id: text}, or a file."),
        ({"q1": None}, "query q1: the text cannot be a value of type NoneType."),
        ({"q1": [0.5]}, "query q1: the text cannot be a value of type list."),
        ({1: "a", "1": "b"}, "two queries have the same id: a number and its digits as text are one."),
    ],
)
def test_queries_that_cannot_be_asked(queries, message):
    with pytest.raises(FetchError) as refusal:
        assay.fetch(queries, lambda text: ["a"])

    assert message == str(refusal.value)


def test_the_password_in_the_message_of_a_function_is_hidden():
    def search(text: str):
        raise OSError("cannot reach https://ann:planted-pw@db.example.org")

    with pytest.raises(ServerError, match=r"OSError: cannot reach https://\*\*\*@db") as refusal:
        assay.fetch({"q1": "x"}, search)

    assert "planted" not in str(refusal.value)


def test_no_queries():
    with pytest.raises(FetchError, match="there are no queries to ask"):
        assay.fetch({}, lambda text: [])
