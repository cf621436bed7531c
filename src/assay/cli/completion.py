"""Shell completion of commands, options, files and measure names.

A shell asks with each press of the tab key, so nothing heavy is imported: all names are in `completion.json`, which
`make docs` writes from the commands and the measures, and a small copy of the command line is made from it.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
from click.shell_completion import (
    BashComplete,
    CompletionItem,
    FishComplete,
    ShellComplete,
    ZshComplete,
    add_completion_class,
    shell_complete,
    split_arg_string,
)

from assay.cli import VARIABLE

TABLE = Path(__file__).with_name("completion.json")
CUTOFFS = (1, 3, 5, 10, 20, 50, 100, 1000)  # offered behind a measure
_FILES = {
    "FILE",
    "RUN",
    "RUNS",
    "QRELS",
    "REPORT",
    "OUT",
    "A",
    "B",
    "PLACE",
    "RECIPE",
    "FOLDER",
    "PATH",
    "LOG",
    "SEGMENTS",
    "ARGUMENTS",
}
_FOLDERS = {"DIR", "DIRECTORY"}
_MEASURES = {"MEASURE", "MEASURES"}


def complete(instruction: str) -> int:
    """Print the script of a shell or its completions; returns the exit status."""
    for shell in (Bash, Zsh, Fish):
        add_completion_class(shell)
    table = json.loads(TABLE.read_text(encoding="utf-8"))
    return shell_complete(_command(table["command"], table), {}, "assay", VARIABLE, instruction)


class _WholeWords(ShellComplete):
    """Completions of whole words: `--measure=nDCG`, of which click gives `nDCG`."""

    def get_completions(self, args: list[str], incomplete: str) -> list[CompletionItem]:
        """The words that could stand here."""
        option = incomplete[: incomplete.find("=") + 1] if incomplete.startswith("--") else ""
        found = super().get_completions(args, incomplete)
        return [CompletionItem(option + str(item.value), item.type, item.help) for item in found]


class Zsh(_WholeWords, ZshComplete):
    """Completion for zsh, with files behind NAME= and --option=."""

    source_template = ZshComplete.source_template.replace("_path_files -", "compset -P '*='; _path_files -")


class Fish(_WholeWords, FishComplete):
    """Completion for fish, with files behind NAME= and --option=, and names that have commas."""

    source_template = r"""
function %(complete_func)s;
    set -l response (env %(complete_var)s=fish_complete COMP_WORDS=(commandline -cp) COMP_CWORD=(commandline -t) %(prog_name)s);
    for completion in $response;
        set -l parts (string split -m 1 "," -- $completion);
        if test $parts[1] = "plain";
            echo $parts[2];
        else;
            set -l before (string match -r '^.*=' -- $parts[2]);
            set -l typed (string replace -r '^.*=' '' -- $parts[2]);
            set -l listed __fish_complete_path;
            test $parts[1] = "dir"; and set listed __fish_complete_directories;
            for path in ($listed "$typed");
                echo "$before$path";
            end;
        end;
    end;
end;
complete --no-files --command %(prog_name)s --arguments "(%(complete_func)s)";
"""


class Bash(_WholeWords, BashComplete):
    """Completion for bash, which divides words at @ and =, as in nDCG@10 and NAME=RUN."""

    source_template = r"""
