"""The docs show how often rank intervals and tiers err, as it was measured, and that is within the required limits."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
RECORD = json.loads((ROOT / "bench" / "results" / "leaderboards.json").read_text())


def rates(part, queries):
    return {
        each["case"]: each["rate"] for each in RECORD["rates"] if (each["part"], each["queries"]) == (part, queries)
    }


def test_the_page_shows_what_was_measured():
    table = (ROOT / "bench" / "results" / "leaderboards.md").read_text()

    assert RECORD["date"] in table
    assert table in (ROOT / "docs" / "leaderboard.md").read_text()
    assert RECORD["draws"] >= 1000


def test_rank_intervals_hold_the_true_rank():
    planted = {case: rate for case, rate in rates("planted ranks", 50).items() if "equal" not in case}

    assert 4 == len(planted)
    assert min(planted.values()) >= 0.95
    assert all(0.935 <= rate <= 0.97 for rate in rates("real ranks", 50).values())


def test_equal_systems_are_rarely_split():
    assert {"2 systems", "10 systems", "50 systems"} == set(rates("equal systems split", 50))
    assert all(rate <= 0.06 for queries in (25, 50) for rate in rates("equal systems split", queries).values())


def test_the_best_system_is_rarely_lost():
    assert all(rate <= 0.05 for rate in rates("best system not in tier 1", 50).values())
