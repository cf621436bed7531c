"""assay benchmark."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.benchmark.recipe import DEFAULT_MODES
from assay.cli import say, write
from assay.cli.bars import progress_bars
from assay.cli.options import detail_options, format_option, parts_options, rendered
from assay.errors import InputError, show_id
from assay.report.drawing.terminal import Detail
from assay.retrieval.modes import MODES

if TYPE_CHECKING:  # imported only when a benchmark runs: it needs msgspec and SciPy
    from assay.benchmark.preparing import Prepared
    from assay.benchmark.recipe import Recipe
    from assay.records.benchmark import BenchmarkReport

SECTION = "Search"
FORMATS = ("table", "json", "markdown")


@click.group(
    "benchmark",
    short_help="Search a collection in several modes and compare.",
    epilog="Example: assay benchmark run --collection insurance --modes lexical,vector,hybrid",
)
def command() -> None:
    """Run the same queries in several search modes, evaluate and compare the results, and recommend a mode."""


@command.command(
    "run",
    short_help="Run a benchmark from a recipe or from options.",
    epilog="Example: assay benchmark run --collection my-folder --modes lexical,vector,hybrid -m AP",
)
@click.argument("recipe", required=False, type=click.Path(dir_okay=True))
@click.option(
    "--collection",
    metavar="DIR|NAME",
    help="Folder with documents, queries and judgments, or a built-in one: insurance, shop.  [default: insurance]",
)
@click.option("--split", help="Split of the judgments to use.  [default: test, or the only one]")
@parts_options
@click.option(
    "--modes",
    metavar="NAME,...",
    help=f"Search modes: {', '.join(MODES)}, or those of the recipe.  [default: {','.join(DEFAULT_MODES)}]",
)
@click.option(
    "--allow-missing",
    is_flag=True,
    default=None,
    help="Leave out chosen modes whose package or model is missing, instead of stopping.",
)
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="Measure to compute, or several with commas; repeatable. The first one decides the best mode.",
)
@click.option("--depth", type=click.IntRange(min=1), help="Documents per query.  [default: 1000]")
@click.option("--targets", metavar="FILE|NAME", help="Check the means against a target profile.")
@click.option(
    "--segments",
    metavar="FILE|NAME",
    help="Results by segment: CSV with the query id first, or difficulty; length and relevant are always included.",
)
@click.option("--latency-limit", type=float, metavar="MS", help="Also find the best mode within this time per query.")
@click.option("--seed", type=click.IntRange(min=0), help="Seed for sampling the queries to time.  [default: 1]")
@click.option("--repeats", type=click.IntRange(min=1), help="Timed passes over the queries.  [default: 3]")
@click.option(
    "--output",
    type=click.Path(file_okay=False),
    metavar="DIR",
    help="Folder for reports, runs and indexes.  [default: benchmark-COLLECTION]",
)
@detail_options()
@format_option(FORMATS)
def run_command(recipe: str | None, output: str | None, output_format: str, detail: Detail, **given: Any) -> None:
    """Run the benchmark described by a RECIPE (a TOML file, see `assay benchmark init`) or by the options.

    Options override the recipe. Without either, the embedded insurance collection is searched in the modes lexical,
    vector and hybrid. To resume an interrupted benchmark, run the same command again.
    """
    from assay.report.benchmark import RENDERERS

    chosen = _recipe(recipe, given)
    folder = output or f"benchmark-{Path(chosen.collection).resolve().name}"
    try:
        report = _run(_prepared(chosen), folder)
    except KeyboardInterrupt:
        say(f"Interrupted. Finished steps are in {show_id(folder, 200)}; run the same command again to resume.")
        raise
    write(rendered(RENDERERS, output_format, report, detail))
    say(f"Report: {show_id(os.path.join(folder, 'BenchmarkReport.html'), 300)}")


@command.command(
    "init",
    short_help="Write a recipe, ready to edit and run.",
    epilog="Example: assay benchmark init my-benchmark.toml",
)
@click.argument("path", default="benchmark.toml", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def init_command(path: str, force: bool) -> None:
    """Write a commented recipe to PATH (default: benchmark.toml), ready to run."""
    from assay.benchmark.template import recipe_text

    if os.path.exists(path) and not force:
        raise InputError("file already exists. Overwrite it with --force.", source=path)
    write(recipe_text(), path)
    say(f"Recipe: {show_id(path, 200)}. Run it with `assay benchmark run {show_id(path, 200)}`.")


def _recipe(path: str | None, given: dict[str, Any]) -> Recipe:
    from assay.benchmark.recipe import Recipe, parse_measure_names, parse_modes, read_recipe
    from assay.collections.columns import parse_collection_columns, parse_files

    recipe = Recipe() if path is None else read_recipe(path)
    names, measures, limit = given.pop("modes"), given.pop("measures"), given["latency_limit"]
    given |= {
        "columns": parse_collection_columns(given["columns"]) or None,
        "files": parse_files(given["files"]) or None,
    }
    if limit is not None and not 0 < limit < float("inf"):
        raise click.BadParameter("takes a positive number of milliseconds.", param_hint="--latency-limit")
    if names is not None:
        own = (*recipe.modes, *recipe.parts)
        given["modes"] = parse_modes([name.strip() for name in names.split(",") if name.strip()], own)
        given["parts"] = own
        given["allow_missing"] = bool(given["allow_missing"])
    if measures:
        given["measures"] = parse_measure_names(measures)
    return recipe.but(**given)


def _prepared(recipe: Recipe) -> Prepared:
    from assay.benchmark.preparing import prepare, shown_path

    with progress_bars() as progress:
        prepared = prepare(recipe, command=("assay", *sys.argv[1:]), progress=progress)
    for finding in prepared.collection.findings:
        if finding.severity == "note":  # notes are only in the report
            continue
        place = shown_path(finding.file) + (f":{finding.line}" if finding.line is not None else "")
        say(f"{show_id(place, 200)}: {finding.code} {finding.severity}: {show_id(finding.message, 500)}")
    return prepared


def _run(prepared: Prepared, folder: str) -> BenchmarkReport:
    from assay.benchmark.running import run_benchmark

    with progress_bars() as progress:
        return run_benchmark(prepared, folder, progress)
