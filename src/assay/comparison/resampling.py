"""Tests and means by drawing again: permutation, bootstrap, Tukey's range. Seeded, in blocks of bounded memory.

A sign or a count that a query is given hits all systems alike. So a block of draws is multiplied with the columns of the
systems once, and every pair is a subtraction. What is drawn hangs on the seed and the number of queries alone: not on
other pairs that are asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.comparison.paired import TIE, Alternative, Paired, PairedOptions, PairedOutcome, paired_test
from assay.tables import Booleans, Floats, Integers

DRAWS = 100_000
TUKEY_DRAWS = 10_000  # each one shuffles the whole table
BLOCK = 128  # draws at a time, or fewer where they are long
MEMORY = 2**23  # numbers in the largest array of a block: 64 MB
ALONE = 2**18  # multiplications up to which OpenBLAS starts no threads; waiting for them takes ten times as long on a
# machine that has other work to do


@paired_test("permutation", draws=True)
def permutation(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Could each query's two values have changed places? Fisher's test by flipping the signs of differences.

    Where the n queries that differ have 2**n outcomes or fewer than asked for, all are counted: p = count / 2**n, and
    neither seed nor chance is in it. Otherwise p = (count + 1) / (draws + 1), which is never 0. Mean differences that
    are equal but for rounding (1e-12 of the largest possible) are equal. The statistic is the mean difference (Fisher
    1935; Smucker, Allan and Carterette 2007).
    """
    draws = int(options.draws or DRAWS)
    p, exact = np.ones(len(paired.pairs)), np.zeros(len(paired.pairs), np.bool_)
    done = np.full(len(paired.pairs), draws, np.int64)
    for group, numbers in paired.groups():
        most = draws.bit_length() - 1  # 2**n as a number of NumPy's would overflow
        few = np.array([np.count_nonzero(apart) <= most for apart in group.differences()], np.bool_)
        for place in np.flatnonzero(few).tolist():
            p[numbers[place]], done[numbers[place]] = _exact_permutation(group.difference(place), options.alternative)
        rest = Paired(group.values, tuple(pair for pair, one in zip(group.pairs, few, strict=True) if not one))
        exact[numbers[few]] = True
        if rest.pairs:
            p[numbers[~few]] = _chance_of_signs(rest, draws, options)
    return PairedOutcome(_means(paired), p, paired.queries, exact, done)


def _exact_permutation(difference: Floats, alternative: Alternative) -> tuple[float, int]:
    """p and the number of outcomes, all of them counted. Zeros change nothing: half of the outcomes are the other half."""
    some = difference[difference != 0]
    sums = np.zeros(1)
    for value in some.tolist():
        sums = np.concatenate((sums + value, sums - value))
    observed = sums[:1]  # all signs as they are
    reached = _reached(sums, observed, TIE * np.abs(some).sum(keepdims=True), alternative)
    return int(reached.sum()) / len(sums), len(sums)


def _chance_of_signs(paired: Paired, draws: int, options: PairedOptions) -> Floats:
    """p of each pair from random signs; all queries are known."""
    table = _SystemColumns(paired)
    tolerance = TIE * table.sizes
    count = np.zeros(len(paired.pairs), np.int64)
    for heads in coins(len(paired.values), draws, options.seed, table.width):
        flipped = 2 * table.sums(heads) - table.observed[:, None]  # heads keep their sign, tails turn it
        count += _reached(flipped, table.observed[:, None], tolerance[:, None], options.alternative).sum(axis=1)
    return (count + 1) / (draws + 1)


