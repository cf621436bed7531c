"""Drop-in replacement for trec_eval: same options, same output to the last character, same exit codes.

It emulates two versions: 9.0.8 (used for most published results) and 10.0. `VERSIONS` lists their differences; quirks.py
has what both do that our measures do not.

The only differences, all intended: numbers that the C program misreads (hexadecimal, infinite, text) are errors, and so
are files that it misreads or crashes on (NUL bytes, CR-only line endings, only blank lines, a query without a grade
above -2); `rbp` follows NIST's published definition in both versions and is in no bundle; -h and error messages have
their own wording; parameters that do not count are named on stderr; compressed files can be read; -R other than qrels,
and -Z, are not supported.
"""

from __future__ import annotations

import getopt
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TextIO

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay import native
from assay.compat.quirks import GAIN_QUIRKS, NOT_MET, QUIRKS
from assay.errors import AssayError, DuplicateError, ParameterError, QuerySetError
from assay.formats.dialects import TREC_EVAL_9, TREC_EVAL_10, Dialect
from assay.formats.trec import read_trec_qrels
from assay.formats.unread import TrecRun
from assay.judged import JudgedRanking
from assay.judgments import Judgments, index_judgments
from assay.marking import OpenedRun, judge, kernel_ranking, no_query_in_common
from assay.measures import Measure
from assay.measures.arithmetic import log
from assay.measures.bundles import BUNDLES, FAMILIES, Family, c_integer, c_number
from assay.measures.core import trec_stems
from assay.rules import Rules, Scores
from assay.tables import Floats, Integers, Qrels, Run, as_bytes

LARGEST_GRADE = 2**31 - 1  # above, the C program runs out of memory and gives up

USAGE = """\
Usage: assay trec_eval [--as 9.0.8|10.0] [-q] [-c] [-n] [-l LEVEL] [-M DEPTH] [-N DOCS] [-J] [-m MEASURE]... QRELS RUN

  Evaluates RUN against QRELS and prints exactly what trec_eval prints.

  --as VERSION  version to emulate: 9.0.8 (default) or 10.0
  -q            also print the values of each query
  -c            average over all judged queries; queries missing from the run count as 0
  -n            do not print the summary
  -l LEVEL      lowest relevant grade (default 1)
  -M DEPTH      use only the first DEPTH documents of each query
  -N DOCS       number of documents in the collection (for utility)
  -J            remove unjudged documents before scoring
  -m MEASURE    measure, with parameters after a dot (P.5,10), or bundle: official (default), set, all_trec
  -h, -v        print this help; print the version

  Example: assay trec_eval -q -c -m ndcg_cut.10 -m map qrels.txt run.txt
  Measures: %s
"""


class Version(Struct, frozen=True):
    """The differences between versions of trec_eval."""

    name: str
    dialect: Dialect
    scores: Scores
    rounding: str  # of recall levels: see IPrec
    missing_is_error: bool  # a judged query missing from the run, without -c
    prints_missing: bool  # under -q -c


VERSIONS = {
    version.name: version
    for version in (
        Version("9.0.8", TREC_EVAL_9, "float32", "up", missing_is_error=False, prints_missing=False),
        Version("10.0", TREC_EVAL_10, "float64", "nearest", missing_is_error=True, prints_missing=True),
    )
}

RUNID = Family("runid", single=False)
RELSTRING = Family("relstring", "length", "numbers", (10.0,), summary=False)


def _print_order() -> dict[str, Family]:
    """All families in trec_eval's print order."""
    order = {"runid": RUNID}
    for name, family in FAMILIES.items():
        order[name] = family
        if name == "P":
            order["relstring"] = RELSTRING
    return order


ORDER = _print_order()
NICKNAMES = {
    "official": ("runid", *BUNDLES["official"]),
    "set": ("runid", *BUNDLES["set"]),
    "all_trec": ("runid", "relstring", *BUNDLES["all_trec"]),
}


class Stop(Exception):
    """The program stops with a message and an exit code, after printing `printed`."""

    def __init__(self, message: str, code: int, printed: str = "") -> None:
        self.code, self.printed = code, printed
        super().__init__(message)


