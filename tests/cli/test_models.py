"""assay models, as a user runs it."""

from __future__ import annotations

import json
import re

import pytest

from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems
from engines.tiny_models import put_json, put_model

SCHEMA = json.loads((DOCS / "schemas" / "models-1.json").read_text(encoding="utf-8"))


@pytest.fixture
def place(tmp_path):
    """A separate environment without a network."""
    return {"ASSAY_CACHE": str(tmp_path / "cache"), "ASSAY_MODELS": "", "ASSAY_OFFLINE": "1"}


def test_the_list_says_what_there_is_and_what_is_here(place):
    done = assay("models", "list", env={**place, "COLUMNS": "120"})

    assert 0 == done.returncode
    assert (
        "minilm              all-MiniLM-L6-v2 in 8 bits: small and fast, English (default)\n"
        "                    bi-encoder, 24 MB, 384 dimensions, texts up to 256 tokens, Apache-2.0; not installed\n"
    ) == "".join(done.stdout.splitlines(keepends=True)[:2])


def test_the_list_as_json(place):
    found = json.loads(assay("models", "list", "--format", "json", env=place).stdout)

    assert [] == list(problems(found, SCHEMA))
    assert ["minilm"] == [model["name"] for model in found["models"] if model["default"]]
    assert {
        "minilm": "bi-encoder",
        "minilm-fp32": "bi-encoder",
        "gte-small": "bi-encoder",
        "bert-mini-reranker": "cross-encoder",
        "smollm2-135m": "language model",
    } == {model["name"]: model["kind"] for model in found["models"]}
    assert {"not here"} == {model["state"] for model in found["models"]}


def test_offline_it_says_what_to_do_and_exits_with_2(place):
    done = assay("models", "get", env=place)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith("Error: the model minilm is not installed and could not be fetched:\n")
    assert "assay models get minilm --from FOLDER." in done.stderr


def test_path_fetches_nothing(place, tmp_path):
    done = assay("models", "path", "gte-small", env=place)

    assert 2 == done.returncode
    assert (
        f"Error: the model gte-small is not installed (its folder is {tmp_path}/cache/models/gte-small). "
        "Get it with: assay models get gte-small.\n"
    ) == done.stderr


def test_a_name_that_is_not_known(place):
    done = assay("models", "get", "gte-smal", env=place)

    assert 2 == done.returncode
    assert "no model called 'gte-smal'; did you mean 'gte-small'?" in done.stderr


def test_get_path_and_a_damaged_file_with_the_real_model(tmp_path):
    online = {"ASSAY_CACHE": str(tmp_path / "one"), "ASSAY_MODELS": "", "ASSAY_OFFLINE": ""}
    got = assay("models", "get", env=online)
    if got.returncode:
        pytest.skip(f"needs the default model, which could not be fetched: {got.stderr}")
    folder = tmp_path / "one" / "models" / "minilm"
    other = {**online, "ASSAY_CACHE": str(tmp_path / "two"), "ASSAY_OFFLINE": "1"}
    copied = assay("models", "get", "minilm", "--from", folder, env=other)
    (folder / "tokenizer.json").write_bytes(b"{}")
    damaged = assay("models", "path", env=online)
    again = assay("models", "get", env=online)

    listed = json.loads(assay("models", "list", "--format", "json", env=online).stdout)

    assert [] == list(problems(listed, SCHEMA))
    assert ["minilm"] == [model["name"] for model in listed["models"] if model["state"] == "here"]
    assert (f"minilm: {folder}\n", "") == (got.stdout, got.stderr)
    assert f"minilm: {tmp_path}/two/models/minilm\n" == copied.stdout
    assert damaged.stderr.startswith("Error: the model minilm is damaged ")
    assert f"minilm: {folder}\n" == again.stdout
    assert f"{folder}\n" == assay("models", "path", env=online).stdout


def test_a_folder_that_is_not_there_is_told_even_where_the_model_is(tmp_path):
    done = assay("models", "get", "minilm", "--from", tmp_path / "nowhere")

    assert 2 == done.returncode
    assert "no such folder to get the model minilm from" in done.stderr


# Models of one's own


@pytest.fixture
def own(tmp_path):
    """A folder with a model and its configuration."""
    pytest.importorskip("onnx")
    pytest.importorskip("tokenizers")
    folder = put_model(tmp_path / "colours")
    put_json(folder / "1_Pooling" / "config.json", {"pooling_mode_lasttoken": True})
    put_json(folder / "config_sentence_transformers.json", {"prompts": {"query": "query: "}})
    return folder


def test_a_folder_is_added_listed_and_shown(place, own, tmp_path):
    added = assay("models", "add", own, env=place)
    listed = assay("models", "list", env={**place, "COLUMNS": "300"}).stdout
    as_json = json.loads(assay("models", "list", "--format", "json", env=place).stdout)
    shown = assay("models", "show", "colours", env=place).stdout.splitlines()

    assert f"colours: bi-encoder in {tmp_path}/cache/models/colours\n" == added.stdout
    assert listed.endswith(
        f"colours             added from the folder {own}\n                    bi-encoder, 2 kB; installed\n"
    )
    assert [] == list(problems(as_json, SCHEMA))
    assert ("colours", "last") == (as_json["models"][-1]["name"], as_json["models"][-1]["pooling"])
    assert f"{as_json['models'][-1]['digest']}" in shown[6]
    assert [
        "colours: bi-encoder",
        f"  folder           {tmp_path}/cache/models/colours",
        "  file             model.onnx (n kB)",
        "  file             tokenizer.json (n kB)",
        "  file             1_Pooling/config.json (n kB)",
        "  file             config_sentence_transformers.json (n kB)",
        "  max_length       256 (default)",
        '  pooling          "last" (1_Pooling/config.json)',
        '  query_prefix     "query: " (config_sentence_transformers.json)',
        '  document_prefix  "" (default)',
        "  normalise        true (default)",
    ] == [re.sub(r"\d kB", "n kB", line) for line in shown if "digest" not in line]


def test_a_folder_can_be_shown_without_adding_it(place, own):
    assert assay("models", "show", own, env=place).stdout.startswith(f"{own}: bi-encoder\n  folder           {own}\n")


def test_a_folder_that_is_not_there_cannot_be_added(place, tmp_path):
    done = assay("models", "add", tmp_path / "none", env=place)

    assert (2, "") == (done.returncode, done.stdout)
    assert (
        f"Error: {tmp_path}/none: no such folder. A model of one's own is a folder with model.onnx and tokenizer.json; one "
        "on the hub is ORGANISATION/NAME@REVISION.\n"
    ) == done.stderr
