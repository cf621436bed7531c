"""assay evaluate, and the options that other commands share with it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from assay.cli import write
from assay.cli.reports import Wishes, findings_of, rendered, report_options
from assay.errors import InputError
from assay.evaluation import DEFAULT_MEASURES, Evaluator
from assay.files import is_same_file
from assay.formats import INPUT_FORMATS, parse_grades, read_qrels, read_run
from assay.formats.unread import open_run
from assay.judging import OpenedRun
from assay.measures.conventions import CONVENTIONS
from assay.measures.presets import PRESETS, preset
from assay.report import RENDERERS, tabulate
from assay.rules import RULE_CHOICES, Rules
from assay.tables import Qrels, Run

Command = TypeVar("Command", bound=Callable[..., Any])
AnyRun = TypeVar("AnyRun", bound=OpenedRun)

_RULE_HELP = {
    "order": "What documents are ranked by: their scores, or the file's rank column (as MS MARCO does).",
    "ties": "Order of documents with equal scores; expected averages each measure over all orders.",
    "scores": "Precision of scores; float32 makes the false ties of trec_eval 9.",
    "queries": "Queries that the mean is over; strict refuses a run that lacks one.",
    "duplicates": "What to do when a document stands twice in a query.",
    "self_match": "Whether a document with the query's own id counts (BEIR drops it).",
    "undefined": "Value of a query without relevant documents; nan leaves it out of the mean.",
}


def rule_options(command: Command, without: tuple[str, ...] = ()) -> Command:
    """One option for each rule, made from the rules themselves."""
    command = click.option("--depth", type=click.IntRange(min=0), help="Only the first documents of each query.")(
        command
    )
    for name, choices in reversed(RULE_CHOICES.items()):
        if name in without:
            continue
        option = click.option(
            f"--{name.replace('_', '-')}",
            type=click.Choice(choices),
            help=f"{_RULE_HELP[name]}  [default: {getattr(Rules(), name)}]",
        )
        command = option(command)
    return command


def query_set_option(command: Command) -> Command:
    """The rule `queries`, for commands whose --queries is a file with their texts: that option's value is looked at too."""
    command = click.option(
        "--query-set",
        type=click.Choice(RULE_CHOICES["queries"]),
        help="Queries that count; strict refuses a run that lacks one.  [default: judged]",
    )(command)

    def texts(context: click.Context, option: click.Parameter, path: str | None) -> str | None:
        if path in RULE_CHOICES["queries"] and not Path(path).exists():
            raise InputError(f"--queries is a file with the texts of queries; the rule is --query-set {path}.")
        return path

    return click.option(
        "--queries",
        type=click.Path(dir_okay=False),
        callback=texts,
        help="FILE with the texts of the queries: TSV, JSONL or TREC topics.",
    )(command)


def like_option(command: Command) -> Command:
    """Whose conventions are followed."""
    return click.option(
        "--like",
        type=click.Choice(list(CONVENTIONS)),
        default="assay",
        show_default=True,
        help="Follow the conventions of this tool; rules given as options win. See `assay conventions`.",
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
        help=f"Measure to compute; may be repeated. Default: {' '.join(DEFAULT_MEASURES)}. See `assay measures list`.",
    )(command)
    return click.option(
        "--preset",
        "presets",
        type=click.Choice(list(PRESETS)),
        multiple=True,
        is_eager=True,
        help="The official measures of a track or benchmark. See `assay measures presets`.",
    )(command)


def output_options(renderers: Iterable[str], help_text: str) -> Callable[[Command], Command]:
    """--format and -o; the command gets `output_format` and `output`, which is none of the files that it reads."""

    def decorate(command: Command) -> Command:
        command = keeps_its_input(command)
        command = click.option(
            "-o", "--output", type=click.Path(dir_okay=False), help="Write to this file instead of the terminal."
        )(command)
        return click.option(
            "--format",
            "output_format",
            type=click.Choice(list(renderers)),
            default="table",
            show_default=True,
            help=help_text,
        )(command)

    return decorate


def keeps_its_input(command: Command) -> Command:
    """Refuse to write over a file that is read, before it is."""

    @wraps(command)
    def guarded(*given: Any, **named: Any) -> Any:
        output = named.get("output")
        read = [value for name, value in named.items() if name != "output"]
        paths = [path for value in read for path in (value if isinstance(value, tuple) else (value,))]
        for path in paths:
            if output is not None and isinstance(path, str) and is_same_file(_split(path)[1], output):
                raise InputError("this is a file that is read; name another one to write to.", source=output)
        return command(*given, **named)

    return cast("Command", guarded)


