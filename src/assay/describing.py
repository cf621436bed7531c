"""The rules and the coverage of an evaluation in words, as printed under every table and in every report."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Sized

from msgspec import to_builtins

from assay.errors import show_id, some_of
from assay.evaluation import Coverage
from assay.judges import Agreement
from assay.measures import Measure, Request
from assay.rules import RULES_IN_WORDS, Rules
from assay.weighting.weights import QueryWeights
from assay.words import noun_for, number_of, plural


def conventions_in_words(rules: Rules, like: str = "assay") -> str:
    """The rules in force, as one sentence."""
    words = [texts.choices[getattr(rules, name)] for name, texts in RULES_IN_WORDS.items()]
    if rules.depth is not None:
        first = "document" if rules.depth == 1 else f"{rules.depth} documents"
        words.append(f"only the first {first} of each query")
    settings = ", ".join(f"{name}={value}" for name, value in to_builtins(rules).items() if value is not None)
    if like != "assay":
        words.insert(0, f"as in {like} (`assay conventions` shows what that changes)")
    return f"Conventions: {'; '.join(word for word in words if word)} ({settings})."


def conventions_in_brief(rules: Rules, like: str, judged: int) -> str:
    """The conventions in a few words: what is not usual, and which queries count.

    >>> conventions_in_brief(Rules(), "assay", 50), conventions_in_brief(Rules(ties="input", queries="both"), "assay", 50)
    ('ties as in trec_eval, all 50 judged queries', 'ties=input, the judged queries that each run answers')
    """
    changed = {name: value for name, value in rules.changed().items() if name != "queries"}
    usual = "ties as in trec_eval" if like == "assay" and "ties" not in changed else ""
    named = "" if like == "assay" else f"as in {like}"
    settings = ", ".join(f"{name}={value}" for name, value in changed.items())
    counted = "the judged queries that each run answers"
    if rules.queries != "both":
        few = {1: "the only judged query", 2: "both judged queries"}
        counted = few.get(judged, f"all {judged:,} judged queries")
    return ", ".join(filter(None, (named, usual, settings, counted)))


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
    else:
        parts.append("only relevant documents are listed, so the share of judged ones says nothing")
    parts.append(_ties(coverage))
    parts += filter(None, [shortness_in_words(coverage, requests)])
    return "; ".join(parts) + "."


JUDGED_ENOUGH = 0.8  # of the documents at the top; `assay diagnose` warns below it, too
_SHOWN = 3  # runs or measures that a sentence names


def anomalies_in_words(runs: Mapping[str, Coverage], rules: Rules, requests: Sequence[Request]) -> Iterator[str]:
    """What is unusual about how judgments and runs fit together: one sentence for all runs that have the same."""
    yield from _queries_missing(runs, rules)
    empty = max((coverage.without_relevant for coverage in runs.values()), default=0)
    if empty and rules.undefined == "zero":
        judged = max(coverage.judged for coverage in runs.values())
        has = plural("{has|have} no relevant document and {counts|count}", empty)
        yield f"{empty:,} of {number_of(judged, 'judged query')} {has} as 0."
    yield from _few_judged(runs)
    yield from _only_relevant(runs, requests)
    yield from _short_lists(runs, requests)


def _queries_missing(runs: Mapping[str, Coverage], rules: Rules) -> Iterator[str]:
    lacking = {run: coverage for run, coverage in runs.items() if coverage.missing}
    if not lacking:
        return
    if len(lacking) == 1:
        ((run, coverage),) = lacking.items()
        count = len(coverage.missing)
        how = plural("{counts|count} as 0" if rules.queries == "judged" else "{is|are} left out", count)
        total = number_of(coverage.judged, "judged query")
        yield f"{show_id(run)} lacks {count:,} of {total}, which {how}: {_some([*map(show_id, coverage.missing)])}."
        return
    how = "count as 0" if rules.queries == "judged" else "are left out"
    most = sorted(lacking, key=lambda run: -len(lacking[run].missing))
    named = [f"{show_id(run)} ({len(lacking[run].missing):,} of {lacking[run].judged:,})" for run in most]
    yield f"{_how_many(lacking, runs)} lack judged queries, which {how}: {_some(named)}."


def _few_judged(runs: Mapping[str, Coverage]) -> Iterator[str]:
    shares = {
        run: min(coverage.judged_share.items())
        for run, coverage in runs.items()
        if coverage.judged_share and not coverage.only_relevant
    }
    low = {run: (cutoff, share) for run, (cutoff, share) in shares.items() if share < JUDGED_ENOUGH}
    if not low:
        return
    worst = min(low, key=lambda run: low[run][1])
    cutoff, share = low[worst]
    rest = "the rest counts as not relevant"
    if len(low) == 1:
        yield f"Only {share:.0%} of the top {cutoff} of {show_id(worst)} are judged; {rest}."
        return
    yield (
        f"Less than {JUDGED_ENOUGH:.0%} of the top {cutoff} are judged in {_how_many(low, runs).lower()} (lowest: "
        f"{share:.0%} in {show_id(worst)}); {rest}."
    )


# Measures that count documents judged not relevant, or documents without a judgment.
_OF_JUDGED = ("Judged", "Unjudged", "Hole", "Bpref", "GMBpref", "infAP", "NumNonrelRet")


def _only_relevant(runs: Mapping[str, Coverage], requests: Sequence[Request]) -> Iterator[str]:
    """Measures that say nothing if the judgments list relevant documents only."""
    named = [each.label for each in requests if _counts_judged(each.measure)]
    if named and runs and all(coverage.only_relevant for coverage in runs.values()):
        verb = plural("{says|say}", len(named))
        yield (
            f"The judgments list relevant documents only, as most of BEIR do, so {_and(named)} {verb} nothing: whether a "
            "document is judged is whether it is relevant."
        )


def _counts_judged(measure: Measure) -> bool:
    return measure.name in _OF_JUDGED or bool(dict(measure.params).get("judged_only"))


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def _short_lists(runs: Mapping[str, Coverage], requests: Sequence[Request]) -> Iterator[str]:
    found = {run: shortness_in_words(coverage, requests) for run, coverage in runs.items()}
    short = [run for run, words in found.items() if words]
    if not short:
        return
    if len(short) == 1 or len({found[run] for run in short}) == 1:
        who = show_id(short[0]) if len(short) == 1 else _how_many(short, runs)
        yield f"{who}: {found[short[0]]}."
        return
    named = [f"{show_id(run)} ({number_of(runs[run].longest, 'document')})" for run in short]
    who = _how_many(short, runs).lower()
    yield f"The lists of {who} are shorter than a cutoff, and the measure looks no deeper: {_some(named)}."


def _how_many(some: Sized, runs: Sized) -> str:
    """How many of the runs: 'Both runs', 'All 10 runs', '3 of 10 runs'."""
    if len(some) < len(runs):
        return f"{len(some):,} of {len(runs):,} runs"
    return "Both runs" if len(some) == 2 else f"All {len(some):,} runs"


def _some(named: Sequence[str]) -> str:
    """The first few of several, which are escaped already."""
    more = len(named) - _SHOWN
    return ", ".join(named[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")


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
    return [
        f"Weighted: sum(weight x value) / sum(weight), with the weights of {show_id(weights.source, 200)}. {how}",
        f"Effective sample size: {weights.effective(queries):.1f} of {number_of(len(queries), 'query')} (Kish); unequal weights "
        "cost the rest.",
        *weight_doubts_in_words(weights, queries, judged),
    ]


def weight_doubts_in_words(weights: QueryWeights, queries: Sequence[str], judged: Sequence[str] = ()) -> Iterator[str]:
    """What to beware of in the weighted means over these queries."""
    if beyond := weights.beyond({*queries, *judged}):
        yield (
            f"{len(beyond):,} of {number_of(len(weights.queries), 'weight')} {plural('{is|are}', len(beyond))} for queries "
            f"without judgments ({some_of(beyond)}), with {weights.share_of(beyond):.1%} of the weight: the weighted means "
            "are over the other queries."
        )
    if few := weights.dominant(queries):
        yield (
            f"Warning: {few} of {len(queries):,} queries {plural('{has|have}', few)} half of the weight, so the weighted means "
            f"depend mostly on {plural('{it|them}', few)}."
        )


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
