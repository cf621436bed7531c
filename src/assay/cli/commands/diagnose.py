"""assay diagnose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from msgspec.structs import replace

from assay.cli import write
from assay.cli.flags import with_flags
from assay.cli.options import (
    detail_options,
    like_option,
    measure_options,
    output_options,
    rendered,
    rule_options,
    unmatched_option,
)
from assay.cli.reading import input_options, named_runs, refuse_second_stdin
from assay.cli.run_files import runs_argument
from assay.diagnosis.diagnosing import diagnose
from assay.diagnosis.model import AREAS, Settings
from assay.evaluation import Unmatched
from assay.formats import as_run
from assay.formats.readings import Readings
from assay.report.diagnosis import RENDERERS
from assay.report.drawing.terminal import Detail

Command = TypeVar("Command", bound=Callable[..., Any])


SECTION = "Measure"


def _areas(context: click.Context, option: click.Parameter, given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _file(name: str, text: str) -> Callable[[Command], Command]:
    return click.option(f"--{name}", type=click.Path(dir_okay=name == "corpus"), help=text)


@click.command(
    "diagnose",
    epilog="Example: assay diagnose qrels.txt bm25.run hybrid.run -m nDCG@10 --queries queries.tsv --corpus corpus.jsonl",
)
@click.argument("qrels")
@runs_argument()
@measure_options
@click.option(
    "--k", type=click.IntRange(min=1), default=10, show_default=True, help="Number of top documents to check."
)
@click.option(
    "--pool-depth",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Depth to which a run counts as having found a document.",
)
@click.option("--baseline", help="Run to compare the others with.  [default: the first]")
@_file("presented", "Positions at which assessors saw documents: query, document, position.")
@_file("production", "Sample of real queries: one per line, optionally with a count.")
@_file("corpus", "Texts of the documents: JSONL, TREC, CSV, TSV or Parquet.")
@_file("segments", "The kind of each query: CSV, TSV or JSONL.")
@click.option("--only", callback=_areas, metavar="AREAS", help=f"Check only some of {','.join(AREAS)}.")
@click.option(
    "--alpha",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.05,
    show_default=True,
    help="Significance level of each finding.",
)
@click.option(
    "--draws", type=click.IntRange(min=1), default=2000, show_default=True, help="Number of permutations and resamples."
)
@click.option(
    "--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Random seed of tests that draw."
)
@detail_options()
@output_options(RENDERERS, "How to show the findings.")
@like_option
@rule_options
@input_options
@unmatched_option
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    output_format: str,
    output: str | None,
    detail: Detail,
    readings: Readings,
    like: str,
    unmatched: Unmatched,
    rules: dict[str, Any],
    **given: Any,
) -> None:
    """Find out what makes the results of RUNs misleading.

    Checks labels (unjudged documents), position (grades that follow the order shown), queries (test queries unlike real
    ones) and gaming (gains without better search). Each finding says what was measured, how certain it is, and what to
    do. Checks that are not possible are listed with the option they need. `assay explain DIA001` describes a finding.
    """
    refuse_second_stdin(qrels, runs)
    settings = Settings(**{name: given.pop(name) for name in Settings.__struct_fields__})
    found = diagnose(
        qrels,
        list(named_runs(runs, lambda path, name: as_run(path, readings.run, name=name))),
        measures,
        **given,
        queries=readings.run.queries.texts or None,
        settings=settings,
        rules=rules,
        like=like,
        reading=readings.qrels,
        unmatched=unmatched,
    )
    context = click.get_current_context()
    left_out = [replace(each, reason=with_flags(each.reason, context.command)) for each in found.not_looked_at]
    write(rendered(RENDERERS, output_format, replace(found, not_looked_at=tuple(left_out)), detail), output)
