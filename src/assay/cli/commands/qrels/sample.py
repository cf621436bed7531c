"""assay qrels sample."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import combinations

import click

from assay.cli import note, write
from assay.cli.options import format_option, spreadsheet_option
from assay.cli.reading import reading_options
from assay.collections.sampling import sample_qrels
from assay.errors import InputError
from assay.files import is_same_file
from assay.formats import as_qrels
from assay.formats.reading import format_name
from assay.formats.readings import Reading
from assay.formats.sources import STDIN, open_source
from assay.formats.writers import BEIR_HEADER
from assay.formats.writing import OUTPUT_FORMATS, packed, qrels_as_bytes
from assay.formats.writing import output_format as format_to_write
from assay.report.sample import SAMPLE_RENDERERS


@click.command(
    "sample",
    short_help="Split judgments by query into two similar parts.",
    epilog="Example: assay qrels sample qrels.txt --share 0.2 --seed 1 -o dev.txt --rest test.txt",
)
@click.argument("qrels")
@click.option("--share", type=float, help="Share of the queries to sample, such as 0.2.")
@click.option("--size", type=click.IntRange(min=1), help="Number of queries to sample, instead of a share.")
@click.option("--seed", type=int, default=1, show_default=True, help="Seed of the random sample.")
@click.option("--rel", type=float, default=1, show_default=True, help="Lowest grade of a relevant document.")
@click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="DEV", help="File for the sampled queries.")
@click.option("--rest", type=click.Path(dir_okay=False), metavar="TEST", help="File for all other queries.")
@click.option("--to", type=click.Choice(OUTPUT_FORMATS), help="Output format; by default, from the files' endings.")
@spreadsheet_option
@format_option(SAMPLE_RENDERERS, "How to show the counts.")
@reading_options("qrels", queries=False)
def command(
    qrels: str,
    share: float | None,
    size: int | None,
    seed: int,
    rel: float,
    output: str | None,
    rest: str | None,
    to: str | None,
    spreadsheet: bool,
    output_format: str,
    reading: Reading,
) -> None:
    """Split QRELS by query into two similar parts, such as dev and test.

    The sample is stratified by the number of relevant documents per query. The same seed gives the same sample on every
    machine. Without output files, only the counts are shown.
    """
    _refuse_same(qrels, output, rest)
    targets = {path: _format_for(path, to, qrels, reading) for path in (output, rest) if path is not None}
    _refuse_nowhere(targets)
    table = as_qrels(qrels, reading)
    sample = sample_qrels(table, share=share, size=size, seed=seed, rel=rel)
    parts = [(path, part) for path, part in ((output, sample.sampled), (rest, sample.rest)) if path is not None]
    made = [(path, *qrels_as_bytes(part, targets[path], spreadsheet=spreadsheet)) for path, part in parts]
    for path, data, _ in made:  # write only after every part could be formatted
        write(packed(data, path), path)
    write(SAMPLE_RENDERERS[output_format](sample, {"source": qrels, "sampled": output, "rest": rest}))
    for text in dict.fromkeys(text for _, _, notes in made for text in notes):
        note(text)


def _format_for(path: str, to: str | None, source: str, reading: Reading) -> str:
    """The format given with --to, else the source's if both files have the same ending, else the one of the ending."""
    if to is None and source != STDIN and os.path.splitext(path)[1] == os.path.splitext(source)[1]:
        with open_source(source) as content:
            found = format_name(content, reading, "qrels")
            if found == "tsv" and content.head.startswith(BEIR_HEADER.strip().encode()):
                return "beir"  # readers treat BEIR as any table with a header
        if found in OUTPUT_FORMATS:
            return found
    return format_to_write(path, to)


def _refuse_same(*paths: str | None) -> None:
    for one, other in combinations([path for path in paths if path is not None], 2):
        if one == other or is_same_file(one, other):
            raise InputError("this file is named twice; each part needs its own file.", source=other)


def _refuse_nowhere(paths: Iterable[str]) -> None:
    """Check that both parts can be written before writing one: a part without the other is useless."""
    for path in paths:
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise InputError("cannot be written: the folder does not exist.", source=path)
