"""Readers and measures written a third time: slow, obvious and exact. They share no code with assay.

The readers know the plain part of each format. Where they meet anything else they are not sure, and nothing is compared.
Values are fractions; only the logarithms of nDCG are not exact.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, NamedTuple


class Refused(Exception):
    """No reader should accept this."""


class NotSure(Exception):
    """It is not plain: there may be a value or an error."""


class Judgment(NamedTuple):
    query: bytes
    doc: bytes
    grade: float


class Retrieved(NamedTuple):
    query: bytes
    doc: bytes
    score: float


MEASURES = ("P@5", "R@5", "AP", "RR", "nDCG@10", "Judged@5", "Bpref", "Success@1", "NumRet", "NumRel", "NumRelRet")


# Measures


def values(
    judgments: Sequence[Judgment], run: Sequence[Retrieved], ties: str, duplicates: str
) -> dict[bytes, list[float]]:
    """The measures of each judged query; a query that the run does not answer counts as 0."""
    pairs = [(row.query, row.doc) for row in judgments]
    if not judgments or not run or len(set(pairs)) < len(pairs):
        raise Refused
    grades: dict[bytes, dict[bytes, float]] = {}
    for row in judgments:
        grades.setdefault(row.query, {})[row.doc] = row.grade
    if not grades.keys() & {row.query for row in run}:
        raise Refused
    return {
        query: [float(value) for value in _of_query(_ranking(run, query, ties, duplicates), grades[query])]
        for query in sorted(grades)
    }


def _ranking(run: Sequence[Retrieved], query: bytes, ties: str, duplicates: str) -> list[bytes]:
    rows: dict[bytes, float] = {}
    for row in run:
        if row.query != query or (row.doc in rows and duplicates == "first"):
            continue
        if row.doc in rows:
            raise Refused
        rows[row.doc] = row.score
    docs = sorted(rows) if ties == "doc-asc" else sorted(rows, reverse=True) if ties == "doc-desc" else list(rows)
    return sorted(docs, key=lambda doc: -rows[doc])


def _of_query(ranking: list[bytes], grades: Mapping[bytes, float]) -> list[Fraction | float]:
    relevant = {doc for doc, grade in grades.items() if grade >= 1}
    found = [rank for rank, doc in enumerate(ranking, 1) if doc in relevant]
    precisions = [Fraction(number, rank) for number, rank in enumerate(found, 1)]
    judged_at_5 = sum(doc in grades for doc in ranking[:5])
    return [
        Fraction(sum(rank <= 5 for rank in found), 5),
        _share(sum(rank <= 5 for rank in found), len(relevant)),
        sum(precisions, Fraction(0)) / len(relevant) if relevant else Fraction(0),
        Fraction(1, found[0]) if found else Fraction(0),
        _ndcg(ranking[:10], grades),
        _share(judged_at_5, min(5, len(ranking))),
        _bpref(ranking, grades, relevant),
        Fraction(1 in found),
        Fraction(len(ranking)),
        Fraction(len(relevant)),
        Fraction(len(found)),
    ]


def _share(part: int, whole: int) -> Fraction:
    return Fraction(part, whole) if whole else Fraction(0)


def _ndcg(ranking: list[bytes], grades: Mapping[bytes, float]) -> float:
    def dcg(gains: list[float]) -> float:
        parts = [Fraction(max(gain, 0)) / Fraction(math.log2(rank + 1)) for rank, gain in enumerate(gains, 1)]
        return float(sum(parts, Fraction(0)))

    best = dcg(sorted(grades.values(), reverse=True)[:10])
    return dcg([grades.get(doc, 0.0) for doc in ranking]) / best if best else 0.0


def _bpref(ranking: list[bytes], grades: Mapping[bytes, float], relevant: set[bytes]) -> Fraction:
    """Of each relevant document, the share of the first nonrelevant ones that it is above (trec_eval's formula)."""
    others = {doc for doc, grade in grades.items() if 0 <= grade < 1}
    total, above = Fraction(0), 0
    for doc in ranking:
        if doc in others:
            above += 1
        elif doc in relevant:
            bound = min(len(relevant), len(others))
            total += 1 - Fraction(min(above, len(relevant)), bound) if above else 1
    return total / len(relevant) if relevant else Fraction(0)


# Numbers


def _number(text: bytes) -> float:
    if not re.fullmatch(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", text):
        raise Refused
    value = float(text)
    if not math.isfinite(value):
        raise Refused
    return value


def _rank(text: bytes) -> int:
    if not re.fullmatch(rb"[0-9]+", text) or not 1 <= int(text) < 2**63 - 1:
        raise Refused
    return int(text)


def _python_number(value: Any) -> float:
    """Of JSON and of Python: plain integers and floats; text and others may be numbers, too."""
    if type(value) not in (int, float):
        raise NotSure
    if type(value) is float and not math.isfinite(value):
        raise Refused
    try:
        return float(value)
    except OverflowError:
        raise Refused from None


def _python_id(value: Any) -> bytes:
    if type(value) is not str or any(0xD800 <= ord(character) <= 0xDFFF for character in value):
        raise NotSure
    if not value:
        raise Refused
    return value.encode()


# Text

_BLANKS = b" \t\n\r\v\f"
_OTHERS = (
    b"PK\x03\x04",
    b"7z\xbc\xaf",
    b"\x04\x22\x4d\x18",
    b"\x1f\x9d",
    b"SQLite format 3",
    b"%PDF",
    b"\xff\xfe",
    b"\xfe\xff",
)
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"\x28\xb5\x2f\xfd")
_QUERY_NAMES = (b"query", b"qid", b"topic", b"qry")


def _lines(data: bytes) -> list[bytes]:
    """The lines of a text, without their ends."""
    if data.startswith(_PACKED):
        raise NotSure
    if data.startswith(_OTHERS) or b"\0" in data:
        raise Refused
    text = data.removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"\xef\xbb\xbf") or b"\n\xef\xbb\xbf" in text:
        raise Refused
    return text.split(b"\n")


