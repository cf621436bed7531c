"""Evaluate run files with assay, as a whole process: files in, values of each query and means out.

usage: python assay_files.py THREADS VALUES QRELS RUN...     (VALUES: where to keep them for the check, or -)
"""

import sys

import assay

MEASURES = ["P@10", "R@100", "AP", "RR", "nDCG@10", "nDCG@100"]


def main(threads: str, kept: str, qrels: str, *runs: str) -> None:
    evaluator = assay.Evaluator(qrels, MEASURES, threads=int(threads))
    results = [evaluator.evaluate(run) for run in runs]
    values = [result.values for result in results]
    means = [list(result.mean().values()) for result in results]
    sys.stdout.write(f"{means[0]}\n")
    if kept != "-":
        from values import keep

        keep(kept, results[0].queries, values, means)


main(*sys.argv[1:])
