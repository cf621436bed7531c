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
from assay.errors import MissingModelError
from assay.retrieval.base import Progress
from assay.retrieval.models import DEFAULT_MODEL, MODELS, Model, find_model, get_model, model_folder, model_state

SECTION = "Search"
SCHEMA = "assay/models/1"
_STATES = {"here": "installed", "damaged": "damaged", "not here": "not installed"}


@click.group(
    "models",
    short_help="List, download and locate models for vector search.",
    epilog="Example: assay models get minilm",
)
def command() -> None:
    """List, download and locate the models for vector search.

    Models are stored in the user cache, or in the folder set by ASSAY_CACHE. A folder set by ASSAY_MODELS is searched
    first. With ASSAY_OFFLINE=1 nothing is downloaded.
    """


@command.command("list", epilog="Example: assay models list --format json")
@format_option(("table", "json"))
def list_models(output_format: str) -> None:
    """List the supported models and whether each is installed."""
    if output_format == "json":
        write(json.dumps({"schema": SCHEMA, "models": [_as_json(model) for model in MODELS.values()]}, indent=2) + "\n")
        return
    width = max(map(len, MODELS)) + 2
    for model in MODELS.values():
        default = " (default)" if model.name == DEFAULT_MODEL else ""
        write(
            f"{model.name:<{width}}{model.summary}{default}\n"
            f"{'':<{width}}{_megabytes(model.size)}, {model.dimensions} dimensions, texts up to {model.max_length} "
            f"tokens, {model.licence}; {_STATES[model_state(model.name)]}\n"
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

    Downloads are checked against pinned digests before they are installed.
    """
    for name in names or (DEFAULT_MODEL,):
        with _bar(name) as progress:
            files = get_model(name, progress, folder=folder)
        write(f"{name}: {files.folder}\n")


@command.command("path", epilog="Example: assay models path minilm")
@click.argument("name", default=DEFAULT_MODEL)
def path(name: str) -> None:
    """Print the folder of a model. Downloads nothing."""
    found = find_model(name)
    if found is None:
        raise MissingModelError(
            f"the model {name} is {_STATES[model_state(name)]} (its folder is {model_folder(name)}). "
            f"Get it with: assay models get {name}."
        )
    write(f"{found.folder}\n")


def _as_json(model: Model) -> dict[str, object]:
    found = find_model(model.name)
    return {
        "name": model.name,
        "summary": model.summary,
        "default": model.name == DEFAULT_MODEL,
        "licence": model.licence,
        "size": model.size,
        "dimensions": model.dimensions,
        "max_length": model.max_length,
        "pooling": model.pooling,
        "sources": [source.label for source in model.sources],
        "state": model_state(model.name),
        "folder": None if found is None else str(found.folder),
        "digest": None if found is None else found.digest,
    }


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.0f} MB"


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
        task = bar.add_task(f"Downloading {name}", total=None)
        yield lambda step, done, total: bar.update(task, completed=done, total=total)
