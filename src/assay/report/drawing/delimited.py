"""Columns of values as comma-separated values that read back the same."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from typing import TypeAlias

Value: TypeAlias = str | int | float | bool | None
Columns: TypeAlias = Mapping[str, Sequence[Value]]  # all of the same length


def columns_as_csv(columns: Columns) -> str:
    """A header, then the rows; a value that does not exist is empty."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    return out.getvalue()


def _cell(value: Value) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else repr(value)
