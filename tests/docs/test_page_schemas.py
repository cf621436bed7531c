"""The data of the workbench's pages match their schemas in docs/schemas."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from assay.measures import definition_of, definitions
from assay.report import evaluator, learning
from assay.report.measures.page import list_page, page_of
from assay.report.measures.state import state_of
from docs.blocks import DOCS
from docs.schema import changed, problems

LISTS = [
    {},
    {"grades": ["u,-1,2.5"], "other": ["3"], "relevant": ["9"]},
    {"grades": [""]},
    {"grades": ["0,0"], "k": ["3"]},
]


def as_json(page: Any) -> Any:
    return json.loads(msgspec.json.encode(page))


def schema(name: str) -> Any:
    return json.loads((DOCS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("given", LISTS, ids=str)
def test_the_evaluator(given):
    document = schema("evaluator-1")

    assert [] == list(problems(as_json(evaluator.page_of(evaluator.state_of(given))), document))


@pytest.mark.parametrize("given", [{}, {"ranks": [""], "lists": [""], "grades": ["u"]}], ids=str)
def test_the_page_learn(given):
    assert [] == list(problems(as_json(learning.page_of(learning.state_of(given))), schema("learn-1")))


def test_every_measure_and_the_list_of_all():
    document = schema("measure-page-1")

    for definition in definitions():
        assert [] == list(problems(as_json(page_of(definition, state_of(definition, {}))), document)), definition.name
    assert [] == list(problems(as_json(list_page()), schema("measures-page-1")))


def test_a_wrong_answer_is_noticed():
    page, document = as_json(page_of(definition_of("AP"), state_of(definition_of("AP"), {}))), schema("measure-page-1")

    assert [] != list(problems(changed(page, "figure", "value", to="0.5"), document))
