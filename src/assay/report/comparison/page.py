"""A comparison as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move
from assay.comparison.pairs import PairResult, higher_is_better
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.comparison.charts import charts_of
from assay.report.drawing import page
from assay.report.drawing.charts import draw
from assay.report.drawing.page import Toned

DOCUMENTS = 30  # of a query that moved


Cells = tuple[str | Toned, ...]


class SegmentTable(Struct, frozen=True):
    """The table of one segmentation."""

    title: str
    head: tuple[str, ...]
    rows: tuple[Cells, ...]
    notes: tuple[str, ...]


class ShownMove(Struct, frozen=True):
    """A query that moved, formatted for the page."""

    query: str
    text: str
    difference: str
    tone: str
    values: str
    depth: int
    rows: tuple[Cells, ...]


class ShownMoves(Struct, frozen=True):
    """The queries that moved between two systems by one measure."""

    title: str
    moves: tuple[ShownMove, ...]


class ComparisonPage(Struct, frozen=True):
    """A comparison, formatted for the template."""

    title: str
    lede: str  # the result in one sentence
    warnings: tuple[str, ...]
    measures: tuple[str, ...]
    systems: tuple[tuple[str, str, list[words.Mark]], ...]
    meaning: str
    pair_head: tuple[str, ...]
    pairs: tuple[Cells, ...]
    weighted_head: tuple[str, ...]
    weighted: tuple[Cells, ...]  # empty without weights
    segments: tuple[SegmentTable, ...]
    move_head: tuple[str, ...]
    moves: tuple[ShownMoves, ...]
    moves_left: str  # note that there are more
    agreement: tuple[words.AgreementTable, ...]
    notes: tuple[str, ...]


def render_page(comparison: Comparison) -> str:
    """The page. Charts need an optional package; without it, only their captions are shown."""
    charts = charts_of(comparison)
    return page.render_page("comparison.html", draw(charts), charts=charts, page=page_of(comparison))


def page_of(comparison: Comparison) -> ComparisonPage:
    """The page without the charts."""
    letters = words.letters_of(comparison)
    return ComparisonPage(
        title=_title(comparison),
        lede=lede_of(comparison),
        warnings=tuple(
            words.paradox_of(paradox) for found in comparison.segments for paradox in words.sure_paradoxes(found)
        ),
        measures=tuple(show_id(measure) for measure in comparison.scores.measures),
        systems=tuple(
            (show_id(system), letters.get(system, ""), marks) for system, marks in words.marks_of(comparison)
        ),
        meaning=words.meaning_of_marks(comparison),
        pair_head=tuple(words.head_of(comparison)),
        pairs=tuple(_pair_row(pair, comparison) for pair in comparison.pairs),
        weighted_head=words.WEIGHTED_HEAD,
        weighted=tuple(_weighted_row(pair) for pair in comparison.pairs if pair.weighted is not None),
        segments=tuple(_segment_table(found, comparison) for found in comparison.segments),
        move_head=("Change", "Rank", "Grade", "Document", *(["Text"] if comparison.documents else [])),
        moves=tuple(_moves(comparison)),
        moves_left=words.moves_left(comparison),
        agreement=tuple(words.agreement_of(comparison)),
        notes=tuple(words.notes_of(comparison)),
    )


def _title(comparison: Comparison) -> str:
    baselines = dict.fromkeys(pair.baseline for pair in comparison.pairs)
    others = [system for system in comparison.scores.systems if system not in baselines]
    if comparison.study.all_pairs or not others:
        return ", ".join(map(show_id, comparison.scores.systems))
    return f"{', '.join(map(show_id, others))} against {', '.join(map(show_id, baselines))}"


def lede_of(comparison: Comparison) -> str:
    """The result by the first measure, in one sentence."""
    pairs = comparison.of(comparison.scores.measures[0])
    if len(pairs) == 1:
        (pair,) = pairs
        return (
            f"By {show_id(pair.measure)}, {show_id(pair.system)} against {show_id(pair.baseline)}: {pair.verdict} "
            f"({words.signed(pair.difference)}, 95% interval {words.interval_of(pair.interval)}, "
            f"corrected p {words.p_of(pair.p_corrected)}, {pair.queries:,} queries).{_weighted_lede(pair)}"
        )
    counts = {verdict: sum(pair.verdict == verdict for pair in pairs) for verdict in ("better", "worse")}
    return (
        f"By {show_id(pairs[0].measure)} over {max(pair.queries for pair in pairs):,} queries: significantly better in "
        f"{counts['better']} of {len(pairs)} comparisons and worse in {counts['worse']}, after correction."
    )


def _weighted_lede(pair: PairResult) -> str:
    found = pair.weighted
    if found is None:
        return ""
    return (
        f" Weighted: {found.verdict} ({words.signed(found.difference)}, 95% interval {words.interval_of(found.interval)}, "
        f"corrected p {words.p_of(found.p_corrected)})."
    )


def _pair_row(pair: PairResult, comparison: Comparison) -> Cells:
    *cells, verdict = words.cells_of(pair, comparison)
    return (*cells, _toned(verdict))


def _weighted_row(pair: PairResult) -> Cells:
    *cells, verdict = words.weighted_cells_of(pair)
    return (*cells, _toned(verdict))


def _toned(verdict: str) -> str | Toned:
    return Toned(verdict, words.TONES[verdict]) if verdict in words.TONES else verdict


def _segment_table(found: SegmentComparison, comparison: Comparison) -> SegmentTable:
    return SegmentTable(
        words.title_of(found),
        words.SEGMENT_HEAD,
        tuple((*cells, _toned(verdict), best) for *cells, verdict, best in words.segment_rows(found, comparison)),
        tuple(words.segment_notes(found, comparison.study)),
    )


def _moves(comparison: Comparison) -> Iterator[ShownMoves]:
    for pair in words.shown_moves(comparison):
        title = f"{show_id(pair.measure)}, {show_id(pair.system)} - {show_id(pair.baseline)}"
        up, down = ("good", "bad") if higher_is_better(pair.measure) else ("", "")
        toned = [*((move, up) for move in pair.up), *((move, down) for move in pair.down)]
        yield ShownMoves(title, tuple(_move(move, tone, comparison) for move, tone in toned))


def _about(doc: str, comparison: Comparison) -> list[Toned]:
    """A cell with the text of a document, if there is a corpus."""
    return [Toned(show_id(comparison.documents.get(doc, ""), 200), "wide")] if comparison.documents else []


def _move(move: Move, tone: str, comparison: Comparison) -> ShownMove:
    rows: list[Cells] = [
        (
            kind,
            words.place_of(place),
            words.grade_of(place),
            show_id(place.doc, page.ID),
            *_about(place.doc, comparison),
        )
        for kind, places in words.changes_of(move).items()
        for place in places
    ]
    return ShownMove(
        show_id(move.query, page.ID),
        show_id(comparison.texts.get(move.query, ""), 300),
        words.signed(move.difference),
        tone,
        f"{words.value_of(move.before)} to {words.value_of(move.after)}",
        move.depth,
        tuple(rows[:DOCUMENTS]),
    )
