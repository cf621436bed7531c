"""The answer of a comparison on one screen: one table, a line on the method, and what is unusual."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import SIGNIFICANT, PairResult
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.drawing.columns import Column, drawn, fitting
from assay.report.drawing.terminal import Detail, drawn_anomalies, styled, wrapped
from assay.words import number_of

ROWS = 20  # of a table; more are counted
MOVED = 3  # queries that moved most, in each direction
STYLES = {"better": "green", "worse": "red"}
NAME = 10  # columns to which a name may wrap
ANOMALIES = 4  # shown without -v


def one_pair(comparison: Comparison, width: int) -> Iterator[str]:
    """A row for each measure: both means, the difference and how sure it is."""
    pairs = comparison.pairs
    baseline, system = show_id(pairs[0].baseline), show_id(pairs[0].system)
    queries = {pair.queries for pair in pairs}
    over = f", {number_of(queries.pop(), 'query')}" if len(queries) == 1 else ""
    yield styled(wrapped(f"{system} against {baseline}{over}", width), "bold")
    means = [
        Column(baseline, tuple(words.value_of(pair.baseline_mean) for pair in pairs), least=NAME, rank=3),
        Column(system, tuple(words.value_of(pair.system_mean) for pair in pairs), least=NAME, rank=2),
    ]
    yield drawn(
        fitting([_names("measure", [pair.measure for pair in pairs]), *means, *_tests(comparison, pairs)], width), width
    )


def pairs_of(comparison: Comparison, measure: str, width: int, detail: Detail) -> Iterator[str]:
    """A row for each pair, by one measure; the largest differences if there are too many."""
    found = [pair for pair in comparison.pairs if pair.measure == measure]
    shown = found if len(found) <= ROWS else sorted(found, key=lambda pair: -abs(pair.difference or 0.0))[:ROWS]
    baselines = {pair.baseline for pair in found}
    means = Column("mean", tuple(words.value_of(pair.system_mean) for pair in shown), rank=2)
    columns = [_names("system", [show_id(pair.system) for pair in shown]), means, *_tests(comparison, shown)]
    title = measure
    if len(baselines) == 1:
        title += f" against {show_id(found[0].baseline)} ({words.value_of(found[0].baseline_mean)})"
    else:
        columns.insert(0, _names("baseline", [show_id(pair.baseline) for pair in shown]))
    yield styled(wrapped(title, width), "bold")
    yield drawn(fitting(columns, width), width)
    if len(shown) < len(found):
        significant = sum(pair.verdict in SIGNIFICANT for pair in found)
        text = f"The {ROWS} largest of {len(found):,} differences, of which {significant:,} are significant"
        yield wrapped(f"{text}{detail.more('all with --format csv, or')}.", width)


def _names(name: str, cells: Sequence[str]) -> Column:
    return Column(name, tuple(cells), left=True, least=NAME)


def _tests(comparison: Comparison, pairs: Sequence[PairResult]) -> Iterator[Column]:
    """The difference, its interval, its p value and the verdict."""
    corrected = comparison.correction != "none"
    yield Column("difference", tuple(words.signed(pair.difference) for pair in pairs))
    intervals = tuple(words.interval_of(pair.interval_corrected) for pair in pairs)
    yield Column(words.interval_name(comparison.study), intervals, rank=1)
    yield Column("p", tuple(words.p_of(pair.p_corrected if corrected else pair.p) for pair in pairs))
    if comparison.study.margin is not None:
        yield Column("p equivalent", tuple(words.p_of(pair.p_equivalence_corrected) for pair in pairs))
    yield Column("w/t/l", tuple(f"{pair.wins}/{pair.ties}/{pair.losses}" for pair in pairs), rank=4)
    verdicts = tuple(map(words.verdict_of, pairs))
    yield Column("verdict", verdicts, left=True, styles=tuple(STYLES.get(verdict, "") for verdict in verdicts))


def weighted_pairs(comparison: Comparison, measure: str | None, width: int) -> Iterator[str]:
    """The weighted differences, of one measure or of all; nothing without weights."""
    pairs = [pair for pair in comparison.pairs if pair.weighted and measure in (None, pair.measure)][:ROWS]
    if not pairs:
        return
    rows = [words.weighted_cells_of(pair) for pair in pairs]
    same = {"baseline"} if len({pair.baseline for pair in pairs}) == 1 else set()
    same |= {"measure"} if measure else {"system"} if len({pair.system for pair in pairs}) == 1 else set()
    columns = [
        Column(
            name, cells, left=name in words.NAMES, least=NAME if name in words.NAMES - {"verdict"} else None, rank=rank
        )
        for name, rank, cells in zip(
            words.head_with(words.WEIGHTED_HEAD, comparison.study),
            (0, 0, 0, 2, 0, 1, 3, 0, 0),
            zip(*rows, strict=True),
            strict=True,
        )
        if name not in same
    ]
    yield "\n" + styled("Weighted\n", "bold") + drawn(fitting(columns, width), width)


def moved(comparison: Comparison, width: int) -> Iterator[str]:
    """The queries that moved most between two systems, by the first measure, in a few words."""
    for pair in words.shown_moves(comparison)[:1]:
        sides = [
            f"{side} {', '.join(f'{show_id(each.query)} ({words.signed(each.difference)})' for each in moves[:MOVED])}"
            for side, moves in (("up", pair.up), ("down", pair.down))
            if moves
        ]
        yield wrapped(f"Queries that moved most by {pair.measure}: {'; '.join(sides)}.", width)


def remarks(comparison: Comparison, width: int, detail: Detail) -> Iterator[str]:
    """One line on the method, then what changes how the answer is read."""
    yield from (wrapped(text, width) for text in words.overall(comparison))
    yield wrapped(f"{words.method_in_brief(comparison)}{detail.more()}.", width)
    yield from (wrapped(text, width) for text in words.power_in_brief(comparison))
    found = list(words.anomalies_of(comparison))
    yield drawn_anomalies(found[:ANOMALIES], width)
    if len(found) > ANOMALIES:
        yield wrapped(f"... and {len(found) - ANOMALIES} more{detail.more('all with')}.", width)
