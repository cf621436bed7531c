"""What editors and type checkers see of assay: mypy reads a program as a user would write it."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

GOOD = """
    from pathlib import Path

    import pandas
    import polars

    import assay
    from assay.measures import alpha_nDCG, nDCG

    frame = pandas.DataFrame({"query": ["q"], "doc": ["a"], "rel": [1]})
    result = assay.evaluate({"q": {"a": 1}}, Path("run.txt"), [nDCG @ 10, "AP"])
    assay.evaluate(frame, polars.DataFrame(), [alpha_nDCG])
    reveal_type(result.mean()["AP"])
    study = assay.Study(test="permutation", alternative="greater")
    comparison = assay.compare("qrels.txt", {"a": "a.run", "b": {"q": {"a": 1.0}}}, study=study, segments="length")
    reveal_type(comparison.pairs[0].verdict)
    assay.score(["a", "b"], {"a"}, scores=[2.0, 1.0])
    assay.score({"a": 0.5}, {"a": 3})
    reveal_type(assay.errors.InputError("x").line)
    """
BAD = """
    import assay

    assay.evaluate(3, "run.txt")
    assay.evaluate("qrels.txt", ["run.txt"])
    assay.compare("qrels.txt", ["a.run", "b.run"], test="sign")
    assay.Study(alternative="up")
    assay.Rules(ties="random")
    """


def mypy(code: str, folder) -> list[str]:
    (folder / "program.py").write_text(dedent(code))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_types_help_those_who_use_them_and_stop_those_who_misuse_them(tmp_path):
    pytest.importorskip("mypy")

    notes = mypy(GOOD, tmp_path)
    assert ["float", "Literal", "int | None"] == [
        next(word for word in ("Literal", "float", "int | None") if word in note) for note in notes
    ]
    errors = mypy(BAD, tmp_path)
    assert [4, 5, 6, 7, 8] == sorted({int(line.split(":")[1]) for line in errors if ": error: " in line})
