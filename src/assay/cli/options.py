"""The options and arguments that commands share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import wraps
from typing import Any, TypeVar, cast, get_args

import click

from assay.errors import InputError
from assay.evaluation import DEFAULT_MEASURES, Unmatched
from assay.files import refuse_overwrite
from assay.measures.conventions import CONVENTIONS
from assay.measures.presets import PRESETS, preset
from assay.report.drawing.terminal import Detail, is_terminal
from assay.rules import RULE_CHOICES, RULES_IN_WORDS, Rules

Command = TypeVar("Command", bound=Callable[..., Any])


def rule_options(command: Command) -> Command:
    """One option for each rule in `RULES_IN_WORDS`, and --depth; the command gets those that were given as `rules`."""
    options = {name: texts.option for name, texts in RULES_IN_WORDS.items()} | {"depth": "--depth"}

    @wraps(command)
    def with_rules(*given: Any, **named: Any) -> Any:
        chosen = {name: named.pop(option[2:].replace("-", "_")) for name, option in options.items()}
        return command(*given, rules={name: value for name, value in chosen.items() if value is not None}, **named)

    decorated: Any = click.option(
        "--depth", type=click.IntRange(min=0), help="Evaluate only this many documents per query."
    )(with_rules)
    for name, texts in reversed(RULES_IN_WORDS.items()):
        option = click.option(
            texts.option,
            type=click.Choice(list(texts.choices)),
            help=f"{texts.help}  [default: {getattr(Rules(), name)}]",
        )
        decorated = option(decorated)
    return cast("Command", decorated)


def like_option(command: Command) -> Command:
    """--like: the tool whose conventions to follow."""
    return click.option(
        "--like",
        type=click.Choice(list(CONVENTIONS)),
        default="assay",
        show_default=True,
        help="Follow the conventions of this tool; options for single rules override it. See `assay conventions`.",
    )(command)


def measure_options(command: Command) -> Command:
    """-m and --preset; the command gets the names as `measures`."""

    def chosen(context: click.Context, option: click.Parameter, names: tuple[str, ...]) -> tuple[str, ...]:
        asked = [name for key in context.params.pop("presets", ()) for name in preset(key).measures]
        return (*asked, *names) or DEFAULT_MEASURES

    command = click.option(
        "-m",
        "--measure",
        "measures",
        multiple=True,
        callback=chosen,
        help=f"Measure to compute, or several with commas: nDCG@5,10,AP; repeatable. Default: {' '.join(DEFAULT_MEASURES)}. See `assay measures list`.",
    )(command)
    return click.option(
        "--preset",
        "presets",
        type=click.Choice(list(PRESETS)),
        multiple=True,
        is_eager=True,
        help="Compute the official measures of a track or benchmark. See `assay measures presets`.",
    )(command)


def format_option(formats: Iterable[str], help_text: str = "Output format.") -> Callable[[Command], Command]:
    """--format; the command gets it as `output_format`."""
    return click.option(
        "--format",
        "output_format",
        type=click.Choice(list(formats)),
        default="table",
        show_default=True,
        help=help_text,
    )


def output_options(formats: Iterable[str], help_text: str) -> Callable[[Command], Command]:
    """--format and -o; the command gets `output_format` and `output`, which is never one of its input files."""

    def decorate(command: Command) -> Command:
        command = keeps_its_input(command)
        command = click.option(
            "-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of standard output."
        )(command)
        return format_option(formats, help_text)(command)

    return decorate


def detail_options(*, quiet: bool = False) -> Callable[[Command], Command]:
    """-v and, for commands whose answer is a table, --quiet; the command gets them as `detail`."""

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_detail(*given: Any, verbose: bool, quiet: bool = False, **named: Any) -> Any:
            if quiet and verbose:
                raise click.UsageError("--quiet and --verbose exclude each other; leave one out.")
            return command(*given, detail=Detail(quiet, verbose, hint="-v"), **named)

        decorated: Any = with_detail
        if quiet:
            decorated = click.option("--quiet", is_flag=True, help="Print the table alone, without remarks.")(decorated)
        return cast(
            "Command",
            click.option(
                "-v", "--verbose", is_flag=True, help="Also print the conventions, the method and all details in full."
            )(decorated),
        )

    return decorate


def rendered(
    renderers: Mapping[str, Callable[..., str]], output_format: str, value: object, detail: Detail, **more: Any
) -> str:
    """The value in this format; the detail is for the terminal, all other formats are complete."""
    if output_format == "table":
        return renderers[output_format](value, detail=detail, **more)
    return renderers[output_format](value, **more)


def refuse_page_on_terminal(output_format: str, output: str | None, example: str) -> None:
    """Refuse to print an HTML page on a terminal."""
    if output_format == "html" and output is None and is_terminal():
        raise InputError(f"an HTML page cannot be shown in the terminal; write it to a file: -o {example}")


def refuse_options_of_runs(useful: Iterable[str]) -> None:
    """Reject options that --scores would silently ignore: all but these."""
    context = click.get_current_context()
    useless = [
        max(option.opts, key=len)
        for option in context.command.params
        if option.name not in {"scores", *useful}
        and context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
    ]
    if useless:
        raise InputError(
            f"{', '.join(useless)}: does not apply to --scores, which has no runs or judgments; leave it out."
        )


def keeps_its_input(command: Command) -> Command:
    """Refuse to overwrite an input file, before anything is read."""
    from assay.cli.reading import split_name  # here, so that NumPy is loaded by assay.evaluation: 4 ms sooner

    @wraps(command)
    def guarded(*given: Any, **named: Any) -> Any:
        output = named.get("output")
        read = [value for name, value in named.items() if name != "output"]
        paths = [path for value in read for path in (value if isinstance(value, tuple) else (value,))]
        refuse_overwrite(output, [split_name(path)[1] for path in paths if isinstance(path, str)])
        return command(*given, **named)

    return cast("Command", guarded)


def metadata_option(file: str) -> Callable[[Command], Command]:
    """--no-metadata, for a file that is made from others."""
    return click.option(
        "--metadata/--no-metadata",
        default=True,
        help=f"Start {file} with comment lines that record how it was made; trec_eval 9 cannot read them.",
    )


def out_option(command: Command) -> Command:
    """-o, required."""
    return click.option(
        "-o",
        "--output",
        "output",
        metavar="OUT",
        type=click.Path(dir_okay=False, allow_dash=True),
        required=True,
        help="Output file; .gz, .bz2, .xz and .zst compress it. - is standard output and needs --to.",
    )(command)


def repeats_options(command: Command) -> Command:
    """The rules `duplicates` and `judges` by themselves, for commands that try all other rules."""
    for rule in ("judges", "duplicates"):
        command = click.option(
            RULES_IN_WORDS[rule].option,
            type=click.Choice(RULE_CHOICES[rule]),
            default=getattr(Rules(), rule),
            show_default=True,
            help=RULES_IN_WORDS[rule].help,
        )(command)
    return command


def unmatched_option(command: Command) -> Command:
    """What to do with a run that has no document in common with the judgments."""
    return click.option(
        "--unmatched",
        type=click.Choice(get_args(Unmatched)),
        default="error",
        show_default=True,
        help="What to do with a run that has no document id in common with QRELS.",
    )(command)


def weights_option(command: Command) -> Command:
    """--query-weights: a file with the weight of each query."""
    return click.option(
        "--query-weights",
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Weight of each query, for weighted means: query and weight, or a file of `assay queries sample`.",
    )(command)


def spreadsheet_option(command: Command) -> Command:
    """--spreadsheet, for commands that write CSV and TSV."""
    return click.option(
        "--spreadsheet",
        is_flag=True,
        help="Write CSV and TSV for a spreadsheet: ids and names that it would run as formulas get an apostrophe.",
    )(command)


def threads_option(command: Command) -> Command:
    """--threads; results do not depend on it."""
    return click.option(
        "--threads", type=click.IntRange(min=1), help="Threads used to read a run.  [default: one per core, up to 4]"
    )(command)


def parts_options(command: Command) -> Command:
    """--columns and --file, for `parse_collection_columns` and `parse_files` of assay.collections.columns."""
    files = click.option(
        "--file", "files", multiple=True, metavar="ROLE=NAME", help="The file for a role, if its name does not show it."
    )
    columns = click.option(
        "--columns",
        multiple=True,
        metavar="ROLE.FIELD=NAME",
        help="Column of a field, such as corpus.id=sku or corpus.text=name+features. Roles: corpus (id, title, text), "
        "queries (id, text), qrels (query, doc, rel).",
    )
    return columns(files(command))
