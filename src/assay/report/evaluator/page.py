"""The value of the page: every measure of the list, what each result does for it, and which move would help most."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import show_id
from assay.measures import Measure, parse_measure
from assay.report.drawing.charts import Chart
from assay.report.evaluator.charts import by_cutoff_chart, precision_recall_chart
from assay.report.evaluator.presets import PRESETS
from assay.report.evaluator.state import EvaluatorState, state_of
from assay.report.interactive.addresses import measure_address
from assay.report.interactive.again import SINGLE, Again, again, again_side_by_side
from assay.report.interactive.cards import MOST_CARDS, Card, as_text, cards_of
from assay.report.interactive.fields import MOST_TEXT, Given, Grades, shortest
from assay.report.interactive.figures import Figure, figure, shown, signed
from assay.report.interactive.sparkline import sparkline
from assay.report.measures import FAMILIES
from assay.tables import Floats
from assay.words import number_of, plural, sentence
from assay.worked import (
    GradedList,
    Line,
    best_move,
    by_cutoff,
    gains_of_moves,
    interpolated,
    measures_for,
    moves_up,
    precision_recall,
    values,
    worked,
    worth,
)

SCHEMA = "assay/evaluator/1"
MOST_MOVES = 20  # results whose moves are shown
MOST_CUTOFFS = 30
LONG = 200  # results; of a longer list, fewer ranks are looked at one by one
DEEPEST, DEEPEST_OF_LONG = 50, 20
LISTS = ("List A", "List B")


class Headline(Struct, frozen=True):
    """One of the measures that people know, with what it depends on."""

    figure: Figure
    short: str  # the measure without its parameters
    address: str
    other: str  # value of the second list
    difference: str  # of the second list to the first
    line: str  # of its values by cutoff: points of an SVG polyline; empty if it has no cutoff
    ranks: tuple[int, ...]  # results that count for it


class MeasureRow(Struct, frozen=True):
    """A measure of the whole table."""

    figure: Figure
    summary: str
    address: str
    other: str
    difference: str
    moved: str  # change if the chosen result moved up


class Family(Struct, frozen=True):
    """The measures of a family."""

    name: str
    rows: tuple[MeasureRow, ...]


class MoveRow(Struct, frozen=True):
    """A result that moves up by one rank, and what each of the headline measures gains."""

    rank: int
    name: str
    address: str  # of the list after the move
    cells: tuple[str, ...]
    best: tuple[bool, ...]  # the most that any of these moves gains
    chosen: bool


class Advice(Struct, frozen=True):
    """The single move that gains most for a measure."""

    words: str
    name: str  # of the result, as the words quote it; empty if it has none
    address: str


class Listed(Struct, frozen=True):
    """A list as text."""

    as_text: str  # to be edited
    rest: str  # grades of the results that have no card
    rest_names: tuple[str, ...]


class Settings(Struct, frozen=True):
    """What the inputs show."""

    rel: str
    missed: str
    relevant: str  # empty: those of the lists
    listed: Listed
    other_listed: Listed  # the second list
    compared: str  # address with a second list
    alone: str  # address without it


class ShownPreset(Struct, frozen=True):
    """An example, as a link."""

    title: str
    address: str
    words: str
    current: bool


class EvaluatorPage(Struct, frozen=True):
    """The page, ready to be printed."""

    schema: str
    address: str
    state: EvaluatorState
    answer: str
    measures: dict[str, float]  # by the library's names
    other_measures: dict[str, float]  # of the second list; empty if there is none
    problems: dict[str, str]  # why a measure has no value
    relevant: int  # relevant documents, in the lists or not
    in_list: int  # relevant results
    headlines: tuple[Headline, ...]
    families: tuple[Family, ...]
    cards: tuple[Card, ...]
    other_cards: tuple[Card, ...]
    head: tuple[str, ...]  # of the table of moves
    moves: tuple[MoveRow, ...]
    chosen: int | None  # the result whose move is shown for every measure
    advice: tuple[Advice, ...]
    charts: tuple[Chart, ...]
    lines: tuple[Line, ...]
    again: Again
    notes: tuple[str, ...]
    announcement: str
    settings: Settings
    presets: tuple[ShownPreset, ...]


def page_of(state: EvaluatorState, before: EvaluatorState | None = None) -> EvaluatorPage:
    """The page in a state; `before` is the state whose values it shows differences to."""
    lists = state.lists
    ranked = lists[0]
    headline = headline_measures(state)
    every = measures_for(state.k, state.gain, state.rel)
    chosen = _chosen(state, ranked)
    found = values([*lists, *_after(state, chosen)], every)
    old = None if before is None else values(before.lists[:1], measures_for(before.k, before.gain, before.rel)).table[0]
    table = _Table(every, found.table, len(lists), old, {str(key): text for key, text in found.problems.items()})
    in_list = sum(grade is not None and grade >= state.rel for grade in ranked.grades)
    relevant = in_list + sum(grade >= state.rel for grade in ranked.missed)
    headlines = _headlines(headline, table, ranked, state)
    advice = _advice(state, ranked, headline)
    return EvaluatorPage(
        schema=SCHEMA,
        address=state.address,
        state=state,
        answer=_answer(state, table, headline, in_list, relevant),
        measures=table.by_name(0),
        other_measures=table.by_name(1) if len(lists) > 1 else {},
        problems=table.problems,
        relevant=relevant,
        in_list=in_list,
        headlines=headlines,
        families=_families(table),
        cards=cards_of(state.grades, state.name),
        other_cards=cards_of(state.other, state.other_name),
        head=tuple(_short(measure) for measure in headline.values()),
        moves=_moves(state, ranked, list(headline.values()), chosen),
        chosen=chosen,
        advice=advice,
        charts=_charts(state, lists, headline),
        lines=tuple(dict.fromkeys(line for measure in headline.values() for line in worked(measure, ranked))),
        again=_again(state, ranked, list(headline.values())),
        notes=tuple(_notes(state, in_list, relevant)),
        announcement=_announcement(headlines),
        settings=_settings(state),
        presets=tuple(
            ShownPreset(preset.title, preset.state.address, preset.words, preset.state == state) for preset in PRESETS
        ),
    )


def page_from(given: Given, before: Given | None = None) -> EvaluatorPage:
    """The page of the fields of an address, and of the one before."""
    return page_of(state_of(given), None if before is None else state_of(before))


def _settings(state: EvaluatorState) -> Settings:
    return Settings(
        rel=shortest(state.rel),
        missed=Grades().write(state.missed)[0],
        relevant="" if state.relevant is None else str(state.relevant),
        listed=_listed(state.grades, state.name),
        other_listed=_listed(state.other, state.other_name),
        compared=replace(state, other=state.grades, other_name=state.name).address,
        alone=replace(state, other=(), other_name=()).address,
    )


def _listed(grades: Sequence[float | None], names: tuple[str, ...]) -> Listed:
    return Listed(as_text(grades, names), Grades().write(tuple(grades[MOST_CARDS:]))[0], names[MOST_CARDS:])


def headline_measures(state: EvaluatorState) -> dict[str, Measure]:
    """The measures that people know, by their everyday names."""
    k = state.k
    return {
        "nDCG": parse_measure(f"nDCG@{k}")(gain=state.gain),
        "Precision": parse_measure(f"P@{k}")(rel=state.rel),
        "Recall": parse_measure(f"R@{k}")(rel=state.rel),
        "F1": parse_measure(f"F@{k}")(rel=state.rel),
        "Average precision": parse_measure("AP")(rel=state.rel),
        "Reciprocal rank": parse_measure("RR")(rel=state.rel),
        "Hit rate": parse_measure(f"Success@{k}")(rel=state.rel),
        "DCG": parse_measure(f"DCG@{k}")(gain=state.gain),
        "ERR": parse_measure(f"ERR@{k}"),
    }


def _short(measure: Measure) -> str:
    """A measure as the head of a column: its name and cutoff."""
    cutoff = measure.param("cutoff")
    return measure.name if cutoff is None else f"{measure.name}@{cutoff}"


class _Table(Struct, frozen=True, eq=False):
    """All values: a row for each list, then one for the list after the chosen move."""

    measures: list[Measure]
    rows: Floats
    lists: int
    old: Floats | None  # of the first list, before
    problems: dict[str, str]

    def by_name(self, row: int) -> dict[str, float]:
        return {str(measure): value for measure, value in zip(self.measures, self.rows[row].tolist(), strict=True)}

    def value(self, place: int, row: int = 0) -> float:
        return float(self.rows[row, place])

    def before(self, place: int) -> float | None:
        return None if self.old is None or len(self.old) != len(self.measures) else float(self.old[place])

    def figure(self, place: int, name: str = "") -> Figure:
        measure = str(self.measures[place])
        return figure(name or measure, measure, self.value(place), self.before(place), self.problems.get(measure, ""))

    def other(self, place: int) -> tuple[str, str]:
        """The value of the second list, and its difference to the first."""
        if self.lists < 2:
            return "", ""
        value = self.value(place, 1)
        return shown(value), signed(value - self.value(place))

    def moved(self, place: int) -> str:
        """What the chosen move changes."""
        return signed(self.value(place, self.lists) - self.value(place)) if len(self.rows) > self.lists else ""


def _chosen(state: EvaluatorState, ranked: GradedList) -> int | None:
    """The result whose move up is shown for every measure: the one asked for, else the first that gains."""
    if state.move is not None and state.move <= len(ranked):
        return state.move
    moves = moves_up(ranked, MOST_MOVES)
    if not moves:
        return None
    main = next(iter(headline_measures(state).values()))
    gains = gains_of_moves(ranked, [main], moves)[:, 0]
    return int(moves[int(gains.argmax())][0])


def _after(state: EvaluatorState, chosen: int | None) -> list[GradedList]:
    return [] if chosen is None else [state.moved(chosen, chosen - 1).lists[0]]


def _headlines(
    headline: dict[str, Measure], table: _Table, ranked: GradedList, state: EvaluatorState
) -> tuple[Headline, ...]:
    places = {str(measure): place for place, measure in enumerate(table.measures)}
    measures = list(headline.values())
    counts = worth(ranked, measures, _deepest(ranked)) != 0
    curves = _curves(state, ranked, measures)
    return tuple(
        Headline(
            table.figure(places[str(measure)], name),
            _short(measure),
            measure_address(measure.name),
            *table.other(places[str(measure)]),
            sparkline(curves[measure]) if measure in curves and len(curves[measure]) > 1 else "",
            tuple((column.nonzero()[0] + 1).tolist()),
        )
        for (name, measure), column in zip(headline.items(), counts.T, strict=True)
    )


def _deepest(ranked: GradedList) -> int:
    """How many results are looked at one by one."""
    return DEEPEST if len(ranked) <= LONG else DEEPEST_OF_LONG


def _cutoffs(state: EvaluatorState) -> range:
    return range(1, min(max(len(state.grades), state.k), MOST_CUTOFFS) + 1)


def _curves(state: EvaluatorState, ranked: GradedList, measures: Sequence[Measure]) -> dict[Measure, list[float]]:
    """The values of measures with a cutoff at every cutoff."""
    cut = [measure for measure in measures if measure.param("cutoff") is not None]
    return dict(zip(cut, by_cutoff(ranked, cut, _cutoffs(state)).T.tolist(), strict=True))


def _families(table: _Table) -> tuple[Family, ...]:
    rows: dict[str, list[MeasureRow]] = {}
    for place, measure in enumerate(table.measures):
        rows.setdefault(measure.definition.family, []).append(
            MeasureRow(
                table.figure(place),
                measure.definition.summary,
                measure_address(measure.name),
                *table.other(place),
                table.moved(place),
            )
        )
    return tuple(Family(FAMILIES.get(name, sentence(name)), tuple(members)) for name, members in rows.items())


def _name(state: EvaluatorState, rank: int, most: int = 60) -> str:
    name = state.name[rank - 1] if rank <= len(state.name) else ""
    return show_id(name, most) or f"result {rank}"


def _called(state: EvaluatorState, rank: int) -> str:
    """A result as part of a sentence."""
    return f'result {rank}, "{_name(state, rank)}",' if _is_named(state, rank) else _name(state, rank)


def _is_named(state: EvaluatorState, rank: int) -> bool:
    return rank <= len(state.name) and state.name[rank - 1] != ""


def _moves(
    state: EvaluatorState, ranked: GradedList, measures: Sequence[Measure], chosen: int | None
) -> tuple[MoveRow, ...]:
    moves = moves_up(ranked, MOST_MOVES)
    if not moves:
        return ()
    gains = gains_of_moves(ranked, measures, moves)
    most = gains.max(axis=0)
    return tuple(
        MoveRow(
            rank=start,
            name=_name(state, start, MOST_TEXT),
            address=state.moved(start, end).address,
            cells=tuple(signed(gain) for gain in row.tolist()),
            best=tuple((gain > 0 and gain == top) for gain, top in zip(row.tolist(), most.tolist(), strict=True)),
            chosen=start == chosen,
        )
        for (start, end), row in zip(moves, gains, strict=True)
    )


def _advice(state: EvaluatorState, ranked: GradedList, headline: dict[str, Measure]) -> tuple[Advice, ...]:
    """The best move for the first measure and for average precision, if there is one."""
    found = []
    shown_also = [headline[name] for name in ("nDCG", "Average precision", "Precision")]
    for main in shown_also[:2]:
        move = best_move(ranked, main, _deepest(ranked))
        if move is None:
            continue
        gains = gains_of_moves(ranked, shown_also, [(move.start, move.end)])[0].tolist()
        listed = ", ".join(f"{_short(measure)} {signed(gain)}" for measure, gain in zip(shown_also, gains, strict=True))
        words = f"Moving {_called(state, move.start)} to rank {move.end} would give {listed}."
        name = _name(state, move.start) if _is_named(state, move.start) else ""
        found.append(Advice(words, name, state.moved(move.start, move.end).address))
    return tuple({advice.words: advice for advice in found}.values())


def _charts(state: EvaluatorState, lists: Sequence[GradedList], headline: dict[str, Measure]) -> tuple[Chart, ...]:
    curves = [
        (name, precision_recall(ranked, state.rel), interpolated(ranked, state.rel))
        for name, ranked in zip(LISTS, lists, strict=False)
    ]
    drawn = {name: headline[name] for name in ("nDCG", "Precision", "Recall", "F1")}
    by_k = _curves(state, lists[0], list(drawn.values()))
    lines = by_cutoff_chart(list(drawn), list(_cutoffs(state)), [by_k[each] for each in drawn.values()], state.k)
    return (precision_recall_chart(curves), lines)


def _again(state: EvaluatorState, ranked: GradedList, measures: Sequence[Measure]) -> Again:
    names = [str(measure) for measure in measures]
    if state.other:
        return again_side_by_side(state.lists, names, state.names, state.title)
    return again({SINGLE: ranked}, names, {SINGLE: state.names[0]}, state.title)


def _answer(state: EvaluatorState, table: _Table, headline: dict[str, Measure], in_list: int, relevant: int) -> str:
    names = [str(measure) for measure in table.measures]
    place = names.index(str(headline["nDCG"]))
    short = _short(headline["nDCG"])
    if not state.grades:
        return "The list is empty: add a result, or paste a list."
    if table.lists > 1:
        difference = table.value(place, 1) - table.value(place)
        verdict = "as good as" if not difference else "better than" if difference > 0 else "worse than"
        by = f" by {abs(difference):.4f}" if difference else ""
        return f"List B is {verdict} list A on {short}{by}: {shown(table.value(place, 1))} and {shown(table.value(place))}."
    found = f"{in_list:,} of {number_of(len(state.grades), 'result')} {plural('{is|are}', in_list)} relevant"
    missing = relevant - in_list
    also = f", and {number_of(missing, 'relevant document')} {plural('{is|are}', missing)} missing" if missing else ""
    return f"{short} is {shown(table.value(place))}; {found}{also}."


def _notes(state: EvaluatorState, in_list: int, relevant: int) -> list[str]:
    found = []
    if state.relevant is not None and state.relevant < relevant:
        found.append(
            f"You gave {number_of(state.relevant, 'relevant document')}, but the lists and the missed documents have "
            f"{relevant:,}, so {relevant:,} are counted."
        )
    if state.other:
        found.append(
            "Both lists are judged against the same documents, those of the smallest collection that holds both; results "
            "with different names are different documents. What only the other list has counts as missed."
        )
    if state.contradicted:
        called = ", ".join(f'"{show_id(name)}"' for name in state.contradicted[:3])
        more = len(state.contradicted) - 3
        found.append(
            f"{called}{f' and {more} more' if more > 0 else ''} "
            f"{plural('{has|have}', len(state.contradicted))} different grades in the two lists, and so "
            f"{plural('{counts|count}', len(state.contradicted))} as different documents."
        )
    if len(state.grades) > MOST_CARDS:
        found.append(f"Only the first {MOST_CARDS} results have a card; change the others as text.")
    if len(state.grades) > MOST_MOVES:
        found.append(f"Moves are shown for the first {MOST_MOVES} results.")
    deepest = _deepest(state.lists[0])
    if len(state.grades) > deepest:
        found.append(f"The best move is looked for among the first {deepest} results.")
    return found


def _announcement(headlines: Sequence[Headline]) -> str:
    changed = [each.figure for each in headlines if each.figure.change_shown][:3]
    return "; ".join(f"{each.name} {each.shown}, {each.change_shown}" for each in changed)
