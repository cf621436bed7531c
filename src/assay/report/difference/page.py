"""The difference between two runs as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec import Struct

from assay.comparison.diffing import QueryDiff, RunDiff
from assay.errors import show_id
from assay.report.difference import words
from assay.report.difference.charts import charts_of
from assay.report.drawing import page
from assay.report.drawing.charts import draw

DOCUMENTS = 30  # of a query, for each kind


class ShownQuery(Struct, frozen=True):
    """A query, formatted for the page."""

    query: str
    summary: str
    rows: tuple[tuple[str, ...], ...]  # its documents


class DiffPage(Struct, frozen=True):
    """A difference, formatted for the template."""

    title: str
    lede: str
    answer: tuple[str, ...]  # the rest of it
    figure_head: tuple[str, ...]
    figures: tuple[tuple[str, ...], ...]
    counts: tuple[str, ...]
    query_head: tuple[str, ...]
    queries: tuple[tuple[str, ...], ...]
    document_head: tuple[str, ...]
    documents: tuple[ShownQuery, ...]
    not_shown: str
    notes: tuple[str, ...]


def render_page(diff: RunDiff, shown: int) -> str:
    """The page. Charts need an optional package; without it, only their captions are shown."""
    charts = charts_of(diff)
    return page.render_page("difference.html", draw(charts), charts=charts, page=page_of(diff, shown))


def page_of(diff: RunDiff, shown: int) -> DiffPage:
    """The page without the charts."""
    lede, *rest = words.answer_of(diff)
    queries = words.changed_queries(diff)[:shown]
    return DiffPage(
        title=words.title_of(diff),
        lede=lede,
        answer=tuple(rest),
        figure_head=words.FIGURES_HEAD,
        figures=tuple(figure.cells for figure in words.figures_of(diff)),
        counts=tuple(words.counts_of(diff)),
        query_head=(*words.query_head(diff), "entered", "left"),
        queries=tuple(
            (*words.query_cells(query), f"{len(query.entered):,}", f"{len(query.left):,}") for query in queries
        ),
        document_head=("Change", "Ranks", *(["Grade"] if diff.unjudged is not None else []), "Document"),
        documents=tuple(_query(query, diff) for query in queries if query.entered or query.left),
        not_shown=words.not_shown(diff, shown) if shown else "",
        notes=tuple(words.notes_of(diff)),
    )


def _query(query: QueryDiff, diff: RunDiff) -> ShownQuery:
    first = diff.cutoffs[0].cutoff
    summary = (
        f"overlap@{first} {words.value_of(query.overlap[0])}, {len(query.entered):,} entered, {len(query.left):,} left"
    )
    return ShownQuery(show_id(query.query, page.ID), summary, tuple(_documents(query, diff)))


def _documents(query: QueryDiff, diff: RunDiff) -> Iterator[tuple[str, ...]]:
    for kind, places in (("entered", query.entered), ("left", query.left)):
        for place in places[:DOCUMENTS]:
            grade = [words.grade_of(place, diff)] if diff.unjudged is not None else []
            yield (kind, words.place_of(place, diff.settings.depth), *grade, show_id(place.doc, page.ID))
        if len(places) > DOCUMENTS:
            rest = [""] if diff.unjudged is not None else []
            yield (kind, "", *rest, f"{len(places) - DOCUMENTS:,} more")
