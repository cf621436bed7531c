"""Vector search with the real small model: relevance, reproducible bits, and resuming after a kill."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from assay.errors import MissingModelError, RetrievalError
from assay.formats.writing import run_as_bytes
from assay.heads import recall_of
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.embedding import Encoder, Encoding
from assay.retrieval.models import find_model
from assay.retrieval.observing import observe
from assay.retrieval.retrievers.approximate import Approximate
from assay.retrieval.retrievers.dense import Dense
from assay.tables import Run
from engines.small import corpus, ranking, search

ANSWERS = (
    Document("claim", "Report the accident to us within seven days and send photographs of the car."),
    Document("cake", "Beat the eggs with sugar until the mixture is pale.", "Sponge cake"),
    Document("dog", "Dogs need a walk at least twice a day."),
    Document("blank", "  \n", ""),
)


def test_documents_are_found_by_what_they_mean(minilm, tmp_path):
    queries = {"q": "my vehicle was damaged in a crash, what now?", "p": "how do I bake a dessert?", "none": " "}
    run = search(Dense(), ANSWERS, queries, tmp_path)

    assert ("p", "q") == run.queries
    assert "claim" == ranking(run, "q")[0]
    assert "cake" == ranking(run, "p")[0]
    assert {"claim", "cake", "dog"} == set(ranking(run, "q"))  # documents without text are not found


def test_a_vector_depends_on_its_text_alone(minilm):
    """In a batch, an int8 model would scale the activations of a text by those of the others."""
    texts = [document.whole for document in ANSWERS[:3]] + ["word " * 400]
    with Encoder(minilm) as encoder:
        together, backwards = encoder.encode(texts), encoder.encode(texts[::-1])
        alone = np.stack([encoder.encode([text])[0] for text in texts])

    assert together.tobytes() == backwards[::-1].tobytes() == alone.tobytes()
    assert np.ones(4) == pytest.approx(np.linalg.norm(alone, axis=1), abs=1e-6)


def test_long_texts_are_cut_at_the_length_that_is_set(minilm):
    with Encoder(minilm, Encoding(max_length=16)) as encoder:
        short, long = encoder.encode(["word " * 14, "word " * 14 + "and much more of other things"])

    assert short.tobytes() == long.tobytes()


def test_exact_search_is_what_comparing_all_pairs_gives(minilm, tmp_path):
    documents = tuple(Document(f"d{number:02}", f"{number} birds and {number % 7} fish") for number in range(40))
    queries = {f"q{number}": f"{number} animals" for number in range(35)}  # more than are compared at once
    run = search(Dense(), documents, queries, tmp_path, depth=5)
    with Encoder(minilm) as encoder:
        vectors = encoder.encode([document.text for document in documents]).astype(np.float64)
        asked = encoder.encode(list(queries.values())).astype(np.float64)
    for number, query in enumerate(queries):
        scores = vectors @ asked[number]
        best = sorted(range(40), key=lambda row: (-scores[row], row))[:5]

        assert [documents[row].id for row in best] == ranking(run, query)
        assert scores[best] == pytest.approx(run.score[run.query == run.queries.index(query)], abs=1e-12)


@pytest.mark.parametrize("engine", [Dense(), Approximate()], ids=["exact", "approximate"])
def test_texts_that_are_the_same_have_the_same_score_and_come_by_id(engine, minilm, tmp_path):
    documents = tuple(Document(f"d{number}", "the same text") for number in (3, 1, 2)) + ANSWERS
    run = search(engine, documents, {"q": "same text"}, tmp_path, depth=7)

    assert ["d3", "d2", "d1"] == ranking(run)[:3]
    assert 1 == len(set(run.score[:3].tolist()))


def test_equal_scores_are_cut_by_id_too(minilm, tmp_path):
    documents = tuple(Document(f"d{number * 37 % 100:02}", "the same text") for number in range(100))

    assert ["d99", "d98"] == ranking(search(Dense(), documents, {"q": "text"}, tmp_path, depth=2))


def test_what_a_query_finds_does_not_depend_on_the_others(minilm, tmp_path):
    queries = {f"q{number}": f"{number} dogs in a car" for number in range(5)}
    whole = search(Dense(), ANSWERS, queries, tmp_path)
    alone = Dense().search(tmp_path, {"q3": queries["q3"]}, 10)

    assert whole.score[whole.query == 3].tobytes() == alone.score.tobytes()


@pytest.mark.parametrize("engine", [Dense(), Approximate()])
def test_an_open_index_answers_query_after_query(engine, minilm, tmp_path):
    run = search(engine, ANSWERS, {"q": "dogs in a car"}, tmp_path)
    with engine.open(tmp_path) as searcher:
        nothing, found = searcher.find([Query("1", " "), Query("2", "dogs in a car")], 10)

    assert 0 == len(nothing.row)
    assert ranking(run) == searcher.ids[found.row].tolist()
    assert run.score.tobytes() == found.score.tobytes()


@pytest.mark.parametrize("engine", [Dense(), Approximate()])
def test_a_corpus_without_a_text_is_searched_in_vain(engine, minilm, tmp_path):
    assert 0 == len(search(engine, (Document("a", ""), Document("b", " ")), {"q": "dogs"}, tmp_path))


def test_what_was_encoded_once_is_not_encoded_again(fresh_cache, tmp_path):
    told = []
    search(Dense(), ANSWERS, {"q": "dog"}, tmp_path / "one")
    Dense().index(
        corpus((*ANSWERS, Document("new", "Cats do not."))), tmp_path / "two", lambda *step: told.append(step)
    )

    assert ("encoding", 1, 1) == told[-1]


CHILD = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from engines.test_dense import MANY
from engines.small import corpus
from assay.retrieval.retrievers.dense import Dense
def told(step, done, total):
    if step == "encoding" and done >= {after}:
        os.kill(os.getpid(), signal.SIGKILL)
Dense().index(corpus(MANY), Path({folder!r}), told)
"""
MANY = tuple(Document(f"d{number}", f"{number} birds, {number * 7 % 13} fish and a dog") for number in range(300))


