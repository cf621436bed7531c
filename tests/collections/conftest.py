"""Small collections in folders: a valid one, and broken ones made from it."""

from __future__ import annotations

import bz2
import gzip
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeAlias

import pytest

Files: TypeAlias = Mapping[str, str | bytes | None]  # None: missing
Make: TypeAlias = Callable[..., Path]

CORPUS = (
    '{"_id": "d1", "title": "Rice", "text": "Rinse it twice."}\n'
    '{"_id": "d2", "title": "", "text": "Noodles need salt."}\n'
    '{"_id": "d3", "title": "Tea", "text": "Pour water over the leaves."}\n'
)
QUERIES = '{"_id": "q1", "text": "how to cook rice"}\n{"_id": "q2", "text": "green tea"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"
GOOD: Files = {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS}


def written(folder: Path, files: Files) -> Path:
    """These files in a folder, compressed according to their names."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        if text is None:
            continue
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(PACKED.get(path.suffix, bytes)(data))
    return folder


def zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.compress(data)


PACKED: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.compress, ".bz2": bz2.compress, ".zst": zstd}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """A folder with a valid collection, except for the given files."""

    def making(changes: Files | None = None, *, name: str = "kitchen") -> Path:
        return written(tmp_path / name, {**GOOD, **(changes or {})})

    return making


@pytest.fixture
def lay(tmp_path: Path) -> Make:
    """A folder with these files and no others."""

    def laying(files: Files, *, name: str = "kitchen") -> Path:
        return written(tmp_path / name, files)

    return laying
