"""Named conventions: what other tools do with the same files, as data.

For each measure, a convention gives the rules by which a tool ranks and averages (`rules_for`), and the measure of ours
that the tool computes under that name (`adapt`). Each entry cites the test that compares it with the tool itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, field
from msgspec.structs import replace

from assay.errors import MeasureError, did_you_mean, some_of
from assay.judged import JudgedRanking
from assay.measures.bundles import FAMILIES
from assay.measures.core import Measure, trec_stems
from assay.rules import Rules
from assay.tables import Floats
from assay.words import plural

if TYPE_CHECKING:
    from assay.tables import Booleans

Adapt = Callable[[Measure], Measure]
Problem = Callable[[Measure, JudgedRanking, Rules], str]


class Departure(Struct, frozen=True, eq=False):
    """What a tool does differently for some measures."""

    when: Callable[[Measure], bool]
    rules: Mapping[str, Any] = field(default_factory=dict)
    adapt: Adapt = lambda measure: measure
    finish: str = ""  # what the tool does with the values, by its name in edges.py
    why: str = ""  # what the tool computes instead
    reports: bool = True  # False: the tool has no such measure
    problem: Problem = lambda *_: ""  # why the tool gives no number for these files; empty if it does
    advice: str = ""  # what to do about it
    exact: bool = False  # the mean is not rounded, unlike the tool's others


class Convention(Struct, frozen=True, eq=False):
    """How a tool would evaluate the same files."""

    name: str
    about: str
    proof: str  # the test that compares it with the tool itself
    rules: Mapping[str, Any] = field(default_factory=dict)
    cases: tuple[Departure, ...] = ()  # the first match applies
    knows: Callable[[Measure], bool] = lambda measure: True  # whether the tool has the measure, with these parameters
    other_meanings: Mapping[str, str] = field(default_factory=dict)  # names that the tool uses for something else
    whole_grades: bool = False  # grades are truncated to whole numbers
    refuses_fractions: bool = False  # grades that are not whole numbers are an error
    decimals: int | None = None  # means are rounded
    query_decimals: int | None = None  # the values of queries are rounded, halves up

    def case_of(self, measure: Measure) -> Departure:
        """The case that applies to this measure."""
        if not self.knows(measure):
            cut = None if measure.definition.at != "cutoff" or measure.param("cutoff") else measure(cutoff=10)
            only_cut = cut is not None and self.knows(cut)
            why = (
                f"it has {measure.name} only with a cutoff, such as {cut}"
                if only_cut
                else f"{self.name} has no such measure"
            )
            return Departure(lambda _: True, reports=False, why=why)
        return next((case for case in self.cases if case.when(measure)), Departure(lambda _: True))

    def rules_for(self, measure: Measure, base: Rules = Rules()) -> Rules:
        """The rules under which the tool computes this measure."""
        changes = {**self.rules, **self.case_of(measure).rules}
        return replace(base, **changes) if changes else base

    def refusal(self, measure: Measure, label: str) -> str:
        """Why the tool does not report a measure that the user calls `label`; empty if it does."""
        case = self.case_of(measure)
        return self.other_meanings.get(label.partition("@")[0].lower(), "" if case.reports else case.why)

    def refusal_of_grades(self, grades: Floats) -> str:
        """Why the tool does not read these grades; empty if it does."""
        fractions = grades[grades != np.trunc(grades)] if self.refuses_fractions else grades[:0]
        return f"it reads only whole grades, not {fractions[0]:g}" if len(fractions) else ""

    def adapt(self, measure: Measure, label: str = "") -> Measure:
        """The measure of ours that the tool computes under this name."""
        if why := self.refusal(measure, label):
            raise MeasureError(f"{self.name} does not report {label or measure}: {why}.")
        return self.case_of(measure).adapt(measure)

    def problem(self, measure: Measure, judged: JudgedRanking, rules: Rules) -> str:
        """Why the tool gives no number for this measure on these files; empty if it does."""
        return self.case_of(measure).problem(measure, judged, rules)

    def reported(self, values: Floats) -> Floats:
        """The values of queries as the tool rounds them."""
        if self.query_decimals is None:
            return values
        scale = 10.0**self.query_decimals
        return np.asarray(np.floor(values * scale + 0.5) / scale)

    def mean_decimals(self, measure: Measure) -> int | None:
        """The number of decimals to which the tool rounds the mean of this measure."""
        return None if self.case_of(measure).exact else self.decimals


def named(*names: str, cut: bool | None = None) -> Callable[[Measure], bool]:
    """A test for measures of these names, with or without a cutoff."""

    def matches(measure: Measure) -> bool:
        return measure.name in names and (cut is None or cut == (measure.param("cutoff") is not None))

    return matches


def _without(*params: str) -> Adapt:
    return lambda measure: Measure(measure.name, tuple(pair for pair in measure.params if pair[0] not in params))


def _with(**params: Any) -> Adapt:
    return lambda measure: measure(**params)


def _exponential(measure: Measure) -> bool:
    return bool(measure.param("gain") == "exp")


def _has(names: str, *never: str) -> Callable[[Measure], bool]:
    """Whether a measure is among the names and leaves these parameters at their default."""
    known = set(names.split())
    return lambda measure: measure.name in known and not any(name in never for name, _ in measure.params)


def _in_trec_eval(version: str) -> Callable[[Measure], bool]:
    """Whether this version of trec_eval has a measure; it has no AP with another denominator."""

    @cache
    def known() -> set[str]:
        stems, families = trec_stems(), FAMILIES.items()
        return {stems[name][0].name for name, family in families if version in family.versions and name != "rbp"}

    ours = ("norm", "top", "edges")
    return lambda measure: measure.name in known() and not any(name in ours for name, _ in measure.params)


# Each measure of ir_measures, with the parameters that it has.
_IR_MEASURES = {
    name: set(params.split())
    for names, params in {
        "P R Success AP RR": "cutoff rel judged_only",
        "Rprec SetAP": "rel judged_only",
        "SetP": "rel relative judged_only",
        "SetF": "rel beta judged_only",
        "IPrec": "recall rel judged_only",
        "nDCG": "cutoff gain judged_only",
        "SetR Bpref infAP NumRet": "rel",
        "NumQ NumRel": "",
        "ERR Judged": "cutoff",
        "Accuracy": "cutoff rel",
        "Compat": "p normalize",
        "RBP": "p rel",
        "BPM": "cutoff T min_rel max_rel",
        "SDCG NERR8 NERR9": "cutoff min_rel max_rel",
        "NERR10": "p min_rel max_rel",
        "INST INSQ NERR11": "T min_rel max_rel",
        "ERR_IA nERR_IA P_IA": "cutoff rel judged_only",
        "alpha_DCG alpha_nDCG": "cutoff rel alpha judged_only",
        "AP_IA": "rel judged_only",
        "StRecall": "cutoff rel",
        "NRBP nNRBP": "rel alpha beta",
    }.items()
    for name in names.split()
}
# Each measure of ranx, with the parameters that it has.
_RANX = {
    **{name: {"cutoff", "rel"} for name in ("Success", "P", "R", "F", "RR", "AP")},
    **{name: {"rel"} for name in ("SetP", "SetR", "SetF", "Rprec", "Bpref")},
    **{name: {"cutoff", "gain"} for name in ("DCG", "nDCG")},
    "IPrec": {"recall", "rel"},
    "RBP": {"p"},
}


def _in_ranx(measure: Measure) -> bool:
    """Whether ranx has a measure; no gains of one's own, and only eleven levels of recall."""
    if not {name for name, _ in measure.params} <= _RANX.get(measure.name, set()):
        return False
    level = measure.param("recall", 0)
    return measure.name in _RANX and measure.param("gain") in (None, "linear", "exp") and level == round(level, 1)


