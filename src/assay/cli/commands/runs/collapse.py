"""assay runs collapse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click

from assay.cli.derived import derived_run_options, read_inputs, stream_derived_run, write_derived
from assay.cli.reading import reading_options
from assay.errors import FusionError
from assay.formats.readings import Reading
from assay.fusion import WAYS, collapse
from assay.fusion.collapsing import Chunks
from assay.records.identity import file_digest, is_file
from assay.secrets import Secrets
from assay.tables import Run

EXAMPLES = r"""Example: assay runs collapse chunks.run --regex '^(.+)#\d+$' -o documents.run

Example: assay runs collapse chunks.run --map chunk-to-document.tsv --by sum -o documents.run"""


@click.command("collapse", short_help="Turn a run of chunks into a run of documents.", epilog=EXAMPLES)
@click.argument("run")
@click.option(
    "--map", "chunk_map", metavar="FILE", help="File with a chunk and its document on each line, or a JSON object."
)
@click.option(
    "--regex", metavar="R", help="Finds the document in a chunk id: group `doc`, else the first group, else the match."
)
@click.option(
    "--by",
    default="max",
    show_default=True,
    help=f"How to score a document: by its best chunk, their sum, or the chunk that comes first ({', '.join(WAYS)}).",
)
@reading_options("run")
@derived_run_options
def command(
    run: str,
    chunk_map: str | None,
    regex: str | None,
    by: str,
    reading: Reading,
    output: str,
    to: str | None,
    tag: str | None,
    spreadsheet: bool,
    metadata: bool,
) -> None:
    """Turn a RUN of chunks into a run of documents, with each document once per query.

    Measures count documents: without this, a document with two chunks in the ranking would count twice. A chunk without
    a document is an error. A TREC file starts with comment lines that record how it was made.
    """

    def how() -> tuple[Callable[[Run], Run], dict[str, object]]:
        documents, rule = _documents(chunk_map, regex)
        return partial(collapse, documents=documents, by=by), {"collapse": {"by": by, **rule}}

    rereadable = not spreadsheet and (chunk_map is None or is_file(chunk_map))
    if rereadable and stream_derived_run(run, how, output, to, reading, tag=tag, metadata=metadata):
        return
    inputs = read_inputs((run,), output, to, reading)
    collapsed, method = how()
    write_derived(collapsed(inputs.tables[0]), method, inputs, tag=tag, metadata=metadata, spreadsheet=spreadsheet)


def _documents(chunk_map: str | None, regex: str | None) -> tuple[Chunks, dict[str, object]]:
    """The mapping from chunks to documents, and its description for the metadata."""
    if regex is not None and chunk_map is None:
        return regex, {"regex": regex}
    if chunk_map is None or regex is not None:
        raise FusionError("give either --map FILE or --regex R to say which document each chunk belongs to.")
    from assay.inputs.chunks import read_chunks

    digest = {"sha256": file_digest(chunk_map).sha256} if is_file(chunk_map) else {}
    return read_chunks(chunk_map), {"map": {"path": Secrets().hide(chunk_map), **digest}}
