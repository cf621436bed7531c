"""The interface of paired tests: a test is one decorated function. Knows no test by name and draws nothing.

    @paired_test("t")
    def t(paired, options):
        ...

The function takes a `Paired` and returns a `PairedOutcome`. Rules for all tests are here: systems are paired by query,
a query missing from either system is left out, and a difference of 0 on every query is never significant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Literal, get_args

import numpy as np
from msgspec import Struct

from assay.errors import AssayError
from assay.native.sums import exact_row_sums, exact_sum
from assay.tables import Booleans, Floats, Integers
from assay.words import plural

Alternative = Literal["two-sided", "greater", "less"]
Pair = tuple[int, int]  # columns: first minus second

TIE = 1e-12  # relative difference below which numbers count as equal, to absorb rounding
_AT_ONCE = 2**20  # differences in memory at a time


class PairedOptions(Struct, frozen=True):
    """Options of a test. Tests without random draws ignore seed and draws; only `sign` uses the minimum.

    `greater` tests whether the first system of a pair is better than the second. `draws` is the number of permutations
    or resamples; None means the default of the test.
    """

    alternative: Alternative = "two-sided"
    draws: int | None = None
    seed: int = 1
    minimum: float = 0.0  # differences up to this count as ties in the sign test

    def __post_init__(self) -> None:
        if self.alternative not in get_args(Alternative):
            known = ", ".join(get_args(Alternative))
            raise AssayError(f"alternative cannot be {self.alternative!r}; it takes {known}.")
        check_draws(1 if self.draws is None else self.draws, self.seed, usual=100_000)
        if not 0 <= self.minimum < math.inf:
            raise AssayError(f"minimum cannot be {self.minimum!r}; it takes a number, 0 or more, such as 0.01.")


def check_draws(draws: int, seed: int, *, usual: int) -> None:
    """Raise unless these are a number of draws and a seed."""
    if not _is_whole(draws) or draws < 1:
        raise AssayError(f"draws cannot be {draws!r}; it takes a whole number, 1 or more, such as {usual}.")
    if not _is_whole(seed) or seed < 0:
        raise AssayError(f"seed cannot be {seed!r}; it takes a whole number, 0 or more.")


def _is_whole(value: object) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


class Overall(Struct, frozen=True):
    """One test of all systems at once: whether all are equally good."""

    statistic: float
    p: float
    degrees: tuple[int, int]


class Pooled(Struct, frozen=True):
    """The standard error that all pairs share, and its degrees of freedom."""

    error: float
    degrees: int


class PairedOutcome(Struct, frozen=True, eq=False):
    """The result of a test: every array has one entry per pair."""

    statistic: Floats  # NaN where it needs a spread that the differences do not have
    p: Floats
    queries: Integers  # used
    exact: Booleans  # all outcomes were enumerated: nothing was drawn or approximated
    draws: Integers  # permutations or resamples; 0 if p comes from a formula
    overall: Overall | None = None
    pooled: Pooled | None = None  # of tests that estimate one error from all systems
    ranges: Floats | None = None  # that chance gives, sorted; of tests that compare each difference with them

    @classmethod
    def of(
        cls, rows: Sequence[tuple[float, float]] | Floats, queries: Integers, *, exact: bool = False
    ) -> PairedOutcome:
        """The outcome of a test without draws, from the statistic and p of each pair."""
        table = np.array(rows, np.float64).reshape(-1, 2)
        flags = np.full(len(table), exact)
        return cls(table[:, 0], table[:, 1], queries, flags, np.zeros(len(table), np.int64))


class Significance(Struct, frozen=True, eq=False):
    """The result of a test for each pair, with everything needed to reproduce it.

    Swapping the systems of a pair flips the sign of its statistic. Where `constant` is true, the two systems differ by
    the same amount on all queries (or there are no queries). Pairs that are `untested` have too few queries; their p is 1.
    """

    test: str
    alternative: Alternative
    statistic: Floats
    p: Floats
    queries: Integers
    constant: Booleans
    untested: Booleans
    exact: Booleans
    draws: Integers
    seed: int | None  # None if nothing was drawn
    tested: Paired  # without queries that the test leaves out for all pairs
    overall: Overall | None = None
    pooled: Pooled | None = None
    ranges: Floats | None = None

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The columns of each pair: first minus second."""
        return self.tested.pairs

    def __len__(self) -> int:
        return len(self.pairs)


