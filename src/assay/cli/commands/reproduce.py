"""assay reproduce."""

from __future__ import annotations

import shlex
import sys

import click

from assay.cli import write
from assay.cli.commands.evaluate import command as evaluate
from assay.cli.options import detail_options, output_options, rendered, repeats_options, unmatched_option
from assay.cli.reading import READING_OPTIONS, input_options, read_input, words_given
from assay.evaluation import Unmatched
from assay.formats.readings import Readings
from assay.report.drawing.terminal import Detail
from assay.report.reproducing import REPRODUCTION_RENDERERS
from assay.reproducing import Candidate, reproduce
from assay.rules import RULES_IN_WORDS, Duplicates, Judges

SECTION = "Measure"


@click.command(
    "reproduce",
    short_help="Find what gives a published number.",
    epilog="Example: assay reproduce 0.4334 qrels.txt run.txt",
)
@click.argument("number")
@click.argument("qrels")
@click.argument("run")
@click.option(
    "-m",
    "--measure",
    "measures",
    multiple=True,
    help="Try only this measure; repeatable. nDCG tries all cutoffs and gains, nDCG@10 both gains.  [default: all]",
)
@detail_options()
@output_options(REPRODUCTION_RENDERERS, "How to show the result.")
@repeats_options
@input_options
@unmatched_option
def command(
    number: str,
    qrels: str,
    run: str,
    measures: tuple[str, ...],
    output_format: str,
    output: str | None,
    detail: Detail,
    duplicates: Duplicates,
    judges: Judges,
    unmatched: Unmatched,
    readings: Readings,
) -> None:
    """Find the tool, measure and rules that give NUMBER for RUN and QRELS.

    Write NUMBER as it was published: 0.4334 has four decimals, and whatever rounds to it gives it. 43.34% is a
    percentage; so is 43.34 if nothing gives it as it is. Every named convention is tried with all measures at the usual
    cutoffs, and assay's also with other rules. The five nearest are shown, or ten with -v,
    each with the command that gives it again.

    Exit status: 0 something gives the number, 1 nothing does, 2 wrong usage or unusable input.
    """
    judgments, (table,) = read_input(qrels, (run,), readings)
    found = reproduce(number, judgments, table, measures, duplicates=duplicates, judges=judges, unmatched=unmatched)
    given = words_given(*READING_OPTIONS, "duplicates", "judges")

    def again(candidate: Candidate) -> str:
        like = {} if candidate.convention == "assay" else {"like": candidate.convention}
        options = {**like, **candidate.rules}
        flags = [word for name, value in options.items() for word in (_FLAGS[name], str(value))] + given
        return f"assay evaluate {shlex.join([qrels, run])} -m {_quoted(candidate.measure)} {shlex.join(flags)}".rstrip()

    write(rendered(REPRODUCTION_RENDERERS, output_format, found, detail, command=again), output)
    sys.exit(0 if found.found else 1)


def _quoted(measure: str) -> str:
    """A measure for the shell; names hold single quotes at most, which are easy to read in double ones."""
    return f'"{measure}"' if "'" in measure else shlex.quote(measure)


_FLAGS = {str(option.name): max(option.opts, key=len) for option in evaluate.params} | {
    rule: texts.option for rule, texts in RULES_IN_WORDS.items()
}
