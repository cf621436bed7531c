"""Every command of the README works with 4 GB of address space, as in a small container."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from assay import collections, example
from fetching.serving import elasticsearch, serving

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs ulimit -v")

README = Path(__file__).parents[2] / "README.md"
COMMANDS = [
    re.sub(r"\s+#.*", "", line.removeprefix("$ "))
    for block in re.findall(r"```console\n(.*?)```", README.read_text(), re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ assay ")
]
ALLOWED = {"assay gate": {0, 1, 3}, "assay reproduce": {0, 1}}  # an answer may be no; the others must be done


MADE_OF = {
    "keyword": ("keyword.run", "bm25.run", "main.run", "run.txt", "before.run"),
    "hybrid": ("hybrid.run", "dense.run", "new.run", "after.run", "exact.run"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files that the README names, made of the example's."""
    for name, copies in MADE_OF.items():
        for copy in copies:
            shutil.copyfile(example.FOLDER / f"{name}.run", tmp_path / copy)
    shutil.copyfile(example.QRELS, tmp_path / "qrels.txt")
    (tmp_path / "bm25.run.gz").write_bytes(gzip.compress((tmp_path / "bm25.run").read_bytes()))
    queries = dict.fromkeys(line.split()[0] for line in (tmp_path / "qrels.txt").read_text().splitlines())
    (tmp_path / "kinds.csv").write_text("query,kind\n" + "".join(f"{query},{len(query)}\n" for query in queries))
    (tmp_path / "queries.tsv").write_text("".join(f"{query}\twhat is {query}\n" for query in queries))
    (tmp_path / "searches.txt").write_text("".join(f"what is {place % 7}\n" for place in range(99)))
    embedded = Path(collections.__file__).parent / "embedded" / "insurance"
    shutil.copytree(embedded, tmp_path / "my-collection")
    return tmp_path


def test_the_readme_has_commands() -> None:
    assert {"evaluate", "verify", "trec_eval", "compare", "gate", "benchmark"} <= {each.split()[1] for each in COMMANDS}


@pytest.fixture
def engine() -> Iterator[str]:
    """The address of a server that speaks as Elasticsearch does."""
    with serving(elasticsearch) as server:
        yield server.address


def test_every_command_works_with_4_gb(folder: Path, engine: str) -> None:
    for command in COMMANDS:
        if "examples/" in command:
            continue  # needs models that are not on every machine
        words = command.replace("assay ", f"'{sys.executable}' -m assay ", 1)
        words = words.replace("--output report", "--output benchmark")  # there is a report of this name already
        words = words.replace("http://localhost:9200", engine)
        done = subprocess.run(
            ["bash", "-c", f"ulimit -v 4000000; exec {words}"],
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "ASSAY_MODELS": str(folder / "no-models"), "HF_HUB_OFFLINE": "1"},
            check=False,
        )

        assert done.returncode in ALLOWED.get(" ".join(command.split()[:2]), {0}), (command, done.stderr)
    for page in (folder / "report" / "EvaluationReport.html", folder / "benchmark" / "BenchmarkReport.html"):
        text = page.read_text()
        assert "<svg" in text or "Charts are shown as text: " in text
