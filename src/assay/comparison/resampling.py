"""Resampling tests and means: permutation, bootstrap, Tukey's range. Seeded, in blocks of bounded memory.

The sign or count drawn for a query is the same for all systems. So a block of draws is multiplied with the columns of
the systems once, and each pair is a subtraction. Draws depend only on the seed and the number of queries, not on the
pairs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.comparison.paired import TIE, Alternative, Paired, PairedOptions, PairedOutcome, paired_test
from assay.tables import Booleans, Floats, Integers

DRAWS = 100_000
TUKEY_DRAWS = 10_000  # each one shuffles the whole table
MANY = 20_000  # queries; resamples of more are drawn from groups of nearly equal differences
GROUPS = 1024
FEWEST = 20  # queries of a bootstrap: with fewer it errs in more than 8 of 100 cases at 5 % (docs/statistics.md)
BLOCK = 128  # draws at a time; fewer if each is large
MEMORY = 2**23  # numbers in the largest array of a block: 64 MB
ALONE = 2**18  # multiplications up to which OpenBLAS starts no threads; on a busy machine, waiting for its threads
# takes ten times as long


@paired_test("permutation", draws=True, signs=True)
def permutation(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Are the two values of each query exchangeable? Fisher's permutation test, by flipping the signs of differences.

    If the n queries that differ have at most as many outcomes (2**n) as draws, all are enumerated: p = count / 2**n,
    without seed or chance. Otherwise p = (count + 1) / (draws + 1), which is never 0. Mean differences that are equal
    up to rounding (1e-12 of the largest possible) count as equal. The statistic is the mean difference (Fisher 1935;
    Smucker, Allan and Carterette 2007).
    """
    draws = int(options.draws or DRAWS)
    p, exact = np.ones(len(paired.pairs)), np.zeros(len(paired.pairs), np.bool_)
    done = np.full(len(paired.pairs), draws, np.int64)
    for group, numbers in paired.groups():
        most = draws.bit_length() - 1  # 2**n would overflow in NumPy
        few = np.array([np.count_nonzero(apart) <= most for apart in group.differences()], np.bool_)
        for place in np.flatnonzero(few).tolist():
            p[numbers[place]], done[numbers[place]] = _exact_permutation(group.difference(place), options.alternative)
        rest = Paired(group.values, tuple(pair for pair, one in zip(group.pairs, few, strict=True) if not one))
        exact[numbers[few]] = True
        if rest.pairs:
            p[numbers[~few]] = _chance_of_signs(rest, draws, options)
    return PairedOutcome(_means(paired), p, paired.queries, exact, done)


def _exact_permutation(difference: Floats, alternative: Alternative) -> tuple[float, int]:
    """p and the number of outcomes, by enumeration. Zeros are dropped: flipping their sign changes nothing."""
    some = difference[difference != 0]
    sums = np.zeros(1)
    for value in some.tolist():
        sums = np.concatenate((sums + value, sums - value))
    observed = sums[:1]  # no sign flipped
    reached = _reached(sums, observed, TIE * np.abs(some).sum(keepdims=True), alternative)
    return int(reached.sum()) / len(sums), len(sums)


def _chance_of_signs(paired: Paired, draws: int, options: PairedOptions) -> Floats:
    """p of each pair from random signs; no value is missing."""
    table = _SystemColumns(paired)
    tolerance = TIE * table.sizes
    count = np.zeros(len(paired.pairs), np.int64)
    for heads in coins(len(paired.values), draws, options.seed, table.width):
        flipped = 2 * table.sums(heads) - table.observed[:, None]  # heads keep the sign, tails flip it
        count += _reached(flipped, table.observed[:, None], tolerance[:, None], options.alternative).sum(axis=1)
    return (count + 1) / (draws + 1)


