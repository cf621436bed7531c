"""How long to wait before a request is sent again."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random

LONGEST = 60.0  # seconds, unless the server asks for more
LONGEST_ASKED = 600.0  # seconds that the server may ask for; whoever wants more is asked no more
_FIRST = 0.5


def backoff(attempt: int, asked: float | None, random: Random) -> float:
    """Seconds to wait after this failed attempt (the first is 0): what the server asked for, or twice as long each time.

    Half of it is random, so that threads that failed together do not come back together. A wait that the server asked for
    is never shortened.

    >>> [round(backoff(attempt, None, Random(1)), 2) for attempt in range(3)]
    [0.28, 0.57, 1.13]
    >>> round(backoff(0, 7.0, Random(1)), 2), round(backoff(0, 120.0, Random(1)), 2)
    (7.03, 120.03)
    """
    own = min(_FIRST * 2.0 ** min(attempt, 10), LONGEST)
    spread = own / 2 * random.random()
    return own / 2 + spread if asked is None else asked + spread


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """The seconds that a Retry-After header asks for, given in seconds or as a date; None if it says nothing usable.

    >>> retry_after("2.5"), retry_after("soon"), retry_after("-1")
    (2.5, None, None)
    >>> retry_after("Wed, 18 Nov 2026 12:00:10 GMT", datetime(2026, 11, 18, 12, tzinfo=UTC))
    10.0
    """
    text = (value or "").strip()
    try:
        seconds = float(text)
    except ValueError:
        seconds = _until(text, now or datetime.now(UTC))
    return seconds if 0 <= seconds < float("inf") else None


def _until(date: str, now: datetime) -> float:
    try:
        then = parsedate_to_datetime(date)
    except (TypeError, ValueError, OverflowError):
        return -1.0
    then = then if then.tzinfo else then.replace(tzinfo=UTC)
    return max((then - now).total_seconds(), 0.0)
