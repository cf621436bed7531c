"""An index is complete or absent: builders that fail, are killed, or run twice."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from assay.errors import RetrievalError
from assay.formats.writing import run_as_bytes
from assay.inputs.documents import Document
from assay.retrieval.indexes import StoredIndex, building, find_index, open_index
from assay.retrieval.modes import make_retriever
from assay.retrieval.retrievers.bm25s import BM25s
from assay.retrieval.retrievers.dense import VectorSearcher
from assay.retrieval.retrievers.lexical import TantivyBM25
from engines.small import WINGS, corpus, ranking

SETTINGS = {"engine": "x", "weights": (1, 2)}


def test_ids_come_back_byte_for_byte_and_in_their_order(tmp_path):
    ids = ["b", "\udce9", "a\nb", "é"]
    with building(tmp_path, SETTINGS) as build:
        build.finish(ids)

    stored = open_index(tmp_path, SETTINGS)

    assert ids == stored.ids.tolist()
    assert [2, 0, 3, 1] == stored.place.tolist()  # descending bytes: e9, c3 a9, "b", "a"


def test_an_index_that_is_not_there_is_told_from_one_under_other_settings(tmp_path):
    with pytest.raises(RetrievalError, match=r"no finished index\. Build it first"):
        open_index(tmp_path, SETTINGS)
    with building(tmp_path, SETTINGS) as build:
        build.finish([])
    with pytest.raises(RetrievalError, match=r"built with other settings\. Build it again"):
        open_index(tmp_path, {"engine": "y"})


def test_a_builder_that_fails_leaves_no_index(tmp_path):
    def documents():
        yield WINGS[0]
        raise ValueError("the disk is gone")

    with pytest.raises(ValueError, match="the disk is gone"):
        TantivyBM25().index(documents, tmp_path)

    assert find_index(tmp_path, TantivyBM25().settings) is None

    TantivyBM25().index(corpus(), tmp_path)

    assert ["heat"] == ranking(TantivyBM25().search(tmp_path, {"q": "heat"}, 5))


def test_a_finished_index_is_left_as_it_is(tmp_path):
    TantivyBM25().index(corpus(), tmp_path)
    TantivyBM25().index(lambda: pytest.fail("the documents were read again"), tmp_path)


def test_other_settings_build_it_anew(tmp_path):
    BM25s(k1=0.5).index(corpus(), tmp_path)
    BM25s(k1=2.0).index(corpus(), tmp_path)

    assert find_index(tmp_path, BM25s(k1=0.5).settings) is None
    assert find_index(tmp_path, BM25s(k1=2.0).settings) is not None


def test_a_mark_that_is_no_json_is_no_index(tmp_path):
    TantivyBM25().index(corpus(), tmp_path)
    (tmp_path / "index" / "index.json").write_text("{")
    TantivyBM25().index(corpus(), tmp_path)

    assert ["heat"] == ranking(TantivyBM25().search(tmp_path, {"q": "heat"}, 5))


@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_an_index_that_is_damaged_is_built_anew(mode, tmp_path):
    engine = make_retriever(mode)
    engine.index(corpus(), tmp_path)

    def files():  # tantivy gives them new names each time
        found = (path for path in (tmp_path / "index").rglob("*") if path.is_file() and path.suffix != ".lock")
        return sorted(found, key=lambda path: (path.suffix, path.name))

    for number in range(len(files())):
        path = files()[number]
        whole, damaged = path.read_bytes(), tmp_path / "damaged"
        damaged.write_bytes(whole[: len(whole) // 2] + b"?")
        damaged.replace(path)  # tantivy may still map the old file; truncating it would kill this process
        engine.index(corpus(), tmp_path)

        assert ["heat"] == ranking(engine.search(tmp_path, {"q": "heat"}, 5))
    (tmp_path / "index" / "ids.json").unlink()
    engine.index(corpus(), tmp_path)

    assert ["heat"] == ranking(engine.search(tmp_path, {"q": "heat"}, 5))


FULL_DISK = """
import resource, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from engines.small import corpus
from engines.test_indexes import {documents}
from assay.errors import RetrievalError
from assay.retrieval.modes import make_retriever
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    make_retriever({mode!r}).index(corpus({documents}), Path({folder!r}))
except RetrievalError as error:
    print(error)
