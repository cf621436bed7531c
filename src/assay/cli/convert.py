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
STDOUT = "-"  # also means standard input


def _output_options(command: Command) -> Command:
    command = click.option(
        "--to",
        type=click.Choice(OUTPUT_FORMATS),
        help="Format to write; by default, taken from the extension of OUT (.run and .txt are trec).",
    )(command)
    return out_option(command)


@click.command("convert", epilog="Example: assay runs convert bm25.run -o bm25.parquet")
@click.argument("run")
@_output_options
@click.option("--tag", help="Run tag to write instead of the original; TREC files need one.")
@input_format_option
def runs_convert(run: str, output: str, to: str | None, tag: str | None, input_format: str) -> None:
    """Convert a RUN to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Scores keep every digit, so all measures stay the same. A note lists columns that the format cannot store. Ids that it
    cannot store are an error.
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
    """Convert QRELS to another format: trec, beir, msmarco, json, jsonl, csv, tsv, parquet or arrow.

    Grades keep every digit. A note lists columns that the format cannot store. Ids that it cannot store are an error.
    """
    target = _target(qrels, output, to)
    letters = parse_grades(grades) if grades else None
    data, left_out = qrels_as_bytes(read_qrels(qrels, input_format=input_format, grades=letters), target)
    _finish(data, left_out, output)


def _target(source: str, output: str, to: str | None) -> str:
    """The format to write, decided before anything is read."""
    if STDOUT not in (source, output) and is_same_file(source, output):
        raise InputError("input and output are the same file; name another output file.", source=output)
    return output_format(output, to)


def _finish(data: bytes, left_out: Iterable[str], output: str) -> None:
    write(data if output == STDOUT else packed(data, output), None if output == STDOUT else output)
    for note in left_out:
        click.echo(f"Note: {note}", err=True)
