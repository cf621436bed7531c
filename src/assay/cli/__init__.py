"""The command line: parse, call, print. All logic is in the library.

Exit status: 0 done, 1 the answer is "no", 2 wrong usage or unusable input, 3 inconclusive, 70 a fault of assay itself,
130 interrupted, 129 and 143 ended by another signal. A crash must never look like an answer, so `main` catches everything.
"""

from __future__ import annotations

import importlib.util
import io
import os
import re
import signal
import sys
import warnings
from collections.abc import Iterable
from functools import cache
from typing import Any, TextIO

import click

from assay._version import __version__
from assay.errors import AssayError, CleanUpWarning, InputError, NameWarning, for_terminal, show_id
from assay.report.drawing.terminal import Drawn, is_terminal, shown_on_terminal
from assay.signals import Left, end_in_order, signal_of

VARIABLE = "_ASSAY_COMPLETE"  # of the environment; shells set it for completion
DEBUG = "ASSAY_DEBUG"  # a variable of the environment: show where a fault happened
SECTIONS = ("Measure", "Decide", "Search", "Files", "Learn")  # of `assay --help`; a command's module names its own


class HelpText(click.HelpFormatter):
    """Help whose long lists of choices are divided, so that they fit."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """A list of options or commands with their help."""
        super().write_dl([(self._divided(name), text) for name, text in rows], col_max, col_spacing)

    def _divided(self, name: str) -> str:
        room = self.width - self.current_indent
        if len(name) <= room or "|" not in name:
            return name
        head = name.index("[") + 1
        lines = [name[:head]]
        for choice in re.findall("[^|]+[|]?", name[head:]):
            if len(lines[-1]) + len(choice) > room:
                lines.append(" " * head)
            lines[-1] += choice
        return ("\n" + " " * self.current_indent).join(lines)


click.Context.formatter_class = HelpText  # of all commands, which are of many classes


class CommandFolder(click.Group):
    """The commands of a package: each module is named after its command and holds it as `command`.

    A module is imported when its command is used, so `assay --version` answers at once.
    """

    def __init__(self, *given: Any, package: str, **named: Any) -> None:
        super().__init__(*given, **named)
        self.package = package

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        import pkgutil

        modules = pkgutil.iter_modules(importlib.import_module(self.package).__path__)
        return sorted(module.name for module in modules if not module.name.startswith("_"))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of this name."""
        module = f"{self.package}.{cmd_name}"
        if cmd_name.startswith("_") or not cmd_name.isidentifier() or importlib.util.find_spec(module) is None:
            return None
        command: click.Command = importlib.import_module(module).command
        return command


class CommandSections(CommandFolder):
    """Commands listed by purpose, which each module names in `SECTION`."""

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """One line for each command; the first of a section names it."""
        names: dict[str, list[str]] = {section: [] for section in SECTIONS}
        for name in self.list_commands(ctx):
            names[importlib.import_module(f"{self.package}.{name}").SECTION].append(name)
        rows = []
        for section, members in names.items():
            for place, name in enumerate(members):
                command = self.get_command(ctx, name)
                help_text = "" if command is None else command.get_short_help_str(limit=60)
                rows.append((f"{'' if place else section:<9}{name}", help_text))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def _say_version(context: click.Context, option: click.Parameter, asked: bool) -> None:
    if asked:
        from assay.native import path_in_use

        click.echo(f"assay, version {__version__} ({path_in_use()})")
        context.exit()


def _load_plugins(context: click.Context, option: click.Parameter, paths: tuple[str, ...]) -> None:
    """Load plug-ins before the command is imported, whose help lists what they add."""
    if paths and not context.resilient_parsing:
        from assay.plugins import load_file

        for path in paths:
            load_file(path)


@click.group(
    cls=CommandSections,
    package="assay.cli.commands",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Example: assay evaluate qrels.txt bm25.run hybrid.run -m nDCG@10 -m AP",
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_say_version, help="Show the version."
)
@click.option(
    "--plugin",
    multiple=True,
    type=click.Path(dir_okay=False),
    expose_value=False,
    callback=_load_plugins,
    help="A Python file with your own measures or search modes.",
)
def group() -> None:
    """Measure how good search is, how sure that is, and where it goes wrong."""


