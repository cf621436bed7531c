"""Options in the words of the command line: the library's messages name Python parameters, which users of a shell never see."""

from __future__ import annotations

import ast
import re
import shlex
from typing import Any

import click

from assay.errors import AssayError, did_you_mean
from assay.rules import RULES_IN_WORDS

# `split=`, `grades={'E': 3}`, `read_run(input_format='beir')` or `Rules(ties='input')`, in backticks
_PARAMETER = re.compile(r"`(?:read_(?P<kind>run|qrels)\(|(?P<rule>Rules)\()?(?P<name>[a-z_]+)=(?P<value>[^`]*?)\)?`")
_NO_COMMAND = re.compile(r"No such command '(?P<name>.*?)'\..*", re.DOTALL)
_NO_CHOICE = re.compile("'(?P<value>.*?)' is not one of ")
# What --queries and --scores were where they did not take a file
_RENAMED = {"--queries": ("--size",), "--scores": ("--score-type",)}


def with_flags(message: str, command: click.Command) -> str:
    """The message with the command's flags for the parameters that it has.

    >>> command = click.Command("sample", params=[click.Option(["--grades"]), click.Option(["--run-format"])])
    >>> with_flags("give letters a value: `grades={'E': 3, 'S': 2}`", command)
    'give letters a value: --grades E=3,S=2'
    >>> with_flags("read it with `read_run(input_format='beir')`, or `Rules(ties='input')`", command)
    "read it with --run-format beir, or `Rules(ties='input')`"
    """
    flags = {
        str(option.name): max(option.opts, key=len) for option in command.params if isinstance(option, click.Option)
    }

    def flag(found: re.Match[str]) -> str:
        name, value = found["name"], _as_argument(found["value"])
        of_kind = flags.get(f"{found['kind']}_format") if name == "input_format" else None
        if found["rule"]:  # `Rules(queries='both')` is the rule, `queries=` a file
            flag_of_rule = RULES_IN_WORDS[name].option
            option = flag_of_rule if flag_of_rule in flags.values() else None
        else:
            option = of_kind or flags.get(name)
        return found[0] if option is None else f"{option} {'' if value == 'True' else value}".rstrip()

    return _PARAMETER.sub(flag, message)


def with_new_name(error: click.UsageError) -> click.UsageError:
    """The error with the new name of an option that the command had under another one.

    >>> command = click.Command("sample", params=[click.Option(["--size"])])
    >>> with_new_name(click.NoSuchOption("--queries", ctx=click.Context(command))).message
    "No such option '--queries'; it is now called '--size'."
    """
    if not isinstance(error, click.NoSuchOption) or error.ctx is None:
        return error
    known = [flag for option in error.ctx.command.params for flag in option.opts]
    now = next((name for name in _RENAMED.get(error.option_name, ()) if name in known), None)
    if now is None:
        return error
    return click.UsageError(f"No such option {error.option_name!r}; it is now called {now!r}.", error.ctx)


def with_suggestion(error: click.UsageError) -> click.UsageError:
    """The error with the name of a command, or the value of an option, that is like the one that does not exist.

    >>> group = click.Group("assay", {"evaluate": click.Command("evaluate")})
    >>> with_suggestion(click.UsageError("No such command 'evalute'.", click.Context(group))).message
    "No such command 'evalute'; did you mean 'evaluate'?"
    """
    if isinstance(error, click.BadParameter) and error.param is not None and isinstance(error.param.type, click.Choice):
        wrong = _NO_CHOICE.match(error.message)
        hint = did_you_mean(wrong["value"], map(str, error.param.type.choices)) if wrong else ""
        return click.BadParameter(error.message.removesuffix(".") + hint, error.ctx, error.param) if hint else error
    found = _NO_COMMAND.fullmatch(error.message)
    if found is None or error.ctx is None or not isinstance(error.ctx.command, click.Group):
        return error
    hint = did_you_mean(found["name"], error.ctx.command.list_commands(error.ctx))
    return click.UsageError(f"No such command {found['name']!r}{hint}", error.ctx) if hint else error


def command_of(group: click.Command, arguments: list[str]) -> click.Command:
    """The command that these arguments call: the deepest one that they name."""
    for argument in arguments:
        try:
            below = group.get_command(click.Context(group), argument) if isinstance(group, click.Group) else None
        except AssayError:  # a plug-in that cannot be loaded
            return group
        group = group if below is None else below
    return group


def _as_argument(value: str) -> str:
    """A Python value as it is written in a shell; text that is not a Python value is returned unchanged."""
    try:
        read: Any = ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return value
    if read is True:  # an option without a value
        return ""
    if isinstance(read, dict):
        pairs = {name: "+".join(value) if isinstance(value, list) else value for name, value in read.items()}
        return shlex.quote(",".join(f"{name}={value}" for name, value in pairs.items()))
    return shlex.quote(",".join(map(str, read)) if isinstance(read, (list, tuple)) else str(read))
