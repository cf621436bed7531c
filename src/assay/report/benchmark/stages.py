"""The stage table and the sentences about stages that every format of a benchmark report shares. Computes nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from msgspec import Struct

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, ModeTiming, MovedQuery, PairRecord, StageRecord, StageVerdict
from assay.report.benchmark.words import milliseconds, mode_name
from assay.report.drawing.words import MARKS, NONE
from assay.words import listed, number_of, plural, show_p

MATTERS = "•"  # at a measure that matters at the stage
UNJUDGED = "unjudged"  # the label of documents without a judgment
MANY_UNJUDGED = 0.1  # more of the first ten than at the stage before
SHOWN = 3  # queries that a stage rescued or ruined, in text
_TEXT = 60  # characters of a query


class StageCell(Struct, frozen=True):
    """A value in the stage table."""

    value: str
    matters: bool = False  # the measure matters at this stage
    verdict: str = ""  # better or worse if significantly different from the stage before; else empty
    signed: bool = False  # in a column where some values have signs

    @property
    def mark(self) -> str:
        """The symbol for the verdict."""
        return MARKS.get(self.verdict, "")

    @property
    def signs(self) -> str:
        """All its symbols, which take the same place in each row."""
        return f"{MATTERS if self.matters else ' '}{self.mark or ' '}" if self.signed else ""


class StageColumn(Struct, frozen=True):
    """A column of the stage table."""

    name: str
    cells: tuple[StageCell, ...]
    words: bool = False  # names, aligned left
    given: bool = False  # its name is that of a measure or of a label


class StageTable(Struct, frozen=True):
    """The stages, one in each row. Columns that belong together are in a group: measures, difference, cost, ceiling, labels."""

    stages: tuple[str, ...]
    groups: tuple[tuple[StageColumn, ...], ...]

    @property
    def halves(self) -> tuple[tuple[StageColumn, ...], ...]:
        """The columns as two tables: what the stages achieve, and all the rest."""
        parts = (self.groups[:2], self.groups[2:])
        return tuple(tuple(column for group in groups for column in group) for groups in parts if groups)


def stage_table(report: BenchmarkReport) -> StageTable:
    """The stages of the pipeline; columns in which no stage has a value are left out."""
    made = (_measures(report), _changes(report), _costs(report), _ceilings(report), _labels(report))
    groups = (tuple(column for column in group if any(cell.value != NONE for cell in column.cells)) for group in made)
    return StageTable(tuple(map(mode_name, report.stages)), tuple(group for group in groups if group))


def _measures(report: BenchmarkReport) -> Iterator[StageColumn]:
    for measure in report.stages[0].metrics:
        yield StageColumn(show_id(measure), tuple(_measure_cell(stage, measure) for stage in report.stages), given=True)


def _measure_cell(stage: StageRecord, measure: str) -> StageCell:
    value, pair = stage.metrics[measure], _pair(stage, measure)
    verdict = pair.verdict if pair is not None and pair.verdict in MARKS else ""
    return StageCell(NONE if value is None else f"{value:.4f}", measure in stage.matters, verdict, signed=True)


def _pair(stage: StageRecord, measure: str) -> PairRecord | None:
    return next((each for each in stage.differences if each.measure == measure), None)


def deciding_pair(stage: StageRecord) -> PairRecord | None:
    """The difference by the measure that decides at the stage; None for a mode that stands on nothing."""
    return next((pair for measure in stage.matters if (pair := _pair(stage, measure)) is not None), None)


def _changes(report: BenchmarkReport) -> Iterator[StageColumn]:
    pairs = [deciding_pair(stage) for stage in report.stages]

    def column(name: str, value: Callable[[PairRecord], str], *, words: bool = False) -> StageColumn:
        return StageColumn(name, tuple(StageCell(NONE if each is None else value(each)) for each in pairs), words)

    yield column("stage before", lambda pair: show_id(pair.baseline), words=True)
    yield column("measure", lambda pair: show_id(pair.measure), words=True)
    yield column("difference", lambda pair: NONE if pair.difference is None else f"{pair.difference:+.4f}")
    yield column("95% interval", interval_in_words)
    yield column("p", lambda pair: NONE if pair.p_corrected is None else show_p(pair.p_corrected))


def _ceilings(report: BenchmarkReport) -> Iterator[StageColumn]:
    yield StageColumn("ceiling", tuple(StageCell(_ceiling_cell(stage)) for stage in report.stages))
    yield StageColumn("way gone", tuple(StageCell(_way_cell(stage)) for stage in report.stages))


def interval_in_words(pair: PairRecord) -> str:
    """'-0.0102 to 0.0301'."""
    return NONE if pair.interval is None else f"{pair.interval[0]:.4f} to {pair.interval[1]:.4f}"


def _ceiling_cell(stage: StageRecord) -> str:
    return NONE if stage.ceiling is None else f"{stage.ceiling.value:.4f}"


def _way_cell(stage: StageRecord) -> str:
    return NONE if stage.ceiling is None or stage.ceiling.share is None else f"{stage.ceiling.share:.0%}"


def _costs(report: BenchmarkReport) -> Iterator[StageColumn]:
    def time(value: Callable[[ModeTiming], float]) -> tuple[StageCell, ...]:
        known = (report.timing.get(stage.name) for stage in report.stages)
        return tuple(StageCell(NONE if each is None else milliseconds(value(each))) for each in known)

    yield StageColumn("ms", time(lambda timing: timing.milliseconds))
    yield StageColumn("p95", time(lambda timing: timing.p95))
    yield StageColumn("own ms", time(lambda timing: timing.own))
    for name, field in (
        ("documents", "documents"),
        ("tokens in", "tokens_in"),
        ("tokens out", "tokens_out"),
        ("cost", "cost"),
    ):
        amounts = [getattr(stage.per_query, field) if stage.per_query else 0.0 for stage in report.stages]
        yield StageColumn(name, tuple(StageCell(_amount(amount) if amount else NONE) for amount in amounts))


def _amount(value: float) -> str:
    """A number per query with a sensible number of digits.

    >>> _amount(0.00021999), _amount(30.0), _amount(16.69), _amount(2345.6)
    ('0.00022', '30', '16.7', '2,346')
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _labels(report: BenchmarkReport) -> Iterator[StageColumn]:
    for label in dict.fromkeys(label for stage in report.stages for label in stage.labels):
        cells = (StageCell(f"{stage.labels[label]:.0%}" if label in stage.labels else NONE) for stage in report.stages)
        yield StageColumn(show_id(label), tuple(cells), given=True)


