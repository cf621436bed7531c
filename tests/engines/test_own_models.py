"""Models of one's own: every file counts, any usual input and output works, and what does not fit is refused.

The tiny models take a text apart at blanks, put [CLS] before it, and look up each word in a table (tiny_models.py).
"""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import MissingModelError, RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.embedding import Encoder, choose_encoding
from assay.retrieval.models import find_model, get_model
from assay.retrieval.retrievers.dense import Dense
from engines.small import corpus, ranking, search
from engines.tiny_models import TABLE, TEXT_INPUTS, put_json, put_model, row

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

COLOURS = (Document("r", "red"), Document("g", "green"), Document("b", "blue"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ASSAY_MODELS", raising=False)


def vector(folder, text, **given):
    """The vector of a text, not normalised."""
    files = get_model(str(folder))
    chosen = choose_encoding(files, {"normalise": False, **given}, given.get("dimensions"))
    with Encoder(files, chosen.encoding) as encoder:
        return encoder.encode([text])[0].tolist()


def refusal(folder, **settings):
    with pytest.raises(RetrievalError) as refused:
        Dense(model=str(folder), **settings).index(corpus(COLOURS), folder / "index")
    return str(refused.value)


# Weights outside model.onnx


@pytest.mark.parametrize("external", ["model.onnx_data", "model.onnx.data", "weights.bin"])
def test_weights_in_another_file_count_in_the_digest_so_vectors_are_never_stale(tmp_path, external):
    """The same model.onnx with other weights beside it: before, both had one digest and shared their vectors."""
    folder = put_model(tmp_path / "model", external=external)
    graph, digest = (folder / "model.onnx").read_bytes(), find_model(str(folder)).digest
    first = search(Dense(model=str(folder)), COLOURS, {"q": "green"}, tmp_path / "index")

    put_model(tmp_path / "model", external=external, table=TABLE[::-1].copy())
    second = search(Dense(model=str(folder)), COLOURS, {"q": "green"}, tmp_path / "index")
    fresh = search(Dense(model=str(folder)), COLOURS, {"q": "green"}, tmp_path / "fresh")

    assert graph == (folder / "model.onnx").read_bytes()
    assert digest != find_model(str(folder)).digest
    assert first.score.tobytes() != second.score.tobytes() == fresh.score.tobytes()


def test_weights_that_are_missing_or_elsewhere_are_refused(tmp_path):
    folder = put_model(tmp_path, external="weights.bin")
    (folder / "weights.bin").unlink()

    assert refusal(folder) == (
        f"{folder}/model.onnx: its weights in weights.bin are missing. Copy that file beside it."
    )
    data = (folder / "model.onnx").read_bytes()
    (folder / "model.onnx").write_bytes(data.replace(b"weights.bin", b"../eights.b"))
    assert "its weights are in '../eights.b', outside its folder" in refusal(folder)


@pytest.mark.parametrize("cut", [0, 1, 100, -1])
def test_a_file_that_is_cut_off_is_not_a_model(tmp_path, cut):
    model = put_model(tmp_path) / "model.onnx"
    model.write_bytes(model.read_bytes()[:cut])

    assert f"{model}: not an ONNX model. Export it again, or copy it again if it was cut off." == refusal(tmp_path)


# Inputs and outputs


@pytest.mark.parametrize("integer", ["INT64", "INT32"])
def test_the_inputs_may_be_any_of_four_in_either_width(tmp_path, integer):
    """position_ids are added to the states here: 0, 1 and 2 for the three tokens, 1 on average."""
    plain = (row("[CLS]") + row("red") + row("blue")) / 3
    every = (*TEXT_INPUTS, "token_type_ids", "position_ids")

    assert plain.tolist() == vector(put_model(tmp_path / "ids", inputs=["input_ids"], integer=integer), "red blue")
    assert plain.tolist() == vector(put_model(tmp_path / "two", integer=integer), "red blue")
    assert (plain + 1).tolist() == vector(put_model(tmp_path / "all", inputs=every, integer=integer), "red blue")


def test_an_input_that_a_text_does_not_have_is_refused(tmp_path):
    folder = put_model(tmp_path, inputs=[*TEXT_INPUTS, "pixels", "past.0.key"])

    assert refusal(folder) == (
        f"{folder}/model.onnx: the model needs the input pixels and past.0.key, which a text does not have. Supported: "
        "input_ids, attention_mask, token_type_ids, position_ids."
    )


@pytest.mark.parametrize(
    ("pooling", "expected"),
    [
        ("mean", (row("[CLS]") + row("red") + row("blue")) / 3),
        ("first", row("[CLS]")),
        ("last", row("blue")),
        ("max", np.maximum(np.maximum(row("[CLS]"), row("red")), row("blue"))),
    ],
)
def test_each_pooling_by_hand(tmp_path, pooling, expected):
    assert expected.tolist() == vector(put_model(tmp_path), "red blue", pooling=pooling)


def test_a_pooled_output_is_used_as_it_is(tmp_path):
    """The tiny model adds the states."""
    folder = put_model(tmp_path, output="sentence_embedding", shape=("batch", 4))

    assert (row("[CLS]") + row("red") + row("blue")).tolist() == vector(folder, "red blue")
    assert "in the model" == Dense(model=str(folder)).settings["pooling"]
    assert "g" == ranking(search(Dense(model=str(folder)), COLOURS, {"q": "green"}, tmp_path / "index"))[0]
    assert refusal(folder, pooling="mean") == (
        f"pooling cannot be set for the model {folder}: it gives one vector for a text (sentence_embedding) and none for "
        "each token."
    )


@pytest.mark.parametrize(
    ("output", "shape", "words"),
    [
        (
            "logits",
            ("batch", 1),
            "is a cross-encoder, which gives a score for a query together with a document. Vector ",
        ),
        ("output", ("batch", 2), "is a cross-encoder"),
        (
            "logits",
            ("batch", "words", 4),
            "has no output that can be used, only logits (any, any, 4). Vector search needs",
        ),
    ],
)
def test_an_output_that_is_no_vector_is_refused(tmp_path, output, shape, words):
    assert words in refusal(put_model(tmp_path, output=output, shape=shape))


def test_what_onnxruntime_refuses_is_an_error_that_says_what_to_try(tmp_path, capfd):
    """Words beyond the table, as positions beyond those of a model."""
    folder = put_model(tmp_path, table=TABLE[:3])

    assert "cannot run the model on 2 tokens: " in refusal(folder)
    assert refusal(folder).endswith("If the model takes shorter texts only, set max_length, which is 256.")
    assert "" == capfd.readouterr().err  # the library's own message, in colour and with a time, is not shown as well


# How vectors are used


def test_dimensions_are_cut_before_the_length_is_made_one(tmp_path):
    folder = put_model(tmp_path)
    cut = ((row("[CLS]") + row("red")) / 2)[:2].astype(np.float64)
    with Dense(model=str(folder), dimensions=2).encoder() as encoder:
        found = encoder.encode(["red"])[0]

    assert (cut / np.linalg.norm(cut)).astype(np.float32).tolist() == found.tolist()
    assert f"dimensions cannot be 5: the vectors of {folder} have 4." == refusal(folder, dimensions=5)


def test_without_normalisation_the_score_is_the_dot_product(tmp_path):
    folder = put_model(tmp_path)
    dense = Dense(model=str(folder), normalise=False, pooling="last")
    documents = tuple(Document(word, word) for word in ("red", "green", "blue", "big", "small"))
    run = search(dense, documents, {"q": "big"}, tmp_path / "index", depth=3)
    products = {document.id: float(row(document.id) @ row("big")) for document in documents}

    assert "dot product" == dense.settings["similarity"]
    assert sorted(products, key=products.__getitem__, reverse=True)[:3] == ranking(run)
    assert [products[doc] for doc in ranking(run)] == run.score.tolist()


# The configuration of a model


def as_sentence_transformers(folder, **settings):
    """A folder in the layout of sentence-transformers, with the ONNX file in onnx/."""
    put_model(folder, file="onnx/model.onnx", external=settings.get("external"))
    put_json(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
            *settings.get("modules", ()),
        ],
    )
    pooling = {"word_embedding_dimension": 4, f"pooling_mode_{settings.get('pooling', 'cls_token')}": True}
    put_json(folder / "1_Pooling" / "config.json", {**pooling, "include_prompt": settings.get("include_prompt", True)})
    put_json(folder / "sentence_bert_config.json", {"max_seq_length": 4, "do_lower_case": True})
    put_json(
        folder / "config_sentence_transformers.json",
        {
            "prompts": {"query": "query: ", "passage": "passage: "},
            "similarity_fn_name": settings.get("similarity", "dot"),
        },
    )
    return folder


def test_a_folder_says_itself_how_its_model_is_used(tmp_path):
    folder = as_sentence_transformers(tmp_path / "model")
    dense = Dense(model=str(folder))
    told = dense.settings

    assert ("first", 4, "query: ", "passage: ") == tuple(
        told[name] for name in ("pooling", "max_length", "query_prefix", "document_prefix")
    )
    assert (False, "dot product", True) == (told["normalise"], told["similarity"], told["lower_case"])
    assert "instead_of" not in told
    assert row("[CLS]").tolist() == vector(folder, "RED")
    assert row("red").tolist() == vector(folder, "RED", pooling="last")  # in lower case


def test_what_the_recipe_overrides_is_said(tmp_path):
    folder = as_sentence_transformers(tmp_path / "model")
    told = Dense(model=str(folder), pooling="mean", max_length=4, query_prefix="", normalise=True).settings

    assert ("mean", "", True) == (told["pooling"], told["query_prefix"], told["normalise"])
    assert {"pooling": "first", "query_prefix": "query: ", "normalise": False} == told["instead_of"]


def test_the_configuration_and_all_weights_count_in_the_digest(tmp_path):
    folder = as_sentence_transformers(tmp_path / "model", external="model.onnx_data")
    first = find_model(str(folder))
    put_json(folder / "sentence_bert_config.json", {"max_seq_length": 5})

    assert (
        "onnx/model.onnx",
        "tokenizer.json",
        "onnx/model.onnx_data",
        "1_Pooling/config.json",
        "config_sentence_transformers.json",
        "modules.json",
        "sentence_bert_config.json",
    ) == first.files
    assert first.digest != find_model(str(folder)).digest
    assert 5 == find_model(str(folder)).settings.max_length


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (
            {"pooling": "weightedmean_tokens"},
            "wants weightedmean_tokens pooling (1_Pooling/config.json), which is not sup",
        ),
        (
            {"modules": [{"path": "2_Dense", "type": "sentence_transformers.models.Dense"}]},
            "has steps that its ONNX file lacks: Dense (modules.json). Export it with its pooled output",
        ),
        ({"include_prompt": False}, "has steps that its ONNX file lacks: pooling without the prompt (1_Pooling/config"),
    ],
)
def test_what_cannot_be_done_as_the_model_wants_it_is_refused_unless_a_pooling_is_set(tmp_path, settings, words):
    folder = as_sentence_transformers(tmp_path / "model", **settings)

    assert words in refusal(folder)
    assert "mean" == Dense(model=str(folder), pooling="mean").settings["pooling"]


