"""`assay runs fetch` as a user runs it: outputs, reports, interruptions."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from cli.command import assay
from fetching.serving import Reply, retrieve, serving

QUERIES = "".join(f"q{number:03}\tquery number {number}\n" for number in range(1, 501))


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "queries.tsv").write_text(QUERIES)
    (tmp_path / "few.tsv").write_text("q1\tmouse\nq2\tkeyboard\n")
    return tmp_path


def fetch(folder, *arguments, **given):
    return assay("runs", "fetch", *arguments, cwd=folder, **given)


def test_a_run_with_its_report(folder):
    with serving(retrieve) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run", "--top-k", 3)

    assert (0, "") == (done.returncode, done.stdout)
    assert "live.run: 2 queries answered, 6 documents." == done.stderr.splitlines()[0]
    lines = [line for line in (folder / "live.run").read_text().splitlines() if not line.startswith("#")]
    assert "q1 Q0 d271 1 30.0 live" == lines[0]
    assert 6 == len(lines)
    report = json.loads((folder / "live.run.fetch.json").read_text())
    assert ("assay/fetch/1", True, 2, []) == tuple(report[name] for name in ("schema", "complete", "answered", "empty"))
    assert [3, 3] == [each["documents"] for each in report["per_query"].values()]
    assert 0 < report["latency"]["p50"] <= report["latency"]["p95"] <= report["latency"]["p99"]
    assert {"queries.tsv", "few.tsv", "live.run", "live.run.fetch.json"} == {path.name for path in folder.iterdir()}
    assert 0 == assay("runs", "validate", "live.run", cwd=folder).returncode


def test_several_modes_give_a_run_each(folder):
    with serving(retrieve) as server:
        given = ("--endpoint", server.address, "--queries", "few.tsv", "--mode", "lexical,vector,hybrid")
        refused = fetch(folder, *given, "-o", "live.run")
        done = fetch(folder, *given, "-o", "run-{mode}.run")

    assert (2, 0) == (refused.returncode, done.returncode)
    assert "put {mode} into the name, as in -o 'run-{mode}.run'" in " ".join(refused.stderr.split())
    assert 2 * ["lexical"] + 2 * ["vector"] + 2 * ["hybrid"] == [asked.json["mode"] for asked in server.asked]
    for mode in ("lexical", "vector", "hybrid"):
        assert f"run-{mode}\n" in (folder / f"run-{mode}.run").read_text()


def test_a_collection_has_queries(folder):
    with serving(retrieve) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "insurance", "-o", "live.run", "--batch", 50)

    assert (0, 2) == (done.returncode, len(server.asked))
    assert "99 queries answered" in done.stderr


def test_a_run_with_failures_says_so_everywhere(folder):
    """In the exit status, the first line, the file itself and the report; and `runs validate` warns of it."""

    def answering(asked, before):
        return Reply({"error": "boom"}, status=400) if asked.json["queries"][0]["query_id"] == "q2" else retrieve(asked)

    with serving(answering) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run")
        (folder / "qrels.txt").write_text("q1 0 d271 1\nq2 0 d071 1\n")
        evaluated = assay("evaluate", "qrels.txt", "live.run", "-m", "RR", cwd=folder)
        validated = assay("runs", "validate", "live.run", "--strict", cwd=folder)
        again = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run")

    assert (1, 1, 1) == (done.returncode, validated.returncode, again.returncode)
    assert [
        "live.run: incomplete: 1 query of 2 failed, and their documents are missing from it.",
        "  q2: status 400, 'boom'",
    ] == done.stderr.splitlines()[:2]
    header = (folder / "live.run").read_text()
    assert "# incomplete: 1 query of 2 failed: q2" == header.splitlines()[0]
    assert "#     complete: false\n" in header
    report = json.loads((folder / "live.run.fetch.json").read_text())
    assert (False, {"q2": "status 400, 'boom'"}) == (report["complete"], report["failed"])
    assert "RUN027" in validated.stdout
    note = "Note: live.run is incomplete: 1 query of 2 failed: q2. Run `assay runs fetch` again to complete it.\n"
    assert (0, note) == (evaluated.returncode, evaluated.stderr)
    assert {"q1": 1, "q2": 2} == Counter(asked.json["queries"][0]["query_id"] for asked in server.asked)


def test_nothing_is_written_if_nothing_was_answered(folder):
    with serving(Reply(status=404)) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run")

    assert 2 == done.returncode
    assert "no query was answered: status 404" in done.stderr
    assert {"queries.tsv", "few.tsv"} == {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def test_a_program_is_a_system(folder):
    (folder / "search.py").write_text("import sys\nprint(sys.argv[1][::-1] + '\\t2\\nother\\t1')\n")
    command = f"'{sys.executable}' search.py {{query}}"
    done = fetch(folder, "--command", command, "--queries", "few.tsv", "-o", "mine.jsonl")

    assert 0 == done.returncode
    rows = [json.loads(line) for line in (folder / "mine.jsonl").read_text().splitlines()]
    assert ["esuom", "other", "draobyek", "other"] == [row["doc_id"] for row in rows]
    assert [2.0, 1.0, 2.0, 1.0] == [row["score"] for row in rows]


def test_standard_output(folder):
    with serving(retrieve) as server:
        given = ("--endpoint", server.address, "--queries", "few.tsv", "-o", "-", "--to", "trec", "--no-metadata")
        done = fetch(folder, *given, "--tag", "mine")

    assert (200, "q1 Q0 d271 1 30.0 mine") == (len(done.stdout.splitlines()), done.stdout.splitlines()[0])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "give the system to ask: a server with --endpoint, or a program with --command."),
        (("--endpoint", "http://x", "--command", "y"), "give the system to ask"),
        (("--command", "y {query}", "--mode", "a"), "--mode is for a server, not for a program."),
        (("--command", "y {query}", "--settings", "a"), "--settings is for a server, not for a program."),
        (("--command", "y {text}x", "--allow-http"), "--allow-http is for a server, not for a program."),
        (("--endpoint", "search.example.org"), "endpoint cannot be 'search.example.org'; it takes an address"),
        (("--endpoint", "http://x", "--api", "template"), "the API 'template' needs to know where the documents are"),
        (("--endpoint", "http://x", "--template", "few.tsv"), "few.tsv: is not valid JSON"),
        (("--endpoint", "http://x", "--template", "gone.json"), "gone.json"),
    ],
)
def test_wrong_usage(arguments, message, folder):
    done = fetch(folder, *arguments, "--queries", "few.tsv", "-o", "live.run")

    assert 2 == done.returncode
    assert message in " ".join(done.stderr.split())
    assert not (folder / "live.run").exists()


@pytest.mark.parametrize(
    ("queries", "arguments", "message"),
    [
        ("q 1\tmouse\n", (), "query id 'q 1' contains whitespace"),
        ("q1\tmouse\n", ("--tag", "a b"), "the tag 'a b' contains whitespace"),
    ],
)
def test_what_the_format_cannot_hold_is_found_before_the_asking(queries, arguments, message, folder):
    (folder / "few.tsv").write_text(queries)
    with serving(retrieve) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run", *arguments)

    assert (2, []) == (done.returncode, server.asked)
    assert message in done.stderr


def test_documents_that_the_format_cannot_hold_are_kept(folder):
    def answering(asked, before):
        query = asked.json["queries"][0]["query_id"]
        return Reply({"results": [{"query_id": query, "segments": [{"segment_id": "a b"}]}]})

    with serving(answering) as server:
        given = ("--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run")
        refused = fetch(folder, *given)
        done = fetch(folder, *given, "--to", "jsonl")

    assert (2, 0, 2) == (refused.returncode, done.returncode, len(server.asked))
    assert "run the same command with another --to, and nothing is asked again." in refused.stderr


def test_nothing_is_written_beside_a_device(folder):
    (folder / "null").symlink_to("/dev/null")
    with serving(retrieve) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "null", "--to", "trec")

    assert 0 == done.returncode
    assert {"queries.tsv", "few.tsv", "null"} == {path.name for path in folder.iterdir()}


def test_queries_in_the_place_of_the_report_are_never_overwritten(folder):
    (folder / "live.run.fetch.json").write_text('{"q1": "mouse"}')
    done = fetch(folder, "--command", "y", "--queries", "live.run.fetch.json", "-o", "live.run")

    assert (2, '{"q1": "mouse"}') == (done.returncode, (folder / "live.run.fetch.json").read_text())


def test_ids_that_are_no_utf8_are_written(folder):
    (folder / "few.tsv").write_bytes(b"q\xe9\tcaf\xe9\n")
    with serving(retrieve) as server:
        done = fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "live.run", "--top-k", 1)

    assert 0 == done.returncode, done.stderr
    assert b"q\xe9 Q0 " in (folder / "live.run").read_bytes()


def test_the_queries_are_never_overwritten(folder):
    done = fetch(folder, "--command", "y {query}", "--queries", "few.tsv", "-o", "few.tsv")

    assert (2, "q1\tmouse\nq2\tkeyboard\n") == (done.returncode, (folder / "few.tsv").read_text())


def test_reports_of_fetches_are_no_runs(folder):
    runs = folder / "runs"
    runs.mkdir()
    (folder / "qrels.txt").write_text("q1 0 d271 1\nq2 0 d071 1\n")
    with serving(retrieve) as server:
        fetch(folder, "--endpoint", server.address, "--queries", "few.tsv", "-o", "runs/live.run")
    done = assay("evaluate", "qrels.txt", "runs", "-m", "RR", cwd=folder)

    assert (0, "") == (done.returncode, done.stderr)


# Interruptions


def one_in_five_fails(server_asked: Counter[str]):
    """A server that fails every fifth request, and counts the queries that it answered."""

    def answering(asked, before):
        if before % 5 == 4:
            return Reply({"error": "boom"}, status=500, headers={"Retry-After": "0"})
        server_asked[asked.json["queries"][0]["query_id"]] += 1
        return Reply(retrieve(asked).body, seconds=0.002)

    return answering


def started(folder, address, output) -> subprocess.Popen:
    command = [sys.executable, "-m", "assay", "runs", "fetch", "--endpoint", address, "--queries", "queries.tsv"]
    return subprocess.Popen(
        [*command, "-o", output, "--top-k", "10"],
        cwd=folder,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ,
    )


def kept(folder) -> list[str]:
    """The keys of the answers on disk."""
    try:
        data = (folder / ".live.run.fetching").read_bytes()
    except FileNotFoundError:
        return []
    return [json.loads(line)[0] for line in data.splitlines(keepends=True) if line.endswith(b"\n")]


@pytest.mark.slow
def test_killed_three_times_and_resumed(folder):
    """Complete, the same run as an undisturbed one, and one answer kept per query.

    The server may have answered again only what was on its way when the process was killed.
    """
    answered: Counter[str] = Counter()
    with serving(one_in_five_fails(answered)) as server:
        for share in (50, 180, 350):
            process = started(folder, server.address, "live.run")
            while len(kept(folder)) < share and process.poll() is None:
                time.sleep(0.005)
            process.kill()
            process.communicate()
            assert not (folder / "live.run").exists()
        before = kept(folder)
        process = started(folder, server.address, "live.run")
        _, said = process.communicate(timeout=120)
        assert 0 == process.returncode, said
        whole = Counter(answered)

        answered.clear()
        undisturbed = started(folder, server.address, "undisturbed.run")
        undisturbed.communicate(timeout=120)

    assert 350 <= len(before) == len(set(before)) < 500
    assert 500 == len(whole)
    assert sum(whole.values()) <= 500 + 3 * 4
    assert {1} == set(answered.values())
    one, other = ((folder / name).read_text() for name in ("live.run", "undisturbed.run"))
    assert other.replace("undisturbed", "live") == one
    report = json.loads((folder / "live.run.fetch.json").read_text())
    assert (True, 500, {}) == (report["complete"], report["answered"], report["failed"])
    assert len(before) == report["kept"]
    assert not (folder / ".live.run.fetching").exists()


@pytest.mark.slow
@pytest.mark.parametrize(("which", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_what_is_under_way_when_it_is_interrupted_is_kept(which, status, folder):
    """After Ctrl-C, no query is asked twice."""
    answered: Counter[str] = Counter()
    with serving(one_in_five_fails(answered)) as server:
        process = started(folder, server.address, "live.run")
        while len(kept(folder)) < 40 and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(which)
        _, said = process.communicate(timeout=60)
        assert status == process.returncode, said
        assert b"Interrupted. The answers so far are kept; run the same command again to go on." in said
        process = started(folder, server.address, "live.run")
        process.communicate(timeout=120)

    assert 0 == process.returncode
    assert {1} == set(answered.values())
    assert 500 == len(answered)


def test_help_has_an_example():
    done = assay("runs", "fetch", "--help")

    assert 0 == done.returncode
    assert re.search(r"Example: assay runs fetch --endpoint", done.stdout)