def coins(queries: int, draws: int, seed: int, width: int | None = None) -> Iterator[Floats]:
    """Tosses of a fair coin, 0 or 1, in blocks of (draws, queries), each of which is written over the one before.

    With a width there are so many columns, zeros after the queries. The size of the blocks does not change the tosses.
    """
    rng = np.random.default_rng(seed)
    words = -(-queries // 64)
    block = _block(width or queries)
    heads = np.zeros((block, width or queries))  # new memory for every block would take longer than all the rest
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        bits = rng.integers(0, 2**64, (rows, words), np.uint64).astype("<u8", copy=False)
        heads[:rows, :queries] = np.unpackbits(bits.view(np.uint8), axis=1, count=queries)
        yield heads[:rows]


@paired_test("bootstrap", draws=True)
def bootstrap(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Is the mean difference zero? Queries are drawn again from differences that were shifted to mean zero.

    p = (count + 1) / (draws + 1), where count is how often the mean of a resample is as far from zero as the mean that was
    seen. With few queries it finds too much: a resample has less spread than the sample (docs/statistics.md). The
    statistic is the mean difference (Efron 1979; Savoy 1997).
    """
    draws = int(options.draws or DRAWS)
    p = np.ones(len(paired.pairs))
    for group, numbers in paired.groups():
        if len(group.values) == 0:
            continue
        table = _SystemColumns(group)
        tolerance = TIE * table.sizes
        count = np.zeros(len(numbers), np.int64)
        for times in resamples(len(group.values), draws, options.seed, table.width):
            shifted = table.sums(times) - table.observed[:, None]
            count += _reached(shifted, table.observed[:, None], tolerance[:, None], options.alternative).sum(axis=1)
        p[numbers] = (count + 1) / (draws + 1)
    never = np.zeros(len(paired.pairs), np.bool_)
    return PairedOutcome(_means(paired), p, paired.queries, never, np.full(len(paired.pairs), draws, np.int64))


def resamples(queries: int, draws: int, seed: int, width: int | None = None) -> Iterator[Floats]:
    """How often each query is drawn when as many are drawn as there are: blocks as those of `coins`."""
    rng = np.random.default_rng(seed)
    block = _block(width or queries)
    times = np.zeros((block, width or queries))
    offsets = np.arange(block)[:, None] * queries
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        cells = rng.integers(0, queries, (rows, queries)) + offsets[:rows]
        times[:rows, :queries] = np.bincount(cells.ravel(), minlength=cells.size).reshape(rows, queries)
        yield times[:rows]


def resampled_means(columns: Floats, draws: int, seed: int) -> Floats:
    """The mean of each column in each resample of the rows: (columns, draws)."""
    rows = len(columns)
    sums = WeightedSums(columns)
    means: Floats = np.concatenate([sums.of(times) for times in resamples(rows, draws, seed, sums.width)], axis=1)
    means /= rows
    return means


@paired_test("tukey", draws=True)
def tukey(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Could the best and the worst of so many equal systems lie this far apart? Tukey's test by shuffling systems.

    The values of each query are shuffled among all systems (all columns of the table), and the highest mean less the
    lowest is held against the mean difference of each pair: p = (count + 1) / (draws + 1). So p is corrected for the number
    of systems already: do not correct it again. One-sided p values are those of two sides, and 1 for a difference of the
    other sign, since the range covers both orders of each pair. Queries that one system lacks are left out. The statistic
    is the mean difference (Carterette 2012).
    """
    draws = int(options.draws or TUKEY_DRAWS)
    whole = paired.complete()
    queries, systems = whole.values.shape
    pairs: Integers = np.array(whole.pairs, np.int64).reshape(-1, 2)
    difference = _means(whole)
    side = {"two-sided": np.abs(difference), "greater": difference, "less": -difference}[options.alternative]
    p = np.ones(len(pairs))
    if queries and systems and len(pairs):
        ranges = np.sort(_ranges(whole.values, draws, options.seed))
        spread = np.ptp(whole.values, axis=1).mean()
        count = draws - np.searchsorted(ranges, side - TIE * spread, side="left")
        p = np.where(side > 0, (count + 1) / (draws + 1), 1.0)
    never = np.zeros(len(pairs), np.bool_)
    counted, done = np.full(len(pairs), queries, np.int64), np.full(len(pairs), draws, np.int64)
    return PairedOutcome(difference, p, counted, never, done)


def _ranges(values: Floats, draws: int, seed: int) -> Floats:
    """Highest less lowest mean of the systems, with the values of each query shuffled."""
    rng = np.random.default_rng(seed)
    block = _block(values.size)
    table = np.repeat((values - values[:, :1])[None], block, axis=0)
    ranges = []
    for start in range(0, draws, block):
        rng.permuted(table, axis=2, out=table)  # shuffling what is shuffled already is as good
        ranges.append(np.ptp(table.mean(axis=1), axis=1)[: draws - start])
    return np.concatenate(ranges)


def _block(size: int) -> int:
    """How many draws of this size are made at a time."""
    return max(1, min(BLOCK, MEMORY // max(1, size)))


def _means(paired: Paired) -> Floats:
    """The mean difference of each pair; not a number without queries."""
    with np.errstate(invalid="ignore"):
        return np.array([np.divide(difference.sum(), len(difference)) for difference in paired.differences()])


def _reached(drawn: Floats, observed: Floats, tolerance: Floats, alternative: Alternative) -> Booleans:
    """Where what was drawn is at least as far out as what was observed."""
    if alternative == "two-sided":
        return np.abs(drawn) >= np.abs(observed) - tolerance
    return drawn >= observed - tolerance if alternative == "greater" else drawn <= observed + tolerance


class WeightedSums:
    """Sums of columns for many weightings of their rows: one matrix product, cut into tiles that need no threads."""

    def __init__(self, columns: Floats) -> None:
        rows, self.columns = columns.shape
        across = max(1, min(32, self.columns))
        down = max(1, min(rows, ALONE // (BLOCK * across)))
        self._down, self._tall, self._wide = down, -(-rows // down), -(-self.columns // across)
        self.width = self._tall * down  # of the weights: zeros after the last row
        padded = np.zeros((self.width, self._wide * across))
        padded[:rows, : self.columns] = columns
        tiles = padded.reshape(self._tall, down, self._wide, across).transpose(2, 0, 1, 3)
        self._tiles = np.ascontiguousarray(tiles)  # (wide, tall, down, across)

    def of(self, weights: Floats) -> Floats:
        """The sum of each column under each weighting, for weights of (weightings, width): (columns, weightings)."""
        cut = weights.reshape(len(weights), self._tall, self._down).transpose(1, 0, 2)
        sums: Floats = np.matmul(cut, self._tiles).sum(axis=1)  # (wide, weightings, across)
        return sums.transpose(0, 2, 1).reshape(-1, len(weights))[: self.columns]


class _SystemColumns:
    """Sums of differences under weights: by system and then subtracted, or by pair where these are fewer."""

    def __init__(self, paired: Paired) -> None:
        pairs: Integers = np.array(paired.pairs, np.int64).reshape(-1, 2)
        used, place = np.unique(pairs, return_inverse=True)
        self._first, self._second = place.reshape(-1, 2).T
        # Against the first system: nothing changes for a pair, and sums keep more digits.
        systems = paired.values[:, used] - paired.values[:, used[:1]]
        self._by_pair = len(pairs) < len(used)
        self._sums = WeightedSums(systems[:, self._first] - systems[:, self._second] if self._by_pair else systems)
        self.width = self._sums.width
        self.sizes = np.array([np.abs(difference).sum() for difference in paired.differences()])
        self.observed = self.sums(np.ones((1, self.width)))[:, 0]

    def sums(self, weights: Floats) -> Floats:
        """The weighted sum of each pair's differences: (pairs, weightings)."""
        sums = self._sums.of(weights)
        return sums if self._by_pair else sums[self._first] - sums[self._second]
