"""The table that every renderer prints: runs by measures, the best of each column, and notes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field
from msgspec.structs import replace

from assay.describing import (
    agreement_in_words,
    anomalies_in_words,
    conventions_in_brief,
    conventions_in_words,
    coverage_in_words,
    weight_doubts_in_words,
    weights_in_words,
)
from assay.errors import InputError, MeasureError, did_you_mean, show_id
from assay.evaluation import Coverage, Evaluation
from assay.judges import Agreement
from assay.measures import Request, parse_measure
from assay.measures.arithmetic import within
from assay.rules import Rules
from assay.words import listed, natural_key, noun_for, plural, sentence

if TYPE_CHECKING:  # not needed at run time without targets
    from assay.records.targets import TargetOutcome
    from assay.weighting.estimating import WeightedMean

ALL = "all"  # in place of a query id, in the row with a run's means
DECIMALS = 4  # of printed values
_FEW = 3  # runs or measures that a sentence names


class Row(Struct, frozen=True):
    """The values of one run, for one query or for all of them."""

    run: str
    query: str
    values: tuple[float, ...]
    best: tuple[bool, ...]  # whether no other run has a better value


class WeightedRow(Struct, frozen=True):
    """The plain and the weighted mean of one run by one measure, each with its interval."""

    run: str
    request: Request
    mean: float
    interval: tuple[float, float] | None
    weighted: WeightedMean


class ResultTable(Struct, frozen=True):
    """Runs by measures."""

    requests: tuple[Request, ...]
    rows: tuple[Row, ...]  # one per run
    query_rows: tuple[Row, ...]  # one per query and run, if requested
    rules: Rules
    coverage: dict[str, Coverage]  # by run
    tags: dict[str, str]  # by run
    undefined: dict[str, dict[str, int]]  # by run and measure: queries left out of the mean
    comparable: bool  # whether the means of all runs are over the same queries
    like: str  # the convention that was followed
    tie_bounds: dict[str, dict[str, tuple[float, float]]]  # by run and measure, if ties could change a printed digit
    per_query: bool
    doubt: str = ""  # why some measures may not mean what they say
    targets: Mapping[str, TargetOutcome] = field(default_factory=dict)  # by run; empty without targets
    weighted: tuple[WeightedRow, ...] = ()  # empty without weights
    weight_notes: tuple[str, ...] = ()
    weight_doubts: tuple[str, ...] = ()  # those of the notes that say what to beware of
    digits: int = DECIMALS
    left_out: int = 0  # runs that are not shown

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the measures as the user wrote them."""
        return tuple(request.label for request in self.requests)

    @property
    def several(self) -> bool:
        """Whether there is more than one run, shown or left out."""
        return len(self.rows) + self.left_out > 1

    @property
    def row_names(self) -> list[str]:
        """The columns that name a row for readers: the run, the query, or both if both vary."""
        if not self.per_query:
            return ["run"]
        return ["run", "query"] if self.several else ["query"]

    def names_of(self, row: Row) -> list[str]:
        """The names of one row."""
        return [row.run if name == "run" else row.query for name in self.row_names]

    def all_rows(self) -> Iterator[Row]:
        """Every row: queries first, then the totals."""
        yield from self.query_rows
        yield from self.rows

    def chosen(self, sort: str | None, top: int | None) -> ResultTable:
        """The table in the order of a measure, if any, and with only the first runs, if a number is given."""
        table = self if sort is None else self.sorted_by(sort)
        return table if top is None else table.first(top)

    def sorted_by(self, measure: str) -> ResultTable:
        """The table with the runs in the order of their values of a measure, highest first; undefined ones are last."""
        at = self._column_of(measure)
        known = [(row.run, row.values[at]) for row in self.rows]
        order = sorted(known, key=lambda pair: (math.isnan(pair[1]), -pair[1]))
        place = {run: number for number, (run, _) in enumerate(order)}
        queries = {row.query: number for number, row in enumerate(self.query_rows)}
        return replace(
            self,
            rows=tuple(sorted(self.rows, key=lambda row: place[row.run])),
            query_rows=tuple(sorted(self.query_rows, key=lambda row: (queries[row.query], place[row.run]))),
            weighted=tuple(sorted(self.weighted, key=lambda row: place[row.run])),
            coverage={run: self.coverage[run] for run in place},
        )

    def _column_of(self, measure: str) -> int:
        """The place of a measure, which may have any of its names."""
        if measure in self.labels:
            return self.labels.index(measure)
        try:
            return [request.measure for request in self.requests].index(parse_measure(measure))
        except (MeasureError, ValueError):
            hint = did_you_mean(measure, self.labels) or f"; it takes {', '.join(self.labels)}."
            raise InputError(f"`sort=` cannot be {measure!r}, which is not a measure of the table{hint}") from None

    def first(self, count: int) -> ResultTable:
        """The table with only the first runs. What is best is still the best of all runs."""
        kept = {row.run for row in self.rows[:count]}
        return replace(
            self,
            rows=self.rows[:count],
            query_rows=tuple(row for row in self.query_rows if row.run in kept),
            weighted=tuple(row for row in self.weighted if row.run in kept),
            coverage={run: coverage for run, coverage in self.coverage.items() if run in kept},
            targets={run: outcome for run, outcome in self.targets.items() if run in kept},
            left_out=self.left_out + len(self.rows[count:]),
        )

    def queries_for_people(self) -> list[Row]:
        """The rows of queries in natural order: 2 before 10."""
        return sorted(self.query_rows, key=lambda row: natural_key(row.query))

    def for_people(self) -> Iterator[Row]:
        """Every row: queries first, in natural order, then the totals."""
        yield from self.queries_for_people()
        yield from self.rows

    def shown(self, value: float, request: Request) -> str:
        """A value as it is printed."""
        return rounded(value, request, self.digits)

    @property
    def weighted_head(self) -> list[str]:
        """The columns of the weighted means."""
        names = ["run"] if self.several else []
        return [*names, "measure", "mean", "95% interval", "weighted", "95% interval"]

    def weighted_cells(self) -> Iterator[list[str]]:
        """The weighted means, in the order of `weighted_head`."""
        for row in self.weighted:
            means = self.shown(row.mean, row.request), self._ends(row.interval)
            weighted = self.shown(row.weighted.mean, row.request), self._ends(row.weighted.interval)
            yield [*([show_id(row.run)] if self.several else []), row.request.label, *means, *weighted]

    def _ends(self, interval: tuple[float, float] | None) -> str:
        return "-" if interval is None else f"{interval[0]:.{self.digits}f} {interval[1]:.{self.digits}f}"

    def status_of(self, run: str, label: str) -> str:
        """The status of a mean's target; empty without a target."""
        found = self.targets[run].results.get(label) if run in self.targets else None
        return "" if found is None else found.status

    def _agreements(self) -> set[Agreement]:
        """How far the judges agree: the same for all runs, or nothing."""
        return {coverage.agreement for coverage in self.coverage.values() if coverage.agreement is not None}

    def conventions(self) -> str:
        """The conventions in one short line."""
        judged = max(coverage.judged for coverage in self.coverage.values())
        return f"Conventions: {conventions_in_brief(self.rules, self.like, judged)}"

    def anomalies(self) -> Iterator[str]:
        """What changes how the table is read: one sentence for all runs that have the same."""
        yield from self._targets_missed()
        yield from filter(None, [sentence(self.doubt)])
        if not self.comparable:
            yield "The runs are averaged over different queries, so no value is marked as best."
        yield from self.weight_doubts
        yield from anomalies_in_words(self.coverage, self.rules, self.requests)
        yield from self._undefined_values()
        yield from self._ties_that_matter()

    def _targets_missed(self) -> Iterator[str]:
        missed = {run: outcome for run, outcome in self.targets.items() if outcome.status != "pass"}
        if len(missed) <= _FEW:
            yield from (f"{show_id(run)}: {targets_in_words(outcome)}" for run, outcome in missed.items())
        else:
            yield f"{len(missed):,} of {len(self.targets):,} runs do not pass all targets."

    def _undefined_values(self) -> Iterator[str]:
        """Values that are left out of means, by measure."""
        for label in self.labels:
            counts = {run: self.undefined[run][label] for run in self.coverage if self.undefined[run].get(label)}
            if not counts:
                continue
            most = max(counts, key=lambda run: counts[run])
            queries = plural("{count} {query, which is|queries, which are} left out of the mean", counts[most])
            if len(counts) == 1:
                yield f"{label} of {show_id(most)} is undefined for {queries}."
            else:
                yield f"{label} is undefined in {len(counts):,} of {len(self.rows):,} runs; in {show_id(most)} for {queries}."

    def _ties_that_matter(self) -> Iterator[str]:
        tied = {run: ends for run in self.coverage if (ends := self.tie_bounds[run])}
        if not tied:
            return
        if len(tied) == 1:
            ((run, ranges),) = tied.items()
            parts = [f"{label} from {self._to(ends)}" for label, ends in list(ranges.items())[:_FEW]]
            more = " and others" if len(ranges) > _FEW else ""
            yield f"Ties change the printed digits of {show_id(run)}: {', '.join(parts)}{more}."
            return
        _, run, label = max(
            (high - low, run, label) for run, ranges in tied.items() for label, (low, high) in ranges.items()
        )
        how_many = f"{len(tied):,} of {len(self.rows):,} runs" if len(tied) < len(self.rows) else "all runs"
        yield (
            f"Ties change the printed digits of {how_many}; most {label} of {show_id(run)}, from "
            f"{self._to(tied[run][label])}."
        )

    def _to(self, ends: tuple[float, float]) -> str:
        return f"{ends[0]:.{self.digits}f} to {ends[1]:.{self.digits}f}"

    def notes(self) -> list[str]:
        """The targets, conventions and coverage in words."""
        lines = [f"{show_id(run)}: {targets_in_words(outcome)}" for run, outcome in self.targets.items()]
        lines += self.weight_notes
        lines.append(conventions_in_words(self.rules, self.like))
        lines += [f"Judges: {agreement_in_words(found)}" for found in self._agreements()]
        lines += filter(None, [sentence(self.doubt)])
        if not self.comparable:
            lines.append("The runs are averaged over different queries, so no value is marked as best.")
        for run, coverage in self.coverage.items():
            lines.append(f"{show_id(run)}: {coverage_in_words(coverage, self.rules, self.requests)}")
            left_out = [
                f"{count} {noun_for(count, 'query')} for {label}"
                for label, count in self.undefined[run].items()
                if count
            ]
            if left_out:
                lines.append(f"{show_id(run)}: undefined, so left out of the mean: {', '.join(left_out)}.")
            ranges = [f"{label} from {self._to(ends)}" for label, ends in self.tie_bounds[run].items()]
            if ranges:
                lines.append(f"{show_id(run)}: ties change the printed digits: {', '.join(ranges)}.")
        return lines


