"""A comparison for the terminal, as JSON, Markdown and LaTeX. Computes nothing."""

from __future__ import annotations

import json
import math
import textwrap
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from assay.comparison.comparing import Comparison, PairResult
from assay.errors import show_id
from assay.report import latex, markdown
from assay.report.terminal import printed, terminal_width

if TYPE_CHECKING:
    from rich.table import Table

SCHEMA = "assay/comparison/1"
HEAD = (
    "measure",
    "baseline",
    "system",
    "mean",
    "difference",
    "change",
    "95% interval",
    "p",
    "corrected",
    "d_z",
    "w/t/l",
    "verdict",
)
NAMES = {"measure", "baseline", "system", "verdict"}
_STYLES = {"better": "green", "worse": "red"}


def render_text(comparison: Comparison) -> str:
    """A table for each measure and baseline, and below what was done."""
    from rich.text import Text

    width = terminal_width()
    parts = []
    for (measure, baseline), pairs in _by_baseline(comparison).items():
        head = f"{measure} against {show_id(baseline)} ({pairs[0].baseline_mean:.4f})"
        parts.append(printed(Text(head, style="bold"), width) + printed(_table(pairs, comparison), width) + "\n")
    notes = ("\n".join(textwrap.wrap(note, width)) + "\n" for note in notes_of(comparison))
    return "".join([*parts, *notes])


def _by_baseline(comparison: Comparison) -> dict[tuple[str, str], list[PairResult]]:
    found: dict[tuple[str, str], list[PairResult]] = {}
    for pair in comparison.pairs:
        found.setdefault((pair.measure, pair.baseline), []).append(pair)
    return found


def _table(pairs: Sequence[PairResult], comparison: Comparison) -> Table:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    table = Table(box=SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in _head(comparison)[2:]:
        table.add_column(Text(name), justify="left" if name in NAMES else "right", no_wrap=name != "system")
    for pair in pairs:
        *cells, verdict = _cells(pair, comparison)[2:]
        table.add_row(*map(Text, cells), Text(verdict, style=_STYLES.get(verdict, "")))
    return table


def render_json(comparison: Comparison) -> str:
    """One object; the schema stands in docs/schemas/comparison-1.json."""
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "systems": list(comparison.scores.systems),
        "measures": list(comparison.scores.measures),
        "queries": len(comparison.scores.queries),
        "study": {**asdict(comparison.study), "correction": comparison.correction, "family": comparison.family},
        "tests": [
            {
                "measure": measure,
                "test": test.test,
                "exact": bool(test.exact.all()),
                "draws": int(test.draws.max(initial=0)),
                "seed": test.seed,
            }
            for measure, test in zip(comparison.scores.measures, comparison.tests, strict=True)
        ],
        "pairs": [_finite(asdict(pair)) for pair in comparison.pairs],
        "notes": list(comparison.notes),
    }
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def render_markdown(comparison: Comparison) -> str:
    """A table ready for an issue or a README."""
    names = _head(comparison)
    rule = ["---" if name in NAMES else "---:" for name in names]
    rows = [list(map(markdown.escape, _cells(pair, comparison))) for pair in comparison.pairs]
    lines = ["| " + " | ".join(row) + " |" for row in [list(map(markdown.escape, names)), rule, *rows]]
    return "\n".join([*lines, "", *(f"{markdown.escape(note)}  " for note in notes_of(comparison))]) + "\n"


