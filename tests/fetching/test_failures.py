"""Servers that are slow, wrong, short, endless or dead. A failure is never taken for an answer, nor an answer lost."""

from __future__ import annotations

import time

import pytest

from assay.errors import InputError, ServerError
from assay.fetching.fetching import Kept, fetch_answers
from assay.fetching.server import HttpSystem
from assay.fetching.settings import Settings, make_api
from assay.http import waiting
from assay.journal import Journal
from fetching.serving import Reply, ranking, retrieve, serving

QUERIES = {f"q{number}": f"query {number}" for number in range(1, 7)}


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """Retries wait milliseconds instead of seconds, unless the server says how long."""
    monkeypatch.setattr(waiting, "_FIRST", 0.01)


def system_of(endpoint: str, **given) -> HttpSystem:
    return HttpSystem(endpoint, make_api("retrieve", Settings(), None), "retrieve", **given)


def fetched_from(answering, queries=QUERIES, *, retries=3, timeout=0.5, batch=1, **given):
    with serving(answering) as server:
        return server, fetch_answers(
            system_of(server.address, timeout=timeout, batch=batch), queries, name="live", retries=retries, **given
        )


def asked_id(asked) -> str:
    return asked.json["queries"][0]["query_id"]


FAULTS = {
    "500": Reply({"error": "boom"}, status=500),
    "503 as HTML": Reply(b"<html>busy</html>", status=503),
    "cut off": Reply({"results": []}, cut=5),
    "broken JSON": Reply(b'{"results": [{"query_id"'),
    "no answer in time": Reply(hangs=True),
    "no answer for the query": Reply({"results": []}),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_passing_fault_is_asked_again(fault):
    """Each query is met by it once; all are answered in the end, and each request is on record."""
    met: set[str] = set()

    def answering(asked, before):
        if asked_id(asked) in met:
            return retrieve(asked)
        met.add(asked_id(asked))
        return FAULTS[fault]

    queries = dict(list(QUERIES.items())[: 2 if fault == "no answer in time" else 6])
    server, fetched = fetched_from(answering, queries)

    assert fetched.is_complete
    assert 2 * len(queries) == len(server.asked)
    assert {2} == {len(each) for each in fetched.requests.values()}
    assert [doc for doc, _ in ranking("query 2", 100)] == fetched.run.doc[fetched.run.query == 1].tolist()


def test_what_stays_broken_is_failed_and_not_empty():
    def answering(asked, before):
        if asked_id(asked) == "q2":
            return Reply({"error": "boom"}, status=500)
        if asked_id(asked) == "q3":
            return Reply({"results": [{"query_id": "q3", "segments": []}]})
        return retrieve(asked)

    server, fetched = fetched_from(answering)

    assert ({"q2": "status 500, 'boom'"}, ("q3",)) == (
        {query: each.reason for query, each in fetched.failed.items()},
        fetched.empty,
    )
    assert (4, 4) == (len(fetched.failed["q2"].requests), [asked_id(each) for each in server.asked].count("q2"))
    assert ("q1", "q4", "q5", "q6") == fetched.run.queries


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        (Reply({"error": {"message": "bad query"}}, status=400), "status 400, 'bad query'"),
        (Reply({"answers": []}), "the answer has no list at results"),
        (Reply([1, 2]), "the answer has no list at results"),
        (Reply(b"[" * 200_000 + b"]" * 200_000), "the answer is nested too deeply"),
        (Reply({"results": []}, headers={"Content-Encoding": "gzip"}), "the answer is compressed"),
        (Reply(endless=b'{"results": [' + b" " * (1 << 20)), "the answer is larger than 32 MB"),
    ],
)
def test_a_lasting_fault_is_not_asked_again(reply, reason):
    def answering(asked, before):
        return reply if asked_id(asked) == "q2" else retrieve(asked)

    server, fetched = fetched_from(answering, {"q1": "a", "q2": "b"}, timeout=20)

    assert 2 == len(server.asked)
    assert fetched.failed["q2"].reason.startswith(reason)