def _in_ir_measures(measure: Measure) -> bool:
    params = _IR_MEASURES.get(measure.name)
    return params is not None and params.issuperset(name for name, _ in measure.params)


def _lacks(param: str) -> Callable[[Measure], bool]:
    """Whether a measure leaves a parameter open."""
    return lambda measure: param in measure.definition.takes and measure.param(param) is None


def _own_gains(measure: Measure, allowed: Callable[[float], bool]) -> bool:
    """Whether a measure has gains of its own, not all of them allowed."""
    gains = measure.param("gain")
    return isinstance(gains, tuple) and not all(allowed(gain) for _, gain in gains)


# trec_eval has only linear gain with cutoffs, and no cutoff for recip_rank.
_TREC_CASES = (
    Departure(named("RR", cut=True), adapt=_without("cutoff"), why="recip_rank has no cutoff and ignores one"),
    Departure(_exponential, adapt=_without("gain"), why="gain is linear: the grade itself"),
    Departure(
        lambda measure: named("nDCG", cut=True)(measure) and _own_gains(measure, lambda gain: False),
        reports=False,
        why="ndcg_cut has no gains of its own",
    ),
    Departure(
        lambda measure: _own_gains(measure, lambda gain: gain % 1 == 0),
        reports=False,
        why="it sorts gains as whole numbers",
    ),
)
_OF_BEIR = {"scores": "float64", "queries": "judged", "ties": "input"}  # BEIR's own code, not pytrec_eval's
_INPUT_ORDER = {"scores": "float64", "ties": "input"}  # cwl_eval keeps tied documents in input order


