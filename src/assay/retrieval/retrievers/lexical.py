"""BM25 on tantivy, with the index on disk and tantivy's fixed k1 and b."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from msgspec import Struct

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

if TYPE_CHECKING:
    import tantivy

_K1, _B = 1.2, 0.75  # fixed in tantivy's source; configurable in bm25s
_TEXT, _ROW, _ANALYSER = "text", "row", "assay"
# One thread and one commit always give the same segments, so results cannot depend on them. (On Vaswani and Cranfield
# no score did, with one segment or five.) Memory is allocated only as needed.
_HEAP = 1_000_000_000
# tantivy stores lengths in one byte, so many scores are equal: with one hit more than asked for, 7 of 10 queries at depth
# 1000 would have to be searched again, for the rest of the tie at the cutoff.
_SPARE, _LEAST_SPARE = 4, 32


@retriever("BM25 on tantivy, with k1 = 1.2 and b = 0.75", extra="lexical")
class TantivyBM25(SearchesWhatItOpens, Struct, frozen=True):
    """BM25 over title and text, with the stop words and stemmer of a language."""

    name: ClassVar[str] = "lexical"

    language: str = "english"

    def __post_init__(self) -> None:
        checked_language(self.language)

    @property
    def settings(self) -> Mapping[str, object]:
        """Engine, version, parameters and analyser."""
        from importlib.metadata import version

        tantivy_library()
        return {
            "engine": "tantivy",
            "version": version("tantivy"),
            "model": "BM25",
            "k1": _K1,
            "b": _B,
            "language": self.language,
            "analyser": analyser_settings(self.language),
        }

    def index(
        self, documents: Callable[[], Iterator[Document]], folder: Path, progress: Progress | None = None
    ) -> None:
        """Build the index in a folder, unless it exists; documents are streamed, not kept in memory."""
        tell = progress or silent
        with building(folder, self.settings) as build:
            if build is None:
                return
            total = expected(documents, progress)
            place = build.folder / "tantivy"
            with writing(folder):
                place.mkdir()
                writer = self._open(place).writer(heap_size=_HEAP, num_threads=1)
            ids, analyser = [], make_analyser(self.language)
            for row, document in enumerate(distinct(documents())):
                ids.append(document.id)
                added = tantivy_library().Document(text=analyser.prepared(document.whole), row=row)
                with writing(folder):
                    writer.add_document(added)
                if row % STRIDE == 0:
                    tell("indexing", row, total)
            with writing(folder):
                writer.commit()
                writer.wait_merging_threads()
            tell("indexing", len(ids), len(ids))
            build.finish(ids)

    @contextmanager
    def open(self, folder: Path) -> Iterator[_TantivySearcher]:
        """Open the index."""
        stored = open_index(folder, self.settings)
        index = self._open(stored.folder / "tantivy")
        yield _TantivySearcher(stored, index.schema, index.searcher(), make_analyser(self.language))

    def observe(self, folder: Path, queries: Mapping[str, str], run: Run, depth: int) -> Observed:
        """What to set, if most queries are written without spaces, or find nothing."""
        return Observed(notes=lexical_notes(self.language, queries, run.queries))

    def _open(self, place: Path) -> tantivy.Index:
        library = tantivy_library()
        fields = library.SchemaBuilder()
        fields.add_text_field(_TEXT, tokenizer_name=_ANALYSER, index_option="freq")
        fields.add_integer_field(_ROW, fast=True)
        index: tantivy.Index = library.Index(fields.build(), path=str(place))
        index.register_tokenizer(_ANALYSER, make_analyser(self.language).engine)
        return index


class _TantivySearcher(Struct, frozen=True):
    stored: StoredIndex
    schema: tantivy.Schema
    engine: tantivy.Searcher
    analyser: Analyser

    @property
    def ids(self) -> Ids:
        return self.stored.ids

    def find(self, queries: Sequence[Query], depth: int) -> list[Hits]:
        return [self._found(query.text, depth) for query in queries]

    def _found(self, text: str, depth: int) -> Hits:
        terms = Counter(terms_of(text, self.analyser))
        return _hits(self.engine, _query(self.schema, terms), self.stored, depth) if terms else NO_HITS


def _query(schema: tantivy.Schema, terms: Mapping[str, int]) -> tantivy.Query:
    """A query for any of the terms; repeated terms count as often as they occur."""
    library = tantivy_library()
    parts = []
    for term, times in terms.items():
        part = library.Query.term_query(schema, _TEXT, term, index_option="freq")
        parts.append((library.Occur.Should, part if times == 1 else library.Query.boost_query(part, float(times))))
    query: tantivy.Query = library.Query.boolean_query(parts)
    return query


def _hits(searcher: tantivy.Searcher, query: tantivy.Query, stored: StoredIndex, depth: int) -> Hits:
    """The best documents; if a tie crosses the cutoff, all tied documents are fetched and ordered by id.

    With count=True tantivy scores every match; otherwise it may skip matches that cannot reach the top. On three
    collections both gave the same scores at any depth, at the same speed; scoring every match does not rely on that.
    """
    wanted = depth + max(depth // _SPARE, _LEAST_SPARE)
    while True:
        hits = searcher.search(query, limit=min(wanted, max(len(stored), 1)), count=True).hits
        if len(hits) < wanted or hits[-1][0] < hits[depth - 1][0]:
            break
        wanted *= 2
    score = np.array([score for score, _ in hits], np.float64)
    if len(score) > depth:
        score = score[score >= score[depth - 1]]
    addresses = [address for _, address in hits[: len(score)]]
    row = np.array(searcher.fast_field_values(_ROW, addresses), np.int64)
    return best_hits(row, score, stored.place, depth)