"""


def said_on_a_full_disk(mode, documents, folder):
    """The error if files cannot grow beyond a limit, which simulates a full disk."""
    code = FULL_DISK.format(mode=mode, documents=documents, tests=str(Path(__file__).parents[1]), folder=str(folder))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)

    assert find_index(folder, make_retriever(mode).settings) is None
    return done.stdout


@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_a_disk_that_takes_no_more_is_said_in_our_words(mode, tmp_path):
    assert said_on_a_full_disk(mode, "MANY", tmp_path / "index").startswith(f"{tmp_path}/index: cannot be written: ")


def test_a_disk_that_takes_no_more_vectors_is_said_in_our_words(fresh_cache, tmp_path):
    in_the_cache = said_on_a_full_disk("vector", "SOME", tmp_path / "index")
    make_retriever("vector").index(corpus(SOME), tmp_path / "whole")
    in_the_index = said_on_a_full_disk("vector", "SOME", tmp_path / "index")

    assert in_the_cache.startswith(f"{fresh_cache}/embeddings/")
    assert in_the_cache.endswith(": cannot be written: File too large. Write to another place.\n")
    assert f"{tmp_path}/index/index.part: cannot be written: File too large. Write to another place.\n" == in_the_index


SOME = tuple(Document(f"d{number}", f"lift{number} and drag") for number in range(20))
MANY = tuple(Document(f"d{number}", f"lift{number % 97} drag{number % 11} body") for number in range(20_000))
BUILDER = """
import sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from engines.small import corpus
from engines.test_indexes import MANY
from assay.retrieval.modes import make_retriever
print("ready", flush=True)
make_retriever({mode!r}).index(corpus(MANY), Path({folder!r}))
"""


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["lexical", "bm25s"])
def test_a_builder_that_is_killed_at_any_moment_is_followed_by_one_that_gives_the_same(mode, tmp_path):
    queries = {"q1": "lift3 body", "q2": "drag7"}
    engine = make_retriever(mode)
    engine.index(corpus(MANY), tmp_path / "whole")
    expected = run_as_bytes(engine.search(tmp_path / "whole", queries, 100), "trec")[0]
    folder = tmp_path / "killed"
    code = BUILDER.format(tests=str(Path(__file__).parents[1]), mode=mode, folder=str(folder))
    killed = 0
    for delay in (0.0, 0.02, 0.05, 0.1, 0.2):
        with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as builder:
            builder.stdout.readline()
            time.sleep(delay)
            builder.send_signal(signal.SIGKILL)
        killed += find_index(folder, engine.settings) is None

    engine.index(corpus(MANY), folder)

    assert killed > 0
    assert expected == run_as_bytes(engine.search(folder, queries, 100), "trec")[0]


class Planted:
    """Creates a file when it is unpickled."""

    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return Path.touch, (self.trace,)


def test_code_planted_in_an_index_is_not_run(tmp_path):
    BM25s().index(corpus(), tmp_path)
    for place in (tmp_path / "vectors.npy", next(tmp_path.rglob("data.csc.index.npy"))):
        np.save(place, np.array([Planted(tmp_path / "trace")], object), allow_pickle=True)
    vectors = VectorSearcher(StoredIndex(tmp_path), None, "")

    with pytest.raises(ValueError, match="Python objects"):
        _ = vectors.vectors
    with pytest.raises(ValueError, match="pickle"):
        BM25s().search(tmp_path, {"q": "heat"}, 5)
    assert not (tmp_path / "trace").exists()
