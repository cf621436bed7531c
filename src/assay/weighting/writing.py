"""A sample of queries as text: the queries, ready to be searched, and their weights, ready for `query_weights=`."""

from __future__ import annotations

from assay.errors import InputError, show_id
from assay.weighting.sampling import QuerySample

HEADER = ("query", "weight", "probability", "stratum", "count")


def queries_as_tsv(sample: QuerySample) -> str:
    r"""Id and text of each query, separated by a tab.

    >>> from assay.weighting.sampling import sample_queries
    >>> queries_as_tsv(sample_queries({"red shoes": 3}, 1))
    'q61959b3a303f\tred shoes\n'
    """
    for text in sample.texts:
        if any(mark in text for mark in "\t\n\r"):
            raise InputError(
                f"the query {show_id(text)!r} contains a tab or a line break, which a line cannot hold; use "
                "`normalise='blanks'`."
            )
    return "".join(f"{query}\t{text}\n" for query, text in zip(sample.weights.queries, sample.texts, strict=True))


def weights_as_tsv(sample: QuerySample) -> str:
    """A header, then one line for each query, with every digit."""
    weights = sample.weights
    strata, chances = weights.strata or (), () if weights.probability is None else weights.probability.tolist()
    columns = zip(weights.queries, weights.weight.tolist(), chances, strata, sample.counts.tolist(), strict=True)
    rows = (
        (query, _number(weight), _number(chance), stratum, _number(count))
        for query, weight, chance, stratum, count in columns
    )
    return "".join("\t".join(row) + "\n" for row in (HEADER, *rows))


def _number(value: float) -> str:
    return str(int(value)) if value.is_integer() else repr(value)
