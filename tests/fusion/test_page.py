"""The page about fusion lists every method, normalisation and way to collapse, as described in the registry."""

from __future__ import annotations

import pytest

from assay.fusion import METHODS, NORMALISATIONS, WAYS
from docs.blocks import DOCS

PAGE = (DOCS / "fusion.md").read_text(encoding="utf-8").replace("\n  ", " ")  # list entries on one line
WEIGHTS = {"optional": "yes", "required": "needed", "none": "no"}


@pytest.mark.parametrize("method", METHODS.values(), ids=lambda method: method.name)
def test_every_method_has_its_row_and_paper(method):
    parameters = ", ".join(f"`{name}={value:g}`" for name, value in method.defaults.items()) or "–"
    row = (method.uses, method.summary.removesuffix("."), method.missing, WEIGHTS[method.weights], parameters)

    assert f"\n| `{method.name}` | {' | '.join(row)} |\n" in PAGE
    assert f"`{method.name}`" in PAGE.split(method.paper)[0].rpartition("\n- ")[2]


@pytest.mark.parametrize("entry", NORMALISATIONS.values(), ids=lambda entry: entry.name)
def test_every_normalisation_has_its_row_and_paper(entry):
    assert f"\n| `{entry.name}` | {entry.summary.removesuffix('.')} |\n" in PAGE
    assert not entry.paper or f"`{entry.name}`" in PAGE.split(entry.paper)[0].rpartition("\n- ")[2]


@pytest.mark.parametrize("by", WAYS)
def test_every_way_to_collapse_has_its_row(by):
    assert f"\n| `{by}` | " in PAGE