def test_a_server_that_drips_is_late():
    """The time-out is for the whole answer, not for each of its bytes."""

    def answering(asked, before):
        return Reply(endless=b" " * 10) if asked_id(asked) == "q2" else retrieve(asked)

    _, fetched = fetched_from(answering, {"q1": "a", "q2": "b"}, retries=0, timeout=0.3)

    assert fetched.failed["q2"].reason in {
        "no answer after 0.3 seconds (time-out)",
        "the answer is larger than 32 MB",  # on a quick machine
    }


@pytest.mark.parametrize("drips", [b"HTTP/1.1 200 OK\r\n", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1"])
def test_a_server_that_drips_headers_is_late(drips):
    def answering(asked, before):
        return Reply(drips=drips) if asked_id(asked) == "q2" else retrieve(asked)

    start = time.monotonic()
    _, fetched = fetched_from(answering, {"q1": "a", "q2": "b"}, retries=0, timeout=0.5)

    assert "no answer after 0.5 seconds (time-out)" == fetched.failed["q2"].reason
    assert time.monotonic() - start < 10


def test_a_connection_that_the_server_has_closed_is_no_failure():
    """It answers one request on each connection, and closes the connection when the next one comes."""

    def answering(asked, before):
        return Reply(closes=True) if asked.before else retrieve(asked)

    _, fetched = fetched_from(answering, concurrency=2, retries=0)

    assert fetched.is_complete
    assert {1} == {len(each) for each in fetched.requests.values()}


def test_a_server_says_when_to_come_back():
    """All threads leave it alone for so long."""

    def answering(asked, before):
        return (
            Reply({"error": "slow down"}, status=429, headers={"Retry-After": "0.5"})
            if before == 0
            else retrieve(asked)
        )

    server, fetched = fetched_from(answering, concurrency=1)

    assert fetched.is_complete
    assert server.times[1] - server.times[0] >= 0.5


def test_dead_servers_are_given_up_soon():
    with serving(retrieve) as server:
        address = server.address
    start = time.monotonic()
    with pytest.raises(ServerError, match=r"no query was answered: no connection.*Check that it is running"):
        fetch_answers(system_of(address), {f"q{n}": "x" for n in range(500)}, name="live", retries=3)

    assert time.monotonic() - start < 10


def test_a_server_that_dies_ends_the_fetch_and_keeps_what_came():
    """After five failed queries in a row the others are not asked, and are listed as such."""

    def answering(asked, before):
        return retrieve(asked) if before < 10 else Reply(closes=True)

    queries = {f"q{n:03}": "x" for n in range(100)}
    server, fetched = fetched_from(answering, queries, retries=1)

    assert (10, 90) == (len(fetched.answers), len(fetched.failed))
    assert 85 == sum(each.reason == "not asked" for each in fetched.failed.values())
    assert 21 == len(server.asked)  # once on the connection that was kept open


@pytest.mark.parametrize("status", [401, 403])
def test_a_wrong_key_ends_the_fetch_at_once(status):
    with serving(Reply({"error": "who are you?"}, status=status)) as server:
        with pytest.raises(ServerError) as refusal:
            fetch_answers(system_of(server.address), QUERIES, name="live", retries=3)

        assert 1 == len(server.asked)
    assert f"status {status}, 'who are you?'. Put a valid key into the environment variable ASSAY_API_KEY." in str(
        refusal.value
    )


@pytest.mark.parametrize("status", [404, 405, 301, 302, 307, 308])
def test_a_wrong_address_ends_the_fetch_at_once(status):
    with serving(retrieve) as other, serving(Reply(status=status, headers={"Location": other.address})) as server:
        with pytest.raises(ServerError) as refusal:
            fetch_answers(system_of(server.address), QUERIES, name="live", retries=3)

        assert ([], 1) == (other.asked, len(server.asked))
    assert f"no query was answered: status {status}" in str(refusal.value)
    if status < 400:
        assert f"Give the address it leads to ({other.address}) if you trust it." in str(refusal.value)


def test_a_query_that_always_fails_does_not_stop_the_others_even_if_it_comes_first():
    def answering(asked, before):
        return Reply({"error": "boom"}, status=500) if asked_id(asked) == "q1" else retrieve(asked)

    _, fetched = fetched_from(answering, retries=1)

    assert (["q1"], 5) == (list(fetched.failed), len(fetched.answers))


def test_a_missing_page_is_a_failure_of_its_query_once_others_were_answered():
    def answering(asked, before):
        return Reply(status=404) if asked_id(asked) == "q3" else retrieve(asked)

    _, fetched = fetched_from(answering)

    assert ["q3"] == list(fetched.failed)


# How many at a time, and how fast


def test_so_many_are_asked_at_the_same_time():
    def answering(asked, before):
        return Reply(retrieve(asked).body, seconds=0.05)

    queries = {f"q{n}": "x" for n in range(24)}
    server, fetched = fetched_from(answering, queries, concurrency=3, timeout=20)

    assert (True, 3) == (fetched.is_complete, server.most_at_once)


def test_the_rate_is_kept():
    server, _ = fetched_from(retrieve, {f"q{n}": "x" for n in range(21)}, concurrency=8, rate=40, timeout=20)

    assert server.times[-1] - server.times[0] >= 0.45  # 20 pauses of 25 ms, but for the way there


# What is kept


def test_kept_answers_are_not_asked_again(tmp_path):
    """A second call asks for what failed, and for nothing else."""
    ill = {"q2", "q5"}

    def answering(asked, before):
        return Reply(status=500) if asked_id(asked) in ill else retrieve(asked)

    with serving(answering) as server:
        given = {"name": "live", "journal": tmp_path / "answers", "top_k": 10}
        first = fetch_answers(system_of(server.address), QUERIES, **given)
        asked = len(server.asked)
        ill.clear()
        second = fetch_answers(system_of(server.address), QUERIES, **given)
        again = [asked_id(each) for each in server.asked[asked:]]
        undisturbed = fetch_answers(system_of(server.address), QUERIES, name="live", top_k=10)

    assert ({"q2", "q5"}, ["q2", "q5"]) == (set(first.failed), again)
    assert (True, 4) == (second.is_complete, second.kept)
    assert undisturbed.run.doc.tolist() == second.run.doc.tolist()
    assert list(QUERIES) == list(second.answers)


@pytest.mark.parametrize(
    "change",
    [{"top_k": 5}, {"mode": "vector"}, {"text": "other words"}, {"path": "/other"}],
    ids=lambda each: next(iter(each)),
)
def test_another_question_is_asked_anew(change, tmp_path):
    with serving(retrieve) as server:
        for top_k, mode, text, path in (
            (10, None, "x", ""),
            (change.get("top_k", 10), change.get("mode"), change.get("text", "x"), change.get("path", "")),
        ):
            system = system_of(server.address + path, mode=mode)
            fetch_answers(system, {"q1": text}, name="live", top_k=top_k, journal=tmp_path / "answers")

        assert 2 == len(server.asked)


def test_two_processes_do_not_write_one_journal(tmp_path):
    with Journal(tmp_path / "answers", Kept), pytest.raises(InputError, match="another process is writing this file"):
        fetch_answers(system_of("http://127.0.0.1:9"), QUERIES, name="live", journal=tmp_path / "answers")


def test_an_id_that_is_no_utf8_is_matched_as_it_was_sent():
    _, fetched = fetched_from(retrieve, {"q\udce9": "a", "q2": "b"}, batch=2)

    assert {"q\udce9", "q2"} == set(fetched.run.queries)


def test_a_damaged_journal_is_named(tmp_path):
    (tmp_path / "answers").write_bytes(b"no journal\n")
    with pytest.raises(InputError, match=r"answers: is damaged. Delete it to begin again\."):
        fetch_answers(system_of("http://127.0.0.1:9"), QUERIES, name="live", journal=tmp_path / "answers")
