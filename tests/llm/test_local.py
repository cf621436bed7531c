"""A real, tiny language model from a GGUF file, in a process of its own."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import httpx
import pytest

from assay.errors import LanguageModelError, MissingModelError
from assay.inputs.documents import Document
from assay.llm.answers import AnswerStore, Question
from assay.llm.local import local_server
from assay.llm.service import ModelFile, Service
from assay.retrieval.models import get_model
from assay.retrieval.rerankers.llm_listwise import Listwise
from assay.retrieval.rerankers.llm_pointwise import Pointwise

NAME = "smollm2-135m"
SHOES = [
    Document("blue", "Blue cotton shirt for men"),
    Document("hose", "Garden hose, 20 m"),
    Document("red", "Red leather shoes for women"),
]


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """The model, fetched once for all workers of a session."""
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if root.name.startswith("popen-") else root) / "assay-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(folder))
        patch.delenv("ASSAY_OFFLINE", raising=False)
        try:
            return get_model(NAME).model
        except MissingModelError as error:
            pytest.skip(f"needs the model {NAME}, which could not be fetched: {error}")


@pytest.fixture
def cache(model, tmp_path, monkeypatch) -> Path:
    """A cache with the model and no answers."""
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / NAME).symlink_to(model.parent)
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path))
    return tmp_path


def answers(model: Path, folder: Path, prompts: list[str]) -> list[object]:
    """The answers to the prompts, asked one after another."""
    file = ModelFile(NAME, model, "digest")
    with Service(context=1024).connect(AnswerStore(folder), file) as client:
        return [client.ask(Question("m", prompt, 4, alternatives=5)).answer.tokens for prompt in prompts]


@pytest.mark.slow
def test_an_answer_does_not_depend_on_what_was_asked_before(model, tmp_path):
    """Engines remember the prompt before, which changes the last digits; this one must not."""
    first, second = "Is a shirt blue? Answer yes or no.", "Is a shirt blue? Answer no or yes, please."

    one = answers(model, tmp_path / "1", [first, second])
    other = answers(model, tmp_path / "2", [second, first])
    assert one == other[::-1]
    assert 5 == len(one[0][0].alternatives)


@pytest.mark.slow
def test_both_kinds_rerank_with_the_real_model_and_print_nothing(cache, capfd):
    with Pointwise().open() as opened:
        graded = opened.rerank("red shoes", SHOES)
    with Listwise(answer_tokens=20).open() as opened:
        ordered = opened.rerank("red shoes", SHOES)

    for found in (graded, ordered):
        assert [0, 1, 2] == sorted(found.order)
        assert found.work.tokens_in > 50 * found.work.requests
    assert sorted(graded.scores, reverse=True) == list(graded.scores)
    assert 0 == graded.work.repaired  # there were probabilities, though this model never says a digit
    assert ("", "") == capfd.readouterr()
    assert {"xllamacpp", NAME} <= {
        graded_by for graded_by in Pointwise().settings.values() if isinstance(graded_by, str)
    }
    with Pointwise().open() as opened:
        assert graded.order == opened.rerank("red shoes", SHOES).order  # from the answers that were kept


@pytest.mark.slow
def test_tags_of_the_model_in_a_text_are_only_text(model, tmp_path):
    """A tag is one token to the model, and ends our part of the conversation; what `as_data` makes of it is several."""
    from assay.llm.prompts import as_data

    with Service(context=1024).connect(AnswerStore(tmp_path), ModelFile(NAME, model, "d")) as client:
        raw, shown = (
            client.ask(Question("m", text, 1)).answer.tokens_in
            for text in ("a <|im_end|> b", as_data("a <|im_end|> b", 100))
        )
    assert raw + 5 <= shown


@pytest.mark.slow
def test_others_on_this_machine_cannot_ask_and_nothing_runs_on(model):
    with local_server(model, context=512) as server:
        asked = httpx.post(f"{server.address}/chat/completions", json={"messages": []}, trust_env=False)

        assert 401 == asked.status_code
        assert "" == server.ending()
    assert server.ending()
    with pytest.raises(httpx.ConnectError):
        httpx.get(server.address, trust_env=False)


@pytest.mark.slow
def test_a_prompt_that_is_too_long_for_the_model(model, tmp_path):
    service, file = Service(context=256), ModelFile(NAME, model, "d")
    with pytest.raises(LanguageModelError) as caught, service.connect(AnswerStore(tmp_path), file) as client:
        client.ask(Question("m", "word " * 1000, 4))

    assert "exceeds the available context size (256 tokens)" in str(caught.value)
    assert "If the prompt is too long for the model, lower `max_characters`." in str(caught.value)


@pytest.mark.slow
def test_a_process_that_is_killed(model, tmp_path):
    with Service(context=512).connect(AnswerStore(tmp_path), ModelFile(NAME, model, "d")) as client:
        client.ask(Question("m", "Is it?", 1))
        os.kill(_engine(), signal.SIGKILL)
        with pytest.raises(LanguageModelError, match="the program that runs the model was ended by SIGKILL"):
            client.ask(Question("m", "Is it not?", 1))


def _engine() -> int:
    """The process that runs the model."""
    for _ in range(50):
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                pid, parent = entry.parent.name, entry.read_text().rpartition(")")[2].split()[1]
                if int(parent) == os.getpid() and b"assay.llm.engine" in (entry.parent / "cmdline").read_bytes():
                    return int(pid)
            except OSError:
                continue
        time.sleep(0.1)
    pytest.fail("no process runs the model")


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "bad.gguf"
    path.write_bytes(b"hello")
    with pytest.raises(LanguageModelError) as caught, Pointwise(model=str(path)).open():
        pass

    assert str(caught.value).startswith(f"{path}: the model cannot be loaded: ")
    assert str(caught.value).endswith(
        "Is it a whole GGUF file, of an architecture that llama.cpp knows, and does it fit into memory?"
    )


def test_a_model_that_is_no_language_model(monkeypatch):
    monkeypatch.setattr("assay.retrieval.prompted.find_model", lambda name: _NoLanguageModel)
    with pytest.raises(LanguageModelError) as caught:
        Pointwise(model="minilm").file()

    assert "minilm is not a language model; the default is smollm2-135m." == str(caught.value)


class _NoLanguageModel:
    model = Path("model.onnx")
