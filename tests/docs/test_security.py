"""The table of threats names tests that exist."""

from __future__ import annotations

import ast
import re

import pytest

from docs.blocks import DOCS

ROOT = DOCS.parent
PAGE = (DOCS / "security.md").read_text(encoding="utf-8")
ROWS = [row for row in re.findall(r"^\| (.+) \|$", PAGE, re.MULTILINE) if "---" not in row and "**" not in row][1:]
TESTS = sorted(set(re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", PAGE)))


@pytest.mark.parametrize(("file", "name"), TESTS)
def test_every_test_in_the_table_exists(file, name):
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))

    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.parametrize("row", ROWS)
def test_every_threat_has_its_test(row):
    assert re.search(r"\| `tests/[\w/]+\.py::\w+`$", row)


def test_the_table_is_not_empty():
    assert 40 < len(TESTS) <= len(ROWS)


def test_the_page_and_the_policy_name_each_other():
    policy = (ROOT / "SECURITY.md").read_text(encoding="utf-8")

    assert "(docs/security.md)" in policy
    assert "`SECURITY.md`" in PAGE
    assert "(docs/security.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
