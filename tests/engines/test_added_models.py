"""Models that a user adds, from a folder or from a hub: known by name, checked before use, fetched again when damaged."""

from __future__ import annotations

import shutil

import pytest

from assay.errors import MissingModelError, RetrievalError
from assay.inputs.documents import Document
from assay.retrieval.models import add_model, added_models, find_model, get_model, model_state
from assay.retrieval.retrievers.dense import Dense
from cli.command import assay
from engines.local_hub import REVISION, serving
from engines.small import ranking, search
from engines.tiny_models import put_json, put_model

pytest.importorskip("onnxruntime")
pytest.importorskip("onnx")

COLOURS = (Document("r", "red"), Document("g", "green"), Document("b", "blue"))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ASSAY_MODELS", raising=False)
    monkeypatch.delenv("ASSAY_OFFLINE", raising=False)
    return tmp_path / "cache"


def refusal(*given, **options) -> str:
    with pytest.raises(RetrievalError) as refused:
        add_model(*given, **options)
    return str(refused.value)


# From a folder


def test_a_model_that_was_added_is_known_by_its_name(cache, tmp_path):
    put_json(put_model(tmp_path / "own", external="weights.bin") / "sentence_bert_config.json", {"max_seq_length": 9})
    (tmp_path / "own" / "README.md").write_text("not a file of the model")
    files = add_model(str(tmp_path / "own"), "mine")
    shutil.rmtree(tmp_path / "own")

    assert ["added.json", "model.onnx", "sentence_bert_config.json", "tokenizer.json", "weights.bin"] == sorted(
        path.name for path in files.folder.iterdir()
    )
    assert files == find_model("mine") == get_model("mine")
    assert ["mine"] == [model.name for model in added_models()]
    assert "g" == ranking(search(Dense(model="mine"), COLOURS, {"q": "green"}, tmp_path / "index"))[0]
    assert 9 == Dense(model="mine").settings["max_length"]


def test_a_damaged_file_of_an_added_model_is_not_used_and_is_fetched_again(cache, tmp_path):
    put_model(tmp_path / "own")
    files = add_model(str(tmp_path / "own"), "mine")
    files.tokenizer.write_bytes(files.tokenizer.read_bytes() + b" ")

    assert ("damaged", None) == (model_state("mine"), find_model("mine"))
    assert files == get_model("mine")


def test_adding_under_the_same_name_replaces_the_model(cache, tmp_path):
    first = add_model(str(put_model(tmp_path / "own")), "mine")
    put_model(tmp_path / "own", shape=("batch", 4), output="sentence_embedding")
    second = add_model(str(tmp_path / "own"), "mine")

    assert first.digest != second.digest == find_model("mine").digest


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("minilm", "minilm is the name of a supported model. Choose another one with --name, such as my-model."),
        ("a/b", "a/b cannot be the name of a model. Choose another one with --name, such as my-model."),
        (".hidden", ".hidden cannot be the name of a model."),
    ],
)
def test_some_names_are_taken(tmp_path, name, words):
    assert refusal(str(tmp_path), name).startswith(words)


def test_what_is_no_model_is_not_added(cache, tmp_path):
    put_model(tmp_path / "own", output="logits", shape=("batch", "words", 4))

    assert "own/model.onnx: the model has no output that can be used, only logits" in refusal(
        str(tmp_path / "own"), "m"
    )
    assert [] == [path.name for path in (cache / "models").iterdir() if not path.name.endswith(".lock")]


def test_a_cross_encoder_is_added_as_one_and_vector_search_refuses_it(tmp_path):
    put_model(tmp_path / "own", output="logits", shape=("batch", 1))

    assert "cross-encoder" == add_model(str(tmp_path / "own"), "judge").kind
    with pytest.raises(
        RetrievalError, match=r"the model judge is a cross-encoder, which gives a score for a query tog"
    ):
        Dense(model="judge").settings  # noqa: B018


# From the hub


