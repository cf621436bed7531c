"""A diagnosis for the terminal, as JSON and Markdown; the page of a finding. Computes nothing."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.diagnosis.findings import Cell, Column, Diagnosis, Finding, Kind, Table
from assay.diagnosis.registry import Look
from assay.errors import show_id
from assay.report import markdown
from assay.report.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.table import Table as DrawnTable

SCHEMA = "assay/diagnosis/1"
PAGE_WIDTH = 100
_INDENT = " " * 9
_STYLES = {"problem": "bold red", "warning": "bold yellow", "note": "bold", "fine": "green"}
_LONGEST = 200  # characters of a cell
_GAP = 2  # blanks between columns
_GIVES_WAY: dict[Kind, int] = {"text": 12, "passage": 16}  # columns that can be narrower than what stands in them
_SECTIONS = ("Why", "Measured", "Limits")


def render_text(diagnosis: Diagnosis) -> str:
    """A page for the terminal: what was found, the gravest first; what is fine; and what was not looked at."""
    width = terminal_width()
    parts = [_wrapped(headline(diagnosis), "", width)]
    parts += ["\n" + "".join(_finding_lines(finding, width)) for finding in diagnosis if finding.severity != "fine"]
    fine = [f"{finding.measured} [{finding.code}]" for finding in diagnosis if finding.severity == "fine"]
    parts += _listed("Looked at, and nothing found:", fine, width)
    parts += _listed("Not looked at:", list(_not_looked_at(diagnosis)), width)
    parts += ["\n", *(_wrapped(note, "", width) for note in notes_of(diagnosis))]
    return "".join(parts)


def headline(diagnosis: Diagnosis) -> str:
    """How many findings of which kind there are about what."""
    runs, queries = len(diagnosis.systems), diagnosis.queries
    found = [
        f"{count} {severity}{'' if count == 1 else 's'}"
        for severity, count in diagnosis.counts.items()
        if severity != "fine"
    ]
    fine, missing = diagnosis.count("fine"), len(diagnosis.not_looked_at)
    return (
        f"{runs} {'run' if runs == 1 else 'runs'}, {queries:,} {'query' if queries == 1 else 'queries'}, "
        f"{diagnosis.judgments:,} {'judgment' if diagnosis.judgments == 1 else 'judgments'}: {', '.join(found)}; "
        f"{fine} looked at "
        f"and fine, {missing} not looked at."
    )


def notes_of(diagnosis: Diagnosis) -> Iterator[str]:
    """What holds for all findings."""
    settings = diagnosis.settings
    yield (
        f"Measures: {', '.join(diagnosis.measures)}; baseline: {show_id(diagnosis.baseline)}; first {settings.k} "
        f"documents, pool depth "
        f"{settings.pool_depth}; alpha {settings.alpha:g} for each finding by itself; seed {settings.seed}."
    )
    yield "`assay explain CODE` says how a finding is measured, and what it cannot tell."


def _not_looked_at(diagnosis: Diagnosis) -> Iterator[str]:
    """One line for each look that was not possible, those with the same reason together."""
    reasons = list(dict.fromkeys(missing.reason for missing in diagnosis.not_looked_at))
    for missing in sorted(diagnosis.not_looked_at, key=lambda missing: reasons.index(missing.reason)):
        end = "" if missing.reason.endswith("?") else "."
        yield f"{missing.title[0].lower()}{missing.title[1:]} [{missing.code}]: {missing.reason}{end}"


def _listed(head: str, items: list[str], width: int) -> list[str]:
    return [f"\n{head}\n", *(_wrapped(item, "- ", width) for item in items)] if items else []


def _finding_lines(finding: Finding, width: int) -> Iterator[str]:
    from rich.text import Text

    head = _wrapped(f"{finding.severity:<9}{finding.title} [{finding.code}]", "", width, _INDENT)
    yield printed(Text(head.rstrip("\n"), style=_STYLES[finding.severity]), width)
    for text in (
        finding.measured,
        f"How sure: {finding.sure}",
        f"What to do: {finding.advice}" if finding.advice else "",
    ):
        if text:
            yield _wrapped(text, _INDENT, width)
    for table in finding.tables:
        yield "\n"
        if table.title:
            yield _wrapped(f"{table.title}:", "  ", width)
        yield from _table_lines(table, width)
        more = len(table.rows) - table.shown
        if more > 0:
            yield f"  and {more:,} more; --format json has all\n"
        if table.note:
            yield _wrapped(table.note, "  ", width)


def _table_lines(table: Table, width: int) -> Iterator[str]:
    """The table, or where it would not fit its rows one by one, each figure with its name."""
    rows = [cells_of(table, row) for row in table.rows[: table.shown]]
    widths = _widths(table.columns, rows, width - 2)
    if widths is not None:
        yield textwrap.indent(printed(_drawn(table.columns, rows, widths), width - 2), "  ")
        return
    for row in rows:
        cells = zip(table.columns, row, strict=True)
        yield _wrapped("; ".join(f"{column.name} {cell}" for column, cell in cells), "  - ", width)


def _widths(columns: Sequence[Column], rows: list[list[str]], width: int) -> list[int] | None:
    """How wide each column is; None if they do not fit. Figures are never broken; heads, ids and texts give way."""
    from rich.cells import cell_len

    widths, narrowest = [], []
    for number, column in enumerate(columns):
        longest = max((cell_len(row[number]) for row in rows), default=0)
        widths.append(max(longest, cell_len(column.name)))
        word = max(map(cell_len, column.name.split()))
        narrowest.append(max(word, min(longest, _GIVES_WAY.get(column.kind, longest))))
    room = width - _GAP * (len(columns) - 1)
    if sum(narrowest) > room:
        return None
    while sum(widths) > room:
        most = max(range(len(columns)), key=lambda number: widths[number] - narrowest[number])
        widths[most] -= 1
    return widths


def _drawn(columns: Sequence[Column], rows: list[list[str]], widths: list[int]) -> DrawnTable:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as DrawnTable
    from rich.text import Text

    drawn = DrawnTable(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, collapse_padding=True)
    for column, width in zip(columns, widths, strict=True):
        passage = column.kind == "passage"
        drawn.add_column(
            Text(column.name, no_wrap=False),
            justify="left" if column.kind in _GIVES_WAY else "right",
            overflow="ellipsis" if passage else "fold",
            no_wrap=passage,
            width=width,
        )
    for row in rows:
        drawn.add_row(*map(Text, row))
    return drawn


def _wrapped(text: str, first: str, width: int, after: str | None = None) -> str:
    indent = " " * len(first) if after is None else after
    lines = textwrap.wrap(text, width, initial_indent=first, subsequent_indent=indent) or [first]
    return "\n".join(lines) + "\n"


# Cells


def cells_of(table: Table, row: Iterable[Cell]) -> list[str]:
    """The cells of a row as texts that can be shown."""
    return [_cell(column, cell) for column, cell in zip(table.columns, row, strict=True)]


def _cell(column: Column, cell: Cell) -> str:
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "-"
    if isinstance(cell, str):
        return show_id(cell, _LONGEST)
    return _FORMS[column.kind](cell)


def _p(value: Any) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


_FORMS: dict[Kind, Callable[[Any], str]] = {
    "text": str,
    "passage": str,
    "count": lambda value: f"{value:,}",
    "value": lambda value: f"{value:.4f}",
    "signed": lambda value: f"{value:+.4f}",
    "share": lambda value: f"{value:.1%}",
    "p": _p,
    "interval": lambda ends: f"{ends[0]:+.4f} {ends[1]:+.4f}",
    "shares": lambda ends: f"{ends[0]:.1%} {ends[1]:.1%}",
}


# JSON


def render_json(diagnosis: Diagnosis) -> str:
    """One object; the schema stands in docs/schemas/diagnosis-1.json."""
    document = {
        "schema": SCHEMA,
        **asdict(diagnosis),
        "counts": diagnosis.counts,
        "findings": [_finding_object(finding) for finding in diagnosis],
    }
    return json.dumps(_finite(document), indent=2, allow_nan=False) + "\n"


def _finding_object(finding: Finding) -> dict[str, Any]:
    tables = [
        {
            "title": table.title,
            "columns": [asdict(column) for column in table.columns],
            "rows": table.records(),
            "note": table.note,
        }
        for table in finding.tables
    ]
    return {**asdict(finding), "tables": tables}


def _finite(value: Any) -> Any:
    """The same with null for what is no number, since JSON has no NaN."""
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


# Markdown


def render_markdown(diagnosis: Diagnosis) -> str:
    """A page for an issue or a pull request."""
    return "\n".join(_markdown_lines(diagnosis)) + "\n"


def _markdown_lines(diagnosis: Diagnosis) -> Iterator[str]:
    yield "# Diagnosis"
    yield ""
    yield markdown.escape(headline(diagnosis))
    for finding in diagnosis:
        if finding.severity == "fine":
            continue
        yield ""
        yield f"## {finding.severity.capitalize()}: {markdown.escape(finding.title)} ({finding.code})"
        yield ""
        yield markdown.escape(finding.measured)
        yield ""
        yield f"**How sure.** {markdown.escape(finding.sure)}"
        if finding.advice:
            yield ""
            yield f"**What to do.** {markdown.escape(finding.advice)}"
        for table in finding.tables:
            yield from _markdown_table(table)
    fine = [finding for finding in diagnosis if finding.severity == "fine"]
    yield from _markdown_list("Looked at, and nothing found", [f"{f.measured} ({f.code})" for f in fine])
    yield from _markdown_list("Not looked at", list(_not_looked_at(diagnosis)))
    yield ""
    yield from (f"{markdown.escape(note)}  " for note in notes_of(diagnosis))


def _markdown_list(head: str, items: list[str]) -> Iterator[str]:
    if items:
        yield from ("", f"## {head}", "")
        yield from (f"- {markdown.escape(item)}" for item in items)


def _markdown_table(table: Table) -> Iterator[str]:
    yield ""
    if table.title:
        yield from (f"{markdown.escape(table.title)}:", "")
    head = [markdown.escape(column.name) for column in table.columns]
    rule = ["---" if column.kind in _GIVES_WAY else "---:" for column in table.columns]
    rows = [list(map(markdown.escape, cells_of(table, row))) for row in table.rows[: table.shown]]
    yield from ("| " + " | ".join(row) + " |" for row in [head, rule, *rows])
    more = len(table.rows) - table.shown
    if more > 0:
        yield from ("", f"and {more:,} more; `--format json` has all.")
    if table.note:
        yield from ("", markdown.escape(table.note))


Renderer = Callable[[Diagnosis], str]
RENDERERS: dict[str, Renderer] = {"table": render_text, "json": render_json, "markdown": render_markdown}


# Pages about findings


def look_as_text(look: Look) -> str:
    """The page of a finding for the terminal."""
    parts = [f"{look.code}  {look.title} ({look.area})\n", "\n"]
    parts += [_wrapped(f"{name}: {text}", "", PAGE_WIDTH) for name, text in _sections(look.page)]
    return "".join([*parts, "\n", _wrapped(f"What to do: {look.advice}", "", PAGE_WIDTH)])


def look_as_markdown(look: Look) -> str:
    """The page of a finding for the docs."""
    parts = [f"# {look.code}: {look.title}", f"A finding of `assay diagnose`, under {look.area}."]
    parts += [f"**{name}.** {text}" for name, text in _sections(look.page)]
    return "\n\n".join([*parts, f"**What to do.** {look.advice}"]) + "\n"


def looks_as_text(looks: Iterable[Look]) -> str:
    """A line for each finding."""
    return "".join(f"{look.code}  {look.area:<8} {look.title}\n" for look in looks)


def _sections(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Why, Measured and Limits, each as one paragraph."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, rest = line.partition(": ")
        if colon and name in _SECTIONS:
            found.append((name, rest))
        elif line.strip() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found
