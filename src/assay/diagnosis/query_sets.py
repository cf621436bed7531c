"""Query-set bias: whether test queries represent real ones, by length, vocabulary, duplicates, head and tail."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

import numpy as np
from msgspec import Struct

from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import Interval
from assay.diagnosis.material import Material
from assay.diagnosis.model import Cell, Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.diagnosis.texts import alike, normalised, trigrams
from assay.tables import Floats, Integers
from assay.words import number_of, show_p

FAR = 0.1  # distance of two length distributions from which it matters
DIVERGENT = 0.05  # divergence beyond that of random samples from which it matters
HEAD = 0.5  # share of the traffic that the head accounts for
NEAR = 0.8  # similarity of near-duplicate queries
MANY = 0.05  # share of duplicate queries from which intervals are too narrow
MOST_DRAWS = 500  # of draws that take the whole vocabulary
LENGTHS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 9), (10, None))
MOST_TRAFFIC = 900_000_000  # NumPy cannot draw without replacement from more

NEEDS_TEXTS = "needs `queries=`, the texts of the test queries"
NEEDS_BOTH = "needs `queries=`, the texts of the test queries, and `production=`, a sample of real queries"


class Traffic(Struct, frozen=True, eq=False, dict=True):
    """Test queries and a sample of real ones, as normalised texts."""

    test: tuple[str, ...]
    production: Mapping[str, int]  # text -> how often it was asked

    @property
    def asked(self) -> int:
        """The number of queries asked."""
        return sum(self.production.values())

    @cached_property
    def repeated(self) -> bool:
        """Whether any real query was asked twice; otherwise there is no head."""
        return max(self.production.values()) > 1


def traffic_of(material: Material) -> Traffic | CannotLook:
    """Test and real queries, or what is missing."""
    if not material.queries or not material.production:
        return CannotLook(NEEDS_BOTH)
    test = [normalised(text) for text in _test_queries(material).values()]
    real: Counter[str] = Counter()
    for text, count in material.production.items():
        real[normalised(text)] += count
    real.pop("", None)
    test = [text for text in test if text]
    if not test or not real:
        return CannotLook(f"{'`queries=`' if not test else '`production=`'} has no query text")
    return Traffic(tuple(test), real)


def _test_queries(material: Material) -> dict[str, str]:
    """The texts of the judged queries."""
    texts = material.queries or {}
    return {query: texts[query] for query in material.runs.queries if texts.get(query, "").strip()}


# Length


@look(
    "DIA020",
    "queries",
    advice="Add test queries of the missing lengths, or weight queries by length when you average; compare short and long "
    "queries separately (assay compare --segments).",
)
def query_length(material: Material) -> LookResult | CannotLook:
    """Test queries that differ in length from real queries.

    Why: systems differ on short and long queries. A mean over test queries that are longer than real ones describes
    traffic that does not exist.

    Measured: words per query. The largest distance between the two cumulative distributions (Kolmogorov and Smirnov); p
    is how often the same number of queries, drawn at random from test and real ones together, is at least as far from
    the rest. The difference of the means with Welch's 95 % interval.

    Limits: each time a query was asked counts once. Words are separated by spaces and punctuation, which means little
    for languages written without spaces.
    """
    traffic = traffic_of(material)
    if isinstance(traffic, CannotLook):
        return traffic
    settings = material.settings
    ours = np.bincount([len(text.split()) for text in traffic.test])
    real = np.bincount(
        [len(text.split()) for text in traffic.production], weights=list(traffic.production.values())
    ).astype(np.int64)
    size = max(len(ours), len(real))
    ours, real = np.pad(ours, (0, size - len(ours))), np.pad(real, (0, size - len(real)))
    distance, p = distance_and_chance(ours, real, settings.draws, settings.seed)
    means = [float((counts * np.arange(size)).sum() / counts.sum()) for counts in (ours, real)]
    interval = welch_interval(ours, real)
    clear = p < settings.alpha
    severity: Severity = "warning" if clear and distance >= FAR else "note" if clear else "fine"
    words = (
        f"Test queries have {means[0]:.2f} words on average, real ones {means[1]:.2f}; the largest distance between the "
        f"two cumulative distributions is {distance:.2f} (0 = identical, 1 = disjoint)."
    )
    between = (
        "" if interval is None else f"Difference of means: 95% interval {interval[0]:+.2f} to {interval[1]:+.2f}; "
    )
    sure = (
        f"{between}distance: p {show_p(p)} (permutation, {settings.draws:,} draws, seed {settings.seed}); "
        f"{len(traffic.test):,} test queries, {traffic.asked:,} real ones."
    )
    evidence = (
        Evidence(
            "distance of the distributions of words per query",
            distance,
            p=p,
            test="permutation of Kolmogorov-Smirnov",
            n=len(traffic.test),
        ),
        Evidence("words per query, test - real", means[0] - means[1], interval, test="Welch", n=len(traffic.test)),
    )
    rows: list[tuple[Cell, ...]] = []
    for first, last in LENGTHS:
        part = slice(first, None if last is None else last + 1)
        shares = [float(counts[part].sum() / counts.sum()) for counts in (ours, real)]
        name = str(first) if first == last else f"{first}-{last}" if last else f"{first} and more"
        rows.append((name, *shares))
    table = Table("", (Column("words"), Column("test", "share"), Column("real", "share")), tuple(rows))
    return LookResult(severity, words, sure, evidence, (table,))


def distance_and_chance(ours: Integers, real: Integers, draws: int, seed: int) -> tuple[float, float]:
    """The Kolmogorov-Smirnov distance between two counts by value, and its p by permutation.

    >>> distance_and_chance(np.array([0, 4]), np.array([4, 0]), 100, 1)[0]
    1.0
    """
    pooled = ours + real
    total = int(ours.sum())
    rng = np.random.default_rng(seed)
    if pooled.sum() < MOST_TRAFFIC:
        drawn = rng.multivariate_hypergeometric(pooled, total, size=draws, method="marginals")
    else:  # with so many, replacement makes no difference
        drawn = rng.multinomial(total, pooled / pooled.sum(), size=draws)
    observed = float(_distances(ours[None], pooled)[0])
    reached = int(np.count_nonzero(_distances(drawn, pooled) >= observed - 1e-12))
    return observed, (reached + 1) / (draws + 1)


def _distances(drawn: Integers, pooled: Integers) -> Floats:
    rest = np.maximum(pooled - drawn, 0)
    first = np.cumsum(drawn, axis=1) / drawn.sum(axis=1, keepdims=True)
    second = np.cumsum(rest, axis=1) / np.maximum(rest.sum(axis=1, keepdims=True), 1)
    found: Floats = np.abs(first - second).max(axis=1)
    return found


def welch_interval(first: Integers, second: Integers, confidence: float = 0.95) -> Interval | None:
    """Welch's interval of the difference of means of two counts by value (Welch 1947)."""
    from scipy.special import stdtrit

    parts = []
    for counts in (first, second):
        n, values = int(counts.sum()), np.arange(len(counts))
        if n < 2:
            return None
        mean = float((counts * values).sum()) / n
        parts.append((mean, float((counts * (values - mean) ** 2).sum()) / (n - 1) / n, n))
    (a, error_a, n_a), (b, error_b, n_b) = parts
    error = error_a + error_b
    if error == 0:
        return a - b, a - b
    degrees = error**2 / (error_a**2 / (n_a - 1) + error_b**2 / (n_b - 1))
    half = float(stdtrit(degrees, (1 + confidence) / 2)) * math.sqrt(error)
    return a - b - half, a - b + half