class CommandLine(Struct, frozen=True):
    """The parsed command line."""

    version: Version
    qrels: str
    run: str
    families: tuple[tuple[Family, str | None], ...]  # in print order, with their parameters
    per_query: bool = False
    complete: bool = False
    summary: bool = True
    level: int = 1
    depth: int | None = None
    docs: int = 0
    only_judged: bool = False
    notes: tuple[str, ...] = ()  # on what the C program ignores without a word


def main(arguments: Sequence[str], stdout: TextIO, stderr: TextIO) -> int:
    """Run as trec_eval and return its exit code."""
    try:
        options = parse_options(arguments)
        stderr.writelines(f"assay trec_eval: {note}\n" for note in options.notes)
        stdout.write(_output(options))
    except Stop as refusal:
        stdout.write(refusal.printed)
        stderr.write(f"{refusal}\n" if str(refusal) else "")
        return refusal.code
    return 0


def run_trec_eval(arguments: Sequence[str]) -> str:
    """The output of the program; raises Stop if it ends with an exit code."""
    return _output(parse_options(arguments))


def _output(options: CommandLine) -> str:
    qrels, run = _read(options)
    columns = [column for family, params in options.families for column in columns_of(family, params, options)]
    with np.errstate(all="ignore"):  # infinite gains and the like give the same as in C, without warnings
        return report(qrels, run, options, columns)


class ReadRun(Struct, frozen=True):
    """What the program uses of a run: ranked once by the kernel, or else its table."""

    queries: frozenset[str]  # all, or those that are judged
    tag: str
    ranking: JudgedRanking | None  # of all judged queries; None if only the table can be ranked, or must be checked
    opened: OpenedRun

    @property
    def table(self) -> Run:
        """All rows."""
        return self.opened.table


# The command line


# Long names of the C program and their letters; "=" takes a value.
LONG_NAMES = {
    "help": "-h",
    "version": "-v",
    "query_eval_wanted": "-q",
    "measure=": "-m",
    "complete_rel_info_wanted": "-c",
    "level_for_rel=": "-l",
    "nosummary": "-n",
    "Debug_level=": "-D",
    "Judged_docs_only": "-J",
    "Number_docs_in_coll=": "-N",
    "Max_retrieved_per_topic=": "-M",
    "Rel_info_format=": "-R",
    "Results_format=": "-T",
    "Output_old_results_format=": "-o",
    "Zscore=": "-Z",
    "as=": "--as",
}
SWITCHES = {
    "-q": {"per_query": True},
    "-c": {"complete": True},
    "-n": {"summary": False},
    "-J": {"only_judged": True},
}
NUMBERS = {"-l": "level", "-M": "depth", "-N": "docs"}
ONLY = {"-R": "qrels", "-T": "trec_results", "-Z": None}  # options with only one supported value, or none


def parse_options(arguments: Sequence[str]) -> CommandLine:
    """Parse options like getopt_long: anywhere, combined or separate, long names may be shortened."""
    try:
        given, files = getopt.gnu_getopt(list(arguments), "hvqm:cl:nD:JN:M:R:T:oZ:", list(LONG_NAMES))
    except getopt.GetoptError as error:
        raise Stop(f"assay trec_eval: {error}\n{usage()}", 1) from None
    letters = {f"--{name.rstrip('=')}": letter for name, letter in LONG_NAMES.items()}
    options = [(letters.get(name, name), value) for name, value in given]
    version = _version([value for name, value in options if name == "--as"])
    values: dict[str, Any] = {}
    measures: list[str] = []
    for name, value in options:
        if name in ("-h", "-v"):
            raise Stop("" if name == "-h" else f"trec_eval version {version.name} (assay)", 0, usage() * (name == "-h"))
        if name in ONLY and value != ONLY[name]:
            raise Stop(f"assay trec_eval: {name} {value} is not supported.", 2)
        if name == "-m":
            _check_measure(value, version)
            measures.append(value)
        values |= SWITCHES.get(name, {})
        if name in NUMBERS:
            values[NUMBERS[name]] = min(max(c_integer(value), 0), NOT_MET) if name == "-M" else c_integer(value)
    if len(files) != 2:
        raise Stop(usage(), 1)
    families = _families(measures or ["official"], version)
    return CommandLine(version, files[0], files[1], families, **values, notes=tuple(_ignored_parameters(measures)))


