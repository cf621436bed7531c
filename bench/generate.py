"""Write the bench's TREC files, seeded: the same bytes every time. Measures nothing; needs numpy and polars.

usage: python generate.py NAME FOLDER M_FOLDER

The shapes follow what people evaluate: S and M2 a TREC track (50 queries, deep pools, graded), M the MS MARCO passages
(6,980 queries, about one relevant passage each), L a product search log (a million queries, 20 results each).
Scores fall within a query as BM25's do. In three queries of ten they have two decimals and hence many ties; in the others
five decimals and no tie. All stay below 128, where a 32-bit float still tells five decimals apart: trec_eval 9, which
compares 32-bit scores, must find the same order as tools that compare 64-bit ones.
"""

from __future__ import annotations

import gzip
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

DEPTH = 1000
LARGEST_SCORE = 128
PASSAGES = 8_841_823  # in the MS MARCO collection
L_QUERIES, L_DEPTH, L_BATCH = 1_000_000, 20, 100_000
BASE36 = np.frombuffer(b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", np.uint8)


def falling_scores(rng: np.random.Generator, queries: int, depth: int) -> Any:
    """Scores of each query from high to low: (queries, depth)."""
    best = rng.gamma(6, 1.6, (queries, 1)) + 8
    scores = -np.sort(-(best + rng.exponential(2.0, (queries, depth))), axis=1)
    without_ties = (np.round(scores * 1e5) + np.arange(depth, 0, -1)) / 1e5
    if without_ties.max() >= LARGEST_SCORE:
        raise ValueError("a score is too large for a 32-bit float to keep its five decimals.")
    with_ties = rng.random((queries, 1)) < 0.3
    return np.where(with_ties, np.round(scores, 2), without_ties)


def distinct_numbers(rng: np.random.Generator, rows: int, count: int, below: int) -> Any:
    """Distinct integers in each row: (rows, count). Fast if few rows need a second draw."""
    numbers = rng.integers(0, below, (rows, count))
    doubtful = np.arange(rows)
    while len(doubtful):
        ordered = np.sort(numbers[doubtful], axis=1)
        doubtful = doubtful[(ordered[:, 1:] == ordered[:, :-1]).any(axis=1)]
        numbers[doubtful] = rng.integers(0, below, (len(doubtful), count))
    return numbers


def write_columns(path: Path, columns: dict[str, Any], *, separator: str = " ", mode: str = "wb") -> None:
    """Write columns as a text file; a plain string is repeated on every line."""
    plain = {name: pl.lit(values) for name, values in columns.items() if isinstance(values, str)}
    frame = pl.DataFrame({name: values for name, values in columns.items() if name not in plain})
    frame = frame.with_columns(**plain).select(list(columns))
    with path.open(mode) as file:
        frame.write_csv(file, separator=separator, include_header=False, float_precision=6, quote_style="never")


def write_run(path: Path, query: Any, doc: Any, score: Any, tag: str, **options: Any) -> None:
    """Write a run with the same depth for every query: scores are (queries, depth)."""
    queries, depth = score.shape
    rank = np.tile(np.arange(1, depth + 1), queries)
    columns = {"query": query, "q0": "Q0", "doc": doc, "rank": rank, "score": score.ravel(), "tag": tag}
    write_columns(path, columns, **options)


def write_track(
    folder: Path,
    seed: int,
    runs: list[str],
    first_query: int,
    name_of: Callable[[int], str],
    shares: list[float],
    depth: int = DEPTH,
) -> None:
    """A TREC track: 50 queries with 300 judged documents each, and runs that find them more or less well.

    `shares` gives the share of each grade among the judged documents; `depth` is how many documents a run returns.
    """
    rng = np.random.default_rng(seed)
    queries, judged, pooled = 50, 300, 3 * DEPTH
    ids = np.array([str(first_query + 37 * number) for number in range(queries)])
    pools = np.stack([rng.permutation(500_000)[:pooled] for _ in range(queries)])
    names = np.array([[name_of(number) for number in row] for row in pools.tolist()])
    # Judged documents are those that several systems found: half of the first 600 of each pool.
    places = np.argsort(rng.random((queries, 2 * judged)), axis=1)[:, :judged]
    grade = rng.choice(len(shares), (queries, judged), p=shares)
    grade[:, 0] = np.maximum(grade[:, 0], 1)
    judged_names = np.take_along_axis(names, places, axis=1).ravel()
    qrels = {"query": np.repeat(ids, judged), "zero": "0", "doc": judged_names, "grade": grade.ravel()}
    write_columns(folder / "qrels.txt", qrels)

    gain = np.zeros((queries, pooled))
    np.put_along_axis(gain, places, grade, axis=1)
    likely = np.arange(pooled) < 2 * judged
    for number, run in enumerate(runs):
        quality = 0.5 + 1.5 * rng.random()
        found = np.argsort(-(rng.gumbel(size=gain.shape) + quality * gain + likely), axis=1)[:, :depth]
        docs = np.take_along_axis(names, found, axis=1).ravel()
        score = falling_scores(rng, queries, depth)
        write_run(folder / run, np.repeat(ids, depth), docs, score, f"system{number:03d}")


def write_passages(folder: Path, seed: int, queries: int, depth: int = DEPTH) -> None:
    """MS MARCO passages: one relevant passage per query, sometimes two; most are found, mostly near the top."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.arange(1_000_000, 1_102_400))[:queries]
    docs = distinct_numbers(rng, queries, depth, PASSAGES - 1_000_000) + 1_000_000
    write_run(
        folder / "run.txt", np.repeat(query, depth), docs.ravel(), falling_scores(rng, queries, depth), "passages"
    )
    second = rng.random(queries) < 0.06
    rank = np.minimum(rng.pareto(0.6, queries), depth - 2).astype(np.int64)
    # Passages that no run finds have ids below a million.
    missed = rng.integers(0, 500_000, queries)
    found = rng.random(queries) < 0.87
    relevant = np.where(found, docs[np.arange(queries), rank], missed)
    also = np.where(found, docs[np.arange(queries), rank + 1], missed + 500_000)
    doc = np.stack([relevant, also], axis=1)
    kept = np.stack([np.ones(queries, bool), second], axis=1)
    columns = {"query": np.repeat(query, 2)[kept.ravel()], "zero": "0", "doc": doc[kept], "grade": "1"}
    write_columns(folder / "qrels.txt", columns)


def write_chunks(folder: Path, seed: int, queries: int = 2000) -> None:
    """Chunks such as D123#2: about 350 documents for each query, most with three chunks; one document is relevant."""
    rng = np.random.default_rng(seed)
    query = rng.permutation(np.arange(1_000_000, 1_000_000 + 2 * queries))[:queries]
    chunk = np.argsort(rng.random((queries, 3 * 350)), axis=1)[:, :DEPTH]
    document = rng.integers(0, 100_000, (queries, 1)) + chunk // 3
    names = pl.DataFrame({"document": document.ravel(), "chunk": chunk.ravel() % 3})
    docs = names.select(pl.format("D{}#{}", "document", "chunk")).to_series()
    write_run(folder / "run.txt", np.repeat(query, DEPTH), docs, falling_scores(rng, queries, DEPTH), "chunks")
    relevant = docs.gather(np.arange(queries) * DEPTH + rng.integers(0, 20, queries))
    write_columns(folder / "qrels.txt", {"query": query, "zero": "0", "doc": relevant, "grade": "1"})


def product_names(numbers: Any) -> pl.Series:
    """Ids such as product_B0700001ZK: the number in base 36, with seven digits."""
    digits = BASE36[numbers.ravel()[:, None] // 36 ** np.arange(6, -1, -1) % 36]
    return "product_B07" + pl.Series(np.ascontiguousarray(digits).view("S7").ravel().astype(str))


def write_products(folder: Path, seed: int) -> None:
    """A search log: a million queries with 20 products each and three judged ones; tab-separated."""
    rng = np.random.default_rng(seed)
    for start in range(0, L_QUERIES, L_BATCH):
        numbers = pl.Series(np.arange(start, start + L_BATCH)).cast(pl.String).str.zfill(9)
        query = "query_" + numbers
        products = distinct_numbers(rng, L_BATCH, L_DEPTH, 36**6)
        repeated = query.gather(np.repeat(np.arange(L_BATCH), L_DEPTH))
        score = falling_scores(rng, L_BATCH, L_DEPTH)
        write_run(folder / "run.txt", repeated, product_names(products), score, "ranker-v7", separator="\t", mode="ab")
        # Two judged products are in the run, mostly near the top; the third is in no run.
        first = np.minimum(rng.geometric(0.2, L_BATCH), L_DEPTH) - 1
        second = (first + rng.integers(1, L_DEPTH, L_BATCH)) % L_DEPTH
        shown = np.take_along_axis(products, np.stack([first, second], axis=1), axis=1)
        judged = np.concatenate([shown, rng.integers(36**6, 2 * 36**6, (L_BATCH, 1))], axis=1)
        grade = rng.choice(4, judged.shape, p=[0.3, 0.4, 0.2, 0.1])
        grade[:, 0] = np.maximum(grade[:, 0], 1)
        repeated = query.gather(np.repeat(np.arange(L_BATCH), judged.shape[1]))
        columns = {"query": repeated, "zero": "0", "doc": product_names(judged), "grade": grade.ravel()}
        write_columns(folder / "qrels.txt", columns, separator="\t", mode="ab")


def write_shuffled(folder: Path, source: Path) -> None:
    """The lines of M in random order: the lines of a query are not together."""
    lines = (source / "run.txt").read_bytes().splitlines(keepends=True)
    order = np.random.default_rng(6).permutation(len(lines))
    with (folder / "run.txt").open("wb") as file:
        file.writelines(lines[place] for place in order.tolist())
    shutil.copy(source / "qrels.txt", folder)


def write_equal_scores(folder: Path, source: Path) -> None:
    """M with equal scores everywhere: only the document ids decide the order."""
    run = pl.read_csv(source / "run.txt", separator=" ", has_header=False)
    run = run.with_columns(pl.lit(1.0).alias(run.columns[4]))
    run.write_csv(folder / "run.txt", separator=" ", include_header=False, float_precision=6)
    shutil.copy(source / "qrels.txt", folder)


def write_gzip(folder: Path, source: Path) -> None:
    """M's run, compressed."""
    with (
        (source / "run.txt").open("rb") as plain,
        (folder / "run.txt.gz").open("wb") as file,
        gzip.GzipFile("", "wb", 6, file, mtime=0) as packed,
    ):
        shutil.copyfileobj(plain, packed, 1 << 20)
    shutil.copy(source / "qrels.txt", folder)


def write_changed(folder: Path, source: Path) -> None:
    """M's run, and the same after a change: scores shift a little, and a twentieth of the documents are others."""
    shutil.copy(source / "qrels.txt", folder)
    shutil.copy(source / "run.txt", folder)
    run = pl.read_csv(source / "run.txt", separator=" ", has_header=False)
    query, _, doc, _, score, _ = run.columns
    rng = np.random.default_rng(8)
    shifted = run[score].to_numpy() * (1 + 0.01 * rng.standard_normal(len(run)))
    others = rng.random(len(run)) < 0.05
    docs = np.where(others, rng.permutation(len(run)) + PASSAGES, run[doc].to_numpy())
    order = np.lexsort((-shifted, np.repeat(np.arange(len(run) // DEPTH), DEPTH)))
    write_run(folder / "after.txt", run[query].to_numpy(), docs[order], shifted[order].reshape(-1, DEPTH), "after")


def newswire_name(number: int) -> str:
    """Such as FBIS3-000042."""
    return f"FBIS{number % 4 + 1}-{number:06d}"


def passage_name(number: int) -> str:
    """Such as msmarco_passage_07_123456789."""
    return f"msmarco_passage_{number % 60:02d}_{number * 811 % 10**9}"


RECIPES: dict[str, Callable[[Path, Path], None]] = {
    "tiny": lambda folder, _: write_passages(folder, seed=7, queries=10, depth=10),
    "S": lambda folder, _: write_track(folder, 1, ["run.txt"], 401, newswire_name, [0.8, 0.15, 0.05]),
    "M2": lambda folder, _: write_track(
        folder, 2, [f"run{number:03d}.txt" for number in range(100)], 1_037_000, passage_name, [0.6, 0.2, 0.12, 0.08]
    ),
    "many": lambda folder, _: write_track(
        folder, 9, [f"run{number:03d}.txt" for number in range(300)], 401, newswire_name, [0.8, 0.15, 0.05], 100
    ),
    "chunks": lambda folder, _: write_chunks(folder, seed=10),
    "M": lambda folder, _: write_passages(folder, seed=3, queries=6980),
    "M-tenth": lambda folder, _: write_passages(folder, seed=3, queries=700),
    "L": lambda folder, _: write_products(folder, seed=4),
    "M-shuffled": write_shuffled,
    "M-equal": write_equal_scores,
    "M-gzip": write_gzip,
    "M-changed": write_changed,
}


def main(name: str, folder: str, m_folder: str) -> None:
    """Write one data set; growth-N is M's shape with N lines."""
    if name.startswith("growth-"):
        write_passages(Path(folder), seed=5, queries=int(name.removeprefix("growth-")) // DEPTH)
    else:
        RECIPES[name](Path(folder), Path(m_folder))


if __name__ == "__main__":
    main(*sys.argv[1:])
