"""Runs whose document ids do not occur in the judgments: what is different about them, and what to do. Reads no files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import takewhile

from msgspec import Struct

from assay.errors import show_id
from assay.fusion import collapse
from assay.tables import Run

TRIED = 10_000  # documents of the run: enough to see how its ids are written

# What tools append to the id of a document to name a part of it.
SUFFIXES = (r"(.+)#\d+", r"(.+)_chunk_?\d+", r"(.+):\d+-\d+", r"(.+)[#_:.-](?:chunk|passage|part|p)?[-_]?\d+")

Score = Callable[[Run], tuple[str, float]]  # a run -> the first measure and its mean


class Rewriting(Struct, frozen=True):
    """A way to write the ids of a run so that they match those of the judgments."""

    what: str  # the difference, in words
    documents: Mapping[str, str]  # id in the run -> id in the judgments
    regex: str = ""  # for `assay runs collapse`, if one does it


def unmatched_documents(judged: Iterable[str], run: Run, score: Score) -> str | None:
    """The message for a run that has no document in common with the judgments; None if it has one, or if either is empty.

    `score` evaluates a run whose ids have been rewritten, so that the message can say what that is worth.
    """
    known, docs = set(judged), list(dict.fromkeys(run.doc.tolist()))
    if not known or not docs or not known.isdisjoint(docs):
        return None
    found = max(_rewritings(docs[:TRIED], known), key=lambda each: len(each.documents), default=None)
    ours, theirs = next(iter(found.documents.items())) if found else (docs[0], min(known))
    problem = (
        f"0 of {len(docs):,} document ids of run {run.name!r} occur in the qrels; the run has {show_id(ours)!r}, the qrels "
        f"have {show_id(theirs)!r}. "
    )
    fix = (
        _fix(found, run, score)
        if found
        else "Check that the run belongs to these qrels and writes ids in the same way."
    )
    return f"{problem}{fix} To score the run anyway, use `unmatched='zero'`."


def _rewritings(docs: list[str], known: set[str]) -> Iterator[Rewriting]:
    """The ways that give at least one judged document."""
    for regex in SUFFIXES:
        yield from _by_regex("a suffix", regex, docs, known)
    prefix = _common_prefix(docs)
    for end in range(len(prefix), 0, -1):
        found = list(_by_regex(f"the prefix {show_id(prefix[:end])!r}", re.escape(prefix[:end]) + "(.+)", docs, known))
        if found:
            yield from found
            break
    folded = {doc.casefold(): doc for doc in known}
    by_case = {doc: folded[doc.casefold()] for doc in docs if doc.casefold() in folded}
    if by_case:
        yield Rewriting("letter case", by_case)


def _common_prefix(docs: list[str]) -> str:
    """What all ids begin with; of a single id, all but its last character."""
    first, last = min(docs), max(docs)
    return "".join(one for one, _ in takewhile(lambda pair: pair[0] == pair[1], zip(first[:-1], last, strict=False)))


def _by_regex(what: str, regex: str, docs: list[str], known: set[str]) -> Iterator[Rewriting]:
    pattern = re.compile(regex)
    matches = ((doc, pattern.fullmatch(doc)) for doc in docs)
    documents = {doc: match[1] for doc, match in matches if match and match[1] in known}
    if documents:
        yield Rewriting(what, documents, regex)


def _fix(found: Rewriting, run: Run, score: Score) -> str:
    docs = run.doc.tolist()
    pattern = re.compile(found.regex) if found.regex else None
    rewritten = {doc: _rewritten(doc, pattern, found.documents) for doc in docs}
    before, after = score(run), score(collapse(run, rewritten))
    gain = f"without, {before[0]} would be {after[1]:.4f} instead of {before[1]:.4f}"
    if pattern is None:
        return f"The ids differ in {found.what}; {gain}. Write them as the qrels do."
    regex = shlex.quote(show_id(f"^{found.regex}$", 200))
    command = f"assay runs collapse RUN --regex {regex} --by max -o DOCUMENTS.run"
    return f"The run's ids have {found.what}; {gain}. Remove it: {command}."


def _rewritten(doc: str, pattern: re.Pattern[str] | None, documents: Mapping[str, str]) -> str:
    match = pattern.fullmatch(doc) if pattern else None
    return match[1] if match else documents.get(doc, doc)
