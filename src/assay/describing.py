"""The rules and the coverage of an evaluation in words, as printed under every table and in every report."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import to_builtins

from assay.errors import show_id, some_of
from assay.evaluation import Coverage
from assay.judges import Agreement
from assay.measures import Request
from assay.rules import RULES_IN_WORDS, Rules
from assay.weighting.weights import QueryWeights
from assay.words import noun_for, number_of, plural


def conventions_in_words(rules: Rules, like: str = "assay") -> str:
    """The rules in force, as one sentence."""
    words = [texts.choices[getattr(rules, name)] for name, texts in RULES_IN_WORDS.items()]
    if rules.depth is not None:
        words.append(f"only the first {rules.depth} documents of each query")
    settings = ", ".join(f"{name}={value}" for name, value in to_builtins(rules).items() if value is not None)
    if like != "assay":
        words.insert(0, f"as in {like} (`assay conventions` shows what that changes)")
    return f"Conventions: {'; '.join(word for word in words if word)} ({settings})."


def coverage_in_words(coverage: Coverage, rules: Rules, requests: Sequence[Request]) -> str:
    """How well the judgments cover the run, in one sentence."""
    parts = [
        f"{coverage.judged} {noun_for(coverage.judged, 'query')} judged, {coverage.answered} answered, "
        f"{_missing(coverage, rules)}, {coverage.without_relevant} without relevant documents"
    ]
    if coverage.unjudged:
        count = len(coverage.unjudged)
        parts.append(f"{count} " + plural("{query|queries} of the run {is|are} not judged and {is|are} ignored", count))
    if not coverage.only_relevant:
        shares = ", ".join(f"{share:.0%} of the top {cutoff}" for cutoff, share in coverage.judged_share.items())
        parts.append(f"judged documents: {shares}")
    parts.append(_ties(coverage))
    parts += filter(None, [shortness_in_words(coverage, requests)])
    return "; ".join(parts) + "."


def weights_in_words(weights: QueryWeights, queries: Sequence[str], judged: Sequence[str] = ()) -> list[str]:
    """How the weighted means over these queries come about, and what to beware of; `judged` has further known queries."""
    if weights.probability is None:
        how = "The intervals treat the queries as a random sample."
    else:
        sure = int((weights.probability[weights.places(queries)] >= 1).sum())
        how = (
            f"The intervals follow from how the queries were sampled and are about that log; {sure:,} of "
            f"{number_of(len(queries), 'query')} {plural('{was|were}', sure)} certain to be in the sample, and "
            f"{plural('{adds|add}', sure)} no uncertainty."
        )
    found = [
        f"Weighted: sum(weight x value) / sum(weight), with the weights of {show_id(weights.source, 200)}. {how}",
        f"Effective sample size: {weights.effective(queries):.1f} of {number_of(len(queries), 'query')} (Kish); unequal weights "
        "cost the rest.",
    ]
    if beyond := weights.beyond({*queries, *judged}):
        found.append(
            f"{len(beyond):,} of {number_of(len(weights.queries), 'weight')} {plural('{is|are}', len(beyond))} for queries "
            f"without judgments ({some_of(beyond)}), with {weights.share_of(beyond):.1%} of the weight: the weighted means "
            "are over the other queries."
        )
    if few := weights.dominant(queries):
        found.append(
            f"Warning: {few} of {len(queries):,} queries {plural('{has|have}', few)} half of the weight, so the weighted means "
            f"depend mostly on {plural('{it|them}', few)}."
        )
    return found


_GAINS = {
    "linear": "linear (the grade itself); gain='exp' would be 2**grade - 1",
    "exp": "exponential (2**grade - 1); the default would be the grade itself",
    "binary": "binary (relevant or not)",
}


def gains_in_words(requests: Sequence[Request]) -> str:
    """The gain of each measure that has one, in one sentence; empty if none has.

    >>> from assay.measures import parse_measures
    >>> gains_in_words(parse_measures(["nDCG@10", "AP"]))
    "The gain of nDCG@10 is linear (the grade itself); gain='exp' would be 2**grade - 1."
    """
    labels: dict[str, list[str]] = {}
    for request in requests:
        defaults = request.measure.definition.defaults
        if "gain" in defaults:
            gain = dict(request.measure.params).get("gain", defaults["gain"])
            labels.setdefault(str(gain), []).append(request.label)
    words = [f"The gain of {', '.join(names)} is {_GAINS.get(gain, gain)}." for gain, names in labels.items()]
    return " ".join(words)


def agreement_in_words(agreement: Agreement) -> str:
    """How far the judges agree about documents with several judgments, in one sentence.

    >>> agreement_in_words(Agreement(documents=3, several=2, disputed=1, judgments=4, equal_pairs=0.5, alpha=0.625))
    "2 of 3 judged documents have several judgments; 50% of pairs agree (Krippendorff's alpha, ordinal: 0.625)."
    """
    several = plural("{has|have} several judgments", agreement.several)
    alpha = "" if agreement.alpha is None else f" (Krippendorff's alpha, ordinal: {agreement.alpha:.3f})"
    return (
        f"{agreement.several:,} of {number_of(agreement.documents, 'judged document')} {several}; "
        f"{agreement.equal_pairs:.0%} of pairs agree{alpha}."
    )


def shortness_in_words(coverage: Coverage, requests: Sequence[Request]) -> str:
    """Which measures look deeper than any query of the run goes; empty if none does.

    `R@100` over lists of 10 documents equals `R@10`, and comparing it with the `R@100` of longer lists misleads.
    """
    cutoffs = {request.label: request.measure.param("cutoff") for request in requests}
    deeper = [label for label, cutoff in cutoffs.items() if cutoff is not None and cutoff > coverage.longest > 0]
    if not deeper:
        return ""
    longest = number_of(coverage.longest, "document")
    return f"no query has more than {longest}, so {some_of(deeper)} {plural('{looks|look}', len(deeper))} no deeper"


def _missing(coverage: Coverage, rules: Rules) -> str:
    if not coverage.missing:
        return "0 missing"
    effect = "counted as 0" if rules.queries == "judged" else "left out"
    return f"{len(coverage.missing)} missing ({effect}: {some_of(coverage.missing)})"


def _ties(coverage: Coverage) -> str:
    if not coverage.tied:
        return "no judged document is tied"
    straddling = [f"rank {cutoff} in {number}" for cutoff, number in coverage.straddling.items() if number]
    found = f"judged documents are tied in {coverage.tied} {noun_for(coverage.tied, 'query')}"
    return f"{found}, across {', '.join(straddling)}" if straddling else f"{found}, never across a cutoff"
