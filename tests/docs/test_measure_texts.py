"""The docstring of every measure explains it, and its example is right."""

from __future__ import annotations

import re

import pytest

from assay.measures import definitions
from assay.measures.explain import page

PAGES = [page(definition) for definition in definitions() if definition.kernel.__module__.startswith("assay.")]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_it_has_a_formula_edges_an_example_and_says_when_it_misleads(page):
    assert page.summary.endswith(".")
    assert page.formula
    assert page.edges
    assert page.misleads
    assert page.example


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_example_ends_with_the_computed_value(page):
    _, value = page.example_value
    shown = re.findall(r"-?\d+(?:\.\d+)?", page.example)[-1]
    decimals = len(shown.partition(".")[2])

    assert f"{value:.{decimals}f}" == shown
    assert page.example.endswith(f"= {shown}.")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_parameter_has_a_meaning(page):
    assert all(meaning for _, _, meaning in page.parameters)