def test_a_normalize_module_counts_more_than_the_similarity(tmp_path):
    modules = [{"path": "2_Normalize", "type": "sentence_transformers.models.Normalize"}]

    assert find_model(str(as_sentence_transformers(tmp_path, modules=modules))).settings.normalise


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"tokenizer_config.json": {"model_max_length": 512}}, 512),
        ({"tokenizer_config.json": {"model_max_length": 10**30}, "config.json": {"max_position_embeddings": 128}}, 128),
        ({"config.json": {"max_position_embeddings": 514, "model_type": "roberta"}}, 512),
        ({"config.json": {"max_position_embeddings": "many"}}, None),
        ({"sentence_roberta_config.json": {"max_seq_length": 64}, "config.json": {"max_position_embeddings": 514}}, 64),
        ({"modules.json": {"no": "list"}, "config_sentence_transformers.json": ["no object"]}, None),
    ],
)
def test_the_length_comes_from_the_first_file_that_knows_it(tmp_path, files, expected):
    put_model(tmp_path)
    for name, value in files.items():
        put_json(tmp_path / name, value)

    assert expected == find_model(str(tmp_path)).settings.max_length


def test_a_configuration_that_is_not_json_is_named(tmp_path):
    put_model(tmp_path)
    (tmp_path / "modules.json").write_text("[")

    assert f"{tmp_path}/modules.json: cannot be read: not JSON. Repair or remove this file." == refusal(tmp_path)


# Layouts


def test_of_several_models_in_a_folder_one_is_named_by_its_file(tmp_path):
    put_model(tmp_path, file="onnx/model_int8.onnx", table=-TABLE)
    put_model(tmp_path, file="onnx/model_fp16.onnx")

    assert refusal(tmp_path) == (
        f"{tmp_path}: several models and no model.onnx: onnx/model_fp16.onnx, onnx/model_int8.onnx. Add one of them to the "
        "path."
    )
    assert (-row("red")).tolist() == vector(tmp_path / "onnx" / "model_int8.onnx", "red", pooling="last")


def test_a_folder_without_a_tokenizer_or_a_model_says_what_it_lacks(tmp_path):
    put_model(tmp_path / "model")
    (tmp_path / "model" / "tokenizer.json").unlink()
    (tmp_path / "empty").mkdir()

    assert refusal(tmp_path / "model").startswith(
        f"{tmp_path}/model/model.onnx: tokenizer.json is missing. The folder "
    )
    with pytest.raises(MissingModelError, match=r"empty: no model here\. The folder needs model\.onnx \(or onnx/model"):
        get_model(str(tmp_path / "empty"))
