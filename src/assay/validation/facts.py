"""Facts about a whole file after reading it: the input of rules with the scope `file`."""

from __future__ import annotations

from collections import Counter
from functools import cached_property

import numpy as np
from msgspec import Struct, field

from assay.tables import Qrels
from assay.validation.causes import Compared, Remedy, compared
from assay.validation.findings import FindingExample, Tally


class Options(Struct, frozen=True):
    """The options of a validation."""

    max_depth: int | None = None
    six_columns: bool = False
    graver: frozenset[str] = frozenset()  # codes that a profile makes errors


class Partners(Struct, frozen=True, dict=True):
    """The judgments and topics that a file is checked against."""

    qrels: Qrels | None = None
    topics: frozenset[str] | None = None

    @cached_property
    def judged(self) -> dict[str, dict[bytes, float]]:
        """Query -> document -> grade, with documents as the bytes in the file."""
        found: dict[str, dict[bytes, float]] = {}
        if self.qrels is None:
            return found
        queries, docs = self.qrels.queries, self.qrels.doc.tolist()
        for query, doc, rel in zip(self.qrels.query.tolist(), docs, self.qrels.rel.tolist(), strict=True):
            found.setdefault(queries[query], {})[doc.encode("utf-8", "surrogateescape")] = rel
        return found


class FileFacts(Struct):
    """Facts about any file."""

    file: str
    format: str
    lines: int = 0
    rows: int = 0
    comments: int = 0
    width: int | None = None
    layout: tuple[str, ...] = ()
    ended: bool = True  # whether the last line has a line end
    encodings: set[str] = field(default_factory=set)
    options: Options = Options()
    partners: Partners = Partners()
    damaged: set[str] = field(default_factory=set)  # queries with rows that could not be read
    apart: int = 0  # queries whose rows are not grouped together
    first_apart: str | None = None


class RunFacts(FileFacts, Struct, dict=True):
    """Facts about a run."""

    depths: dict[str, int] = field(default_factory=dict)  # query -> documents
    tags: Counter[str] = field(default_factory=Counter)
    tag_lines: dict[str, int | None] = field(default_factory=dict)  # tag -> its first line
    same_lists: dict[int, list[str]] = field(default_factory=dict)  # digest of a ranking -> the first queries with it
    tied: Tally = field(default_factory=Tally)  # queries with tied scores
    straddling: Counter[int] = field(default_factory=Counter)  # cutoff -> queries with a tie across it
    has_scores: bool = True
    has_ranks: bool = True
    incomplete: FindingExample | None = None  # the comment that says so

    differences: Counter[Remedy] = field(default_factory=Counter)  # of documents that would match a judged one

    @property
    def queries(self) -> frozenset[str]:
        """The queries of the run."""
        return frozenset(self.depths)

    @cached_property
    def beside_judged(self) -> Compared:
        """The queries against the judged ones."""
        return compared(self.queries, frozenset(self.partners.judged))

    @cached_property
    def beside_topics(self) -> Compared:
        """The queries against the topics."""
        return compared(self.queries, self.partners.topics or frozenset())


class QrelsFacts(FileFacts, Struct, dict=True):
    """Facts about judgments."""

    grades: dict[str, list[float]] = field(default_factory=dict)  # query -> grades
    first_line: dict[str, int | None] = field(default_factory=dict)  # query -> its first line
    iterations: set[str] = field(default_factory=set)

    @property
    def queries(self) -> frozenset[str]:
        """The judged queries."""
        return frozenset(self.grades)

    @cached_property
    def beside_topics(self) -> Compared:
        """The judged queries against the topics."""
        return compared(self.queries, self.partners.topics or frozenset())

    @cached_property
    def scale(self) -> Counter[float]:
        """How often each grade is used."""
        values, counts = np.unique(np.concatenate([*self.grades.values(), []]), return_counts=True)
        return Counter(dict(zip(values.tolist(), counts.tolist(), strict=True)))
