"""Links between pages resolve, and no page contains a path of the author's machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.blocks import DOCS, generated_pages, hand_written_pages

PAGES = [*hand_written_pages(), *generated_pages()]
FILES = sorted(path for path in DOCS.rglob("*") if path.suffix in (".md", ".json", ".py"))

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]+\]\(([^)\s]+)\)")


def prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def anchors(page: Path) -> set[str]:
    """The anchors of headings: lower case, no punctuation, - for spaces."""
    headings = re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page):
    for link in _LINK.findall(prose(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page

        assert target.is_file(), link
        assert target.is_relative_to(DOCS), link
        assert not anchor or anchor in anchors(target), link


def test_every_page_can_be_reached_from_the_index():
    linked = {(DOCS / link.partition("#")[0]).resolve() for link in _LINK.findall(prose(DOCS / "index.md"))}

    assert set() == {page.resolve() for page in PAGES} - linked - {DOCS / "index.md"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_no_path_of_a_machine_stands_in_the_docs(path):
    text = path.read_text(encoding="utf-8")

    assert [] == re.findall(r"(?<![\w.])/(?:home|root|work|tmp|Users|usr|opt|mnt|var)/\S*", text)
    assert [] == re.findall(r"\b[A-Z]:\\\S*", text)