def coins(queries: int, draws: int, seed: int, width: int | None = None) -> Iterator[Floats]:
    """Fair coin tosses, 0 or 1, in blocks of (draws, queries); each block overwrites the one before.

    `width` pads the columns with zeros. The block size does not change the tosses.
    """
    rng = np.random.default_rng(seed)
    words = -(-queries // 64)
    block = block_of(width or queries)
    heads = np.zeros((block, width or queries))  # allocating every block would take longer than all the rest
    for start in range(0, draws, block):
        rows = min(block, draws - start)
        bits = rng.integers(0, 2**64, (rows, words), np.uint64).astype("<u8", copy=False)
        heads[:rows, :queries] = np.unpackbits(bits.view(np.uint8), axis=1, count=queries)
        yield heads[:rows]


@paired_test("bootstrap", draws=True, fewest=FEWEST)
def bootstrap(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Is the mean difference zero? Bootstrap: resamples queries from differences shifted to mean zero.

    p = (count + 1) / (draws + 1), where count is how often the mean of a resample is at least as far from zero as the
    observed mean. With few queries it has too many false positives, since a resample has less spread than the sample, so
    fewer than 20 are not tested. Of more than 20,000 queries, nearly equal differences are drawn as groups
    (docs/statistics.md). The statistic is the mean difference (Efron 1979; Savoy 1997).
    """
    draws = int(options.draws or DRAWS)
    p = np.ones(len(paired.pairs))
    for group, numbers in paired.groups():
        if len(group.values) == 0:
            continue
        if len(group.values) > MANY:
            p[numbers] = [_chance_of_groups(difference, draws, options) for difference in group.differences()]
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


def _chance_of_groups(difference: Floats, draws: int, options: PairedOptions) -> float:
    """p of one pair with many queries."""
    observed = difference.mean()
    shifted = grouped_means(difference, draws, options.seed) - observed
    tolerance = TIE * np.abs(difference).mean()
    return (int(_reached(shifted, observed, tolerance, options.alternative).sum()) + 1) / (draws + 1)


def grouped_means(values: Floats, draws: int, seed: int) -> Floats:
    """The mean of resamples of many values, drawn as groups of nearly equal ones: how often each group occurs is multinomial.

    Groups are 1,024 ranges of the same width, and each stands for the mean of its values. So the mean of a resample has the
    same expectation, and distances from it are stretched to give it the same variance; without ranges of several values,
    nothing is approximated.
    """
    low, high = values.min(), values.max()
    if low == high:
        return np.full(draws, low)
    place = np.minimum(((values - low) / (high - low) * GROUPS).astype(np.int64), GROUPS - 1)
    counts = np.bincount(place, minlength=GROUPS)
    kept = counts > 0
    centre = values.mean()
    sums = np.bincount(place, weights=values - centre, minlength=GROUPS)
    middles, shares = sums[kept] / counts[kept], counts[kept] / len(values)
    stretched = values.std() / np.sqrt(shares @ middles**2)
    rng = np.random.default_rng(seed)
    blocks = range(0, draws, BLOCK)
    drawn = [rng.multinomial(len(values), shares, min(BLOCK, draws - start)) @ middles for start in blocks]
    found: Floats = centre + stretched * np.concatenate(drawn) / len(values)
    return found


def resamples(
    queries: int, draws: int, seed: int | Sequence[int], width: int | None = None, block: int | None = None
) -> Iterator[Floats]:
    """How often each query occurs in a resample of the same size, in blocks like those of `coins`; `block` is the draws in each."""
    rng = np.random.default_rng(seed)
    block = block or block_of(width or queries)
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
    if rows > MANY:
        return np.array([grouped_means(column, draws, seed) for column in columns.T])
    sums = WeightedSums(columns)
    means: Floats = np.concatenate([sums.of(times) for times in resamples(rows, draws, seed, sums.width)], axis=1)
    means /= rows
    return means


@paired_test("tukey", draws=True, together=True)
def tukey(paired: Paired, options: PairedOptions) -> PairedOutcome:
    """Could the best and worst of this many equal systems be this far apart? Tukey's test, by shuffling systems.

    The values of each query are shuffled among all systems (all columns of the table), and the highest mean minus the
    lowest is compared with the mean difference of each pair: p = (count + 1) / (draws + 1). p is already corrected for
    the number of systems; do not correct it again. One-sided p values equal the two-sided ones, and are 1 for a
    difference of the opposite sign, since the range covers both orders of each pair. Queries missing from any system
    are left out for all pairs. The statistic is the mean difference (Carterette 2012).
    """
    draws = int(options.draws or TUKEY_DRAWS)
    queries, systems = paired.values.shape
    difference = _means(paired)
    side = {"two-sided": np.abs(difference), "greater": difference, "less": -difference}[options.alternative]
    p, ranges = np.ones(len(paired.pairs)), None
    if queries and systems and paired.pairs:
        ranges = np.sort(_ranges(paired.values, draws, options.seed))
        spread = np.ptp(paired.values, axis=1).mean()
        count = draws - np.searchsorted(ranges, side - TIE * spread, side="left")
        p = np.where(side > 0, (count + 1) / (draws + 1), 1.0)
    never, done = np.zeros(len(p), np.bool_), np.full(len(p), draws, np.int64)
    return PairedOutcome(difference, p, paired.queries, never, done, ranges=ranges)


def _ranges(values: Floats, draws: int, seed: int) -> Floats:
    """Highest minus lowest mean of the systems, with the values of each query shuffled."""
    rng = np.random.default_rng(seed)
    block = block_of(values.size)
    table = np.repeat((values - values[:, :1])[None], block, axis=0)
    ranges = []
    for start in range(0, draws, block):
        rng.permuted(table, axis=2, out=table)  # reshuffling shuffled values is just as random
        ranges.append(np.ptp(table.mean(axis=1), axis=1)[: draws - start])
    return np.concatenate(ranges)


def block_of(size: int) -> int:
    """The number of draws of this size to make at a time."""
    return max(1, min(BLOCK, MEMORY // max(1, size)))


def _means(paired: Paired) -> Floats:
    """The mean difference of each pair; NaN without queries."""
    with np.errstate(invalid="ignore"):
        return np.array([np.divide(difference.sum(), len(difference)) for difference in paired.differences()])


def _reached(drawn: Floats, observed: Floats, tolerance: Floats, alternative: Alternative) -> Booleans:
    """Where the drawn value is at least as extreme as the observed one."""
    if alternative == "two-sided":
        return np.abs(drawn) >= np.abs(observed) - tolerance
    return drawn >= observed - tolerance if alternative == "greater" else drawn <= observed + tolerance


class WeightedSums:
    """Sums of columns under many row weightings: one matrix product, in tiles too small for BLAS threads."""

    def __init__(self, columns: Floats) -> None:
        rows, self.columns = columns.shape
        across = max(1, min(32, self.columns))
        down = max(1, min(rows, ALONE // (BLOCK * across)))
        self._down, self._tall, self._wide = down, -(-rows // down), -(-self.columns // across)
        self.width = self._tall * down  # of the weights, padded with zeros
        padded = np.zeros((self.width, self._wide * across))
        padded[:rows, : self.columns] = columns
        tiles = padded.reshape(self._tall, down, self._wide, across).transpose(2, 0, 1, 3)
        self._tiles = np.ascontiguousarray(tiles)  # (wide, tall, down, across)

    def of(self, weights: Floats) -> Floats:
        """Weighted column sums, (columns, weightings), from weights of (weightings, width)."""
        cut = weights.reshape(len(weights), self._tall, self._down).transpose(1, 0, 2)
        sums: Floats = np.matmul(cut, self._tiles).sum(axis=1)  # (wide, weightings, across)
        return sums.transpose(0, 2, 1).reshape(-1, len(weights))[: self.columns]


class _SystemColumns:
    """Weighted sums of differences: by system and then subtracted, or by pair if there are fewer pairs."""

    def __init__(self, paired: Paired) -> None:
        pairs: Integers = np.array(paired.pairs, np.int64).reshape(-1, 2)
        used, place = np.unique(pairs, return_inverse=True)
        self._first, self._second = place.reshape(-1, 2).T
        # Relative to the first system: differences stay the same, and sums keep more digits.
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