def tabulate(
    evaluations: Sequence[Evaluation],
    *,
    per_query: bool = False,
    targets: Mapping[str, TargetOutcome] | None = None,
    digits: int = DECIMALS,
) -> ResultTable:
    """The evaluations of one or more runs side by side; `targets` are by run, `digits` the decimals of printed values."""
    first = evaluations[0]
    comparable = all(evaluation.queries == first.queries for evaluation in evaluations)
    totals = [tuple(evaluation.mean().values()) for evaluation in evaluations]
    rows = _rows([evaluation.run for evaluation in evaluations], ALL, totals, first.requests, mark=comparable)
    return ResultTable(
        requests=first.requests,
        rows=tuple(rows),
        query_rows=tuple(_query_rows(evaluations)) if per_query else (),
        rules=first.rules,
        coverage={evaluation.run: evaluation.coverage for evaluation in evaluations},
        tags={evaluation.run: evaluation.tag for evaluation in evaluations},
        comparable=comparable,
        like=first.like,
        tie_bounds={e.run: _visible(e.tie_bounds or {}, digits) for e in evaluations},
        undefined={e.run: {label: int(n) for label, n in e.undefined().items()} for e in evaluations},
        per_query=per_query,
        doubt=first.doubt,
        targets=targets or {},
        weighted=tuple(row for evaluation in evaluations for row in _weighted_rows(evaluation)),
        weight_notes=tuple(_weight_notes(first)),
        weight_doubts=tuple(_weight_doubts(first)),
        digits=digits,
    )


