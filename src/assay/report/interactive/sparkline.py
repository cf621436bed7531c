"""A small line beside a value, without axes."""

from __future__ import annotations

from collections.abc import Sequence

WIDTH, HEIGHT, MARGIN = 84, 22, 2


def sparkline(values: Sequence[float]) -> str:
    """The points of an SVG polyline of WIDTH x HEIGHT, from 0 to 1 or to the highest value.

    >>> sparkline([0.0, 1.0])
    '2,20 82,2'
    """
    top = max([1.0, *values])
    step = (WIDTH - 2 * MARGIN) / max(len(values) - 1, 1)
    return " ".join(
        f"{MARGIN + place * step:.3g},{HEIGHT - MARGIN - value / top * (HEIGHT - 2 * MARGIN):.3g}"
        for place, value in enumerate(values)
    )
