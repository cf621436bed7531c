"""Judge the stages of a search pipeline: the modes that stand on others, and those they stand on. Reads and writes no files.

Retrieval sets the ceiling, reranking works within it: retrieval is judged by how many relevant documents it finds, reranking
by how it orders them, and each stage by what it adds to the stage before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.benchmark.building import REPAIRED, is_from_repair, pair_record, work_record
from assay.benchmark.searching import Searched
from assay.comparison.moves import most_moved
from assay.comparison.pairs import Study, SystemScores, pair_results, tests_of
from assay.errors import show_id
from assay.evaluation import Evaluation, Evaluator, combined, ranking_of, values_like
from assay.judged import JudgedRanking
from assay.marking import OpenedRun
from assay.measures import Measure, parse_measure, parse_measures
from assay.records.benchmark import (
    Ceiling,
    MovedQuery,
    PairRecord,
    PerQuery,
    RelevantRecord,
    StageRecord,
    StageVerdict,
    WorkRecord,
)
from assay.report.benchmark.stages import UNJUDGED
from assay.retrieval.base import Role
from assay.retrieval.modes import MODES
from assay.retrieval.nodes import Reranking

ORDER, FIRST, FOUND = "nDCG@10", "MRR@10", "Recall@100"  # of every stage, unless the recipe has its own form of them
TOP_TEN = 10
HANDED_ON = 100  # documents that count as handed on by a retriever
MOVED = 0.2  # a query that moves by less is neither rescued nor ruined
MOST_LABELS = 8  # grades with more values than this are not labels


# What is measured


class StageMeasures(Struct, frozen=True, dict=True):
    """The measures of all stages, as the recipe writes them."""

    deciding: str  # decides which mode is best
    order: str
    first: str
    found: str

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Each measure once."""
        return tuple(dict.fromkeys((self.deciding, self.order, self.first, self.found)))

    def that_matter(self, role: Role, *, last: bool) -> tuple[str, ...]:
        """The measures that matter at a stage, the one that decides first.

        The order of the last stage is what users see, so the deciding measure counts there even without a reranker.
        """
        if role == "reranker":
            return tuple(dict.fromkeys((self.order if self.deciding == self.found else self.deciding, *self._ordering)))
        return tuple(dict.fromkeys((self.deciding, self.found))) if last else (self.found,)

    @property
    def _ordering(self) -> tuple[str, str]:
        return self.order, self.first


def stage_measures(measures: Sequence[str]) -> StageMeasures:
    """nDCG@10, MRR@10 and Recall@100, each in the form that the recipe has, and the first measure of the recipe.

    >>> stage_measures(["nDCG(gain='exp')@10", "AP"]).labels
    ("nDCG(gain='exp')@10", 'MRR@10', 'Recall@100')
    """
    requests = parse_measures(list(measures))

    def own(label: str) -> str:
        usual = parse_measure(label)
        return next((each.label for each in requests if _alike(each.measure, usual)), label)

    first = requests[0]
    return StageMeasures(
        first.label if first.measure.definition.rewards else own(ORDER), *map(own, (ORDER, FIRST, FOUND))
    )


def _alike(measure: Measure, usual: Measure) -> bool:
    return measure.name == usual.name and measure.param("cutoff") == usual.param("cutoff")


# Stages


class Stage(Struct, frozen=True):
    """A mode with its run, evaluated by the measures of all stages."""

    name: str
    kind: str
    role: Role
    inputs: tuple[str, ...]
    top: int  # documents that a reranker is given; for others, those that count as handed on
    work: WorkRecord | None
    evaluation: Evaluation
    ranking: JudgedRanking
    order_from_repair: bool

    def mean(self, measure: str) -> float:
        """Over the queries; NaN if no query has a value."""
        return self.evaluation.mean()[measure]


