"""A comparison as one self-contained HTML file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from msgspec import Struct, to_builtins

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move
from assay.comparison.pairs import SIGNIFICANT, PairResult, Verdict, higher_is_better
from assay.errors import show_id
from assay.report.comparison import tables, words
from assay.report.comparison.charts import charts_of
from assay.report.drawing import page
from assay.report.drawing.charts import draw
from assay.report.drawing.tables import Table
from assay.report.drawing.words import from_to, signed, unsigned
from assay.words import number_of, plural, sentence

MOST_NAMED = 4  # systems in the heading
OUTCOMES = {
    "better": "is significantly better than",
    "worse": "is significantly worse than",
    "higher": "has significantly higher values than",
    "lower": "has significantly lower values than",
    "equivalent": "is equivalent to",
    "not tested": "was not tested against",
}


class AgreementSheet(Struct, frozen=True):
    """How far runs or measures agree."""

    title: str
    table: Table
    meaning: str


class SegmentTable(Struct, frozen=True):
    """The table of one segmentation."""

    title: str
    table: Table
    notes: tuple[str, ...]


class ShownMove(Struct, frozen=True):
    """A query that moved, formatted for the page."""

    key: str  # of its row in the table of queries
    query: str
    text: str
    difference: str
    tone: str
    values: str
    depth: int
    documents: Table


class ShownMoves(Struct, frozen=True):
    """The queries that moved between two systems by one measure."""

    title: str
    moves: tuple[ShownMove, ...]


class ComparisonPage(Struct, frozen=True):
    """A comparison, formatted for the template."""

    title: str
    lede: str  # the result in one sentence
    warnings: tuple[str, ...]
    systems: Table
    meaning: str
    differences: str  # heading of the pairs
    pairs: Table
    weighted: Table | None  # None without weights
    segments: tuple[SegmentTable, ...]
    moves: tuple[ShownMoves, ...]
    moves_left: str  # note that there are more
    agreement: tuple[AgreementSheet, ...]
    notes: tuple[str, ...]
    coverage: Table  # no rows if the values came from a table


def render_page(comparison: Comparison) -> str:
    """The page. Charts need an optional package; without it, only their captions are shown."""
    charts, queries = charts_of(comparison), tables.queries_of(comparison)
    return page.render_page(
        "comparison.html",
        draw(charts),
        data={"values": to_builtins(queries.opened)},
        charts=charts,
        page=page_of(comparison, queries),
        queries=queries.table,
    )


def page_of(comparison: Comparison, queries: tables.Queries) -> ComparisonPage:
    """The page without the charts and the table of queries."""
    baseline = tables.only_baseline(comparison)
    return ComparisonPage(
        title=_title(comparison),
        lede=lede_of(comparison),
        warnings=tuple(words.reversal_of(each) for found in comparison.segments for each in found.reversals),
        systems=tables.systems_table(comparison),
        meaning=tables.meaning_of_marks(comparison),
        differences="Differences" if baseline is None else f"Differences from {show_id(baseline)}",
        pairs=tables.pairs_table(comparison),
        weighted=tables.weighted_table(comparison),
        segments=tuple(
            SegmentTable(
                words.title_of(found),
                tables.segment_table(found, comparison),
                tuple(words.segment_notes(found, comparison.study)),
            )
            for found in comparison.segments
        ),
        moves=tuple(_moves(comparison, queries)),
        moves_left=words.moves_left(comparison),
        agreement=tuple(
            AgreementSheet(alike.title, tables.agreement_table(alike), alike.meaning)
            for alike in words.agreement_of(comparison)
        ),
        notes=(tables.EFFECT_SIZE, *(note for note in words.remarks_of(comparison) if note != words.COLUMNS)),
        coverage=tables.coverage_table(comparison),
    )


def _title(comparison: Comparison) -> str:
    systems, baseline = comparison.scores.systems, tables.only_baseline(comparison)
    if baseline is None:
        return ", ".join(map(show_id, systems)) if len(systems) <= MOST_NAMED else f"{len(systems):,} systems"
    others = [system for system in systems if system != baseline]
    named = ", ".join(map(show_id, others)) if len(others) <= MOST_NAMED else f"{len(others):,} systems"
    return f"{named} against {show_id(baseline)}"


def lede_of(comparison: Comparison) -> str:
    """The result by the first measure, in one sentence."""
    pairs = comparison.of(comparison.scores.measures[0])
    if len(pairs) == 1:
        (pair,) = pairs
        interval = words.interval_name(comparison.study)
        shown = "".join(f" {sentence}" for sentence in words.could_have_shown(pairs))
        return (
            f"{_outcome(pair)} by {show_id(pair.measure)}: {signed(pair.difference)} ({interval} "
            f"{from_to(pair.interval_corrected)}, corrected p {words.p_of(pair.p_corrected)}) over "
            f"{number_of(pair.queries, 'query')}.{shown}{_weighted_lede(pair, interval)}"
        )
    over = f"{show_id(pairs[0].measure)} over {number_of(max(pair.queries for pair in pairs), 'query')}"
    counts = Counter(pair.verdict for pair in pairs)
    baseline = tables.only_baseline(comparison)
    if baseline is None:
        sure = sum(counts[verdict] for verdict in SIGNIFICANT)
        return f"{sure:,} of {number_of(len(pairs), 'pair')} of systems {plural('{differs|differ}', sure)} significantly by {over}."
    if not higher_is_better(pairs[0].measure):
        return _higher_and_lower(counts, len(pairs), f"{show_id(baseline)} by {over}")
    better, worse = counts["better"], counts["worse"]
    ahead = f"{better:,} of {number_of(len(pairs), 'system')} {plural('{is|are}', better)}"
    behind = plural("{count} {is|are} worse", worse) if worse else "none is worse"
    return f"{ahead} significantly better than {show_id(baseline)} by {over}; {behind}."


def _higher_and_lower(counts: Counter[Verdict], systems: int, what: str) -> str:
    """How many systems differ, by a measure of which more is not always better."""
    higher, lower = counts["higher"], counts["lower"]
    ahead = f"{higher:,} of {number_of(systems, 'system')} {plural('{has|have}', higher)} significantly higher values"
    behind = plural("{count} {has|have} lower ones", lower) if lower else "none has lower ones"
    return f"{ahead} than {what}; {behind}."


def _outcome(pair: PairResult) -> str:
    """What was found about the two systems, in a few words."""
    system, baseline = show_id(pair.system), show_id(pair.baseline)
    if pair.verdict in OUTCOMES:
        return f"{system} {OUTCOMES[pair.verdict]} {baseline}"
    return f"{sentence(pair.verdict)} between {system} and {baseline}"


def _weighted_lede(pair: PairResult, interval: str) -> str:
    found = pair.weighted
    if found is None:
        return ""
    return (
        f" Weighted: {found.verdict} ({signed(found.difference)}, {interval} {from_to(found.interval_corrected)}, "
        f"corrected p {words.p_of(found.p_corrected)})."
    )


def _moves(comparison: Comparison, queries: tables.Queries) -> Iterator[ShownMoves]:
    for pair in words.shown_moves(comparison):
        title = f"{show_id(pair.measure)}, {show_id(pair.system)} - {show_id(pair.baseline)}"
        up, down = ("good", "bad") if higher_is_better(pair.measure) else ("", "")
        toned = [*((move, up) for move in pair.up), *((move, down) for move in pair.down)]
        yield ShownMoves(title, tuple(_move(move, tone, comparison, queries) for move, tone in toned))


def _move(move: Move, tone: str, comparison: Comparison, queries: tables.Queries) -> ShownMove:
    return ShownMove(
        str(queries.places.get(move.query, "")),
        show_id(move.query, page.ID),
        show_id(comparison.texts.get(move.query, ""), 300),
        signed(move.difference),
        tone,
        f"{unsigned(move.before)} to {unsigned(move.after)}",
        move.depth,
        tables.documents_table(move, comparison),
    )
