"""The throughput of the cross-encoder against onnxruntime called directly on the same batches, in one run.

python bench/rerank.py                                        100 queries x 100 documents of the embedded shop
python bench/rerank.py --collection FOLDER --queries 20 --top 50 --batch 8

Directly means session.run on arrays that were made before, so its time has no tokenisation; ours has all that a query
takes. The three take turns query by query, in changing order, so a busy machine slows all of them. Exit status 1 means
that the median of the ratios is below the target.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from statistics import median
from time import perf_counter, process_time
from typing import Any

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

from assay.collections import open_collection
from assay.inputs.documents import Document
from assay.retrieval.models import ModelFiles, get_model
from assay.retrieval.onnx_models import processors
from assay.retrieval.rerankers.cross_encoder import CrossEncoder, OpenCrossEncoder, by_length

TARGET = 0.9  # of the throughput of onnxruntime


def main() -> int:
    """Measure, print a table, and compare with the target."""
    given = _arguments()
    collection = open_collection(given.collection)
    documents = list({document.id: document for document in collection.documents()}.values())
    draw = random.Random(1)
    queries = list(collection.queries.values())[: given.queries]
    work = [(query, draw.sample(documents, min(given.top, len(documents)))) for query in queries]
    files = get_model(given.model)
    with CrossEncoder(model=given.model, batch=given.batch).open() as ours:
        direct = Direct(files, given.batch)
        times = [_timed(ours, direct, query, texts, number) for number, (query, texts) in enumerate(work)]
    pairs = sum(len(texts) for _, texts in work)
    print(f"{len(work)} queries, {pairs:,} pairs, batches of {given.batch}, {processors()} processors, {files.name}")
    for name in times[0]:
        wall = median(each[name][0] / each["assay"][0] for each in times)
        work_done = median(each[name][1] / each["assay"][1] for each in times)
        per_second = pairs / sum(each[name][0] for each in times)
        print(f"{name:<42}{per_second:6.0f} pairs/s   assay has {wall:.3f} of it, by processor time {work_done:.3f}")
    return 0 if median(each[IN_THREADS][0] / each["assay"][0] for each in times) >= TARGET else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--collection", default="shop")
    parser.add_argument("--model", default="bert-mini-reranker")
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--top", type=int, default=100)
    parser.add_argument("--batch", type=int, default=1)
    return parser.parse_args()


IN_TURN, IN_THREADS = "onnxruntime, its own threads", "onnxruntime, batches in parallel threads"


class Direct:
    """onnxruntime without assay, on arrays that are ready."""

    def __init__(self, files: ModelFiles, size: int) -> None:
        self.size = size
        self.tokenizer = Tokenizer.from_file(str(files.tokenizer))
        self.tokenizer.enable_truncation(512)
        self.own = onnxruntime.InferenceSession(str(files.model), providers=["CPUExecutionProvider"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self.single = onnxruntime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
        self.pool = ThreadPoolExecutor(processors())

    def arrays(self, query: str, documents: list[Document]) -> list[dict[str, Any]]:
        """The inputs of each batch."""
        self.tokenizer.no_padding()
        pairs = [(query, document.whole) for document in documents]
        lengths = [len(pair.ids) for pair in self.tokenizer.encode_batch(pairs)]
        self.tokenizer.enable_padding()
        batches = [
            self.tokenizer.encode_batch([pairs[place] for place in some]) for some in by_length(lengths, self.size)
        ]
        return [
            {
                "input_ids": np.array([pair.ids for pair in batch]),
                "attention_mask": np.array([pair.attention_mask for pair in batch]),
                "token_type_ids": np.array([pair.type_ids for pair in batch]),
            }
            for batch in batches
        ]


def _timed(
    ours: OpenCrossEncoder, direct: Direct, query: str, documents: list[Document], turn: int
) -> dict[str, tuple[float, float]]:
    arrays = direct.arrays(query, documents)
    ways: list[tuple[str, Callable[[], object]]] = [
        ("assay", lambda: ours.rerank(query, documents)),
        (IN_THREADS, lambda: list(direct.pool.map(lambda feed: direct.single.run(None, feed), arrays))),
        (IN_TURN, lambda: [direct.own.run(None, feed) for feed in arrays]),
    ]
    seconds = {}
    orders = list(permutations(ways))  # each follows each as often: threads of onnxruntime spin on for a while
    for name, way in orders[turn % len(orders)]:
        start, used = perf_counter(), process_time()
        way()
        seconds[name] = perf_counter() - start, process_time() - used
    return {name: seconds[name] for name, _ in ways}


if __name__ == "__main__":
    sys.exit(main())
