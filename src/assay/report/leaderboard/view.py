"""What a leaderboard looks like in a notebook, a data frame and files."""

from __future__ import annotations

from assay.comparison.leaderboard import Leaderboard
from assay.report.drawing.delimited import Columns
from assay.report.drawing.sheets import MOST_ROWS, Sheet, SheetTable, Strong
from assay.report.drawing.views import View
from assay.report.leaderboard import RENDERERS, words
from assay.report.leaderboard.charts import charts_of
from assay.report.leaderboard.documents import head_of, row_of
from assay.words import number_of


def _sheet(board: Leaderboard) -> Sheet:
    """The best systems, the method, and what is unusual."""
    columns = words.columns_of(board, MOST_ROWS)
    cells = [
        [Strong(cell) if place in column.best else cell for place, cell in enumerate(column.cells)]
        for column in columns
    ]
    hidden = words.left_to_show(board, MOST_ROWS)
    table = SheetTable(
        tuple(column.name for column in columns),
        tuple(zip(*cells, strict=True)),
        frozenset(range(len(columns))) - {1},
        note=f"{hidden}; `to_pandas()` has all." if hidden else "",
    )
    title = f"{number_of(len(board.standings), 'system')} by {board.measures[0]}"
    conditions = (words.method_of(board), words.sizes_of(board), words.conventions_of(board))
    return Sheet("Leaderboard", title, (table,), tuple(words.notes_of(board)), tuple(filter(None, conditions)))


def _columns(board: Leaderboard) -> Columns:
    """A row per system, as in CSV."""
    rows = [row_of(board, each) for each in board.standings]
    return {name: list(values) for name, values in zip(head_of(board), zip(*rows, strict=True), strict=True)}


VIEW: View[Leaderboard] = View(
    noun="a leaderboard",
    text=lambda board: RENDERERS["table"](board, None),
    brief=_sheet,
    columns=_columns,
    formats={
        ".csv": lambda board: RENDERERS["csv"](board, None),
        ".json": lambda board: RENDERERS["json"](board, None),
        ".md": lambda board: RENDERERS["markdown"](board, None),
        ".tex": lambda board: RENDERERS["latex"](board, None),
        ".html": lambda board: RENDERERS["html"](board, None),
    },
    charts=charts_of,
)
