"""Read dicts of dicts, {query: {document: grade or score}}, as in pytrec_eval, ranx and BEIR, without changing them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from assay.errors import InputError, show_id
from assay.formats.columns import Columns, qrels_from_columns, run_from_columns
from assay.formats.numbers import GradeMap
from assay.tables import Qrels, Run


def qrels_from_dict(value: Mapping[Any, Any], grades: GradeMap) -> Qrels:
    """Qrels from {query: {document: grade}}.

    >>> qrels_from_dict({"q1": {"a": 1, "b": 0}}, {}).rel.tolist()
    [1.0, 0.0]
    """
    return qrels_from_columns(_columns(value, "qrels", "rel"), grades)


def run_from_dict(value: Mapping[Any, Any], name: str) -> Run:
    """A run from {query: {document: score}}."""
    return run_from_columns(_columns(value, "run", "score"), name)


def _columns(value: Mapping[Any, Any], source: str, role: str) -> Columns:
    query: list[Any] = []
    doc: list[Any] = []
    values: list[Any] = []
    for query_id, documents in value.items():
        if not isinstance(documents, Mapping):
            raise InputError(
                f"the value of query {show_id(str(query_id))} is a {type(documents).__name__}; "
                f"expected {{query: {{document: {'grade' if role == 'rel' else 'score'}}}}}",
                source=source,
            )
        query += [query_id] * len(documents)
        doc += documents
        values += documents.values()
    if not doc:
        raise InputError("the dict is empty", source=source)
    return Columns(source, {"query": query, "doc": doc, role: values}, typed=True)
