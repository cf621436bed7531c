"""Columns, cells and notes of a leaderboard, shared by all output formats. Escapes nothing but ids."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from msgspec import Struct

from assay.comparison.leaderboard import Leaderboard, LeftOut, Standing
from assay.describing import conventions_in_words
from assay.errors import show_id, some_of
from assay.words import listed, number_of, plural

DASH = "-"
NAME = "system"


class Column(Struct, frozen=True):
    """A column of the table: its heading and a cell for each system."""

    name: str
    cells: tuple[str, ...]
    best: frozenset[int] = frozenset()  # places of the highest value


def columns_of(board: Leaderboard, top: int | None = None) -> list[Column]:
    """The columns, the most important ones first: the verdict, then the means by collection and by other measures."""
    rows = board.standings[:top]
    main, *others = board.measures
    return [
        Column("rank", tuple(str(each.rank) for each in rows)),
        Column(NAME, tuple(show_id(each.system) for each in rows)),
        _valued(show_id(main), [each.mean for each in board.standings], top),
        Column("±95%", tuple(map(half_of, rows))),
        Column("ranks", tuple(map(ranks_of, rows))),
        Column("tier", tuple(str(each.tier) for each in rows)),
        *(
            _valued(show_id(name), [each.by_collection[name][main] for each in board.standings], top)
            for name in named_collections(board)
        ),
        *(_valued(show_id(label), [each.means[label] for each in board.standings], top) for label in others),
    ]


def _valued(name: str, values: Sequence[float], top: int | None) -> Column:
    """A column of values, whose highest is marked unless all are the same."""
    known = {value for value in values if not math.isnan(value)}
    best = {place for place, value in enumerate(values) if len(known) > 1 and value == max(known)}
    return Column(name, tuple(map(value_of, values[:top])), frozenset(best))


def named_collections(board: Leaderboard) -> list[str]:
    """The names of several collections; none for a single one."""
    return [each.name for each in board.collections] if len(board.collections) > 1 else []


def value_of(value: float) -> str:
    """Four decimals."""
    return DASH if math.isnan(value) else f"{value:.4f}"


def half_of(standing: Standing) -> str:
    """Half of the width of the mean's interval, which is symmetric unless it is cut off at a bound of the measure."""
    if standing.interval is None:
        return DASH
    low, high = standing.interval
    return f"{max(standing.mean - low, high - standing.mean):.4f}"


def mean_of(standing: Standing) -> str:
    """'0.7160 ± 0.0969', or only the mean if it has no interval."""
    mean = value_of(standing.mean)
    return mean if standing.interval is None else f"{mean} ± {half_of(standing)}"


def ranks_of(standing: Standing) -> str:
    """'2–6', or '2' if the interval is a single rank."""
    low, high = standing.rank_interval
    return f"{low}" if low == high else f"{low}–{high}"


def left_to_show(board: Leaderboard, top: int | None) -> str:
    """How many systems are not shown; empty if all are."""
    count = len(board.standings)
    return "" if top is None or top >= count else f"Showing the best {top:,} of {number_of(count, 'system')}"


def brief_of(board: Leaderboard) -> str:
    """What the columns mean, and rules that are not the usual ones, in a line or two."""
    method = board.method
    collections = len(board.collections)
    queries = number_of(sum(each.queries for each in board.collections), "query")
    over = queries if collections == 1 else f"{collections} collections, which count equally ({queries})"
    of = " of collections" if method.resample == "collections" else ""
    rules = {} if board.rules is None else board.rules.changed()
    unusual = [
        *([f"as in {board.like}"] if board.like not in (None, "assay") else []),
        *(f"{name}={value}" for name, value in rules.items()),
    ]
    meaning = (
        f"Means of {over} ±95%; ranks in 95% of {method.draws:,} resamples{of} (seed {method.seed}); "
        f"no system in a tier is significantly worse than its best (alpha {method.alpha:g})"
    )
    return f"{'; '.join([meaning, ', '.join(unusual)] if unusual else [meaning])}."


