"""assay measures."""

from __future__ import annotations

import json

import click

from assay.cli import write
from assay.errors import UnknownMeasureError
from assay.measures import Definition, definition_of, definitions
from assay.measures.explain import page
from assay.measures.grammar import parse_request
from assay.report.pages import list_as_text, page_as_text


@click.group("measures", epilog="Example: assay measures explain nDCG")
def command() -> None:
    """List the measures and explain them."""


@command.command("list", epilog="Example: assay measures list --format json")
@click.option("--format", "output_format", type=click.Choice(["table", "json"]), default="table", show_default=True)
def list_measures(output_format: str) -> None:
    """List all measures with a line on each and their other names."""
    pages = [page(definition) for definition in definitions()]
    if output_format == "json":
        names = [{"name": p.name, "family": p.family, "summary": p.summary, "names": dict(p.names)} for p in pages]
        write(json.dumps({"schema": "assay/measures/1", "measures": names}, indent=2) + "\n")
    else:
        write(list_as_text(pages))


def _definition(name: str) -> Definition:
    """The measure behind a name, however it is written: nDCG, ndcg_cut, ndcg_cut_10, nDCG(gain='exp')@10."""
    stem = name.partition("@")[0].partition("(")[0]
    try:
        return definition_of(stem)
    except UnknownMeasureError:
        requests = parse_request(name)
        return requests[0].measure.definition


@command.command("explain", epilog="Example: assay measures explain nDCG ndcg_cut MRR")
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
def explain(names: tuple[str, ...]) -> None:
    """Explain a measure: formula, edge cases, parameters, paper, an example, and its names in other tools."""
    found = dict.fromkeys(_definition(name) for name in names)
    write("\n".join(page_as_text(page(definition)) for definition in found))
