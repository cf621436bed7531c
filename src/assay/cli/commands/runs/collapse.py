"""assay runs collapse."""

from __future__ import annotations

import click

from assay.cli.derived import derived_run_options, read_inputs, write_derived
from assay.errors import FusionError
from assay.fusion import WAYS, collapse
from assay.fusion.collapsing import Chunks
from assay.records.identity import file_digest, is_file

EXAMPLES = r"""Example: assay runs collapse chunks.run --regex '^(.+)#\d+$' -o documents.run

Example: assay runs collapse chunks.run --map chunk-to-document.tsv --by sum -o documents.run"""


@click.command("collapse", epilog=EXAMPLES)
@click.argument("run")
@click.option("--map", "chunk_map", metavar="FILE", help="Chunk and document on each line, or a JSON object.")
@click.option(
    "--regex", metavar="R", help="Searched in the chunk's id: its group `doc`, else its first, else all of it."
)
@click.option(
    "--by",
    default="max",
    show_default=True,
    help=f"What a document is worth: its best chunk, all together, or the one that comes first ({', '.join(WAYS)}).",
)
@derived_run_options
def command(
    run: str,
    chunk_map: str | None,
    regex: str | None,
    by: str,
    output: str,
    to: str | None,
    tag: str | None,
    metadata: bool,
) -> None:
    """Turn a RUN of chunks into one of documents, each once per query.

    A measure that counts documents cannot be computed from chunks: a document that comes twice would count twice. A
    chunk without a document is refused. A TREC file begins with comment lines that say how it was made.
    """
    inputs = read_inputs((run,), output, to)
    documents, rule = _documents(chunk_map, regex)
    collapsed = collapse(inputs.tables[0], documents, by=by)
    write_derived(collapsed, {"collapse": {"by": by, **rule}}, inputs, tag=tag, metadata=metadata)


def _documents(chunk_map: str | None, regex: str | None) -> tuple[Chunks, dict[str, object]]:
    """Which document a chunk belongs to, and how to say so."""
    if regex is not None and chunk_map is None:
        return regex, {"regex": regex}
    if chunk_map is None or regex is not None:
        raise FusionError("say which document a chunk belongs to with --map FILE or --regex R, one of the two.")
    from assay.inputs.chunks import read_chunks

    digest = {"sha256": file_digest(chunk_map).sha256} if is_file(chunk_map) else {}
    return read_chunks(chunk_map), {"map": {"path": chunk_map, **digest}}
