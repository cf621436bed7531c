"""Drop-in replacement for pytrec_eval: change one import and get the same results, bit for bit.

    import assay.compat.pytrec_eval as pytrec_eval

It matches pytrec-eval-terrier 0.5.11: trec_eval 9's arithmetic (32-bit scores, ties broken by document id), only queries
that are in both run and judgments, the same names in the same order. tests/golden/test_pytrec_eval_dropin.py checks all
of this against the package. The only differences, all intended:

- Input that crashes the interpreter there (a repeated cutoff, cutoff 0, a level below 1, gains, a query whose grades are
  all negative or whose ranking is empty at the start of a run) is computed, or raises an error with the reason.
- Numbers of any type are accepted: NumPy scalars, 0-d arrays and tensors, whole floats as grades. So are whole numbers
  as ids; 1 and "1" are the same id. A score of NaN is an error.
- Input that is silently ignored there ("recip_rank_10" is recip_rank) is ignored here with a warning.
- Errors name the query, the document and the value. They have the type that the package raises, and are AssayErrors;
  judgments that are not a mapping are a TypeError (there AttributeError), grades above 2**53 a ValueError (SystemError).
- utility needs exactly four coefficients (there a message on stderr, and 0); ids are not truncated at NUL.
"""

from __future__ import annotations

import math
import re
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from assay.compat.trec_eval import (
    NICKNAMES,
    ORDER,
    RELSTRING,
    RUNID,
    VERSIONS,
    CommandLine,
    Judging,
    Stop,
    columns_of,
)
from assay.errors import (
    DuplicateError,
    InputError,
    ParameterError,
    UnknownMeasureError,
    did_you_mean,
    show_id,
)
from assay.evaluation import GEOMETRIC_FLOOR
from assay.formats.numbers import show_value
from assay.formats.unread import DictRun
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments
from assay.marking import judge
from assay.measures.arithmetic import log
from assay.measures.bundles import Family
from assay.native.index import RankingRules
from assay.rules import Rules
from assay.tables import Floats, Integers, Qrels, Run, as_ids, in_byte_order

__all__ = [
    "RelevanceEvaluator",
    "compute_aggregated_measure",
    "parse_qrel",
    "parse_run",
    "supported_measures",
    "supported_nicknames",
]
__version__ = "0.5.11"  # of the package that this replaces

TREC_EVAL = VERSIONS["9.0.8"]
RULES = Rules(scores="float32", queries="both")
LARGEST_SCORE = np.finfo(np.float64).max  # becomes infinite as a 32-bit float, just like infinity
LARGEST_GRADE = 2**53  # doubles above are not exact

supported_measures: set[str] = {name for name in NICKNAMES["all_trec"] if TREC_EVAL.name in ORDER[name].versions}

_PREFS = ("prefs_simp", "prefs_pair", "prefs_avgjg", "prefs_num_prefs_poss", "prefs_num_prefs_ful")
_MORE_PREFS = (
    *("prefs_avgjg_Rnonrel", "prefs_avgjg_Rnonrel_ret", "prefs_avgjg_ret", "prefs_avgjg_imp", "prefs_pair_ret"),
    *("prefs_pair_imp", "prefs_simp_ret", "prefs_simp_imp"),
)
# The last three are listed only because pytrec_eval lists them: their measures need preferences, which neither supports.
supported_nicknames: dict[str, set[str]] = {
    **{name: supported_measures.intersection(families) for name, families in NICKNAMES.items()},
    "prefs": {"runid", "num_q", *_PREFS, "prefs_num_prefs_ful_ret"},
    "all_prefs": {"runid", "num_q", *_PREFS, "prefs_num_prefs_ful_ret", *_MORE_PREFS},
    "qrels_jg": {"runid", "num_q", "P_avgjg", "map_avgjg", "Rprec_mult_avgjg"},
}


# Errors: AssayErrors that also have the type that the package raises


class WrongTypeError(InputError, TypeError):
    """A value of the wrong type."""


class WrongValueError(InputError, ValueError):
    """An invalid value of the right type."""


class UnsupportedMeasureError(UnknownMeasureError, ValueError):
    """A measure that pytrec_eval does not have."""


class WrongParameterError(ParameterError, ValueError):
    """A parameter that a measure does not take."""


class RepeatedDocumentError(DuplicateError, AssertionError):
    """A document appears twice in a query of a file."""


# Files


def parse_run(f_run: Iterable[str]) -> dict[str, dict[str, float]]:
    """Scores by query and document from the lines of a TREC run, for example an open file.

    >>> dict(parse_run(["q1 Q0 a 1 9.5 bm25", "q1 Q0 b 2 8.0 bm25"]))
    {'q1': {'a': 9.5, 'b': 8.0}}
    """
    return _parse(f_run, _RUN)


