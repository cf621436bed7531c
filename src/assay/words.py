"""Counts with singular or plural nouns, and p values, formatted the same way in all messages and pages; writable text."""

from __future__ import annotations

import re
from collections.abc import Sequence


def plural(message: str, count: int) -> str:
    """A message with {count} filled in and the matching side of each {one|many}.

    >>> plural("{count} {line is|lines are} blank", 1), plural("{count} {line is|lines are} blank", 1200)
    ('1 line is blank', '1,200 lines are blank')
    """
    start, *pieces = message.split("{")
    parts = [start]
    for piece in pieces:
        inside, _, after = piece.partition("}")
        one, _, many = inside.partition("|")
        parts += [f"{count:,}" if inside == "count" else one if count == 1 else many, after]
    return "".join(parts)


def noun_for(count: int, noun: str) -> str:
    """The singular or plural of a noun.

    >>> noun_for(1, "query"), noun_for(2, "query"), noun_for(2, "run")
    ('query', 'queries', 'runs')
    """
    if count == 1:
        return noun
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def number_of(count: int, noun: str) -> str:
    """A count and its noun.

    >>> number_of(1, "query"), number_of(6980, "query")
    ('1 query', '6,980 queries')
    """
    return f"{count:,} {noun_for(count, noun)}"


def listed(names: Sequence[str]) -> str:
    """Names as in a sentence.

    >>> listed(["a"]), listed(["a", "b"]), listed(["a", "b", "c"])
    ('a', 'a and b', 'a, b and c')
    """
    *before, last = names
    return f"{', '.join(before)} and {last}" if before else last


def show_p(value: float) -> str:
    """A p value with four decimals, or '<0.0001'.

    >>> show_p(0.0312), show_p(0.00004)
    ('0.0312', '<0.0001')
    """
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def sentence(text: str) -> str:
    """Text with a capital at the start.

    >>> sentence("nothing is judged.")
    'Nothing is judged.'
    """
    return text[:1].upper() + text[1:]


def natural_key(text: str) -> tuple[list[tuple[int, str]], str]:
    """A key that sorts as people do: q2 before q10.

    >>> sorted(["q10", "q2", "Q1", "b"], key=natural_key)
    ['b', 'Q1', 'q2', 'q10']
    """
    parts = re.split("([0-9]+)", text.casefold())  # every second one is a number: the longer, the larger
    parts[1::2] = [part.lstrip("0") for part in parts[1::2]]
    return [(len(part) if place % 2 else 0, part) for place, part in enumerate(parts)], text


def writable_text(text: str) -> str:
    r"""The text in a form that JSON and engines accept: bytes that are not UTF-8 become question marks.

    >>> writable_text("caf\udce9")
    'caf?'
    """
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
