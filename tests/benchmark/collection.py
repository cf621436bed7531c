"""The small collection of these tests: recipes and questions about them."""

from __future__ import annotations

import json
from pathlib import Path

DISHES = ("soup", "bread", "salad", "curry", "pie", "stew", "risotto", "omelette")
PARTS = ("onion", "lentil", "tomato", "potato", "mushroom", "spinach", "pumpkin", "leek", "rice", "egg")
WAYS = ("simmer gently", "bake until golden", "fry quickly", "roast slowly", "steam lightly")


def documents() -> dict[str, tuple[str, str]]:
    """Id -> title and text: every dish with every part, in one of the ways."""
    found = {}
    for row, dish in enumerate(DISHES):
        for column, part in enumerate(PARTS):
            way = WAYS[(row + column) % len(WAYS)]
            found[f"{part}-{dish}"] = (
                f"{part} {dish}",
                f"Chop the {part} and {way}. A {dish} for {2 + column % 4} people.",
            )
    return found


QUERIES = {
    "q1": "lentil soup",
    "q2": "how do I bake a potato pie until golden",
    "q3": "mushroom risotto with rice",
    "q4": "quick omelette to fry",
    "q5": "something with pumpkin",
    "q6": "curry",
    "q7": "slowly roasted leek",
    "q8": "spinach and egg",
}
JUDGMENTS = {
    "q1": {"lentil-soup": 2, "lentil-stew": 1, "onion-soup": 0},
    "q2": {"potato-pie": 2, "potato-bread": 1, "tomato-pie": 1},
    "q3": {"mushroom-risotto": 2, "rice-risotto": 1, "mushroom-soup": 0},
    "q4": {"egg-omelette": 1, "onion-omelette": 1, "spinach-omelette": 1, "rice-omelette": 0},
    "q5": {"pumpkin-soup": 1, "pumpkin-pie": 2, "pumpkin-curry": 1},
    "q6": {"lentil-curry": 1, "spinach-curry": 2, "egg-pie": 0},
    "q7": {"leek-pie": 2, "leek-soup": 0, "leek-stew": 1},
    "q8": {"spinach-omelette": 2, "egg-salad": 1, "spinach-salad": 0},
}


def write_collection(folder: Path) -> Path:
    """The collection as a BEIR folder."""
    (folder / "qrels").mkdir(parents=True)
    corpus = [{"_id": doc, "title": title, "text": text} for doc, (title, text) in documents().items()]
    queries = [{"_id": query, "text": text} for query, text in QUERIES.items()]
    for name, rows in (("corpus.jsonl", corpus), ("queries.jsonl", queries)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    rows = [f"{query}\t{doc}\t{rel}\n" for query, judged in JUDGMENTS.items() for doc, rel in judged.items()]
    (folder / "qrels" / "test.tsv").write_text("".join(["query-id\tcorpus-id\tscore\n", *rows]))
    return folder


RECIPE = """\
collection = "kitchen"
modes = ["lexical", "bm25s", "both"]
measures = ["nDCG@10", "AP", "R@10"]
repeats = 1

[[mode]]
name = "bm25s"
k1 = 0.9

[[mode]]
name = "both"
kind = "hybrid"
modes = ["lexical", "bm25s"]
"""


def write_kitchen(folder: Path) -> Path:
    """Write the collection and a recipe that needs no model; returns the recipe."""
    write_collection(folder / "kitchen")
    (folder / "benchmark.toml").write_text(RECIPE)
    return folder / "benchmark.toml"
