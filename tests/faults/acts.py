"""Writes that no command does alone, in the current folder."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import numpy as np
from msgspec import Struct

from assay.benchmark.steps import workspace
from assay.errors import AssayError
from assay.files import write_blocks
from assay.inputs.documents import Document
from assay.journal import Journal
from assay.records import storing
from assay.retrieval.embeddings import EmbeddingStore, text_digest
from assay.retrieval.modes import make_retriever
from records.rewriting import experiment, render

DOCUMENTS = [Document(f"d{number}", text=f"word{number} common") for number in range(20)]
TEXTS = ("one", "two", "three")


def blocks() -> None:
    write_blocks("file", (letter * 20_000 for letter in (b"a", b"b", b"c")))


def report() -> None:
    storing.write_reports("report", *experiment(2), render)


def report_without_a_swap() -> None:
    storing.exchange = lambda one, other: False
    report()


def report_where_folders_cannot_be_moved() -> None:
    """As where the folder is a mount: its files are replaced one by one."""

    def refuse(*given):
        raise OSError(errno.EBUSY, "Device or resource busy")

    storing.exchange = lambda one, other: False
    os.rename = refuse
    report()


def report_in_the_folder_we_stand_in() -> None:
    os.chdir("report")
    storing.write_reports(".", *experiment(2), render)


def lexical_index() -> None:
    make_retriever("lexical").index(lambda: iter(DOCUMENTS), Path("indexes"))


def bm25s_index() -> None:
    make_retriever("bm25s").index(lambda: iter(DOCUMENTS), Path("indexes"))


def vectors() -> None:
    """Two of three vectors are added to a store that has the first."""
    store = EmbeddingStore(Path("vectors"), 4)
    store.add([text_digest(text) for text in TEXTS[1:]], np.array([[2] * 4, [3] * 4], np.float32))


def steps() -> None:
    with workspace("out") as space:
        space.begin("new", "2025-01-31")
        space.finish("search", "new", space.write({"runs/new.run": b"new" * 1000}))
        space.keep_only(["search"])


class Answer(Struct, frozen=True):
    words: str


def journal() -> None:
    """Two answers are added to a journal that has one; if one cannot be kept, the other is tried all the same."""
    with Journal(Path("journal.jsonl"), Answer) as kept:
        failures = []
        for name in ("two", "three"):
            try:
                kept.add(name, Answer(name * 20))
            except AssayError as error:
                failures.append(error)
    if failures:
        raise failures[0]
