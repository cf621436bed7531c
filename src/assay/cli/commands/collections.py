"""assay collections list, assay collections check."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import click

from assay.cli import write
from assay.cli.bars import is_watched
from assay.cli.options import format_option, output_options, parts_options
from assay.cli.validation import without_secrets
from assay.collections import check_collection, embedded_collections
from assay.collections.columns import parse_collection_columns, parse_files
from assay.collections.opening import files_of
from assay.files import refuse_overwrite
from assay.report.validation import RENDERERS
from assay.report.validation.collections import COLLECTION_RENDERERS
from assay.retrieval.base import Progress

SECTION = "Search"


@click.group(
    "collections",
    short_help="List the embedded collections, or check your own.",
    epilog="Example: assay collections check scifact/",
)
def command() -> None:
    """List and check test collections: documents, queries and judgments."""


@command.command("list", epilog="Example: assay collections list")
@format_option(COLLECTION_RENDERERS)
def list_command(output_format: str) -> None:
    """List the embedded collections. Use their names wherever a folder is expected."""
    found = {name: check_collection(name) for name in embedded_collections()}
    write(COLLECTION_RENDERERS[output_format](found))


@command.command(
    "check",
    short_help="Check a collection: files, ids, judgments.",
    epilog="Example: assay collections check products/ --columns corpus.id=sku --split dev",
)
@click.argument("place")
@click.option("--split", help="Split of the judgments to use.  [default: test, or the only one]")
@parts_options
@click.option("--strict", is_flag=True, help="Treat warnings as errors.")
@output_options(RENDERERS, "Output format; github prints workflow annotations.")
def check_command(
    place: str,
    split: str | None,
    columns: tuple[str, ...],
    files: tuple[str, ...],
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check the collection at PLACE, a folder or the name of an embedded one, and list problems and fixes.

    Recognises BEIR and TREC folders, and tables with named columns. Exit status: 0 valid, 1 not valid, 2 a folder that
    cannot be opened. `assay explain CODE` explains a finding.
    """
    if output is not None:
        refuse_overwrite(output, files_of(place, split, parse_files(files)))
    with _progress() as progress:
        found = check_collection(
            place, split=split, columns=parse_collection_columns(columns), files=parse_files(files), progress=progress
        )
    write(RENDERERS[output_format](without_secrets(found), strict=strict), output)
    if not found.holds(strict=strict):
        click.get_current_context().exit(1)


@contextmanager
def _progress() -> Iterator[Progress | None]:
    """The number of documents read so far; None if standard error is not a terminal."""
    if not is_watched():
        yield None
        return
    from rich.console import Console
    from rich.status import Status

    with Status("Checking", console=Console(stderr=True)) as status:

        def show(step: str, done: int, total: int | None) -> None:
            status.update(f"{step.capitalize()}: {done:,}")

        yield show