# Vocabulary


@look(
    "DIA021",
    "queries",
    advice="Draw test queries from the traffic, or add some for the words listed here: topics that people ask about and the "
    "test set does not cover.",
)
def query_vocabulary(material: Material) -> LookResult | CannotLook:
    """Test queries that differ in vocabulary from real queries.

    Why: a test set about other topics measures a different search engine.

    Measured: the Jensen-Shannon divergence (0 = same words equally often, 1 = no word in common) between the words of
    test and real queries, and the share of real words that are in no test query. A small sample always differs
    somewhat, so samples of the same size are drawn at random from test and real queries together and compared with the
    rest. p is how often they diverge at least as much.

    Limits: words are compared as written, without stemming or synonyms. Each time a query was asked counts once.
    """
    traffic = traffic_of(material)
    if isinstance(traffic, CannotLook):
        return traffic
    settings = material.settings
    draws = min(settings.draws, MOST_DRAWS)
    seen = _Vocabulary(traffic)
    observed, unknown = seen.apart(seen.test)
    reference = np.array([seen.apart(sample) for sample in seen.samples(draws, settings.seed)])
    p = (int(np.count_nonzero(reference[:, 0] >= observed - 1e-12)) + 1) / (draws + 1)
    p_unknown = (int(np.count_nonzero(reference[:, 1] >= unknown - 1e-12)) + 1) / (draws + 1)
    usual = reference.mean(axis=0)
    clear = p < settings.alpha
    severity: Severity = "fine" if not clear else "warning" if observed - usual[0] >= DIVERGENT else "note"
    words = (
        f"The words of test and real queries diverge by {observed:.3f}; random samples of the same size by {usual[0]:.3f} "
        f"on average. {unknown:.1%} of the words in real queries are in no test query ({usual[1]:.1%} for random samples)."
    )
    low, high = np.quantile(reference[:, 0], [0.025, 0.975])
    sure = (
        f"95% of random samples diverge by {low:.3f} to {high:.3f}; p {show_p(p)} (permutation, {draws:,} draws, seed "
        f"{settings.seed}); {len(traffic.test):,} test queries, {traffic.asked:,} real ones."
    )
    evidence = (
        Evidence("Jensen-Shannon divergence of the words", observed, p=p, test="permutation", n=len(traffic.test)),
        Evidence(
            "share of real words that are in no test query",
            unknown,
            p=p_unknown,
            test="permutation",
            n=len(traffic.test),
        ),
    )
    table = Table(
        "Words that contribute most to the divergence",
        (Column("word"), Column("test", "share"), Column("real", "share")),
        tuple(seen.telling(20)),
        note="Shares of all words.",
    )
    return LookResult(severity, words, sure, evidence, (table,) if clear else ())