def method_of(board: Leaderboard) -> str:
    """What the columns mean, and the method behind them, in one paragraph."""
    method = board.method
    what = "the collections" if method.resample == "collections" else "the queries"
    tests = "over collections" if method.resample == "collections" else "by query"
    return (
        f"{_mean(board)}; ±95%: its t interval. Ranks: the middle 95% in {method.draws:,} resamples of {what}, seed "
        f"{method.seed}. Tier: the best system that has none yet, and all that are not significantly worse (paired t "
        f"tests {tests}, all pairs, Holm, alpha {method.alpha:g})."
    )


def _mean(board: Leaderboard) -> str:
    main = show_id(board.measures[0])
    if len(board.collections) == 1:
        return f"Mean {main} of {number_of(board.collections[0].queries, 'query')}"
    return f"Mean {main} of {len(board.collections)} collections, which count equally"


def notes_of(board: Leaderboard) -> Iterator[str]:
    """What is unusual, one sentence each."""
    if board.left_out:
        named = some_of([f"{show_id(each.system)} lacks {_lacking(each)}" for each in board.left_out])
        count = plural("{count} {system is|systems are} left out", len(board.left_out))
        yield f"{count}, since {plural('{it lacks|they lack}', len(board.left_out))} a collection ({named})."
    yield from board.notes
    if mixed := out_of_order(board):
        yield (
            f"{show_id(mixed)} is in a lower tier than systems with lower means: its differences from the best vary less "
            "from query to query."
        )


def _lacking(left_out: LeftOut) -> str:
    return " and ".join(map(show_id, left_out.lacks[:3])) + (" and others" if len(left_out.lacks) > 3 else "")


def out_of_order(board: Leaderboard) -> str | None:
    """The first system that is in a lower tier than one ranked below it, if any."""
    tiers = [each.tier for each in board.standings]
    return next(
        (each.system for at, each in enumerate(board.standings) if each.tier > min(tiers[at:], default=each.tier)), None
    )


def sizes_of(board: Leaderboard) -> str:
    """The collections and their numbers of queries; empty for a single one."""
    if not named_collections(board):
        return ""
    return "Queries: " + ", ".join(f"{show_id(each.name)} {each.queries:,}" for each in board.collections) + "."


def conventions_of(board: Leaderboard) -> str:
    """The rules of the evaluation; empty for a table of values."""
    return "" if board.rules is None else conventions_in_words(board.rules, board.like or "assay")


def paragraphs_of(board: Leaderboard) -> list[str]:
    """The method, what is unusual, and the conditions: everything beside the table."""
    return [text for text in (method_of(board), *notes_of(board), sizes_of(board), conventions_of(board)) if text]


def answer_of(board: Leaderboard) -> str:
    """The result in a sentence or two."""
    first = board.standings[0]
    best = [each for each in board.standings if each.rank == 1]
    others = [each for each in board.standings if each.tier == 1 and each.rank > 1]
    names = [show_id(each.system, 40) for each in best]
    lead = f"{listed(names)} {plural('{has|share}', len(best))} the highest mean {show_id(board.measures[0])} ({value_of(first.mean)})."
    if len(best) == len(board.standings):
        return lead
    rest = len(board.standings) - len(best)
    if not others and len(best) == 1:
        return f"{lead} It is significantly better than {plural('{the other one|all others}', rest)}."
    if not others:  # the tests of the tiers compare the first of them with the others
        return f"{lead} {plural('{The other one is|All others are}', rest)} significantly worse than {names[0]}."
    named = "" if len(others) > 3 else f" ({listed([show_id(each.system, 40) for each in others])})"
    if len(others) == rest:
        none = "The other one is not" if rest == 1 else f"None of the other {rest:,} is"
        return f"{lead} {none} significantly worse{named}."
    return f"{lead} {len(others):,} of the other {rest:,} {plural('{is|are}', len(others))} not significantly worse{named}."
