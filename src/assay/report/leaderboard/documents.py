"""A leaderboard as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

import csv
import io
import math

from msgspec import to_builtins
from msgspec.structs import replace

from assay.comparison.leaderboard import Leaderboard, Standing
from assay.formats.spreadsheets import as_text
from assay.report.drawing import latex, markdown
from assay.report.drawing.delimited import Value
from assay.report.drawing.json import json_text
from assay.report.leaderboard import words
from assay.report.leaderboard.words import NAME

SCHEMA = "assay/leaderboard/1"


def render_json(board: Leaderboard, top: int | None = None) -> str:
    """One object with all systems; the schema is docs/schemas/leaderboard-1.json."""
    return json_text({"schema": SCHEMA, "answer": words.answer_of(board), **to_builtins(board)})


def render_csv(board: Leaderboard, top: int | None = None) -> str:
    """A row for each system, in full precision; means within a collection are headed NAME: MEASURE."""
    return _delimited(board, ",")


def render_tsv(board: Leaderboard, top: int | None = None) -> str:
    """The same with tabs."""
    return _delimited(board, "\t")


def for_spreadsheet(board: Leaderboard) -> Leaderboard:
    """The leaderboard with names of systems that a spreadsheet takes as text."""
    return replace(board, standings=tuple(replace(each, system=as_text(each.system)) for each in board.standings))


def _headed(name: str) -> str:
    """Words as heads begin with a capital; names of measures are as they are."""
    return name.capitalize() if name in (NAME, "rank", "ranks", "tier") else name


def _delimited(board: Leaderboard, delimiter: str) -> str:
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(head_of(board))
    for each in board.standings:
        rank, system, tier, *values = row_of(board, each)
        writer.writerow([rank, system, tier, *map(_number, values)])
    return out.getvalue()


def head_of(board: Leaderboard) -> list[str]:
    """The names of the columns of `row_of`."""
    collections = [f"{name}: {label}" for name in words.named_collections(board) for label in board.measures]
    return ["rank", NAME, "tier", "mean low", "mean high", "rank low", "rank high", *board.measures, *collections]


def row_of(board: Leaderboard, standing: Standing) -> list[Value]:
    """All figures of a system, in full precision."""
    low, high = standing.interval or (None, None)
    return [
        *(standing.rank, standing.system, standing.tier),
        *(low, high, *standing.rank_interval),
        *(standing.means[label] for label in board.measures),
        *(standing.by_collection[name][label] for name in words.named_collections(board) for label in board.measures),
    ]


def _number(value: Value) -> str:
    return "" if value is None or (isinstance(value, float) and math.isnan(value)) else repr(value)


def render_markdown(board: Leaderboard, top: int | None = None) -> str:
    """The table for an issue, a README or a page, and what is behind it."""
    columns = words.columns_of(board, top)
    rows = zip(*(map(markdown.plain, column.cells) for column in columns), strict=True)
    numbers = [place for place, column in enumerate(columns) if column.name != NAME or place != 1]
    table = markdown.table([markdown.plain(column.name) for column in columns], list(rows), numbers)
    hidden = words.left_to_show(board, top)
    texts = [*([f"{hidden}."] if hidden else []), *words.paragraphs_of(board)]
    return "\n\n".join([table, "\n".join(f"{markdown.plain(text)}  " for text in texts)]) + "\n"


def render_latex(board: Leaderboard, top: int | None = None) -> str:
    """A tabular for a paper, with the method in comments."""
    columns = words.columns_of(board, top)
    heads = [latex.escape(_headed(column.name)).replace("±", r"$\pm$") for column in columns]
    rows = zip(*(map(latex.escape, column.cells) for column in columns), strict=True)
    lines = [
        *(f"% {text}" for text in words.paragraphs_of(board)),
        rf"\begin{{tabular}}{{rl{'r' * (len(columns) - 2)}}}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule",
        *(" & ".join(row).replace("–", "--") + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"