class _Vocabulary:
    """The words of test and real queries, for counting samples of queries by word."""

    def __init__(self, traffic: Traffic) -> None:
        texts = list(dict.fromkeys([*traffic.test, *traffic.production]))
        number: dict[str, int] = {}
        tokens = [[number.setdefault(word, len(number)) for word in text.split()] for text in texts]
        self.words = list(number)
        self._start = np.concatenate(([0], np.cumsum([len(row) for row in tokens])))
        self._token = np.array([word for row in tokens for word in row], np.int64)
        place = {text: at for at, text in enumerate(texts)}
        self.test = self._counts(place[text] for text in traffic.test)
        self._size = len(traffic.test)
        times = np.zeros(len(texts), np.int64)
        for text in traffic.test:
            times[place[text]] += 1
        for text, count in traffic.production.items():
            times[place[text]] += count
        self._times = np.cumsum(times)
        self.all = np.bincount(self._token, weights=np.repeat(times, np.diff(self._start)), minlength=len(self.words))

    def _counts(self, places: Iterable[int]) -> Floats:
        rows = [self._token[self._start[at] : self._start[at + 1]] for at in places]
        return np.bincount(np.concatenate(rows), minlength=len(self.words)).astype(np.float64)

    def samples(self, draws: int, seed: int) -> Iterable[Floats]:
        """Word counts of random samples of the size of the test set, from all queries."""
        rng = np.random.default_rng(seed)
        total = int(self._times[-1])
        for _ in range(draws):
            drawn = rng.choice(total, self._size, replace=False, shuffle=False)
            yield self._counts(np.searchsorted(self._times, drawn, side="right").tolist())

    def apart(self, sample: Floats) -> tuple[float, float]:
        """The divergence of a sample from the rest, and the share of the rest's words that it lacks."""
        rest = self.all - sample
        unknown = float(rest[sample == 0].sum() / max(rest.sum(), 1.0))
        return float(self._parts(sample).sum()), unknown

    def _parts(self, sample: Floats) -> Floats:
        """The contribution of each word to the Jensen-Shannon divergence, in bits."""
        p, q = sample / max(sample.sum(), 1.0), (self.all - sample) / max((self.all - sample).sum(), 1.0)
        middle = (p + q) / 2
        parts = np.zeros(len(p))
        for share in (p, q):
            some = share > 0
            parts[some] += share[some] * np.log2(share[some] / middle[some]) / 2
        return parts

    def telling(self, count: int) -> list[tuple[Cell, ...]]:
        """The words that contribute most to the divergence, with their shares."""
        rest = self.all - self.test
        order = np.argsort(-self._parts(self.test), kind="stable")[:count]
        return [
            (self.words[at], float(self.test[at] / self.test.sum()), float(rest[at] / max(rest.sum(), 1.0)))
            for at in order.tolist()
        ]


