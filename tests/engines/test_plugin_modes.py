"""Modes of one's own, from a file or an installed package, as docs/plugins.md shows them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from assay.errors import RetrievalError
from assay.retrieval.base import KINDS, retriever
from assay.retrieval.modes import MODES
from cli.command import assay
from docs.blocks import DOCS, blocks_of

RECIPE = """
collection = "shop"
modes = ["lexical", "long-words", "shortened"]
measures = ["nDCG@10"]
repeats = 1

[[mode]]
name = "long-words"
kind = "overlap"
shortest = 5

[[mode]]
name = "shortened"
kind = "shortest"
of = "long-words"
top = 5
"""
BLOCKS = [block.text for block in blocks_of(DOCS / "plugins.md") if block.language == "py"]


@pytest.fixture
def mine(tmp_path) -> Path:
    """The code of the page, and a recipe that uses it."""
    (tmp_path / "mine.py").write_text("\n".join(BLOCKS[:2]), encoding="utf-8")
    (tmp_path / "test_mine.py").write_text(BLOCKS[2], encoding="utf-8")
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    return tmp_path


@pytest.fixture
def installed(mine, tmp_path) -> dict[str, str]:
    """The environment with the page's code as an installed package."""
    site = tmp_path / "site"
    (site / "mine-1.0.dist-info").mkdir(parents=True)
    (tmp_path / "mine.py").rename(site / "mine.py")
    (site / "mine-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n")
    (site / "mine-1.0.dist-info" / "entry_points.txt").write_text("[assay.retrievers]\nmine = mine\n")
    return {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))}


def check_report(folder: Path) -> None:
    report = json.loads((folder / "out" / "BenchmarkReport.json").read_text(encoding="utf-8"))
    long_words, shortened = report["modes"][1:]

    assert ["overlap", "shortest"] == [long_words["kind"], shortened["kind"]]
    assert 5 == long_words["settings"]["shortest"]
    assert 0.1 < long_words["metrics"]["nDCG@10"]


def test_a_file_with_modes_is_a_plug_in(mine):
    done = assay("--plugin", "mine.py", "benchmark", "run", "recipe.toml", "--output", "out", cwd=mine)

    assert 0 == done.returncode, done.stderr
    check_report(mine)


def test_the_help_and_the_recipe_list_the_modes_of_a_plug_in(mine):
    helped = assay("--plugin", "mine.py", "benchmark", "run", "--help", cwd=mine)
    begun = assay("--plugin", "mine.py", "benchmark", "init", "new.toml", cwd=mine)

    assert (0, 0) == (helped.returncode, begun.returncode)
    assert "overlap" in helped.stdout.partition("--modes")[2].partition("--allow-missing")[0]
    assert "#   overlap" in (mine / "new.toml").read_text(encoding="utf-8")


def test_an_installed_package_offers_modes(mine, installed):
    done = assay("benchmark", "run", "recipe.toml", "--output", "out", cwd=mine, env=installed)

    assert 0 == done.returncode, done.stderr
    check_report(mine)


def test_a_package_that_cannot_be_loaded_is_named(mine, installed):
    (mine / "site" / "mine.py").write_text("1 / 0")
    done = assay("benchmark", "run", "recipe.toml", "--output", "out", cwd=mine, env=installed)

    assert (2, "Error: cannot load the plug-in 'mine' (mine): division by zero\n") == (done.returncode, done.stderr)


def test_the_tests_of_the_page_pass(mine, monkeypatch):
    monkeypatch.syspath_prepend(str(mine))
    names: dict[str, object] = {}
    exec(compile(BLOCKS[2], "test_mine.py", "exec"), names)
    try:
        names["test_overlap"]()
        names["test_shortest"]()
    finally:
        for name in ("overlap", "shortest"):
            KINDS.pop(name, None)


def test_a_mode_cannot_take_the_name_of_another():
    class Other(MODES["lexical"].made_of, frozen=True):
        pass

    with pytest.raises(
        RetrievalError, match=r"there are two modes called 'lexical'. Give the mode of the plug-in another"
    ):
        retriever("something else")(Other)
