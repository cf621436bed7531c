"""Evaluate run files with pytrec_eval, as its README does it: files in, values of each query and means out.

usage: python pytrec_eval_files.py VALUES QRELS RUN...     (VALUES: where to keep them for the check, or -)
"""

import gzip
import sys

import pytrec_eval

MEASURES = ["P_10", "recall_100", "map", "recip_rank", "ndcg_cut_10", "ndcg_cut_100"]


def read(parse, path):
    with gzip.open(path, "rt") if path.endswith(".gz") else open(path) as lines:
        return parse(lines)


def main(kept: str, qrels: str, *runs: str) -> None:
    evaluator = pytrec_eval.RelevanceEvaluator(read(pytrec_eval.parse_qrel, qrels), MEASURES)
    results = [evaluator.evaluate(read(pytrec_eval.parse_run, run)) for run in runs]
    means = [
        [pytrec_eval.compute_aggregated_measure(name, [found[name] for found in result.values()]) for name in MEASURES]
        for result in results
    ]
    sys.stdout.write(f"{means[0]}\n")
    if kept != "-":
        from values import keep_dicts

        keep_dicts(kept, results, MEASURES, means)


main(*sys.argv[1:])