class Paired(Struct, frozen=True, eq=False, dict=True):
    """Systems side by side, query by query, and the pairs to compare.

    NaN marks a missing value. A pair leaves out queries missing from either of its systems, but keeps those missing
    only from other systems; tests of all systems at once keep only queries that are `complete`.
    """

    values: Floats  # (queries, systems)
    pairs: tuple[Pair, ...]

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise AssayError(f"values must have 2 dimensions (queries, systems), not {self.values.ndim}.")
        if np.isinf(self.values).any():
            infinite = int(np.isinf(self.values).sum())
            raise AssayError(plural("{count} {value is|values are} infinite and cannot be tested.", infinite))
        systems = self.values.shape[1]
        for pair in self.pairs:
            if len(pair) != 2 or not all(_is_whole(column) and 0 <= column < systems for column in pair):
                raise AssayError(f"no pair {pair!r}; the {systems} systems are numbered from 0 to {systems - 1}.")

    @cached_property
    def known(self) -> Booleans:
        """Which values are not missing."""
        return ~np.isnan(self.values)

    def difference(self, number: int) -> Floats:
        """First minus second system of a pair, on their common queries."""
        first, second = self.pairs[number]
        difference: Floats = self.values[:, first] - self.values[:, second]
        return difference[~np.isnan(difference)]

    def differences(self) -> Iterator[Floats]:
        """The differences of each pair in turn."""
        return (self.difference(number) for number in range(len(self.pairs)))

    def blocks(self) -> Iterator[Block]:
        """The differences of many pairs at a time."""
        for group, numbers in self.groups():
            columns = np.ascontiguousarray(group.values.T)
            first, second = group.columns
            step = max(1, _AT_ONCE // max(1, len(group.values)))
            for start in range(0, len(numbers), step):
                some = slice(start, start + step)
                yield Block(numbers[some], columns, first[some], second[some])

    @cached_property
    def columns(self) -> tuple[Integers, Integers]:
        """The first and the second column of each pair."""
        first, second = np.array(self.pairs, np.int64).reshape(-1, 2).T
        return first, second

    @cached_property
    def queries(self) -> Integers:
        """The number of common queries of each pair."""
        known = self.known.astype(np.float64)
        common: Integers = (known.T @ known)[self.columns].astype(np.int64)
        return common

    @cached_property
    def moments(self) -> PairMoments:
        """Moments of the differences of each pair."""
        mean, squares, low, high = np.full((4, len(self.pairs)), np.nan)
        for block in self.blocks():
            difference = block.differences
            if difference.shape[1] == 0:
                continue
            mean[block.numbers] = middle = exact_row_sums(difference) / difference.shape[1]
            squares[block.numbers] = exact_row_sums((difference - middle[:, None]) ** 2)
            low[block.numbers], high[block.numbers] = difference.min(axis=1), difference.max(axis=1)
        return PairMoments(self.queries, mean, squares, low, high)

    @cached_property
    def rounding(self) -> Floats:
        """The size below which the differences of each pair are rounding."""
        sizes = np.abs(np.where(self.known, self.values, 0.0)).max(axis=0, initial=0)
        first, second = self.columns
        found: Floats = TIE * np.maximum(sizes[first], sizes[second])
        return found

    @cached_property
    def constant(self) -> Booleans:
        """Which pairs differ by the same amount on all queries, up to rounding."""
        spread: Floats = self.moments.high - self.moments.low
        beyond: Booleans = spread > self.rounding
        return ~beyond

    @cached_property
    def same(self) -> Booleans:
        """Which pairs do not differ on any query, up to rounding, or have no queries."""
        differ: Booleans = np.abs(self.moments.mean) > self.rounding
        return self.constant & ~differ

    def complete(self) -> Paired:
        """The same pairs on the queries that every system has."""
        return Paired(self.values[self.known.all(axis=1)], self.pairs)

    def groups(self) -> Iterator[tuple[Paired, Integers]]:
        """Pairs grouped by their common queries, with the numbers of the pairs."""
        if self.known.all():
            yield self, np.arange(len(self.pairs))
            return
        members: dict[bytes, list[int]] = {}
        for number, (first, second) in enumerate(self.pairs):
            members.setdefault((self.known[:, first] & self.known[:, second]).tobytes(), []).append(number)
        for rows, numbers in members.items():
            values = self.values[np.frombuffer(rows, np.bool_)]
            yield Paired(values, tuple(self.pairs[number] for number in numbers)), np.array(numbers)


class Block(Struct, frozen=True, eq=False, dict=True):
    """Some pairs over the same queries."""

    numbers: Integers  # of the pairs
    columns: Floats  # (systems, queries), on the queries that both systems of all these pairs have
    first: Integers  # system of each pair
    second: Integers

    @cached_property
    def differences(self) -> Floats:
        """First minus second: (pairs, queries)."""
        return self.columns[self.first] - self.columns[self.second]


class PairMoments(Struct, frozen=True, eq=False):
    """Moments of the differences of each pair, as in `Moments`; NaN without queries."""

    count: Integers
    mean: Floats
    squares: Floats  # sum of squared distances from the mean
    low: Floats
    high: Floats

    @property
    def deviation(self) -> Floats:
        """The standard deviation (n - 1); NaN for fewer than two queries."""
        found: Floats = np.sqrt(self.squares / np.where(self.count > 1, self.count - 1, np.nan))
        return found

    def spread(self, size: Floats) -> Booleans:
        """Which pairs have a spread beyond the rounding of numbers of this size."""
        found: Booleans = (self.high - self.low > TIE * size) & (self.deviation > 0)
        return found


Kernel = Callable[[Paired, PairedOptions], PairedOutcome]


class PairedTest(Struct, frozen=True, eq=False):
    """A registered test."""

    name: str
    kernel: Kernel
    draws: bool  # takes seed and draws
    together: bool  # tests all systems at once, on the queries that all of them have
    fewest: int  # queries that it needs
    signs: bool  # p is a share of the 2**n signs of the differences
    text: str

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return self.text.partition("\n")[0]

    def smallest_p(self, queries: int, alternative: Alternative) -> float:
        """The lowest p that so many queries can give; 0 for tests that have no such limit."""
        return 0.5 ** (queries - (alternative == "two-sided")) if self.signs else 0.0


REGISTRY: dict[str, PairedTest] = {}


def paired_test(
    name: str, *, draws: bool = False, together: bool = False, fewest: int = 2, signs: bool = False
) -> Callable[[Kernel], Kernel]:
    """Register a function as a test; the options are the fields of `PairedTest`."""

    def register(kernel: Kernel) -> Kernel:
        REGISTRY[name] = PairedTest(name, kernel, draws, together, fewest, signs, kernel.__doc__ or "")
        return kernel

    return register


def p_value(lower: float, upper: float, alternative: Alternative) -> float:
    """The p value from the probabilities of a statistic at most as low and at least as high as this one."""
    if alternative == "two-sided":
        return min(1.0, 2 * min(lower, upper))
    return upper if alternative == "greater" else lower


def p_values(lower: Floats, upper: Floats, alternative: Alternative) -> Floats:
    """`p_value` of many tests."""
    if alternative == "two-sided":
        doubled: Floats = np.minimum(1.0, 2 * np.minimum(lower, upper))
        return doubled
    return upper if alternative == "greater" else lower


class Moments(Struct, frozen=True):
    """Count, mean and standard deviation (n - 1); bit for bit independent of the order of the values."""

    count: int
    mean: float
    deviation: float

    @property
    def error(self) -> float:
        """The standard error of the mean."""
        return self.deviation / math.sqrt(self.count)


def difference_moments(first: Floats, second: Floats) -> tuple[Floats, Moments | None]:
    """First minus second where neither is NaN, and their moments; None for fewer than two or without spread.

    Differences as small as the rounding of the values they come from have no spread.
    """
    difference = first - second
    both = ~np.isnan(difference)
    size = np.abs(np.concatenate((first[both], second[both]))).max(initial=0)
    known = difference[both]
    if len(known) < 2 or np.ptp(known) <= TIE * size:
        return known, None
    mean = exact_sum(known) / len(known)
    deviation = math.sqrt(exact_sum((known - mean) ** 2) / (len(known) - 1))
    # Squares of the smallest numbers underflow to 0.
    return known, Moments(len(known), mean, deviation) if deviation else None
