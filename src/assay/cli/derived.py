"""Input and output of commands that make a run from other runs: read the files, write one file with its provenance."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click
from msgspec import Struct

from assay._version import __version__
from assay.cli import note, write
from assay.cli.options import metadata_option, out_option, spreadsheet_option
from assay.errors import AssayError, InputError
from assay.files import refuse_overwrite
from assay.formats import as_run
from assay.formats.ir_metadata import render_metadata
from assay.formats.readings import Reading
from assay.formats.streaming import stream_derived
from assay.formats.writing import OUTPUT_FORMATS, output_format, packed, run_as_bytes
from assay.records.identity import file_digest, is_file, refuse_changed, stamps
from assay.secrets import Secrets
from assay.tables import Run

Command = TypeVar("Command", bound=Callable[..., Any])
STDIO = "-"  # standard input or output


class Inputs(Struct, frozen=True):
    """The runs that were read, the identity of their files, and where to write the new run."""

    tables: tuple[Run, ...]
    files: tuple[Mapping[str, str], ...]
    others: Mapping[str, Mapping[str, str]]  # "queries": its identity, if there is such a file
    output: str
    to: str


def derived_run_options(command: Command) -> Command:
    """-o, --to, --tag, --spreadsheet and --no-metadata."""
    for option in (
        metadata_option("a TREC file"),
        spreadsheet_option,
        click.option("--tag", help="Run tag to write instead of the default."),
        click.option(
            "--to", type=click.Choice(OUTPUT_FORMATS), help="Output format; by default, from the ending of OUT."
        ),
        out_option,
    ):
        command = option(command)
    return command


def read_inputs(paths: Sequence[str], output: str, to: str | None, reading: Reading) -> Inputs:
    """Read the runs; an output that is one of the inputs is an error before anything is read."""
    others = [reading.queries.source] if reading.queries.source else []
    refuse_overwrite(output, [*paths, *others])
    target = output_format(output, to)
    if list(paths).count(STDIO) > 1:
        raise InputError("standard input (-) can be read only once.")
    before = stamps([*paths, *others])
    reading = reading.shared()
    tables = tuple(as_run(path, reading) for path in paths)
    reading.refuse_unused()
    files = tuple(input_identity(path) for path in paths)
    asked_in = {"queries": input_identity(others[0])} if others else {}
    refuse_changed(before)
    return Inputs(tables, files, asked_in, output, target)


def stream_derived_run(
    path: str,
    how: Callable[[], tuple[Callable[[Run], Run], Mapping[str, Any]]],
    output: str,
    to: str | None,
    reading: Reading,
    *,
    tag: str | None,
    metadata: bool,
) -> bool:
    """Write the run that a method makes of one file, some queries at a time; False, with no effect, if it needs the table.

    `how` gives the method and its description. Errors in what is read are left to the table, which has them in the usual order.
    """
    if STDIO in (output, path):
        return False
    try:
        refuse_overwrite(output, [path])
        before, target = stamps([path]), output_format(output, to)
        derive, method = how()
    except AssayError:
        return False
    inputs = Inputs((), (input_identity(path),), {}, output, target)

    def opening(run: Run) -> bytes:
        refuse_changed(before)
        return _header(run, method, inputs, tag) if metadata and target == "trec" else b""

    notes = stream_derived(path, output, target, reading, derive, opening, tag=tag)
    if notes is None:
        return False
    _print_notes(notes, target, metadata=metadata)
    return True


def input_identity(path: str) -> dict[str, str]:
    """The path of an input, without secrets, and the digest of a file."""
    if path == STDIO:
        return {"path": "standard input"}
    shown = {"path": Secrets().hide(path)}
    return {**shown, "sha256": file_digest(path).sha256} if is_file(path) else shown


def write_derived(
    run: Run,
    method: Mapping[str, Any],
    inputs: Inputs,
    *,
    tag: str | None,
    metadata: bool,
    spreadsheet: bool,
    notes: Sequence[str] = (),
) -> None:
    """Write the run, with comment lines about its method and inputs in a TREC file; then print the notes."""
    data, left_out = run_as_bytes(run, inputs.to, tag=tag, spreadsheet=spreadsheet)
    if metadata and inputs.to == "trec":
        data = _header(run, method, inputs, tag) + data
    out = None if inputs.output == STDIO else inputs.output
    write(data if out is None else packed(data, out), out)
    _print_notes((*notes, *left_out), inputs.to, metadata=metadata)


def _print_notes(notes: Sequence[str], to: str, *, metadata: bool) -> None:
    for text in notes:
        note(text)
    if metadata and to != "trec":
        note(f"{to} files have no comment lines, so this one does not record how it was made.")


def _header(run: Run, method: Mapping[str, Any], inputs: Inputs, tag: str | None) -> bytes:
    text = render_metadata(
        {
            "tag": tag or run.tag or run.name,
            "implementation": {"software": f"assay {__version__}"},
            "method": {"automatic": True, **method, "runs": list(inputs.files), **inputs.others},
        }
    )
    return text.encode("utf-8", "surrogateescape")
