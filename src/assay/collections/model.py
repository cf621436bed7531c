"""A test collection as a value. Its documents stay in their files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from msgspec import Struct

from assay.inputs.documents import Document, read_documents
from assay.inputs.fields import Columns
from assay.tables import Qrels
from assay.validation.findings import Finding
from assay.words import number_of


class Collection(Struct, frozen=True, eq=False):
    """Documents with their queries and judgments.

    `queries` has the judged queries of this split. A corpus of several files has one entry in `files` for each:
    "corpus/1", "corpus/2" and so on.
    """

    name: str
    split: str
    queries: Mapping[str, str]  # id -> text, in the order of the file
    qrels: Qrels
    files: Mapping[str, Path]  # role (corpus, queries, qrels) -> path
    findings: tuple[Finding, ...] = ()  # warnings and notes, the most severe first
    size: int = 0  # number of documents
    columns: Columns | None = None  # field names of documents, if given
    letters: Mapping[str, float] = {}  # letter -> grade, if the judgments are letters

    def __repr__(self) -> str:
        return f"Collection({self.name!r}, {self.split!r}, {number_of(len(self.queries), 'query')}, {number_of(self.size, 'document')})"

    def documents(self) -> Iterator[Document]:
        """The documents in file order; each call reads the files again."""
        for role, path in self.files.items():
            if role.partition("/")[0] == "corpus":
                yield from read_documents(path, columns=self.columns)
