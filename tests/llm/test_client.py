"""Every question is answered once, whatever the server does."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from email.utils import format_datetime
from random import Random

import pytest

from assay.errors import LanguageModelError
from assay.http.waiting import backoff, retry_after
from assay.llm import client as client_module
from assay.llm.answers import Answer, AnswerStore, Question
from assay.llm.service import Service
from llm.serving import Reply, serving

GOOD = Reply("fine")
SOON = 2.0  # seconds; a good answer never takes as long, not even on a busy machine
BAD = {
    "429": Reply("slow down", status=429),
    "500": Reply("oops", status=500),
    "503": Reply(status=503, body=b"<html>busy</html>"),
    "never": Reply(hangs=True),
    "slow": Reply(seconds=2.5),
    "closes": Reply(closes=True),
    "broken JSON": Reply(body=b'{"choices": [{"mess'),
    "not JSON": Reply(body=b"hello"),
    "no choices": Reply(body=b'{"choices": []}'),
    "deep": Reply(body=b"[" * 100_000),
    "not UTF-8": Reply(body=b'{"choices": [{"message": {"content": "\xff"}}]}'),
    "cut off": Reply("fine", cut=20),
}


def question(prompt: str = "Is it?", **parameters) -> Question:
    return Question("m", prompt, 10, **parameters)


def connect(fake, folder, **settings):
    service = Service(model="m", endpoint=fake.address, **{"timeout": SOON, **settings})
    return service.connect(AnswerStore(folder))


@pytest.mark.parametrize("bad", BAD.values(), ids=BAD)
def test_a_request_that_fails_is_sent_again(bad, tmp_path):
    late = bad.hangs or bad.seconds > 0
    failures = 1 if late else 2
    with serving(lambda prompt, before: bad if before < failures else GOOD) as fake, connect(fake, tmp_path) as client:
        given = client.ask(question())

        assert ("fine", 100, 10) == (given.answer.text, given.answer.tokens_in, given.answer.tokens_out)
        assert failures + 1 == len(fake.requests)


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (BAD["never"], "no answer after 2 attempts: no answer after 0.2 seconds (time-out)"),
        (BAD["429"], "no answer after 2 attempts: status 429, 'slow down'"),
        (BAD["closes"], "no answer after 2 attempts: the connection broke"),
        (BAD["broken JSON"], "no answer after 2 attempts: the answer is not what an OpenAI-compatible server sends"),
        (Reply("no such model", status=404), "no answer: status 404, 'no such model'"),
        (Reply("m\x1b[31m", status=400), r"no answer: status 400, 'm\x1b[31m'"),
        (Reply(body=b" " * (9 << 20)), "no answer: the answer is larger than 8 MB"),
    ],
)
def test_an_error_says_what_the_server_did_and_where_it_is(bad, problem, tmp_path):
    timeout = 0.2 if bad.hangs else 30
    with serving(bad) as fake, connect(fake, tmp_path, retries=1, timeout=timeout) as client:
        with pytest.raises(LanguageModelError) as caught:
            client.ask(question())

        assert str(caught.value).startswith(problem)
        assert f"(the language model m at {fake.address}). Check" in str(caught.value)


def test_a_server_that_is_not_there(tmp_path):
    with serving(GOOD) as fake:
        pass
    with connect(fake, tmp_path, retries=1) as client, pytest.raises(LanguageModelError) as caught:
        client.ask(question())

    assert str(caught.value).startswith("no answer after 2 attempts: no connection: ")


def test_many_threads_and_a_bad_server_still_give_each_question_one_answer(tmp_path):
    bad = [*(each for each in BAD.values() if not (each.hangs or each.seconds)), BAD["slow"]]

    def answering(prompt: str, before: int) -> Reply:
        return bad[(int(prompt) + before) % len(bad)] if before < int(prompt) % 4 else Reply(f"answer {prompt}")

    with serving(answering) as fake, connect(fake, tmp_path, concurrency=8) as client:
        with ThreadPoolExecutor(8) as pool:
            given = list(pool.map(lambda number: client.ask(question(str(number % 40))), range(120)))

        assert [f"answer {number % 40}" for number in range(120)] == [each.answer.text for each in given]
        assert {str(number): 1 for number in range(40)} == {each: n for each, n in fake.answered.items() if n}
        assert 40 == sum(not each.is_kept for each in given)
        assert sum(number % 4 + 1 for number in range(40)) == len(fake.requests)


def test_a_second_run_asks_nothing(tmp_path):
    with serving(GOOD) as fake:
        for kept in (False, True):
            with connect(fake, tmp_path) as client:
                assert kept == client.ask(question()).is_kept
        assert 1 == len(fake.requests)


@pytest.mark.parametrize(
    "other",
    [
        Question("m2", "Is it?", 10),
        Question("m", "Is it!", 10),
        Question("m", "Is it?", 11),
        Question("m", "Is it?", 10, seed=1),
        Question("m", "Is it?", 10, alternatives=5),
    ],
)
def test_everything_that_decides_an_answer_is_in_its_digest(other):
    assert question().digest != other.digest


@pytest.mark.parametrize("damage", [b"", b'{"text": "fi', b"\xff\x00", b"[]"])
def test_a_damaged_answer_is_asked_again(damage, tmp_path):
    with serving(GOOD) as fake:
        with connect(fake, tmp_path) as client:
            client.ask(question())
        (file,) = tmp_path.rglob("*.json")
        file.write_bytes(damage)
        with connect(fake, tmp_path) as client:
            assert "fine" == client.ask(question()).answer.text
        assert 2 == len(fake.requests)


def test_two_processes_may_keep_the_same_answers(tmp_path):
    program = textwrap.dedent("""
        import pathlib, sys
        from assay.llm.answers import Answer, AnswerStore, Question
        store = AnswerStore(pathlib.Path(sys.argv[1]))
        for number in range(60):
            asked = Question("m", str(number), 10)
            assert store.get(asked) in (None, Answer(f"{number}" * 500, 1, 1))
            store.add(asked, Answer(f"{number}" * 500, 1, 1))
    """)
    processes = [subprocess.Popen([sys.executable, "-c", program, str(tmp_path)]) for _ in range(2)]
    assert [0, 0] == [process.wait() for process in processes]

    store = AnswerStore(tmp_path)
    assert [f"{n}" * 500 for n in range(60)] == [store.get(Question("m", str(n), 10)).text for n in range(60)]
    assert 60 == sum(path.is_file() for path in tmp_path.rglob("*"))


def test_answers_that_cannot_be_kept(tmp_path):
    folder = tmp_path / "file" / "answers"
    folder.parent.write_text("")
    problem = pytest.raises(LanguageModelError, match="answers cannot be kept here: Not a directory")
    with serving(GOOD) as fake, connect(fake, folder) as client, problem:
        client.ask(question())


def test_a_bad_ending_of_one_thread_ends_the_others(tmp_path):
    def answering(prompt: str, before: int) -> Reply:
        return Reply("who are you?", status=401) if prompt == "3" else Reply(status=429, headers={"Retry-After": "50"})

    with serving(answering) as fake, connect(fake, tmp_path) as client, ThreadPoolExecutor(4) as pool:
        for asked in [pool.submit(client.ask, question(str(number))) for number in range(4)]:
            with pytest.raises(LanguageModelError, match="status 401, 'who are you"):
                asked.result(timeout=30)  # the others were told to wait for 50 seconds


def test_closing_ends_requests_that_wait_for_an_answer(tmp_path):
    with serving(BAD["never"]) as fake, ThreadPoolExecutor(2) as pool, connect(fake, tmp_path, timeout=60) as client:
        asked = [pool.submit(client.ask, question(str(number))) for number in range(2)]
        while len(fake.requests) < 2:
            time.sleep(0.005)
        client.close()
        for each in asked:
            with pytest.raises(LanguageModelError, match="closed while it was asked"):
                each.result(timeout=30)


# What is sent


def test_temperature_and_seed_are_sent(tmp_path):
    with serving(GOOD) as fake, connect(fake, tmp_path) as client:
        client.ask(question(seed=7, alternatives=5))

        (sent,) = fake.requests
        assert {
            "model": "m",
            "messages": [{"role": "user", "content": "Is it?"}],
            "temperature": 0,
            "seed": 7,
            "stream": False,
            "max_tokens": 10,
            "logprobs": True,
            "top_logprobs": 5,
            "path": "/v1/chat/completions",
        } == sent


def test_parameters_that_a_server_refuses_are_left_out(tmp_path):
    def answering(prompt: str, before: int) -> Reply:
        sent = fake.requests[-1]
        for name in ("logprobs", "max_tokens"):
            if name in sent:
                return Reply(f"Unsupported parameter: '{name}'.", status=400)
        return GOOD

    with serving(answering) as fake, connect(fake, tmp_path, retries=0) as client:
        assert "fine" == client.ask(question(alternatives=5)).answer.text
        assert {"max_completion_tokens"} <= fake.requests[-1].keys()
        client.ask(question("Another?", alternatives=5))

        assert 4 == len(fake.requests)  # three for the first question, one for the second


def test_a_lone_surrogate_in_a_prompt_does_no_harm(tmp_path):
    with serving(GOOD) as fake, connect(fake, tmp_path) as client:
        client.ask(question("\udcff?"))

        assert ["??"] == fake.prompts


# Waiting


def test_the_server_says_when_to_come_back(tmp_path, monkeypatch):
    waits = []
    monkeypatch.setattr(client_module, "backoff", lambda attempt, asked, random: waits.append(asked) or 0.0)
    date = format_datetime(datetime.now(UTC), usegmt=True)
    late = [{"Retry-After": "1.5"}, {"Retry-After": date}, {"Retry-After": "soon"}, {}]

    def answering(prompt: str, before: int) -> Reply:
        return Reply(status=429, headers=late[before]) if before < len(late) else GOOD

    with serving(answering) as fake, connect(fake, tmp_path) as client:
        client.ask(question())

    assert [1.5, 0.0, None, None] == waits


def test_a_wait_that_is_asked_for_is_kept_to(tmp_path):
    times = []

    def answering(prompt: str, before: int) -> Reply:
        times.append(time.monotonic())
        return Reply(status=429, headers={"Retry-After": "1"}) if before == 0 else GOOD

    with serving(answering) as fake, connect(fake, tmp_path) as client:
        client.ask(question())

    assert times[1] - times[0] >= 1


@pytest.mark.parametrize("value", ["", None, "-5", "nan", "inf", "Wed", "99 minutes", "Wed, 99 Nov 2026 12:00:00 GMT"])
def test_a_senseless_time_to_come_back_is_ignored(value):
    assert retry_after(value) is None


def test_waits_grow_and_are_never_longer_than_a_minute():
    waits = [backoff(attempt, None, Random(1)) for attempt in range(2000)]

    assert waits[0] < waits[1] < waits[2]
    assert 60 >= max(waits)


def test_a_wait_that_the_server_asks_for_is_not_shortened():
    assert 90 <= backoff(0, 90.0, Random(1)) < 91


def test_a_server_that_asks_for_a_long_pause_is_not_asked_again(tmp_path):
    late = Reply("quota", status=429, headers={"Retry-After": "3600"})
    with serving(late) as fake, connect(fake, tmp_path) as client:
        with pytest.raises(LanguageModelError) as caught:
            client.ask(question())

        assert (
            f"no answer after 1 attempt: status 429, 'quota' (the language model m at {fake.address}). It asks for a pause "
            "of 3,600 seconds. Run again after that: answers so far are kept and not asked again."
        ) == str(caught.value)
        assert 1 == len(fake.requests)


# Answers in unusual forms


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ({"choices": [{"message": {"content": None}}]}, Answer("", 518, 10)),
        ({"choices": [{"message": {"content": "a"}}], "usage": None}, Answer("a", 518, 10)),
        ({"choices": [{"message": {"content": "a"}}], "usage": {"prompt_tokens": -1}}, Answer("a", 518, 10)),
        ({"choices": [{"message": {"content": "a"}, "logprobs": {"tokens": ["a"]}}]}, Answer("a", 518, 10)),
        ({"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"x": 1}]}}]}, Answer("a", 518, 10)),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}, Answer("a", 518, 10, cut_off=True)),
    ],
)
def test_what_a_server_leaves_out(body, expected, tmp_path):
    """Without a count of tokens, the most that a request can take is counted."""
    with serving(Reply(body=json.dumps(body).encode())) as fake, connect(fake, tmp_path) as client:
        answer = client.ask(question("Is it?", alternatives=5)).answer

        assert expected == Answer(answer.text, answer.tokens_in, answer.tokens_out, 0.0, answer.cut_off, answer.tokens)
