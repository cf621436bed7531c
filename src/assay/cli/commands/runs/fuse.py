"""assay runs fuse."""

from __future__ import annotations

import click

from assay.cli.derived import derived_run_options, read_inputs, write_derived
from assay.cli.reading import reading_options
from assay.cli.run_files import runs_argument
from assay.errors import FusionError
from assay.formats.numbers import number
from assay.formats.readings import Reading
from assay.fusion import METHODS, NORMALISATIONS, RANKS, fuse_with_notes

EXAMPLES = """Example: assay runs fuse bm25.run dense.run -o hybrid.run

Example: assay runs fuse bm25.run dense.run -p k=20 --depth 1000 -o hybrid.run

Example: assay runs fuse bm25.run dense.run --method weighted --norm min-max --weights 0.3,0.7 -o hybrid.run"""


@click.command("fuse", short_help="Fuse several runs into one.", epilog=EXAMPLES)
@runs_argument(metavar="RUNS...")
@click.option("--method", default="rrf", show_default=True, help=f"How to fuse: {', '.join(METHODS)}.")
@click.option("--norm", default="none", show_default=True, help=f"Normalise first: {', '.join(NORMALISATIONS)}.")
@click.option("--weights", metavar="W,W,...", help="One number (0 or more) per run, in the same order.")
@click.option(
    "-p",
    "parameters",
    metavar="NAME=VALUE",
    multiple=True,
    help="Parameter of the method: " + ", ".join(f"{m.name} {name}" for m in METHODS.values() for name in m.defaults),
)
@click.option(
    "--ranks",
    type=click.Choice(list(RANKS)),
    default="score",
    show_default=True,
    help="Where ranks come from: the scores, or the file's rank column.",
)
@click.option("--depth", type=int, help="Documents to keep per query.")
@reading_options("run")
@derived_run_options
def command(
    runs: tuple[str, ...],
    method: str,
    norm: str,
    weights: str | None,
    parameters: tuple[str, ...],
    ranks: str,
    depth: int | None,
    reading: Reading,
    output: str,
    to: str | None,
    tag: str | None,
    spreadsheet: bool,
    metadata: bool,
) -> None:
    """Fuse RUNS into one, with reciprocal rank fusion or another method.

    RUNS can be in any supported format, plain or compressed; a folder or a pattern stands for several. A TREC file starts with comment lines that record how it
    was made. Notes point out surprises, such as queries that some runs lack.
    """
    inputs = read_inputs(runs, output, to, reading)
    given = _parameters(parameters)
    fused = fuse_with_notes(inputs.tables, method, norm, _weights(weights), given, ranks=ranks, depth=depth)
    how = {"name": fused.method, **fused.parameters, "normalisation": fused.norm, "ranks": fused.ranks}
    how |= {} if fused.weights is None else {"weights": fused.weights}
    how |= {} if depth is None else {"depth": depth}
    write_derived(
        fused.run, {"fusion": how}, inputs, tag=tag, metadata=metadata, spreadsheet=spreadsheet, notes=fused.notes
    )


def _weights(text: str | None) -> list[float] | None:
    if text is None:
        return None
    return [_number(part, f"--weights {text}: ") for part in text.split(",")]


def _parameters(texts: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise FusionError(f"-p {text}: expected a name and a number, such as k=60.")
        if name in found:
            raise FusionError(f"-p {text}: {name} is given twice.")
        found[name] = _number(value, f"-p {text}: ")
    return found


def _number(text: str, where: str) -> float:
    found = number(text)
    if found is None:
        raise FusionError(f"{where}{text!r} is not a number.")
    return int(found) if found.is_integer() else found
