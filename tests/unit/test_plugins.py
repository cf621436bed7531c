"""Custom measures, from a file or an installed package, work like built-in ones."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from assay.errors import PluginError
from assay.measures.core import _check_declaration, definitions
from assay.plugins import load_file
from cli.command import assay

OWN = '''
import numpy as np
from assay import measure


@measure("Top1", aliases={"FirstHit": {}})
def Top1(judged, *, rel: float = 1):
    """1 if the first document is relevant, else 0.

    Formula: 1 where the grade of the first document is at least rel.

    Example: the first document is unjudged: Top1 = 0.
    """
    return (judged.count(judged.relevant(rel, 1)) > 0).astype(np.float64)
'''
QRELS, RUN = "q1 0 a 1\nq2 0 b 1\n", "q1 Q0 a 1 2 t\nq2 Q0 c 1 2 t\nq2 Q0 b 2 1 t\n"


@pytest.fixture
def files(tmp_path: Path) -> Path:
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "q").write_text(QRELS)
    (tmp_path / "r").write_text(RUN)
    return tmp_path


def check_everywhere(folder: Path, *options: str, env: dict[str, str] | None = None) -> None:
    """It is listed, explained, evaluated under all its names, and in the reference."""
    assert "Top1 " in assay(*options, "measures", "list", cwd=folder, env=env).stdout
    explained = assay(*options, "measures", "explain", "FirstHit", cwd=folder, env=env).stdout
    assert "1 if the first document is relevant, else 0." in explained
    assert "assay computes Top1 = 0.0000" in explained
    done = assay(*options, "evaluate", "q", "r", "-m", "Top1", "-m", "FirstHit(rel=2)", cwd=folder, env=env)
    assert ["r", "0.5000", "0.0000"] == done.stdout.splitlines()[2].split(), done.stderr


def test_a_file_with_a_measure_is_a_plug_in(files):
    check_everywhere(files, "--plugin", "own.py")


def test_an_installed_package_offers_measures(files):
    """An entry point in a temporary package, found through its metadata as pip would write it."""
    site = files / "site"
    info = site / "own_measures-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "own_measures.py").write_text(OWN)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: own-measures\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[assay.measures]\nown = own_measures\n")
    env = {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), os.environ.get("PYTHONPATH"))))}

    check_everywhere(files, env=env)
    root = Path(__file__).parents[2]
    pages = subprocess.run(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, 'docs'); import generate; print(generate.measures_page())",
        ],
        capture_output=True,
        text=True,
        cwd=root,
        env={**os.environ, **env},
        check=False,
    )

    assert "### Top1" in pages.stdout, pages.stderr


def test_the_laws_hold_for_it_without_a_word_more(files):
    """The laws run on every registered measure, including installed plug-ins."""
    code = (
        "import sys; sys.path[:0] = ['tests']; import conftest\n"
        f"from assay.plugins import load_file; load_file({str(files / 'own.py')!r})\n"
        "from laws import test_laws as laws\n"
        "for which in ('EVERY', 'PLAIN', 'REWARDING'):\n"  # the laws of the others are tested in tests/laws
        "    setattr(laws, which, [measure for measure in getattr(laws, which) if measure.name == 'Top1'])\n"
        "    assert getattr(laws, which)\n"
        "laws.test_values_stay_within_their_bounds()\n"
        "laws.test_moving_a_better_document_up_never_lowers_the_value()\n"
        "laws.test_parts_put_together_are_bit_equal_to_the_whole()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False
    )

    assert 0 == done.returncode, done.stderr


def test_a_plug_in_that_cannot_be_loaded_says_why(files):
    (files / "bad.py").write_text("1 / 0")
    done = assay("--plugin", "bad.py", "measures", "list", cwd=files)

    assert 2 == done.returncode
    assert "Error: cannot load the plug-in bad.py: ZeroDivisionError: division by zero" in done.stderr
    with pytest.raises(PluginError, match=r"cannot load the plug-in .*: FileNotFoundError"):
        load_file(str(files / "missing.py"))


KERNELS = {
    "1 / 0": "measure Bad failed: ZeroDivisionError: division by zero",
    "None": r"measure Bad returned values of shape \(\) for 2 queries",
    "['a', 'b']": "measure Bad failed: ValueError: could not convert string to float",
    "0.5": r"measure Bad returned values of shape \(\) for 2 queries",
    "np.zeros((2, 2))": r"measure Bad returned values of shape \(2, 2\) for 2 queries",
    "np.full(2, np.inf)": "measure Bad returned an infinite value for 2 queries",
    "judged.hit_rel.fill(99)": "measure Bad failed: ValueError: .*read-only",
}


@pytest.mark.parametrize("body", KERNELS)
def test_a_kernel_that_goes_wrong_is_named(files, body):
    text = OWN.replace("Top1", "Bad").replace("FirstHit", "AlsoBad")
    (files / "own.py").write_text(text[: text.index("    return")] + f"    return {body}\n")
    done = assay("--plugin", "own.py", "evaluate", "q", "r", "-m", "Bad", "-m", "nDCG", cwd=files)

    assert 2 == done.returncode
    assert re.search(KERNELS[body], done.stderr), done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ('"Top1"', '"My P@"', "a measure cannot be called 'My P@'"),
        ('"Top1",', '"Top1", total="median",', "total cannot be 'median'; it takes mean, sum, geometric"),
        ("judged, *, rel", "judged, rel", "the parameters of Top1 must be keyword-only"),
        ('"Top1"', '"nDCG"', "a measure called 'nDCG' is already registered"),
    ],
)
def test_a_declaration_that_cannot_work_is_refused(files, old, new, complaint):
    (files / "own.py").write_text(OWN.replace(old, new))

    assert complaint in assay("--plugin", "own.py", "measures", "list", cwd=files).stderr


def test_our_own_measures_are_declared_as_plugins_must_be():
    refused = []
    for definition in definitions():
        try:
            _check_declaration(definition.name, definition.aliases, definition.kernel, definition.total)
        except ValueError as problem:
            refused.append(str(problem))

    assert [] == refused


def test_the_measures_of_all_files_are_there_when_one_is_asked_for():
    names = (
        "import assay.measures.core as core; before = set(core.REGISTRY); "
        "core.known_name('RBP'); print('RBP' in before, 'RBP' in core.REGISTRY, 'alpha_nDCG' in core.REGISTRY)"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import assay.measures; {names}"], capture_output=True, text=True, check=True
    )

    assert "False True True\n" == done.stdout