def usage() -> str:
    """The help text, with the names of all measures."""
    return USAGE % ", ".join(ORDER)


def _version(names: list[str]) -> Version:
    name = names[-1] if names else "9.0.8"
    if name not in VERSIONS:
        raise Stop(f"assay trec_eval: --as {name}: the versions are {' and '.join(VERSIONS)}.", 1)
    return VERSIONS[name]


def _check_measure(text: str, version: Version) -> None:
    name, dot, params = text.partition(".")
    if dot and not params:
        raise Stop(f"trec_eval: improper measure in parameter '{name}'\ntrec_eval: illegal measure '{name}'", 1)
    if name not in NICKNAMES and (name not in ORDER or version.name not in ORDER[name].versions):
        raise Stop(f"trec_eval: illegal measure '{name}'", 1)


def _families(measures: list[str], version: Version) -> tuple[tuple[Family, str | None], ...]:
    """The requested families in print order; if a family is given several times, the first parameters count."""
    params: dict[str, str] = {}
    asked: set[str] = set()
    for text in measures:
        name, dot, rest = text.partition(".")
        asked.update(NICKNAMES.get(name, (name,)))
        if dot:
            params.setdefault(name, rest)
    return tuple(
        (family, params.get(name))
        for name, family in ORDER.items()
        if name in asked and version.name in family.versions
    )


def _ignored_parameters(measures: list[str]) -> Iterator[str]:
    """For each family given with different parameters, which of them do not count, and what to write instead."""
    given: dict[str, dict[str, None]] = {}
    for text in measures:
        name, _, params = text.partition(".")
        if params and name in ORDER and ORDER[name].kind != "none":
            given.setdefault(name, {})[params] = None
    for name, (first, *others) in given.items():
        joined = ORDER[name].kind in ("cutoffs", "levels")
        advice = f"write -m {name}.{','.join([first, *others])}" if joined else "run it once for each"
        if others:
            ignored = ", ".join(f"-m {name}.{params}" for params in others)
            yield f"{ignored} ignored, as in the C program: only the first -m {name} counts; {advice}."


# Columns: the printed values of each measure


class PrintedValue(Struct, frozen=True):
    """One printed value per query, and how the values are summarised."""

    name: str
    family: Family
    values: Callable[[Judging], Any]  # floats, or the strings of relstring
    total: str = "mean"  # mean, sum, geometric, text


class Judging(Struct, frozen=True, eq=False):
    """The rankings as trec_eval sees them, with the options."""

    judged: JudgedRanking
    missing: Any  # bool per query: missing from the run
    options: CommandLine


def columns_of(family: Family, params: str | None, options: CommandLine) -> Iterator[PrintedValue]:
    """The columns of a family: one per cutoff or level, or a single one."""
    if family is RUNID:
        yield PrintedValue("runid", family, lambda judging: None, "text")
    elif family is RELSTRING:
        length = int(min(c_number(params.split(",")[0]), NOT_MET - 1)) if params else 10
        name = f"relstring_{params}" if params else "relstring"
        yield PrintedValue(name, family, lambda judging: relevance_strings(judging, name, max(0, length)), "text")
    else:
        definition, _ = trec_stems()[family.name]
        try:
            settings = list(family.settings(params))
        except ParameterError as error:
            raise Stop(f"trec_eval: {error}\ntrec_eval: Cannot initialize measure '{family.name}'", 2) from None
        for suffix, given in settings:
            yield PrintedValue(
                family.name + suffix,
                family,
                _values_of(family, suffix, {**family.fixed, **given}, options),
                definition.total,
            )


def _values_of(family: Family, suffix: str, given: dict[str, Any], options: CommandLine) -> Callable[[Judging], Floats]:
    """The function that computes a column: our measure with trec_eval's parameters, or a quirk."""
    if family.name == "utility" and len(given.get("weights", "1234")) != 4:
        raise Stop("trec_eval.calc_utility: improper number of coefficients", 4)
    definition, _ = trec_stems()[family.name]
    params = dict(given)
    if definition.defaults.get("rel") is not None or "rel" in given:
        params["rel"] = options.level  # num_ret and rbp have no level
    if "rounding" in definition.takes:
        params["rounding"] = options.version.rounding
    if "docs" in definition.takes:
        params["docs"] = options.docs
    if "gain" in params:
        pairs = tuple(params.pop("gain").items())
        return lambda judging: GAIN_QUIRKS[family.name](judging.judged, pairs, options.level)
    measure = Measure(definition.name, tuple(sorted(params.items())))
    after = QUIRKS.get(family.name)

    def values(judging: Judging) -> Floats:
        computed = measure.values(judging.judged)
        return computed if after is None else after(computed, judging, family.name + suffix, params)

    return values


