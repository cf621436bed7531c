"""Charts of a leaderboard: the means and the ranks of the best systems, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from assay.comparison.leaderboard import Leaderboard, Standing
from assay.errors import show_id
from assay.report.comparison.charts import LABELS, height_of, points_on_intervals
from assay.report.drawing.charts import Chart
from assay.report.drawing.vega import BLUE, MUTED, Spec, axis, fitting, framed
from assay.report.leaderboard import words

MOST_ROWS = 24  # of one chart


def charts_of(board: Leaderboard) -> tuple[Chart, ...]:
    """Ranks and means of the best systems."""
    shown = board.standings[:MOST_ROWS]
    return _ranks(board, shown), _means(board, shown)


def _ranks(board: Leaderboard, shown: Sequence[Standing]) -> Chart:
    first = "; ".join(f"{show_id(each.system, 30)} {each.rank} ({words.ranks_of(each)})" for each in shown[:3])
    text = f"The rank of each system and its 95% interval: {first}.{_colours(shown)}{_drawn(board)}"
    rows = [
        _row(place, each, each.rank, each.rank_interval, f"rank {each.rank} ({words.ranks_of(each)})")
        for place, each in enumerate(shown)
    ]
    top = max(each.rank_interval[1] for each in shown)
    x = axis("value", "Rank", (0.5, top + 0.5))
    x["axis"] = x["axis"] | {"values": _ticks(top)}
    return Chart("ranks", "Ranks", text, _drawn_rows(rows, x))


def _means(board: Leaderboard, shown: Sequence[Standing]) -> Chart:
    main = show_id(board.measures[0], 30)
    first = "; ".join(f"{show_id(each.system, 30)} {words.mean_of(each)}" for each in shown[:3])
    interval = " and its 95% interval" if any(each.interval for each in shown) else ""
    text = f"The mean {main} of each system{interval}: {first}.{_colours(shown)}{_drawn(board)}"
    rows = [
        _row(
            place,
            each,
            each.mean,
            each.interval or (each.mean, each.mean),
            words.mean_of(each),
        )
        for place, each in enumerate(shown)
    ]
    low, high = min(row["low"] for row in rows), max(row["high"] for row in rows)
    room = (high - low) * 0.04 or 0.01
    x = axis("value", f"Mean {main}", (low - room, high + room))
    return Chart("means", "Means", text, _drawn_rows(rows, x))


def _row(place: int, standing: Standing, value: float, ends: tuple[float, float], said: str) -> dict[str, Any]:
    colour, shape = (MUTED, "square") if standing.tier % 2 == 0 else (BLUE, "circle")
    name = show_id(standing.system, 60)
    return {
        "place": place,
        "label": fitting(name, LABELS),
        "words": f"{name}: {said}, tier {standing.tier}",
        "value": value,
        "low": ends[0],
        "high": ends[1],
        "colour": colour,
        "shape": shape,
    }


def _ticks(top: int) -> list[int]:
    """Up to seven ranks to label, the first included.

    >>> _ticks(4), _ticks(12), _ticks(83)
    ([1, 2, 3, 4], [1, 2, 4, 6, 8, 10, 12], [1, 20, 40, 60, 80])
    """
    step = next(size * 10**power for power in range(9) for size in (1, 2, 5) if top <= 6 * size * 10**power)
    return sorted({1, *range(step, top + 1, step)})


def _colours(shown: Sequence[Standing]) -> str:
    """What the colours mean, if there are several."""
    return " Blue dots: odd tiers; grey squares: even tiers." if len({each.tier for each in shown}) > 1 else ""


def _drawn(board: Leaderboard) -> str:
    count = len(board.standings)
    return f" Showing the best {MOST_ROWS} of {count:,} systems." if count > MOST_ROWS else ""


def _drawn_rows(rows: list[dict[str, Any]], x: Spec) -> Spec:
    return framed(points_on_intervals(x), rows, left=LABELS + 10, height=height_of(len(rows)))