_CHOOSE_TIES = "Break the ties in the run, or choose an order with `ties=`."
_ABOVE_0 = 1e-9  # the lowest grade of a relevant document, where every grade above 0 is


def _takes(params: Mapping[str, str], *, cut: bool = False) -> Callable[[Measure], bool]:
    """Whether a measure is among the names, with no parameters but these; `cut`: it must have a cutoff."""
    table = {name: set(taken.split()) for names, taken in params.items() for name in names.split()}

    def known(measure: Measure) -> bool:
        given = {name for name, _ in measure.params}
        return measure.name in table and given <= table[measure.name] and (not cut or "cutoff" in given)

    return known


def _queries(judged: JudgedRanking, chosen: Booleans) -> str:
    return _listed(judged, [judged.queries[place] for place in np.flatnonzero(chosen).tolist()])


def _listed(judged: JudgedRanking, queries: Sequence[str]) -> str:
    """Queries for a message, such as '2 of 8 queries (q1, q2)'; empty if there are none."""
    share = f"{len(queries)} of {len(judged)} {plural('{query|queries}', len(judged))}"
    return f"{share} ({some_of(queries)})" if queries else ""


def _torch_ties(measure: Measure, judged: JudgedRanking, rules: Rules) -> str:
    from assay.measures.ties import undecided

    where = _listed(judged, undecided(measure, judged) if rules.ties == "error" else ())
    return where and f"torch does not define the order of equal scores, which changes the value in {where}"


def _negative_grades(_: Measure, judged: JudgedRanking, rules: Rules) -> str:
    lowest = np.full(len(judged), np.inf)
    np.minimum.at(lowest, judged.pool.query, judged.pool.grade)
    where = _queries(judged, lowest < 0)
    return where and f"it has no rule for grades below 0, which are in {where}"


def _beyond_the_list(measure: Measure, judged: JudgedRanking, rules: Rules) -> str:
    """scikit-learn ranks all documents that it is given, so those that were not retrieved would follow the others."""
    cutoff, above_0 = measure.param("cutoff"), np.nextafter(0, 1)
    missed = judged.num_rel(above_0) > judged.num_found(above_0)
    short = _queries(judged, missed if cutoff is None else missed & (judged.retrieved < cutoff))
    single = _queries(judged, judged.retrieved + np.diff(judged.pool.start) - np.diff(judged.hit_start) < 2)
    if short:
        return f"it needs a score for every relevant document, but the list ends before the cutoff in {short}"
    return _negative_grades(measure, judged, rules) or (single and f"it needs two documents, but has one in {single}")


def _without_relevant(_: Measure, judged: JudgedRanking, rules: Rules) -> str:
    missing = set(judged.missing)
    answered = np.array([query not in missing for query in judged.queries])
    where = _queries(judged, answered & (judged.num_rel(1) == 0))
    return where and f"it divides by the number of relevant documents, which is 0 in {where}"


def _with_fractions(_: Measure, judged: JudgedRanking, rules: Rules) -> str:
    """pytrec_eval, which BEIR uses for most measures, takes only whole grades."""
    grades = judged.pool.grade
    fractions = grades[grades != np.trunc(grades)]
    return f"it takes only whole grades, not {fractions[0]:g}" if len(fractions) else ""


