"""The rerankers with a model: their scores are those of the model, and Cranfield's documents come in a better order."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from assay.benchmark.planning import plan_modes
from assay.benchmark.recipe import parse_recipe
from assay.errors import InputError, RetrievalError
from assay.evaluation import evaluate
from assay.formats import read_qrels
from assay.inputs.documents import Document, read_documents
from assay.retrieval.models import ModelFiles
from assay.retrieval.modes import make_node, make_retriever
from assay.retrieval.nodes import Task
from assay.retrieval.rerankers.cross_encoder import CrossEncoder, Padding, by_length, score_of_logits
from assay.retrieval.rerankers.late_interaction import LateInteraction
from assay.retrieval.texts import open_texts
from engines.tiny_models import put_model

DOGS = (
    Document("cat", "A cat sleeps on the sofa all day."),
    Document("dog", "Dogs must not be left alone in a car when it is hot.", "Dogs in cars"),
    Document("rice", "Rinse the rice twice before you cook it."),
)


@pytest.fixture
def cranfield(shared_data) -> Path:
    return shared_data / "collections" / "cranfield"


def order_of(reranker, query: str, documents=DOGS) -> list[str]:
    with reranker.open() as opened:
        return [documents[place].id for place in opened.rerank(query, documents).order]


def queries_of(collection: Path) -> dict[str, str]:
    lines = (collection / "queries.jsonl").read_text(encoding="utf-8").splitlines()
    return {query["_id"]: query["text"] for query in map(json.loads, lines)}


# Cross-encoder


def test_a_cross_encoder_puts_the_answer_first(bert_mini):
    assert "dog" == order_of(CrossEncoder(), "can a dog stay in the car")[0]


def plain_scores(files: ModelFiles, query: str, texts: list[str], size: int) -> np.ndarray:
    """What onnxruntime gives for the same batches, with the padding of the tokenizer."""
    import onnxruntime
    from tokenizers import Tokenizer

    session = onnxruntime.InferenceSession(str(files.model), providers=["CPUExecutionProvider"])
    tokenizer = Tokenizer.from_file(str(files.tokenizer))
    tokenizer.enable_truncation(512)
    lengths = [len(pair.ids) for pair in tokenizer.encode_batch([(query, text) for text in texts])]
    tokenizer.enable_padding()
    scores = np.empty(len(texts))
    for places in by_length(lengths, size):
        pairs = tokenizer.encode_batch([(query, texts[place]) for place in places])
        (logits,) = session.run(
            None,
            {
                "input_ids": np.array([pair.ids for pair in pairs]),
                "attention_mask": np.array([pair.attention_mask for pair in pairs]),
                "token_type_ids": np.array([pair.type_ids for pair in pairs]),
            },
        )
        scores[places] = logits[:, 1] - logits[:, 0]
    return scores


@pytest.mark.parametrize("size", [1, 8])
def test_two_hundred_scores_are_those_of_plain_onnxruntime(bert_mini, cranfield, size):
    texts = [document.whole for document in read_documents(cranfield / "corpus.jsonl.gz")]
    queries = list(queries_of(cranfield).values())
    with CrossEncoder(batch=size).open() as opened:
        for number in range(4):
            some = texts[number * 50 : number * 50 + 50]
            expected = plain_scores(bert_mini, queries[number], some, size)

            assert np.abs(expected - opened.scores(queries[number], some)).max() < 1e-6


def test_a_score_depends_on_nothing_but_query_and_document(bert_mini):
    texts = [document.whole for document in DOGS]
    with CrossEncoder().open() as opened:
        together = opened.scores("hot dogs", texts)
        alone = [opened.scores("hot dogs", [text])[0] for text in texts]

    assert alone == together.tolist()


def test_the_same_documents_make_the_same_batches(bert_mini):
    results = []
    for _ in range(2):
        with CrossEncoder(batch=2).open() as opened:
            results.append(opened.rerank("hot dogs", DOGS))

    assert results[0] == results[1]


def test_long_pairs_are_shortened_as_the_tokenizer_does_it(bert_mini):
    """The longer of the two is shortened first, so words at the end of a long document do not count."""
    long = "rice " * 600
    with CrossEncoder().open() as opened:
        cut = opened.scores("dogs", [f"{long}", f"{long} dogs in a car"])

    assert cut[0] == cut[1]
    assert {"max_length": 512, "truncation": "longest_first"}.items() <= CrossEncoder().settings.items()
    assert 16 == CrossEncoder(max_length=16).settings["max_length"]


def test_a_query_that_cannot_be_shortened_is_refused(bert_mini, tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "model.onnx").symlink_to(bert_mini.model)
    tokenizer = json.loads(bert_mini.tokenizer.read_text(encoding="utf-8"))
    tokenizer["truncation"] |= {"strategy": "OnlySecond", "max_length": 10}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    reranker = CrossEncoder(model=str(folder))

    assert (10, "only_second") == (reranker.settings["max_length"], reranker.settings["truncation"])
    assert "dog" in order_of(reranker, "dogs in a car")
    with pytest.raises(RetrievalError, match="cannot shorten the pairs of the query 'rice rice"):
        order_of(reranker, "rice " * 20)


@pytest.mark.parametrize(
    ("logits", "scores"), [([1.0, 2.0], [1.0, 2.0]), ([[1.0], [2.0]], [1.0, 2.0]), ([[0.5, 2.0]], [1.5])]
)
def test_one_output_or_two_classes_give_a_score(logits, scores):
    assert scores == score_of_logits(np.array(logits, np.float32)).tolist()


def test_other_outputs_are_refused():
    with pytest.raises(RetrievalError, match="gives 3 numbers for a pair; a cross-encoder gives one score"):
        score_of_logits(np.zeros((2, 3)))
    with pytest.raises(RetrievalError, match="gives scores that are not numbers"):
        score_of_logits(np.array([np.nan]))


@pytest.mark.parametrize("integer", ["INT64", "INT32"])
def test_inputs_are_given_by_name_and_type(tmp_path, integer):
    """The tiny model sums rows of its table: with one column, a score that can be added up by hand."""
    table = np.arange(9, dtype=np.float32).reshape(9, 1)
    inputs = ("input_ids", "attention_mask")
    put_model(tmp_path / "one", inputs=inputs, integer=integer, output="logits", shape=("batch", 1), table=table)
    documents = (Document("a", "red green"), Document("b", "small"))
    with CrossEncoder(model=str(tmp_path / "one"), batch=2).open() as opened:
        reranked = opened.rerank("blue", documents)

    # [CLS] blue [CLS] small is 1 + 4 + 1 + 6, and its padding does not count; [CLS] blue [CLS] red green has 2 + 3
    assert ((1, 0), (12.0, 11.0)) == (reranked.order, reranked.scores)
    assert 2 == reranked.work.documents


def test_padding_is_that_of_the_tokenizer(bert_mini):
    with CrossEncoder().open() as opened:
        assert Padding(pad_id=0, pad_type_id=0, pad_token="[PAD]") == opened.padding


def test_models_and_settings_that_do_not_fit_are_refused(minilm, tmp_path):
    put_model(tmp_path / "vectors")
    with pytest.raises(RetrievalError, match="needs a cross-encoder, which gives a score for a query together with"):
        CrossEncoder(model="minilm")
    with pytest.raises(RetrievalError, match="needs a cross-encoder"):
        CrossEncoder(model=str(tmp_path / "vectors")).prepare()
    for given, message in [
        ({"batch": 0}, "batch cannot be 0; it takes a whole number of at least 1"),
        ({"batch": None}, "batch cannot be None"),
        ({"max_length": True}, "max_length cannot be True"),
    ]:
        with pytest.raises(RetrievalError, match=message):
            CrossEncoder(**given)
    with pytest.raises(RetrievalError, match="needs a bi-encoder"):
        LateInteraction(model="bert-mini-reranker")
    with pytest.raises(RetrievalError, match="query_prefix cannot be 1"):
        LateInteraction(query_prefix=1)


@pytest.mark.parametrize("model", ["minilm", "vectors"])
def test_a_model_of_another_kind_is_refused_with_its_line_in_the_recipe(minilm, tmp_path, model):
    put_model(tmp_path / "vectors")
    given = model if model == "minilm" else str(tmp_path / model)
    recipe = f'[[mode]]\nname = "r"\nkind = "cross-encoder"\nof = "lexical"\ntop = 5\nmodel = "{given}"\n'
    with pytest.raises(InputError) as refusal:
        plan_modes(parse_recipe(recipe, source="r.toml"))

    assert str(refusal.value).startswith(f"r.toml:6: mode 'r': model: the model {given} is a bi-encoder, which")


def test_what_a_recipe_overrides_is_said(minilm, bert_mini):
    assert "instead_of" not in CrossEncoder().settings | LateInteraction().settings
    assert {"max_length": 512} == CrossEncoder(max_length=64).settings["instead_of"]
    assert {"max_length": 256, "query_prefix": ""} == (
        LateInteraction(max_length=64, query_prefix="query: ").settings["instead_of"]
    )


# Late interaction


def test_late_interaction_puts_the_answer_first(minilm):
    assert "dog" == order_of(LateInteraction(), "can a dog stay in the car")[0]


def test_max_sim_adds_the_nearest_token_for_each_token_of_the_query(tmp_path):
    """The tiny model gives [CLS] the vector (1, 0), red (0, 1), green (0.6, 0.8), blue (0, -1)."""
    table = np.zeros((9, 2), np.float32)
    table[1:5] = [[1, 0], [0, 1], [3, 4], [0, -2]]  # lengths do not count
    put_model(tmp_path / "two", shape=("batch", "words", 2), table=table)
    documents = (Document("a", "blue"), Document("b", "green"), Document("c", "red blue"))
    with LateInteraction(model=str(tmp_path / "two")).open() as opened:
        reranked = opened.rerank("red", documents)

    assert (2, 1, 0) == reranked.order
    assert reranked.scores == pytest.approx([1 + 1, 1 + 0.8, 1 + 0])


def test_a_model_without_token_vectors_is_refused(tmp_path):
    put_model(tmp_path / "pooled", output="sentence_embedding", shape=("batch", 4))
    with pytest.raises(
        RetrievalError, match=r"gives one vector for a text \(sentence_embedding\) and none for each token"
    ):
        LateInteraction(model=str(tmp_path / "pooled")).prepare()


def test_memory_for_token_vectors_is_bounded(minilm, monkeypatch):
    monkeypatch.setattr("assay.retrieval.rerankers.late_interaction._KEPT", 30_000)  # one text of about 20 tokens
    with LateInteraction().open() as opened:
        first = opened.rerank("hot dogs", DOGS)

        assert opened.tokens._recent._size <= 30_000
        assert first == opened.rerank("hot dogs", DOGS)


@pytest.mark.slow
def test_late_interaction_on_cranfield_meets_its_figure(minilm, cranfield, tmp_path, monkeypatch):
    """nDCG@10 with binary grades, over the top 30 of bm25s: at least .39; bm25s itself has .387."""
    monkeypatch.setattr("assay.retrieval.rerankers.late_interaction._KEPT", 2**30)  # each abstract is read once
    queries = queries_of(cranfield)

    def documents():
        return read_documents(cranfield / "corpus.jsonl.gz")

    bm25s = make_retriever("bm25s")
    bm25s.index(documents, tmp_path / "bm25s")
    found = bm25s.search(tmp_path / "bm25s", queries, 100)
    task = Task(
        queries, 100, documents, lambda: open_texts(documents, tmp_path / "texts"), {"bm25s": found}, tmp_path / "own"
    )
    made = make_node("late-interaction", {"of": "bm25s", "top": 30}).run(task)
    qrels = read_qrels(cranfield / "qrels" / "test.tsv")
    binary = {query: {} for query in qrels.queries}
    for query, doc, rel in zip(qrels.query.tolist(), qrels.doc.tolist(), qrels.rel.tolist(), strict=True):
        binary[qrels.queries[query]][doc] = int(rel > 0)

    assert 0.39 <= evaluate(binary, made.run, ["nDCG@10"]).mean()["nDCG@10"]
