"""Weights from files, dicts and frames."""

from __future__ import annotations

import re

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from assay import sample_queries
from assay.errors import InputError
from assay.inputs.query_weights import as_query_weights
from assay.weighting.writing import weights_as_tsv


@pytest.mark.parametrize(
    "text",
    [
        "query\tweight\nq1\t2.5\nq2\t1\n",
        "# how it was made\n# seed: 1\nquery\tweight\nq1\t2.5\nq2\t1\n",
        "q1\t2.5\nq2\t1\n",
        "q1,2.5\nq2,1\n",
        "q1 2.5\nq2 1\n",
        "qid,text,weight\nq1,red shoes,2.5\nq2,laces,1\n",
        "query_id,query,count\nq1,red shoes,2.5\nq2,laces,1\n",
        '{"query": "q1", "weight": 2.5}\n{"query": "q2", "weight": 1}\n',
    ],
)
def test_forms_of_a_file(tmp_path, text):
    path = tmp_path / "weights"
    path.write_text(text)
    found = as_query_weights(path)

    assert ("q1", "q2") == found.queries
    assert [2.5, 1] == found.weight.tolist()
    assert None is found.probability


def test_dicts_and_frames(tmp_path):
    columns = {"query": ["q1", "q2"], "weight": [2.5, 1.0], "probability": [1.0, 0.5], "stratum": ["head", "tail"]}
    parquet.write_table(pa.table(columns), tmp_path / "weights.parquet")
    frames = [pd.DataFrame(columns), pl.DataFrame(columns), pa.table(columns), tmp_path / "weights.parquet"]

    assert [2.5, 1] == as_query_weights({"q1": 2.5, "q2": 1}).weight.tolist()
    for frame in frames:
        found = as_query_weights(frame)
        assert (("q1", "q2"), ("head", "tail")) == (found.queries, found.strata)
        assert [1.0, 0.5] == found.probability.tolist()


def test_what_a_sample_writes_reads_back_the_same(tmp_path):
    sample = sample_queries({f"query {rank}": 1000 // rank for rank in range(1, 200)}, 40)
    path = tmp_path / "weights.tsv"
    path.write_text(weights_as_tsv(sample))
    found = as_query_weights(path)

    assert sample.weights.queries == found.queries
    assert sample.weights.strata == found.strata
    assert sample.weights.weight.tolist() == found.weight.tolist()
    assert sample.weights.probability.tolist() == found.probability.tolist()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("query\tweight\nq1\t2\nq2\t-1\n", ":3: the weight of query q2 is -1; it takes a number greater than 0."),
        ("query\tweight\nq1\t0\n", ":2: the weight of query q1 is 0; it takes"),
        ("query\tweight\nq1\tnan\n", ":2: the weight of query q1 'nan' is not a number; it takes"),
        ("query\tweight\nq1\t\n", ":2: the weight of query q1 is missing; it takes"),
        ("query\tweight\nq1\t1\nq1\t2\n", ":3: query q1 appears twice"),
        ("query\tweight\nq1\t1\t2\n", ":2: the line has 3 columns, the first one has 2"),
        ("query\tweight\tprobability\nq1\t1\t0\n", ":2: the probability of query q1 is 0; it takes"),
        ("query\ttext\tgrade\nq1\t1\t0\n", "no weight column; the columns are query, text, grade. Expected a header"),
        ("\tweight\n", "no query column; the columns are , weight"),
        ('{"query": "q1", "weight": "x"}\n', ":1: the weight of query q1 'x' is not a number"),
        ('{"query": null, "weight": 1}\n', ":1: the query id is missing"),
        ("[1]\n[2]\n", "no query column; the columns are [1]."),
        ("query\tweight\n", "there are no weights"),
        ("# only a comment\n", "no data"),
    ],
)
def test_what_is_refused(tmp_path, text, message):
    path = tmp_path / "weights.tsv"
    path.write_text(text)

    with pytest.raises(InputError, match=re.escape(message)):
        as_query_weights(path)


def test_other_values():
    with pytest.raises(InputError, match="cannot read a value of type int as weights"):
        as_query_weights(7)
    with pytest.raises(
        InputError, match=r"the weight of query q1 'x' \(str\) is not|the weight of query q1 'x' is not a number"
    ):
        as_query_weights({"q1": "x"})