def main() -> None:
    """The `assay` command."""
    # Starting NumPy's BLAS threads takes longer than most evaluations, and only vector search uses them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    warnings.showwarning = _show_warning
    end_in_order()
    try:
        if VARIABLE in os.environ:  # a shell asks what could come next
            from assay.cli.completion import complete

            sys.exit(complete(os.environ[VARIABLE]))
        sys.exit(_status())
    except click.exceptions.Exit as done:
        sys.exit(done.exit_code)
    except click.UsageError as error:
        from assay.cli.flags import with_new_name, with_suggestion

        _show_usage(with_suggestion(with_new_name(error)))
        sys.exit(2)
    except click.ClickException as error:
        _show_usage(error)
        sys.exit(2)
    except AssayError as error:
        from assay.cli.flags import command_of, with_flags

        _complain(with_flags(str(error), command_of(group, sys.argv[1:])))
        sys.exit(2)
    except (click.Abort, KeyboardInterrupt):
        _complain("interrupted")
        sys.exit(130)
    except BrokenPipeError:
        sys.stdout = None  # the reader has closed the pipe
        sys.exit(0)
    except OSError as error:
        sys.stdout = None  # flushing it at exit would fail too
        from assay.files import reason

        named = isinstance(error.filename, (str, bytes))  # otherwise it is standard output
        place = show_id(os.fsdecode(error.filename), 300) if named else "the result cannot be written"
        _complain(f"{place}: {reason(error)}")
        sys.exit(2)
    except RecursionError as error:  # readers say which file; this is for one that does not
        _show_traceback(error)
        _complain("the input is nested too deeply to be read.")
        sys.exit(2)
    except Exception as error:
        _show_traceback(error)
        _complain(_fault(error))
        sys.exit(70)
    finally:
        files = sys.modules.get("assay.files")  # without it, nothing was written
        if files is not None:
            files.remove_unfinished()


def _status() -> int | None:
    """Run the command; returns its status, None if it is 0. An interruption comes out as one, whatever it became."""
    try:
        if sys.argv[1:2] == ["trec_eval"]:
            # click would parse trec_eval's options differently.
            from assay.cli.commands.trec_eval import run

            return run(sys.argv[2:])
        status: int | None = group.main(prog_name="assay", standalone_mode=False)
        return status
    except Exception as error:
        number = signal_of(error)
        if number is None:
            raise
        raise (KeyboardInterrupt() if number == signal.SIGINT else Left(number)) from None


def _fault(error: Exception) -> str:
    """A fault of our own, in one line."""
    if isinstance(error, MemoryError):
        return "out of memory. Nothing was written."
    what = show_id(f"{type(error).__name__}: {error}".rstrip(": "), 300)
    if os.environ.get(DEBUG):
        return f"a fault in assay ({what}). Please report it, with the lines above."
    return f"a fault in assay ({what}). Please report it, with what the command prints under {DEBUG}=1."


def _show_traceback(error: Exception) -> None:
    if os.environ.get(DEBUG):
        import traceback

        say("".join(traceback.format_exception(error)).rstrip("\n"))


def _show_usage(error: click.ClickException) -> None:
    text = io.StringIO()
    error.show(text)
    say(text.getvalue().rstrip("\n"))


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print our own warnings as notes, and others as Python does."""
    if issubclass(category, (NameWarning, CleanUpWarning)):
        _note(str(message))
    else:
        say(warnings.formatwarning(message, category, filename, lineno, line).rstrip("\n"))


@cache  # a command can parse the same names several times
def _note(text: str) -> None:
    say(f"Note: {text}")


def _complain(message: str) -> None:
    say(f"Error: {message}")


def say(text: str) -> None:
    """Print lines for people, on standard error, without control characters and without the secrets of the command line."""
    from assay.secrets import Secrets

    secrets = Secrets()
    secrets.hide_command(sys.argv[1:])  # to know them
    click.echo(for_terminal(secrets.hide_in_message(text)).encode(), err=True)


def note(text: str) -> None:
    """Print a note of the library on standard error, with the command's flags for parameters."""
    from assay.cli.flags import with_flags

    context = click.get_current_context(silent=True)  # none in a program that calls these functions itself
    say(f"Note: {text if context is None else with_flags(text, context.command)}")


def write(text: str | bytes, output: Any = None) -> None:
    """Write text to a file, completely or not at all, or to standard output.

    Ids keep their bytes, for the programs that read them; only on a terminal are control characters escaped.
    """
    if output is not None:
        from assay.files import write_whole

        write_whole(output, _as_data(text.without_colours() if isinstance(text, Drawn) else text))
        return
    if sys.stdout is None:
        raise InputError("the result cannot be written: standard output is closed.")
    data = _as_data(shown_on_terminal(_as_text(text)) if is_terminal() else text)
    sys.stdout.buffer.write(data)
    sys.stdout.flush()


def _as_data(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")


def _as_text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode("utf-8", "surrogateescape")