# Evaluation


def _read(options: CommandLine) -> tuple[Qrels, ReadRun]:
    try:
        qrels = read_trec_qrels(options.qrels, options.version.dialect)
        return qrels, _read_run(qrels, TrecRun(options.run, options.version.dialect), options.version)
    except AssayError as error:
        raise Stop(f"assay trec_eval: {error}", 2) from None


def _read_run(qrels: Qrels, run: OpenedRun, version: Version) -> ReadRun:
    """The run, streamed by the kernel if it is plain: then no document of a judged query is retrieved twice."""
    ranking = None
    if native.enabled():
        judgments = index_judgments(qrels, "first")  # duplicates are reported where they matter
        ranking = kernel_ranking(judgments, run, Rules(scores=version.scores), native.usual_threads())
    if ranking is None:
        return ReadRun(frozenset(run.table.queries), run.table.tag, None, run)
    return ReadRun(frozenset(ranking.queries).difference(ranking.missing), ranking.tag, ranking, run)


def report(qrels: Qrels, run: ReadRun, options: CommandLine, columns: list[PrintedValue]) -> str:
    """The complete output."""
    failing = _failing_queries(qrels, run, options)
    if failing:
        query, message = failing
        raise Stop(message, 4, _before(qrels, run, options, query, columns) if options.per_query else "")
    try:
        judging = _judge(_evaluated(qrels, run, options), run, options)
    except QuerySetError as error:
        raise Stop(f"trec_eval: No queries with both results and relevance info ({error})", 7) from None
    lines = list(_query_lines(judging, columns)) if options.per_query else []
    if options.summary:
        lines += _summary_lines(judging, columns, run, qrels)
    return "".join(lines)


def _evaluated(qrels: Qrels, run: ReadRun, options: CommandLine) -> Qrels:
    """The judgments that the C program uses: 9.0.8 ignores queries missing from the run."""
    if options.version.prints_missing or options.complete:
        return qrels
    return _judgments_of(qrels, tuple(query for query in qrels.queries if query in run.queries))


def _judgments_of(qrels: Qrels, queries: tuple[str, ...]) -> Qrels:
    place = {query: index for index, query in enumerate(queries)}
    moved = np.array([place.get(query, -1) for query in qrels.queries], np.int64)[qrels.query]
    kept = moved >= 0
    return replace(
        qrels, queries=queries, query=moved[kept], doc=qrels.doc[kept], rel=qrels.rel[kept], iteration=None, lines=None
    )


def _judge(qrels: Qrels, run: ReadRun, options: CommandLine) -> Judging:
    """Rank the run: -c keeps judged queries missing from it, -M cuts, -J removes unjudged documents."""
    version = options.version
    if options.complete and version.prints_missing and run.queries.isdisjoint(qrels.queries):
        judged = _nothing_retrieved(index_judgments(qrels))
    else:
        judged = _ranked(qrels, run, options)
    missing = np.array([query not in run.queries for query in judged.queries], bool)
    if version.prints_missing and missing.any():
        judged = replace(judged, retrieved=np.where(missing, _bogus_depth(options), judged.retrieved))
    return Judging(judged.only_judged() if options.only_judged else judged, missing, options)


def _ranked(qrels: Qrels, run: ReadRun, options: CommandLine) -> JudgedRanking:
    rules = Rules(scores=options.version.scores, queries="judged" if options.complete else "both", depth=options.depth)
    if run.ranking is not None:
        return _part_of(run.ranking, qrels, rules, run.opened.name)
    judgments = index_judgments(qrels, "first")  # duplicates that matter were reported before
    try:
        return judge(judgments, run.table, rules)
    except DuplicateError:
        if options.depth is None:
            raise
        # Duplicates below the depth do not matter.
        return judge(judgments, _top(run.table, options, options.depth), rules)


