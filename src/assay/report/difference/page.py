"""The difference between two runs as one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.comparison.diffing import QueryDiff, RunDiff
from assay.errors import show_id
from assay.report.difference import words
from assay.report.difference.charts import charts_of
from assay.report.drawing import page
from assay.report.drawing.charts import draw
from assay.report.drawing.tables import MOST_QUERIES, Cells, Table, columns_of
from assay.words import number_of, sentence

DOCUMENTS = 30  # of a query, for each kind
MOST_OPENED = 100  # queries whose documents are in the page; the others are too many for one file


class ShownQuery(Struct, frozen=True):
    """A query, formatted for the page."""

    key: str  # of its row in the table of queries
    query: str
    summary: str
    documents: Table
    listed: bool  # below the table of queries, too, and not only when its row is opened


class DiffPage(Struct, frozen=True):
    """A difference, formatted for the template."""

    title: str
    lede: str
    answer: tuple[str, ...]  # the rest of it
    figures: Table
    counts: tuple[str, ...]
    queries: Table
    documents: tuple[ShownQuery, ...]
    not_shown: str
    notes: tuple[str, ...]


def render_page(diff: RunDiff, shown: int) -> str:
    """The page. Charts need an optional package; without it, only their captions are shown."""
    charts = charts_of(diff)
    return page.render_page("difference.html", draw(charts), charts=charts, page=page_of(diff, shown))


def page_of(diff: RunDiff, shown: int) -> DiffPage:
    """The page without the charts; the documents of `shown` queries are listed."""
    lede, *rest = words.answer_of(diff)
    changed = words.changed_queries(diff)
    return DiffPage(
        title=words.title_of(diff),
        lede=lede,
        answer=tuple(rest),
        figures=Table(
            columns_of([sentence(name) for name in words.FIGURES_HEAD]),
            tuple((_headed(figure.cells[0]), *figure.cells[1:]) for figure in words.figures_of(diff)),
        ),
        counts=tuple(words.counts_of(diff)),
        queries=_queries(diff, changed, shown),
        documents=tuple(
            _query(query, diff, at, listed=at < shown)
            for at, query in enumerate(changed[: max(shown, MOST_OPENED)])
            if _has_documents(query)
        ),
        not_shown=words.documents_not_shown(diff, shown) if shown else "",
        notes=tuple(words.notes_of(diff)),
    )


def _queries(diff: RunDiff, changed: Sequence[QueryDiff], shown: int) -> Table:
    """All queries that changed. A row opens to the documents of its query."""
    first, *others = words.query_head(diff)
    here = changed[:MOST_QUERIES]
    return Table(
        columns=columns_of([sentence(first), *map(_headed, others), "Entered", "Left"]),
        rows=tuple((*words.query_cells(query), f"{len(query.entered):,}", f"{len(query.left):,}") for query in here),
        nouns="queries",
        opens=tuple(
            str(at) if at < max(shown, MOST_OPENED) and _has_documents(query) else "" for at, query in enumerate(here)
        ),
        left_out=(
            f"Only the worst {MOST_QUERIES:,} of {len(changed):,} changed queries are here; --format json has all."
            if len(changed) > MOST_QUERIES
            else ""
        ),
    )


def _headed(name: str) -> str:
    """A name with a capital, unless it starts with that of a measure."""
    return sentence(name) if name.startswith(("overlap@", "rank", "recall@")) else name


def _has_documents(query: QueryDiff) -> bool:
    return bool(query.entered or query.left)


def _query(query: QueryDiff, diff: RunDiff, at: int, *, listed: bool) -> ShownQuery:
    first = diff.cutoffs[0].cutoff
    summary = (
        f"overlap@{first} {words.value_of(query.overlap[0])}, {len(query.entered):,} entered, {len(query.left):,} left"
    )
    names = ("Document", "Change", "Ranks", *(["Grade"] if diff.unjudged is not None else []))
    rows = tuple(_documents(query, diff))
    left = len(query.entered) + len(query.left) - len(rows)
    return ShownQuery(
        str(at),
        show_id(query.query, page.ID),
        summary,
        Table(
            columns_of(names, names),
            rows,
            nouns="documents",
            left_out=f"{number_of(left, 'more document')} entered or left." if left else "",
        ),
        listed,
    )


def _documents(query: QueryDiff, diff: RunDiff) -> Iterator[Cells]:
    for kind, places in (("Entered", query.entered), ("Left", query.left)):
        for place in places[:DOCUMENTS]:
            grade = [words.grade_of(place, diff)] if diff.unjudged is not None else []
            yield (show_id(place.doc, page.ID), kind, words.place_of(place, diff.settings.depth), *grade)