# Sentences


def verdict_on_stages(report: BenchmarkReport) -> Iterator[str]:
    """Which stages earned their cost and which did not, in one line."""
    found = {verdict: [stage for stage in report.stages if stage.verdict == verdict] for verdict in _UNEARNED}
    earned = [stage for stage in report.stages if stage.verdict == "helped"]
    others = [
        f"{listed([show_id(stage.name) for stage in stages])} {plural(_UNEARNED[verdict], len(stages))}"
        for verdict, stages in found.items()
        if stages
    ]
    if earned:
        names = listed([show_id(stage.name) for stage in earned])
        better = plural("earned {its|their} cost: significantly better than the stage before", len(earned))
        yield ". ".join([f"{names} {better}", *others]) + "."
    elif others:
        yield f"No stage earned its cost. {'. '.join(others)}."


# What is said of stages that did not earn their cost, by their verdict.
_UNEARNED: dict[StageVerdict, str] = {
    "mixed": "{is|are} significantly better than the stage before by one measure and worse by another",
    "no significant difference": "{is|are} not significantly better than the stage before",
    "hurt": "{is|are} significantly worse than the stage before",
    "order from repair": "{does|do} not count, because most of the order comes from repair",
}


def stage_sentences(report: BenchmarkReport) -> Iterator[str]:
    """What each stage that stands on others adds and takes, as a sentence or two."""
    for stage in filter(deciding_pair, report.stages):
        added, repaired = _added_in_words(report, stage), _repaired_in_words(stage)
        yield " ".join([added, *repaired, *_ceiling_in_words(stage), *_unjudged_in_words(report, stage)])


def _added_in_words(report: BenchmarkReport, stage: StageRecord) -> str:
    words, cost = stage.words.removesuffix("."), _cost_in_words(report, stage)
    if not cost:
        return stage.words
    return f"{words}, for {cost}." if stage.verdict == "helped" else f"{words}. It takes {cost}."


def _cost_in_words(report: BenchmarkReport, stage: StageRecord) -> str:
    """'120 ms more per query (100 documents, 2,300 tokens, a cost of 0.0012)'; empty if nothing is known."""
    amounts, time = ", ".join(filter(None, _amounts_in_words(stage))), _time_in_words(report, stage)
    if time is None:
        return f"{amounts} per query" if amounts else ""
    return f"{time} per query ({amounts})" if amounts else f"{time} per query"


def _time_in_words(report: BenchmarkReport, stage: StageRecord) -> str | None:
    """'120 ms more' than the stage before; None if not known."""
    timing, pair = report.timing.get(stage.name), deciding_pair(stage)
    if timing is None or pair is None:
        return None
    before = report.timing.get(pair.baseline)
    more = timing.own if before is None else timing.milliseconds - before.milliseconds
    return f"{milliseconds(more)} ms more" if more > 0 else "no more time"


