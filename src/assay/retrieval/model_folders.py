"""Find the files of a model in a folder of any usual layout, with the digest of every file that counts.

FOLDER/model.onnx or onnx/model.onnx, other files with its weights beside it, tokenizer.json, and the files that say how
the model is used; or one .gguf file. A path to an .onnx or .gguf file names one of several in a folder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from assay.errors import MissingModelError, RetrievalError
from assay.retrieval.model_kinds import ModelKind, kind_of
from assay.retrieval.model_settings import ModelSettings, read_settings, settings_files
from assay.retrieval.model_sources import Pinned, file_sha256
from assay.retrieval.onnx_graphs import read_graph

MODEL_FILE, TOKENIZER_FILE, GGUF_FILE = "model.onnx", "tokenizer.json", "model.gguf"
ONNX_FOLDER = "onnx"


class ModelFolder(Struct, frozen=True):
    """The files of a model in a folder."""

    folder: Path
    model: Path
    kind: ModelKind
    files: tuple[str, ...]  # all that count, relative to the folder
    settings: ModelSettings

    @property
    def digest(self) -> str:
        """sha256 over the digests of all files."""
        return digest_of_files(self.folder, self.files)

    def pinned(self) -> dict[str, Pinned]:
        """The content of each file."""
        return {name: Pinned(sha256_of(self.folder / name), (self.folder / name).stat().st_size) for name in self.files}


def read_model_folder(place: Path) -> ModelFolder:
    """The model in a folder, or in a file of one.

    Raises MissingModelError if files are missing, RetrievalError if the model cannot be used.
    """
    model = place if place.suffix in (".onnx", ".gguf") and place.is_file() else _only_model(place)
    if model.suffix == ".gguf":
        return ModelFolder(model.parent, model, "language model", (model.name,), ModelSettings())
    folder = _with_tokenizer(model)
    try:
        graph = read_graph(model)
        kind = kind_of(graph)
    except RetrievalError as error:
        said = str(error)
        raise RetrievalError(said if said.startswith(str(model)) else f"{model}: {said}") from None
    beside = [model.parent / name for name in graph.external]
    lost = [path for path in beside if not path.is_file()]
    if lost:
        raise MissingModelError(f"{model}: its weights in {lost[0].name} are missing. Copy that file beside it.")
    files = (*_names((model, folder / TOKENIZER_FILE, *beside), folder), *settings_files(folder))
    return ModelFolder(folder, model, kind, files, read_settings(folder))


def digest_of_files(folder: Path, files: Iterable[str]) -> str:
    """sha256 over the digests of files, in this order."""
    return hashlib.sha256(" ".join(sha256_of(folder / name) for name in files).encode()).hexdigest()


def sha256_of(path: Path) -> str:
    """The digest of a file, computed again only when the file has changed."""
    status = path.stat()
    return _sha256(str(path), status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


@lru_cache(maxsize=256)
def _sha256(path: str, *stamp: int) -> str:
    return file_sha256(Path(path))


def _only_model(folder: Path) -> Path:
    """The model of a folder: model.onnx, or the only .onnx or .gguf file, there or in onnx/."""
    if not folder.is_dir():
        raise MissingModelError(
            f"{folder}: no such folder. A model of one's own is a folder with {MODEL_FILE} and {TOKENIZER_FILE}; one on "
            "the hub is ORGANISATION/NAME@REVISION."
        )
    for path in (folder / MODEL_FILE, folder / ONNX_FOLDER / MODEL_FILE):
        if path.is_file():
            return path
    found = sorted(path for pattern in ("*.onnx", f"{ONNX_FOLDER}/*.onnx", "*.gguf") for path in folder.glob(pattern))
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(_names(found, folder))
        raise MissingModelError(f"{folder}: several models and no {MODEL_FILE}: {names}. Add one of them to the path.")
    raise MissingModelError(
        f"{folder}: no model here. The folder needs {MODEL_FILE} (or {ONNX_FOLDER}/{MODEL_FILE}) and {TOKENIZER_FILE}."
    )


def _with_tokenizer(model: Path) -> Path:
    """The folder of an ONNX file: the one with tokenizer.json, which may be the one above onnx/."""
    for folder in (model.parent, model.parent.parent):
        if (folder / TOKENIZER_FILE).is_file():
            return folder
    raise MissingModelError(
        f"{model}: {TOKENIZER_FILE} is missing. The folder needs {MODEL_FILE} (or {ONNX_FOLDER}/{MODEL_FILE}) and "
        f"{TOKENIZER_FILE}."
    )


def _names(paths: Iterable[Path], folder: Path) -> list[str]:
    return [path.relative_to(folder).as_posix() for path in paths]
