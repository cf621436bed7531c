"""A comparison as comma-separated values, in full precision: a row per pair and measure."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import TypeAlias

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import PairResult, WeightedPair

Value: TypeAlias = str | float | bool | None

# Fields with another name or shape here: an interval is two columns, and weighted values are beside the others.
_NESTED = {"interval", "weighted"}
_PLAIN = tuple(name for name in PairResult.__struct_fields__ if name not in _NESTED)
_WEIGHTED = tuple(name for name in WeightedPair.__struct_fields__ if name not in _NESTED)
_ENDS = ("interval_low", "interval_high")


def render_csv(comparison: Comparison) -> str:
    """A header, then one row per pair and measure; with segments, the pairs of each segment follow."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(column_names(comparison))
    writer.writerows([_cell(value) for value in row] for row in rows_of(comparison))
    return out.getvalue()


def column_names(comparison: Comparison) -> list[str]:
    """The names of the columns: those of `--format json`, with both ends of each interval."""
    segments = ["segmentation", "segment"] if comparison.segments else []
    weighted = [f"weighted_{name}" for name in (*_WEIGHTED, *_ENDS)] if comparison.query_weights else []
    return [*segments, *_PLAIN, *_ENDS, *weighted]


def rows_of(comparison: Comparison) -> Iterator[list[Value]]:
    """The values of each pair, in the order of the columns; None for one that does not exist."""
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


def _cell(value: Value) -> str:
    """A value so that it reads back the same; empty if there is none."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)