# Duplicates


@look(
    "DIA022",
    "queries",
    advice="Keep one query of each group, or count each group once (as a segment, or as the mean of the group).",
)
def repeated_queries(material: Material) -> LookResult | CannotLook:
    """Duplicate or near-duplicate test queries.

    Why: a question that occurs three times counts three times, and tests treat its copies as new evidence: intervals
    are too narrow.

    Measured: test queries that are the same except for case, punctuation and spaces; that have the same words in
    another order; and that share 80 % of their sequences of three characters (Jaccard). Queries linked in these ways
    form a group.

    Limits: two queries may have nearly the same letters and different meanings; check before you drop one.
    """
    texts = _test_queries(material)
    if not texts:
        return CannotLook(NEEDS_TEXTS)
    links = _links({query: normalised(text) for query, text in texts.items()})
    groups = _groups(links)
    extra = sum(len(group) - 1 for group in groups)
    share = extra / len(texts)
    severity: Severity = "fine" if not extra else "warning" if share >= MANY else "note"
    words = (
        f"{extra} of {len(texts):,} test queries ({share:.1%}) {'duplicates' if extra == 1 else 'duplicate'} another one; "
        f"{len(texts) - extra:,} are distinct."
        if extra
        else f"All {len(texts):,} test queries are different."
    )
    rows: list[tuple[Cell, ...]] = [(kind, a, b, texts[a], texts[b], likeness) for a, b, kind, likeness in links]
    table = Table(
        "",
        (
            Column("they have"),
            Column("query"),
            Column("and"),
            Column("text", "passage"),
            Column("text of the other", "passage"),
            Column("likeness", "value"),
        ),
        tuple(rows),
    )
    evidence = (Evidence("share of test queries that duplicate another one", share, n=len(texts)),)
    return LookResult(severity, words, "An exact count.", evidence, (table,) if rows else ())


def _links(texts: Mapping[str, str]) -> list[tuple[str, str, str, float]]:
    """Pairs of duplicate queries: the first of each group with each of the others."""
    found: list[tuple[str, str, str, float]] = []
    first: dict[str, str] = {}
    bags: dict[str, str] = {}
    for query, text in texts.items():
        if not text:
            continue
        if text in first:
            found.append((first[text], query, "the same text", 1.0))
            continue
        first[text] = query
        bag = " ".join(sorted(text.split()))
        if bag in bags:
            found.append((bags[bag], query, "the same words", 1.0))
        bags.setdefault(bag, query)
    linked = {(a, b) for a, b, _, _ in found}
    sets = {query: trigrams(text) for text, query in first.items()}
    near = [(a, b, "nearly the same text", share) for a, b, share in alike(sets, NEAR) if (a, b) not in linked]
    return found + sorted(near, key=lambda link: -link[3])