def stages_among(searched: Sequence[Searched]) -> list[Searched]:
    """The modes that are stages: those that stand on others that found something, and these."""
    found = {each.mode.name for each in searched if each.path}
    inputs = {each.mode.name: found & set(each.mode.node.inputs) for each in searched if each.path}
    stood_on = set().union(*inputs.values())
    return [each for each in searched if inputs.get(each.mode.name) or each.mode.name in stood_on & found]


def judge_stage(searched: Searched, evaluator: Evaluator, run: OpenedRun) -> Stage:
    """The stage of a mode, with its run judged."""
    node, work, ranked = searched.mode.node, work_record(searched), evaluator.rank(run)
    return Stage(
        name=searched.mode.name,
        kind=searched.mode.mode.kind,
        role=MODES[searched.mode.mode.kind].role,
        inputs=node.inputs,
        top=node.top if isinstance(node, Reranking) else HANDED_ON,
        work=work,
        evaluation=evaluator.evaluate(ranked),
        ranking=ranking_of(ranked.rankings[0]),
        order_from_repair=is_from_repair(work),
    )


class StageContext(Struct, frozen=True):
    """What all stages share."""

    measures: StageMeasures
    evaluator: Evaluator
    texts: Mapping[str, str]  # query -> text
    letters: Mapping[str, float]  # letter -> grade, if the judgments are letters
    study: Study


def stage_records(stages: Sequence[Stage], context: StageContext) -> tuple[StageRecord, ...]:
    """What each stage adds to the one before it; p values are corrected over all stages and measures together."""
    differences = _differences(stages, context)
    return tuple(_record(stage, stages, differences[stage.name], context) for stage in stages)


def _record(
    stage: Stage, stages: Sequence[Stage], differences: Mapping[str, PairRecord], context: StageContext
) -> StageRecord:
    matters = _mattering(stage, stages, context.measures)
    verdict = _verdict(stage, [differences[measure] for measure in matters if measure in differences])
    means = stage.evaluation.mean()
    rescued, ruined = _moved(stage, stages, matters[0], context)
    return StageRecord(
        name=stage.name,
        kind=stage.kind,
        role=stage.role,
        inputs=stage.inputs,
        metrics={label: None if np.isnan(means[label]) else means[label] for label in context.measures.labels},
        matters=matters,
        differences=tuple(differences.values()),
        ceiling=_ceiling(stage, stages, context),
        relevant=_relevant(stage, stages),
        labels=label_shares(stage.ranking, context.letters),
        per_query=_per_query(stage),
        rescued=rescued,
        ruined=ruined,
        order_from_repair=stage.order_from_repair,
        verdict=verdict,
        words=_in_words(stage, matters, differences),
        work=stage.work,
    )


def _mattering(stage: Stage, stages: Sequence[Stage], measures: StageMeasures) -> tuple[str, ...]:
    return measures.that_matter(stage.role, last=not any(stage.name in other.inputs for other in stages))


def _before(stage: Stage, stages: Sequence[Stage], measure: str) -> Stage | None:
    """The best of its inputs by a measure; of equal ones, the first. None for a mode that stands on nothing."""
    inputs = [each for name in stage.inputs for each in stages if each.name == name]
    return max(inputs, key=lambda each: np.nan_to_num(each.mean(measure), nan=-np.inf), default=None)


# Differences


def _differences(stages: Sequence[Stage], context: StageContext) -> dict[str, dict[str, PairRecord]]:
    """Stage -> measure -> its difference from the stage before, for each measure that the stage can change."""
    labels = context.measures.labels
    parts = {
        (stage.name, label): _side_by_side(stage, before, label)
        for stage in stages
        for label in labels
        if (before := _before(stage, stages, label)) is not None and _can_change(stage, label)
    }
    results = pair_results(
        list(parts.values()), [tests_of(part, context.study, None) for part in parts.values()], context.study, "holm"
    )
    found: dict[str, dict[str, PairRecord]] = {stage.name: {} for stage in stages}
    for (name, label), (pair,) in zip(parts, results, strict=True):
        repaired = any(stage.name == name and stage.order_from_repair for stage in stages)
        found[name][label] = pair_record(pair, REPAIRED if repaired else None)
    return found


