"""Lists made from counts, for measures that only depend on how many documents are relevant, or on the first of them."""

from __future__ import annotations

from assay.errors import InputError
from assay.worked.lists import GradedList

MOST = 10_000  # results or documents; more make no difference that a reader could follow


def counted(hits: int, retrieved: int, relevant: int) -> GradedList:
    """A list of so many results with the relevant ones first, for so many relevant documents in all.

    >>> counted(hits=2, retrieved=3, relevant=4)
    GradedList(grades=(1.0, 1.0, 0.0), missed=(1.0, 1.0))
    """
    for name, count in {"hits": hits, "retrieved": retrieved, "relevant": relevant}.items():
        _check_number(name, count, 0)
    for name, count in {"retrieved": retrieved, "relevant": relevant}.items():
        if hits > count:
            raise InputError(
                f"{hits:,} relevant results, but only {count:,} {_ALL[name]}. Lower `hits=` or raise `{name}=`."
            )
    return GradedList((1.0,) * hits + (0.0,) * (retrieved - hits), (1.0,) * (relevant - hits))


_ALL = {"retrieved": "results in all", "relevant": "relevant documents in all"}


def first_relevant(rank: int | None) -> GradedList:
    """A list whose only relevant document is at this rank, or one that misses it.

    >>> first_relevant(3), first_relevant(None)
    (GradedList(grades=(0.0, 0.0, 1.0), missed=()), GradedList(grades=(), missed=(1.0,)))
    """
    if rank is None:
        return GradedList((), (1.0,))
    _check_number("rank", rank, 1)
    return GradedList((0.0,) * (rank - 1) + (1.0,))


def _check_number(name: str, count: int, least: int) -> None:
    if type(count) is not int or not least <= count <= MOST:
        raise InputError(f"`{name}=` cannot be {count!r}; it must be a whole number from {least} to {MOST:,}.")
