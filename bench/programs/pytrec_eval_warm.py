"""Evaluate repeatedly with pytrec_eval in one process, with everything already loaded.

usage: python pytrec_eval_warm.py ACT BUDGET VALUES QRELS RUN     (VALUES: where to keep them for the check, or -)

ACT is what is timed; each ends with the values of each query and the means.
"""

import sys

import pytrec_eval
from values import keep_dicts
from warm import read_dicts, time_again_and_again

MEASURES = ["P_10", "recall_100", "map", "recip_rank", "ndcg_cut_10", "ndcg_cut_100"]


def files(qrels, run):
    """From files."""
    return lambda: evaluator_of(read(pytrec_eval.parse_qrel, qrels)).evaluate(read(pytrec_eval.parse_run, run))


def dicts(qrels, run):
    """From a dict, with an evaluator that is ready: what a training loop does."""
    qrels, run = read_dicts(qrels, run)
    evaluator = evaluator_of(qrels)
    return lambda: evaluator.evaluate(run)


def dicts_with_construction(qrels, run):
    """From two dicts."""
    qrels, run = read_dicts(qrels, run)
    return lambda: evaluator_of(qrels).evaluate(run)


def read(parse, path):
    with open(path) as lines:
        return parse(lines)


def evaluator_of(qrels):
    return pytrec_eval.RelevanceEvaluator(qrels, MEASURES)


ACTS = {act.__name__: act for act in (files, dicts, dicts_with_construction)}


def main(name: str, budget: str, kept: str, qrels: str, run: str) -> None:
    evaluate = ACTS[name](qrels, run)

    def act():
        found = evaluate()
        columns = [[values[name] for values in found.values()] for name in MEASURES]
        return found, [pytrec_eval.compute_aggregated_measure(*pair) for pair in zip(MEASURES, columns, strict=True)]

    if kept == "-":
        time_again_and_again(act, float(budget))
    else:
        found, means = act()
        keep_dicts(kept, [found], MEASURES, [means])


main(*sys.argv[1:])
