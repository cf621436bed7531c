"""The pages as programs ask for them: long lists, saving, and other names of measures."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import quote

import msgspec
import pytest

from assay.report import evaluator
from web.servers import Server, eventually, serving, workers_of

LONG = "&".join(f"{field}={','.join(['3', '2', 'u', '0.5', '1'] * 60)}" for field in ("grades", "other"))


@pytest.mark.parametrize("heavy", [LONG, "relevant=10000"])
def test_the_page_of_long_lists_is_made_elsewhere_and_is_the_same(writing: Server, heavy):
    given = {field: [text] for field, text in (pair.split("=") for pair in heavy.split("&"))}
    expected = json.loads(msgspec.json.encode(evaluator.page_from(given, {"grades": ["1,1"], "k": ["3"]})))

    answer = writing.ask(f"/evaluator.json?{heavy}", headers={"Assay-Before": "/evaluator?grades=1,1&k=3"})
    assert expected == json.loads(answer.text)
    assert workers_of(writing)
    assert 200 == writing.ask(f"/evaluator?{heavy}").status


@pytest.mark.parametrize(
    "before", ["http://[::1/evaluator?grades=1", "/elsewhere?grades=1", "/evaluator?grades=x", "%"]
)
def test_a_state_before_that_is_none_is_ignored(workbench: Server, before):
    plain = workbench.ask("/evaluator.json").text

    assert plain == workbench.ask("/evaluator.json", headers={"Assay-Before": before}).text


def test_other_names_of_measures_lead_to_their_pages_with_their_parameters(workbench: Server):
    for name, address in (
        ("MRR@10", "/measures/RR?p.cutoff=10"),
        ("MRR@10?grades=1,0&p.cutoff=3", "/measures/RR?grades=1%2C0&p.cutoff=3"),
        ("nDCG_burges", "/measures/nDCG?p.gain=exp"),
        ("ndcg", "/measures/nDCG"),
    ):
        answer = workbench.ask(f"/measures/{name}")
        assert (307, address) == (answer.status, answer.header("location"))
        assert 200 == workbench.ask(address).status


@pytest.fixture
def writing(tmp_path: Path):
    with serving(tmp_path) as server:
        yield server


def save(server: Server, file: str, address: str):
    secret = re.search(r'name="csrf" value="([0-9a-f]{64})"', server.ask("/evaluator").text)
    assert secret
    return server.post("/evaluator/save", f"file={file}&address={quote(address)}&csrf={secret[1]}")


def test_saving_leads_to_a_page_that_can_be_loaded_again(writing: Server, tmp_path):
    answer = save(writing, "bread", "/evaluator?grades=1,0&name=rye")
    assert 303 == answer.status
    assert {"bread.qrels": "q 0 rye 1\nq 0 d2 0\n", "bread.run": "q Q0 rye 1 2 list\nq Q0 d2 2 1 list\n"} == {
        file.name: file.read_text() for file in tmp_path.iterdir()
    }
    for _ in range(2):
        page = writing.ask(answer.header("location"))
        assert 200 == page.status
        assert "Saved bread.qrels and bread.run in the data folder." in page.text
    again = save(writing, "bread", "/evaluator?grades=1")
    assert (400, True) == (again.status, "exists already. Choose another name." in again.text)


@pytest.mark.parametrize("address", ["http://[::1/evaluator", "/measures/nDCG?grades=1", "", "/evaluator?grades=x"])
def test_a_form_without_a_list_is_refused(writing: Server, tmp_path, address):
    assert 400 == save(writing, "bread", address).status
    assert [] == list(tmp_path.iterdir())
    assert writing.ask(f"/evaluator/saved?file=bread&address={quote(address)}").status in (400, 404)


def test_nothing_is_called_saved_that_is_not(writing: Server):
    answer = writing.ask(f"/evaluator/saved?file=bread&address={quote('/evaluator?grades=1')}")

    assert (400, True) == (answer.status, "the data folder has no file" in answer.text)


def test_short_lists_are_answered_while_long_ones_are_computed(workbench: Server):
    """At most two long ones are computed at a time; the others wait for them, and short ones do not."""
    request = f"GET /evaluator.json?{LONG} HTTP/1.1\r\nHost: {workbench.host}\r\n\r\n".encode()
    connections = [workbench.connect() for _ in range(6)]
    try:
        for connection in connections:
            connection.sendall(request)
        assert 200 == workbench.ask("/evaluator.json").status
        assert eventually(lambda: len(workers_of(workbench)) == 2)
        assert all(connection.recv(15).startswith(b"HTTP/1.1 200") for connection in connections)
    finally:
        for connection in connections:
            connection.close()
