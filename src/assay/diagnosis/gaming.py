"""Metric gaming: a value that rises without search getting better."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import Interval, mean_interval
from assay.comparison.segments import differing_means
from assay.comparison.significance import significance_of
from assay.diagnosis.figures import mean_of, paired_p
from assay.diagnosis.material import Material
from assay.diagnosis.model import Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.measures import Measure
from assay.tables import Booleans, Floats

FEWEST = 5  # queries that a segment needs to be checked
WITNESSES = ("nDCG@10", "AP", "RR@10", "R@100", "P@10")  # measures that are always checked


@look(
    "DIA030",
    "gaming",
    advice="Choose the measure that reflects what users need before you see results, and report those that fall as well. "
    "Check queries that won by one and lost by the other (assay compare).",
)
def one_measure_at_the_cost_of_others(material: Material) -> LookResult | CannotLook:
    """One measure rises while others, or the share of judged documents, fall.

    Why: a measure that is optimised stops being a good measure. A gain at the first rank may cost recall, and a gain by
    a measure that skips unjudged documents may come from showing more of them.

    Measured: each run against the baseline by all requested measures, by nDCG@10, AP, RR@10, R@100 and P@10, and by
    judged@k: paired t tests over queries, corrected (Holm) over all of them. Reports runs that are significantly better
    by one measure and worse by another.

    Limits: a trade-off can be intended; no measure can say whether it is good for users. A measure that counts unjudged
    documents as not relevant and rises although fewer documents are judged is, if anything, too low.
    """
    if len(material.runs.systems) < 2:
        return CannotLook("needs at least two RUNs")
    trades = _trades(material)
    base = show_id(material.runs.systems[material.baseline])
    traded = [trade.run for trade in trades.found if trade.worse]
    blind = [trade.run for trade in trades.found if not trade.worse]
    rows = tuple(row for trade in trades.found for row in trade.rows)
    severity: Severity = "warning" if traded else "note" if blind else "fine"
    evidence = tuple(
        Evidence(
            f"{row.measure}: {show_id(row.run)} - {base}",
            row.difference,
            row.interval,
            p_corrected=row.p,
            test="paired t, Holm",
            n=len(material.runs.queries),
        )
        for row in rows
    )
    how = (
        f"Paired t tests over queries, p corrected by Holm over {trades.measures * len(material.others)} "
        f"comparisons (runs x {trades.measures} measures)."
    )
    table = Table(f"Difference to {base}", _TRADE_COLUMNS, tuple(map(astuple, rows)), shown=24)
    advice = _BLIND_ADVICE if blind and not traded else None
    return LookResult(severity, _trade_words(base, traded, blind), how, evidence, (table,) if rows else (), advice)


class TradeRow(Struct, frozen=True):
    """A run against the baseline by one measure."""

    run: str
    measure: str
    goes: str
    difference: float
    interval: Interval | None
    p: float  # corrected


_TRADE_COLUMNS = (
    Column("run"),
    Column("measure"),
    Column("goes"),
    Column("difference", "signed"),
    Column("95% interval", "interval"),
    Column("corrected p", "p"),
)
_BLIND_ADVICE = (
    "The gain is based on fewer judged documents and is, if anything, too low; judge the holes (DIA006) before you report "
    "its size."
)


class Trade(Struct, frozen=True):
    """A run that is significantly better than the baseline by one measure, and worse by another or judged less."""

    run: str
    worse: bool  # by another measure, or better by one that skips unjudged documents; else only judged less
    rows: tuple[TradeRow, ...]  # the significant differences


class Trades(Struct, frozen=True):
    """All such runs, and the number of measures compared."""

    found: tuple[Trade, ...]
    measures: int


def _trades(material: Material) -> Trades:
    runs = material.runs
    witnesses = [material.beside[name] for name in WITNESSES if name in material.beside]
    columns = list(dict.fromkeys([*material.asked, *witnesses]))
    names = [*(runs.labels[column] for column in columns), f"judged@{material.settings.k}"]
    # Of qrels that list relevant documents only, the judged share is another precision.
    judged_share = np.full_like(material.judged_share, np.nan) if runs.only_relevant else material.judged_share
    tables = [*(material.values[:, :, column] for column in columns), judged_share]
    skipping = [_skips_unjudged(runs.plans[column].measure) for column in columns]
    pairs = [(system, material.baseline) for system in material.others]
    p = corrected_p(np.array([significance_of(table.T, pairs, "t").p for table in tables]))  # (measures, pairs)
    found = []
    for place, system in enumerate(material.others):
        *by_measure, judged = (
            _trade_row(runs.systems[system], name, table[system] - table[material.baseline], float(p[number, place]))
            for number, (name, table) in enumerate(zip(names, tables, strict=True))
        )
        found.append(_trade(by_measure, judged, skipping, material.settings.alpha))
    return Trades(tuple(trade for trade in found if trade is not None), len(names))


def _trade(by_measure: list[TradeRow], judged: TradeRow, skipping: list[bool], alpha: float) -> Trade | None:
    sure = [row for row in by_measure if row.p < alpha]
    worse = any(row.difference < 0 for row in sure)
    fewer = judged.p < alpha and judged.difference < 0
    if not any(row.difference > 0 for row in sure) or not (worse or fewer):
        return None
    skips = any(skip and row.p < alpha and row.difference > 0 for skip, row in zip(skipping, by_measure, strict=True))
    return Trade(judged.run, worse or skips, (*sure, judged) if fewer else tuple(sure))


def _trade_words(base: str, traded: list[str], blind: list[str]) -> str:
    told = []
    if traded:
        told.append(f"{_some(traded)} {_verb(traded, 'gain')} by one measure and {_verb(traded, 'lose')} by another")
    if blind:
        told.append(f"{_some(blind)} {_verb(blind, 'gain')} while fewer of the documents shown are judged")
    if not told:
        return f"No run is significantly better than {base} by one measure and worse by another, or judged less."
    return f"Against {base}, {'; '.join(told)}."


def _trade_row(run: str, measure: str, difference: Floats, p: float) -> TradeRow:
    mean = mean_of(difference[~np.isnan(difference)])
    return TradeRow(run, measure, "up" if mean > 0 else "down", mean, mean_interval(difference), p)


def _skips_unjudged(measure: Measure) -> bool:
    return measure.name in {"Bpref", "GMBpref"} or bool(dict(measure.params).get("judged_only"))


def _verb(systems: list[str], verb: str) -> str:
    return f"{verb}s" if len(systems) == 1 else verb


def _some(systems: list[str]) -> str:
    shown = ", ".join(show_id(name) for name in systems[:3])
    return f"{shown} and {len(systems) - 3} more" if len(systems) > 3 else shown


# Segments


@look(
    "DIA031",
    "gaming",
    advice="Report the segments separately, and say that the rest shows no significant gain. Check that queries of the "
    "segment were not used to tune the system.",
)
def gain_from_one_segment(material: Material) -> LookResult | CannotLook:
    """A gain from a single segment of the queries.

    Why: a system tuned on one kind of query can have a better mean while nothing changes for all others.

    Measured: for each run that is significantly better than the baseline over all queries (paired t, Holm over runs,
    measures and columns of the segments file): whether the gain differs between segments (Brown and Forsythe, Holm),
    which segment gains most, and the gain over all other queries with its 95 % interval. Reported if the gain differs
    between segments and the other queries show no significant gain.

    Limits: no significant gain outside does not mean that there is none: with few queries outside, only large gains can
    be detected. Segments with fewer than 5 queries are left out.
    """
    runs, settings = material.runs, material.settings
    if material.segments is None:
        return CannotLook("needs `segments=` (query and its segment)")
    if len(runs.systems) < 2:
        return CannotLook("needs at least two RUNs")
    if not material.asked:
        return CannotLook("none of the requested measures rewards a good ranking")
    looked = [found for name in material.segments for found in _segment_tests(material, name)]
    if not looked:
        return CannotLook(f"no column of `segments=` has two segments with at least {FEWEST} judged queries")
    gains, rows = _gains(looked, settings.alpha)
    base = show_id(runs.systems[material.baseline])
    evidence = tuple(
        Evidence(
            f"{row.measure}: gain of {show_id(row.run)} outside {show_id(row.segment)}",
            row.outside,
            row.interval,
            p_corrected=row.p_differs,
            test="Brown-Forsythe between segments, Holm",
            n=len(runs.queries),
        )
        for row in rows
    )
    words = f"0 of {gains} gains over {base} come from a single segment."
    if rows:
        words = _segment_words(rows[0], base, len(runs.queries))
    how = (
        "Paired t over queries and Brown-Forsythe between segments, each corrected by Holm over "
        f"{len(looked)} comparisons."
    )
    table = Table("", _SEGMENT_COLUMNS, tuple(map(astuple, rows)))
    return LookResult("warning" if rows else "fine", words, how, evidence, (table,) if rows else ())


class OneSegmentGain(Struct, frozen=True):
    """A gain from a single segment."""

    measure: str
    run: str
    gain: float
    column: str  # of the segments file
    segment: str
    queries: int  # of the segment
    inside: float
    outside: float
    interval: Interval | None  # of the gain outside
    p_differs: float


_SEGMENT_COLUMNS = (
    Column("measure"),
    Column("run"),
    Column("gain", "signed"),
    Column("by"),
    Column("segment"),
    Column("queries", "count"),
    Column("gain there", "signed"),
    Column("elsewhere", "signed"),
    Column("95% interval", "interval"),
    Column("differs, p", "p"),
)


def _gains(looked: list[_SegmentTest], alpha: float) -> tuple[int, tuple[OneSegmentGain, ...]]:
    """The number of significant gains, and those that come from a single segment."""
    overall = corrected_p(np.array([found.p for found in looked]))
    differs = corrected_p(np.array([found.p_differs for found in looked]))
    gains = [
        (found, float(p_differs))
        for found, p, p_differs in zip(looked, overall, differs, strict=True)
        if p < alpha and found.gain > 0
    ]
    rows = tuple(
        found.row(p_differs)
        for found, p_differs in gains
        if p_differs < alpha and (found.p_outside >= alpha or found.outside <= 0)
    )
    return len(gains), rows


def _segment_words(row: OneSegmentGain, base: str, queries: int) -> str:
    share = row.inside * row.queries / (row.gain * queries)
    return (
        f"{show_id(row.run)} gains over {base} by {row.measure} in segment {show_id(row.segment)} "
        f"({show_id(row.column)}), without a significant gain elsewhere: {row.queries} of {queries} queries account for "
        f"{share:.0%} of the gain."
    )


class _SegmentTest:
    """One run against the baseline by one measure, in the segments of one column."""

    def __init__(self, material: Material, system: int, column: int, name: str, members: dict[str, Booleans]) -> None:
        runs = material.runs
        difference = material.values[system, :, column] - material.values[material.baseline, :, column]
        known = ~np.isnan(difference)
        groups = {label: difference[chosen & known] for label, chosen in members.items()}
        self.measure, self.system, self.column = runs.labels[column], runs.systems[system], name
        self.gain, self.p = mean_of(difference[known]), paired_p(difference[known])
        self.p_differs = differing_means(list(groups.values()))[1]
        self.segment = max(groups, key=lambda label: float(groups[label].sum()))
        self.queries = len(groups[self.segment])
        self.inside = mean_of(groups[self.segment])
        rest = difference[known & ~members[self.segment]]
        self.outside, self.interval, self.p_outside = mean_of(rest), mean_interval(rest), paired_p(rest)

    def row(self, p_differs: float) -> OneSegmentGain:
        return OneSegmentGain(
            self.measure,
            self.system,
            self.gain,
            self.column,
            self.segment,
            self.queries,
            self.inside,
            self.outside,
            self.interval,
            p_differs,
        )


def _segment_tests(material: Material, name: str) -> list[_SegmentTest]:
    segment_of = (material.segments or {})[name]
    labels = [segment_of.get(query, "") for query in material.runs.queries]
    members = {label: np.array([own == label for own in labels], np.bool_) for label in dict.fromkeys(labels) if label}
    members = {label: chosen for label, chosen in members.items() if chosen.sum() >= FEWEST}
    if len(members) < 2:
        return []
    return [
        _SegmentTest(material, system, column, name, members) for system in material.others for column in material.asked
    ]
