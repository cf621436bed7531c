"""What a paired test is: one function, decorated, in the file of its kind. Knows no test by name and draws nothing.

    @paired_test("t")
    def t(paired, options):
        ...

The function takes the pairs of columns and gives an `Outcome`. What holds for every test is here: systems are paired
query by query, a query that one of the two lacks is left out, and what has no spread is never significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from assay.errors import AssayError
from assay.native.sums import exact_sum
from assay.tables import Booleans, Floats, Integers

Alternative = Literal["two-sided", "greater", "less"]
Pair = tuple[int, int]  # columns: first minus second

TIE = 1e-12  # numbers that differ by less than this share of what they were made of are equal: the rest is rounding


class PairedOptions(Struct, frozen=True):
    """What one may choose. Tests that need no chance pass over seed and draws; only `sign` knows a minimum.

    `greater` asks whether the first system of a pair is better than the second. `draws` is the number of permutations or
    resamples; None takes what the test has for its own.
    """

    alternative: Alternative = "two-sided"
    draws: int | None = None
    seed: int = 1
    minimum: float = 0.0  # differences up to this are ties of the sign test

    def __post_init__(self) -> None:
        if self.alternative not in get_args(Alternative):
            known = ", ".join(get_args(Alternative))
            raise AssayError(f"alternative cannot be {self.alternative!r}; it takes {known}.")
        if self.draws is not None and (not _is_whole(self.draws) or self.draws < 1):
            raise AssayError(f"draws cannot be {self.draws!r}; it takes a whole number from 1, such as 100000.")
        if not _is_whole(self.seed) or self.seed < 0:
            raise AssayError(f"seed cannot be {self.seed!r}; it takes a whole number from 0.")
        if not 0 <= self.minimum < math.inf:
            raise AssayError(f"minimum cannot be {self.minimum!r}; it takes a number from 0, such as 0.01.")


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class Overall(Struct, frozen=True):
    """One test of all systems at once: whether all of them could be equally good."""

    statistic: float
    p: float
    degrees: tuple[int, int]


class PairedOutcome(Struct, frozen=True, eq=False):
    """What a test found: one entry for each pair in every array."""

    statistic: Floats
    p: Floats
    queries: Integers  # that entered
    exact: Booleans  # all outcomes were counted: nothing was drawn or approximated
    draws: Integers  # permutations or resamples, 0 where a formula gives p
    overall: Overall | None = None

    @classmethod
    def of(cls, rows: Sequence[tuple[float, float]], queries: Integers, *, exact: bool = False) -> PairedOutcome:
        """The outcome of a test without draws, from statistic and p of each pair."""
        table = np.array(rows, np.float64).reshape(-1, 2)
        flags = np.full(len(table), exact)
        return cls(table[:, 0], table[:, 1], queries, flags, np.zeros(len(table), np.int64))


class Significance(Struct, frozen=True, eq=False):
    """What a test says of each pair, and all that is needed to get the same again.

    Swapping the systems of a pair turns the sign of its statistic. Where `constant` is true, the two systems differ by
    the same amount on all queries (or there is no query): there is no spread to judge by, and p is 1.
    """

    test: str
    alternative: Alternative
    pairs: tuple[Pair, ...]
    statistic: Floats
    p: Floats
    queries: Integers
    constant: Booleans
    exact: Booleans
    draws: Integers
    seed: int | None  # None where nothing was drawn
    overall: Overall | None = None

    def __len__(self) -> int:
        return len(self.pairs)


class Paired(Struct, frozen=True, eq=False, dict=True):
    """Systems side by side, query by query, and the pairs to compare.

    A value that is not a number is one that the system lacks. A pair leaves out the queries that one of its two lacks,
    and keeps those that only other systems lack; tests of all systems at once keep only what is `complete`.
    """

    values: Floats  # (queries, systems)
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise AssayError(
                f"values must be a table of queries and systems; these have {self.values.ndim} dimensions."
            )
        if np.isinf(self.values).any():
            raise AssayError(f"{int(np.isinf(self.values).sum())} values are infinite; a test cannot weigh them.")
        systems = self.values.shape[1]
        for pair in self.pairs:
            if len(pair) != 2 or not all(_is_whole(column) and 0 <= column < systems for column in pair):
                raise AssayError(
                    f"no pair {pair!r} among {systems} systems; they are numbered from 0 to {systems - 1}."
                )

    @cached_property
    def known(self) -> Booleans:
        """Which values are there."""
        return ~np.isnan(self.values)

    def difference(self, number: int) -> Floats:
        """First minus second system of a pair, on the queries that both have."""
        first, second = self.pairs[number]
        difference: Floats = self.values[:, first] - self.values[:, second]
        return difference[~np.isnan(difference)]

    def differences(self) -> Iterator[Floats]:
        """The differences of one pair after the other."""
        return (self.difference(number) for number in range(len(self.pairs)))

    @cached_property
    def queries(self) -> Integers:
        """How many queries both systems of each pair have."""
        return np.array([len(difference) for difference in self.differences()], np.int64)

    @cached_property
    def constant(self) -> Booleans:
        """Pairs that differ by the same amount on all queries, up to rounding."""
        return np.array([self._is_constant(number) for number in range(len(self.pairs))], np.bool_)

    def _is_constant(self, number: int) -> bool:
        first, second = (self.values[:, column] for column in self.pairs[number])
        difference = self.difference(number)
        if len(difference) == 0:
            return True
        size = max(np.nanmax(np.abs(first)), np.nanmax(np.abs(second)))
        return bool(np.ptp(difference) <= TIE * size)

    def complete(self) -> Paired:
        """The same pairs on the queries that every system has."""
        return Paired(self.values[self.known.all(axis=1)], self.pairs)

    def groups(self) -> Iterator[tuple[Paired, Integers]]:
        """Pairs that have the same queries, with the numbers of these pairs."""
        if self.known.all():
            yield self, np.arange(len(self.pairs))
            return
        members: dict[bytes, list[int]] = {}
        for number, (first, second) in enumerate(self.pairs):
            members.setdefault((self.known[:, first] & self.known[:, second]).tobytes(), []).append(number)
        for rows, numbers in members.items():
            values = self.values[np.frombuffer(rows, np.bool_)]
            yield Paired(values, tuple(self.pairs[number] for number in numbers)), np.array(numbers)


Kernel = Callable[[Paired, PairedOptions], PairedOutcome]


class PairedTest(Struct, frozen=True, eq=False):
    """Everything the registry knows of a test."""

    name: str
    kernel: Kernel
    draws: bool  # takes seed and draws
    text: str

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return self.text.partition("\n")[0]


REGISTRY: dict[str, PairedTest] = {}


def paired_test(name: str, *, draws: bool = False) -> Callable[[Kernel], Kernel]:
    """Make a function a test that the whole of assay knows; `draws` says that it needs chance."""

    def register(kernel: Kernel) -> Kernel:
        REGISTRY[name] = PairedTest(name, kernel, draws, kernel.__doc__ or "")
        return kernel

    return register


def p_value(lower: float, upper: float, alternative: Alternative) -> float:
    """The p value from the chances of a statistic as low and as high as this one."""
    if alternative == "two-sided":
        return min(1.0, 2 * min(lower, upper))
    return upper if alternative == "greater" else lower


class Moments(Struct, frozen=True):
    """How many values, their mean and standard deviation (n - 1); no order of the values changes a bit."""

    count: int
    mean: float
    deviation: float

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.count)


def moments(values: Floats) -> Moments | None:
    """Moments of values that are all numbers; None with fewer than two, or where all are equal up to rounding.

    >>> moments(np.array([1.0, 2.0, 3.0]))
    Moments(count=3, mean=2.0, deviation=1.0)
    """
    return _moments(values, size=float(np.abs(values).max(initial=0)))


def difference_moments(first: Floats, second: Floats) -> tuple[Floats, Moments | None]:
    """First minus second where both are numbers, and the moments of that.

    Differences that are no more than the rounding of the values they come from have no spread.
    """
    difference = first - second
    known = ~np.isnan(difference)
    size = np.abs(np.concatenate((first[known], second[known]))).max(initial=0)
    return difference[known], _moments(difference[known], float(size))


def _moments(known: Floats, size: float) -> Moments | None:
    if len(known) < 2 or np.ptp(known) <= TIE * size:
        return None
    mean = exact_sum(known) / len(known)
    deviation = math.sqrt(exact_sum((known - mean) ** 2) / (len(known) - 1))
    return Moments(len(known), mean, deviation) if deviation else None  # squares of the smallest numbers are 0