def _groups(links: Sequence[tuple[str, str, str, float]]) -> list[set[str]]:
    """Groups of linked queries."""
    group: dict[str, set[str]] = {}
    for a, b, _, _ in links:
        joined = group.get(a, {a}) | group.get(b, {b})
        for member in joined:
            group[member] = joined
    return list({id(members): members for members in group.values()}.values())


# Head and tail


@look(
    "DIA023",
    "queries",
    advice="State which traffic the figure is for. Draw test queries at random from the traffic, or from head and tail "
    "separately and report both.",
)
def head_and_tail(material: Material) -> LookResult | CannotLook:
    """Test queries from only the head or only the tail of the traffic.

    Why: frequent queries are easy, and systems are tuned for them; systems differ on the rare ones. A test set of one
    kind says nothing about the other.

    Measured: the head is the most frequent real queries that account for half of the traffic. Shares of test queries in
    the head, in the rest of the sample, and not in the sample; the share of the traffic that the test queries account
    for; and for comparison the same in random test sets with the same number of different queries from the traffic. p
    is how often the share of head queries in these is at least as far from their mean. For unseen queries: the number
    in a random test set by the Good-Turing estimate (the next query is new with probability: queries seen once over
    all). Both p values are corrected (Holm).

    Limits: texts must be the same except for case and punctuation; a rephrased head query counts as unseen. A test set
    may leave out the head on purpose.
    """
    traffic = traffic_of(material)
    if isinstance(traffic, CannotLook):
        return traffic
    if not traffic.repeated:
        return CannotLook(
            "no query of `production=` occurs twice; give counts, or repeat each query as often as it was asked"
        )
    settings = material.settings
    draws = min(settings.draws, MOST_DRAWS)
    sample = _Sample(traffic, draws, settings.seed)
    ours = len(sample.ours)
    severity: Severity = "warning" if min(sample.p_head, sample.p_unseen) < settings.alpha else "fine"
    how = (
        f"Head: p {show_p(sample.p_head)} ({draws:,} random test sets, seed {settings.seed}); unseen: p "
        f"{show_p(sample.p_unseen)} (binomial, more than the Good-Turing estimate); both corrected by Holm. "
        f"{ours:,} different test queries, {traffic.asked:,} real ones."
    )
    evidence = (
        Evidence(
            "share of test queries in the head of the traffic",
            sample.in_head / ours,
            p=sample.p_head,
            test="random test sets",
            n=ours,
        ),
        Evidence(
            "share of test queries not in the sample", sample.unseen / ours, p=sample.p_unseen, test="binomial", n=ours
        ),
        Evidence("share of the traffic that test queries account for", sample.covered, n=ours),
    )
    missing = sample.untested()
    table = Table(
        "Most frequent real queries that are not in the test set",
        (Column("query"), Column("asked", "count"), Column("of the traffic", "share")),
        tuple(missing),
        shown=5,
    )
    return LookResult(severity, sample.in_words(), how, evidence, (table,) if missing else ())


