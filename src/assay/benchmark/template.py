"""The recipe that `assay benchmark init` writes: every key with its default."""

from __future__ import annotations

import json
from textwrap import fill

from assay.benchmark.recipe import Recipe
from assay.retrieval.modes import MODES


def recipe_text() -> str:
    """The recipe, with every default and every mode."""
    usual = Recipe()
    width = max(map(len, MODES))
    modes = "\n".join(f"#   {name:<{width}} {kind.summary}" for name, kind in MODES.items())
    return _RECIPE.format(
        modes=modes,
        chosen=json.dumps([mode.name for mode in usual.modes]),
        measures=fill(json.dumps(usual.measures), 118),
        usual=usual,
    )


_RECIPE = """\
# A benchmark: the collection to search, the modes to search it with, and the measures.
# Run it with `assay benchmark run benchmark.toml`. If it is interrupted, run it again to resume.

# A folder with documents, queries and judgments (relative to this file), or an embedded collection: "insurance", "shop".
collection = "{usual.collection}"
# split = "test"              # of the judgments; qrels/dev.tsv is the split "dev"

# Search modes. The others are compared with the first.
{modes}
modes = {chosen}
depth = {usual.depth}                  # documents per query

# The first measure decides which mode is best.
measures = {measures}
# targets = "trec-rag"        # a profile of targets: a name or a TOML file

# Choosing a mode
# latency_limit = 50          # milliseconds per query: also report the best mode within this limit
# segments = "segments.csv"   # find the best mode per segment: query id, then any columns; or "difficulty"
seed = {usual.seed}                      # for sampling the queries to time
repeats = {usual.repeats}                   # timed passes over those queries

# To define your own mode, give a name, a kind from the list above and its settings, and add the name to `modes`.
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
#
# [[mode]]
# name = "reranked"
# kind = "cross-encoder"
# of = "weighted"             # the mode whose first documents are ordered anew
# top = 100                   # documents per query
#
# [[mode]]
# name = "theirs"
# kind = "run"                # made by another system
# path = "their.run"

# If fields or files have unusual names:
#
# [columns.corpus]
# id = "sku"
# text = ["name", "features"]
#
# [files]
# corpus = "articles.jsonl"
"""