def _part_of(ranking: JudgedRanking, qrels: Qrels, rules: Rules, name: str) -> JudgedRanking:
    """What `judge` gives for some of the judged queries, from the ranking of all."""
    if set(ranking.missing).issuperset(qrels.queries):
        raise QuerySetError(no_query_in_common(qrels.queries, ranking.unjudged, name))
    asked = set(qrels.queries)
    chosen = np.array([place for place, query in enumerate(ranking.queries) if query in asked], np.int64)
    missing = tuple(query for query in ranking.missing if query in asked)
    part = replace(ranking.select(chosen), missing=missing, top_grade=float(qrels.rel.max(initial=0)))
    part = part if rules.depth is None else part.cut(rules.depth)
    return part.only_answered() if rules.queries == "both" else part


def _bogus_depth(options: CommandLine) -> int:
    """trec_eval 10 gives a query missing from the run one made-up, unjudged document."""
    return 1 if options.depth is None else min(1, options.depth)


def _nothing_retrieved(judgments: Judgments) -> JudgedRanking:
    nothing = np.zeros(0, np.int64)
    return JudgedRanking(
        judgments.queries,
        np.zeros(len(judgments.queries), np.int64),
        nothing,
        nothing,
        np.zeros(0),
        nothing,
        nothing,
        nothing,
        judgments.pool,
        judgments.top_grade,
        missing=judgments.queries,
    )


def _failing_queries(qrels: Qrels, run: ReadRun, options: CommandLine) -> tuple[str, str] | None:
    """The first query, in evaluation order, at which the C program gives up, and its message."""
    evaluated = _evaluated(qrels, run, options)
    answered = run.queries
    reached = [q for q in evaluated.queries if options.version.prints_missing or q in answered]
    unusable = "trec_eval: Can't calculate measures: no usable grade"
    failing = dict.fromkeys(_without_usable_grade(evaluated, reached), unusable)
    failing |= _duplicates(evaluated, run, options)
    if options.version.missing_is_error and not options.complete:
        failing |= {q: f"trec_eval: qid '{q}' not found in results" for q in evaluated.queries if q not in answered}
    return next(((query, failing[query]) for query in reached if query in failing), None)


def _without_usable_grade(qrels: Qrels, reached: Sequence[str]) -> list[str]:
    """Queries whose highest grade stops the C program, which counts documents in a table of grades from 0 to that one.

    If it is -1, the table is empty: the program stops if this is the first query; later, the table of an earlier query
    serves, and everything is 0. Below -1 it crashes, and for a huge grade it runs out of memory.
    """
    best = np.full(len(qrels.queries), -np.inf)
    np.maximum.at(best, qrels.query, qrels.rel)
    highest = dict(zip(qrels.queries, best.tolist(), strict=True))
    without_table = [query for query in reached[:1] if highest[query] < 0]
    return without_table + [query for query in reached if not -1 <= highest[query] <= LARGEST_GRADE]


def _duplicates(qrels: Qrels, run: ReadRun, options: CommandLine) -> dict[str, str]:
    """Queries with a document judged or retrieved twice; with -M, only documents within the depth matter."""
    found: dict[str, str] = {}
    try:
        judgments = index_judgments(qrels)
    except DuplicateError as error:
        found |= {query: f"trec_eval.form_res_rels: duplicate docs {doc}" for query, doc in error.pairs}
        judgments = index_judgments(qrels, "first")
    try:
        if run.ranking is None:
            _checked(judgments, run.table, options)
    except DuplicateError as error:
        found |= {query: f"trec_eval.form_res_qrels: duplicate docs {doc}" for query, doc in error.pairs}
    except QuerySetError:
        pass  # nothing to evaluate
    return found


def _checked(judgments: Judgments, run: Run, options: CommandLine) -> None:
    """Raise DuplicateError if a document within the depth is retrieved twice."""
    rules = Rules(scores=options.version.scores)
    try:
        judge(judgments, run, rules)
    except DuplicateError:
        if options.depth is None:
            raise
        judge(judgments, _top(run, options, options.depth), rules)


