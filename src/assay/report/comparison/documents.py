"""A comparison as JSON, CSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import to_builtins
from msgspec.structs import asdict

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move, Moves, Place
from assay.comparison.pairs import PairResult
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.drawing import latex, markdown
from assay.report.drawing.json import json_text

SCHEMA = "assay/comparison/1"
_PAIR = tuple(name for name in PairResult.__struct_fields__ if name != "weighted")


def render_json(comparison: Comparison) -> str:
    """One object; the schema is docs/schemas/comparison-1.json."""
    first = comparison.evaluations[0] if comparison.evaluations else None
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "systems": list(comparison.scores.systems),
        "measures": list(comparison.scores.measures),
        "queries": len(comparison.scores.queries),
        "rules": None if first is None else to_builtins(first.rules),
        "like": None if first is None else first.like,
        "study": {
            **to_builtins(comparison.study),
            "correction": comparison.correction,
            "family": comparison.family,
            "families": list(comparison.families),
        },
        "tests": [
            {
                "measure": measure,
                "test": test.test,
                "exact": bool(test.exact.all()),
                "draws": int(test.draws.max(initial=0)),
                "seed": test.seed,
                "overall": None if test.overall is None else to_builtins(test.overall),
            }
            for measure, test in zip(comparison.scores.measures, comparison.tests, strict=True)
        ],
        "pairs": comparison.pairs,
        "segments": [_segments(found, comparison) for found in comparison.segments],
        "moves": comparison.moves,
        "runs_alike": [to_builtins(pair) for pair in comparison.runs_alike],
        "measures_alike": [to_builtins(pair) for pair in comparison.measures_alike],
        "notes": list(comparison.notes),
    }
    return json_text(document, lambda value: _shown(value, comparison))


def _shown(value: PairResult | Moves | Move | Place, comparison: Comparison) -> dict[str, Any]:
    """The fields of one of the many values."""
    if isinstance(value, Move):
        return {**asdict(value), "difference": value.difference, "text": comparison.texts.get(value.query)}
    if isinstance(value, Place):
        return {**asdict(value), "text": comparison.documents.get(value.doc)}
    return _pair(value) if isinstance(value, PairResult) else asdict(value)


def _pair(pair: PairResult) -> dict[str, Any]:
    """A pair, with its weighted difference if there is one."""
    weighted = {} if pair.weighted is None else {"weighted": asdict(pair.weighted)}
    return {**{name: getattr(pair, name) for name in _PAIR}, **weighted}


def _segments(found: SegmentComparison, comparison: Comparison) -> dict[str, Any]:
    return {
        "name": found.segmentation.name,
        "minimum": found.minimum,
        "correction": found.correction,
        "family": found.family,
        "unsegmented": found.unsegmented,
        "caution": found.segmentation.caution,
        "segments": [
            {
                "name": segment.name,
                "queries": segment.queries,
                "tested": segment.tested,
                "best": {measure: list(segment.best(measure)) for measure in comparison.scores.measures},
                "means": [to_builtins(mean) for mean in segment.means],
                "pairs": segment.pairs,
            }
            for segment in found.segments
        ],
        "interactions": [to_builtins(each) for each in found.interactions],
        "reversals": [to_builtins(each) for each in found.reversals],
    }


def render_markdown(comparison: Comparison) -> str:
    """Tables for an issue, a README or the notes of a paper."""
    parts = [*_all_systems(comparison), *_pairs(comparison)]
    for found in comparison.segments:
        parts += _segment_tables(found, comparison)
    parts += [*_moves(comparison), *_agreement(comparison)]
    parts += ["\n".join(f"{markdown.escape(note)}  " for note in words.notes_of(comparison))]
    return "\n\n".join(parts) + "\n"


def _all_systems(comparison: Comparison) -> list[str]:
    """Systems by measures with letters for significant differences, for more than two systems."""
    if len(comparison.scores.systems) < 3:
        return []
    letters = words.letters_of(comparison)
    rows = []
    for system, marks in words.marks_of(comparison):
        name = markdown.escape(show_id(system)) + (f" ({letters[system]})" if system in letters else "")
        rows.append([name, *map(_marked, marks)])
    head = ["system", *map(markdown.escape, comparison.scores.measures)]
    return [_table(head, rows), markdown.escape(words.meaning_of_marks(comparison))]


def _marked(mark: words.Mark) -> str:
    mean = f"**{mark.mean}**" if mark.best else mark.mean
    letters = " ".join(part for part in (mark.better, f"-{mark.worse}" if mark.worse else "") if part)
    return f"{mean}<sup>{letters}</sup>" if letters else mean


def _pairs(comparison: Comparison) -> list[str]:
    rows = [list(map(markdown.escape, words.cells_of(pair, comparison))) for pair in comparison.pairs]
    weighted = [list(map(markdown.escape, words.weighted_cells_of(pair))) for pair in comparison.pairs if pair.weighted]
    tables = [_table(words.head_of(comparison), rows)]
    head = words.head_with(words.WEIGHTED_HEAD, comparison.study)
    return [*tables, "### Weighted", _table(head, weighted)] if weighted else tables


def _segment_tables(found: SegmentComparison, comparison: Comparison) -> list[str]:
    notes = words.segment_notes(found, comparison.study)
    return [
        f"### {markdown.escape(words.title_of(found))}",
        _table(
            words.head_with(words.SEGMENT_HEAD, comparison.study),
            [list(map(markdown.escape, row)) for row in words.segment_rows(found, comparison)],
        ),
        "\n".join(f"{markdown.escape(note)}  " for note in notes),
    ]


def _moves(comparison: Comparison) -> list[str]:
    rows = [
        [
            pair.measure,
            f"{show_id(pair.system)} - {show_id(pair.baseline)}",
            show_id(move.query),
            words.value_of(move.before),
            words.value_of(move.after),
            words.signed(move.difference),
            show_id(comparison.texts.get(move.query, ""), 200),
        ]
        for pair in words.shown_moves(comparison)
        for move in (*pair.up, *pair.down)
    ]
    if not rows:
        return []
    head = ["measure", "pair", "query", "before", "after", "difference", "text"]
    escaped = [list(map(markdown.escape, row)) for row in rows]
    if not comparison.texts:
        head, escaped = head[:-1], [row[:-1] for row in escaped]
    left = filter(None, [markdown.escape(words.moves_left(comparison))])
    return ["### Queries that moved most", _table(head, escaped), *left]


def _agreement(comparison: Comparison) -> list[str]:
    """Agreement tables, if agreement between runs was requested."""
    parts = []
    for alike in words.agreement_of(comparison) if comparison.runs_alike else ():
        rows = [list(map(markdown.escape, row)) for row in alike.rows]
        parts += [f"### {alike.title}", _table(alike.head, rows), markdown.escape(alike.meaning)]
    return parts


_LEFT = words.NAMES | {"pair", "query", "text"}


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    rule = ["---" if name in _LEFT else "---:" for name in head]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def render_latex(comparison: Comparison) -> str:
    r"""Systems by measures: means, the best in bold, with letters for significant differences.

    A superscript names baselines that the system is better than, a subscript those that it is worse than.
    """
    measures = comparison.scores.measures
    letters = words.letters_of(comparison)
    rows = []
    for system, marks in words.marks_of(comparison):
        name = latex.escape(show_id(system)) + (f" ({letters[system]})" if system in letters else "")
        rows.append(" & ".join([name, *map(_latex_mark, marks)]) + r" \\")
    lines = [
        *(f"% {note}" for note in words.notes_of(comparison)),
        f"% Superscripts: significantly better than that system; subscripts: significantly worse: {words.letters_in_words(comparison)}.",
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        " & ".join(["System", *map(latex.escape, measures)]) + r" \\",
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        *_latex_weighted(comparison),
    ]
    return "\n".join(lines) + "\n"


def _latex_weighted(comparison: Comparison) -> list[str]:
    """A second tabular with the weighted differences, if there are any."""
    rows = [words.weighted_cells_of(pair) for pair in comparison.pairs if pair.weighted]
    if not rows:
        return []
    head = words.head_with(words.WEIGHTED_HEAD, comparison.study)
    columns = "".join("l" if name in words.NAMES else "r" for name in head)
    return [
        "",
        "% Weighted means and differences",
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(latex.escape(name.capitalize()) for name in head) + r" \\",
        r"\midrule",
        *(" & ".join(map(latex.escape, row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]


def _latex_mark(mark: words.Mark) -> str:
    mean = rf"\textbf{{{mark.mean}}}" if mark.best else mark.mean
    better = rf"\textsuperscript{{{mark.better}}}" if mark.better else ""
    return mean + better + (rf"\textsubscript{{{mark.worse}}}" if mark.worse else "")
