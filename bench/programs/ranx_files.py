"""Evaluate run files with ranx, as its documentation does it: files in, values of each query and means out.

usage: python ranx_files.py VALUES QRELS RUN...     (VALUES: where to keep them for the check, or -)

ranx uses all cores; nothing here limits it.
"""

import sys

from ranx import Qrels, Run, evaluate

MEASURES = ["precision@10", "recall@100", "map", "mrr", "ndcg@10", "ndcg@100"]


def main(kept: str, qrels_path: str, *run_paths: str) -> None:
    qrels = Qrels.from_file(qrels_path, kind="trec")
    results, means = [], []
    for path in run_paths:
        run = Run.from_file(path, kind="trec")
        evaluate(qrels, run, MEASURES)
        results.append(run.scores)
        means.append([run.mean_scores[name] for name in MEASURES])
    sys.stdout.write(f"{means[0]}\n")
    if kept != "-":
        from values import keep_dicts

        keep_dicts(
            kept,
            [
                {query: {name: scores[name][query] for name in MEASURES} for query in scores["map"]}
                for scores in results
            ],
            MEASURES,
            means,
        )


main(*sys.argv[1:])
