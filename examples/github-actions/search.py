"""A placeholder for your search: ranks documents.tsv for each line of queries.tsv by common words, weighted by rarity.

python search.py > candidate.run
"""

import math
import re
from pathlib import Path


def rows(path: str) -> dict[str, str]:
    """The id and text of each line."""
    return dict(line.split("\t", 1) for line in Path(path).read_text(encoding="utf-8").splitlines())


def words(text: str) -> set[str]:
    """The words of a text without their endings."""
    return {re.sub(r"(ing|es|s)$", "", word) for word in re.findall(r"[a-z]+", text.lower())}


def main() -> None:
    """Print a run in TREC format."""
    documents = {name: words(text) for name, text in rows("documents.tsv").items()}
    for query, text in rows("queries.tsv").items():
        scores = dict.fromkeys(documents, 0.0)
        for word in words(text):
            holders = [name for name, found in documents.items() if word in found]
            for name in holders:
                scores[name] += math.log(1 + len(documents) / len(holders))
        best = sorted(scores, key=lambda name: (-scores[name], name))[:10]
        for rank, name in enumerate(best, start=1):
            print(query, "Q0", name, rank, f"{scores[name]:.6f}", "example")  # noqa: T201  this is its output


if __name__ == "__main__":
    main()