def _within_1000(measure: Measure) -> Measure:
    cutoff = measure.param("cutoff")
    return measure if cutoff is None or cutoff <= 1000 else measure(cutoff=1000)


# What ir_measures does not compute, although it has the measure.
_IR_REFUSALS = (
    Departure(
        lambda measure: (rel := measure.param("rel")) is not None and (rel < 1 or rel % 1 != 0),
        reports=False,
        why="most of its measures take only whole numbers from 1 as rel",
    ),
    Departure(
        lambda measure: measure.definition.needs == "topics" and bool(measure.param("judged_only")),
        reports=False,
        why="its judged_only fails for diversity measures",
    ),
    Departure(
        lambda measure: measure.definition.needs == "topics" and (measure.param("cutoff") or 0) > 20,
        reports=False,
        why="it uses ndeval, which has only cutoffs up to 20",
    ),
    Departure(
        lambda measure: named("alpha_nDCG", "nERR_IA", "StRecall")(measure) and _lacks("cutoff")(measure),
        reports=False,
        why="it has this measure only with a cutoff",
    ),
    Departure(
        lambda measure: (named("ERR")(measure) or _exponential(measure)) and _lacks("cutoff")(measure),
        reports=False,
        why="it uses gdeval, which needs a cutoff",
    ),
    Departure(
        lambda measure: _exponential(measure) and bool(measure.param("judged_only")),
        reports=False,
        why="it uses gdeval, which has no judged_only",
    ),
    Departure(
        lambda measure: named("RR", cut=True)(measure) and bool(measure.param("judged_only")),
        reports=False,
        why="its RR@k has no judged_only",
    ),
    Departure(
        lambda measure: _own_gains(measure, lambda gain: gain >= 0 and gain % 1 == 0),
        reports=False,
        why="its gains are whole numbers from 0",
    ),
    Departure(lambda measure: named("RBP")(measure) and _lacks("rel")(measure), reports=False, why="its RBP needs rel"),
    Departure(_lacks("max_rel"), reports=False, why="it needs max_rel, the highest possible grade"),
)


CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("assay", "64-bit scores, ids descending, all judged queries", "tests/unit/test_conventions.py"),
        Convention(
            "trec_eval-9",
            "32-bit scores, queries in both files; used by pytrec_eval and most papers",
            "tests/golden/test_same_as_tools.py::test_trec_eval_9_is_pytrec_eval_in_every_value_and_mean",
            rules={"scores": "float32", "queries": "both"},
            cases=(*_TREC_CASES, Departure(named("IPrec", "IPrecAvg"), finish="trec_eval")),
            knows=_in_trec_eval("9.0.8"),
            whole_grades=True,
        ),
        Convention(
            "trec_eval-10",
            "64-bit scores; fails if the run lacks a judged query",
            "tests/golden/test_trec_eval.py::test_every_line_of_the_golden_files",
            rules={"queries": "strict"},
            cases=(
                *_TREC_CASES,
                Departure(
                    named("IPrec", "IPrecAvg"),
                    adapt=_with(rounding="nearest"),
                    finish="trec_eval",
                    why="recall levels are rounded to the nearest document",
                ),
            ),
            knows=_in_trec_eval("10.0"),
            whole_grades=True,
        ),
        Convention(
            "ir_measures",
            "all judged queries; tie-breaking depends on the measure",
            "tests/golden/test_same_as_tools.py::test_ir_measures_in_every_value_and_mean",
            rules={"scores": "float32"},
            refuses_fractions=True,
            knows=_in_ir_measures,
            cases=(
                *_IR_REFUSALS,
                Departure(
                    named("RR", cut=True),
                    rules={"scores": "float64", "ties": "doc-asc"},
                    why="RR@k comes from another program, which breaks ties by id, ascending",
                ),
                Departure(named("Judged"), rules={"scores": "float64", "ties": "doc-asc"}),
                Departure(
                    named("RBP"),
                    rules=_INPUT_ORDER,
                    adapt=_with(depth=1000),
                    finish="in one piece",
                    why="the sum ends at rank 1000",
                ),
                Departure(
                    named("BPM"),
                    rules=_INPUT_ORDER,
                    adapt=_within_1000,
                    finish="cwl_eval",
                    why="a rounding error can keep the gain just below T",
                ),
                Departure(
                    named("INST", "INSQ", "SDCG", "NERR8", "NERR9", "NERR10", "NERR11"),
                    rules=_INPUT_ORDER,
                    adapt=_within_1000,
                    finish="in one piece",
                    why="ranks beyond 1000 are ignored",
                ),
                Departure(named("NumRel", "NumQ"), finish="only answered", why="unanswered queries count as 0"),
                Departure(
                    named("Accuracy"),
                    rules=_INPUT_ORDER,
                    finish="where found",
                    why="queries without a relevant document found are left out if Accuracy is computed alone",
                ),
                Departure(
                    named("Compat"),
                    rules={"scores": "float64", "ties": "doc-asc"},
                    finish="score 0",
                    why="in the ideal ranking, documents that were not retrieved have a score of 0",
                ),
                Departure(
                    named("nNRBP"),
                    rules={"scores": "float64", "ties": "doc-asc"},
                    finish="ndeval",
                    why="it is undefined for a query without a relevant document",
                ),
                Departure(
                    lambda measure: measure.definition.needs == "topics",
                    rules={"scores": "float64", "ties": "doc-asc"},
                    finish="in one piece",
                ),
                Departure(
                    named("SetF"),
                    adapt=lambda measure: _without("beta")(measure)(beta2=measure.param("beta")),
                    why="its beta is beta squared",
                ),
                Departure(
                    named("IPrec"),
                    adapt=lambda measure: measure(recall=float(f"{measure.param('recall'):.2f}")),
                    finish="trec_eval",
                    why="recall levels have two decimals",
                ),
                Departure(
                    named("ERR"),
                    rules={"scores": "float64"},
                    adapt=_with(top=4),
                    finish="gdeval",
                    why="the highest grade is assumed to be 4, and values are rounded to 5 decimals",
                ),
                Departure(
                    _exponential,
                    rules={"scores": "float64"},
                    finish="gdeval",
                    why="values are rounded to 5 decimals",
                ),
            ),
        ),
        Convention(
            "ranx",
            "ties in the order of its sort; whole grades; fails if the run lacks a judged query",
            "tests/conventions/test_ranx.py",
            rules={"ties": "ranx", "queries": "strict"},
            knows=_in_ranx,
            cases=(
                Departure(named("RBP"), adapt=_with(raw=True), why="the gain is the grade itself"),
                Departure(
                    named("Bpref"), adapt=_with(edges="ranx"), why="negative grades count as judged not relevant"
                ),
            ),
            other_meanings={
                "hits": "its hits@k is the number of relevant documents among the first k; HitRate@k is its hit_rate@k"
            },
            whole_grades=True,
        ),
        Convention(
            "beir",
            "documents whose id is the query id are dropped; the query set depends on the measure",
            "tests/golden/test_conventions.py::test_beir_by_its_documented_rules",
            rules={"scores": "float32", "queries": "both", "self_match": "drop"},
            knows=_has("nDCG AP R P RR R_cap Hole Success", "rel", "norm", "judged_only"),
            cases=(
                Departure(named("R_cap"), rules=_OF_BEIR, problem=_without_relevant, why="BEIR's own code: see RR"),
                Departure(
                    named("RR", "Hole", "Success"),
                    rules=_OF_BEIR,
                    why="BEIR's own code: ties in input order, mean over all judged queries",
                ),
                Departure(
                    _exponential,
                    adapt=_without("gain"),
                    problem=_with_fractions,
                    why="gain is linear: the grade itself",
                ),
                Departure(named("nDCG", "AP", "R", "P"), problem=_with_fractions),
            ),
            decimals=5,
        ),
        Convention(
            "mteb",
            "as trec_eval-9, and MRR with 64-bit scores; means are rounded",
            "tests/conventions/test_mteb.py",
            rules={"scores": "float32", "queries": "both"},
            knows=_takes({"nDCG": "cutoff gain", "AP R P Success RR": "cutoff"}, cut=True),
            cases=(
                Departure(named("RR"), rules={"scores": "float64"}, exact=True),
                Departure(_exponential, adapt=_without("gain"), why="gain is linear: the grade itself"),
            ),
            other_meanings={"accuracy": "its accuracy is R@1"},
            whole_grades=True,
            decimals=5,
        ),
        Convention(
            "msmarco",
            "MRR@10 by the file's rank column, over all judged queries",
            "tests/golden/test_conventions.py::test_msmarco_by_its_documented_rules",
            rules={"order": "rank", "ties": "input"},
            cases=(
                Departure(
                    lambda measure: not _has("RR", "rel", "judged_only")(measure),
                    reports=False,
                    why="MS MARCO's script reports only MRR",
                ),
                Departure(named("RR", cut=False), adapt=_with(cutoff=10), why="MRR is cut at 10"),
            ),
        ),
        Convention(
            "sentence-transformers",
            "binary relevance, ids ascending; queries without relevant documents are left out",
            "tests/conventions/test_sentence_transformers.py",
            rules={"scores": "float32", "ties": "doc-asc", "undefined": "nan"},
            knows=_takes({"nDCG": "cutoff gain", "AP": "cutoff rel norm", "RR R P Success": "cutoff rel"}, cut=True),
            cases=(
                Departure(named("AP"), adapt=_with(norm="cutoff"), why="the sum is divided by min(relevant, k)"),
                Departure(named("nDCG"), adapt=_with(gain="binary"), why="every relevant document gains 1"),
            ),
            other_meanings={"accuracy": "its accuracy@k is Success@k"},
        ),
        Convention(
            "sklearn",
            "nDCG and DCG averaged over all orders of ties; queries in both files",
            "tests/conventions/test_sklearn.py",
            rules={"ties": "expected", "queries": "both"},
            knows=_takes({"nDCG DCG": "cutoff gain", "AP": "cutoff rel"}),
            cases=(
                Departure(
                    named("AP"),
                    reports=False,
                    why="its average_precision_score needs a score for every relevant document",
                ),
                Departure(named("nDCG", "DCG"), problem=_beyond_the_list),
            ),
        ),
        Convention(
            "torchmetrics",
            "knows only the retrieved documents; scores of 0 or less are not relevant",
            "tests/conventions/test_torchmetrics.py",
            rules={"scores": "float32-positive", "ties": "error", "queries": "both"},
            knows=_takes({"nDCG": "cutoff gain", "AP RR R P Success": "cutoff rel"}),
            cases=(
                Departure(
                    named("nDCG"),
                    rules={"scores": "float32", "ties": "expected"},
                    adapt=_with(ideal="retrieved"),
                    why="the ideal ranking has only the retrieved documents",
                    problem=_negative_grades,
                ),
                Departure(
                    named("AP"),
                    adapt=lambda measure: Measure("ContextPrecision", measure.params),
                    why="the sum is divided by the relevant documents found",
                    problem=_torch_ties,
                    advice=_CHOOSE_TIES,
                ),
                Departure(
                    named("R"),
                    adapt=_with(among="retrieved"),
                    why="only the relevant documents that were retrieved count",
                    problem=_torch_ties,
                    advice=_CHOOSE_TIES,
                ),
                Departure(named("Success"), rules={"scores": "float32"}, problem=_torch_ties, advice=_CHOOSE_TIES),
                Departure(named("RR", "P"), problem=_torch_ties, advice=_CHOOSE_TIES),
            ),
        ),
        Convention(
            "opensearch",
            "by its documented formulas, not run; the values of queries have 2 decimals",
            "tests/golden/test_conventions.py::test_opensearch_by_its_documented_formulas",
            rules={"ties": "input"},
            knows=_takes({"nDCG": "cutoff gain", "P AP Judged": "cutoff"}, cut=True),
            cases=(
                Departure(named("nDCG"), adapt=_with(gain="exp"), why="gain is exponential", problem=_negative_grades),
                Departure(
                    named("P"),
                    adapt=_with(filled=False, rel=_ABOVE_0),
                    why="a short list is divided by its length; every grade above 0 is relevant",
                ),
                Departure(named("AP"), adapt=_with(rel=_ABOVE_0), why="every grade above 0 is relevant"),
            ),
            query_decimals=2,
        ),
    )
}


def convention(name: str) -> Convention:
    """The convention of this name."""
    if name not in CONVENTIONS:
        hint = did_you_mean(name, CONVENTIONS) or f"; there are {', '.join(CONVENTIONS)}."
        raise MeasureError(f"no convention called {name!r}{hint}")
    return CONVENTIONS[name]
