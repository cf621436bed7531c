"""How commands read qrels and runs: the options, the names of runs, standard input."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator
from functools import wraps
from typing import Any, TypeVar, cast

import click

from assay.cli import note
from assay.errors import InputError, show_id
from assay.formats import INPUT_FORMATS, as_qrels, as_run, parse_grades
from assay.formats.names import ROLES, Kind
from assay.formats.readings import AUTO, Queries, Reading, Readings
from assay.marking import OpenedRun
from assay.rules import RULES_IN_WORDS
from assay.tables import Qrels, Run

READING_OPTIONS = ("input_format", "qrels_format", "run_format", "grades", "columns", "queries")
_SHOWN = 200  # bytes of the comment that names failed queries
Command = TypeVar("Command", bound=Callable[..., Any])
AnyRun = TypeVar("AnyRun", bound=OpenedRun)


def input_options(command: Command) -> Command:
    """The options that say how to read QRELS and RUNs; the command gets them all as `readings`."""

    @wraps(command)
    def with_readings(*given: Any, qrels_format: str | None, run_format: str | None, **named: Any) -> Any:
        reading = _taken(named).shared()
        readings = Readings(
            reading.in_format(qrels_format or reading.input_format),
            reading.in_format(run_format or reading.input_format),
        )
        return command(*given, readings=readings, **named)

    formats = click.Choice(list(INPUT_FORMATS))
    return _decorated(
        cast("Command", with_readings),
        queries_option,
        columns_option(ROLES),
        _grades_option,
        click.option("--run-format", type=formats, help="Format of the RUNs only."),
        click.option("--qrels-format", type=formats, help="Format of QRELS only."),
        _format_option("Format of QRELS and RUNs; auto detects it from the content."),
    )


def reading_options(kind: Kind, *others: Kind, queries: bool = True) -> Callable[[Command], Command]:
    """The options that say how to read a file, or several of a kind; the command gets them all as `reading`.

    Columns can also be named for `others`, the kinds of further files. `queries=False` leaves out --queries, for a
    command that has its own or needs none.
    """

    def decorate(command: Command) -> Command:
        @wraps(command)
        def with_reading(*given: Any, **named: Any) -> Any:
            reading = _taken(named, queries=queries)
            if reading.columns and not others:
                from assay.formats.chosen import refuse_other_kind

                refuse_other_kind(reading.columns, kind)
            return command(*given, reading=reading, **named)

        of_kind = [_grades_option] if kind == "qrels" else []
        return _decorated(
            cast("Command", with_reading),
            *([queries_option] if queries else []),
            columns_option((kind, *others)),
            *of_kind,
            _format_option("Format of the file; auto detects it from the content."),
        )

    return decorate


def _taken(named: dict[str, Any], *, queries: bool = True) -> Reading:
    """The reading that the options describe, which are removed from the arguments of the command."""
    grades = named.pop("grades", None)
    return Reading(
        named.pop("input_format"),
        parse_grades(grades) if grades else {},
        _columns(named.pop("columns")),
        queries=queries_in(named.pop("queries")) if queries else Queries(),
    )


def queries_in(path: str | None) -> Queries:
    """The queries of a file; none without one."""
    if path is None:
        return Queries()
    from assay.inputs.queries import read_queries

    return Queries(read_queries(path), path)


def file_option(rule: str, content: str, help_text: str) -> Callable[[Command], Command]:
    """An option for a file that has the name of a rule; a value of the rule is an error that names the rule's option."""
    texts = RULES_IN_WORDS[rule]

    def checked(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
        if path is not None and path in texts.choices and not os.path.exists(path):
            raise InputError(f"--{rule} takes a file with {content}; did you mean {texts.option} {path}?")
        return path

    return click.option(f"--{rule}", type=click.Path(dir_okay=False), callback=checked, help=help_text)


def queries_option(command: Command) -> Command:
    """--queries: the ids and texts of the queries."""
    text = (
        "File with the ids and texts of the queries (TSV, JSONL or TREC topics). Search results without query ids get "
        "theirs from it, in order."
    )
    return file_option("queries", "queries", text)(command)


def _columns(texts: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    if not texts:
        return {}
    from assay.formats.chosen import parse_columns

    return parse_columns(texts)


def columns_option(kinds: Collection[Kind]) -> Callable[[Command], Command]:
    """--columns, for tables of these kinds."""
    roles = ", ".join(dict.fromkeys(role for kind in kinds for role in ROLES[kind]))
    only = "; run.doc=sku is for runs only" if len(kinds) > 1 else ""
    return click.option(
        "--columns",
        multiple=True,
        metavar="ROLE=NAME,...",
        help=f"Columns of tables with other names, such as query=search_term,doc=sku+lang{only}. Roles: {roles}.",
    )


_grades_option = click.option("--grades", help="Values of letter grades, such as E=3,S=2,C=1,I=0.")


def _format_option(text: str) -> Callable[[Command], Command]:
    return click.option(
        "--input-format", type=click.Choice([AUTO, *INPUT_FORMATS]), default=AUTO, show_default=True, help=text
    )


def _decorated(command: Command, *options: Callable[[Command], Command]) -> Command:
    for option in options:
        command = option(command)
    return command


def read_input(qrels: str, runs: tuple[str, ...], readings: Readings) -> tuple[Qrels, Iterator[Run]]:
    """The judgments, and an iterator over the runs, which have different names."""
    refuse_second_stdin(qrels, runs)

    def tables() -> Iterator[Run]:
        yield from named_runs(runs, lambda path, name: as_run(path, readings.run, name=name))
        readings.refuse_unused()

    return as_qrels(qrels, readings.qrels), tables()


def words_given(*names: str) -> list[str]:
    """Those of the options that the user gave, as they are written on a command line, to show a command that reads the same."""
    context = click.get_current_context()
    options = [option for option in context.command.params if option.name in names]
    return [
        word
        for option in options
        if context.get_parameter_source(str(option.name)) is click.core.ParameterSource.COMMANDLINE
        for value in (context.params[str(option.name)] if option.multiple else [context.params[str(option.name)]])
        for word in (max(option.opts, key=len), str(value))
    ]


def named_runs(arguments: tuple[str, ...], read: Callable[[str, str | None], AnyRun]) -> Iterator[AnyRun]:
    """Read the runs one by one; two with the same name are an error."""
    seen: dict[str, str] = {}
    for name, path in map(split_name, arguments):
        run = read(path, name)
        if run.name in seen:
            first = seen[run.name]
            raise InputError(
                f"two runs are called {run.name!r} ({first} and {path}); give them different names: a={first} b={path}"
            )
        seen[run.name] = path
        _note_incomplete(path)
        yield run


def _note_incomplete(path: str) -> None:
    """Say so if a run lacks queries that failed when it was fetched: they would count as if nothing was found."""
    if not os.path.isfile(path):
        return
    with open(path, "rb") as file:
        first = file.readline(_SHOWN)
    if not first.startswith(b"#"):
        return
    from assay.formats.ir_metadata import INCOMPLETE  # most runs have no comments

    if first.startswith(INCOMPLETE):
        said = first.removeprefix(INCOMPLETE).decode("utf-8", "replace").strip()
        note(
            f"{show_id(path, 200)} is incomplete: {show_id(said, _SHOWN)}. Run `assay runs fetch` again to complete it."
        )


def refuse_second_stdin(qrels: str, runs: tuple[str, ...]) -> None:
    """Refuse `-` for more than one file."""
    if [qrels, *(path for _, path in map(split_name, runs))].count("-") > 1:
        raise InputError("standard input (-) can be read only once; give the other files by path.")


def split_name(argument: str) -> tuple[str | None, str]:
    """NAME=PATH as name and path; the path of an existing file is never split."""
    name, equals, path = argument.partition("=")
    if not equals or not name or not path or os.path.exists(argument):
        return None, argument
    return name, path
