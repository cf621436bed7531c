"""Caps are kept to the request, however many threads ask, and can be raised to go on."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from assay.errors import CapError, LanguageModelError
from assay.llm.answers import AnswerStore, Question
from assay.llm.budget import Budget, Caps, Prices, Spent
from assay.llm.service import Service
from llm.serving import Reply, serving


def ask_all(fake, folder, prompts, *, threads=8, **settings) -> list[str]:
    """What became of each prompt: its answer, or the first word of the error."""
    service = Service(model="m", endpoint=fake.address, timeout=60, **settings)
    with service.connect(AnswerStore(folder / "answers")) as client, ThreadPoolExecutor(threads) as pool:
        client.keep_account(folder / "spent.jsonl")

        def ask(prompt: str) -> str:
            try:
                return client.ask(Question("m", prompt, 10)).answer.text
            except CapError as error:
                return str(error).partition(" ")[0]

        return list(pool.map(ask, prompts))


@pytest.mark.parametrize("threads", [1, 8])
def test_the_cap_on_requests_is_kept_and_can_be_raised(threads, tmp_path):
    prompts = [str(number) for number in range(20)]
    with serving(lambda prompt, before: Reply(f"answer {prompt}", seconds=0.01)) as fake:
        for cap, total in ((0, 0), (7, 7), (7, 7), (12, 12), (20, 20), (20, 20)):
            said = ask_all(fake, tmp_path, prompts, threads=threads, max_requests=cap)

            assert total == len(fake.requests)
            assert total == sum(each.startswith("answer") for each in said)
        assert dict.fromkeys(prompts, 1) == fake.answered


def test_requests_that_fail_count_too(tmp_path):
    with serving(lambda prompt, before: Reply(status=500) if before < 2 else Reply()) as fake:
        said = ask_all(fake, tmp_path, ["a", "b"], threads=1, max_requests=4)

        assert (["2", "stopped"], 4) == (said, len(fake.requests))


@pytest.mark.parametrize(("threads", "cap"), [(1, 0.01), (8, 0.01), (8, 0.02)])
def test_the_cap_on_money_is_kept(threads, cap, tmp_path):
    """A request takes 100 tokens in and 10 out: 0.0002. It could take 513 and 10, which is 0.000613."""
    prompts = [str(number % 10) + "x" * (number // 10) for number in range(120)]
    with serving(Reply()) as fake:
        ask_all(fake, tmp_path, prompts, threads=threads, price_in=1.0, price_out=10.0, max_cost=cap)

        cost = len(fake.requests) * 0.0002
        assert cap - 0.001 < cost <= cap


def test_the_cap_on_tokens_is_kept(tmp_path):
    with serving(Reply()) as fake:
        said = ask_all(fake, tmp_path, [str(number) for number in range(10)], threads=1, max_tokens=1000)

        assert 5 == len(fake.requests)  # 550 tokens; the sixth could take 523
        assert 5 * ["2"] + 5 * ["stopped"] == said


def test_a_server_that_counts_more_than_possible_is_believed_from_then_on(tmp_path):
    """A prompt of 1 byte cannot take more than 513 tokens, but this server counts 1,000."""
    with serving(Reply(tokens_in=1000)) as fake:
        ask_all(fake, tmp_path, [str(number) for number in range(10)], threads=1, max_tokens=4500)

        assert 4 == len(fake.requests)


def test_requests_that_may_have_been_charged_count_as_the_most_they_can_take(tmp_path):
    with serving(lambda prompt, before: Reply(closes=True) if before == 0 else Reply()) as fake:
        said = ask_all(fake, tmp_path, ["a", "b"], threads=1, max_tokens=1140)

        assert (["2", "stopped"], 2) == (said, len(fake.requests))  # 523 + 110; the next could take 523


def test_what_an_earlier_run_took_counts(tmp_path):
    """Also of one that was killed while a request was on its way, and one whose last line was cut off."""
    path = tmp_path / "spent.jsonl"
    path.write_text("\n[0,0,0]\n[1,513,1]\n[0,-413,0]\n[1,600,1]\n[0,-")
    budget = Budget(Caps(max_requests=3))
    budget.keep_account(path)
    assert Spent(2, 700, 2) == budget.spent

    with budget.request("a", 1) as booking:
        booking.settle(1, 1)
    with pytest.raises(CapError), budget.request("b", 1):
        pass
    assert Spent(3, 701, 3) == budget.spent
    again = Budget()
    again.keep_account(path)
    assert budget.spent == again.spent


def test_an_account_that_cannot_be_kept(tmp_path):
    with pytest.raises(LanguageModelError, match=r"spent\.jsonl: cannot be written: No such file or directory."):
        Budget().keep_account(tmp_path / "missing" / "spent.jsonl")


def test_the_error_says_how_to_go_on():
    budget = Budget(Caps(max_cost=0.5), Prices(price_in=100))
    for _ in range(2):
        with budget.request("x" * 1000, 5) as booking:
            booking.settle(1000, 5)

    with pytest.raises(CapError) as caught, budget.request("x" * 3000, 5):
        pass
    assert (
        "stopped before `max_cost` = 0.5: so far 2 requests took 2,010 tokens, which cost 0.2, and the next one could go "
        "over it. Raise `max_cost` and run again: answers so far are kept and not asked again."
    ) == str(caught.value)


def test_a_cap_on_money_needs_prices():
    with pytest.raises(LanguageModelError) as caught:
        Service(max_cost=1)

    assert "max_cost needs prices: give `price_in` and `price_out`, per million tokens." == str(caught.value)
