"""Quepid's CSV exports. Column names are found as in other tables; only rows that say nothing are special.

The headers are those of Quepid's ratings_controller.rb (Basic) and caseCSVSvc.js (Detailed, Snapshot).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.formats.names import Kind

TEXT = "Query Text"  # Quepid has no query ids in its CSV files
_BASIC = ["query", "docid", "rating"]
_DETAILED = ["Team Name", "Case Name", "Case ID", TEXT]
_SNAPSHOT = ["Snapshot Name", "Snapshot Time", "Case ID", TEXT]


def is_quepid(names: Sequence[str]) -> bool:
    """Whether these are the column names of an export."""
    return list(names) == _BASIC or list(names[:4]) in (_DETAILED, _SNAPSHOT)


def rows_with_values(
    rows: Iterator[tuple[int, list[str]]], names: Sequence[str], kind: Kind
) -> Iterator[tuple[int, list[str]]]:
    """The rows of an export without those of queries that have no documents and, in qrels, of documents without a rating."""
    doc = next((place for place, name in enumerate(names) if name in ("docid", "Doc ID")), 0)
    rating = next((place for place, name in enumerate(names) if name in ("rating", "Rating")), None)
    for line, row in rows:
        is_rated = rating is None or "".join(row[rating : rating + 1]).strip()
        if "".join(row[doc : doc + 1]).strip() and (kind == "run" or is_rated):
            yield line, row
