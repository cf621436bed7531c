"""BM25 and its variants on bm25s, with configurable parameters."""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from msgspec import Struct

from assay.errors import MissingExtraError, RetrievalError, did_you_mean
from assay.formats.numbers import real, show_value
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.analysis import (
    Analyser,
    analyser_settings,
    checked_language,
    lexical_notes,
    make_analyser,
    tantivy_library,
    terms_of,
)
from assay.retrieval.base import (
    NO_HITS,
    STRIDE,
    Hits,
    Progress,
    SearchesWhatItOpens,
    best_hits,
    distinct,
    expected,
    retriever,
    silent,
)
from assay.retrieval.indexes import StoredIndex, building, open_index, writing
from assay.retrieval.observing import Observed
from assay.tables import Ids, Run

METHODS = ("lucene", "robertson", "atire", "bm25l", "bm25+")
_WITH_DELTA = ("bm25l", "bm25+")


@retriever("BM25 on bm25s, with configurable parameters and variants", extra="lexical")
class BM25s(SearchesWhatItOpens, Struct, frozen=True):
    """BM25 with configurable parameters; the variants are those of Kamphuis et al. (2020)."""

    name: ClassVar[str] = "bm25s"

    k1: float = 1.5
    b: float = 0.75
    method: str = "lucene"
    delta: float = 0.5  # of bm25l and bm25+
    language: str = "english"

    def __post_init__(self) -> None:
        checked_language(self.language)
        if self.method not in METHODS:
            hint = did_you_mean(str(self.method), METHODS)
            raise RetrievalError(
                f"no BM25 variant called {self.method!r}{hint or '.'} Available: {', '.join(METHODS)}."
            )
        for name, high in (("k1", math.inf), ("b", 1.0), ("delta", math.inf)):
            value = getattr(self, name)
            if isinstance(value, bool) or real(value) is None or not 0 <= value <= high:
                allowed = "of at least 0" if high == math.inf else f"from 0 to {high:g}"
                raise RetrievalError(f"{name} cannot be {show_value(value)}; it takes a number {allowed}.")

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, parameters and analyser."""
        from importlib.metadata import version

        _bm25s()
        tantivy_library()  # its analyser
        return {
            "engine": "bm25s",
            "version": version("bm25s"),
            "model": "BM25",
            "method": self.method,
            "k1": float(self.k1),
            "b": float(self.b),
            **({"delta": float(self.delta)} if self.method in _WITH_DELTA else {}),
            "language": self.language,
            "analyser": {**analyser_settings(self.language), "tantivy": version("tantivy")},
        }

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Build the index in a folder, unless it exists; keeps only the term numbers of each document in memory."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            total = expected(documents, progress)
            analyser = make_analyser(self.language)
            ids: list[str] = []
            terms: list[array[int]] = []
            vocabulary: dict[str, int] = {}  # numbered in order of occurrence, so the index is the same each time
            for row, document in enumerate(distinct(documents())):
                ids.append(document.id)
                found = terms_of(document.whole, analyser)
                terms.append(array("i", [vocabulary.setdefault(term, len(vocabulary)) for term in found]))
                if row % STRIDE == 0:
                    tell("indexing", row, total)
            if vocabulary:
                engine = _bm25s().BM25(k1=self.k1, b=self.b, delta=self.delta, method=self.method, csc_backend="scipy")
                engine.index((terms, vocabulary), create_empty_token=False, show_progress=False)
                with writing(folder):
                    engine.save(build.folder / "bm25s", show_progress=False)
            tell("indexing", len(ids), len(ids))
            build.finish(ids)

    @contextmanager
    def open(self, folder: Path) -> Iterator[_BM25sSearcher]:
        """Open the index."""
        stored = open_index(folder, self.settings)
        place = stored.folder / "bm25s"
        there = place.is_dir()  # missing if no document has a term
        engine = _bm25s().BM25.load(place, load_corpus=False, show_progress=False) if there else None
        yield _BM25sSearcher(stored, engine, make_analyser(self.language))

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """What to set, if most queries are written without spaces, or find nothing."""
        return Observed(notes=lexical_notes(self.language, queries, run.queries))


class _BM25sSearcher(Struct, frozen=True):
    stored: StoredIndex
    engine: Any  # None if no document has a term
    analyser: Analyser

    @property
    def ids(self) -> Ids:
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        return [self._found(query.text, depth) for query in queries]

    def _found(self, text: str, depth: int) -> Hits:
        terms = self.engine.get_tokens_ids(terms_of(text, self.analyser)) if self.engine else []
        return _hits(self.engine, terms, self.stored, depth) if terms else NO_HITS


def _bm25s() -> Any:
    try:
        import bm25s
    except ImportError:
        raise MissingExtraError("the bm25s mode", "lexical") from None
    return bm25s


def _hits(engine: Any, terms: list[int], stored: StoredIndex, depth: int) -> Hits:
    """Score only matching documents: bm25l and bm25+ score all documents, and robertson scores can be negative."""
    scores = engine.get_scores_from_ids(terms)
    begin, rows = engine.scores["indptr"], engine.scores["indices"]
    matching = np.zeros(len(scores), np.bool_)
    for term in set(terms):
        matching[rows[begin[term] : begin[term + 1]]] = True
    matches = np.flatnonzero(matching)
    return best_hits(matches, scores[matches].astype(np.float64), stored.place, depth)
