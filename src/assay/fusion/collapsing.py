"""Collapse a run of chunks into a run of documents."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import numpy as np

from assay.errors import FusionError, did_you_mean, some_of
from assay.formats.reading import RunLike, as_run
from assay.formats.readings import ColumnNames, Reading
from assay.fusion.fusing import in_rank_order
from assay.fusion.pooled import numbered, total_of
from assay.tables import Floats, Integers, Run, as_ids

Chunks: TypeAlias = Mapping[str, str] | str | re.Pattern[str]
OF_CHUNK = "doc"  # the optional named group of the regular expression that matches the document


def collapse(run: RunLike, documents: Chunks, *, by: str = "max", columns: ColumnNames | None = None) -> Run:
    """The run with each document once per query, scored by its chunks.

    `run` is anything that `evaluate` takes except functions; `columns` names the columns of a table, as there. `documents`
    says which document a chunk belongs to: a mapping from chunk to document, or a regular expression that is searched in
    the chunk's id. The document is the group `doc`, else the first group, else the whole match. A chunk
    without a document is an error. `by` says how a document is scored: by its best chunk ("max"), by the sum of its
    chunks ("sum"; negative scores lower it), or by the chunk whose row comes first ("first").

    >>> run = {"q": {"a#1": 3.0, "b#1": 2.0, "a#2": 1.5}}
    >>> collapse(run, r"(.+)#").doc.tolist(), collapse(run, r"(.+)#", by="sum").score.tolist()
    (['a', 'b'], [4.5, 2.0])
    """
    if by not in WAYS:
        hint = did_you_mean(str(by), WAYS)
        raise FusionError(f"by cannot be {by!r}{hint or '.'} It takes {', '.join(WAYS)}.")
    run = as_run(run, Reading(columns=columns or {}))
    code, docs = numbered([_documents_of(run, documents)])
    pairs, pair = np.unique(run.query * max(len(docs), 1) + code, return_inverse=True)
    score = WAYS[by](run.score, pair, len(pairs))
    if not np.isfinite(score).all():
        raise FusionError("the sum of these scores overflows; use by='max'.")
    query, place = np.divmod(pairs, max(len(docs), 1))
    return in_rank_order(Run(run.queries, query, docs[place], score, name=run.name, tag=run.tag, source=run.source))


def _best(score: Floats, pair: Integers, pairs: int) -> Floats:
    best = np.full(pairs, -np.inf)
    np.maximum.at(best, pair, score)
    return best


def _sum(score: Floats, pair: Integers, pairs: int) -> Floats:
    with np.errstate(over="ignore", invalid="ignore"):
        return total_of(score, pair, pairs)


def _first(score: Floats, pair: Integers, pairs: int) -> Floats:
    first: Integers = np.unique(pair, return_index=True)[1]
    return score[first]


WAYS: dict[str, Callable[[Floats, Integers, int], Floats]] = {"max": _best, "sum": _sum, "first": _first}


def _documents_of(run: Run, documents: Any) -> list[str]:
    """The document of each row; a chunk without one is an error."""
    chunks: list[str] = run.doc.tolist()
    if isinstance(documents, Mapping):
        docs = list(map(documents.get, chunks))
        rule = "the map"
    else:
        docs = _matched(_pattern(documents), chunks)
        rule = "the regular expression"
    if not all(docs):
        without = list(dict.fromkeys(chunk for chunk, doc in zip(chunks, docs, strict=True) if not doc))
        raise FusionError(
            f"{len(without):,} of {len(set(chunks)):,} chunks of {run.source} have no document in {rule} "
            f"(first: {some_of(without)})."
        )
    if isinstance(documents, Mapping):
        as_ids(docs)  # type: ignore[arg-type]  # refuses what is not text
    return docs  # type: ignore[return-value]


def _matched(pattern: re.Pattern[str], chunks: list[str]) -> list[str | None]:
    """The document that the pattern finds in each chunk; None for a chunk that it does not match."""
    search, group = pattern.search, OF_CHUNK if OF_CHUNK in pattern.groupindex else 1 if pattern.groups else 0
    return [match and match[group] for match in map(search, chunks)]


def _pattern(documents: Any) -> re.Pattern[str]:
    if isinstance(documents, re.Pattern) and isinstance(documents.pattern, str):
        return documents
    if not isinstance(documents, str):
        raise FusionError(
            f"documents cannot be a value of type {type(documents).__name__}; it takes a mapping from chunk to document, "
            "or a regular expression."
        )
    try:
        return re.compile(documents)
    except (re.error, OverflowError, RecursionError) as error:
        raise FusionError(f"{documents!r} is not a valid regular expression: {error}.") from None
