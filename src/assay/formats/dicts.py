"""Read dicts of dicts, {query: {document: grade or score}}, as in pytrec_eval, ranx and BEIR, without changing them.

A dict that holds anything else, such as lists of documents, is read by `shapes`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.errors import InputError
from assay.formats.columns import Columns, as_id, qrels_from_columns, run_from_columns
from assay.formats.names import Kind
from assay.formats.numbers import show_value, shown_id
from assay.formats.readings import Reading
from assay.tables import Qrels, Run


def qrels_from_dict(value: Mapping[Any, Any], reading: Reading = Reading()) -> Qrels:
    """Qrels from {query: {document: grade}}.

    >>> qrels_from_dict({"q1": {"a": 1, "b": 0}}).rel.tolist()
    [1.0, 0.0]
    """
    return qrels_from_columns(_columns(value, "qrels", "rel"), reading.grades)


def run_from_dict(value: Mapping[Any, Any], name: str) -> Run:
    """A run from {query: {document: score}}."""
    return run_from_columns(_columns(value, "run", "score"), name)


def _columns(value: Mapping[Any, Any], source: Kind, role: str) -> Columns:
    query: list[Any] = []
    doc: list[Any] = []
    values: list[Any] = []
    text_ids = are_distinct_text(value, "query", source)
    for query_id, documents in value.items():
        if not isinstance(documents, Mapping):
            from assay.formats.shapes import columns_by_query

            return columns_by_query(value, source)
        text_ids &= are_distinct_text(documents, "document", source, query_id)
        query += [query_id] * len(documents)
        doc += documents
        values += documents.values()
    if not doc:
        raise InputError("the dict is empty", source=source)
    return Columns(source, {"query": query, "doc": doc, role: values}, typed=True, text_ids=text_ids)


def are_distinct_text(keys: Iterable[Any], word: str, source: str, query: Any = None) -> bool:
    """Whether all keys are str. Refuses keys that are the same as text, such as 7 and "7": merging them is a guess."""
    if set(map(type, keys)) <= {str}:
        return True
    first: dict[str | None, Any] = {}
    for key in keys:
        text = as_id(key)  # None: refused later, with its row
        if text is not None and text in first:
            where = "" if query is None else f" of query {shown_id(query)}"
            raise InputError(
                f"the {word} ids {show_value(first[text])} ({type(first[text]).__name__}) and {show_value(key)} "
                f"({type(key).__name__}){where} are the same as text. Use one type for all ids, and each id once.",
                source=source,
            )
        first[text] = key
    return False
