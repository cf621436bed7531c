"""A summary of a qrels or run file for the terminal or as JSON. Ids are never read as markup; controls are escaped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Literal, TypeAlias

from msgspec import to_builtins
from msgspec.structs import replace

from assay.describing import agreement_in_words
from assay.errors import show_id
from assay.formats.info import GradeCount, Names, QrelsInfo, RunInfo, Span, Spread
from assay.formats.sheets import grade_text
from assay.judges import Agreement
from assay.report.drawing.terminal import Drawn, printed, terminal_width
from assay.secrets import Secrets
from assay.words import number_of

Info: TypeAlias = RunInfo | QrelsInfo
Lines: TypeAlias = list[tuple[str, str]]

RUN_SCHEMA, QRELS_SCHEMA = "assay/run-info/1", "assay/qrels-info/1"
MOST_BARS = 10
_LONGEST_BAR = 40
_LONGEST_ID = 40
_LEFT = ("query", "document", "iteration")


def info_as_json(info: Info) -> str:
    """One object; its schemas are docs/schemas/run-info-1.json and qrels-info-1.json."""
    schema = RUN_SCHEMA if isinstance(info, RunInfo) else QRELS_SCHEMA
    return json.dumps({"schema": schema, **to_builtins(info)}, indent=2, allow_nan=False) + "\n"


def info_as_text(info: Info, width: int | None = None) -> str:
    """The facts line by line, a bar for each grade, and the first rows, fitted to the terminal."""
    width = width or terminal_width()
    lines = _run_lines(info) if isinstance(info, RunInfo) else _qrels_lines(info)
    parts = [_facts([*_file_lines(info), *lines], width)]
    if isinstance(info, QrelsInfo):
        parts.append(_bars(info.grades, width))
    parts.append(_first_rows(info, width))
    return Drawn("\n".join(parts))


INFO_RENDERERS: dict[str, Callable[[Info], str]] = {"table": info_as_text, "json": info_as_json}


def without_secrets(info: Info) -> Info:
    """The summary, with the name of its file as it may be shown."""
    return replace(info, file=replace(info.file, path=Secrets().hide(info.file.path)))


# Facts


def _file_lines(info: Info) -> Lines:
    file = info.file
    kind = file.format if file.compression is None else f"{file.format}, {file.compression}-compressed"
    return [
        ("file", show_id(file.path, 200)),
        ("format", kind if file.size is None else f"{kind}, {number_of(file.size, 'byte')}"),
    ]


def _run_lines(info: RunInfo) -> Lines:
    ties = f"in {number_of(info.tied_queries, 'query')}" if info.tied_queries else "none"
    return [
        ("queries", f"{info.queries:,}"),
        ("rows", f"{info.rows:,}"),
        ("documents", f"{info.documents:,} distinct; {_per_query(info.documents_per_query)}"),
        ("tags" if info.tags.count > 1 else "tag", _named(info.tags)),
        ("scores", f"{_from_to(info.scores)}{' (the negated ranks)' if info.scores_are_ranks else ''}"),
        ("ranks", "none" if info.ranks is None else _from_to(info.ranks)),
        ("ties", ties),
        ("order", _order(info)),
    ]


def _qrels_lines(info: QrelsInfo) -> Lines:
    lines = [
        ("queries", f"{info.queries:,}"),
        ("judgments", f"{info.judgments:,}; {_per_query(info.judgments_per_query)}"),
        ("documents", f"{info.documents:,} distinct"),
        ("relevant", f"{_per_query(info.relevant_per_query)} (grade above 0)"),
        ("none relevant", number_of(info.queries_without_relevant, "query")),
    ]
    if info.agreement is not None:
        lines.append(("judges", _judges(info.agreement, info.iterations)))
    if info.iterations is not None:
        constant = "all " if info.iterations.count == 1 and any(info.iterations.first) else ""
        lines.append(("iterations", constant + _named(info.iterations)))
    return [*lines, ("order", _order(info))]


def _judges(agreement: Agreement, iterations: Names | None) -> str:
    words = agreement_in_words(agreement).removesuffix(".")
    several = iterations is not None and iterations.count > 1
    return f"{words}; if the iterations are subtopics, these are not several judges" if several else words


def _per_query(spread: Spread) -> str:
    if spread.least == spread.most:
        return f"{spread.least:,} per query"
    median = f"{spread.median:,.1f}".removesuffix(".0")
    return f"{spread.least:,} to {spread.most:,} per query, median {median}"


def _from_to(span: Span) -> str:
    return f"{span.lowest!r} to {span.highest!r}" if span.lowest != span.highest else f"all {span.lowest!r}"


def _named(names: Names) -> str:
    if not any(names.first):
        return "none"
    shown = ", ".join(show_id(name, _LONGEST_ID) for name in names.first)
    rest = f", and {names.count - len(names.first):,} more" if names.count > len(names.first) else ""
    return f"{names.count:,}: {shown}{rest}" if names.count > 1 else shown


def _order(info: Info) -> str:
    if info.first_apart is None:
        return "rows are grouped by query"
    apart = f"rows of {number_of(info.queries_apart, 'query')} are scattered"
    return f"{apart} (first: {show_id(info.first_apart, _LONGEST_ID)})"


# Drawing


def _facts(lines: Lines, width: int) -> str:
    from rich.table import Table
    from rich.text import Text

    grid = Table.grid(padding=(0, 3, 0, 0))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in lines:
        grid.add_row(Text(name), Text(text))
    return printed(grid, width)


def _bars(grades: Sequence[GradeCount], width: int) -> str:
    from rich.table import Table
    from rich.text import Text

    rows = list(_grade_rows(grades))
    most, total = max(count for _, count in rows), sum(count for _, count in rows)
    grid = Table.grid(padding=(0, 3, 0, 0))
    for justify in ("right", "right", "right", "left"):
        grid.add_column(no_wrap=True, justify=justify, overflow="ellipsis")
    grid.add_row(*map(Text, ("grade", "judgments", "share", "")))
    room = max(1, min(_LONGEST_BAR, width - 40))
    for label, count in rows:
        bar = "█" * (count * room // most) or ("▏" if count else "")
        grid.add_row(Text(label), Text(f"{count:,}"), Text(f"{count / total:.1%}"), Text(bar))
    return printed(grid, width)


def _grade_rows(grades: Sequence[GradeCount]) -> Iterator[tuple[str, int]]:
    """Each grade with its count; many grades are grouped into ranges of equal width."""
    if len(grades) <= MOST_BARS:
        yield from ((grade_text(found.grade), found.judgments) for found in grades)
        return
    lowest, highest = grades[0].grade, grades[-1].grade
    edges = [lowest * (1 - step / MOST_BARS) + highest * (step / MOST_BARS) for step in range(MOST_BARS)]
    counts = [0] * MOST_BARS
    for found in grades:
        counts[sum(edge <= found.grade for edge in edges) - 1] += found.judgments
    for start, end, count in zip(edges, [*edges[1:], highest], counts, strict=True):
        yield f"{start:.4g} to {end:.4g}", count


def _first_rows(info: Info, width: int) -> str:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    shown = [name for name in info.first_rows[0] if any(row[name] is not None for row in info.first_rows)]
    drawing = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in shown:
        justify: Literal["left", "right"] = "left" if name in _LEFT else "right"
        drawing.add_column(Text(name), justify=justify, no_wrap=name not in _LEFT)  # shorten ids before numbers
    for row in info.first_rows:
        drawing.add_row(*(Text(_cell(name, row[name]), no_wrap=True, overflow="ellipsis") for name in shown))
    total = info.rows if isinstance(info, RunInfo) else info.judgments
    rest = total - len(info.first_rows)
    return printed(drawing, width) + (f"... and {rest:,} more\n" if rest else "")


def _cell(name: str, value: object) -> str:
    if isinstance(value, str):
        return show_id(value, _LONGEST_ID)
    if isinstance(value, float):
        return grade_text(value) if name == "grade" else repr(value)
    return "" if value is None else str(value)