def _top(run: Run, options: CommandLine, depth: int) -> Run:
    """The first documents of each query, with ties broken by id."""
    with np.errstate(over="ignore"):
        score = run.score.astype(np.float32) if options.version.scores == "float32" else run.score
    by_id = np.array(sorted(range(len(run)), key=lambda row: as_bytes(str(run.doc[row])), reverse=True), np.int64)
    order = by_id[np.lexsort((-score[by_id], run.query[by_id]))]
    query = run.query[order]
    rank = np.arange(len(order)) - np.searchsorted(query, query)
    return _rows_of(run, order[rank < depth])


def _rows_of(run: Run, rows: Integers) -> Run:
    return replace(run, query=run.query[rows], doc=run.doc[rows], score=run.score[rows], rank=None, lines=None)


def _before(qrels: Qrels, run: ReadRun, options: CommandLine, failing: str, columns: list[PrintedValue]) -> str:
    """The output for the queries before the failing one."""
    evaluated = _evaluated(qrels, run, options)
    earlier = tuple(query for query in evaluated.queries if as_bytes(query) < as_bytes(failing))
    if not options.version.prints_missing:
        earlier = tuple(query for query in earlier if query in run.queries)
    if not earlier:
        return ""
    if run.ranking is None:  # without the duplicates of later queries
        run = replace(run, opened=_rows_of(run.table, _rows_with(run.table, earlier)))
    return "".join(_query_lines(_judge(_judgments_of(evaluated, earlier), run, options), columns))


def _rows_with(run: Run, queries: Sequence[str]) -> Integers:
    known = set(queries)
    return np.flatnonzero(np.array([query in known for query in run.queries], bool)[run.query])


# Printing


def _query_lines(judging: Judging, columns: list[PrintedValue]) -> Iterator[str]:
    shown = [(column, column.values(judging)) for column in columns if column.family.single]
    texts = [[_text(column, value) for value in values] for column, values in shown]
    for index, query in enumerate(judging.judged.queries):
        if judging.missing[index] and not judging.options.version.prints_missing:
            continue
        for (column, _), values in zip(shown, texts, strict=True):
            yield f"{column.name:<22}\t{query}\t{values[index]}\n"


def _text(column: PrintedValue, value: Any) -> str:
    if isinstance(value, str):
        return f"'{value}'"
    return f"{int(value)}" if column.family.counts else _number(value)


def _number(value: float) -> str:
    # On common machines 0 / 0 has its sign bit set, and C prints it.
    return "  -nan" if np.isnan(value) else f"{value:6.4f}"


def _summary_lines(judging: Judging, columns: list[PrintedValue], run: ReadRun, qrels: Qrels) -> Iterator[str]:
    for column in columns:
        if column.family is RUNID:
            yield f"{'runid':<22}\tall\t{run.tag}\n"
        elif column.family.summary:
            yield f"{column.name:<22}\tall\t{_text(column, _total(column, judging, qrels))}\n"


def _total(column: PrintedValue, judging: Judging, qrels: Qrels) -> float:
    """The summary, summed in query order as in the C program."""
    values = np.asarray(column.values(judging), np.float64)
    if column.name == "num_rel" and judging.options.complete:
        return float((qrels.rel >= 1).sum())  # the C program ignores -l here
    if column.total == "geometric":
        values = log(np.maximum(values, 0.00001))
    if judging.missing.any() and not judging.options.version.prints_missing and column.total == "mean":
        values = np.where(judging.missing, 0.0, values)  # not every measure is 0 for an empty ranking
    total = float(np.add.accumulate(values)[-1])
    if column.total == "sum":
        return total
    return float(np.exp(total / len(values))) if column.total == "geometric" else total / len(values)


def relevance_strings(judging: Judging, name: str, length: int) -> list[str]:
    """The grades of the first documents, one character each."""
    judged = judging.judged
    shown = np.minimum(judged.retrieved, length)
    if name == "relstring":
        shown = np.where(judging.missing, 0, shown)
    strings = [["-"] * int(size) for size in shown]
    for query, rank, rel in zip(
        judged.hit_query.tolist(), judged.hit_rank.tolist(), judged.hit_rel.tolist(), strict=True
    ):
        if rank <= shown[query]:
            strings[query][rank - 1] = "." if rel < 0 else ">" if rel > 9 else str(int(rel))
    return ["".join(string) for string in strings]
