"""Models that the user added: copied from a folder or downloaded from the hub, with a record of what they are.

The record, added.json, is written last and lists the digest of every file. Names of models are those in the cache.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from assay.errors import MissingModelError, RetrievalError
from assay.files import write_whole
from assay.retrieval.base import Progress
from assay.retrieval.model_folders import MODEL_FILE, ONNX_FOLDER, TOKENIZER_FILE, read_model_folder
from assay.retrieval.model_kinds import ModelKind
from assay.retrieval.model_settings import is_settings_file
from assay.retrieval.model_sources import Folder, Hub, Listed, Part, Pinned, SourceError, list_hub
from assay.retrieval.onnx_graphs import read_graph

RECORD = "added.json"
SCHEMA = "assay/added-model/1"
_HUB_ID = re.compile(r"(?P<repository>[A-Za-z0-9][\w.-]*/[\w.-]+)(?:@(?P<revision>[\w][\w./-]*))?")


class AddedModel(Struct, frozen=True):
    """A model that the user added."""

    name: str
    kind: ModelKind
    licence: str | None  # None where it is not known
    model: str  # the .onnx or .gguf file, relative to the folder, as all files
    files: Mapping[str, Pinned]
    folder: str | None = None  # where it was copied from
    repository: str | None = None  # or on the hub, with the commit
    revision: str | None = None
    schema: Literal["assay/added-model/1"] = "assay/added-model/1"

    @property
    def size(self) -> int:
        """Size on disk, in bytes."""
        return sum(pinned.size for pinned in self.files.values())

    @property
    def origin(self) -> str:
        """Where it comes from, in words."""
        return f"the folder {self.folder}" if self.repository is None else f"{self.repository}@{self.revision}"

    @property
    def source(self) -> FromFolder | FromHub:
        """Where its files can be had again."""
        if self.repository is None:
            return FromFolder(Path(self.folder or "") / self.model, self.name)
        return FromHub(f"{self.repository}@{self.revision}", self.name, self.model)


def hub_id(name: str) -> tuple[str, str | None] | None:
    """The repository and revision of a name on the hub; None if it is not one.

    >>> hub_id("org/minilm@v2"), hub_id("org/minilm"), hub_id("./org/minilm")
    (('org/minilm', 'v2'), ('org/minilm', None), None)
    """
    found = _HUB_ID.fullmatch(name)
    return None if found is None else (found["repository"], found["revision"])


def is_hub_id(name: str) -> bool:
    """Whether this is ORGANISATION/NAME@REVISION; without the revision it is a folder.

    >>> is_hub_id("org/minilm@v2"), is_hub_id("org/minilm")
    (True, False)
    """
    found = hub_id(name)
    return found is not None and found[1] is not None


def read_added(folder: Path) -> AddedModel | None:
    """The record of the model in a folder of the cache, if the user added it."""
    try:
        return msgspec.json.decode((folder / RECORD).read_bytes(), type=AddedModel)
    except (OSError, msgspec.MsgspecError):
        return None


class FromFolder(Struct, frozen=True):
    """A folder, or a file in one."""

    place: Path
    name: str  # of the model in the cache

    @property
    def label(self) -> str:
        """The place in messages."""
        return f"the folder {self.place}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Copy the files that count, and write the record."""
        found = read_model_folder(self.place)
        pinned = found.pinned()
        Folder(found.folder, ({name: Part(name, each) for name, each in pinned.items()},)).fetch(folder, progress)
        model = found.model.relative_to(found.folder).as_posix()
        _write(folder, AddedModel(self.name, found.kind, None, model, pinned, str(found.folder.resolve())))


class FromHub(Struct, frozen=True):
    """A repository on the model hub."""

    hub_id: str  # with or without a revision
    name: str  # of the model in the cache
    file: str | None = None  # the ONNX file, if there are several
    endpoint: str | None = None  # URL of the hub; by default $HF_ENDPOINT or huggingface.co

    @property
    def label(self) -> str:
        """The repository in messages."""
        return f"{self.hub_id} on the model hub"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Download the ONNX file, the files that it and the tokenizer need, and write the record."""
        repository, revision = hub_id(self.hub_id) or (self.hub_id, None)
        listed = list_hub(repository, revision or "main", self.endpoint)
        model = self._model_in(listed)

        def get(names: list[str]) -> None:
            parts = {name: Part(name, listed.files[name]) for name in names}
            Hub(repository, listed.commit, parts, self.endpoint).fetch(folder, progress)

        get([model])
        get(_beside(model, folder, listed))
        try:
            found = read_model_folder(folder / model)
        except MissingModelError as error:
            raise SourceError(str(error).removeprefix(f"{folder}/")) from None
        except RetrievalError as error:
            raise RetrievalError(str(error).replace(f"{folder}/", f"{self.hub_id}/")) from None
        _write(
            folder,
            AddedModel(
                self.name,
                found.kind,
                listed.licence,
                model,
                found.pinned(),
                repository=repository,
                revision=listed.commit,
            ),
        )

    def _model_in(self, listed: Listed) -> str:
        """The ONNX or GGUF file to download."""
        if self.file is not None:
            if self.file not in listed.files:
                raise SourceError(f"it has no file {self.file}")
            return self.file
        for name in (MODEL_FILE, f"{ONNX_FOLDER}/{MODEL_FILE}"):
            if name in listed.files:
                return name
        found = sorted(name for name in listed.files if name.endswith((".onnx", ".gguf")))
        if len(found) == 1:
            return found[0]
        if found:
            raise SourceError(
                f"it has several models and no {MODEL_FILE}: {', '.join(found)}. Choose one: assay models add "
                f"{self.hub_id} --file {found[0]}"
            )
        raise SourceError(
            "it has no ONNX file. Export the model (optimum-cli export onnx --model "
            f"{self.hub_id.partition('@')[0]} FOLDER) and add that folder"
        )


def _beside(model: str, folder: Path, listed: Listed) -> list[str]:
    """The other files of a repository that belong to a downloaded model."""
    if model.endswith(".gguf"):
        return []
    place = model.rpartition("/")[0]
    external = [f"{place}/{name}" if place else name for name in read_graph(folder / model).external]
    wanted = [TOKENIZER_FILE, *external]
    lost = [name for name in wanted if name not in listed.files]
    if lost:
        raise SourceError(f"it has no file {lost[0]}, which {model} needs")
    return [*wanted, *(name for name in listed.files if is_settings_file(name))]


def _write(folder: Path, record: AddedModel) -> None:
    write_whole(folder / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2) + b"\n")