def parse_qrel(f_qrel: Iterable[str]) -> dict[str, dict[str, int]]:
    """Grades by query and document from the lines of TREC qrels, for example an open file.

    >>> dict(parse_qrel(["q1 0 a 1", "q1 0 b 0"]))
    {'q1': {'a': 1, 'b': 0}}
    """
    return _parse(f_qrel, _QRELS)


class _ResultLines(Struct, frozen=True):
    """The columns of a file and how to read them."""

    word: str
    columns: str
    value: str  # name of the value column: grade or score
    read: Callable[[str], Any]
    expected: str
    advice: str = ""


_RUN = _ResultLines("run", "query Q0 document rank score tag", "score", float, "a number")
_QRELS = _ResultLines(
    "qrels",
    "query 0 document grade",
    "grade",
    int,
    "a whole number",
    " assay.evaluate also reads fractions and letters.",
)


def _parse(lines: Iterable[str], kind: _ResultLines) -> dict[str, dict[str, Any]]:
    if isinstance(lines, str):
        raise WrongValueError(f"pass an open file or a list of lines: parse_{kind.word.rstrip('s')}(open(path)).")
    source, columns = str(getattr(lines, "name", kind.word)), kind.columns.split()
    place = columns.index(kind.value)
    table: dict[str, dict[str, Any]] = defaultdict(dict)
    for number, line in enumerate(lines, 1):
        cells = line.split()
        if len(cells) != len(columns):
            what = f"{len(cells)} columns, expected {len(columns)}: {kind.columns}."
            raise WrongValueError(what, source=source, line=number)
        query, doc, value = cells[0], cells[2], cells[place]
        if doc in table[query]:
            what = f"document {show_id(doc)} appears twice in query {show_id(query)}; remove one of the lines."
            raise RepeatedDocumentError(what, pairs=[(query, doc)], source=source, line=number)
        try:
            table[query][doc] = kind.read(value)
        except ValueError:
            what = f"{kind.value} '{show_id(value)}' is not {kind.expected}"
            at = f"(query {show_id(query)}, document {show_id(doc)})"
            raise WrongValueError(f"{what} {at}.{kind.advice}", source=source, line=number) from None
    return table


# Measures


_PARAMETERS = re.compile(r"[._]([0-9]+(?:\.[0-9]+)?(?:,[0-9]+(?:\.[0-9]+)?)*)")


class _Value(Struct, frozen=True):
    """One value of the result: its name, and how it is computed."""

    name: str
    compute: Callable[[Judging], Floats]


def _requested(measures: Iterable[str]) -> dict[str, str | None]:
    """The requested families in trec_eval's order, with their parameters; parameters replace the defaults."""
    if isinstance(measures, str):
        raise UnsupportedMeasureError(f"measures must be a set of names: write {{{measures!r}}}.")
    if not isinstance(measures, Iterable):
        raise WrongTypeError(f"measures must be a set of names such as {{'map', 'ndcg_cut_10'}}, not {measures!r}.")
    asked: dict[str, set[str]] = defaultdict(set)
    for measure in measures:
        if not isinstance(measure, str):
            raise WrongTypeError(f"a measure must be a name such as 'map', not {measure!r}.")
        for name in supported_nicknames.get(measure, {measure}):
            family, params = _family_and_parameters(name)
            asked[family].update(params)
    return {name: ",".join(sorted(asked[name])) or None for name in ORDER if name in asked}


def _family_and_parameters(measure: str) -> tuple[str, list[str]]:
    """The family and parameters of a name: map, P_5, P.5,10, iprec_at_recall_0.10."""
    if measure in supported_measures:
        return measure, []
    for name in supported_measures:
        found = _PARAMETERS.match(measure, len(name)) if measure.startswith(name) else None
        if found:
            if found.end() < len(measure):
                _warn(f"{measure!r} is read as {measure[: found.end()]!r}, as in pytrec_eval; the rest is ignored.")
            if ORDER[name].kind == "none":
                _warn(
                    f"{measure!r} is read as {name!r}, as in pytrec_eval: it takes no parameter.{_INSTEAD.get(name, '')}"
                )
            return name, found[1].split(",")
    hint = did_you_mean(measure, supported_measures) or "; see pytrec_eval.supported_measures."
    raise UnsupportedMeasureError(f"unsupported measure {measure}{hint}")


_INSTEAD = {"map": " Use map_cut_10.", "recip_rank": " Use RR@10 with assay.evaluate."}


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)


