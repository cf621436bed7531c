"""The command line: parse, call, print. A command that needs a thought has it in the library.

Exit status: 0 done, 1 the answer is "no", 2 wrong usage or input that cannot be used, 3 inconclusive.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from assay._version import __version__
from assay.errors import AssayError, InputError

COMMANDS = {
    "evaluate": "assay.cli.evaluate",
    "benchmark": "assay.cli.benchmark",
    "compare": "assay.cli.compare",
    "gate": "assay.cli.gate",
    "diagnose": "assay.cli.diagnose",
    "trec_eval": "assay.cli.trec_eval",
    "measures": "assay.cli.measures",
    "models": "assay.cli.models",
    "conventions": "assay.cli.conventions",
    "runs": "assay.cli.runs",
    "qrels": "assay.cli.qrels",
    "collections": "assay.cli.collections",
    "explain": "assay.cli.validate:explain",
    "verify": "assay.cli.verify",
    "demo": "assay.cli.demo",
}


class LazyGroup(click.Group):
    """Commands are imported when they are used, so that `assay --version` answers at once.

    `places` says for each command where it lives: a module whose `command` it is, or `module:name`.
    """

    def __init__(self, *given: Any, places: Mapping[str, str], **named: Any) -> None:
        super().__init__(*given, **named)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        if cmd_name not in self.places:
            return None
        module, _, name = self.places[cmd_name].partition(":")
        command: click.Command = getattr(importlib.import_module(module), name or "command")
        return command


def _say_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from assay.native import path_in_use

        click.echo(f"assay, version {__version__} ({path_in_use()})")
        context.exit()


@click.group(
    cls=LazyGroup,
    places=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: assay evaluate qrels.txt bm25.run hybrid.run -m nDCG@10 -m AP",
)
@click.option("--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="The version.")
@click.option(
    "--plugin",
    "plugins",
    multiple=True,
    type=click.Path(dir_okay=False),
    help="A Python file with measures of your own.",
)
def group(plugins: tuple[str, ...]) -> None:
    """Measure how good a search system is, how sure one can be of it, and where it goes wrong."""
    if plugins:
        from assay.measures.core import load_file

        for path in plugins:
            load_file(path)


def main() -> None:
    """The `assay` command."""
    # Starting NumPy's threads for matrices takes longer than most evaluations, and only vector search has any use for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        if sys.argv[1:2] == ["trec_eval"]:
            # Its options are trec_eval's own, which click would read in another way.
            from assay.cli.trec_eval import run

            sys.exit(run(sys.argv[2:]))
        sys.exit(group.main(standalone_mode=False))  # the status of a command that asked for one, else None, which is 0
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(2)
    except AssayError as error:
        _complain(str(error))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stdout = None  # the reader has gone; nothing is left to flush
        sys.exit(0)
    except OSError as error:
        sys.stdout = None  # what cannot be written now cannot be flushed later
        _complain(f"the result cannot be written: {error.strerror}.")
        sys.exit(2)


def _complain(message: str) -> None:
    click.echo(f"Error: {message}".encode("utf-8", "backslashreplace"), err=True)


def write(text: str | bytes, output: Any = None) -> None:
    """Write text to a file, whole or not at all, or to the terminal; ids come out as the bytes they came in as."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    if output is None:
        if sys.stdout is None:
            raise InputError("the result cannot be written: standard output is closed.")
        sys.stdout.buffer.write(data)
        sys.stdout.flush()
    else:
        from assay.files import write_whole

        write_whole(output, data)
