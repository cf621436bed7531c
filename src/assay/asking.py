"""Open runs of any kind, one or several by name. Ranks and judges nothing.

A retriever, a function from the text of a query to its documents, is asked for all judged queries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, cast

from assay.errors import InputError, RetrievalError, show_id, some_of
from assay.formats.columns import as_id
from assay.formats.reading import Documents, RunLike, is_frame
from assay.formats.readings import Reading
from assay.formats.shapes import is_ranking, is_rows, searching_method
from assay.formats.sources import Source, is_stream
from assay.formats.unread import open_run
from assay.marking import OpenedRun, UnreadRun
from assay.tables import Run

Retriever: TypeAlias = Callable[[Any], Documents]  # from the text of a query to its documents, best first
QueriesLike: TypeAlias = Source | Mapping[str, Any] | Mapping[int, Any] | Sequence[str]  # a file, {query: text}, or ids
Runs: TypeAlias = Mapping[str, RunLike | Retriever] | Iterable[RunLike | Retriever]  # by name, or in order
NamedRuns: TypeAlias = list[tuple[str | None, RunLike | Retriever]]


def several_runs(runs: Runs) -> NamedRuns:
    """Several runs with their names, None for those of a list; a single run is an error."""
    if is_rows(runs) or (isinstance(runs, Mapping) and any(map(is_ranking, runs.values()))):
        raise InputError("this is one run; give several in a list, or in a dict by name: {'bm25': run, 'new': run}.")
    if isinstance(runs, Mapping):
        given: NamedRuns = [(str(name), run) for name, run in runs.items()]
    elif (
        isinstance(runs, (str, bytes, os.PathLike, Run, UnreadRun)) or not isinstance(runs, Iterable) or is_frame(runs)
    ):
        raise InputError("expected several runs; give a list, or a dict by name.")
    else:
        given = [(None, run) for run in runs]
    if not given:
        raise InputError("there are no runs; give a list, or a dict by name.")
    return given


def open_several(
    runs: NamedRuns, judged: Sequence[str], reading: Reading = Reading(), *, queries: QueriesLike | None = None
) -> Iterator[OpenedRun]:
    """Open the runs one by one; those without a name have their own, or a number. Names must differ."""
    seen: set[str] = set()
    for number, (name, run) in enumerate(runs, 1):
        opened = open_any(run, judged, reading, name=name, unnamed=f"run {number}", queries=queries)
        if opened.name in seen:
            raise InputError(
                f"two runs are called {show_id(opened.name)!r}; give them different names: {{'a': run, 'b': run}}."
            )
        seen.add(opened.name)
        yield opened


def open_any(
    run: RunLike | Retriever,
    judged: Sequence[str],
    reading: Reading = Reading(),
    *,
    name: str | None = None,
    unnamed: str = "run",
    queries: QueriesLike | None = None,
) -> OpenedRun:
    """Open a run; a retriever is asked for each judged query, whose texts are in `queries`."""
    if not is_retriever(run):
        return open_run(cast("RunLike", run), reading, name=name, unnamed=unnamed)
    retrieve = cast("Retriever", run)
    return open_run(answers(retrieve, queries, judged), name=name or retriever_name(retrieve) or unnamed)


def refuse_useless_queries(queries: QueriesLike | None, qrels: object, runs: NamedRuns) -> None:
    """Refuse queries if neither a retriever nor a file, which may identify queries by position or text, can use them."""
    given = [qrels, *(run for _, run in runs)]
    if queries is None or any(is_retriever(value) or _is_file(value) for value in given):
        return
    if method := next(filter(None, (searching_method(run) for _, run in runs)), ""):
        raise InputError(
            f"`queries=` needs a run that is a function; pass the method that searches, such as run.{method}."
        )
    raise InputError(
        "`queries=` is for a run that is a function of the query's text, or for files; these are neither, so leave it out."
    )


def _is_file(value: object) -> bool:
    return isinstance(value, (str, os.PathLike)) or is_stream(value)


def is_retriever(value: object) -> bool:
    """Whether a value is a function, or an object that can be called like one.

    >>> is_retriever(lambda text: ["a"]), is_retriever({"q1": ["a"]}), is_retriever(dict)
    (True, False, False)
    """
    is_data = isinstance(value, (type, Mapping)) or is_frame(value) or is_stream(value)
    return callable(value) and not is_data


def retriever_name(retrieve: object) -> str:
    """The name of a function; empty for a lambda and for objects without one."""
    name = str(getattr(retrieve, "__name__", ""))
    return "" if name.startswith("<") else name


def answers(retrieve: Retriever, queries: QueriesLike | None, judged: Sequence[str]) -> dict[str, Documents]:
    """The retriever's documents for each judged query; other queries are not asked.

    >>> answers(lambda text: text.split(), {"q1": "a b", "q2": "c"}, ["q1"])
    {'q1': ['a', 'b']}
    """
    if queries is None:
        raise InputError("a function that searches needs the texts of the queries; give them with `queries=`.")
    texts = query_texts(queries)
    without = [query for query in judged if _is_missing(texts.get(query))]
    if without:
        raise InputError(
            f"{len(without):,} of {len(judged):,} judged queries {'has' if len(without) == 1 else 'have'} no text in "
            f"`queries=` (first: {some_of(without)}). Add their texts, or leave them out of the qrels."
        )
    return {query: _answer(retrieve, query, texts[query]) for query in judged}


def _is_missing(text: Any) -> bool:
    return text is None or (isinstance(text, str) and not text)  # it may also be a vector


def query_texts(queries: QueriesLike) -> Mapping[str, Any]:
    """The texts by query, from a file or a dict, whose keys may be whole numbers."""
    if isinstance(queries, (str, os.PathLike)):
        from assay.inputs.queries import read_queries

        return read_queries(queries)
    if isinstance(queries, (list, tuple)):
        return dict.fromkeys(map(str, queries), "")
    if not isinstance(queries, Mapping):
        raise InputError(
            f"cannot read a value of type {type(queries).__name__} as queries: pass a path, a dict {{query: text}}, or a "
            "list of ids."
        )
    return {as_id(query) or str(query): text for query, text in queries.items()}


def _answer(retrieve: Retriever, query: str, text: Any) -> Documents:
    try:
        found = retrieve(text)
        # What is computed on demand can fail only here, where the query is known.
        return list(found) if isinstance(found, Iterable) and hasattr(found, "__next__") else found
    except Exception as error:
        shown = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        raise RetrievalError(f"the retriever failed for query {show_id(query)}: {shown}") from error