def _values_of(family: Family, params: str | None, options: CommandLine) -> Iterator[_Value]:
    """The values that the package returns for a family: one per cutoff or level, else one with the family's name."""
    if family in (RUNID, RELSTRING):  # the package returns 0 for texts
        yield _Value(family.name, lambda judging: np.zeros(len(judging.judged)))
        return
    try:
        list(family.settings(params))
        columns = list(columns_of(family, params, options))
    except ParameterError as error:
        raise WrongParameterError(str(error)) from None
    except Stop as refusal:
        raise WrongParameterError(f"{family.name}.{params}: {refusal}.") from None
    for column in columns:
        name = column.name if family.kind in ("cutoffs", "levels") else family.name
        yield _Value(name, _logarithm(column.values) if column.total == "geometric" else column.values)


def _logarithm(values: Callable[[Judging], Any]) -> Callable[[Judging], Floats]:
    """For one query, gm_map and gm_bpref are logarithms; the mean is taken before exp."""
    return lambda judging: log(np.maximum(values(judging), GEOMETRIC_FLOOR))


# Evaluation


class RelevanceEvaluator:
    """Judgments and measures, prepared once for many runs.

    `query_relevance` is {query: {document: grade}}. `measures` are names such as "map", "ndcg_cut_10" or "P_5,10",
    families such as "ndcg_cut" (all default cutoffs) and nicknames such as "official". Grades of at least
    `relevance_level` are relevant; `judged_docs_only_flag` removes unjudged documents from the rankings. Queries without
    judgments are ignored.

    >>> evaluator = RelevanceEvaluator({"q1": {"a": 1, "b": 0}}, {"map", "P_5"})
    >>> evaluator.evaluate({"q1": {"b": 2.0, "a": 1.0}})
    {'q1': {'map': 0.5, 'P_5': 0.2}}
    """

    def __init__(
        self,
        query_relevance: Mapping[str, Mapping[str, int]],
        measures: Iterable[str],
        relevance_level: int = 1,
        judged_docs_only_flag: bool = False,
    ) -> None:
        level = _whole(relevance_level, "relevance_level")
        if level < 1:
            raise WrongTypeError(f"relevance_level is {level}; it must be at least 1.")
        only_judged = bool(_whole(judged_docs_only_flag, "judged_docs_only_flag"))
        self._options = CommandLine(TREC_EVAL, "", "", (), level=level, only_judged=only_judged)
        self._values = [
            value
            for name, params in _requested(measures).items()
            for value in _values_of(ORDER[name], params, self._options)
        ]
        self._judgments = index_judgments(_qrels(query_relevance))

    def evaluate(self, scores: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, float]]:
        """Values by query and measure, for the queries of the run that are judged, in the order of the run."""
        if not scores:
            return {}
        ids = _query_ids(scores, "scores")
        answered = {text: query for text, query in ids.items() if text in self._judgments.place}
        if not answered:
            return {}
        judged = judge(self._judgments, _Scores(scores, answered), RULES)
        judged = judged.only_judged() if self._options.only_judged else judged
        judging = Judging(judged, np.zeros(len(judged), bool), self._options)
        names = [value.name for value in self._values]
        table = np.array([value.compute(judging) for value in self._values]).reshape(len(names), len(judged))
        rows = dict(zip(judged.queries, table.T.tolist(), strict=True))
        return {query: dict(zip(names, rows[text], strict=True)) for text, query in answered.items()}


def compute_aggregated_measure(measure: str, values: Sequence[float]) -> float:
    """Combine the values of all queries: the sum of counts, the geometric mean of gm_ measures, else the mean.

    >>> compute_aggregated_measure("num_ret", [10, 20]), compute_aggregated_measure("map", [0.25, 0.75])
    (30.0, 0.5)
    """
    given = np.asarray(list(values), np.float64)
    if measure.startswith("num_"):
        return float(np.sum(given))
    # np.mean and np.sum instead of exact sums, to match the package in the last bit.
    return float(np.exp(np.sum(given) / len(given)) if measure.startswith("gm_") else np.mean(given))


# Convert dicts to tables


def _whole(value: Any, name: str) -> int:
    if isinstance(value, (int, np.integer, np.bool_)):
        return int(value)
    raise WrongTypeError(f"{name} must be a whole number, not {value!r} ({type(value).__name__}).")


def _query_ids(table: Any, name: str) -> dict[str, Any]:
    """The queries of a dict of dicts: id as text -> original id."""
    if not isinstance(table, Mapping):
        raise WrongTypeError(
            f"{name} must be a dict of dicts, {{query: {{document: number}}}}, not a {type(table).__name__}."
        )
    ids = {_text(query, f"query of {name}"): query for query in table}
    if len(ids) < len(table):
        raise WrongValueError(f"{name} has the same query as text and as a number.")
    for text, query in ids.items():
        if not isinstance(table[query], Mapping):
            raise WrongTypeError(
                f"{name}: the value of query {show_id(text)} is a {type(table[query]).__name__}, "
                "expected {document: number}."
            )
    return ids