def render_latex(comparison: Comparison) -> str:
    r"""Systems down, measures across: means, and a dagger where the difference to a baseline is significant.

    Each baseline has its letter; upper-case letters mark differences for the better, lower-case ones for the worse.
    """
    systems, measures = comparison.scores.systems, comparison.scores.measures
    baselines = list(dict.fromkeys(pair.baseline for pair in comparison.pairs))
    lines = [
        *(f"% {note}" for note in notes_of(comparison)),
        *(f"% {_letter(number)}: {show_id(name)}" for number, name in enumerate(baselines)),
        rf"\begin{{tabular}}{{l{'l' * len(measures)}}}",
        r"\toprule",
        " & ".join(["System", *map(latex.escape, measures)]) + r" \\",
        r"\midrule",
        *(_latex_row(comparison, system, baselines) for system in systems),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


Renderer = Callable[[Comparison], str]
RENDERERS: dict[str, Renderer] = {
    "table": render_text,
    "json": render_json,
    "markdown": render_markdown,
    "latex": render_latex,
}


def notes_of(comparison: Comparison) -> Iterator[str]:
    """What was done, in words, and what must be said beside it."""
    study = comparison.study
    test = comparison.tests[0]
    drawn = (
        f", {int(test.draws.max()):,} draws, seed {test.seed}"
        if test.seed is not None
        else ", exact"
        if test.exact.all()
        else ""
    )
    correction = "not corrected" if comparison.correction == "none" else f"corrected by {comparison.correction}"
    yield (
        f"Difference = system - baseline. Test: {study.test}, {study.alternative}{drawn}; p {correction} over "
        f"{comparison.family} {'comparison' if comparison.family == 1 else 'comparisons'} (pairs x measures); alpha {study.alpha:g}."
    )
    yield "Won, tied and lost queries (w/t/l); d_z is the difference in its own standard deviations (Cohen)."
    hold = "hold together" if study.simultaneous else "hold one by one"
    yield f"95% intervals of the difference ({study.interval}) {hold}."
    smallest = [pair.detectable for pair in comparison.pairs if pair.detectable is not None]
    if smallest:
        yield f"The smallest difference that these queries show with 80% power: {min(smallest):.4f} to {max(smallest):.4f}."
    needed = [pair.needed for pair in comparison.pairs if pair.needed is not None]
    if needed:
        yield f"A difference of {study.plan:g} needs {max(needed):,} queries for 80% power."
    yield from comparison.notes


def _head(comparison: Comparison) -> list[str]:
    names = list(HEAD)
    return names if comparison.study.margin is None else [*names[:-1], "p equal", names[-1]]


def _cells(pair: PairResult, comparison: Comparison) -> list[str]:
    relative = "-" if pair.relative is None or math.isnan(pair.relative) else f"{pair.relative:+.1%}"
    interval = "-" if pair.interval is None else f"{pair.interval[0]:+.4f} {pair.interval[1]:+.4f}"
    equal = [] if pair.p_equivalence is None else [_p(pair.p_equivalence)]
    return [
        pair.measure,
        show_id(pair.baseline),
        show_id(pair.system),
        f"{pair.system_mean:.4f}",
        f"{pair.difference:+.4f}",
        relative,
        interval,
        _p(pair.p),
        _p(pair.p_corrected),
        "-" if pair.effect_size is None else f"{pair.effect_size:+.2f}",
        f"{pair.wins}/{pair.ties}/{pair.losses}",
        *equal,
        "no evidence" if pair.verdict.startswith("no ") else pair.verdict,
    ]


def _p(value: float) -> str:
    return "<0.0001" if value < 0.0001 else f"{value:.4f}"


def _finite(record: dict[str, Any]) -> dict[str, Any]:
    """The same with null for what is no number, since JSON has no NaN."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value for name, value in record.items()
    }


def _letter(number: int) -> str:
    return chr(ord("a") + number % 26)


def _latex_row(comparison: Comparison, system: str, baselines: list[str]) -> str:
    cells = [latex.escape(show_id(system))]
    for number, measure in enumerate(comparison.scores.measures):
        column = comparison.scores.values[number, :, comparison.scores.systems.index(system)]
        known = column[~_isnan(column)]
        marks = ""
        for pair in comparison.of(measure):
            letter = _letter(baselines.index(pair.baseline))
            if pair.system == system and pair.verdict in {"better", "worse"}:
                marks += letter.upper() if pair.verdict == "better" else letter
        mean = f"{known.mean():.4f}" if len(known) else "-"
        cells.append(f"{mean}$^{{{marks}}}$" if marks else mean)
    return " & ".join(cells) + r" \\"


def _isnan(values: Any) -> Any:
    return values != values  # noqa: PLR0124  only NaN differs from itself
