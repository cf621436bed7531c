"""Render the decision of a gate for the terminal. Decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from assay.gate.gating import Gate
from assay.report.drawing.terminal import Detail, Drawn, printed, terminal_width, wrapped
from assay.report.gate.words import (
    HEAD,
    TEXTS,
    attempt_of,
    cells_of,
    difference_of,
    headline,
    notes_of,
    percent_of,
    queries_to_judge,
    reasons_of,
    sentence,
    shown,
)

if TYPE_CHECKING:
    from rich.table import Table


_STYLES = {"pass": "green", "fail": "bold red", "inconclusive": "yellow", "unchanged": "cyan"}
_INDENT = len("inconclusive") + 2


def render_text(gate: Gate, detail: Detail = Detail()) -> str:
    """The decision, a table of the rules, the reason for each, and cautions; method and conventions if verbose."""
    from rich.text import Text

    width = terminal_width()
    parts = [printed(Text(headline(gate), style=_STYLES[gate.status]), width)]
    if gate.decisions:
        parts += ["\n", printed(_table(gate), width), "\n"]
    for reason in reasons_of(gate):
        words = f"{reason.name}: {sentence(reason.words)}"
        parts.append(_hanging(reason.status, _STYLES[reason.status], words, width))
    if judge := queries_to_judge(gate, full=detail.verbose):
        parts.append(_hanging("judge next", "cyan", judge, width))
    if attempt := attempt_of(gate):
        parts.append(_hanging("ledger", "cyan", attempt, width))
    if gate.warnings:
        parts.append("\n")
    parts += [_hanging("warning", "yellow", shown(caution.words), width) for caution in gate.warnings]
    if detail.verbose:
        parts += ["\n", *(wrapped(shown(note), width) for note in notes_of(gate))]
    elif gate.decisions:
        method = f"{difference_of(gate)}; bounds one-sided at {percent_of(gate)}{detail.more()}."
        parts += ["\n", wrapped(method, width)]
    return Drawn("".join(parts))


def _hanging(label: str, style: str, words: str, width: int) -> str:
    """A label, then the words in an indented column."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=0)
    table.add_column(width=_INDENT, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(Text(label, style=style), Text(words))
    return printed(table, width)


def _table(gate: Gate) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    several = len({decision.queries for decision in gate.decisions}) > 1  # otherwise the headline has the number
    shown = [name for name in HEAD if several or name != "queries"]
    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for name in shown:
        table.add_column(
            Text(name), justify="left" if name in TEXTS else "right", no_wrap=name != "rule", overflow="fold"
        )
    for decision in gate.decisions:
        cells = dict(zip(HEAD, cells_of(decision), strict=True))
        table.add_row(*(Text(cells[name], style=_STYLES.get(cells[name], "")) for name in shown))
    return table