def test_an_encoding_that_is_killed_goes_on_where_it_stopped_and_gives_the_same_bits(
    fresh_cache, tmp_path, monkeypatch
):
    code = CHILD.format(tests=str(Path(__file__).parents[1]), after=128, folder=str(tmp_path / "killed"))
    done = subprocess.run([sys.executable, "-c", code], check=False)
    told = []
    Dense().index(corpus(MANY), tmp_path / "killed", lambda *step: told.append(step))
    resumed = Dense().search(tmp_path / "killed", {"q": "birds"}, 300)
    monkeypatch.setenv("ASSAY_CACHE", str(fresh_cache.parent / "other"))
    (fresh_cache.parent / "other" / "models").mkdir(parents=True)
    (fresh_cache.parent / "other" / "models" / "minilm").symlink_to(fresh_cache / "models" / "minilm")
    whole = search(Dense(), MANY, {"q": "birds"}, tmp_path / "whole", depth=300)

    assert -signal.SIGKILL == done.returncode
    assert ("encoding", 0, 172) in told  # 128 of 300 were cached
    assert run_as_bytes(whole, "trec")[0] == run_as_bytes(resumed, "trec")[0]


def test_approximate_search_is_the_same_each_time_and_its_loss_can_be_measured(minilm, tmp_path):
    queries = {f"q{number}": f"{number} fish" for number in range(20)}
    thin = Approximate(connectivity=2, expansion_add=1, expansion_search=1)
    exact = search(Dense(), MANY, queries, tmp_path / "exact", depth=3)
    good = search(Approximate(), MANY, queries, tmp_path / "good", depth=3)
    poor = search(thin, MANY, queries, tmp_path / "poor", depth=3)
    again = search(thin, MANY, queries, tmp_path / "again", depth=3)

    assert run_as_bytes(poor, "trec")[0] == run_as_bytes(again, "trec")[0]
    assert recall_of(good, exact, 3).mean > 0.95 > recall_of(poor, exact, 3).mean >= recall_of(poor, exact, 3).p5
    assert (1.0, 1.0) == (recall_of(exact, exact, 3).mean, recall_of(exact, exact, 3).p5)


def test_approximate_search_observes_its_own_loss(minilm, tmp_path):
    """At depth 10, as a live system asks, and at the depth of the run."""
    thin = Approximate(connectivity=2, expansion_add=1, expansion_search=1)
    queries = {f"q{number:03}": f"{number} fish" for number in range(120)}
    run = search(thin, MANY, queries, tmp_path, depth=100)
    live, deep = observe(thin, tmp_path, queries, run, 100).recalls
    exact = thin.search_exactly(tmp_path, queries, 10)

    assert (10, 100) == (live.depth, live.queries)
    assert (100, 100) == (deep.depth, deep.queries)
    assert 0 <= live.p5 < live.mean < 1
    assert live.mean == pytest.approx(recall_of(thin.search(tmp_path, queries, 10), exact, 10).mean, abs=0.05)
    assert () == observe(Dense(), tmp_path, queries, run, 100).recalls
    assert (
        run_as_bytes(search(Dense(), MANY, queries, tmp_path / "exact", depth=10), "trec")[0]
        == (run_as_bytes(exact, "trec")[0])
    )


