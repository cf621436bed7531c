"""assay measures."""

from __future__ import annotations

import json

import click

from assay.cli import say, write
from assay.cli.options import format_option
from assay.errors import UnknownMeasureError
from assay.measures import Definition, definition_of, definitions
from assay.measures.explain import page
from assay.measures.grammar import parse_request
from assay.measures.guide import QUESTIONS, Question, propose
from assay.measures.presets import PRESETS
from assay.report.drawing.terminal import terminal_width, wrapped, wrapped_command
from assay.report.measures import list_as_text, page_as_text

SECTION = "Learn"


@click.group("measures", epilog="Example: assay measures explain nDCG")
def command() -> None:
    """List the measures and explain them."""


@command.command("list", epilog="Example: assay measures list --format json")
@format_option(("table", "json"))
def list_measures(output_format: str) -> None:
    """List all measures with a one-line summary and their other names."""
    pages = [page(definition) for definition in definitions()]
    if output_format == "json":
        names = [{"name": p.name, "family": p.family, "summary": p.summary, "names": dict(p.names)} for p in pages]
        write(json.dumps({"schema": "assay/measures/1", "measures": names}, indent=2) + "\n")
    else:
        write(list_as_text(pages))


@command.command(
    "presets", short_help="List the official measures of known tracks.", epilog="Example: assay measures presets"
)
def list_presets() -> None:
    """List the presets: the official measures and relevance levels of well-known tracks."""
    for found in PRESETS.values():
        width, indent = terminal_width(), " " * 12
        write(wrapped(" ".join(found.measures), width, f"{found.name:<12}") + wrapped(found.about, width, indent))


@command.command(
    "choose", epilog="Example: assay measures choose --looking one --grades binary --judged sparse --seen 10"
)
@click.option("--looking", type=click.Choice([answer.key for answer in QUESTIONS[0].answers]), help=QUESTIONS[0].text)
@click.option("--grades", type=click.Choice([answer.key for answer in QUESTIONS[1].answers]), help=QUESTIONS[1].text)
@click.option("--judged", type=click.Choice([answer.key for answer in QUESTIONS[2].answers]), help=QUESTIONS[2].text)
@click.option("--seen", type=click.IntRange(min=1), default=10, show_default=True, help="How many results people see.")
def choose(seen: int, **given: str | None) -> None:
    """Suggest measures for your search. Asks three questions, unless you answer them with options."""
    answers = {question.key: given[question.key] or _ask(question) for question in QUESTIONS}
    proposals = propose(answers, seen)
    width = max(len(proposal.measure) for proposal in proposals) + 2
    room = terminal_width()
    write("".join(wrapped(proposal.why, room, f"{proposal.measure:<{width}}") for proposal in proposals))
    command = "assay evaluate QRELS RUN " + " ".join(f"-m {proposal.measure}" for proposal in proposals)
    write("\n" + wrapped_command(command, room))


def _ask(question: Question) -> str:
    say(question.text)
    for number, answer in enumerate(question.answers, 1):
        say(f"  {number}  {answer.text}")
    try:
        number = click.prompt("Answer", type=click.IntRange(1, len(question.answers)), err=True)
    except click.Abort:
        raise click.UsageError(f"no answer; you can also give it as --{question.key}.") from None
    return question.answers[number - 1].key


def _definition(name: str) -> Definition:
    """The measure behind a name in any notation: nDCG, ndcg_cut, ndcg_cut_10, nDCG(gain='exp')@10."""
    stem = name.partition("@")[0].partition("(")[0]
    try:
        return definition_of(stem)
    except UnknownMeasureError:
        requests = parse_request(name)
        return requests[0].measure.definition


@command.command(
    "explain",
    short_help="Explain a measure: formula, edge cases, example.",
    epilog="Example: assay measures explain nDCG ndcg_cut MRR",
)
@click.argument("names", metavar="MEASURE...", nargs=-1, required=True)
def explain(names: tuple[str, ...]) -> None:
    """Explain a measure: formula, edge cases, parameters, paper, an example, and its names in other tools."""
    found = dict.fromkeys(_definition(name) for name in names)
    write("\n".join(page_as_text(page(definition)) for definition in found))