def _amounts_in_words(stage: StageRecord) -> Iterator[str]:
    if stage.per_query is not None:
        tokens = stage.per_query.tokens_in + stage.per_query.tokens_out
        yield f"{_amount(stage.per_query.documents)} documents"
        yield f"{_amount(tokens)} tokens" if tokens else ""
        yield f"a cost of {_amount(stage.per_query.cost)}" if stage.per_query.cost else ""


def _repaired_in_words(stage: StageRecord) -> Iterator[str]:
    """How many answers of a language model had to be repaired, unless it is said already because they are most of them."""
    if stage.work is not None and stage.work.repaired and not stage.order_from_repair:
        yield f"{stage.work.repaired:,} of its {stage.work.windows:,} answers had to be repaired."


def _ceiling_in_words(stage: StageRecord) -> Iterator[str]:
    ceiling = stage.ceiling
    if ceiling is None or stage.order_from_repair:
        return
    given = f"The best order of {number_of(stage.relevant.depth, 'document')} from {show_id(stage.inputs[0])}"
    if ceiling.share is None:
        yield f"{given} is the order it was given: {show_id(ceiling.measure)} {ceiling.value:.4f}."
        return
    gone = f"it went {ceiling.share:.0%} of the way" if ceiling.share >= 0 else "it went the wrong way"
    yield f"{given} would have {show_id(ceiling.measure)} {ceiling.value:.4f}; {gone} from {ceiling.before:.4f}."


def _unjudged_in_words(report: BenchmarkReport, stage: StageRecord) -> Iterator[str]:
    """A caution if the stage brings up documents that nobody has judged."""
    shares = {each.name: each.labels.get(UNJUDGED, 0.0) for each in report.stages}
    pair = deciding_pair(stage)
    if pair is not None and shares[stage.name] - shares[pair.baseline] >= MANY_UNJUDGED:
        yield (
            f"{shares[stage.name]:.0%} of its first ten documents are not judged, against {shares[pair.baseline]:.0%} of "
            f"those of {show_id(pair.baseline)}; they count as not relevant, so its figures may be too low."
        )


def moved_sentences(report: BenchmarkReport, shown: int = SHOWN) -> Iterator[str]:
    """The queries that each stage rescued and ruined; the first few of each by name."""
    for stage in report.stages:
        for verb, moved in (("rescued", stage.rescued), ("ruined", stage.ruined)):
            if moved and not stage.order_from_repair:
                some = "; ".join(map(_moved_in_words, moved[:shown]))
                which = ":" if len(moved) <= shown else ", such as"
                yield f"{show_id(stage.name)} {verb} {number_of(len(moved), 'query')}{which} {some}."


def _moved_in_words(moved: MovedQuery) -> str:
    return f"{named_query(moved)} ({moved.before:.2f} to {moved.after:.2f})"


def named_query(moved: MovedQuery) -> str:
    """'s012 "garden hose"'."""
    return f'{show_id(moved.query)} "{show_id(moved.text, _TEXT)}"' if moved.text else show_id(moved.query)


def stage_legend(report: BenchmarkReport) -> Iterator[str]:
    """What the marks and columns mean."""
    changed = [pair for stage in report.stages for pair in stage.differences if pair.wins or pair.losses]
    tested = sum(pair.p is not None for pair in changed)
    over = f", Holm correction over {tested} comparisons" if tested > 1 else ""
    yield (
        f"{MATTERS} the measure matters at this stage. {MARKS['better']} {MARKS['worse']} significantly better or worse "
        f"than the stage before (t test{over}, alpha 0.05); of several, the best by that measure."
    )
    if tested > 1:
        yield "The 95% intervals are Bonferroni's: all of them hold together."
    yield f"ms, p95: median and 95th percentile per query, with the stages below; own ms: without them.{_work_in_words(report)}"
    if any(stage.ceiling for stage in report.stages):
        yield (
            "ceiling: the nDCG of the best order of the documents that the stage was given; way gone: from the stage "
            "before to that ceiling."
        )
    if any(stage.labels for stage in report.stages):
        yield f"{listed([*map(show_id, _label_names(report.stages))])}: shares of the documents in the first ten."
    if any(stage.rescued or stage.ruined for stage in report.stages):
        yield "Rescued and ruined queries move by at least 0.2 in the measure that decides at the stage."


def _work_in_words(report: BenchmarkReport) -> str:
    return " documents, tokens, cost: per query." if any(stage.per_query for stage in report.stages) else ""


def _label_names(stages: Sequence[StageRecord]) -> list[str]:
    return list(dict.fromkeys(label for stage in stages for label in stage.labels))