def _rows(data: bytes, width: int, *, or_more: bool = False) -> list[list[bytes]]:
    """The columns of all lines of data, which are equally many."""
    rows: list[list[bytes]] = []
    for line in _lines(data):
        if b"\r" in line.rstrip(b"\r"):
            raise Refused
        tokens = re.findall(rb"[^ \t\n\r\v\f]+", line)
        if line.startswith(b"#") or not tokens:
            continue
        if not rows and any(name in token.lower() for token in tokens for name in _QUERY_NAMES):
            raise NotSure  # perhaps a header
        if or_more and not rows and len(tokens) > width:
            width = len(tokens)
        if len(tokens) != width:
            raise Refused
        rows.append(tokens)
    return rows


def _table(data: bytes, delimiter: bytes, value: tuple[bytes, ...]) -> list[tuple[bytes, bytes, bytes]]:
    """Query, document and value of a table whose header has the usual names."""
    lines = _lines(data)
    if not data.isascii() or re.search(rb'["\r\v\f\x1c-\x1f]|[ \t]\n|\n[ \t]|, | ,', data) or b"" in lines[:-1]:
        raise NotSure
    names = lines[0].split(delimiter)
    known = {b"query_id": "query", b"doc_id": "doc", **dict.fromkeys(value, "value")}
    roles = [known.get(name, "") for name in names]
    if sorted(roles) != ["doc", "query", "value"]:
        raise NotSure
    rows = [line.split(delimiter) for line in lines[1:] if line]
    if any(len(row) != 3 for row in rows):
        raise Refused
    found = [dict(zip(roles, (field.strip(b" \t") for field in row), strict=True)) for row in rows]
    if not all(row["query"] and row["doc"] for row in found):
        raise Refused
    return [(row["query"], row["doc"], row["value"]) for row in found]


def trec_qrels(data: bytes) -> list[Judgment]:
    return [Judgment(query, doc, _number(grade)) for query, _, doc, grade in _rows(data, 4)]


def trec_run(data: bytes) -> list[Retrieved]:
    return [Retrieved(row[0], row[2], _number(row[4])) for row in _rows(data, 6, or_more=True)]


def beir_qrels(data: bytes) -> list[Judgment]:
    return [Judgment(query, doc, _number(grade)) for query, doc, grade in _rows(data, 3)]


def beir_run(data: bytes) -> list[Retrieved]:
    return [Retrieved(query, doc, _number(score)) for query, doc, score in _rows(data, 3)]


def msmarco_run(data: bytes) -> list[Retrieved]:
    rows = [(query, doc, _rank(rank)) for query, doc, rank in _rows(data, 3)]
    ranks: dict[bytes, list[int]] = {}
    for query, _, rank in rows:
        ranks.setdefault(query, []).append(rank)
    if any(min(found) != 1 or len(set(found)) < len(found) for found in ranks.values()):
        raise Refused
    return [Retrieved(query, doc, float(-rank)) for query, doc, rank in rows]


def _delimited_qrels(delimiter: bytes) -> Any:
    return lambda data: [
        Judgment(query, doc, _number(value)) for query, doc, value in _table(data, delimiter, (b"relevance", b"grade"))
    ]