%(complete_func)s() {
    local IFS=$'\n' typed="${COMP_LINE:0:COMP_POINT}" kept="" sign response kind value
    response=$(COMP_LINE="$typed" %(complete_var)s=bash_complete "$1")
    typed="${typed##* }"
    for sign in @ = :; do
        if [[ "$COMP_WORDBREAKS" == *"$sign"* && "$typed" == *"$sign"* ]]; then
            value="${typed%%"${typed##*"$sign"}"}"
            [[ "$sign" == @ ]] && value="${value%%@}"  # which readline takes for the first character of the word
            (( ${#value} > ${#kept} )) && kept="$value"
        fi
    done
    COMPREPLY=()
    for value in $response; do
        IFS=',' read -r kind value <<< "$value"
        if [[ "$kind" == plain ]]; then
            COMPREPLY+=("${value#"$kept"}")
        elif [[ "$kind" == dir ]]; then
            compopt -o dirnames 2> /dev/null
        else
            compopt -o default 2> /dev/null
        fi
    done
}
complete -o nosort -F %(complete_func)s %(prog_name)s 2> /dev/null || complete -F %(complete_func)s %(prog_name)s
"""

    def get_completion_args(self) -> tuple[list[str], str]:
        """The words before the one that is typed, and that one."""
        line = os.environ["COMP_LINE"]
        words = split_arg_string(line)[1:]
        return (words[:-1], words[-1]) if words and not line[-1:].isspace() else (words, "")


class _Names(click.types.StringParamType):
    """One of these names, or several with commas; each has a summary, and may take a cutoff."""

    name = "name"

    def __init__(self, known: Mapping[str, tuple[str, bool]]) -> None:
        self.known = known

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The names that begin as typed."""
        before, comma, typed = incomplete.rpartition(",")
        return [
            CompletionItem(before + comma + name, help=summary)
            for name, summary in self._all(typed)
            if name.startswith(typed)
        ]

    def _all(self, typed: str) -> Iterator[tuple[str, str]]:
        name, at, _ = typed.partition("@")
        for known, (summary, has_cutoff) in self.known.items():
            if not at:
                yield known, summary
            if has_cutoff and known == name:
                yield from ((f"{known}@{cutoff}", summary) for cutoff in CUTOFFS)


def _command(found: dict[str, Any], table: dict[str, Any]) -> click.Command:
    """A command that does nothing but have these options and arguments."""
    params = [_parameter(each, f"parameter_{place}", table) for place, each in enumerate(found["params"])]
    if "commands" not in found:
        return click.Command(found["name"], params=params, help=found["help"])
    below = {each["name"]: _command(each, table) for each in found["commands"]}
    return click.Group(found["name"], below, params=params, help=found["help"])


def _parameter(found: dict[str, Any], name: str, table: dict[str, Any]) -> click.Parameter:
    kind = found["kind"]
    kinds: dict[str, Any] = {
        "file": click.Path(dir_okay=True),
        "folder": click.Path(file_okay=False),
        "measure": _Names({name: tuple(about) for name, about in table["measures"].items()}),
        "code": _Names({code: (title, False) for code, title in table["codes"].items()}),
    }
    type_ = click.Choice(kind) if isinstance(kind, list) else kinds.get(kind, click.STRING)
    if "options" not in found:
        return click.Argument([name], nargs=found["nargs"], required=False, type=type_)
    if kind == "flag":
        return click.Option(found["options"], is_flag=True, help=found["help"])
    return click.Option(found["options"], type=type_, multiple=True, help=found["help"])


# Writing the table


def table_of(group: click.Group) -> str:
    """The text of `completion.json`; imports all commands and measures."""
    from assay.diagnosis.registry import all_looks
    from assay.measures import definitions
    from assay.validation.registry import all_rules

    measures = {
        name: [definition.summary, "cutoff" in definition.takes]
        for definition in definitions()
        for name in (definition.name, *definition.aliases)
    }
    codes = {rule.code: rule.title for rule in all_rules()} | {look.code: look.title for look in all_looks()}
    found = {"command": _written("assay", group), "measures": dict(sorted(measures.items())), "codes": codes}
    return json.dumps(found, indent=1, ensure_ascii=False) + "\n"


def _written(name: str, command: click.Command) -> dict[str, Any]:
    params = [_written_parameter(each) for each in command.params]
    options, arguments = (
        [each for each in params if "options" in each],
        [each for each in params if "options" not in each],
    )
    found = {"name": name, "help": command.get_short_help_str(limit=100), "params": options + arguments}
    if isinstance(command, click.Group):
        context = click.Context(command)
        below = ((each, command.get_command(context, each)) for each in command.list_commands(context))
        found["commands"] = [_written(each, child) for each, child in below if child is not None]
    return found


def _written_parameter(parameter: click.Parameter) -> dict[str, Any]:
    if not isinstance(parameter, click.Option):
        return {"kind": _kind_of(parameter), "nargs": parameter.nargs}
    flags = [*parameter.opts, *(f"/{flag}" for flag in parameter.secondary_opts)]
    written = ["".join(flags)] if parameter.secondary_opts else flags
    help_text = (parameter.help or "").partition(". ")[0].removesuffix(".")
    return {"options": written, "kind": _kind_of(parameter), "help": help_text}


def _kind_of(parameter: click.Parameter) -> str | list[str]:
    """What completes a parameter: its choices, or what its type and the word for its value in the help say."""
    if isinstance(parameter, click.Option) and parameter.is_flag:
        return "flag"
    if isinstance(parameter.type, click.Choice):
        return list(map(str, parameter.type.choices))
    if isinstance(parameter.type, click.Path):
        return "file" if parameter.type.file_okay else "folder"
    words = set(re.findall("[A-Z]+", (parameter.metavar or str(parameter.name)).upper()))
    kinds = ((_MEASURES, "measure"), ({"CODE"}, "code"), (_FILES, "file"), (_FOLDERS, "folder"))
    return next((kind for known, kind in kinds if words & known), "text")
