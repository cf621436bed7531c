"""The value that every renderer prints: runs by measures, the best of each column, and what must be said about them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

from assay.errors import show_id, some_of
from assay.evaluation import Coverage, Evaluation
from assay.measures import Request
from assay.rules import Rules

ALL = "all"  # the row of a run that stands for all its queries


@dataclass(frozen=True)
class Row:
    """The values of one run, for one query or for all of them."""

    run: str
    query: str
    values: tuple[float, ...]
    best: tuple[bool, ...]  # whether no other run does better here


@dataclass(frozen=True)
class ResultTable:
    """Runs by measures."""

    requests: tuple[Request, ...]
    rows: tuple[Row, ...]  # one per run
    query_rows: tuple[Row, ...]  # one per query and run, where asked for
    rules: Rules
    coverage: dict[str, Coverage]  # by run
    tags: dict[str, str]  # by run
    undefined: dict[str, dict[str, int]]  # by run and measure: queries that its mean leaves out
    comparable: bool  # whether the means of all runs are over the same queries
    like: str  # the convention that was followed
    tie_bounds: dict[str, dict[str, tuple[float, float]]]  # by run and measure, where ties could change a shown digit
    per_query: bool

    @property
    def labels(self) -> tuple[str, ...]:
        """The names of the measures as the user wrote them."""
        return tuple(request.label for request in self.requests)

    @property
    def several(self) -> bool:
        """Whether there is anything to compare."""
        return len(self.rows) > 1

    @property
    def row_names(self) -> list[str]:
        """What a row of a table for people is called by: the run, the query, or both where both vary."""
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

    def notes(self) -> list[str]:
        """The conventions in force and the coverage, in words."""
        lines = [conventions_in_words(self.rules, self.like)]
        if not self.comparable:
            lines.append("The runs are averaged over different queries, so none is called the best.")
        for run, coverage in self.coverage.items():
            lines.append(f"{show_id(run)}: {coverage_in_words(coverage, self.rules)}")
            left_out = [
                f"{_number(count, 'query')} for {label}" for label, count in self.undefined[run].items() if count
            ]
            if left_out:
                lines.append(f"{show_id(run)}: left out as undefined: {', '.join(left_out)}.")
            ranges = [f"{label} from {low:.4f} to {high:.4f}" for label, (low, high) in self.tie_bounds[run].items()]
            if ranges:
                lines.append(f"{show_id(run)}: the order of equal scores decides shown digits: {', '.join(ranges)}.")
        return lines


def tabulate(evaluations: Sequence[Evaluation], *, per_query: bool = False) -> ResultTable:
    """The evaluations of one or more runs side by side."""
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
        tie_bounds={e.run: _visible(e.tie_bounds or {}) for e in evaluations},
        undefined={e.run: {label: int(n) for label, n in e.undefined().items()} for e in evaluations},
        per_query=per_query,
    )


def _visible(ranges: dict[str, tuple[float, float]]) -> dict[str, tuple[float, float]]:
    """The ranges that four decimals can show."""
    return {label: (low, high) for label, (low, high) in ranges.items() if f"{low:.4f}" != f"{high:.4f}"}


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
    """The highest value, or None where higher is not better or all are equal."""
    known = [value for value in values if not math.isnan(value)]
    return max(known) if len(set(known)) > 1 and request.measure.definition.rewards else None


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
    settings = ", ".join(f"{name}={value}" for name, value in asdict(rules).items() if value is not None)
    if like != "assay":
        words.insert(0, f"as {like} has them (`assay conventions` says what that changes)")
    return f"Conventions: {'; '.join(word for word in words if word)} ({settings})."


def coverage_in_words(coverage: Coverage, rules: Rules) -> str:
    """How far run and judgments meet, in a few sentences."""
    parts = [f"{_number(coverage.judged, 'query')} judged, {coverage.answered} answered, {_missing(coverage, rules)}"]
    parts[0] += f", {coverage.without_relevant} without relevant documents"
    if coverage.unjudged:
        count = len(coverage.unjudged)
        parts.append(f"{_number(count, 'query')} of the run {_are(count)} not judged and left out")
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
    found = f"in {_number(coverage.tied, 'query')} a judged document shares its score"
    return f"{found}, across {', '.join(straddling)}" if straddling else f"{found}, never across a cutoff"


def _number(count: int, noun: str) -> str:
    plural = "queries" if noun == "query" else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def four_decimals(value: float, request: Request) -> str:
    """A value as it is shown: four decimals, whole numbers for counts, a dash where there is none."""
    if math.isnan(value):
        return "-"
    return f"{value:.0f}" if request.measure.definition.total == "sum" else f"{value:.4f}"
