"""The difference between two runs as JSON and Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import to_builtins

from assay.comparison.diffing import QueryDiff, RunDiff
from assay.comparison.moves import Place
from assay.report.difference import words
from assay.report.drawing import markdown
from assay.report.drawing.json import json_text

SCHEMA = "assay/run-diff/1"
DOCUMENTS = 5  # of a query, in Markdown


def render_json(diff: RunDiff, shown: int) -> str:
    """One object with all queries that changed; the schema is docs/schemas/run-diff-1.json."""
    document = to_builtins(diff)
    document["queries"] = [to_builtins(query) for query in words.changed_queries(diff)]
    head = {
        "schema": SCHEMA,
        "answer": words.answer_of(diff),
        "identical": diff.identical,
        "compared": len(diff.queries),
    }
    return json_text({**head, **document})


def render_markdown(diff: RunDiff, shown: int) -> str:
    """For a pull request or an issue: the answer, the figures and the worst queries."""
    figures = [list(map(markdown.plain, figure.cells)) for figure in words.figures_of(diff)]
    parts = [" ".join(map(markdown.plain, words.answer_of(diff)))]
    if words.worth_figures(diff):
        parts.append(markdown.table(words.FIGURES_HEAD, figures, range(1, len(words.FIGURES_HEAD))))
    queries = words.changed_queries(diff)[:shown]
    if queries:
        parts += [f"### {words.CHANGED}", _queries(diff, queries)]
    notes = [words.not_shown(diff, shown) if shown else "", *words.counts_of(diff), *words.notes_of(diff)]
    return "\n\n".join([*parts, "\n".join(f"{markdown.plain(note)}  " for note in filter(None, notes))]) + "\n"


def _queries(diff: RunDiff, queries: Sequence[QueryDiff]) -> str:
    head = words.query_head(diff)
    rows = [
        [*map(markdown.plain, words.query_cells(query)), _places(query.entered, diff), _places(query.left, diff)]
        for query in queries
    ]
    return markdown.table([*map(markdown.plain, head), "entered", "left"], rows, range(1, len(head)))


def _places(places: Sequence[Place], diff: RunDiff) -> str:
    depth = diff.settings.depth
    shown = [
        f"{markdown.plain(place.doc, 60)} ({markdown.plain(words.place_of(place, depth))})"
        for place in places[:DOCUMENTS]
    ]
    rest = [f"{len(places) - DOCUMENTS} more"] if len(places) > DOCUMENTS else []
    return ", ".join([*shown, *rest]) or words.DASH