def _text(value: Any, what: str) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        try:
            return str(int(value))
        except ValueError:  # Python writes no number of more than 4300 digits
            raise WrongValueError(f"{what} is {show_value(value)}.") from None
    raise WrongTypeError(f"{what} {value!r} is a {type(value).__name__}; ids must be text or whole numbers.")


class _RunRows(Struct, frozen=True, eq=False):
    """A dict of dicts as columns."""

    name: str
    queries: tuple[str, ...]
    query: Integers
    doc: list[str]
    value: list[Any]

    def refusal(self, error: type[InputError], row: int, what: str) -> InputError:
        """An error with the query and document of a value."""
        value, query = self.value[row], self.queries[self.query[row]]
        return error(
            f"{self.name}: {what.format(f'{show_value(value)} ({type(value).__name__})')} "
            f"(query {show_id(query)}, document {show_id(self.doc[row])})."
        )


def _rows(table: Mapping[Any, Mapping[Any, Any]], ids: Mapping[str, Any], name: str) -> _RunRows:
    queries = in_byte_order(ids)
    parts = [table[ids[query]] for query in queries]
    docs = [doc for part in parts for doc in part]
    if set(map(type, docs)) - {str}:
        docs = [_text(doc, f"document of {name}") for doc in docs]
    codes = np.repeat(np.arange(len(queries)), [len(part) for part in parts])
    return _RunRows(name, tuple(queries), codes, docs, [value for part in parts for value in part.values()])


def _qrels(query_relevance: Mapping[str, Mapping[str, int]]) -> Qrels:
    name = "query_relevance"
    ids = {text: query for text, query in _query_ids(query_relevance, name).items() if query_relevance[query]}
    rows = _rows(query_relevance, ids, name)
    grades = _numbers(rows, "grade")
    fractional = np.flatnonzero(grades != np.floor(grades))
    if len(fractional):
        raise rows.refusal(
            WrongTypeError,
            int(fractional[0]),
            "grade {} is not a whole number, which pytrec_eval requires; assay.evaluate accepts fractions",
        )
    large = np.flatnonzero(np.abs(grades) > LARGEST_GRADE)
    if len(large):
        raise rows.refusal(WrongValueError, int(large[0]), "grade {} is too large")
    return Qrels(rows.queries, rows.query, as_ids(rows.doc), grades, source=name)


class _Scores(DictRun):
    """A run as a dict of dicts; unjudged queries are ignored, and a query may have no documents."""

    source = "scores"

    def __init__(self, scores: Mapping[str, Mapping[str, float]], answered: Mapping[str, Any]) -> None:
        super().__init__(scores, "scores")
        self._answered = answered

    def judged(self, judgments: Judgments, rules: RankingRules, threads: int) -> JudgedRanking | None:
        plain = type(self.scores) is dict and all(self.scores.values())
        return super().judged(judgments, rules, threads) if plain else None

    def read(self) -> Run:
        return _run(self.scores, self._answered)


def _run(scores: Mapping[str, Mapping[str, float]], answered: Mapping[str, Any]) -> Run:
    rows = _rows(scores, answered, "scores")
    score = np.clip(_numbers(rows, "score"), -LARGEST_SCORE, LARGEST_SCORE)
    return Run(rows.queries, rows.query, as_ids(rows.doc), score, source="scores")


_PLAIN = (int, float, np.integer, np.floating, np.bool_)


def _numbers(rows: _RunRows, what: str) -> Floats:
    """The values as doubles, vectorised if all are Python or NumPy numbers."""
    if all(issubclass(kind, _PLAIN) for kind in set(map(type, rows.value))):
        try:
            with np.errstate(over="ignore"):  # a long double may be too large
                numbers = np.array(rows.value, np.float64)
        except OverflowError:
            numbers = np.array([_number(rows, row, what) for row in range(len(rows.value))])
    else:
        numbers = np.array([_number(rows, row, what) for row in range(len(rows.value))])
    undefined = np.flatnonzero(np.isnan(numbers))
    if len(undefined):
        raise rows.refusal(WrongValueError, int(undefined[0]), f"{what} {{}} is not a number")
    return numbers


def _number(rows: _RunRows, row: int, what: str) -> float:
    value = rows.value[row]
    try:
        if not isinstance(value, (str, bytes)):
            return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        pass
    raise rows.refusal(WrongTypeError, row, f"{what} {{}} is not a number")