def test_approximate_search_may_be_the_first_thing_that_a_process_does(minilm, tmp_path):
    """onnxruntime crashes when it is loaded after usearch."""
    code = "from assay.retrieval.retrievers.approximate import Approximate; print(Approximate().settings['engine'])"
    done = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)

    assert (0, "usearch\n") == (done.returncode, done.stdout)


def test_the_recall_of_each_query_counts_once():
    """Half of the first query's two documents, and all of the second's one."""
    exact = Run.from_columns(["a", "a", "b"], ["1", "2", "3"], [2.0, 1.0, 1.0])
    found = Run.from_columns(["a", "b"], ["2", "3"], [1.0, 1.0])

    assert (2, 0.75, 0.525) == tuple(getattr(recall_of(found, exact, 2), name) for name in ("queries", "mean", "p5"))
    assert recall_of(found, Run.from_columns([], [], []), 2) is None


def test_what_both_have_found_has_the_same_score(minilm, tmp_path):
    exact = search(Dense(), MANY, {"q": "fish"}, tmp_path / "exact", depth=50)
    near = search(Approximate(), MANY, {"q": "fish"}, tmp_path / "near", depth=50)
    scores = dict(zip(exact.doc.tolist(), exact.score.tolist(), strict=True))

    assert all(scores[doc] == score for doc, score in zip(near.doc, near.score, strict=True) if doc in scores)
    assert len(scores.keys() & set(near.doc)) > 40


@pytest.mark.parametrize("engine", [Dense(), Approximate()], ids=["exact", "approximate"])
def test_a_corpus_may_be_empty_or_without_text(engine, minilm, tmp_path):
    assert 0 == len(search(engine, (), {"q": "dog"}, tmp_path / "none"))
    assert 0 == len(search(engine, (Document("a", " "),), {"q": "dog"}, tmp_path / "blank"))


def test_texts_and_ids_of_any_bytes_go_through(minilm, tmp_path):
    documents = (Document("\udce9\n", "caf\udce9 \x00 🛩️"), Document("x" * 3000, "dog " * 20_000))

    assert {"\udce9\n", "x" * 3000} == set(ranking(search(Dense(), documents, {"q": "\udc80 🛩️"}, tmp_path)))


def test_settings_name_the_model_and_all_that_decides_a_vector(minilm):
    settings = Dense(max_length=128).settings

    assert minilm.digest == settings["digest"]
    assert ("minilm", 128, "mean") == tuple(settings[name] for name in ("model", "max_length", "pooling"))
    assert {"onnxruntime", "tokenizers"} < settings.keys()


def test_a_model_of_ones_own_is_a_folder(minilm, fresh_cache, tmp_path):
    (tmp_path / "own").symlink_to(minilm.folder)
    own = Dense(model=str(tmp_path / "own"), query_prefix="query: ")
    search(Dense(), ANSWERS, {"q": "dog"}, tmp_path / "known")
    told = []
    own.index(corpus(ANSWERS), tmp_path / "index", lambda *step: told.append(step))

    assert "dog" == ranking(own.search(tmp_path / "index", {"q": "dog"}, 1))[0]
    assert "encoding" not in {step for step, *_ in told}  # the same model under another name reuses its vectors
    assert "query: " == own.settings["query_prefix"]


def test_a_model_that_is_not_there_is_said_plainly(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))

    assert find_model("minilm") is None
    with pytest.raises(MissingModelError, match=r"the model minilm is not installed\. Get it with: assay models get"):
        Dense().index(corpus(ANSWERS), tmp_path / "index")


def test_a_model_that_is_no_model_is_refused(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"no model")
    (tmp_path / "tokenizer.json").write_text("{}")

    with pytest.raises(RetrievalError, match=r"model\.onnx: not an ONNX model\. Export it again"):
        Dense(model=f"{tmp_path}/").index(corpus(ANSWERS), tmp_path / "index")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"model": "minilmm"}, "no model called 'minilmm'; did you mean 'minilm'?"),
        ({"model": 3}, "model cannot be 3; it takes a name or a folder."),
        ({"max_length": 2}, "max_length cannot be 2; it takes a whole number of at least 3 tokens."),
        ({"pooling": "sum"}, "pooling cannot be 'sum'; it takes mean, first, last, max."),
        ({"dimensions": 0}, "dimensions cannot be 0; it takes a whole number of at least 1."),
        ({"normalise": "no"}, "normalise cannot be 'no'; it takes true or false."),
        (
            {"model": "bert-mini-reranker"},
            "the model bert-mini-reranker is a cross-encoder, which gives a score for a ",
        ),
        ({"connectivity": 1}, "connectivity cannot be 1; it takes a whole number of at least 2."),
    ],
)
def test_what_cannot_be_set_is_refused(settings, words):
    with pytest.raises(RetrievalError) as refusal:
        Approximate(**settings)

    assert str(refusal.value).startswith(words)