def _weighted_rows(evaluation: Evaluation) -> Iterator[WeightedRow]:
    if evaluation.query_weights is None:
        return
    from assay.comparison.intervals import mean_interval

    means, weighted = evaluation.mean(), evaluation.weighted()
    for request, column in zip(evaluation.requests, evaluation.values.T, strict=True):
        if request.label in weighted:
            interval = within(mean_interval(column), request.measure.definition.bounds)
            yield WeightedRow(evaluation.run, request, means[request.label], interval, weighted[request.label])


def _weight_notes(evaluation: Evaluation) -> Iterator[str]:
    weights = evaluation.query_weights
    if weights is None:
        return
    yield from weights_in_words(weights, evaluation.queries, evaluation.coverage.missing)
    others = [request.label for request in evaluation.requests if request.measure.definition.total != "mean"]
    if others:
        yield f"{listed(others)}: no mean over queries, so there is no weighted one."


def _weight_doubts(evaluation: Evaluation) -> Iterator[str]:
    weights = evaluation.query_weights
    if weights is not None:
        yield from weight_doubts_in_words(weights, evaluation.queries, evaluation.coverage.missing)


def targets_in_words(outcome: TargetOutcome) -> str:
    """The overall status of a run's targets, and the details of those that were not reached."""
    counts = ", ".join(f"{count} {status}" for status, count in outcome.counts().items())
    missed = [f"{label} {result.words}" for label, result in outcome.results.items() if result.status != "pass"]
    named = f"targets {show_id(outcome.profile)}: {outcome.status}{f' ({counts})' if counts else ''}"
    return f"{named}: {'; '.join(missed)}." if missed else f"{named}."


