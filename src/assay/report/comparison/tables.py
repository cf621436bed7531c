"""The tables of a comparison's page: systems, pairs, segments, agreement, queries and their documents."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from msgspec import Struct

from assay.comparison.comparing import Comparison
from assay.comparison.moves import Move
from assay.comparison.pairs import SIGNIFICANT, PairResult, higher_is_better
from assay.comparison.segments import SegmentComparison
from assay.errors import show_id
from assay.report.comparison import words
from assay.report.drawing.page import ID
from assay.report.drawing.tables import MOST_QUERIES, Cell, Cells, Column, Table, columns_of, verdict_cell
from assay.report.drawing.words import MARKS, NONE, TONES, from_to, signed, unsigned
from assay.tables import Floats
from assay.words import natural_key, number_of, sentence, show_p

MOST_LETTERS = 12  # systems; with more, nobody looks up which letter is whose
MOST_PAIRS = 1500  # in the page
MOST_VALUES = 150_000  # of queries and systems, for the queries that readers open
DOCUMENTS = 30  # of a query that moved
EFFECT_SIZE = "Effect size: Cohen's d_z, the mean difference over the standard deviation of the differences."
CHOICES = (("won", "won"), ("tied", "tied"), ("lost", "lost"))
VERDICTS = (("better", "better"), ("worse", "worse"), ("other", "neither"))


def only_baseline(comparison: Comparison) -> str | None:
    """The baseline of all pairs; None if there are several."""
    baselines = {pair.baseline for pair in comparison.pairs}
    return None if comparison.study.all_pairs or len(baselines) != 1 else next(iter(baselines))


# Systems


def systems_table(comparison: Comparison) -> Table:
    """The means of all systems, the best first, with their verdicts beside their names."""
    scores, baseline = comparison.scores, only_baseline(comparison)
    main = scores.measures[0]
    rising = not higher_is_better(main)
    rows = sorted(
        zip(_means(scores.values[0]), _system_rows(comparison, baseline), strict=True),
        key=lambda row: (math.isnan(row[0]), row[0] if rising else -row[0]),
    )
    if baseline is None:
        columns = [Column(f"{sentence(word)} than", hint=f"Number of systems, by {main}") for word in verdicts_by(main)]
    else:
        columns = [Column("Verdict", number=False, hint=f"By {main}, against {baseline}")]
    return Table(
        columns=(
            Column("System", number=False),
            *columns,
            *(Column(show_id(measure), left=lettered(comparison)) for measure in scores.measures),
        ),
        rows=tuple(row for _, row in rows),
        nouns="systems",
        fixed=1 if baseline is None else 2,
        order=(1 + len(columns), "ascending" if rising else "descending"),
    )


def _system_rows(comparison: Comparison, baseline: str | None) -> Iterator[Cells]:
    letters = words.letters_of(comparison) if lettered(comparison) else {}
    standing = _standing(comparison, baseline)
    for system, marks in words.marks_of(comparison):
        name = show_id(system) + (f" ({letters[system]})" if system in letters else "")
        means = (_mean_cell(mark, baseline, bool(letters)) for mark in marks)
        yield (Cell(name, bold=system == baseline), *standing(system), *means)


def lettered(comparison: Comparison) -> bool:
    """Whether letters say which systems a system is better and worse than."""
    few = len(comparison.scores.systems) <= MOST_LETTERS
    return few and only_baseline(comparison) is None and _marked(comparison)


def _marked(comparison: Comparison) -> bool:
    """Whether a system can be better than another by one of the measures."""
    return any(map(higher_is_better, comparison.scores.measures))


def _standing(comparison: Comparison, baseline: str | None) -> Callable[[str], list[str | Cell]]:
    """By the first measure: the verdict against the only baseline, or how many systems are significantly worse and better."""
    pairs = comparison.of(comparison.scores.measures[0])
    if baseline is not None:
        verdicts = {pair.system: verdict_cell(pair.verdict) for pair in pairs}
        return lambda system: [verdicts.get(system, "baseline")]
    more, less = Counter[str](), Counter[str]()
    for pair in pairs:
        if pair.verdict in SIGNIFICANT:
            ahead, behind = (more, less) if pair.verdict in ("better", "higher") else (less, more)
            ahead[pair.system] += 1
            behind[pair.baseline] += 1
    return lambda system: [f"{more[system]:,}", f"{less[system]:,}"]


def verdicts_by(measure: str) -> tuple[str, str]:
    """What a system is found to be that differs significantly by this measure."""
    return ("better", "worse") if higher_is_better(measure) else ("higher", "lower")


def _mean_cell(mark: words.Mark, baseline: str | None, letters: bool) -> Cell:
    marks: list[tuple[str, str]] = []
    for verdict, found in (("better", mark.better), ("worse", mark.worse)):
        if found and baseline is not None:
            marks.append((MARKS[verdict], f"{TONES[verdict]} mark"))
        elif found and letters:
            marks.append((found if verdict == "better" else f"-{found}", TONES[verdict]))
    return Cell(mark.mean, bold=mark.best, marks=tuple(marks))


def meaning_of_marks(comparison: Comparison) -> str:
    """The legend of the table of systems; empty if it has no marks."""
    baseline = only_baseline(comparison)
    bold = "The highest mean is bold. " if _marked(comparison) else ""
    if baseline is not None:
        return bold and (
            f"{bold}{MARKS['better']} {MARKS['worse']} significantly better or worse than "
            f"{show_id(baseline)}, after correction."
        )
    main = comparison.scores.measures[0]
    more, less = verdicts_by(main)
    counted = f"{sentence(more)} than, {less} than: from how many systems it differs significantly by {main}."
    letters = f" {words.meaning_of_marks(comparison)}" if lettered(comparison) else ""
    return f"{bold}{counted}{letters}"


# Pairs


def pairs_table(comparison: Comparison) -> Table:
    """The differences, each with its verdict first; the largest first if there are many."""
    several, ordered = len(comparison.scores.measures) > 1, _ordered(comparison, comparison.pairs)
    baseline, equal = only_baseline(comparison), comparison.study.margin is not None
    columns = [
        *_names(several, baseline),
        Column("Mean"),
        Column("Difference"),
        Column(words.interval_name(comparison.study)),
        Column("Corrected p"),
        *([Column("p equivalent")] if equal else []),
        Column("Change", hint="Of the baseline's mean"),
        Column("p"),
        Column("Effect size", hint="Cohen's d_z: the mean difference over the standard deviation of the differences"),
        Column("Won/tied/lost", hint="Queries"),
    ]
    shown = ordered[:MOST_PAIRS]
    return Table(
        columns=tuple(columns),
        rows=tuple(_pair_row(pair, several, baseline, equal) for pair in shown),
        nouns="comparisons",
        fixed=2,
        kinds=tuple(_kind(pair.verdict) for pair in shown) if len(shown) > 2 else (),
        choices=VERDICTS if len(shown) > 2 else (),
        left_out=_pairs_left_out(len(ordered)),
    )


def weighted_table(comparison: Comparison) -> Table | None:
    """The weighted differences; None without weights."""
    pairs = _ordered(comparison, [pair for pair in comparison.pairs if pair.weighted is not None])
    if not pairs:
        return None
    several, baseline = len(comparison.scores.measures) > 1, only_baseline(comparison)
    interval = words.interval_name(comparison.study)
    values = [Column(name) for name in ("Mean", "Difference", interval, "p", "Corrected p")]
    return Table(
        columns=(*_names(several, baseline), *values),
        rows=tuple(_weighted_row(pair, several, baseline) for pair in pairs[:MOST_PAIRS]),
        nouns="comparisons",
        fixed=2,
        left_out=_pairs_left_out(len(pairs)),
    )


def _names(several: bool, baseline: str | None) -> list[Column]:
    names = ["System", "Verdict", *(["Measure"] if several else []), *(["Baseline"] if baseline is None else [])]
    return [Column(name, number=False) for name in names]


def _named(pair: PairResult, verdict: str, several: bool, baseline: str | None) -> list[str | Cell]:
    measure, other = [show_id(pair.measure)] if several else [], [show_id(pair.baseline)] if baseline is None else []
    return [show_id(pair.system), verdict_cell(verdict), *measure, *other]


def _pair_row(pair: PairResult, several: bool, baseline: str | None, equal: bool) -> Cells:
    return (
        *_named(pair, pair.verdict, several, baseline),
        unsigned(pair.system_mean),
        signed(pair.difference),
        from_to(pair.interval_corrected),
        show_p(pair.p_corrected),
        *([_p(pair.p_equivalence_corrected)] if equal else []),
        NONE if pair.relative is None or math.isnan(pair.relative) else f"{pair.relative:+.1%}",
        show_p(pair.p),
        NONE if pair.effect_size is None else f"{pair.effect_size:+.2f}",
        f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}",
    )


def _weighted_row(pair: PairResult, several: bool, baseline: str | None) -> Cells:
    found = pair.weighted
    if found is None:
        return ()
    return (
        *_named(pair, found.verdict, several, baseline),
        unsigned(found.system_mean),
        signed(found.difference),
        from_to(found.interval_corrected),
        show_p(found.p),
        show_p(found.p_corrected),
    )


def _p(value: float | None) -> str:
    return NONE if value is None else show_p(value)


def _kind(verdict: str) -> str:
    return verdict if verdict in TONES else "other"


def _ordered(comparison: Comparison, pairs: Sequence[PairResult]) -> list[PairResult]:
    """By measure; with many systems, the largest difference first, and if not all fit, the surest."""
    if len(comparison.scores.systems) < 3:
        return list(pairs)
    at = {measure: place for place, measure in enumerate(comparison.scores.measures)}
    if len(pairs) > MOST_PAIRS:
        surest = sorted(pairs, key=lambda pair: (at[pair.measure], pair.p_corrected, pair.p))
        return [*_by_difference(surest[:MOST_PAIRS], at), *surest[MOST_PAIRS:]]
    return _by_difference(pairs, at)


def _by_difference(pairs: Sequence[PairResult], at: Mapping[str, int]) -> list[PairResult]:
    return sorted(pairs, key=lambda pair: (at[pair.measure], math.isnan(pair.difference), -pair.difference))


def _pairs_left_out(count: int) -> str:
    if count <= MOST_PAIRS:
        return ""
    return (
        f"Only {MOST_PAIRS:,} of {count:,} comparisons are here: of the first measures, those with the lowest corrected p. "
        "--format json has all."
    )


# Queries


class OpenedQueries(Struct, frozen=True):
    """The values that a reader sees when opening a query, in the order of the table; None is undefined."""

    systems: tuple[str, ...]
    measures: tuple[str, ...]
    values: list[list[list[float | None]]]  # measure, query, system


class Queries(Struct, frozen=True):
    """The table of queries, and what opening one shows."""

    table: Table
    opened: OpenedQueries
    places: dict[str, int]  # query -> its row


def queries_of(comparison: Comparison) -> Queries:
    """All queries by the first measure: of two systems the worst loss first, of more the lowest value first; equal ones in natural order."""
    scores = comparison.scores
    pair = comparison.of(scores.measures[0])[0] if len(scores.systems) == 2 else None
    columns, cells, key = _of_pair(comparison, pair) if pair else _of_many(comparison)
    natural = sorted(range(len(key)), key=lambda at: natural_key(scores.queries[at]))
    order = [natural[at] for at in np.argsort(key[natural], kind="stable")[:MOST_QUERIES]]
    texts = [Column("Text", number=False)] if comparison.texts else []
    opened, note = _opened(comparison, order)
    rows = []
    for at in order:
        query = scores.queries[at]
        text = [Cell(show_id(comparison.texts.get(query, ""), 200), "wide")] if texts else []
        rows.append((show_id(query, ID), *text, *cells(at)))
    kinds = CHOICES if pair and higher_is_better(pair.measure) else ()
    few = len(scores.queries) > MOST_QUERIES
    left_out = f"Only the first {MOST_QUERIES:,} of {len(scores.queries):,} queries are here. " if few else ""
    return Queries(
        Table(
            columns=(Column("Query", number=False), *texts, *columns),
            rows=tuple(rows),
            nouns="queries",
            order=(1 + len(texts), "ascending"),
            kinds=tuple(_won(float(key[at])) for at in order) if kinds else (),
            choices=kinds,
            opens=tuple(map(str, range(len(order)))),
            left_out=(left_out + note).strip(),
        ),
        opened,
        {scores.queries[at]: place for place, at in enumerate(order)},
    )


Maker = tuple[list[Column], Callable[[int], Cells], Floats]  # columns, the cells of a query, what to sort by


def _of_pair(comparison: Comparison, pair: PairResult) -> Maker:
    scores = comparison.scores
    before, after = (scores.column(0, scores.systems.index(name)) for name in (pair.baseline, pair.system))
    difference = after - before
    good = TONES if higher_is_better(pair.measure) else {}

    def cells(at: int) -> Cells:
        found = float(difference[at])
        tone = good.get("better" if found > 0 else "worse" if found < 0 else "", "")
        return (Cell(signed(found), tone), unsigned(float(before[at])), unsigned(float(after[at])))

    return [Column("Difference"), Column(show_id(pair.baseline)), Column(show_id(pair.system))], cells, difference


def _of_many(comparison: Comparison) -> Maker:
    scores, baseline = comparison.scores, only_baseline(comparison)
    values = scores.values[0]  # (queries, systems)
    known = ~np.isnan(values)
    highest, lowest = np.where(known, values, -np.inf), np.where(known, values, np.inf)
    top, bottom, best = highest.max(axis=1), lowest.min(axis=1), highest.argmax(axis=1)
    ends = [Column("Highest"), Column("System with the highest", number=False), Column("Lowest")]

    def named(at: int) -> str:
        others = int((highest[at] == top[at]).sum()) - 1
        name = show_id(scores.systems[int(best[at])], 40)
        return f"{name} and {number_of(others, 'other')}" if others else name

    def extremes(at: int) -> Cells:
        if not known[at].any():
            return (NONE, NONE, NONE)
        return (unsigned(float(top[at])), named(at), unsigned(float(bottom[at])))

    if baseline is None:
        means = np.array(_means(values.T))
        return [Column("Mean"), *ends], lambda at: (unsigned(float(means[at])), *extremes(at)), means
    own = scores.column(0, scores.systems.index(baseline))
    above, below = (values > own[:, None]).sum(axis=1), (values < own[:, None]).sum(axis=1)
    hints = [Column(name, hint=f"Systems with a {word} value than {baseline}") for name, word in _SIDES]

    def cells(at: int) -> Cells:
        return (unsigned(float(own[at])), f"{above[at]:,}", f"{below[at]:,}", *extremes(at))

    return [Column(show_id(baseline)), *hints, *ends], cells, own


_SIDES = (("Systems above", "higher"), ("Systems below", "lower"))


def _won(difference: float) -> str:
    return "" if math.isnan(difference) else "won" if difference > 0 else "lost" if difference < 0 else "tied"


def _opened(comparison: Comparison, order: Sequence[int]) -> tuple[OpenedQueries, str]:
    """The values of the systems for each query, as many as a page can hold, and a note if some are left out."""
    scores, baseline = comparison.scores, only_baseline(comparison)
    measures, systems = list(range(len(scores.measures))), list(range(len(scores.systems)))
    note = ""
    if len(order) * len(systems) * len(measures) > MOST_VALUES:
        measures = measures[:1]
        note = f"Opening a query shows the values of {show_id(scores.measures[0])} only."
    most = max(MOST_VALUES // max(len(order), 1), 1)
    if len(systems) > most:
        means = _means(scores.values[0])
        ranked = sorted(systems, key=lambda at: (scores.systems[at] != baseline, math.isnan(means[at]), -means[at]))
        systems = sorted(ranked[:most])
        note = (
            f"Opening a query shows {show_id(scores.measures[0])} of the {number_of(most, 'system')} with the highest "
            "means and the baseline only."
        )
    values = [
        [[_shown(value) for value in row] for row in scores.values[measure][np.ix_(order, systems)].tolist()]
        for measure in measures
    ]
    names = tuple(show_id(scores.systems[at]) for at in systems)
    return OpenedQueries(names, tuple(show_id(scores.measures[at]) for at in measures), values), note


def _shown(value: float) -> float | None:
    """The value as it is printed; None if it is undefined."""
    return None if math.isnan(value) else float(f"{value:.4f}")


# Segments, agreement, documents


def segment_table(found: SegmentComparison, comparison: Comparison) -> Table:
    """Every pair in every segment, with its verdict first."""
    several, baseline = len(comparison.scores.measures) > 1, only_baseline(comparison)
    names = [
        "Segment",
        "Verdict",
        "System",
        *(["Measure"] if several else []),
        *(["Baseline"] if baseline is None else []),
    ]
    values = ["Queries", "Baseline mean", "Mean", "Difference", words.interval_name(comparison.study), "Corrected p"]
    rows = [
        (
            show_id(segment.name),
            *_in_segment(pair, segment.tested, several, baseline),
            f"{segment.queries:,}",
            unsigned(pair.baseline_mean),
            unsigned(pair.system_mean),
            signed(pair.difference),
            from_to(pair.interval_corrected),
            show_p(pair.p_corrected) if segment.tested else NONE,
            ", ".join(map(show_id, segment.best(measure)[:3])),
        )
        for measure in comparison.scores.measures
        for segment in found.segments
        for pair in segment.pairs
        if pair.measure == measure
    ]
    return Table(
        columns=columns_of([*names, *values, "Best system"], [*names, "Best system"]),
        rows=tuple(rows[:MOST_PAIRS]),
        nouns="rows",
        fixed=2,
        left_out=_pairs_left_out(len(rows)),
    )


def _in_segment(pair: PairResult, tested: bool, several: bool, baseline: str | None) -> list[str | Cell]:
    system, verdict, *others = _named(pair, pair.verdict, several, baseline)
    return [verdict if tested else "not tested", system, *others]


def agreement_table(alike: words.AgreementTable) -> Table:
    """How far pairs of runs or of measures agree."""
    names = [sentence(name) for name in alike.head]
    return Table(
        columns_of(names, names[:2]), alike.rows[:MOST_PAIRS], nouns="pairs", left_out=_pairs_left_out(len(alike.rows))
    )


def coverage_table(comparison: Comparison) -> Table:
    """How far each run and the judgments overlap."""
    rows = ((run, Cell(coverage, "wide")) for run, coverage in words.coverages_of(comparison))
    return Table(columns_of(("System", "Coverage"), ("Coverage",)), tuple(rows), nouns="systems")


def documents_table(move: Move, comparison: Comparison) -> Table:
    """The documents of a query that entered, left or moved."""
    rows: list[Cells] = [
        (
            show_id(place.doc, ID),
            sentence(kind),
            words.place_of(place),
            words.grade_of(place),
            *_about(place.doc, comparison),
        )
        for kind, places in words.changes_of(move).items()
        for place in places
    ]
    names = ("Document", "Change", "Ranks", "Grade", *(["Text"] if comparison.documents else []))
    left = len(rows) - DOCUMENTS
    return Table(
        columns_of(names, names),
        tuple(rows[:DOCUMENTS]),
        nouns="documents",
        left_out=f"{number_of(left, 'more document')} changed rank." if left > 0 else "",
    )


def _about(doc: str, comparison: Comparison) -> list[Cell]:
    """A cell with the text of a document, if there is a corpus."""
    return [Cell(show_id(comparison.documents.get(doc, ""), 200), "wide")] if comparison.documents else []


def _means(values: Floats) -> list[float]:
    """The mean of each system over its queries; NaN if it has none."""
    known = ~np.isnan(values)
    with np.errstate(invalid="ignore"):
        return list((np.where(known, values, 0.0).sum(axis=0) / known.sum(axis=0)).tolist())