def _side_by_side(stage: Stage, before: Stage, label: str) -> SystemScores:
    """The values of the two stages by one measure; the stage before is the baseline."""
    column = [request.label for request in stage.evaluation.requests].index(label)
    scores = SystemScores.from_evaluations([before.evaluation, stage.evaluation])
    return SystemScores(scores.systems, scores.queries, (label,), scores.values[column : column + 1])


_OF_A_SET = ("R", "P", "Success")  # the order of the documents above the cutoff does not matter to them


def _can_change(stage: Stage, label: str) -> bool:
    """Whether the stage can change the measure: documents that only change places above the cutoff are still found."""
    measure = parse_measure(label)
    cutoff = measure.param("cutoff") if measure.name in _OF_A_SET else None
    return stage.role != "reranker" or cutoff is None or cutoff < stage.top


def _verdict(stage: Stage, differences: Sequence[PairRecord]) -> StageVerdict:
    """Whether the stage helped, by the measures that matter."""
    found = {each.verdict for each in differences}
    if stage.order_from_repair:
        return "order from repair"
    if {"better", "worse"} <= found:
        return "mixed"
    if not differences:
        return ""
    return "helped" if "better" in found else "hurt" if "worse" in found else "no significant difference"


def _moved(
    stage: Stage, stages: Sequence[Stage], measure: str, context: StageContext
) -> tuple[tuple[MovedQuery, ...], tuple[MovedQuery, ...]]:
    """The queries that moved by at least `MOVED` from the stage before, up and down."""
    before = _before(stage, stages, measure)
    if before is None:
        return (), ()
    scores = _side_by_side(stage, before, measure)
    (moves,) = most_moved(scores, context.study, len(scores.queries))

    def named(side: str) -> tuple[MovedQuery, ...]:
        return tuple(
            MovedQuery(query=each.query, text=context.texts.get(each.query, ""), before=each.before, after=each.after)
            for each in getattr(moves, side)
            if round(abs(each.difference), 12) >= MOVED
        )

    return named("up"), named("down")


# The ceiling


def _ceiling(stage: Stage, stages: Sequence[Stage], context: StageContext) -> Ceiling | None:
    measure = context.measures.order
    before = _before(stage, stages, measure)
    if stage.role != "reranker" or before is None:
        return None
    place = [request.label for request in context.evaluator.requests].index(measure)
    request, plan = context.evaluator.requests[place], context.evaluator.plans[place]
    best = values_like(context.evaluator.like, request, plan, best_order(before.ranking, stage.top))
    value, start = combined(request.measure, best), before.mean(measure)
    way = value - start
    return Ceiling(
        measure=measure,
        value=value,
        before=start,
        share=(stage.mean(measure) - start) / way if way > 1e-12 else None,
    )


def best_order(ranking: JudgedRanking, top: int) -> JudgedRanking:
    """The rankings with their first documents in the best order there is: the highest grades first."""
    within = ranking.hit_rank <= top
    order = np.lexsort((np.where(within, -ranking.hit_rel, ranking.hit_rank), ~within, ranking.hit_query))
    nth = np.arange(len(order)) - ranking.hit_start[:-1][ranking.hit_query] + 1
    rank = np.where(within[order], nth, ranking.hit_rank[order])
    return replace(
        ranking,
        hit_rank=rank,
        hit_rel=ranking.hit_rel[order],
        hit_judgment=ranking.hit_judgment[order],
        hit_tie_first=rank.copy(),
        hit_tie_last=rank.copy(),
    )


# Documents


def _relevant(stage: Stage, stages: Sequence[Stage]) -> RelevantRecord:
    """Relevant documents that are left: of what a reranker is given, or of what others may hand on."""
    before = _before(stage, stages, stage.evaluation.requests[0].label) if stage.role == "reranker" else None
    given = stage if before is None else before
    return RelevantRecord(
        judged=int(stage.ranking.num_rel(1).sum()),
        depth=stage.top,
        candidates=int(given.ranking.num_found(1, stage.top).sum()),
        top_ten=int(stage.ranking.num_found(1, TOP_TEN).sum()),
    )


