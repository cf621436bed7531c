"""What gives a published number, as text, Markdown and JSON, each with the command that gives it again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from assay.measures.conventions import CONVENTIONS
from assay.report.drawing.markdown import escape
from assay.report.drawing.terminal import Detail, terminal_width, wrapped, wrapped_command
from assay.reproducing import Candidate, Reproduction
from assay.rules import RULES_IN_WORDS
from assay.words import plural

SCHEMA = "assay/reproduction/1"
_MOST_NAMES = 4
FEW = 5  # candidates shown unless all are asked for
Command = Callable[[Candidate], str]  # the command that gives a candidate's value again


def reproduction_as_text(found: Reproduction, command: Command, detail: Detail = Detail(verbose=True)) -> str:
    """The answer, then for each candidate what gives it and the command; only the first few unless verbose."""
    width = terminal_width()
    shown = found.candidates if detail.verbose else found.candidates[:FEW]
    wide = max((len(candidate.measure) for candidate in shown), default=0)
    head = f"{'value':>9}{'distance':>10}  {'measure':<{wide}}  given by\n"
    parts = [wrapped(_answer(found), width), "\n", head, "─" * min(64, width) + "\n"]
    for candidate in shown:
        value, distance = _shown(found, candidate)
        parts.append(wrapped(_by(candidate), width, f"{value:>9}{distance:>10}  {candidate.measure:<{wide}}  "))
        parts.append(wrapped_command(command(candidate), width, " " * 4))
    if len(shown) < len(found.candidates):
        parts.append(f"{len(shown)} of {len(found.candidates)} are shown{detail.more('all with')}.\n")
    return "".join(parts)


def reproduction_as_markdown(found: Reproduction, command: Command) -> str:
    """The answer and a table."""
    lines = [
        escape(_answer(found)),
        "",
        "| value | distance | measure | given by | command |",
        "| ---: | ---: | --- | --- | --- |",
    ]
    for candidate in found.candidates:
        cells = [*_shown(found, candidate), candidate.measure, _by(candidate), command(candidate)]
        lines.append("| " + " | ".join(escape(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


def reproduction_as_json(found: Reproduction, command: Command) -> str:
    """One object; its schema is docs/schemas/reproduction-1.json."""
    document = {
        "schema": SCHEMA,
        "number": found.number,
        "percent": found.percent,
        "tried": found.tried,
        "matches": found.matches,
        "candidates": [
            {
                "measure": candidate.measure,
                "convention": candidate.convention,
                "rules": candidate.rules,
                "value": candidate.value,
                "distance": candidate.distance,
                "matches": candidate.matches,
                "conventions": candidate.conventions,
                "same": candidate.same,
                "note": candidate.note,
                "command": command(candidate),
            }
            for candidate in found.candidates
        ],
    }
    return json.dumps(document, indent=2) + "\n"


def _answer(found: Reproduction) -> str:
    tried = plural("{count} {combination|combinations} of measure, tool and rules {was|were} tried", found.tried)
    number = found.number if found.number.endswith("%") or not found.percent else f"{found.number} (as a percentage)"
    if not found.found:
        return f"Nothing gives {number}; {tried}. The nearest:"
    shown = sum(candidate.matches for candidate in found.candidates)
    more = f" The {shown} simplest are shown." if shown < found.matches else ""
    ways = plural("{count} {explanation|explanations}", found.matches)
    return f"{ways} for {number}; {tried}.{more}"


def _shown(found: Reproduction, candidate: Candidate) -> tuple[str, str]:
    """Value and distance in the unit of the number; = for a match."""
    scale, usual, unit = (100, 2, "%") if found.percent else (1, 4, "")
    decimals = max(found.decimals, usual)
    distance = "=" if candidate.matches else f"{candidate.distance * scale:.{decimals}f}"
    return f"{candidate.value * scale:.{decimals}f}{unit}", distance


def _by(candidate: Candidate) -> str:
    return "; ".join(_reasons(candidate))


def _reasons(candidate: Candidate) -> Iterator[str]:
    """The tools, the rules that differ, what the tool computes instead, and other parameters with the same value."""
    everywhere = set(CONVENTIONS) == set(candidate.conventions)
    yield "every tool" if everywhere else ", ".join(candidate.conventions or (candidate.convention,))
    yield from (RULES_IN_WORDS[name].choices[value] for name, value in candidate.rules.items())
    if candidate.note:
        yield candidate.note
    if candidate.same:
        more = len(candidate.same) - _MOST_NAMES
        rest = f" and {more} more" if more > 0 else ""
        yield f"same as {', '.join(candidate.same[:_MOST_NAMES])}{rest}"


REPRODUCTION_RENDERERS = {
    "table": reproduction_as_text,
    "json": reproduction_as_json,
    "markdown": reproduction_as_markdown,
}
