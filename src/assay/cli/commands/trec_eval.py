"""assay trec_eval."""

from __future__ import annotations

import io
import sys
from collections.abc import Sequence

import click

from assay.cli import write
from assay.cli.bars import is_watched
from assay.errors import for_terminal

SECTION = "Measure"


def run(arguments: Sequence[str]) -> int:
    """Run as trec_eval and return its exit code."""
    from assay.compat.trec_eval import main

    out, complaints = io.StringIO(), io.StringIO()
    code = main(arguments, out, complaints)
    write(out.getvalue())
    _complain(complaints.getvalue())
    return code


def _complain(text: str) -> None:
    """Bytes as the C program writes them, but on a terminal without control characters."""
    shown = for_terminal(text) if is_watched() else text
    click.echo(shown.encode("utf-8", "surrogateescape"), err=True, nl=False)


@click.command(
    "trec_eval",
    short_help="Emulate trec_eval 9.0.8 or 10.0.",
    context_settings={"ignore_unknown_options": True, "help_option_names": []},
    epilog="Example: assay trec_eval -q -c -m ndcg_cut.10 -m map qrels.txt run.txt",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def command(arguments: tuple[str, ...]) -> None:
    """Emulate trec_eval 9.0.8 or 10.0: same options, same output, same exit codes. See `assay trec_eval -h`."""
    sys.exit(run(arguments))
