"""Commands that make a run from others: the files that are read, and the file that is written with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec import Struct

from assay._version import __version__
from assay.cli import write
from assay.cli.one_file import out_option
from assay.errors import InputError
from assay.files import is_same_file
from assay.formats import read_run
from assay.formats.writing import OUTPUT_FORMATS, output_format, packed, run_as_bytes
from assay.records.identity import file_digest, is_file, refuse_changed, stamps
from assay.records.ir_metadata import render_metadata
from assay.tables import Run

Command = TypeVar("Command", bound=Callable[..., Any])
STDIO = "-"  # standard input or output


class Inputs(Struct, frozen=True):
    """The runs that were read, what is known of their files, and where the new one goes."""

    tables: tuple[Run, ...]
    files: tuple[Mapping[str, str], ...]
    output: str
    to: str


def derived_run_options(command: Command) -> Command:
    """-o, --to, --tag and --no-metadata."""
    for option in (
        click.option(
            "--metadata/--no-metadata",
            default=True,
            help="Comment lines on top of a TREC file that say how it was made; trec_eval 9 does not read them.",
        ),
        click.option("--tag", help="Run tag to write instead of our own."),
        click.option("--to", type=click.Choice(OUTPUT_FORMATS), help="Format to write; else OUT's ending says it."),
        out_option,
    ):
        command = option(command)
    return command


def read_inputs(paths: Sequence[str], output: str, to: str | None) -> Inputs:
    """The runs of these files; refuses to write over one of them before anything is read."""
    for path in paths:
        if STDIO not in (path, output) and is_same_file(path, output):
            raise InputError("this is also an input file; choose another output file.", source=output)
    target = output_format(output, to)
    if list(paths).count(STDIO) > 1:
        raise InputError("standard input (-) can be read only once.")
    before = stamps(paths)
    tables = tuple(read_run(path) for path in paths)
    files = tuple(_identity(path) for path in paths)
    refuse_changed(before)
    return Inputs(tables, files, output, target)


def _identity(path: str) -> dict[str, str]:
    if path == STDIO:
        return {"path": "standard input"}
    return {"path": path, "sha256": file_digest(path).sha256} if is_file(path) else {"path": path}


def write_derived(
    run: Run,
    method: Mapping[str, Any],
    inputs: Inputs,
    *,
    tag: str | None,
    metadata: bool,
    notes: Sequence[str] = (),
) -> None:
    """Write the run, in a TREC file under comment lines with its method and inputs; then tell the notes."""
    data, left_out = run_as_bytes(run, inputs.to, tag=tag)
    if metadata and inputs.to == "trec":
        data = _header(run, method, inputs, tag).encode("utf-8", "surrogateescape") + data
    elif metadata:
        left_out = (
            *left_out,
            f"{inputs.to} files hold no comment lines, so that this one does not say how it was made.",
        )
    out = None if inputs.output == STDIO else inputs.output
    write(data if out is None else packed(data, out), out)
    for note in (*notes, *left_out):
        click.echo(f"Note: {note}".encode("utf-8", "backslashreplace"), err=True)


def _header(run: Run, method: Mapping[str, Any], inputs: Inputs, tag: str | None) -> str:
    return render_metadata(
        {
            "tag": tag or run.tag or run.name,
            "implementation": {"software": f"assay {__version__}"},
            "method": {"automatic": True, **method, "runs": list(inputs.files)},
        }
    )
