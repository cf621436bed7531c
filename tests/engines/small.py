"""Small corpora that can be checked by hand, and how to search them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from assay.inputs.documents import Document
from assay.retrieval.base import Retriever
from assay.tables import Run

WINGS = (
    Document("lift", "the lift of wings in a slipstream", "Wings"),
    Document("heat", "heating of a blunt body"),
    Document("drag", "drag and lift of a blunt body"),
)


def corpus(documents: tuple[Document, ...] = WINGS) -> Callable[[], Iterator[Document]]:
    return lambda: iter(documents)


def search(
    retriever: Retriever,
    documents: tuple[Document, ...],
    queries: Mapping[str, str],
    folder: Path,
    depth: int = 10,
) -> Run:
    retriever.index(corpus(documents), folder)
    return retriever.search(folder, queries, depth)


def ranking(run: Run, query: str = "q") -> list[str]:
    """The documents of a query, in the order of the rows."""
    if query not in run.queries:
        return []
    return [str(doc) for doc in run.doc[run.query == run.queries.index(query)]]
