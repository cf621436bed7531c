"""A comparison as comma-separated values, in full precision: a row per pair and measure."""

from __future__ import annotations

from collections.abc import Iterator

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import PairResult, WeightedPair
from assay.report.drawing.delimited import Columns, Value, columns_as_csv

# Fields with another name or shape here: an interval is two columns, and weighted values are beside the others.
_NESTED = {"interval", "weighted"}
_PLAIN = tuple(name for name in PairResult.__struct_fields__ if name not in _NESTED)
_WEIGHTED = tuple(name for name in WeightedPair.__struct_fields__ if name not in _NESTED)
_ENDS = ("interval_low", "interval_high")


def render_csv(comparison: Comparison) -> str:
    """A header, then one row per pair and measure; with segments, the pairs of each segment follow."""
    return columns_as_csv(columns_of(comparison))


def columns_of(comparison: Comparison) -> Columns:
    """Every figure of the pairs, by column; None for one that does not exist."""
    return dict(zip(_names(comparison), zip(*_rows(comparison), strict=True), strict=True))


def _names(comparison: Comparison) -> list[str]:
    """The names of `--format json`, with both ends of each interval."""
    segments = ["segmentation", "segment"] if comparison.segments else []
    weighted = [f"weighted_{name}" for name in (*_WEIGHTED, *_ENDS)] if comparison.query_weights else []
    return [*segments, *_PLAIN, *_ENDS, *weighted]


def _rows(comparison: Comparison) -> Iterator[list[Value]]:
    segmented, weighted = bool(comparison.segments), comparison.query_weights is not None
    for pair in comparison.pairs:
        yield [*([None, None] if segmented else []), *_values(pair, weighted=weighted)]
    for found in comparison.segments:
        for segment in found.segments:
            for pair in segment.pairs:
                values = _values(pair, weighted=weighted)
                yield [found.segmentation.name, segment.name, *values]


def _values(pair: PairResult, *, weighted: bool) -> list[Value]:
    values = [*(getattr(pair, name) for name in _PLAIN), *(pair.interval or (None, None))]
    if not weighted:
        return values
    found = pair.weighted
    if found is None:
        return [*values, *[None] * (len(_WEIGHTED) + len(_ENDS))]
    return [*values, *(getattr(found, name) for name in _WEIGHTED), *(found.interval or (None, None))]
