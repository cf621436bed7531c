"""A comparison as columns and as comma-separated values, in full precision: a row per pair and measure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.comparison.comparing import Comparison
from assay.comparison.pairs import PairResult, WeightedPair
from assay.formats.spreadsheets import as_text
from assay.report.drawing.delimited import Columns, Value, columns_as_csv

_ENDS = {"low": ("interval", 0), "high": ("interval", 1)}  # of the interval of the difference
_CORRECTED_ENDS = {"low_corrected": ("interval_corrected", 0), "high_corrected": ("interval_corrected", 1)}
_PLACES = _ENDS | _CORRECTED_ENDS
_OF_OPTIONS = {"needed": "plan", "p_equivalence": "margin", "p_equivalence_corrected": "margin"}  # by field of a pair


def render_csv(comparison: Comparison, *, spreadsheet: bool = False) -> str:
    """A header, then one row per pair and measure; with segments, the pairs of each segment follow.

    With `spreadsheet`, names that a spreadsheet would run as formulas get an apostrophe.
    """
    columns = columns_of(comparison)
    if spreadsheet:
        columns = {name: list(map(_for_spreadsheet, values)) for name, values in columns.items()}
    return columns_as_csv(columns)


def _for_spreadsheet(value: Value) -> Value:
    return as_text(value) if isinstance(value, str) else value


def columns_of(comparison: Comparison) -> Columns:
    """Every figure of the pairs, by column; None for one that does not exist."""
    absent = {name for name, option in _OF_OPTIONS.items() if getattr(comparison.study, option) is None}
    names = [name for name in _names(PairResult.__struct_fields__) if name not in absent]
    weighted = () if comparison.query_weights is None else _names(WeightedPair.__struct_fields__)
    places = list(_places(comparison))
    columns: dict[str, list[Value]] = {}
    if comparison.segments:
        columns["segmentation"] = [segmentation for segmentation, _, _ in places]
        columns["segment"] = [segment for _, segment, _ in places]
    columns |= {name: [_value(pair, name) for _, _, pair in places] for name in names}
    return columns | {f"weighted_{name}": [_value(pair.weighted, name) for _, _, pair in places] for name in weighted}


def _names(fields: Sequence[str]) -> list[str]:
    """The fields of a pair; both ends of its intervals are fields, and its weighted values have columns of their own."""
    apart = {"interval": tuple(_ENDS), "interval_corrected": tuple(_CORRECTED_ENDS), "weighted": ()}
    return [name for field in fields for name in apart.get(field, (field,))]


def _places(comparison: Comparison) -> Iterator[tuple[str | None, str | None, PairResult]]:
    """Each pair with its segmentation and segment, which all queries together do not have."""
    yield from ((None, None, pair) for pair in comparison.pairs)
    for found in comparison.segments:
        for segment in found.segments:
            yield from ((found.segmentation.name, segment.name, pair) for pair in segment.pairs)


def _value(of: PairResult | WeightedPair | None, name: str) -> Value:
    if of is None:
        return None
    if name in _PLACES:
        field, end = _PLACES[name]
        interval: tuple[float, float] | None = getattr(of, field)
        return None if interval is None else interval[end]
    value: Value = getattr(of, name)
    return value
