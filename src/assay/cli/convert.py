"""assay runs convert, assay qrels convert."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click

from assay.cli import write
from assay.cli.one_file import grades_option, input_format_option, out_option
from assay.errors import InputError
from assay.files import is_same_file
from assay.formats import parse_grades, read_qrels, read_run
from assay.formats.writing import OUTPUT_FORMATS, output_format, packed, qrels_as_bytes, run_as_bytes

Command = TypeVar("Command", bound=Callable[..., Any])
STDOUT = "-"  # and standard input, where it is read from


def _output_options(command: Command) -> Command:
    command = click.option(
        "--to",
        type=click.Choice(OUTPUT_FORMATS),
        help="Format to write; else OUT's ending says it (.run and .txt are trec).",
    )(command)
    return out_option(command)


@click.command("convert", epilog="Example: assay runs convert bm25.run -o bm25.parquet")
@click.argument("run")
@_output_options
@click.option("--tag", help="Run tag to write instead of the file's own; TREC files need one.")
@input_format_option
def runs_convert(run: str, output: str, to: str | None, tag: str | None, input_format: str) -> None:
    """Write a RUN in another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Scores keep every digit, so that all measures stay the same. What a format cannot hold is told, and an id that it cannot
    hold is refused.
    """
    target = _target(run, output, to)
    data, left_out = run_as_bytes(read_run(run, input_format=input_format), target, tag=tag)
    _finish(data, left_out, output)


@click.command("convert", epilog="Example: assay qrels convert esci.csv --grades E=3,S=2,C=1,I=0 -o qrels.txt")
@click.argument("qrels")
@_output_options
@input_format_option
@grades_option
def qrels_convert(qrels: str, output: str, to: str | None, input_format: str, grades: str | None) -> None:
    """Write QRELS in another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Grades keep every digit. What a format cannot hold is told, and an id that it cannot hold is refused.
    """
    target = _target(qrels, output, to)
    letters = parse_grades(grades) if grades else None
    data, left_out = qrels_as_bytes(read_qrels(qrels, input_format=input_format, grades=letters), target)
    _finish(data, left_out, output)


def _target(source: str, output: str, to: str | None) -> str:
    """The format to write, known before anything is read."""
    if STDOUT not in (source, output) and is_same_file(source, output):
        raise InputError("this is also an input file; choose another output file.", source=output)
    return output_format(output, to)


def _finish(data: bytes, left_out: Iterable[str], output: str) -> None:
    write(data if output == STDOUT else packed(data, output), None if output == STDOUT else output)
    for note in left_out:
        click.echo(f"Note: {note}", err=True)
