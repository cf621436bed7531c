"""A newcomer adds a measure, a rule, a retriever or a command in one file each: done here in a copy of the source.

What follows from the file (names, help, exports, stubs, reference pages) is generated or found; nothing else is edited.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.example import QRELS, RUNS
from benchmark.collection import write_collection

ROOT = Path(__file__).parents[2]

MEASURE = '''

@measure("LastRelevant", bounds=None)
def LastRelevant(judged: JudgedRanking, *, rel: float = 1) -> PerQuery:
    """Rank of the last relevant document that was retrieved.

    Formula: the highest rank of a relevant document, 0 if there is none.

    Example: relevant documents at ranks 2, 3 and 6: LastRelevant = 6.
    """
    last = np.zeros(len(judged))
    hits = judged.relevant_hits(rel)
    np.maximum.at(last, judged.hit_query[hits], judged.hit_rank[hits])
    return last
'''

RULE = '''

@rule("RUN999", "file", "warning", "the run is called 'keyword'", fix="Choose a name that says more.")
def called_keyword(facts: RunFacts) -> Iterator[Said]:
    """The run's only tag is 'keyword'.

    Why: nobody will know which one it was.
    Example: 1 Q0 d3 1 9.5 keyword
    """
    if list(facts.tags) == ["keyword"]:
        yield Said("the run is called 'keyword'")
'''

RETRIEVER = '''"""Documents by how many words of the query they share."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import numpy as np
from msgspec import Struct

from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.base import Hits, Progress, SearchesWhatItOpens, best_hits, distinct, retriever
from assay.retrieval.indexes import StoredIndex, building, open_index
from assay.tables import Ids


@retriever("documents that share the most words with the query")
class Overlap(SearchesWhatItOpens, Struct, frozen=True):
    """Counts shared words."""

    name: ClassVar[str] = "overlap"

    shortest: int = 1  # letters of a word that counts

    @property
    def settings(self) -> Mapping[str, object]:
        """What decides the result."""
        return {"engine": "overlap", "shortest": self.shortest}

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Keep the words of each document."""
        with building(folder, self.settings) as build:
            if build is None:
                return
            words = {document.id: document.whole.lower().split() for document in distinct(documents())}
            (build.folder / "words.json").write_text(json.dumps(list(words.values())))
            build.finish(list(words))

    @contextmanager
    def open(self, folder: Path) -> Iterator[OverlapSearcher]:
        """The index, ready to be asked."""
        stored = open_index(folder, self.settings)
        yield OverlapSearcher(stored, json.loads((stored.folder / "words.json").read_text()), self.shortest)


class OverlapSearcher(Struct, frozen=True):
    """Words of each document, in memory."""

    stored: StoredIndex
    words: list[list[str]]
    shortest: int

    @property
    def ids(self) -> Ids:
        """The ids of the documents."""
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        """The documents that share a word with each query."""
        asked = [{word for word in query.text.lower().split() if len(word) >= self.shortest} for query in queries]
        scores = [np.array([len(words.intersection(known)) for known in self.words], float) for words in asked]
        found = [np.flatnonzero(score) for score in scores]
        return [best_hits(row, score[row], self.stored.place, depth) for row, score in zip(found, scores, strict=True)]
'''

COMMAND = '''"""assay hello."""

from __future__ import annotations

import click

from assay.cli import write

SECTION = "Learn"


@click.command("hello", epilog="Example: assay hello Ada")
@click.argument("name")
def command(name: str) -> None:
    """Greet somebody by NAME."""
    write(f"Hello, {name}.\\n")
'''


class Copy:
    """A copy of the source that may be changed."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        shutil.copytree(ROOT / "src" / "assay", folder / "src" / "assay", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(ROOT / "docs", folder / "docs", ignore=shutil.ignore_patterns("__pycache__"))

    def add(self, path: str, text: str) -> None:
        """The one change: a new file, or more at the end of an old one."""
        with (self.folder / "src" / "assay" / path).open("a", encoding="utf-8") as file:
            file.write(text)

    def run(self, *arguments: object, status: int = 0) -> str:
        """What Python prints there."""
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(self.folder / "src"), "COLUMNS": "100"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert status == done.returncode, done.stderr
        return done.stdout

    def assay(self, *arguments: object, status: int = 0) -> str:
        """What a command prints."""
        return self.run("-m", "assay", *arguments, status=status)

    def generated(self, path: str) -> str:
        """A page or stub after `make docs`."""
        self.run("docs/generate.py")
        return (self.folder / path).read_text(encoding="utf-8")


@pytest.fixture
def copy(tmp_path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_a_measure(copy):
    copy.add("measures/families/binary.py", MEASURE)

    assert "LastRelevant" in copy.assay("measures", "list")
    assert "LastRelevant" in copy.assay("evaluate", QRELS, RUNS[0], "-m", "LastRelevant")
    assert "True\n" == copy.run(
        "-c", "from assay.measures import *; print(LastRelevant == parse_measure('LastRelevant'))"
    )
    assert "\nLastRelevant: Measure\n" in copy.generated("src/assay/measures/__init__.pyi")
    assert "\n### LastRelevant\n" in copy.generated("docs/reference/measures.md")


@pytest.mark.slow
def test_a_rule(copy):
    copy.add("validation/run_rules.py", RULE)

    assert "RUN999" in copy.assay("runs", "validate", RUNS[0])
    assert "nobody will know" in copy.assay("explain", "RUN999")
    assert "RUN999" in copy.generated("docs/reference/findings.md")


@pytest.mark.slow
def test_a_retriever(copy):
    copy.add("retrieval/retrievers/overlap.py", RETRIEVER)
    collection = write_collection(copy.folder / "kitchen")

    table = copy.assay("benchmark", "run", "--collection", collection, "--modes", "overlap,lexical", "-m", "RR")
    assert "overlap" in table.splitlines()[2]
    assert "overlap" in copy.assay("benchmark", "run", "--help")
    copy.assay("benchmark", "init", "recipe.toml")
    assert re.search("\n#   overlap +documents that share", (copy.folder / "recipe.toml").read_text())
    assert "| `overlap` | documents that share the most words with the query | `shortest` = 1 |" in copy.generated(
        "docs/reference/modes.md"
    )


@pytest.mark.slow
def test_a_command(copy):
    copy.add("cli/commands/hello.py", COMMAND)

    assert "Hello, Ada.\n" == copy.assay("hello", "Ada")
    assert "hello        Greet somebody by NAME." in copy.assay("--help")
    assert "\n## assay hello\n" in copy.generated("docs/reference/cli.md")