def input_options(command: Command) -> Command:
    """How files are read."""
    formats = click.Choice(list(INPUT_FORMATS))
    for option in (
        click.option("--grades", help="Letters as grades, such as E=3,S=2,C=1,I=0."),
        click.option("--run-format", type=formats, help="Format of the RUNs alone."),
        click.option("--qrels-format", type=formats, help="Format of QRELS alone."),
        click.option(
            "--input-format",
            type=click.Choice(["auto", *INPUT_FORMATS]),
            default="auto",
            show_default=True,
            help="Format of QRELS and RUNs; auto recognises it from the content.",
        ),
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Reading:
    """How files are read, as the options say."""

    qrels_format: str
    run_format: str
    grades: Mapping[str, float]


def threads_option(command: Command) -> Command:
    """How many threads read a run; no value depends on it."""
    return click.option(
        "--threads", type=click.IntRange(min=1), help="Threads that read a run.  [default: the cores, up to 4]"
    )(command)


def read_input(
    qrels: str,
    runs: tuple[str, ...],
    *,
    input_format: str | None,
    qrels_format: str | None,
    run_format: str | None,
    grades: str | None,
) -> tuple[Qrels, Iterator[Run]]:
    """The judgments, and the runs one after the other, each under its own name."""
    refuse_second_stdin(qrels, runs)
    whole = input_format or "auto"
    letters = parse_grades(grades) if grades else None
    tables = named_runs(runs, lambda path, name: read_run(path, input_format=run_format or whole, name=name))
    return read_qrels(qrels, input_format=qrels_format or whole, grades=letters), tables


@click.command(
    "evaluate",
    epilog="Example: assay evaluate qrels.txt bm25.run new=hybrid.run.gz -m nDCG@10 -m AP --per-query",
)
@click.argument("qrels")
@click.argument("runs", metavar="RUN...", nargs=-1, required=True)
@measure_options
@click.option("--per-query", is_flag=True, help="Also show each query.")
@output_options(
    RENDERERS, "How to show the result; all but csv, tsv and trec also say the conventions and the coverage."
)
@like_option
@rule_options
@input_options
@threads_option
@report_options
def command(
    qrels: str,
    runs: tuple[str, ...],
    measures: tuple[str, ...],
    per_query: bool,
    output_format: str,
    output: str | None,
    like: str,
    input_format: str,
    qrels_format: str | None,
    run_format: str | None,
    grades: str | None,
    threads: int | None,
    wishes: Wishes,
    **rules: Any,
) -> None:
    """Evaluate one or more RUNs against the judgments in QRELS.

    Files may be TREC, BEIR, MS MARCO, JSON, JSONL, CSV, TSV, Parquet or Arrow, plain or compressed; - is standard input.
    A run is called by its file's name, or by NAME in NAME=PATH. With --report DIR, `assay verify DIR` checks later that
    files and numbers are still the same.
    """
    refuse_second_stdin(qrels, runs)
    given = {name: value for name, value in rules.items() if value is not None}
    reading = Reading(qrels_format or input_format, run_format or input_format, parse_grades(grades) if grades else {})
    experiment = wishes.begin(qrels, [path for _, path in map(_split, runs)], **asdict(reading)) if wishes else None
    evaluator = Evaluator(
        qrels,
        measures if experiment is None else experiment.measures(measures),
        given,
        like=like,
        grades=reading.grades,
        threads=threads,
        input_format=reading.qrels_format,
    )
    opened = named_runs(runs, lambda path, name: open_run(path, input_format=reading.run_format, name=name))
    if experiment is None:
        table = tabulate([evaluator.evaluate(run, tie_bounds=True) for run in opened], per_query=per_query)
    else:
        outcome = experiment.evaluate(evaluator, opened, rendered, find=findings_of(experiment))
        table = tabulate(outcome.evaluations, per_query=per_query, targets=outcome.targets)
    write(RENDERERS[output_format](table), output)
    wishes.say_where()


def named_runs(arguments: tuple[str, ...], read: Callable[[str, str | None], AnyRun]) -> Iterator[AnyRun]:
    """The runs one after the other, each under its own name."""
    seen: dict[str, str] = {}
    for name, path in map(_split, arguments):
        run = read(path, name)
        if run.name in seen:
            first = seen[run.name]
            raise InputError(
                f"two runs are called {run.name!r} ({first} and {path}); name them apart: a={first} b={path}"
            )
        seen[run.name] = path
        yield run


def refuse_second_stdin(qrels: str, runs: tuple[str, ...]) -> None:
    """Standard input can be read once only."""
    if [qrels, *(path for _, path in map(_split, runs))].count("-") > 1:
        raise InputError("standard input (-) can be read once only; give the other files by name.")


def _split(argument: str) -> tuple[str | None, str]:
    name, equals, path = argument.partition("=")
    if not equals or not name or not path or Path(argument).exists():
        return None, argument
    return name, path
