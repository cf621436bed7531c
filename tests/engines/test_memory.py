"""The corpus is streamed, not kept: measured by the peak memory of a separate process."""

from __future__ import annotations

import subprocess
import sys

import pytest

MEASURE = """
import random, resource, sys
from pathlib import Path
from assay.inputs.documents import Document
from assay.retrieval.modes import make_retriever

WORDS = [f"word{number}x" for number in range(800)]

def documents():
    chance = random.Random(1)
    for number in range(10_000):
        yield Document(f"d{number}", " ".join(chance.choices(WORDS, k=1200)))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

engine = make_retriever(sys.argv[1])
engine.index(lambda: iter([Document("a", "b c")]), Path(sys.argv[2], "warm"))
before = peak()
engine.index(documents, Path(sys.argv[2], "whole"))
print(peak() - before, sum(len(document.text) for document in documents()) >> 20)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="ru_maxrss is counted in other units elsewhere")
def test_a_corpus_is_indexed_in_less_memory_than_it_takes_itself(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", MEASURE, "lexical", str(tmp_path)], capture_output=True, check=True, text=True
    )
    grown, corpus = map(int, done.stdout.split())

    assert corpus > 90
    assert grown < corpus
