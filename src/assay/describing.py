"""Rules and coverage in words: what stands under every table and in every report."""

from __future__ import annotations

from msgspec import to_builtins

from assay.errors import some_of
from assay.evaluation import Coverage
from assay.rules import Rules

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
    parts = [f"{number_of(coverage.judged, 'query')} judged, {coverage.answered} answered, {_missing(coverage, rules)}"]
    parts[0] += f", {coverage.without_relevant} without relevant documents"
    if coverage.unjudged:
        count = len(coverage.unjudged)
        parts.append(f"{number_of(count, 'query')} of the run {_are(count)} not judged and left out")
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
    found = f"in {number_of(coverage.tied, 'query')} a judged document shares its score"
    return f"{found}, across {', '.join(straddling)}" if straddling else f"{found}, never across a cutoff"


def number_of(count: int, noun: str) -> str:
    """A count and its noun: '1 query', '2 queries'."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"
