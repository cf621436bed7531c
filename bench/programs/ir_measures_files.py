"""Evaluate run files with ir_measures, as its documentation does it: files in, values of each query and means out.

usage: python ir_measures_files.py VALUES QRELS RUN...     (VALUES: where to keep them for the check, or -)
"""

import sys

import ir_measures
from ir_measures import AP, RR, P, R, nDCG

MEASURES = [P @ 10, R @ 100, AP, RR, nDCG @ 10, nDCG @ 100]


def main(kept: str, qrels: str, *runs: str) -> None:
    evaluator = ir_measures.evaluator(MEASURES, ir_measures.read_trec_qrels(qrels))
    results = [evaluator.calc(ir_measures.read_trec_run(run)) for run in runs]
    means = [[result.aggregated[measure] for measure in MEASURES] for result in results]
    sys.stdout.write(f"{means[0]}\n")
    if kept != "-":
        from values import keep_dicts

        tables = []
        for result in results:
            table = {}
            for metric in result.per_query:
                table.setdefault(metric.query_id, {})[metric.measure] = metric.value
            tables.append(table)
        keep_dicts(kept, tables, MEASURES, means)


main(*sys.argv[1:])