class _Sample:
    """Where the test queries are in a sample of the traffic, and where they would be by chance."""

    def __init__(self, traffic: Traffic, draws: int, seed: int) -> None:
        self.texts = sorted(traffic.production, key=lambda text: (-traffic.production[text], text))
        self.counts = np.array([traffic.production[text] for text in self.texts], np.int64)
        self.head = int(np.searchsorted(np.cumsum(self.counts), HEAD * self.counts.sum())) + 1
        self.ours = list(dict.fromkeys(traffic.test))
        place = {text: at for at, text in enumerate(self.texts)}
        places = np.array([place[text] for text in self.ours if text in place], np.int64)
        self.seen, self.unseen = len(places), len(self.ours) - len(places)
        self.in_head = int(np.count_nonzero(places < self.head))
        self.covered = float(self.counts[places].sum() / self.counts.sum())
        self.new = expected_new(self.counts, len(self.ours))
        self.expected, p_head = self._by_chance(draws, seed)  # in the head
        p = corrected_p(np.array([p_head, _more_than(self.unseen, len(self.ours), self.new)]))
        self.p_head, self.p_unseen = p.tolist()

    def _by_chance(self, draws: int, seed: int) -> tuple[float, float]:
        """The expected number of head queries in a random test set, and how often it is as far from that as ours."""
        if not self.seen:
            return math.nan, 1.0
        sampled = _head_of_samples(self.counts, self.seen, self.head, draws, seed)
        expected = float(sampled.mean())
        as_far = np.count_nonzero(np.abs(sampled - expected) >= abs(self.in_head - expected) - 1e-9)
        return expected, (int(as_far) + 1) / (draws + 1)

    def untested(self, most: int = 20) -> list[tuple[str, int, float]]:
        """The most frequent head queries that are not in the test set, with counts and shares of the traffic."""
        tested, asked = set(self.ours), self.counts.sum()
        head = zip(self.texts, self.counts[: self.head].tolist(), strict=False)
        return [(text, count, float(count / asked)) for text, count in head if text not in tested][:most]

    def in_words(self) -> str:
        ours, by_chance = len(self.ours), ""
        if self.seen:
            by_chance = f", where {self.expected:.1f} are expected in a random test set with as many seen queries"
        return (
            f"{self.in_head} of {ours:,} test queries are in the head ({number_of(self.head, 'real query')} with half of the "
            f"traffic){by_chance}; {self.seen - self.in_head} are rarer, and {self.unseen} ({self.unseen / ours:.0%}) are not "
            f"in the sample ({self.new:.0%} expected by chance). The test queries account for {self.covered:.1%} of the traffic."
        )


def _head_of_samples(counts: Integers, size: int, head: int, draws: int, seed: int) -> Integers:
    """How many of the first `size` different queries in random traffic are in the head.

    The first queries to occur are those with the smallest waiting times, which are exponential.
    """
    rng = np.random.default_rng(seed)
    found = np.zeros(draws, np.int64)
    if size:
        for turn in range(draws):
            waiting = rng.standard_exponential(len(counts)) / counts
            first = np.argpartition(waiting, size - 1)[:size] if size < len(counts) else np.arange(len(counts))
            found[turn] = np.count_nonzero(first < head)
    return found


def expected_new(counts: Integers, size: int) -> float:
    """The expected share of unseen queries among `size` different ones from the traffic, given the counts of a sample.

    The next query is new with probability (queries seen once) / (all) (Good 1953). A test set has each query only once,
    so this takes as much traffic as gives `size` different queries.

    >>> round(expected_new(np.array([50, 30, 10, 5, 1, 1, 1, 1, 1]), 5), 3)
    0.172
    """
    share = float(np.count_nonzero(counts == 1) / counts.sum())
    chance = counts / counts.sum()

    def different(traffic: float) -> float:
        known = -np.expm1(traffic * (1 - share) * np.log1p(-np.minimum(chance, 1 - 1e-12)))
        return float(known.sum()) + traffic * share

    low, high = 0.0, float(size)
    while different(high) < size and high < 1e12 and share:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if different(middle) < size else (low, middle)
    return min(1.0, high * share / size)


def _more_than(found: int, among: int, share: float) -> float:
    """The binomial probability of `found` or more."""
    from scipy.special import bdtrc

    return 1.0 if found == 0 else float(bdtrc(found - 1, among, share))
