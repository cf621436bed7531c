"""Render a comparison for the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move, Moves
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import brief, words
from assay.report.drawing.terminal import Detail, Drawn, printed, terminal_width, wrapped

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

MOST_LETTERS = 12  # with more systems to compare with, they are counted
MEANING_OF_COUNTS = "After a plus: how many systems it is significantly better than; after a minus: worse than."
DOCUMENTS = 6  # of each kind, for a query that moved
_STYLES = {"better": "green", "worse": "red"}
_BREAKABLE = {"system", "segment", "best"}
_NAME = 16  # characters of a name before it wraps
_BETWEEN = 3  # spaces between columns
_DISPENSABLE = ("change", "d_z", "p", "baseline", "mean", "w/t/l", "interval", "corrected")  # dropped in this order


def render_text(comparison: Comparison, detail: Detail = Detail()) -> str:
    """The answer on one screen, and whatever was asked for in addition; everything if `detail` is verbose."""
    width = terminal_width()
    asked = [part for each in comparison.segments for part in _segments(each, comparison, width)]
    if detail.verbose:
        parts = [*_all_systems(comparison, width), *_pairs(comparison, width), *asked, *_moves(comparison, width)]
        ends = _paragraphs(words.notes_of(comparison), width)
    else:
        several = len(comparison.scores.systems) > 2
        parts = [*(_of_several if several else _of_two)(comparison, width, detail)]
        parts += ["\n" * bool(asked), *asked]
        if words.has_documents(comparison) or comparison.texts:
            parts += ["\n" * (not asked), *_moves(comparison, width)]
        ends = iter(()) if detail.quiet else brief.remarks(comparison, width, detail)
    return Drawn("".join((*parts, *_agreement(comparison, width), *ends)))


def _of_two(comparison: Comparison, width: int, detail: Detail) -> Iterator[str]:
    yield from brief.one_pair(comparison, width)
    yield from brief.weighted_pairs(comparison, None, width)
    if not (detail.quiet or words.has_documents(comparison) or comparison.texts):
        yield from brief.moved(comparison, width)


def _of_several(comparison: Comparison, width: int, detail: Detail) -> Iterator[str]:
    measure = comparison.scores.measures[0]
    yield from _all_systems(comparison, width, most=brief.ROWS)
    yield from brief.pairs_of(comparison, measure, width, detail)
    yield from brief.weighted_pairs(comparison, measure, width)


def _all_systems(comparison: Comparison, width: int, most: int | None = None) -> Iterator[str]:
    """Systems by measures, for more than two systems; split into several tables if too wide.

    `most` limits the rows to the systems with the highest means by the first measure.
    """
    from rich.text import Text

    if len(comparison.scores.systems) < 3:
        return
    letters = words.letters_of(comparison)
    counted = len(letters) > MOST_LETTERS and most is not None
    found = words.marks_of(comparison)
    shown = found
    if most is not None and len(found) > most:
        shown = sorted(found, key=lambda row: row[1][0].mean, reverse=True)[:most]
    names = [name for name, _ in shown]
    cells = [[_marked(mark, counted=counted) for mark in marks] for _, marks in shown]
    for columns in _side_by_side(comparison.scores.measures, cells, width):
        table = _table(["system", *(comparison.scores.measures[column] for column in columns)])
        for system, row in zip(names, cells, strict=True):
            name = Text(show_id(system))
            if system in letters and not counted:
                name.append(f" ({letters[system]})", style="dim")
            table.add_row(name, *(row[column] for column in columns))
        yield printed(table, width) + "\n" * (most is None)
    if len(shown) < len(found):
        text = f"The {most} systems with the highest {comparison.scores.measures[0]} of {len(found):,}."
        yield from _paragraphs([text], width)
    yield from _paragraphs([MEANING_OF_COUNTS if counted else words.meaning_of_marks(comparison)], width)
    yield "\n"


def _side_by_side(head: Sequence[str], rows: Sequence[Sequence[Text]], width: int) -> list[list[int]]:
    """Group columns that fit next to the system names; a column that is too wide gets its own group."""
    groups: list[list[int]] = [[]]
    room = width - _NAME
    for column, name in enumerate(head):
        needed = max(len(name), *(len(row[column]) for row in rows)) + _BETWEEN
        if groups[-1] and needed > room:
            groups.append([])
            room = width - _NAME
        groups[-1].append(column)
        room -= needed
    return groups


def _marked(mark: words.Mark, *, counted: bool) -> Text:
    """A mean with the letters of the systems that it differs from, or with how many there are."""
    from rich.text import Text

    text = Text(mark.mean, style="bold" if mark.best else "")
    for letters, sign, style in ((mark.better, "+" if counted else "", "green"), (mark.worse, "-", "red")):
        if letters:
            text.append(f" {sign}{letters.count(',') + 1 if counted else letters}", style=style)
    return text


def _pairs(comparison: Comparison, width: int) -> Iterator[str]:
    for (measure, baseline), pairs in words.by_baseline(comparison.pairs).items():
        title = f"{measure} against {show_id(baseline)} ({words.value_of(pairs[0].baseline_mean)})"
        rows = [words.cells_of(pair, comparison)[2:] for pair in pairs]
        yield _title(title, width) + _fitting(words.head_of(comparison)[2:], rows, width) + "\n"
        weighted = pairs[0].weighted
        if weighted is not None:
            title = f"{measure} against {show_id(baseline)}, weighted ({words.value_of(weighted.baseline_mean)})"
            rows = [words.weighted_cells_of(pair)[2:] for pair in pairs]
            head = words.head_with(words.WEIGHTED_HEAD[2:], comparison.study)
            yield _title(title, width) + _fitting(head, rows, width) + "\n"


def _segments(found: SegmentComparison, comparison: Comparison, width: int) -> Iterator[str]:
    """A table for each measure and baseline."""
    yield _title(words.title_of(found), width)
    parts: dict[tuple[str, str], list[list[str]]] = {}
    for measure, segment, queries, baseline, *cells in words.segment_rows(found, comparison):
        parts.setdefault((measure, baseline), []).append([segment, queries, *cells])
    head = ["segment", "queries", "baseline", *words.head_with(words.SEGMENT_HEAD[5:], comparison.study)]
    for (measure, baseline), rows in parts.items():
        yield _title(f"{measure} against {baseline}", width) + _fitting(head, rows, width) + "\n"
    yield from _paragraphs(words.segment_notes(found, comparison.study), width)
    yield "\n"


def _fitting(head: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """A table with the columns that fit. Columns are dropped whole, since a truncated number would be wrong."""
    kept = list(range(len(head)))
    for name in _DISPENSABLE:
        if sum(_needed(head[column], [row[column] for row in rows]) for column in kept) <= width + _BETWEEN:
            break
        kept = [column for column in kept if head[column].rpartition("% ")[2] != name]
    table = _table([head[column] for column in kept])
    for row in rows:
        table.add_row(*(_verdict(row[column]) if head[column] == "verdict" else _plain(row[column]) for column in kept))
    left_out = [name for column, name in enumerate(head) if column not in kept]
    said = [f"Left out: {', '.join(left_out)}. Widen the terminal, or use --format json."] if left_out else []
    return "".join((printed(table, width), *_paragraphs(said, width)))


def _needed(name: str, cells: Sequence[str]) -> int:
    """Terminal columns that a table column takes; names may wrap."""
    widest = max(len(name), *map(len, cells))
    return (min(widest, _NAME) if name in _BREAKABLE else widest) + _BETWEEN


def _moves(comparison: Comparison, width: int) -> Iterator[str]:
    shown = words.shown_moves(comparison)
    if not shown:
        return
    yield _title("Queries that moved most", width)
    for pair in shown:
        yield from _moves_of(pair, comparison, width)
    yield from _paragraphs(filter(None, [words.moves_left(comparison)]), width)
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
    """The documents of a query that moved, one per line, texts cut to the width."""
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
    """Agreement tables, if agreement between runs was requested."""
    for alike in words.agreement_of(comparison) if comparison.runs_alike else ():
        table = _table(alike.head)
        for row in alike.rows:
            table.add_row(*map(_plain, row))
        yield _title(alike.title, width) + printed(table, width) + "\n"
        yield from _paragraphs([alike.meaning], width)
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
            overflow="fold",
        )
    return table


def _plain(cell: str) -> Text:
    """A cell without Rich markup."""
    from rich.text import Text

    return Text(cell)


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
        yield wrapped(note, width, indent, indent + "  " * bool(indent))
