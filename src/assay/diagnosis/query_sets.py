"""Query-set bias: are the test queries what people ask? Length, vocabulary, duplicates, head and tail."""

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
from assay.words import show_p

FAR = 0.1  # distance of two distributions of lengths from which it matters
DIVERGENT = 0.05  # divergence beyond that of random samples from which it matters
HEAD = 0.5  # share of the traffic that the head of the queries makes
NEAR = 0.8  # likeness of two queries that are nearly the same
MANY = 0.05  # share of repeated queries from which figures look surer than they are
MOST_DRAWS = 500  # where each takes the whole vocabulary
LENGTHS = ((1, 1), (2, 2), (3, 3), (4, 5), (6, 9), (10, None))
MOST_TRAFFIC = 900_000_000  # occurrences that NumPy draws from without replacement

NEEDS_TEXTS = "needs --queries FILE with the texts of the test queries"
NEEDS_BOTH = "needs --queries FILE with the texts of the test queries and --production FILE with a sample of real ones"


class Traffic(Struct, frozen=True, eq=False, dict=True):
    """Test queries beside a sample of real ones, as normalised texts."""

    test: tuple[str, ...]
    production: Mapping[str, int]  # text -> how often it was asked

    @property
    def asked(self) -> int:
        """How many queries were asked."""
        return sum(self.production.values())

    @cached_property
    def repeated(self) -> bool:
        """Whether any real query was asked twice: without that there is no head."""
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
        return CannotLook(f"{'--queries' if not test else '--production'} FILE holds no text of a query")
    return Traffic(tuple(test), real)


def _test_queries(material: Material) -> dict[str, str]:
    """The texts of the judged queries."""
    texts = material.queries or {}
    return {query: texts[query] for query in material.runs.queries if texts.get(query, "").strip()}


# Length


@look(
    "DIA020",
    "queries",
    advice="Add test queries of the lengths that are missing, or weigh queries by length when you average; look at "
    "short and long "
    "ones apart (assay compare --segments).",
)
def query_length(material: Material) -> LookResult | CannotLook:
    """Test queries of another length than those that people ask.

    Why: systems differ on short and long queries. A mean over test queries that are longer than real ones says how
    the system does on a traffic that is not there.

    Measured: words per query. The largest distance of the two cumulative distributions (Kolmogorov and Smirnov); p is
    how often as many queries, drawn at random from test and real ones together, lie as far from the rest. The
    difference of the means with Welch's 95 % interval.

    Limits: every time a query was asked counts as one. Words are what stands between blanks and punctuation, which says
    little for languages written without blanks.
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
        f"Test queries have {means[0]:.2f} words on average, real ones {means[1]:.2f}; the two distributions lie "
        f"{distance:.2f} apart at most (0 the same, 1 nothing in common)."
    )
    between = (
        ""
        if interval is None
        else f"95% interval of the difference of means {interval[0]:+.2f} to {interval[1]:+.2f}; "
    )
    sure = (
        f"{between}p {show_p(p)} of the distance (permutation, {settings.draws:,} draws, seed {settings.seed}); "
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
    """The Kolmogorov-Smirnov distance of two counts by value, and its p by permutation.

    >>> distance_and_chance(np.array([0, 4]), np.array([4, 0]), 100, 1)[0]
    1.0
    """
    pooled = ours + real
    total = int(ours.sum())
    rng = np.random.default_rng(seed)
    if pooled.sum() < MOST_TRAFFIC:
        drawn = rng.multivariate_hypergeometric(pooled, total, size=draws, method="marginals")
    else:  # of so many it is the same whether they are put back
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
    """The interval of the difference of means of two counts by value, of unequal spread (Welch 1947)."""
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
    advice="Draw test queries from the traffic, or add some for the words listed here: topics that people ask about "
    "and the test "
    "set does not know.",
)
def query_vocabulary(material: Material) -> LookResult | CannotLook:
    """Test queries in other words than those that people use.

    Why: a test set about other topics measures another search engine.

    Measured: the Jensen-Shannon divergence (0 the same words equally often, 1 no word in common) between words of
    test and of real queries, and the share of real words that no test query has. A small sample is always some way
    off; so as many queries are drawn at random from test and real ones together and compared with the rest. p is how
    often they are as far.

    Limits: words are compared as they are written, without stems or synonyms. Every time a query was asked counts as
    one.
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
        f"The words of test and real queries diverge by {observed:.3f}; samples of the same size diverge by "
        f"{usual[0]:.3f} on "
        f"average. {unknown:.1%} of the words that people type are in no test query ({usual[1]:.1%} in such samples)."
    )
    low, high = np.quantile(reference[:, 0], [0.025, 0.975])
    sure = (
        f"95% of random samples diverge by {low:.3f} to {high:.3f}; p {show_p(p)} (permutation, {draws:,} draws, seed "
        f"{settings.seed}); {len(traffic.test):,} test queries, {traffic.asked:,} real ones."
    )
    evidence = (
        Evidence("Jensen-Shannon divergence of the words", observed, p=p, test="permutation", n=len(traffic.test)),
        Evidence(
            "share of real words that no test query has", unknown, p=p_unknown, test="permutation", n=len(traffic.test)
        ),
    )
    table = Table(
        "Words that divide the two most",
        (Column("word"), Column("test", "share"), Column("real", "share")),
        tuple(seen.telling(20)),
        note="Shares of all words. Most weight in the divergence first.",
    )
    return LookResult(severity, words, sure, evidence, (table,) if clear else ())


