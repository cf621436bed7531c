"""Store the values of a tool in a common form: a row per query in byte order of its id, a column per measure."""

import numpy as np


def keep(path, queries, values, means):
    """Write values of (runs, queries, measures) and means of (runs, measures)."""
    with open(path, "wb") as file:
        np.savez(file, queries=np.array(queries), values=np.array(values, float), means=np.array(means, float))


def keep_dicts(path, results, measures, means):
    """The same from one dict for each run: query -> measure -> value."""
    queries = sorted(results[0], key=str.encode)
    values = [[[result[query][measure] for measure in measures] for query in queries] for result in results]
    keep(path, queries, values, means)
