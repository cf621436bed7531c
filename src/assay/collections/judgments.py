"""Judgments of a collection, valid or not: with numbers or ESCI letters, and with any column names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError
from assay.formats import read_qrels
from assay.formats.numbers import GRADE, grade
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.inputs.fields import Columns, Fields, Flaw, Names, RawRecord, scan_records
from assay.tables import Qrels
from assay.validation.findings import Finding
from assay.validation.validating import validate_qrels

ESCI: Mapping[str, float] = {"E": 3, "S": 2, "C": 1, "I": 0}
ESCI_WORDS: Mapping[str, float] = {"Exact": 3, "Substitute": 2, "Complement": 1, "Irrelevant": 0}
LETTERS = ", ".join(f"{letter} = {value:g}" for letter, value in ESCI.items())
NAMES: Names = {
    "query": ("query_id", "qid", "topic_id", "query"),
    "doc": ("doc_id", "docno", "document_id", "corpus_id", "passage_id", "product_id", "doc"),
    "rel": ("relevance", "rel", "label", "grade", "esci_label", "score"),
}
_GRADES: Mapping[str, float] = {**ESCI, **ESCI_WORDS}


class JudgmentFile(Struct, frozen=True):
    """The content of a judgment file."""

    qrels: Qrels | None  # None if it could not be read
    letters: str  # how letters were read, if there are any
    findings: tuple[Finding, ...]  # errors and warnings, as in `assay qrels validate`


class Judgment(Struct, frozen=True):
    """One row."""

    query: str
    doc: str
    rel: float
    is_letter: bool  # whether the grade is a letter in the file
    line: int | None


def read_judgments(path: Path) -> JudgmentFile:
    """The judgments of a file in any format; an error only if it cannot be opened."""
    qrels, letters = None, ""
    with suppress(InputError):
        qrels = read_qrels(path)
    is_plain = qrels is not None
    if not is_plain:
        with suppress(InputError):
            qrels, letters = read_qrels(path, grades=_GRADES), LETTERS
    # With letters, report only other problems.
    return JudgmentFile(qrels, letters, _findings(path, str(path), None if is_plain else _GRADES))


def judgments_from(rows: Sequence[Judgment], source: str) -> JudgmentFile:
    """The judgments of rows from `scan_judgments`."""
    if not rows:
        return JudgmentFile(None, "", ())
    lines = [row.line for row in rows if row.line is not None]
    qrels = Qrels.from_columns(
        [row.query for row in rows],
        [row.doc for row in rows],
        [row.rel for row in rows],
        source=source,
        lines=lines if len(lines) == len(rows) else None,
    )
    return JudgmentFile(qrels, LETTERS if any(row.is_letter for row in rows) else "", _findings(qrels, source, None))


def scan_judgments(content: Content, *, columns: Columns | None) -> Iterator[Judgment | Flaw]:
    """The rows of a table, with a flaw for each unreadable row."""
    fields = Fields(NAMES, columns, required=("query", "doc", "rel"))
    for record in scan_records(content):
        if isinstance(record, RawRecord) and (lack := fields.lack(record)):
            yield lack
            return  # all other rows lack it too
        yield record if isinstance(record, Flaw) else _judgment(fields, record)


def _judgment(fields: Fields, record: RawRecord) -> Judgment | Flaw:
    query, doc, given = fields.id(record, "query"), fields.id(record, "doc"), fields.value(record, "rel")
    if isinstance(query, Flaw):
        return replace(query, kind="columns", what=f"{query.what} of a query")
    if isinstance(doc, Flaw):
        return replace(doc, kind="columns", what=f"{doc.what} of a document")
    rel = grade(given, _GRADES)
    if rel is None:
        return Flaw("columns", f"the grade {GRADE.why(given)}", GRADE.advice, record.line)
    return Judgment(query, doc, rel, isinstance(given, str) and given in _GRADES, record.line)


def _findings(judgments: Any, file: str, grades: Mapping[str, float] | None) -> tuple[Finding, ...]:
    found = validate_qrels(judgments, reading=Reading(grades=grades or {})).findings
    return tuple(replace(finding, file=file) for finding in found if finding.severity != "note")
