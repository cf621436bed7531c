"""assay models."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click

from assay.cli import write
from assay.cli.bars import is_watched
from assay.cli.options import format_option
from assay.errors import MissingModelError, show_id
from assay.report.drawing.terminal import terminal_width, wrapped
from assay.retrieval.added_models import AddedModel
from assay.retrieval.base import Progress
from assay.retrieval.embedding import IN_THE_MODEL, OVERRIDABLE, choose_encoding
from assay.retrieval.model_settings import DEFAULT_LENGTH, ModelSettings
from assay.retrieval.models import (
    DEFAULT_MODEL,
    MODELS,
    Model,
    ModelFiles,
    add_model,
    added_models,
    find_model,
    get_model,
    is_folder_name,
    model_folder,
    model_state,
)

SECTION = "Search"
SCHEMA = "assay/models/1"
_STATES = {"here": "installed", "damaged": "damaged", "not here": "not installed"}


@click.group(
    "models",
    short_help="List, download, add and inspect models for search.",
    epilog="Example: assay models get minilm",
)
def command() -> None:
    """List, download, add and inspect the models for vector search and reranking.

    Models are stored in the user cache, or in the folder set by ASSAY_CACHE. A folder set by ASSAY_MODELS is searched
    first. With ASSAY_OFFLINE=1 nothing is downloaded.
    """


@command.command("list", short_help="List the models.", epilog="Example: assay models list --format json")
@format_option(("table", "json"))
def list_models(output_format: str) -> None:
    """List the supported models, those that you added, and whether each is installed."""
    known: list[Model | AddedModel] = [*MODELS.values(), *added_models()]
    if output_format == "json":
        write(json.dumps({"schema": SCHEMA, "models": [_as_json(model) for model in known]}, indent=2) + "\n")
        return
    width, room = max(len(model.name) for model in known) + 2, terminal_width()
    for model in known:
        default = " (default)" if model.name == DEFAULT_MODEL else ""
        about = (model.kind, _size(model.size), *_shape_of(model))
        write(
            wrapped(f"{_summary(model)}{default}", room, f"{model.name:<{width}}")
            + wrapped(f"{', '.join(about)}; {_STATES[model_state(model.name)]}", room, " " * width)
        )


@command.command(
    "get",
    short_help="Download models.",
    epilog="Example: assay models get minilm\n\nExample: assay models get minilm --from usb/minilm",
)
@click.argument("names", metavar="[NAME]...", nargs=-1)
@click.option(
    "--from",
    "folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder with the files of the model, for machines without a network.",
)
def get(names: tuple[str, ...], folder: Path | None) -> None:
    """Download models (by default the small default model); installed ones are only checked.

    Downloads are checked against pinned digests before they are installed. ORGANISATION/NAME@REVISION is a model on the
    hub that has ONNX files.
    """
    for name in names or (DEFAULT_MODEL,):
        with _bar(name) as progress:
            files = get_model(name, progress, folder=folder)
        write(f"{name}: {files.folder}\n")


@command.command(
    "add",
    short_help="Add a model of your own.",
    epilog="Example: assay models add ./my-model --name mine\n\n"
    "Example: assay models add cross-encoder/ms-marco-MiniLM-L6-v2 --name ms-marco",
)
@click.argument("place", metavar="FOLDER|HUB_ID")
@click.option("--name", help="Name of the model; by default that of the folder or repository.")
@click.option("--file", help="ONNX file to use, if there are several and none is model.onnx.")
def add(place: str, name: str | None, file: str | None) -> None:
    """Make a model of your own known by name, and keep its files in the cache.

    FOLDER has model.onnx (or onnx/model.onnx) and tokenizer.json, or a .gguf file. HUB_ID is ORGANISATION/NAME on the
    model hub, at the newest revision or with @REVISION; it must have ONNX files.
    """
    chosen = name or Path(place.partition("@")[0]).expanduser().resolve().name
    with _bar(chosen) as progress:
        found = add_model(place, chosen, progress, file=file)
    write(f"{found.name}: {found.kind} in {found.folder}\n")


@command.command("show", short_help="Show how a model is used.", epilog="Example: assay models show ./my-model")
@click.argument("name", default=DEFAULT_MODEL)
def show(name: str) -> None:
    """Show the files of a model, how it is used, and which file says so. NAME may be a folder. Downloads nothing."""
    found = _installed(name)
    write(f"{found.name}: {found.kind}\n")
    rows = [("folder", str(found.folder), "")]
    rows += [("file", file, _size((found.folder / file).stat().st_size)) for file in found.files]
    rows += [("digest", found.digest, ""), *_usage(found)]
    for label, value, note in rows:
        write(f"  {label:<17}{value}{f' ({note})' if note else ''}\n")


@command.command("path", epilog="Example: assay models path minilm")
@click.argument("name", default=DEFAULT_MODEL)
def path(name: str) -> None:
    """Print the folder of a model. Downloads nothing."""
    write(f"{_installed(name).folder}\n")


def _installed(name: str) -> ModelFiles:
    found = find_model(name)
    if found is not None:
        return found
    if is_folder_name(name):
        return get_model(name)  # raises, and says what is missing
    raise MissingModelError(
        f"the model {name} is {_STATES[model_state(name)]} (its folder is {model_folder(name)}). "
        f"Get it with: assay models get {name}."
    )


def _usage(files: ModelFiles) -> Iterator[tuple[str, str, str]]:
    """How a bi-encoder is used unless a recipe says otherwise, and where that comes from."""
    if files.kind != "bi-encoder":
        return
    encoding, sources = choose_encoding(files, {}).encoding, files.settings.sources
    for name in OVERRIDABLE:
        value = getattr(encoding, name)
        source = files.model.name if value == IN_THE_MODEL else sources.get(name, "default")
        yield name, json.dumps(value, ensure_ascii=False), source


def _as_json(model: Model | AddedModel) -> dict[str, object]:
    found = find_model(model.name)
    settings = model.settings if isinstance(model, Model) else found.settings if found else ModelSettings()
    return {
        "name": model.name,
        "summary": _summary(model),
        "kind": model.kind,
        "default": model.name == DEFAULT_MODEL,
        "licence": model.licence,
        "size": model.size,
        "dimensions": model.dimensions if isinstance(model, Model) else None,
        "max_length": settings.max_length or DEFAULT_LENGTH,
        "pooling": settings.pooling,
        "sources": [source.label for source in (model.sources if isinstance(model, Model) else (model.source,))],
        "state": model_state(model.name),
        "folder": None if found is None else str(found.folder),
        "digest": None if found is None else found.digest,
    }


def _summary(model: Model | AddedModel) -> str:
    return model.summary if isinstance(model, Model) else f"added from {model.origin}"


def _shape_of(model: Model | AddedModel) -> Iterator[str]:
    if isinstance(model, AddedModel):
        if model.licence:
            yield model.licence
        return
    if model.dimensions is not None:
        yield f"{model.dimensions} dimensions"
    yield f"texts up to {model.max_length} tokens"
    yield model.licence


def _size(size: int) -> str:
    return f"{size / 1e6:.0f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"


@contextmanager
def _bar(name: str) -> Iterator[Progress | None]:
    """A progress bar for downloading a model; None if standard error is not a terminal."""
    if not is_watched():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), TimeRemainingColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(f"Downloading {show_id(name)}", total=None)
        yield lambda step, done, total: bar.update(task, completed=done, total=total)
