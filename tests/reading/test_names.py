"""Accepted column names."""

from __future__ import annotations

import pytest

from assay.formats.names import NAMES, REQUIRED, ROLES, Kind, Roles, find_roles, is_header
from reading.rows import refusal

KINDS: list[Kind] = ["qrels", "run"]


def places(roles: Roles) -> dict[str, int]:
    """The position of each role that has one column."""
    return {role: place for role, (place,) in roles.items()}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "change", [str.upper, str.title, lambda name: name.replace("_", "-"), lambda name: f" {name} "]
)
def test_every_name_is_found_however_it_is_written(kind: Kind, change: object) -> None:
    for role in ROLES[kind]:
        for name in [name for group in NAMES[role] for name in group]:
            others = {"query": "query_id", "doc": "docno", "rel": "rel", "score": "score"}
            names = [others[other] for other in REQUIRED[kind] if other != role] + [change(name)]  # type: ignore[operator]

            assert (len(names) - 1,) == find_roles(names, kind, "x")[role]


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("qid docid docno rank score query", {"query": 0, "doc": 2, "score": 4, "rank": 3}),
        ("q_id doc_id score", {"query": 0, "doc": 1, "score": 2}),
        ("query topic document rank", {"query": 1, "doc": 2, "rank": 3}),
        ("run qid docno sim run_id", {"query": 1, "doc": 2, "score": 3, "tag": 4}),
    ],
)
def test_a_run_is_told_by_its_names(names: str, expected: dict[str, int]) -> None:
    assert expected == places(find_roles(names.split(), "run", "x"))


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("query_id query product_id esci_label", {"query": 0, "doc": 2, "rel": 3}),
        ("query-id corpus-id score", {"query": 0, "doc": 1, "rel": 2}),
        ("query_id doc_id relevance iteration", {"query": 0, "doc": 1, "rel": 2, "iteration": 3}),
        ("qid docno rank score label", {"query": 0, "doc": 1, "rel": 4}),
        ("qid q0 docno rel subtopic", {"query": 0, "doc": 2, "rel": 3, "iteration": 4}),
    ],
)
def test_qrels_are_told_by_their_names(names: str, expected: dict[str, int]) -> None:
    assert expected == places(find_roles(names.split(), "qrels", "x"))


def test_a_header_names_query_and_document_and_holds_no_number() -> None:
    assert is_header(["qid", "docno", "anything"])
    assert not is_header(["qid", "0", "docno", "1"])
    assert not is_header(["query", "score"])
    assert not is_header([])


def test_two_names_for_one_thing_are_refused() -> None:
    assert (
        "x:3: the columns 'doc_id' and 'Doc-ID' could each be the document column. "
        "Choose one with `columns={'doc': 'doc_id'}`, or rename the others."
        == (refusal(lambda: find_roles(["qid", "doc_id", "Doc-ID", "score"], "run", "x", line=3)))
    )


def test_hostile_names_are_shown_harmless() -> None:
    assert "the columns are a\\x1b[31m, " in refusal(lambda: find_roles(["a\x1b[31m", "b" * 500], "run", "x"))
    assert "the columns are none." in refusal(lambda: find_roles([], "run", "x"))
