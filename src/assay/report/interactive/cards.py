"""Results that can be changed one by one."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from assay.report.interactive.fields import Grades, shortest

MOST_CARDS = 100  # the rest of a longer list is given as text


class Card(Struct, frozen=True):
    """A result that can be changed."""

    rank: int
    grade: str  # empty: unjudged
    name: str = ""


def cards_of(grades: Sequence[float | None], names: Sequence[str] = ()) -> tuple[Card, ...]:
    """The first results of a list.

    >>> cards_of([3.0, None], ["Loaf"])
    (Card(rank=1, grade='3', name='Loaf'), Card(rank=2, grade='', name=''))
    """
    filled = [*names, *[""] * len(grades)]
    return tuple(
        Card(rank, "" if grade is None else shortest(grade), name)
        for rank, (grade, name) in enumerate(zip(grades[:MOST_CARDS], filled, strict=False), 1)
    )


def as_text(grades: Sequence[float | None], names: Sequence[str] = ()) -> str:
    r"""A list as text that can be edited: a line for each result if any has a name, else all grades in one line.

    >>> as_text([3.0, None, 0.0]), as_text([3.0, None], ["Loaf"])
    ('3, u, 0', '3 Loaf\nu')
    """
    written = Grades().write(tuple(grades))[0].split(",")
    if not any(names):
        return ", ".join(written)
    filled = [*names, *[""] * len(grades)]
    lines = zip(written, (" ".join(name.splitlines()) for name in filled), strict=False)
    return "\n".join(f"{grade} {name}".rstrip() for grade, name in lines)
