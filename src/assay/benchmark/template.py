"""The recipe that `assay benchmark init` writes: every key, with its default and what it does."""

from __future__ import annotations

import json
from textwrap import fill

from assay.benchmark.recipe import Recipe
from assay.retrieval.modes import MODES


def recipe_text() -> str:
    """The recipe, with every default and every mode there is."""
    usual = Recipe()
    modes = "\n".join(f"#   {name:<12} {kind.summary}" for name, kind in MODES.items())
    return _RECIPE.format(
        modes=modes,
        chosen=json.dumps([mode.name for mode in usual.modes]),
        measures=fill(json.dumps(usual.measures), 118),
        usual=usual,
    )


_RECIPE = """\
# A benchmark: which collection is searched in which ways, and how the results are measured.
# Run it with `assay benchmark run benchmark.toml`. Run again after an interruption, it goes on where it stopped.

# What is searched: a folder with documents, queries and judgments (paths are from this file), or "insurance" or "shop",
# two small collections that come with assay.
collection = "{usual.collection}"
# split = "test"              # which judgments, where there are several: qrels/dev.tsv is the split "dev"

# Ways to search. The first one is what the others are compared with.
{modes}
modes = {chosen}
depth = {usual.depth}                  # documents per query

# The first measure decides which mode is the best.
measures = {measures}
# targets = "trec-rag"        # a profile of targets: a name, or a TOML file

# Choosing a mode
# latency_limit = 50          # milliseconds per query: also choose among the modes that are so fast
# segments = "segments.csv"   # the best mode for each kind of query: the query id, then any columns; or "difficulty"
seed = {usual.seed}                      # for the sample of queries that are timed
repeats = {usual.repeats}                   # timed passes over them

# A mode of your own: a name, a kind from the list above, and the settings of that kind. Add its name to `modes`.
#
# [[mode]]
# name = "tuned"
# kind = "bm25s"
# k1 = 0.9
# b = 0.4
#
# [[mode]]
# name = "weighted"
# kind = "hybrid"
# modes = ["tuned", "vector"]
# method = "rrf"
# k = 60
# weights = [1.0, 2.0]

# Where fields or files are not called as usual:
#
# [columns.corpus]
# id = "sku"
# text = ["name", "features"]
#
# [files]
# corpus = "articles.jsonl"
"""