class _Vocabulary:
    """Words of test and real queries together, by number; a sample of queries is counted by word."""

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
        """Words of as many queries as the test set has, drawn from all."""
        rng = np.random.default_rng(seed)
        total = int(self._times[-1])
        for _ in range(draws):
            drawn = rng.choice(total, self._size, replace=False, shuffle=False)
            yield self._counts(np.searchsorted(self._times, drawn, side="right").tolist())

    def apart(self, sample: Floats) -> tuple[float, float]:
        """How far the words of a sample are from the rest: divergence, and share of the rest that it does not know."""
        rest = self.all - sample
        unknown = float(rest[sample == 0].sum() / max(rest.sum(), 1.0))
        return float(self._parts(sample).sum()), unknown

    def _parts(self, sample: Floats) -> Floats:
        """What each word adds to the Jensen-Shannon divergence, in bits."""
        p, q = sample / max(sample.sum(), 1.0), (self.all - sample) / max((self.all - sample).sum(), 1.0)
        middle = (p + q) / 2
        parts = np.zeros(len(p))
        for share in (p, q):
            some = share > 0
            parts[some] += share[some] * np.log2(share[some] / middle[some]) / 2
        return parts

    def telling(self, count: int) -> list[tuple[Cell, ...]]:
        """The words that add most to the divergence, with their shares."""
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
    advice="Keep one query of each group, or count each group once (a segment of its own, or the mean of the group).",
)
def repeated_queries(material: Material) -> LookResult | CannotLook:
    """Test queries that stand more than once, or nearly so.

    Why: a question that is asked three times counts three times, and tests take its copies for new evidence:
    intervals come out too narrow.

    Measured: test queries that are the same after case, punctuation and blanks are taken off; that have the same
    words in another order; and that share 80 % of their runs of three characters (Jaccard). A group holds all that
    are so linked.

    Limits: two queries may be nearly the same in letters and mean something else; look before you drop one.
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
        f"{extra} of {len(texts):,} test queries repeat another one ({share:.1%}): {len(texts) - extra:,} different "
        f"questions."
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
    evidence = (Evidence("share of test queries that repeat another one", share, n=len(texts)),)
    return LookResult(severity, words, "A count, without chance.", evidence, (table,) if rows else ())


def _links(texts: Mapping[str, str]) -> list[tuple[str, str, str, float]]:
    """Pairs of queries that are the same or nearly so: the first of each group with each of the others."""
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
    """Queries that hang together."""
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
    advice="Say which traffic the figure is for. Draw test queries at random from the traffic, or from head and tail "
    "apart, and "
    "report the two apart.",
)
def head_and_tail(material: Material) -> LookResult | CannotLook:
    """Test queries from the head or the tail of the traffic alone.

    Why: frequent queries are easy and tuned for; rare ones are where systems differ. A test set of one kind says
    nothing about the other.

    Measured: the head is the most frequent real queries that make half of the traffic. Shares of test queries in the
    head, in the rest of the sample, and not in the sample at all; the share of the traffic that test queries make;
    and for comparison the same in test sets of as many different queries met in random traffic. p is how often the
    share of head queries in these is as far from their mean. For unseen queries: how many a random test set would
    hold, by Good and Turing's estimate (the next query is new with the chance of those seen once over all). Both p
    are corrected (Holm).

    Limits: texts are the same or not, after case and punctuation; a rephrased head query counts as unseen. A test set
    may well leave the head out on purpose.
    """
    traffic = traffic_of(material)
    if isinstance(traffic, CannotLook):
        return traffic
    if not traffic.repeated:
        return CannotLook(
            "no query of --production FILE occurs twice: give counts, or every query as often as it was asked"
        )
    settings = material.settings
    draws = min(settings.draws, MOST_DRAWS)
    sample = _Sample(traffic, draws, settings.seed)
    ours = len(sample.ours)
    severity: Severity = "warning" if min(sample.p_head, sample.p_unseen) < settings.alpha else "fine"
    how = (
        f"Head: p {show_p(sample.p_head)} ({draws:,} random test sets, seed {settings.seed}); unseen: p "
        f"{show_p(sample.p_unseen)} (binomial, more than Good and Turing's estimate); both corrected by Holm. "
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
        Evidence("share of the traffic that test queries make", sample.covered, n=ours),
    )
    missing = sample.untested()
    table = Table(
        "Most frequent real queries that are not tested",
        (Column("query"), Column("asked", "count"), Column("of the traffic", "share")),
        tuple(missing),
        shown=5,
    )
    return LookResult(severity, sample.in_words(), how, evidence, (table,) if missing else ())


class _Sample:
    """Where the test queries stand in a sample of the traffic, and where they would by chance."""

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
        """How many test queries of a random set are in the head, and how often they are as far from that as ours."""
        if not self.seen:
            return math.nan, 1.0
        sampled = _head_of_samples(self.counts, self.seen, self.head, draws, seed)
        expected = float(sampled.mean())
        as_far = np.count_nonzero(np.abs(sampled - expected) >= abs(self.in_head - expected) - 1e-9)
        return expected, (int(as_far) + 1) / (draws + 1)

    def untested(self, most: int = 20) -> list[tuple[str, int, float]]:
        """The most frequent queries of the head that are not tested, with their counts and shares of the traffic."""
        tested, asked = set(self.ours), self.counts.sum()
        head = zip(self.texts, self.counts[: self.head].tolist(), strict=False)
        return [(text, count, float(count / asked)) for text, count in head if text not in tested][:most]

    def in_words(self) -> str:
        ours, by_chance = len(self.ours), ""
        if self.seen:
            by_chance = f" ({self.expected:.1f} in a random test set that meets as many)"
        return (
            f"{self.in_head} of {ours:,} test queries are among the {self.head:,} real ones that make half of the traffic"
            f"{by_chance}, {self.seen - self.in_head} are rarer, and {self.unseen} ({self.unseen / ours:.0%}) are not in "
            f"the sample at all, where {self.new:.0%} would be new by chance. The test queries make {self.covered:.1%} "
            "of the traffic."
        )


def _head_of_samples(counts: Integers, size: int, head: int, draws: int, seed: int) -> Integers:
    """How many of the first `size` different queries met in random traffic are of the head.

    Queries met one after the other are those with the smallest waiting times, which are exponential.
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
    """The share of new queries among so many different ones met in traffic, of which a sample was counted.

    The next query is new with the chance of those seen once over all (Good 1953). A test set holds each query once,
    which leaves out repeats of known ones; so as much traffic is taken as brings so many different queries.

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
    """The chance of as many or more, each with this probability."""
    from scipy.special import bdtrc

    return 1.0 if found == 0 else float(bdtrc(found - 1, among, share))
