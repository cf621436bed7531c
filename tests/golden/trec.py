"""Run `assay trec_eval` as a function and read golden files."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

from assay.compat.trec_eval import main


def trec_eval(*arguments: object) -> tuple[int, str, str]:
    """Exit code, standard output, standard error."""
    out, complaints = io.StringIO(), io.StringIO()
    code = main([str(argument) for argument in arguments], out, complaints)
    return code, out.getvalue(), complaints.getvalue()


def golden_cases(folder: Path) -> list[dict]:
    return json.loads((folder / "index.json").read_text())


def check_golden(folder: Path, case: dict) -> None:
    """Everything that the real program printed except the runid line, which the golden files leave out."""
    code, out, _ = trec_eval("--as", case["trec_eval"], *case["args"], folder / case["qrels"], folder / case["run"])
    lines = [line for line in out.splitlines() if not line.startswith("runid")]

    assert case["exit"] == code
    assert gzip.decompress((folder / case["stdout"]).read_bytes()).decode().splitlines() == lines
