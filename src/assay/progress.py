"""How work reports its progress, whoever shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import ParamSpec, Protocol, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")
Given = ParamSpec("Given")


class Tell(Protocol):
    """Reports the progress of a step."""

    def __call__(self, step: str, done: int, total: int | None) -> None:
        """`done` of `total` are finished; the total is None if unknown."""


def told(items: Iterable[Item], tell: Tell | None, step: str, total: int) -> Iterator[Item]:
    """The items; asking for the next one reports that those before it are finished.

    >>> list(told("ab", lambda step, done, total: print(step, done, total), "Reading", 2))
    Reading 0 2
    Reading 1 2
    Reading 2 2
    ['a', 'b']
    """
    if tell is None:
        yield from items
        return
    for done, item in enumerate(items):
        tell(step, done, total)
        yield item
    tell(step, total, total)


def telling(function: Callable[Given, Result], tell: Tell | None, step: str, total: int) -> Callable[Given, Result]:
    """The function, which reports after each call how many of `total` calls are finished."""
    if tell is None:
        return function
    done = count(1)

    def call(*given: Given.args, **named: Given.kwargs) -> Result:
        result = function(*given, **named)
        tell(step, next(done), total)
        return result

    return call
