"""Ids for queries that a file identifies by their position or by their text. Reads no files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec.structs import replace

from assay.errors import InputError, show_id
from assay.formats.columns import Columns
from assay.formats.readings import Queries, Reading
from assay.words import number_of


def ids_in_order(count: int, what: str, queries: Queries, source: str) -> list[str]:
    """The ids of as many queries, for answers that have none; the numbers must be equal."""
    if not queries:
        raise InputError(
            f"the {what}s have no query ids. List the queries in a file, in the order of the searches, "
            "and give it with `queries=`",
            source=source,
        )
    if len(queries.texts) != count:
        raise InputError(
            f"{number_of(count, what)} but {number_of(len(queries.texts), 'query')} in {queries.place}. The {what}s have no "
            f"query ids, so each query needs exactly one {what}, in the same order.",
            source=source,
        )
    return list(queries.texts)


def with_ids(columns: Columns, reading: Reading, *, sure: bool = False) -> Columns:
    """The table with ids for the texts of queries."""
    if not reading.queries.by_text:
        return columns
    query = ids_of_texts(columns.by_role["query"], reading.queries, columns.source, sure=sure)
    return replace(columns, by_role={**columns.by_role, "query": query})


def ids_of_texts(values: Sequence[Any], queries: Queries, source: str, *, sure: bool = False) -> Sequence[Any]:
    """The column of queries with ids for texts, if it contains texts of these queries; else unchanged.

    `sure` means that the column contains texts and nothing else, so one that is unknown is an error.
    """
    known = queries.by_text
    if not known:
        return values
    distinct = [value for value in dict.fromkeys(map(_plain, values)) if isinstance(value, str)]
    ids = {text: known[text] for text in distinct if text in known and (sure or text not in queries.texts)}
    if not ids and not sure:
        return values
    unknown = [text for text in distinct if text not in known and (sure or text not in queries.texts)]
    if unknown:
        more = f" (and {len(unknown) - 1:,} more)" if len(unknown) > 1 else ""
        raise InputError(
            f"the query text '{show_id(unknown[0])}' is not in {queries.place}{more}. Add it there with its id; "
            "texts must be equal, letter by letter.",
            source=source,
        )
    for text in distinct:
        meant = {*known.get(text, ()), *([text] if not sure and text in queries.texts else [])}
        if len(meant) > 1:
            raise InputError(
                f"'{show_id(text)}' could be any of the queries {', '.join(map(show_id, sorted(meant)))} in "
                f"{queries.place}. Use ids instead of texts, or give each query its own text.",
                source=source,
            )
    return [ids[text][0] if (text := _plain(value)) in ids else value for value in values]


def _plain(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value if isinstance(value, int) else None
