"""Ids are data everywhere: one file of hostile ids through every renderer."""

from __future__ import annotations

import json

import pytest

from assay.report.evaluation import RENDERERS
from cli.command import assay

HOSTILE = [
    "[red]x[/red]",
    "a|b",
    "<script>alert(1)</script>",
    "\\textbf{x}",
    "100%_&$#",
    "\x1b[31mred",
    "é",
    "=1+1",
    "`x`",
]
NOT_UTF8 = b"caf\xe9"


@pytest.fixture
def files(tmp_path):
    ids = [text.encode() for text in HOSTILE] + [NOT_UTF8]
    (tmp_path / "qrels").write_bytes(b"".join(b"%s 0 d 1\n" % text for text in ids))
    (tmp_path / "run").write_bytes(b"".join(b"%s Q0 d 1 1.0 t\n" % text for text in ids))
    return tmp_path / "qrels", tmp_path / "run"


@pytest.mark.parametrize("renderer", RENDERERS)
def test_every_renderer_shows_them_as_data(files, renderer):
    done = assay("evaluate", *files, "-m", "RR", "--per-query", "--format", renderer)

    assert 0 == done.returncode
    assert (renderer in ("csv", "tsv")) == done.stderr.startswith("Note: a spreadsheet would run '=1+1' as a formula.")
    if renderer in ("table", "markdown", "latex"):
        assert "\x1b" not in done.stdout
        assert "caf\\xe9" in done.stdout.replace("\\\\", "\\").replace("\\textbackslash{}", "\\")
    if renderer == "table":
        assert "[red]x[/red]" in done.stdout
    if renderer == "markdown":
        assert "a\\|b" in done.stdout
        assert "<script>" not in done.stdout.replace("\\<", "")
    if renderer == "latex":
        assert "100\\%\\_\\&\\$\\#" in done.stdout
    if renderer == "json":
        assert len(HOSTILE) + 1 == len(json.loads(done.stdout)["runs"][0]["queries"])
    if renderer in ("csv", "tsv", "trec"):
        assert "caf\udce9" in done.stdout  # the original bytes


def test_hostile_run_names(files, tmp_path):
    qrels, run = files
    done = assay("evaluate", qrels, f"[bold]\x1b[31m|x={run}", "-m", "RR")

    assert "[bold]\\x1b[31m|x" in done.stdout


def test_trec_eval_prints_ids_as_the_bytes_they_were(files):
    assert "caf\udce9" in assay("trec_eval", "-q", "-m", "map", *files).stdout
