"""Compare the values of two tools; prints JSON.

usage: python compare_values.py HOW OURS THEIRS RUN...

HOW is `all`: every query and the means. `untied`: only queries of a run in which no two documents have the same score.
`means`: THEIRS is the JSON that `assay evaluate --format json` writes, which has the means alone.
"""

import json
import sys

import numpy as np

COLUMNS = ["query", "q0", "doc", "rank", "score", "tag"]


def untied(queries, path):
    """For each query, whether all its scores in a TREC run differ."""
    import polars as pl

    with open(path, "rb") as file:
        separator = "\t" if b"\t" in file.readline() else " "
    run = pl.read_csv(path, separator=separator, has_header=False, new_columns=COLUMNS, infer_schema=False)
    differ = run.group_by("query").agg((pl.col("score").n_unique() == pl.len()).alias("differ"))
    return np.isin(queries, differ.filter(pl.col("differ"))["query"].to_list())


def values_of(how, ours, theirs, runs):
    """Values of ours and theirs that must agree: per query, then the means."""
    if not np.array_equal(ours["queries"], theirs["queries"]):
        sys.exit(f"the queries differ: ours are {len(ours['queries'])}, theirs {len(theirs['queries'])}")
    if how == "all":
        return [(ours["values"], theirs["values"]), (ours["means"], theirs["means"])]
    chosen = np.array([untied(ours["queries"], run) for run in runs])  # (runs, queries)
    return [(ours["values"][chosen], theirs["values"][chosen])]


def means_of(ours, path):
    """The means of ours, and those in a report."""
    with open(path) as file:
        return [(ours["means"], np.array([list(run["mean"].values()) for run in json.load(file)["runs"]]))]


def main(how: str, ours_path: str, theirs_path: str, *runs: str) -> None:
    ours = np.load(ours_path)
    pairs = means_of(ours, theirs_path) if how == "means" else values_of(how, ours, np.load(theirs_path), runs)
    first, second = pairs[0]
    if not first.size:
        sys.exit("no values to compare")
    report = {
        "values": first.size,
        "identical": int((first == second).sum()),
        "largest_difference": max(float(np.abs(a - b).max()) for a, b in pairs),
    }
    sys.stdout.write(json.dumps(report) + "\n")


main(*sys.argv[1:])
