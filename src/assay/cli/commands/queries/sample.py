"""assay queries sample."""

from __future__ import annotations

import os
from typing import Any, get_args

import click

from assay._version import __version__
from assay.cli import note, write
from assay.cli.derived import input_identity
from assay.cli.options import format_option, keeps_its_input
from assay.errors import InputError
from assay.files import refuse_overwrite
from assay.formats.chosen import parse_columns
from assay.formats.ir_metadata import render_metadata
from assay.formats.sources import COMPRESSION_SUFFIXES
from assay.formats.writing import packed
from assay.inputs.query_logs import Normalise, read_query_log
from assay.records.identity import refuse_changed, stamps
from assay.report.query_samples import QUERY_SAMPLE_RENDERERS, SampledLog, notes_on
from assay.weighting.sampling import By, sample_queries
from assay.weighting.writing import queries_as_tsv, weights_as_tsv


@click.command(
    "sample",
    short_help="Sample queries from a log, frequent ones more often.",
    epilog="Example: assay queries sample searches.txt.gz --size 200 --by traffic -o queries.tsv",
)
@click.argument("log")
@click.option("--size", type=click.IntRange(min=1), default=200, show_default=True, help="Number of queries to draw.")
@click.option(
    "--by",
    type=click.Choice(get_args(By)),
    default="traffic",
    show_default=True,
    help="traffic: a query is as likely as it is frequent. uniform: all different queries are equally likely.",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Seed of the random sample.")
@click.option(
    "--normalise",
    type=click.Choice(get_args(Normalise)),
    default="case",
    show_default=True,
    help="What makes two texts one query: they differ in case and blanks, in blanks only, or not at all.",
)
@click.option(
    "--columns",
    multiple=True,
    metavar="ROLE=NAME,...",
    help="Columns of a log with other names, such as query=term,count=searches.",
)
@click.option("-o", "--output", type=click.Path(dir_okay=False), help="File for ids and texts of the sampled queries.")
@click.option(
    "--weights",
    type=click.Path(dir_okay=False),
    help="File for their weights.  [default: next to the output, queries.weights.tsv for queries.tsv]",
)
@format_option(QUERY_SAMPLE_RENDERERS, "How to show the counts.")
@keeps_its_input
def command(
    log: str,
    size: int,
    by: By,
    seed: int,
    normalise: Normalise,
    columns: tuple[str, ...],
    output: str | None,
    weights: str | None,
    output_format: str,
) -> None:
    """Draw a query set from LOG, with weights for `evaluate --query-weights`.

    LOG has one query per line, repeated as often as it was asked; or query and count separated by a tab; or is a TSV, CSV,
    JSON Lines or Parquet file with the columns query and count. It can be compressed; - is standard input. The head, the
    torso and the tail of the traffic are all kept. The same seed gives the same sample. Without -o, only the counts are
    shown.
    """
    weights = _place_of_weights(log, output, weights)
    before = stamps([log])
    found = read_query_log(log, columns=_columns(columns), normalise=normalise)
    sample = sample_queries(found.counts, size, by=by, seed=seed)
    identity = input_identity(log)
    refuse_changed(before)
    shown = SampledLog(found, sample, identity, output, weights)
    if output is not None and weights is not None:
        queries = queries_as_tsv(sample).encode("utf-8", "surrogateescape")
        header = _header(shown)
        write(packed((header + weights_as_tsv(sample)).encode("utf-8", "surrogateescape"), weights), weights)
        write(packed(queries, output), output)
    write(QUERY_SAMPLE_RENDERERS[output_format](shown))
    for text in notes_on(shown):
        note(text)


def _place_of_weights(log: str, output: str | None, weights: str | None) -> str | None:
    """The file of the weights, after a check that both files can be written."""
    if output is None:
        if weights is not None:
            raise InputError(
                "weights without the queries are of no use; name a file for the queries, too: -o queries.tsv."
            )
        return None
    weights = weights or _beside(output)
    refuse_overwrite(weights, [log])
    if os.path.realpath(output) == os.path.realpath(weights):
        raise InputError(
            "queries and weights cannot be in one file; name another one: --weights WEIGHTS.", source=weights
        )
    for path in (output, weights):
        if not os.path.isdir(os.path.dirname(path) or "."):
            raise InputError("cannot be written: the folder does not exist.", source=path)
    return weights


def _beside(output: str) -> str:
    """queries.weights.tsv for queries.tsv, and queries.weights.tsv.gz for queries.tsv.gz."""
    stem, ending = os.path.splitext(output)
    if ending in COMPRESSION_SUFFIXES:
        return f"{_beside(stem)}{ending}"
    return f"{stem}.weights{ending or '.tsv'}"


def _columns(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return parse_columns(texts, example="query=term, count=searches") if texts else {}


def _header(shown: SampledLog) -> str:
    """Comment lines that record how the sample was made."""
    sample = shown.sample
    how: dict[str, Any] = {
        "by": sample.by,
        "size": sample.size,
        "seed": sample.seed,
        "normalise": shown.log.normalise,
        "queries": sample.queries,
        "searches": int(sample.traffic) if sample.traffic.is_integer() else sample.traffic,
        "strata": [
            {"name": one.name, "queries": one.queries, "sampled": one.sampled, "certain": one.certain}
            for one in sample.strata
        ],
    }
    return render_metadata(
        {"implementation": {"software": f"assay {__version__}"}, "method": {"sample": how, "log": shown.identity}}
    )