@pytest.fixture
def revision(tmp_path):
    """The files of a revision of org/tiny, as a hub has them: two models, one with its weights in another file."""
    folder = tmp_path / "hub" / "org" / "tiny" / "resolve" / REVISION
    put_model(folder, file="onnx/model.onnx", external="model.onnx_data")
    put_model(folder, file="onnx/model_int8.onnx")
    put_json(folder / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    (folder / "pytorch_model.bin").write_bytes(b"not needed")
    return folder


@pytest.fixture
def hub(tmp_path, revision, monkeypatch):
    pytest.importorskip("huggingface_hub")
    with serving(tmp_path / "hub") as address:
        yield address


def test_of_a_repository_only_the_files_that_count_are_downloaded(hub, revision):
    files = add_model("org/tiny", "mine", endpoint=hub)
    (added,) = added_models()

    assert ("onnx/model.onnx", "tokenizer.json", "onnx/model.onnx_data", "1_Pooling/config.json") == files.files
    assert {*files.files, "added.json"} == {
        path.relative_to(files.folder).as_posix() for path in files.folder.rglob("*") if path.is_file()
    }
    assert "last" == files.settings.pooling
    assert (f"org/tiny@{REVISION}", "mit") == (added.origin, added.licence)


def test_a_file_may_be_chosen_and_must_be_where_no_name_is_usual(hub, revision):
    assert (
        "onnx/model_int8.onnx" == add_model("org/tiny@v1", "small", file="onnx/model_int8.onnx", endpoint=hub).files[0]
    )
    assert "it has no file onnx/none.onnx." in refusal("org/tiny", "m", file="onnx/none.onnx", endpoint=hub)

    (revision / "onnx" / "model.onnx").rename(revision / "onnx" / "model_fp32.onnx")
    assert (
        "it has several models and no model.onnx: onnx/model_fp32.onnx, onnx/model_int8.onnx. Choose one: assay models add "
        "org/tiny --file onnx/model_fp32.onnx."
    ) in refusal("org/tiny", "m", endpoint=hub)


def test_a_recipe_may_name_a_revision_on_the_hub(hub, cache, tmp_path):
    """In a process of its own, as huggingface_hub reads HF_ENDPOINT when it is imported."""
    name, online = "org/tiny@v1", {"ASSAY_CACHE": str(cache), "HF_ENDPOINT": hub, "ASSAY_OFFLINE": ""}

    assert find_model(name) is None
    with pytest.raises(
        MissingModelError, match=r"org/tiny@v1 is not installed\. Get it with: assay models get org/tiny@v1"
    ):
        Dense(model=name).settings  # noqa: B018

    done = assay("models", "get", name, env=online)

    assert (f"{name}: {cache}/models/org--tiny@v1\n", "") == (done.stdout, done.stderr)
    assert "g" == ranking(search(Dense(model=name), COLOURS, {"q": "green"}, tmp_path / "index"))[0]
    assert "last" == Dense(model=name).settings["pooling"]


@pytest.mark.parametrize(
    ("place", "lost", "words"),
    [
        ("org/none", None, "org/none on the model hub: no such re"),
        ("org/tiny@v9", None, "org/tiny@v9 on the model hub: no such revision."),
        (
            "org/tiny",
            "onnx",
            "it has no ONNX file. Export the model (optimum-cli export onnx --model org/tiny FOLDER) and",
        ),
        ("org/tiny", "tokenizer.json", "it has no file tokenizer.json, which onnx/model.onnx needs."),
        ("org/tiny", "onnx/model.onnx_data", "it has no file onnx/model.onnx_data, which onnx/model.onnx needs."),
    ],
)
def test_what_a_repository_lacks_is_said(hub, revision, cache, place, lost, words):
    if lost is not None:
        path = revision / lost
        shutil.rmtree(path) if path.is_dir() else path.unlink()

    assert words in refusal(place, "m", endpoint=hub)
    assert [] == [path.name for path in (cache / "models").iterdir() if not path.name.endswith(".lock")]


def test_offline_the_hub_is_not_asked(hub, monkeypatch):
    monkeypatch.setenv("ASSAY_OFFLINE", "1")

    assert "org/tiny on the model hub: skipped because ASSAY_OFFLINE is set." in refusal("org/tiny", "m", endpoint=hub)
