"""A comparison for the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move, Moves
from assay.comparison.pairs import PairResult
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

DOCUMENTS = 6  # of each kind, for a query that moved
_STYLES = {"better": "green", "worse": "red"}


def render_text(comparison: Comparison) -> str:
    """Tables of all systems, of pairs and of segments, the queries that moved most, and below what was done."""
    width = terminal_width()
    parts = [
        *_all_systems(comparison, width),
        *_pairs(comparison, width),
        *(part for each in comparison.segments for part in _segments(each, comparison, width)),
        *_moves(comparison, width),
        *_agreement(comparison, width),
        *_paragraphs(words.notes_of(comparison), width),
    ]
    return "".join(parts)


def _all_systems(comparison: Comparison, width: int) -> Iterator[str]:
    """Systems down and measures across, where there are more than two systems."""
    from rich.text import Text

    if len(comparison.scores.systems) < 3:
        return
    table = _table(["system", *comparison.scores.measures])
    letters = words.letters_of(comparison)
    for system, marks in words.marks_of(comparison):
        name = Text(show_id(system))
        if system in letters:
            name.append(f" ({letters[system]})", style="dim")
        table.add_row(name, *map(_marked, marks))
    yield printed(table, width) + "\n"
    yield from _paragraphs([words.meaning_of_marks(comparison)], width)
    yield "\n"


def _marked(mark: words.Mark) -> Text:
    from rich.text import Text

    text = Text(mark.mean, style="bold" if mark.best else "")
    if mark.better:
        text.append(f" {mark.better}", style="green")
    if mark.worse:
        text.append(f" -{mark.worse}", style="red")
    return text


def _pairs(comparison: Comparison, width: int) -> Iterator[str]:
    for (measure, baseline), pairs in words.by_baseline(comparison.pairs).items():
        title = f"{measure} against {show_id(baseline)} ({words.value_of(pairs[0].baseline_mean)})"
        yield _title(title, width) + printed(_pair_table(pairs, comparison), width) + "\n"


def _pair_table(pairs: Sequence[PairResult], comparison: Comparison) -> Table:
    table = _table(words.head_of(comparison)[2:])
    for pair in pairs:
        *cells, verdict = words.cells_of(pair, comparison)[2:]
        table.add_row(*_plain(cells), _verdict(verdict))
    return table


def _segments(found: SegmentComparison, comparison: Comparison, width: int) -> Iterator[str]:
    """A table for each measure and baseline."""
    yield _title(words.title_of(found), width)
    parts: dict[tuple[str, str], list[list[str]]] = {}
    for measure, segment, queries, baseline, *cells in words.segment_rows(found, comparison):
        parts.setdefault((measure, baseline), []).append([segment, queries, *cells])
    for (measure, baseline), rows in parts.items():
        table = _table(["segment", "queries", "baseline", *words.SEGMENT_HEAD[5:]])
        for *cells, verdict, best in rows:
            table.add_row(*_plain(cells), _verdict(verdict), *_plain([best]))
        yield _title(f"{measure} against {baseline}", width) + printed(table, width) + "\n"
    yield from _paragraphs(words.segment_notes(found, comparison.study.alpha), width)
    yield "\n"


def _moves(comparison: Comparison, width: int) -> Iterator[str]:
    shown = [pair for pair in comparison.moves if pair.up or pair.down]
    if not shown:
        return
    yield _title("Queries that moved most", width)
    for pair in shown:
        yield from _moves_of(pair, comparison, width)
    yield "\n"


def _moves_of(pair: Moves, comparison: Comparison, width: int) -> Iterator[str]:
    name = f"{pair.measure}, {show_id(pair.system)} - {show_id(pair.baseline)}"
    detailed = any(move.depth for move in (*pair.up, *pair.down)) or comparison.texts
    if not detailed:
        sides = [f"{side}: {', '.join(map(words.move_of, moves))}" for side, moves in _sides(pair)]
        yield from _paragraphs([f"{name}. {'; '.join(sides)}."], width, indent="  ")
        return
    yield f"{name}\n"
    for side, moves in _sides(pair):
        for move in moves:
            yield from _paragraphs([f"{side} {words.move_of(move)}{_text(comparison.texts, move.query)}"], width, "  ")
            yield from _documents(move, comparison, width)


def _sides(pair: Moves) -> list[tuple[str, tuple[Move, ...]]]:
    return [(side, moves) for side, moves in (("up", pair.up), ("down", pair.down)) if moves]


def _documents(move: Move, comparison: Comparison, width: int) -> Iterator[str]:
    """The documents of a query that moved: one per line, as far as there is room."""
    for kind, places in words.changes_of(move).items():
        for place in places[:DOCUMENTS]:
            line = f"    {kind:<8} {words.place_of(place):>9}  {words.grade_of(place):<9} {show_id(place.doc)}"
            text = show_id(comparison.documents.get(place.doc, "").strip(), 1000)
            room = width - len(line) - 2
            cut = text if len(text) <= room else text[: max(room - 3, 0)] + "..."
            yield f"{line}  {cut}".rstrip() + "\n"
        if len(places) > DOCUMENTS:
            yield f"    {kind:<8} {len(places) - DOCUMENTS} more\n"


def _text(texts: Mapping[str, str], query: str) -> str:
    known = texts.get(query, "")
    return f": {show_id(known, 200)}" if known else ""


def _agreement(comparison: Comparison, width: int) -> Iterator[str]:
    if comparison.runs_alike:
        yield _title("How alike the runs rank", width)
        table = _table(["system", "system", "top 10 in common", "RBO 0.9", "Kendall's tau", "queries"])
        for pair in comparison.runs_alike:
            cells = [show_id(pair.first), show_id(pair.second), f"{pair.overlap:.0%}"]
            table.add_row(*_plain([*cells, words.value_of(pair.rbo), words.value_of(pair.tau), f"{pair.queries:,}"]))
        yield printed(table, width) + "\n"
        yield from _paragraphs([words.RUNS_ALIKE], width)
        yield "\n"
    if comparison.runs_alike and comparison.measures_alike:
        yield _title("Whether the measures agree", width)
        table = _table(["measure", "measure", "same winner", "Kendall's tau of systems"])
        for both in comparison.measures_alike:
            cells = [both.first, both.second, words.same_winner_of(both), words.value_of(both.tau)]
            table.add_row(*_plain(cells))
        yield printed(table, width) + "\n"
        yield from _paragraphs([words.MEASURES_ALIKE], width)
        yield "\n"


def _table(head: Sequence[str]) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in head:
        table.add_column(
            Text(name),
            justify="left" if name in words.NAMES else "right",
            no_wrap=name not in {"system", "segment", "best"},
            overflow="fold",
        )
    return table


def _plain(cells: Sequence[str]) -> list[Text]:
    """Cells that are text whatever stands in them."""
    from rich.text import Text

    return [Text(cell) for cell in cells]


def _verdict(verdict: str) -> Text:
    from rich.text import Text

    return Text(verdict, style=_STYLES.get(verdict, ""))


def _bold(title: str) -> Text:
    from rich.text import Text

    return Text(title, style="bold")


def _title(title: str, width: int) -> str:
    return printed(_bold(title), width)


def _paragraphs(notes: Iterable[str], width: int, indent: str = "") -> Iterator[str]:
    for note in notes:
        yield "\n".join(
            textwrap.wrap(note, width, initial_indent=indent, subsequent_indent=indent + "  " * bool(indent))
        )
        yield "\n"
