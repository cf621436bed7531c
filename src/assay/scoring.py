"""Score rankings given as lists: one query in a notebook, or the questions of a RAG test set.

Converts lists, dicts and arrays to the tables that `evaluate` takes.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias, overload

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import DuplicateError, InputError, RulesError, show_id, some_of
from assay.evaluation import DEFAULT_MEASURES, Evaluation, Evaluator, Scores
from assay.formats.columns import as_id
from assay.formats.numbers import real
from assay.measures import Measure
from assay.rules import Rules
from assay.tables import Floats, Integers, Qrels, Run, as_ids, in_byte_order
from assay.words import number_of, plural

DocId: TypeAlias = str | int
Ranking: TypeAlias = Iterable[DocId] | Mapping[DocId, float] | Mapping[str, float]  # ids, best first, or their scores
Grades: TypeAlias = Iterable[DocId] | Mapping[DocId, float] | Mapping[str, float]  # the relevant ids, or their grades
Measures: TypeAlias = Iterable[str | Measure]


@overload
def score(
    ranking: Iterable[DocId],
    judgments: Grades,
    measures: Measures = DEFAULT_MEASURES,
    *,
    scores: Iterable[float],
    rules: Rules = Rules(),
) -> Scores: ...
@overload
def score(
    ranking: Ranking, judgments: Grades, measures: Measures = DEFAULT_MEASURES, *, rules: Rules = Rules()
) -> Scores: ...
def score(
    ranking: Ranking,
    judgments: Grades,
    measures: Measures = DEFAULT_MEASURES,
    *,
    scores: Iterable[float] | None = None,
    rules: Rules = Rules(),
) -> Scores:
    """The values of one ranking.

    `ranking` is a list of document ids, best first, or a dict of scores. `judgments` is a dict of grades, or a set or list
    of relevant ids. Ids are text or whole numbers; 7 and "7" are the same document. `scores` are the scores of a list of
    ids (list, NumPy array or torch tensor): documents are then ranked by score, with ties broken by the rules. An empty
    ranking scores 0; without relevant documents the values are 0, or nan with Rules(undefined="nan").

    >>> score(["d3", "d1"], {"d1": 3, "d2": 1}, ["RR", "R@10"])
    {'RR': 0.5, 'R@10': 0.5}
    >>> score({7: 0.2, 8: 0.9}, {8}, ["P@1"])
    {'P@1': 1.0}
    """
    result = _evaluate([_Question(_plain(ranking), _plain(judgments), scores, "")], measures, rules, "ranking")
    return Scores(result.requests, result.values[0])


def _plain(value: Any) -> Any:
    """Convert a pandas Series of numbers with ids as its index to a dict."""
    index, kind = getattr(value, "index", None), getattr(getattr(value, "dtype", None), "kind", "")
    is_dict = hasattr(value, "to_dict") and kind in tuple("iufb") and type(index).__name__ != "RangeIndex"
    return value.to_dict() if is_dict else value


def score_many(
    rankings: Iterable[Ranking] | Mapping[str, Ranking] | Mapping[int, Ranking],
    judgments: Iterable[Grades] | Mapping[str, Grades] | Mapping[int, Grades],
    measures: Measures = DEFAULT_MEASURES,
    *,
    scores: Iterable[Iterable[float]] | Mapping[str, Iterable[float]] | Mapping[int, Iterable[float]] | None = None,
    rules: Rules = Rules(),
    name: str = "run",
) -> Evaluation:
    """Evaluate many rankings, each with its judgments, such as the questions of a RAG test set.

    Rankings and judgments (and scores) are lists of the same length or dicts with the same keys, {question: ranking}; each
    item is what `score` takes. The query ids are the keys, in the order of the rankings; for lists they are "0", "1" and so
    on. An empty ranking counts as 0 and is listed in `coverage.missing`.

    >>> result = score_many([["a", "b"], ["c"], []], [["b"], ["c"], ["d"]], ["RR"])
    >>> result.mean(), result.coverage.missing
    ({'RR': 0.5}, ('2',))
    >>> score_many({"what is a?": ["b", "a"]}, {"what is a?": {"a"}}, ["RR"]).per_query()
    {'what is a?': {'RR': 0.5}}
    """
    given = {"rankings": rankings, "judgments": judgments} | ({} if scores is None else {"scores": scores})
    if any(isinstance(values, Mapping) for values in given.values()):
        names, (ranked, judged, *rest) = _by_name(given)
    else:
        ranked, judged, *rest = (_as_list(values, word) for word, values in given.items())
        names = None
    scored = rest[0] if rest else [None] * len(ranked)
    _check_lengths(len(ranked), len(judged), len(scored))
    shown = range(len(ranked)) if names is None else map(show_id, names)
    places = (f"question {place}: " for place in shown)
    parts = zip(ranked, judged, scored, places, strict=True)
    return _evaluate([_Question(*part) for part in parts], measures, rules, name, names)


def _by_name(given: Mapping[str, Any]) -> tuple[list[str], list[list[Any]]]:
    """The names of the questions, and their values in this order, from dicts with the same keys."""
    named: dict[str, dict[str, Any]] = {}
    for word, values in given.items():
        if not isinstance(values, Mapping):
            other = next(other for other, found in given.items() if isinstance(found, Mapping))
            raise InputError(f"{other} is a dict by question, but {word} is not; pass all as dicts, or all as lists.")
        texts = [as_id(key) for key in values]
        if None in texts or len(set(texts)) < len(texts):
            raise InputError(f"{word}: the names of questions must be text or whole numbers, and different as text.")
        named[word] = dict(zip(map(str, texts), values.values(), strict=True))
    names = list(named["rankings"])
    for word, values in named.items():
        for have, lack, kept, asked in (("rankings", word, values, names), (word, "rankings", names, values)):
            if without := [question for question in asked if question not in kept]:
                raise InputError(
                    f"{len(without):,} {plural('question{|s}', len(without))} of {have} "
                    f"{plural('{is|are}', len(without))} missing from {lack} (first: {some_of(without)}). Pass the same "
                    "questions in both; an empty list stands for no documents."
                )
    return names, [[values[question] for question in names] for values in named.values()]


class _Question(Struct, frozen=True, eq=False):
    """A ranking and its judgments, as given."""

    ranking: Any
    judgments: Any
    scores: Any
    place: str  # prefix of messages

    def judged(self) -> tuple[list[str], Floats]:
        """Documents and their grades."""
        given, word = self.judgments, f"{self.place}judgments"
        if isinstance(given, Mapping):
            docs, grades = _texts(given, word), _numbers(list(given.values()), f"{word}: grade")
            if repeat := _first_repeat(docs):
                raise InputError(
                    f"{word}: document {show_id(repeat[0])} appears both as text and as a number; keep one of them."
                )
            return docs, grades
        docs = list(dict.fromkeys(_texts(_as_list(given, word), word)))
        return docs, np.ones(len(docs))

    def ranked(self, rules: Rules) -> tuple[list[str], Floats]:
        """Documents and their scores; a list without scores keeps its order."""
        given, word = self.ranking, f"{self.place}ranking"
        if isinstance(given, Mapping):
            if self.scores is not None:
                raise InputError(f"{word}: a dict already has scores; do not pass scores= as well.")
            docs, numbers = _texts(given, word), _numbers(list(given.values()), f"{word}: score")
        else:
            if isinstance(given, (set, frozenset)):
                raise InputError(f"{word}: a set has no order; pass a list of ids, best first, or a dict of scores.")
            docs = _texts(_as_list(given, word), word)
            numbers = self._scores(len(docs))
        if rules.duplicates == "error" and (repeat := _first_repeat(docs)):
            doc, first, again = repeat
            raise DuplicateError(
                f"{word}: document {show_id(doc)} appears at ranks {first} and {again}, but may appear only once. "
                'Remove the duplicates, or keep the first with rules=Rules(duplicates="first").',
                pairs=[("", doc)],
            )
        return docs, numbers

    def _scores(self, documents: int) -> Floats:
        if self.scores is None:
            return np.arange(documents, 0.0, -1.0)
        word = f"{self.place}scores"
        numbers = _numbers(_as_list(self.scores, word), f"{word}: score")
        if len(numbers) != documents:
            raise InputError(
                f"{word}: {number_of(len(numbers), 'score')} for {number_of(documents, 'document')}; pass one score per document."
            )
        return numbers


def _evaluate(
    questions: Sequence[_Question],
    measures: Iterable[str | Measure],
    rules: Rules,
    name: str,
    names: Sequence[str] | None = None,
) -> Evaluation:
    """Evaluate the questions in their order, under their names or the ids 0, 1, ..."""
    listed = names is None
    names = [str(place) for place in range(len(questions))] if names is None else names
    queries = in_byte_order(names)  # as in tables: 0, 1, 10, 2
    place_of = {query: place for place, query in enumerate(names)}
    order = [place_of[query] for query in queries]
    evaluator = Evaluator(
        _qrels(queries, [questions[place].judged() for place in order]), measures, rules, unmatched="zero"
    )
    rules = evaluator.rules
    if rules.self_match == "drop" and listed:
        raise RulesError("self_match=drop needs query ids, which lists do not have; use assay.evaluate.")
    ranked = [questions[place].ranked(rules) for place in order]
    result = evaluator.evaluate(_run(queries, ranked, questions, name))
    empty = sorted(order[row] for row, (docs, _) in enumerate(ranked) if not docs)
    missing = tuple(names[place] for place in empty)
    return replace(
        result,
        queries=tuple(names),
        values=result.values[np.argsort(order)],
        coverage=replace(result.coverage, answered=len(names) - len(missing), missing=missing),
    )


def _qrels(queries: list[str], judged: list[tuple[list[str], Floats]]) -> Qrels:
    """The judgments as a table; a question without judgments has no rows."""
    docs, grades = _joined(judged)
    return Qrels(tuple(queries), _codes(judged), as_ids(docs), grades, source="judgments")


def _run(queries: list[str], ranked: list[tuple[list[str], Floats]], questions: Sequence[_Question], name: str) -> Run:
    """The rankings as a table; lists without scores have a rank column."""
    docs, numbers = _joined(ranked)
    listed = all(question.scores is None and not isinstance(question.ranking, Mapping) for question in questions)
    ranks = [np.arange(1, len(part[0]) + 1) for part in ranked] if listed else None
    rank = None if ranks is None else np.concatenate([np.zeros(0, np.int64), *ranks])
    return Run(tuple(queries), _codes(ranked), as_ids(docs), numbers, rank, name, source=name)


def _joined(parts: list[tuple[list[str], Floats]]) -> tuple[list[str], Floats]:
    docs = list(chain.from_iterable(part[0] for part in parts))
    return docs, np.concatenate([np.zeros(0), *(part[1] for part in parts)])


def _codes(parts: list[tuple[list[str], Floats]]) -> Integers:
    return np.repeat(np.arange(len(parts)), [len(part[0]) for part in parts])


def _check_lengths(rankings: int, judgments: int, scores: int) -> None:
    if rankings != judgments or rankings != scores:
        others = number_of(judgments, "judgment") if rankings != judgments else f"{number_of(scores, 'list')} of scores"
        raise InputError(f"{number_of(rankings, 'ranking')} but {others}: pass one of each per question.")
    if not rankings:
        raise InputError("no questions to score.")


# Convert values of any type to ids and numbers


def _as_list(values: Any, word: str) -> list[Any]:
    """The values of a list, tuple, series, NumPy array or torch tensor."""
    if hasattr(values, "tolist"):
        values = values.tolist()  # plain numbers, from any device
    elif hasattr(values, "__array__"):
        values = np.asarray(values).tolist()
    if isinstance(values, (str, bytes, Mapping)) or not isinstance(values, Iterable):
        shown = show_id(repr(values))
        raise InputError(f"{word}: expected a list of values, found {shown} ({type(values).__name__}).")
    return values if isinstance(values, list) else list(values)


def _texts(ids: Iterable[Any], word: str) -> list[str]:
    """Ids as text."""
    return [value if type(value) is str else _text(value, word) for value in ids]


def _text(value: Any, word: str) -> str:
    if isinstance(value, str):
        return str(value)
    try:
        if not isinstance(value, (bool, np.bool_)):
            return str(operator.index(value))
    except TypeError:
        pass
    shown = show_id(repr(value))
    raise InputError(
        f"{word}: {shown} ({type(value).__name__}) is not a document id; ids must be text or whole numbers. "
        "Pass grades and scores in a dict."
    )


def _numbers(values: list[Any], word: str) -> Floats:
    """Finite numbers."""
    if set(map(type, values)) <= {int, float, bool}:
        try:
            numbers = np.array(values, np.float64)
        except OverflowError:
            numbers = np.full(1, np.inf)
        if np.isfinite(numbers).all():
            return numbers
    converted = [real(value) for value in values]
    if None in converted:
        value = values[converted.index(None)]
        shown = show_id(repr(value.item() if isinstance(value, np.generic) else value))
        raise InputError(f"{word} {shown} ({type(value).__name__}) is not a finite number.")
    return np.array(converted, np.float64)


def _first_repeat(docs: list[str]) -> tuple[str, int, int] | None:
    """The first duplicate document and its first two ranks."""
    first: dict[str, int] = {}
    for place, doc in enumerate(docs, 1):
        if first.setdefault(doc, place) != place:
            return doc, first[doc], place
    return None
