"""Models: complete and checked or not installed at all, from each kind of source; wrong files are rejected."""

from __future__ import annotations

import hashlib
import io
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path

import pytest
from msgspec.structs import replace

from assay.errors import MissingModelError, RetrievalError
from assay.retrieval import model_sources
from assay.retrieval.base import silent
from assay.retrieval.model_sources import Folder, Hub, NpmPackage, Part, Pinned, SourceError, Wheel
from assay.retrieval.models import MODELS, Model, find_model, get_model, model_state
from engines.local_hub import REVISION, EndlessHub, serving

MODEL, TOKENIZER = b"the weights" * 1000, b'{"the": "tokenizer"}'


def pinned(data: bytes) -> Pinned:
    return Pinned(hashlib.sha256(data).hexdigest(), len(data))


PARTS = {
    "model.onnx": Part("tiny/onnx/weights.onnx", pinned(MODEL)),
    "tokenizer.json": Part("tiny/tokenizer.json", pinned(TOKENIZER)),
}
CONTENT = {"tiny/onnx/weights.onnx": MODEL, "tiny/tokenizer.json": TOKENIZER}
OTHER = {**PARTS, "model.onnx": Part("tiny/other.onnx", pinned(MODEL))}
ABOUT = "tiny_model-1.0.dist-info"


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("ASSAY_MODELS", raising=False)
    monkeypatch.delenv("ASSAY_OFFLINE", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def shelf(tmp_path, monkeypatch) -> Path:
    """A folder that pip downloads from instead of a network."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


def put_wheel(shelf: Path, members: dict[str, bytes]) -> Wheel:
    """A wheel on the shelf that pip accepts, and its source."""
    path = shelf / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, data in members.items():
            wheel.writestr(name, data)
        wheel.writestr(f"{ABOUT}/METADATA", "Metadata-Version: 2.1\nName: tiny-model\nVersion: 1.0\n")
        wheel.writestr(f"{ABOUT}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{ABOUT}/RECORD", "")
    return Wheel("tiny-model", "1.0", pinned(path.read_bytes()), PARTS)


def know(monkeypatch, *sources) -> None:
    model = Model("tiny", "a tiny one", "CC0", dimensions=3, max_length=8, sources=sources)
    monkeypatch.setitem(MODELS, "tiny", model)


def refusal_of(name: str = "tiny", **options) -> str:
    with pytest.raises(MissingModelError) as refusal:
        get_model(name, **options)
    return str(refusal.value)


def left_in(cache: Path) -> list[str]:
    return sorted(path.name for path in (cache / "models").iterdir())


# Wheels


def test_a_wheel_is_downloaded_and_only_the_named_files_are_taken(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, {**CONTENT, "../../evil.py": b"x", "tiny/setup.py": b"raise SystemExit"}))
    told = []
    files = get_model("tiny", lambda *step: told.append(step))

    assert (MODEL, TOKENIZER) == (files.model.read_bytes(), files.tokenizer.read_bytes())
    assert ["model.onnx", "tokenizer.json"] == sorted(path.name for path in files.folder.iterdir())
    assert ["tiny"] == left_in(cache)
    assert [] == list(cache.parent.glob("**/evil.py"))
    assert files == find_model("tiny")
    size = (shelf / "tiny_model-1.0-py3-none-any.whl").stat().st_size
    assert ("downloading", size, size) == told[-1]


def test_a_model_that_is_there_is_not_fetched_again(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, CONTENT))
    files = get_model("tiny")
    shutil.rmtree(shelf)

    assert files == get_model("tiny")


def test_a_wheel_that_was_changed_is_refused(cache, shelf, monkeypatch):
    source = put_wheel(shelf, CONTENT)
    put_wheel(shelf, {**CONTENT, "tiny/tokenizer.json": TOKENIZER.replace(b"the", b"THE")})
    know(monkeypatch, source)

    assert "tiny_model-1.0-py3-none-any.whl was changed: its sha256 is" in refusal_of()
    assert [] == left_in(cache)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"tiny/onnx/weights.onnx": MODEL[:-1] + b"!"}, "model.onnx was changed: its sha256 is "),
        ({"tiny/onnx/weights.onnx": MODEL * 1000}, "model.onnx has the wrong size: 11,001 bytes, expected 11,000"),
        (
            {"tiny/onnx/weights.onnx": MODEL[:99]},
            "model.onnx has the wrong size: 99 bytes, expected 11,000",
        ),
    ],
)
def test_a_member_that_is_not_the_pinned_one_is_refused(cache, shelf, monkeypatch, changed, words):
    know(monkeypatch, put_wheel(shelf, {**CONTENT, **changed}))

    assert words in refusal_of()
    assert [] == left_in(cache)


def test_a_wheel_without_the_member_is_refused(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, {"tiny/tokenizer.json": TOKENIZER}))

    assert "the package has no file tiny/onnx/weights.onnx" in refusal_of()


def test_where_no_source_answers_the_message_says_what_was_tried_and_what_to_do(cache, shelf, monkeypatch):
    know(monkeypatch, Wheel("tiny-model", "1.0", pinned(b""), PARTS))
    first, tried, advice = refusal_of().splitlines()

    assert "the model tiny is not installed and could not be fetched:" == first
    assert "  the Python package tiny-model==1.0: No matching distribution found for tiny-model==1.0." == tried
    assert (
        "With a network, run: assay models get tiny. Without one, copy model.onnx and tokenizer.json from a machine that "
        "has the model (assay models path tiny) and run: assay models get tiny --from FOLDER."
    ) == advice


def test_a_registry_that_cannot_be_reached_is_not_taken_for_one_without_the_package(cache, shelf, monkeypatch):
    know(monkeypatch, Wheel("tiny-model", "1.0", pinned(b""), PARTS))
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")  # nobody listens there

    assert "  the Python package tiny-model==1.0: its registry could not be reached." == refusal_of().splitlines()[1]


def test_offline_nothing_is_asked(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, CONTENT), Hub("a/b", "main", PARTS), NpmPackage("a", "1", pinned(b""), PARTS))
    monkeypatch.setenv("ASSAY_OFFLINE", "1")

    assert 3 == refusal_of().count("skipped because ASSAY_OFFLINE is set")


# The hub


@pytest.fixture
def hub_files(tmp_path) -> Path:
    """The files of a revision of "me/tiny", as a hub serves them."""
    pytest.importorskip("huggingface_hub")
    folder = tmp_path / "hub" / "me" / "tiny" / "resolve" / REVISION
    for name, data in CONTENT.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


@pytest.fixture
def hub(tmp_path, hub_files) -> Hub:
    """A local server in place of the hub."""
    with serving(tmp_path / "hub") as address:
        yield Hub("me/tiny", REVISION, PARTS, address)


def test_the_next_source_is_asked_when_one_does_not_answer(cache, shelf, hub, monkeypatch, capfd):
    know(monkeypatch, Wheel("not-there", "1.0", pinned(b""), PARTS), hub)
    told = []
    files = get_model("tiny", lambda *step: told.append(step))

    assert MODEL == files.model.read_bytes()
    assert ("downloading", 11_000, 11_020) in told
    assert ("downloading", 11_020, 11_020) == told[-1]
    assert ["model.onnx", "tokenizer.json"] == sorted(path.name for path in files.folder.iterdir())
    assert ("", "") == capfd.readouterr()


@pytest.mark.parametrize(
    ("content", "words"), [(MODEL * 2, "wrong size: 22,000 bytes, expected 11,000"), (MODEL[::-1], "sha256")]
)
def test_what_the_hub_gives_is_checked(cache, hub, hub_files, monkeypatch, content, words):
    know(monkeypatch, hub)
    (hub_files / "tiny/onnx/weights.onnx").write_bytes(content)

    assert words in refusal_of()
    assert [] == left_in(cache)


def test_a_file_that_does_not_end_is_not_downloaded_to_its_end(cache, tmp_path, hub_files, monkeypatch):
    with serving(tmp_path / "hub", EndlessHub) as address:
        know(monkeypatch, Hub("me/tiny", REVISION, PARTS, address))

        assert re.search(r"weights.onnx has the wrong size: [\d,]+ bytes, expected 11,000", refusal_of())
    assert [] == left_in(cache)


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"revision": "0" * 40}, "no such revision"),
        ({"parts": OTHER}, "no such file in the revision"),
    ],
)
def test_what_the_hub_does_not_have_is_said(cache, hub, monkeypatch, other, words):
    know(monkeypatch, replace(hub, **other))

    assert f"  me/tiny on the model hub: {words}." in refusal_of().splitlines()
    assert [] == left_in(cache)


def test_a_hub_that_cannot_be_reached_is_said_in_one_line(cache, monkeypatch):
    pytest.importorskip("huggingface_hub")
    know(monkeypatch, Hub("me/tiny", REVISION, PARTS, "http://127.0.0.1:9"))  # nobody listens there
    _, tried, _ = refusal_of().splitlines()

    assert tried.startswith("  me/tiny on the model hub: ")
    assert "refused" in tried


def test_without_huggingface_hub_the_message_says_how_to_install_it(cache, monkeypatch):
    know(monkeypatch, Hub("me/tiny", REVISION, PARTS))
    monkeypatch.setitem(sys.modules, "huggingface_hub", None)

    assert (
        "  me/tiny on the model hub: the model hub needs one more package: pip install 'assay-ir[dense]'."
        in refusal_of().splitlines()
    )


def test_a_version_of_huggingface_hub_that_shows_its_own_bar_is_used_all_the_same(cache, hub, monkeypatch):
    import huggingface_hub

    def older(repo_id, filename, *, revision, endpoint, local_dir, token, etag_timeout):
        return newer(repo_id, filename, revision=revision, endpoint=endpoint, local_dir=local_dir, token=token)

    newer = huggingface_hub.hf_hub_download
    monkeypatch.setattr(huggingface_hub, "hf_hub_download", older)
    know(monkeypatch, hub)

    assert MODEL == get_model("tiny").model.read_bytes()


# npm


def test_of_an_npm_package_only_the_named_files_are_taken(tmp_path):
    archive = tmp_path / "tiny.tgz"
    with tarfile.open(archive, "w:gz") as package:
        for name, data in {**CONTENT, "../evil.js": b"x"}.items():
            member = tarfile.TarInfo(name)
            member.size = len(data)
            package.addfile(member, io.BytesIO(data))
    target = tmp_path / "target"
    target.mkdir()
    model_sources._unpack_npm(archive, PARTS, target)

    assert {"model.onnx": MODEL, "tokenizer.json": TOKENIZER} == {p.name: p.read_bytes() for p in target.iterdir()}
    assert not (tmp_path / "evil.js").exists()


def test_a_machine_without_npm_says_so(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("ASSAY_OFFLINE", raising=False)

    with pytest.raises(SourceError, match="npm is not installed"):
        NpmPackage("a", "1", pinned(b""), PARTS).fetch(tmp_path, silent)


# Folders


@pytest.mark.parametrize(
    "names", [("model.onnx", "tokenizer.json"), tuple(CONTENT), ("weights.onnx", "tokenizer.json")]
)
def test_a_folder_may_call_the_files_as_we_do_or_as_their_source_does(cache, tmp_path, monkeypatch, names):
    know(monkeypatch, Wheel("not-there", "1.0", pinned(b""), PARTS))
    for name, data in zip(names, (MODEL, TOKENIZER), strict=True):
        (tmp_path / "usb" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "usb" / name).write_bytes(data)

    assert cache / "models" / "tiny" == get_model("tiny", folder=tmp_path / "usb").folder


def test_a_folder_with_other_files_is_refused(cache, tmp_path, monkeypatch):
    know(monkeypatch, Wheel("not-there", "1.0", pinned(b""), PARTS))
    (tmp_path / "model.onnx").write_bytes(MODEL)
    (tmp_path / "tokenizer.json").write_bytes(b"another")

    assert (
        "the files of the model (model.onnx, tokenizer.json) are missing or differ from the pinned ones"
        in refusal_of(folder=tmp_path)
    )
    assert "no such folder" in refusal_of(folder=tmp_path / "none")


def test_the_folder_of_the_environment_is_looked_in_first_and_nothing_is_copied(cache, tmp_path, monkeypatch):
    know(monkeypatch, Wheel("not-there", "1.0", pinned(b""), PARTS))
    monkeypatch.setenv("ASSAY_MODELS", str(tmp_path / "models"))
    (tmp_path / "models" / "tiny").mkdir(parents=True)
    (tmp_path / "models" / "tiny" / "model.onnx").write_bytes(MODEL)
    (tmp_path / "models" / "tiny" / "tokenizer.json").write_bytes(TOKENIZER)

    assert tmp_path / "models" / "tiny" == get_model("tiny").folder
    assert not cache.exists()


def test_two_sets_of_files_may_be_the_same_model_but_not_a_mixture(tmp_path):
    other = {**PARTS, "tokenizer.json": Part("other.json", pinned(b"other"))}
    (tmp_path / "model.onnx").write_bytes(MODEL)
    (tmp_path / "tokenizer.json").write_bytes(b"other")
    target = tmp_path / "target"
    target.mkdir()
    Folder(tmp_path, (PARTS, other)).fetch(target, silent)

    assert b"other" == (target / "tokenizer.json").read_bytes()


# Damaged files and killed processes


def test_a_damaged_file_is_not_used_and_is_fetched_again(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, CONTENT))
    files = get_model("tiny")
    files.model.write_bytes(MODEL[:-1] + b"?")

    assert ("damaged", None) == (model_state("tiny"), find_model("tiny"))
    assert (MODEL, "here") == (get_model("tiny").model.read_bytes(), model_state("tiny"))


def test_leftovers_of_killed_processes_are_removed(cache, shelf, monkeypatch):
    know(monkeypatch, put_wheel(shelf, CONTENT))
    left = cache / "models" / ".tiny.abc.part"
    left.mkdir(parents=True)
    (left / "model.onnx").write_bytes(MODEL[:100])

    assert find_model("tiny") is None
    get_model("tiny")
    assert ["tiny"] == left_in(cache)


GET = "from assay.retrieval.models import get_model; print('ready', flush=True); get_model()"


def test_a_download_that_is_killed_leaves_no_half_model(model_cache, cache):
    """The real model from PyPI."""
    for delay in (0.1, 0.5, 0.9):
        with subprocess.Popen([sys.executable, "-c", GET], stdout=subprocess.PIPE) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        left = [name for name in left_in(cache) if not name.startswith(".")] if (cache / "models").exists() else []

        assert [] == left or find_model() is not None

    get_model()

    assert ["minilm"] == left_in(cache)


def test_two_processes_may_want_the_same_model(model_cache, cache):
    both = [subprocess.Popen([sys.executable, "-c", GET], stdout=subprocess.PIPE) for _ in range(2)]
    for process in both:
        process.communicate()

    assert [0, 0] == [process.returncode for process in both]
    assert ["minilm"] == left_in(cache)


# The registry


def test_a_language_model_is_one_file(cache, tmp_path, monkeypatch):
    parts = {"model.gguf": Part("tiny/weights.gguf", pinned(MODEL))}
    source = Wheel("not-there", "1.0", pinned(b""), parts)
    model = Model("tiny", "a tiny one", "CC0", max_length=8, sources=(source,), kind="language model")
    monkeypatch.setitem(MODELS, "tiny", model)

    assert "copy model.gguf from a machine that has the model" in refusal_of()

    (tmp_path / "model.gguf").write_bytes(MODEL)
    files = get_model("tiny", folder=tmp_path)

    assert (cache / "models" / "tiny" / "model.gguf", files) == (files.model, find_model("tiny"))
    files.model.write_bytes(b"cut off")
    assert "damaged" == model_state("tiny")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "file"), [("bert-mini-reranker", "model.onnx"), ("smollm2-135m", "model.gguf")])
def test_the_small_models_for_reranking_come_from_their_wheels(cache, name, file):
    try:
        files = get_model(name)
    except MissingModelError as error:
        pytest.skip(f"needs {name}, which could not be fetched: {error}")

    assert [name] == left_in(cache)
    assert cache / "models" / name / file == files.model


def test_names_that_are_not_known_are_refused():
    with pytest.raises(RetrievalError, match="no model called 'minilim'; did you mean 'minilm'"):
        find_model("minilim")
    with pytest.raises(MissingModelError, match=r"none: no such folder\. A model of one's own is a folder with model"):
        get_model("./none")


FILES_OF = {
    "bi-encoder": ("model.onnx", "tokenizer.json"),
    "cross-encoder": ("model.onnx", "tokenizer.json"),
    "language model": ("model.gguf",),
}


def test_every_model_is_pinned_in_every_source():
    for model in MODELS.values():
        for source in model.sources:
            assert FILES_OF[model.kind] == tuple(source.parts)
            for part in source.parts.values():
                assert (64, True) == (len(part.pinned.sha256), part.pinned.size > 100_000)
            revision = getattr(source, "revision", "0" * 40)
            assert 40 == len(revision)