def label_shares(ranking: JudgedRanking, letters: Mapping[str, float]) -> dict[str, float]:
    """The share of each label among the documents in the first ten; empty if grades are too many to be labels.

    Judgments that list relevant documents only have no share of unjudged ones, which would say nothing.
    """
    grades = sorted(set(ranking.pool.grade.tolist()), reverse=True)
    shown = int(np.minimum(ranking.retrieved, TOP_TEN).sum())
    if not shown or len(grades) > MOST_LABELS:
        return {}
    names = {grade: letter for letter, grade in letters.items()}
    rel = ranking.hit_rel[ranking.within(TOP_TEN)]
    shares = {names.get(grade, f"{grade:g}"): int((rel == grade).sum()) / shown for grade in grades}
    if grades and grades[-1] > 0:  # only relevant documents are listed: all others are as good as judged
        return shares
    return {**shares, UNJUDGED: (shown - len(rel)) / shown}


def _per_query(stage: Stage) -> PerQuery | None:
    queries = int((stage.ranking.retrieved > 0).sum())
    if stage.work is None or not queries:
        return None
    return PerQuery(
        documents=stage.work.documents / queries,
        tokens_in=stage.work.tokens_in / queries,
        tokens_out=stage.work.tokens_out / queries,
        cost=stage.work.cost / queries,
    )


# Words


def _in_words(stage: Stage, matters: Sequence[str], differences: Mapping[str, PairRecord]) -> str:
    """What the stage adds, as a sentence."""
    name = show_id(stage.name)
    if stage.order_from_repair and stage.work is not None:
        return (
            f"{name} does not count, because most of its order comes from repair: {stage.work.repaired:,} of its "
            f"{stage.work.windows:,} answers had to be repaired."
        )
    shown = [differences[measure] for measure in matters if measure in differences]
    if not shown:
        return f"{name} has {matters[0]} {stage.mean(matters[0]):.4f}."
    first, *others = shown
    return f"{_change_in_words(name, first)}{''.join(_others_in_words(first, others))}."


def _change_in_words(name: str, pair: PairRecord) -> str:
    over = show_id(pair.baseline)
    if pair.verdict == "better":
        return f"{name} raises {show_id(pair.measure)} by {_size(pair)} over {over}"
    if pair.verdict == "worse":
        return f"{name} lowers {show_id(pair.measure)} by {_size(pair)} compared with {over}"
    if not pair.wins and not pair.losses:
        return f"{name} does not change {show_id(pair.measure)} on any query compared with {over}"
    between = "" if pair.interval is None else f", {pair.interval[0]:+.4f} to {pair.interval[1]:+.4f}"
    return (
        f"{name} makes no significant difference to {show_id(pair.measure)} compared with {over} "
        f"({pair.difference or 0.0:+.4f}{between})"
    )


def _others_in_words(first: PairRecord, others: Sequence[PairRecord]) -> Iterator[str]:
    """The other measures that change significantly."""
    for pair in others:
        if pair.verdict in ("better", "worse"):
            joined = " and" if pair.verdict == first.verdict else ", but"
            verb = "raises" if pair.verdict == "better" else "lowers"
            over = "" if pair.baseline == first.baseline else f" compared with {show_id(pair.baseline)}"
            yield f"{joined} {verb} {show_id(pair.measure)} by {_size(pair)}{over}"


def _size(pair: PairRecord) -> str:
    """'0.0312 (0.0100 to 0.0524)', without signs."""
    ends = "" if pair.interval is None else " ({:.4f} to {:.4f})".format(*_unsigned(pair.interval, pair.verdict))
    return f"{abs(pair.difference or 0.0):.4f}{ends}"


def _unsigned(interval: tuple[float, float], verdict: str) -> tuple[float, float]:
    low, high = interval
    return (low, high) if verdict == "better" else (-high, -low)
