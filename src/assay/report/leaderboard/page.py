"""A leaderboard as one self-contained HTML file."""

from __future__ import annotations

from msgspec import Struct

from assay.comparison.leaderboard import Leaderboard
from assay.errors import show_id
from assay.report.drawing import page
from assay.report.drawing.charts import draw
from assay.report.drawing.tables import Cell, Column, Table
from assay.report.drawing.words import NONE
from assay.report.leaderboard import words
from assay.report.leaderboard.charts import charts_of
from assay.words import number_of


class LeaderboardPage(Struct, frozen=True):
    """A leaderboard, formatted for the template."""

    title: str
    lede: str  # the result in a sentence or two
    systems: Table
    notes: tuple[str, ...]  # the method, and what is unusual
    conditions: tuple[str, ...]


def render_page(board: Leaderboard) -> str:
    """The page. Charts need an optional package; without it, only their captions are shown."""
    charts = charts_of(board)
    return page.render_page("leaderboard.html", draw(charts), charts=charts, page=page_of(board))


def page_of(board: Leaderboard) -> LeaderboardPage:
    """The page without the charts."""
    main = show_id(board.measures[0])
    return LeaderboardPage(
        title=f"{number_of(len(board.standings), 'system')} by {main}",
        lede=words.answer_of(board),
        systems=systems_table(board),
        notes=(f"{words.method_of(board)} The highest value of a column is bold.", *words.notes_of(board)),
        conditions=tuple(text for text in (words.sizes_of(board), words.conventions_of(board)) if text),
    )


def systems_table(board: Leaderboard) -> Table:
    """All systems, with the verdict in the first columns."""
    main, *others = (show_id(label) for label in board.measures)
    collections = words.named_collections(board)
    rank, _, mean, half, ranks, tier, *rest = words.columns_of(board)
    names = [show_id(each.system, page.ID) for each in board.standings]
    return Table(
        columns=(
            Column("System", number=False),
            Column("Rank"),
            Column("Tier"),
            Column("Ranks", hint="95% interval of the rank"),
            Column(main),
            Column("±95%", hint=f"Half of the 95% interval of the mean {main}"),
            *(Column(show_id(name), hint=f"Mean {main} in this collection") for name in collections),
            *(Column(label) for label in others),
        ),
        rows=tuple(zip(names, *map(_cells, (rank, tier, ranks, mean, half, *rest)), strict=True)),
        nouns="systems",
        fixed=2,
        order=(1, "ascending"),
    )


def _cells(column: words.Column) -> list[str | Cell]:
    """The cells of a column, with a dash for none, and the highest values bold."""
    return [
        NONE if text == words.DASH else Cell(text, bold=True) if place in column.best else text
        for place, text in enumerate(column.cells)
    ]
