"""What a comparison looks like in a notebook, a data frame and files."""

from __future__ import annotations

from collections.abc import Sequence

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import SIGNIFICANT, PairResult
from assay.errors import show_id
from assay.report.comparison import RENDERERS, words
from assay.report.comparison.charts import charts_of
from assay.report.comparison.delimited import columns_of, render_csv
from assay.report.drawing.sheets import MOST_ROWS, Cell, Sheet, SheetTable, Strong, numbered
from assay.report.drawing.views import View
from assay.words import number_of

HEAD = (
    "measure",
    "system",
    "baseline",
    "verdict",
    "difference",
    "interval",
    "corrected p",
    "mean",
    "baseline mean",
)
_NUMBERS = HEAD[4:]
WEIGHTED = "Weighted by query"


def _sheet(comparison: Comparison) -> Sheet:
    """The pairs with their verdicts; of very many, those that differ most by the first measure."""
    systems, queries = len(comparison.scores.systems), len(comparison.scores.queries)
    pairs, note = comparison.pairs, ""
    if len(pairs) > MOST_ROWS:
        first = comparison.scores.measures[0]
        pairs = tuple(sorted(comparison.of(first), key=lambda pair: -abs(pair.difference))[:MOST_ROWS])
        note = (
            f"The {len(pairs)} largest differences by {first}, of {number_of(len(comparison.pairs), 'comparison')}; "
            "`to_pandas()` has all."
        )
    head = words.head_with(HEAD, comparison.study)
    tables = [SheetTable(head, tuple(map(_row, pairs)), numbered(HEAD, _NUMBERS), note=note)]
    if comparison.query_weights is not None:
        tables.append(_weighted(comparison, pairs))
    title = f"{systems:,} systems, {number_of(queries, 'query')}"
    notes = tuple(note for note in words.notes_of(comparison) if note not in comparison.notes)
    return Sheet("Comparison", title, tuple(tables), comparison.notes, notes)


def _row(pair: PairResult) -> tuple[Cell, ...]:
    verdict = words.verdict_of(pair)
    return (
        pair.measure,
        show_id(pair.system),
        show_id(pair.baseline),
        Strong(verdict) if pair.verdict in SIGNIFICANT else verdict,
        words.signed(pair.difference),
        words.interval_of(pair.interval_corrected),
        words.p_of(pair.p_corrected),
        words.value_of(pair.system_mean),
        words.value_of(pair.baseline_mean),
    )


def _weighted(comparison: Comparison, pairs: Sequence[PairResult]) -> SheetTable:
    head = words.head_with(words.WEIGHTED_HEAD, comparison.study)
    rows = tuple(tuple(words.weighted_cells_of(pair)) for pair in pairs if pair.weighted is not None)
    return SheetTable(head, rows, numbered(head, set(head) - words.NAMES), WEIGHTED)


VIEW: View[Comparison] = View(
    noun="a comparison",
    text=RENDERERS["table"],
    brief=_sheet,
    columns=columns_of,
    formats={
        ".csv": render_csv,
        ".json": RENDERERS["json"],
        ".md": RENDERERS["markdown"],
        ".tex": RENDERERS["latex"],
        ".html": RENDERERS["html"],
    },
    charts=charts_of,
)
