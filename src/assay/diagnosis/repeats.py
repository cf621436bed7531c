"""Metric gaming: near-duplicate documents at the top of a ranking."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple, replace

from assay.comparison.corrections import corrected_p
from assay.comparison.intervals import Interval, mean_interval
from assay.comparison.significance import significance_of
from assay.diagnosis.figures import mean_of
from assay.diagnosis.material import Material
from assay.diagnosis.model import Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.diagnosis.texts import jaccard, shingles, words_of
from assay.errors import show_id
from assay.tables import Booleans, Integers
from assay.words import noun_for

SHINGLE = 5  # words
NEAR = 0.9  # similarity of near-duplicate documents
OFTEN = 0.05  # share of duplicates at the top that a reader notices
LISTED = 100  # pairs of duplicates to keep


@look(
    "DIA032",
    "gaming",
    advice="Collapse duplicate documents before ranking (for chunks: assay runs collapse), or report a measure that counts "
    "a duplicate once.",
)
def repeated_documents(material: Material) -> LookResult | CannotLook:
    """Near-duplicate documents at the top.

    Why: each copy of a relevant document counts as a success, although readers see the same thing again. A system can
    gain by showing copies.

    Measured: documents in the first k of a query that share 90 % of their sequences of five words (Jaccard) with one
    ranked above them; the share of such documents with its 95 % interval over queries; the difference to the baseline
    by paired t test (Holm); and the value of the first measure if relevant duplicates count as not relevant (Bernstein
    and Zobel 2005).

    Limits: compares words, not meaning; documents without a text in the corpus are ignored.
    """
    runs, k = material.runs, material.settings.k
    if material.corpus is None:
        return CannotLook("needs `corpus=`, the texts of the documents")
    found = _repeats(material)
    if found.known == 0:
        return CannotLook("`corpus=` has none of the documents at the top of the RUNs; does it use the same ids?")
    rows = _repeat_rows(material, found)
    most = max(rows, key=lambda row: row.share)
    severity: Severity = "warning" if most.share >= OFTEN else "note" if most.share > 0 else "fine"
    words = (
        f"{most.share:.1%} of the first {k} documents of {show_id(most.run)} duplicate one ranked above them, in "
        f"{most.queries} {noun_for(most.queries, 'query')}."
        if most.share
        else f"No document in the first {k} duplicates one ranked above it."
    )
    evidence = tuple(
        Evidence(
            f"share of duplicates at the top of {show_id(row.run)}",
            row.share,
            row.interval,
            p_corrected=row.p,
            test="paired t against the baseline, Holm",
            n=len(runs.queries),
        )
        for row in rows
    )
    top = int(runs.within(k).any(axis=0).sum())
    how = f"t intervals over queries. {found.known:,} of {top:,} documents at the top have a text."
    return LookResult(severity, words, how, evidence, _tables(material, rows, found) if most.share else ())


def _tables(material: Material, rows: list[RepeatRow], found: _Repeats) -> tuple[Table, Table]:
    columns = (
        Column("run"),
        Column("repeats", "share"),
        Column("95% interval", "shares"),
        Column("queries", "count"),
        Column("relevant", "count"),
        Column("p to baseline", "p"),
        Column(material.runs.labels[material.asked[0]] if material.asked else "value", "value"),
        Column("repeats not counted", "value"),
    )
    examples = Table(
        "Documents that duplicate one ranked above them",
        (Column("query"), Column("document"), Column("repeats"), Column("likeness", "value"), Column("runs", "count")),
        tuple(map(astuple, found.examples)),
        shown=5,
    )
    return Table("", columns, tuple(map(astuple, rows))), examples


class RepeatRow(Struct, frozen=True):
    """The duplicates at the top of a run."""

    run: str
    share: float
    interval: Interval | None
    queries: int
    relevant: int  # duplicates that count as relevant
    p: float | None  # against the baseline, corrected
    usual: float | None = None
    without: float | None = None  # if relevant duplicates count as not relevant


def _repeat_rows(material: Material, found: _Repeats) -> list[RepeatRow]:
    runs = material.runs
    shares = found.counts / np.maximum(np.minimum(runs.retrieved, material.settings.k), 1)
    shares = np.where(runs.retrieved > 0, shares, np.nan)
    pairs = [(system, material.baseline) for system in material.others]
    p = corrected_p(significance_of(shares.T, pairs, "t").p) if pairs else np.zeros(0)
    p_of = dict(zip(material.others, p.tolist(), strict=True))
    rows = []
    for number, system in enumerate(runs.systems):
        relevant = found.repeated[number] & (runs.pairs.grade > 0)
        known = shares[number][~np.isnan(shares[number])]
        row = RepeatRow(
            system,
            mean_of(known),
            mean_interval(known),
            int(np.count_nonzero(found.counts[number])),
            int(relevant.sum()),
            p_of.get(number),
        )
        for measure in material.asked[:1]:
            given = np.where(relevant, 0.0, runs.pairs.grade)
            then = runs.values(given, runs=[number], columns=[measure])[0, :, 0]
            usual = material.mean(material.values[number, :, measure], measure)
            row = replace(row, usual=usual, without=material.mean(then, measure))
        rows.append(row)
    return rows


class RepeatedPair(Struct, frozen=True):
    """Two near-duplicate documents."""

    query: str
    document: str
    repeats: str
    likeness: float
    runs: int  # with both at the top


class _Repeats:
    """Documents at the top that duplicate one ranked above them."""

    def __init__(self, systems: int, pairs: int, queries: int) -> None:
        self.repeated: Booleans = np.zeros((systems, pairs), np.bool_)
        self.counts: Integers = np.zeros((systems, queries), np.int64)
        self.examples: list[RepeatedPair] = []
        self.known = 0


def _repeats(material: Material) -> _Repeats:
    runs, corpus = material.runs, material.corpus or {}
    top = runs.within(material.settings.k)
    chosen = np.flatnonzero(top.any(axis=0))
    found = _Repeats(len(runs.systems), len(runs.pairs.query), len(runs.queries))
    sets: dict[str, frozenset[tuple[str, ...]]] = {}
    by_query: dict[int, list[int]] = {}
    for pair in chosen.tolist():
        doc = str(runs.pairs.doc[pair])
        text = corpus.get(doc)
        if text is None:
            continue
        found.known += 1
        if doc not in sets:
            sets[doc] = shingles(words_of(text), SHINGLE)
        if sets[doc]:
            by_query.setdefault(int(runs.pairs.query[pair]), []).append(pair)
    examples: list[RepeatedPair] = []
    for query, pairs in by_query.items():
        for first, second in combinations(pairs, 2):
            a, b = sets[str(runs.pairs.doc[first])], sets[str(runs.pairs.doc[second])]
            if min(len(a), len(b)) < NEAR * max(len(a), len(b)):
                continue  # too different in length to be duplicates
            likeness = jaccard(a, b)
            if likeness < NEAR:
                continue
            both = np.flatnonzero(top[:, first] & top[:, second])
            if not len(both):
                continue
            for run in both.tolist():
                later = second if runs.rank[run, second] > runs.rank[run, first] else first
                found.repeated[run, later] = True
            names = str(runs.pairs.doc[second]), str(runs.pairs.doc[first])
            examples.append(RepeatedPair(runs.queries[query], *names, likeness, len(both)))
    for run in range(len(runs.systems)):
        found.counts[run] = runs.count(found.repeated[run])
    found.examples = sorted(examples, key=lambda one: (-one.runs, -one.likeness))[:LISTED]
    return found
