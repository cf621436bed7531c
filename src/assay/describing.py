"""Rules and coverage in words: what stands under every table and in every report."""

from __future__ import annotations

from msgspec import to_builtins

from assay.errors import some_of
from assay.evaluation import Coverage
from assay.rules import Rules
from assay.words import noun_for, plural

_RULES_IN_WORDS = {
    "order": {"score": "", "rank": "ranked by the file's rank column, not by score"},
    "ties": {
        "doc-desc": "equal scores by document id, descending",
        "doc-asc": "equal scores by document id, ascending",
        "input": "equal scores in input order",
        "rank-column": "equal scores by the file's rank column",
        "expected": "all orders of equal scores averaged",
    },
    "scores": {"float64": "", "float32": "scores as 32-bit floats"},
    "queries": {
        "judged": "mean over all judged queries, a missing one counts as 0",
        "both": "mean over the judged queries that the run answers",
        "strict": "every judged query must be answered",
    },
    "duplicates": {
        "error": "",
        "first": "of duplicate documents the first counts",
        "best": "of duplicate documents the best counts",
    },
    "self_match": {"keep": "", "drop": "documents with the query's own id are dropped"},
    "undefined": {
        "zero": "a query without relevant documents counts as 0",
        "nan": "queries without relevant documents are left out",
    },
}


def conventions_in_words(rules: Rules, like: str = "assay") -> str:
    """The rules in force, as one sentence."""
    words = [choices[getattr(rules, name)] for name, choices in _RULES_IN_WORDS.items()]
    if rules.depth is not None:
        words.append(f"only the first {rules.depth} documents of each query")
    settings = ", ".join(f"{name}={value}" for name, value in to_builtins(rules).items() if value is not None)
    if like != "assay":
        words.insert(0, f"as {like} has them (`assay conventions` says what that changes)")
    return f"Conventions: {'; '.join(word for word in words if word)} ({settings})."


def coverage_in_words(coverage: Coverage, rules: Rules) -> str:
    """How far run and judgments meet, in a few sentences."""
    parts = [
        f"{coverage.judged} {noun_for(coverage.judged, 'query')} judged, {coverage.answered} answered, "
        f"{_missing(coverage, rules)}, {coverage.without_relevant} without relevant documents"
    ]
    if coverage.unjudged:
        count = len(coverage.unjudged)
        parts.append(f"{count} " + plural("{query|queries} of the run {is|are} not judged and left out", count))
    shares = ", ".join(f"{share:.0%} in the top {cutoff}" for cutoff, share in coverage.judged_share.items())
    parts.append(f"of the documents shown, judged: {shares}")
    parts.append(f"ties: {_ties(coverage)}")
    return "; ".join(parts) + "."


def _missing(coverage: Coverage, rules: Rules) -> str:
    if not coverage.missing:
        return "0 missing"
    effect = "counted as 0" if rules.queries == "judged" else "left out"
    return f"{len(coverage.missing)} missing ({effect}: {some_of(coverage.missing)})"


def _ties(coverage: Coverage) -> str:
    if not coverage.tied:
        return "no judged document shares its score"
    straddling = [f"rank {cutoff} in {number}" for cutoff, number in coverage.straddling.items() if number]
    found = f"in {coverage.tied} {noun_for(coverage.tied, 'query')} a judged document shares its score"
    return f"{found}, across {', '.join(straddling)}" if straddling else f"{found}, never across a cutoff"
