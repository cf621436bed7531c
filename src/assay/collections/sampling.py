"""Split judgments by query into two similar parts, such as dev and test.

Queries are stratified by their number of relevant documents, and each stratum contributes its share. Within a stratum,
queries are ordered by a digest of seed and query id: the same on every machine and Python version, and adding or
removing a query moves hardly any others.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from hashlib import sha256

import numpy as np
from msgspec import Struct

from assay.errors import InputError
from assay.tables import Booleans, Qrels, as_bytes
from assay.words import number_of


class Stratum(Struct, frozen=True):
    """Queries with a similar number of relevant documents."""

    fewest: int  # relevant documents
    most: int
    queries: int
    sampled: int


class Sample(Struct, frozen=True, eq=False):
    """Judgments split into two parts."""

    sampled: Qrels
    rest: Qrels
    strata: tuple[Stratum, ...]
    seed: int
    rel: float  # the lowest grade of a relevant document


def sample_qrels(
    qrels: Qrels, *, share: float | None = None, size: int | None = None, seed: int = 1, rel: float = 1
) -> Sample:
    r"""Sample a share or a number of the queries, with all their judgments, and return them and the rest.

    >>> from assay import parse_qrels
    >>> qrels = parse_qrels("".join(f"q{n} 0 d 1\n" for n in range(10)))
    >>> sample = sample_qrels(qrels, share=0.2, seed=1)
    >>> sample.sampled.queries, len(sample.rest.queries)
    (('q4', 'q6'), 8)
    """
    if not math.isfinite(rel):
        raise InputError(f"the lowest grade of a relevant document cannot be {rel:g}; it takes a finite number.")
    wanted = _wanted(len(qrels.queries), share, size)
    relevant = np.bincount(qrels.query[qrels.rel >= rel], minlength=len(qrels.queries)).tolist()
    by_stratum: dict[tuple[int, int], list[str]] = {}
    for query, count in zip(qrels.queries, relevant, strict=True):
        by_stratum.setdefault(stratum_of(count), []).append(query)
    bounds = sorted(by_stratum)
    quotas = _quotas([len(by_stratum[bound]) for bound in bounds], wanted, seed)
    chosen: set[str] = set()
    for bound, quota in zip(bounds, quotas, strict=True):
        chosen.update(sorted(by_stratum[bound], key=lambda query: _digest(seed, as_bytes(query)))[:quota])
    strata = tuple(Stratum(*bound, len(by_stratum[bound]), quota) for bound, quota in zip(bounds, quotas, strict=True))
    is_chosen = np.array([query in chosen for query in qrels.queries])[qrels.query]
    return Sample(_part(qrels, is_chosen), _part(qrels, ~is_chosen), strata, seed, rel)


def stratum_of(relevant: int) -> tuple[int, int]:
    """The bounds of the stratum for this number of relevant documents: 0, 1, 2, 3 to 4, 5 to 8 and so on.

    >>> [stratum_of(count) for count in (0, 1, 2, 3, 8, 9)]
    [(0, 0), (1, 1), (2, 2), (3, 4), (5, 8), (9, 16)]
    """
    if relevant <= 2:
        return relevant, relevant
    most = 1 << (relevant - 1).bit_length()
    return most // 2 + 1, most


def _wanted(total: int, share: float | None, size: int | None) -> int:
    if (share is None) == (size is None):
        raise InputError("give either a share (`share=0.2`) or a number of queries (`size=50`) to sample.")
    if share is not None and not 0 < share < 1:
        raise InputError(f"the share cannot be {share:g}; it takes a number between 0 and 1.")
    wanted = size if size is not None else round(total * share)  # type: ignore[operator]
    if not 0 < wanted < total:
        raise InputError(
            f"a sample of {wanted:,} of {number_of(total, 'query')} leaves one part empty; each part needs a query."
        )
    return wanted


def _quotas(sizes: list[int], wanted: int, seed: int) -> list[int]:
    """How many queries to sample from each stratum: its share rounded down, plus one for the largest remainders.

    Integer arithmetic avoids float rounding. The seed decides between equal remainders.

    >>> _quotas([10, 5, 5], 4, 1), _quotas([3, 3, 3], 3, 1)
    ([2, 1, 1], [1, 1, 1])
    """
    total = sum(sizes)
    quotas = [size * wanted // total for size in sizes]
    by_remainder = sorted(
        range(len(sizes)), key=lambda place: (-(sizes[place] * wanted % total), _digest(seed, b"stratum %d" % place))
    )
    for place in by_remainder[: wanted - sum(quotas)]:
        quotas[place] += 1
    return quotas


def _digest(seed: int, data: bytes) -> bytes:
    return sha256(b"%d\0" % seed + data).digest()


def _part(qrels: Qrels, rows: Booleans) -> Qrels:
    kept: Iterable[int] = np.flatnonzero(rows).tolist()
    return Qrels.from_columns(
        [qrels.queries[code] for code in qrels.query[rows].tolist()],
        qrels.doc[rows],
        qrels.rel[rows],
        iteration=None if qrels.iteration is None else qrels.iteration[rows],
        source=qrels.source,
        lines=None if qrels.lines is None else [qrels.lines[row] for row in kept],
    )
