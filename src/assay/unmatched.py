"""Runs whose document ids do not occur in the judgments: what is different about them, and what to do. Reads no files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping

from msgspec import Struct

from assay.errors import DocumentSetError, show_id
from assay.fusion import collapse
from assay.ids import REWRITINGS, Rewriting, Side, common_prefix, in_run, policy_commands, side_of, without_prefix
from assay.tables import Run

TRIED = 10_000  # documents of the run: enough to see how its ids are written

# What tools append to the id of a document to name a part of it.
SUFFIXES = (r"(.+)#\d+", r"(.+)_chunk_?\d+", r"(.+):\d+-\d+", r"(.+)[#_:.-](?:chunk|passage|part|p)?[-_]?\d+")

Score = Callable[[Run], tuple[str, float]]  # a run -> the first measure and its mean


class Difference(Struct, frozen=True):
    """How the ids of a run differ from those of the judgments, and how to remove the difference."""

    what: str  # in words: "The run's ids have a suffix"
    fix: str
    matched: Mapping[str, str]  # id in the run -> id in the judgments, of the documents tried
    write: Callable[[str], str]  # an id of the run as the judgments write it


def unmatched_documents(judged: Iterable[str], run: Run, score: Score) -> DocumentSetError | None:
    """The error for a run that has no document in common with the judgments; None if it has one, or if either is empty.

    `score` evaluates a run whose ids have been rewritten, so that the error can say what that is worth.
    """
    known = set(judged)
    if not known or not len(run) or not known.isdisjoint(run.doc.tolist()):
        return None
    docs = list(dict.fromkeys(run.doc.tolist()))
    found = max(_differences(docs[:TRIED], known), key=lambda each: len(each.matched), default=None)
    ours, theirs = next(iter(found.matched.items())) if found else (docs[0], min(known))
    problem = (
        f"0 of {len(docs):,} document ids of run {run.name!r} occur in the qrels; the run has {show_id(ours)!r}, the qrels "
        f"have {show_id(theirs)!r}"
    )
    return DocumentSetError(problem, _fix(found, run, score) if found else "")


def _fix(found: Difference, run: Run, score: Score) -> str:
    written = {doc: found.write(doc) for doc in run.doc.tolist()}
    before, after = score(run), score(collapse(run, written))
    return f"{found.what}; without that, {before[0]} would be {after[1]:.4f} instead of {before[1]:.4f}. {found.fix}."


def _differences(docs: list[str], known: set[str]) -> Iterator[Difference]:
    """The differences that explain at least one judged document."""
    for regex in SUFFIXES:
        yield from _suffix(regex, docs, known)
    for rewriting in REWRITINGS:
        yield from _rewritten(rewriting, f"The ids differ in {rewriting.what}", "Rewrite them", docs, known)
    yield from _prefix("run", common_prefix(docs), docs, known)
    yield from _prefix("qrels", common_prefix(known), docs, known)


def _suffix(regex: str, docs: list[str], known: set[str]) -> Iterator[Difference]:
    def write(doc: str) -> str:
        match = pattern.fullmatch(doc)
        return match[1] if match else doc

    pattern = re.compile(regex)
    matched = {doc: write(doc) for doc in docs if write(doc) in known}
    if matched:
        shown = shlex.quote(show_id(f"^{regex}$", 200))
        fix = f"Remove it: assay runs collapse RUN --regex {shown} --by max -o DOCUMENTS.run"
        yield Difference("The run's ids have a suffix", fix, matched, write)


def _prefix(kind: str, prefix: str, docs: list[str], known: set[str]) -> Iterator[Difference]:
    """The longest part of what all ids of one file begin with that the other file does without."""
    whose = "The run's ids have" if kind == "run" else "The qrels' ids have"
    for end in range(len(prefix), 0, -1):
        rewriting = without_prefix(prefix[:end])
        found = list(_rewritten(rewriting, f"{whose} {rewriting.what}", "Remove it", docs, known))
        if found:
            yield from found
            return


def _rewritten(rewriting: Rewriting, what: str, do: str, docs: list[str], known: set[str]) -> Iterator[Difference]:
    """The difference that a policy removes, if it is one."""
    as_judged = {rewriting.write(doc): doc for doc in known}

    def write(doc: str) -> str:
        return as_judged.get(rewriting.write(doc), doc)

    matched = {doc: write(doc) for doc in docs if write(doc) in known}
    if matched:
        sides = {side_of(rewriting, ours, theirs) for ours, theirs in matched.items()}
        side: Side = "ours" if sides == {"ours"} else "theirs" if sides == {"theirs"} else "both"
        yield Difference(what, f"{do}: {policy_commands(*in_run(rewriting.policy, side))}", matched, write)