def _delimited_run(delimiter: bytes) -> Any:
    return lambda data: [
        Retrieved(query, doc, _number(value)) for query, doc, value in _table(data, delimiter, (b"score",))
    ]


def ranklib_qrels(data: bytes) -> list[Judgment]:
    found = []
    if not data.isascii() or re.search(rb"[\r\v\f\x1c-\x1f]", data):
        raise NotSure
    for line in _lines(data):
        if line.startswith(b"#") or not line.strip():
            continue
        features, mark, comment = line.partition(b"#")
        columns, words = features.split(), comment.split()
        if not words and mark:
            raise Refused
        if line.count(b"#") != 1 or words[0].startswith(b"docid") or not mark or len(columns) < 2:
            raise NotSure
        if not columns[1].startswith(b"qid:") or any(not re.fullmatch(rb"\d+:\S+", more) for more in columns[2:]):
            raise NotSure
        if columns[1] == b"qid:":
            raise Refused
        found.append(Judgment(columns[1][4:], words[0], _number(columns[0])))
    return found


def ranklib_run(data: bytes) -> list[Retrieved]:
    raise NotSure


# JSON and Python


class _Pairs(list[Any]):
    """The fields of an object, in which a name may appear twice."""


def _loaded(text: bytes) -> Any:
    if not text.isascii():
        raise NotSure
    try:
        return json.loads(text, object_pairs_hook=_Pairs)
    except ValueError:
        raise Refused from None


def _nested(data: bytes) -> list[tuple[bytes, bytes, float]]:
    if not data.strip() or not data.isascii() or b"\0" in data:
        raise NotSure
    value = _loaded(data)
    if type(value) is not _Pairs or not value or any(type(documents) is not _Pairs for _, documents in value):
        raise NotSure
    if any(not re.fullmatch(r"q\w*", query) or "query" in query or query == "qid" for query, _ in value):
        raise NotSure  # the name of a field, perhaps
    return [
        (_python_id(query), _python_id(doc), _python_number(number))
        for query, documents in value
        for doc, number in documents
    ]


def _json_lines(name: str) -> Any:
    def read(data: bytes) -> list[tuple[bytes, bytes, float]]:
        rows = []
        if re.search(rb"[\r\v\f\0]", data) or not data.isascii():
            raise NotSure
        for line in data.split(b"\n"):
            record = _loaded(line) if line.strip() else None
            if record is None:
                continue
            if type(record) is not _Pairs or sorted(key for key, _ in record) != sorted(("query_id", "doc_id", name)):
                raise NotSure
            fields = dict(record)
            rows.append((_python_id(fields["query_id"]), _python_id(fields["doc_id"]), _python_number(fields[name])))
        return rows

    return read


def _judged(read: Any) -> Any:
    return lambda data: [Judgment(*row) for row in read(data)]


def _retrieved(read: Any) -> Any:
    return lambda data: [Retrieved(*row) for row in read(data)]


def python_rows(value: Any) -> list[tuple[bytes, bytes, float]]:
    """A dict of dicts, or a list of (query, document, number)."""
    if type(value) is dict:
        if not all(type(documents) is dict for documents in value.values()):
            raise NotSure
        value = [(query, doc, number) for query, documents in value.items() for doc, number in documents.items()]
    if type(value) is not list or not all(type(row) is tuple and len(row) == 3 for row in value):
        raise NotSure
    return [(_python_id(query), _python_id(doc), _python_number(number)) for query, doc, number in value]


def arrow_rows(table: Any, number: str) -> list[tuple[bytes, bytes, float]]:
    """An Arrow table with the usual names."""
    if sorted(table.column_names) != sorted(("query_id", "doc_id", number)):
        raise NotSure
    try:
        columns = [table.column(name).to_pylist() for name in ("query_id", "doc_id", number)]
    except (UnicodeDecodeError, OverflowError):
        raise NotSure from None
    return python_rows(list(zip(*columns, strict=True)))


# format -> how to read judgments and a run
READERS: dict[str, tuple[Any, Any]] = {
    "trec": (trec_qrels, trec_run),
    "beir": (beir_qrels, beir_run),
    "msmarco": (trec_qrels, msmarco_run),
    "csv": (_delimited_qrels(b","), _delimited_run(b",")),
    "tsv": (_delimited_qrels(b"\t"), _delimited_run(b"\t")),
    "ranklib": (ranklib_qrels, ranklib_run),
    "json": (_judged(_nested), _retrieved(_nested)),
    "jsonl": (_judged(_json_lines("relevance")), _retrieved(_json_lines("score"))),
}
