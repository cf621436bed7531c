"""Evaluate repeatedly with assay in one process, with everything already loaded.

usage: python assay_warm.py ACT BUDGET VALUES QRELS RUN     (VALUES: where to keep them for the check, or -)

ACT is what is timed; each ends with the values of each query and the means.
"""

import sys

from values import keep
from warm import read_dicts, time_again_and_again

import assay

MEASURES = ["P@10", "R@100", "AP", "RR", "nDCG@10", "nDCG@100"]


def files(qrels, run):
    """From files."""
    return lambda: assay.evaluate(qrels, run, MEASURES, threads=1)


def dicts(qrels, run):
    """From a dict, with a prepared evaluator, as in a training loop."""
    qrels, run = read_dicts(qrels, run)
    evaluator = assay.Evaluator(qrels, MEASURES, threads=1)
    return lambda: evaluator.evaluate(run)


def dicts_with_construction(qrels, run):
    """From two dicts."""
    qrels, run = read_dicts(qrels, run)
    return lambda: assay.evaluate(qrels, run, MEASURES, threads=1)


def arrow(qrels, run):
    """From two Arrow tables with text columns."""
    qrels = arrow_table(qrels, ["query_id", "iteration", "doc_id", "relevance"], number="relevance")
    run = arrow_table(run, ["query_id", "q0", "doc_id", "rank", "score", "tag"], number="score")
    return lambda: assay.evaluate(qrels, run, MEASURES, threads=1)


def arrow_table(path, names, number):
    import pyarrow
    from pyarrow import csv

    kinds = {"query_id": pyarrow.string(), "doc_id": pyarrow.string()}
    kinds[number] = pyarrow.float64() if number == "score" else pyarrow.int64()
    return csv.read_csv(
        path,
        read_options=csv.ReadOptions(column_names=names),
        parse_options=csv.ParseOptions(delimiter=" "),
        convert_options=csv.ConvertOptions(column_types=kinds, include_columns=["query_id", "doc_id", number]),
    )


ACTS = {act.__name__: act for act in (files, dicts, dicts_with_construction, arrow)}


def main(name: str, budget: str, kept: str, qrels: str, run: str) -> None:
    evaluate = ACTS[name](qrels, run)

    def act():
        result = evaluate()
        return result.queries, result.values, list(result.mean().values())

    if kept == "-":
        time_again_and_again(act, float(budget))
    else:
        queries, values, means = act()
        keep(kept, queries, [values], [means])


main(*sys.argv[1:])