def _visible(ranges: dict[str, tuple[float, float]], digits: int) -> dict[str, tuple[float, float]]:
    """The ranges that are visible with this many decimals."""
    return {label: (low, high) for label, (low, high) in ranges.items() if f"{low:.{digits}f}" != f"{high:.{digits}f}"}


def _query_rows(evaluations: Sequence[Evaluation]) -> Iterator[Row]:
    tables = [dict(zip(e.queries, e.values.tolist(), strict=True)) for e in evaluations]
    queries = dict.fromkeys(query for evaluation in evaluations for query in evaluation.queries)
    for query in queries:
        present = [(e.run, table[query]) for e, table in zip(evaluations, tables, strict=True) if query in table]
        yield from _rows([run for run, _ in present], query, [values for _, values in present], evaluations[0].requests)


def _rows(
    runs: Sequence[str],
    query: str,
    values: Sequence[Sequence[float]],
    requests: Sequence[Request],
    *,
    mark: bool = True,
) -> Iterator[Row]:
    top = [_best(column, request) for column, request in zip(zip(*values, strict=True), requests, strict=True)]
    for run, row in zip(runs, values, strict=True):
        marks = tuple(mark and best is not None and value == best for value, best in zip(row, top, strict=True))
        yield Row(run, query, tuple(row), marks)


def _best(values: Sequence[float], request: Request) -> float | None:
    """The highest value, or None if higher is not better or all are equal."""
    known = [value for value in values if not math.isnan(value)]
    return max(known) if len(set(known)) > 1 and request.measure.definition.rewards else None


def four_decimals(value: float, request: Request) -> str:
    """The value with four decimals, as a whole number for counts, or a dash for NaN."""
    return rounded(value, request, DECIMALS)


def rounded(value: float, request: Request, digits: int) -> str:
    """The value with so many decimals, as a whole number for counts, or a dash for NaN."""
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if request.measure.definition.total == "sum" else f"{value:.{digits}f}"
