"""Exactly rounded sums, which do not depend on the order of the values."""

from __future__ import annotations

import math

import numpy as np

from assay.native import enabled, kernel
from assay.tables import Floats

_WORTH_A_CALL = 100  # for fewer values Python is just as fast


def exact_sum(values: Floats) -> float:
    """The exactly rounded sum of the values: the same as math.fsum, about ten times faster.

    >>> exact_sum(np.array([0.1] * 10)), sum([0.1] * 10)
    (1.0, 0.9999999999999999)
    """
    parts = (
        kernel.exact_sum(np.ascontiguousarray(values, np.float64))
        if enabled() and len(values) > _WORTH_A_CALL
        else None
    )
    if parts is None:
        return math.fsum(values.tolist())
    total = sum(part << (32 * place) for place, part in enumerate(np.frombuffer(parts, np.int64).tolist()))
    quotient: float = total / 2**1074
    return quotient  # integer division is exactly rounded too


def exact_row_sums(table: Floats) -> Floats:
    """The exactly rounded sum of each row."""
    if table.shape[1] > _WORTH_A_CALL:
        return np.array([exact_sum(row) for row in table], np.float64)
    return np.array(list(map(math.fsum, table.tolist())), np.float64)
