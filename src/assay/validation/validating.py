"""Validate a run or judgments: read the file however malformed, apply every rule, and collect the findings.

A run is read once, one query at a time, so memory grows with the number of queries. A run whose rows are not grouped by
query is read a second time and kept in memory, as are judgments and formats other than text in columns.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np
from msgspec.structs import replace

from assay.errors import AssayError, DocumentSetError, InputError, LimitError, show_id
from assay.evaluation import Evaluation, Evaluator
from assay.formats import as_qrels, as_run
from assay.formats.detect import BlankInColumn, detect_format
from assay.formats.lines import BEIR_QRELS, BEIR_RUN, MSMARCO_RUN, TREC_QRELS, TREC_RUN, ColumnOrder, PlainRows, Rows
from assay.formats.names import Kind
from assay.formats.numbers import floats, grade, number, ranks
from assay.formats.reading import FORMATS, format_name, qrels_from_content, run_from_content
from assay.formats.readings import AUTO, Queries, Reading, Readings, as_queries
from assay.formats.sources import STDIN, Content, Origin, open_file
from assay.formats.text import decoded, refuse_other_files
from assay.inputs.queries import read_queries
from assay.limits import refuse_endless
from assay.tables import Qrels, Run
from assay.validation.causes import absorbed, gravest
from assay.validation.facts import FileFacts, Options, Partners, QrelsFacts, RunFacts
from assay.validation.findings import SEVERITIES, Finding, FindingExample, Severity, Validation
from assay.validation.matching import known_by
from assay.validation.profiles import find_profile
from assay.validation.reading import QueryRows, Tallies, TextReader, narrowed
from assay.validation.registry import RULES, Said, lacking, rules_of
from assay.validation.run_rules import FEW_JUDGED, note_ties

Progress: TypeAlias = Callable[[int], None]  # called with the number of bytes just read

LAYOUTS: dict[Kind, dict[str, ColumnOrder]] = {
    "run": {"trec": TREC_RUN, "msmarco": MSMARCO_RUN, "beir": BEIR_RUN},
    "qrels": {"trec": TREC_QRELS, "msmarco": TREC_QRELS, "beir": BEIR_QRELS},
}
LARGE = 30_000_000  # bytes; validating a larger file takes seconds
LONG_ENOUGH = 3  # documents; shorter rankings may be the same for two queries by chance


def validate_run(
    run: Any,
    *,
    qrels: Any = None,
    queries: Any = None,
    max_depth: int | None = None,
    profile: str | None = None,
    reading: Reading = Reading(),
    progress: Progress | None = None,
) -> Validation:
    r"""The findings about a run, given as a path or anything else that `evaluate` accepts.

    `qrels` and `queries` add checks against the judgments and topics; `profile` adds the requirements of a track. Any
    file that can be opened gets findings instead of an exception. `reading` says how to read the run; its columns are also
    for the qrels.

    >>> from assay import parse_run
    >>> validate_run(parse_run("q1 Q0 a 1 2.0 x\nq1 Q0 a 2 1.0 x")).codes()
    ['RUN020']
    """
    asked = find_profile(profile) if profile else None
    options = Options(
        max_depth=max_depth if max_depth is not None else asked.max_depth if asked else None,
        six_columns=bool(asked and asked.six_columns),
        graver=asked.errors if asked else frozenset(),
    )
    tallies = Tallies("run")
    reading = reading if qrels is None else reading.shared()
    partners, reading = _partners(qrels, queries, reading, tallies)
    facts = _read_run(run, reading, options, partners, progress, tallies)
    reading.refuse_unused()
    said = _said(facts, "run")
    if partners.qrels is not None and not _has_errors(tallies, said) and run != STDIN and facts.rows:
        said += _measured(partners.qrels, run, reading)
    return _validation(facts, tallies, said, _coverage(facts.queries, partners))


def validate_qrels(
    qrels: Any,
    *,
    queries: Any = None,
    reading: Reading = Reading(),
    progress: Progress | None = None,
) -> Validation:
    r"""The findings about judgments, given as a path or anything else that `evaluate` accepts.

    >>> from assay import parse_qrels
    >>> validate_qrels(parse_qrels("q1 0 a 1\nq1 0 a 0")).codes()
    ['QRL021', 'QRL041']
    """
    tallies = Tallies("qrels")
    partners, reading = _partners(None, queries, reading, tallies)
    facts = _read_qrels(qrels, reading, partners, progress, tallies)
    return _validation(facts, tallies, _said(facts, "qrels"), _coverage(facts.queries, partners, name="qrels"))


def judgments_beside(qrels: Any, readings: Readings = Readings()) -> tuple[Finding, ...]:
    """The findings about judgments to show with evaluations; none for more than `LARGE` bytes."""
    if not _is_path(qrels) or not os.path.isfile(qrels) or os.path.getsize(qrels) > LARGE:
        return ()
    return validate_qrels(qrels, reading=readings.qrels).findings


def validate_beside(
    evaluation: Evaluation, of_qrels: Sequence[Finding], run: Any, readings: Readings = Readings()
) -> tuple[Finding, ...]:
    """The findings to show with an evaluation, reusing what it already computed; `of_qrels` are from `judgments_beside`.

    A run of more than `LARGE` bytes is not validated line by line; a note says so.
    """
    said = [*_seen_by_evaluation(evaluation), *_unjudged(evaluation), *_bounds(evaluation)]
    facts = RunFacts(evaluation.sources[1], "table")
    if not _is_path(run) or not os.path.isfile(run):
        found: list[Finding] = []
    elif os.path.getsize(run) > LARGE:
        found = []
        said.append(("RUN072", Said("the run is large, so its lines were not checked")))
    else:
        found = list(validate_run(run, reading=readings.run).findings)
    found += [_said_finding(code, facts, words) for code, words in said]
    return tuple(sorted([*found, *of_qrels], key=_gravest_first))


def _seen_by_evaluation(evaluation: Evaluation) -> Iterator[tuple[str, Said]]:
    coverage = evaluation.coverage
    if coverage.missing:
        yield from (("RUN050", said) for said in lacking(coverage.missing))
    if coverage.unjudged:
        yield from (("RUN051", said) for said in lacking(coverage.unjudged))


# Reading


def _partners(qrels: Any, queries: Any, reading: Reading, tallies: Tallies) -> tuple[Partners, Reading]:
    """The judgments and topics, and the reading with these topics; one that can be opened but not read is a finding."""
    code = "RUN058" if tallies.kind == "run" else "QRL058"
    table, topics = None, None
    if queries is not None:
        _refuse_unopenable(queries)
        try:
            known = Queries(read_queries(queries), os.fsdecode(queries)) if _is_path(queries) else as_queries(queries)
            topics, reading = frozenset(known.texts), replace(reading, queries=known)
        except AssayError as error:
            tallies[code].add(FindingExample(str(error)))
    if qrels is not None:
        _refuse_unopenable(qrels)
        try:
            table = as_qrels(qrels, reading.in_format(AUTO))
        except AssayError as error:
            tallies[code].add(FindingExample(str(error)))
    return Partners(table, topics), reading


def _is_path(value: Any) -> bool:
    return isinstance(value, (str, os.PathLike))


def _refuse_unopenable(value: Any) -> None:
    if _is_path(value) and value != STDIN:
        open_file(os.fsdecode(value)).close()


def _read_run(
    run: Any, reading: Reading, options: Options, partners: Partners, progress: Progress | None, tallies: Tallies
) -> RunFacts:
    def facts(name: str, form: str) -> RunFacts:
        return RunFacts(file=name, format=form, options=options, partners=partners)

    if not _is_path(run):
        return _from_table(as_run(run, reading), facts("run", "table"), tallies)
    _refuse_unopenable(run)
    origin = Origin(run)
    for gathered in (False, True):
        fresh, found = Tallies("run"), facts(str(origin.path), "unreadable")
        try:
            with origin.open() as raw:
                content = narrowed(raw, fresh)
                found.file, found.format = content.name, _format(content, "run", reading, fresh)
                if found.format in LAYOUTS["run"]:
                    layout = LAYOUTS["run"][found.format]
                    _RunPass(found, fresh, reading, gathered=gathered).read(content, layout, progress)
                elif found.format != "unreadable":
                    _from_table(run_from_content(content, reading.in_format(found.format)), found, fresh)
        except _Interleaved:
            continue
        except InputError as error:
            _unreadable(error, found, fresh)
        break
    tallies.take(fresh)
    return found


def _read_qrels(
    qrels: Any, reading: Reading, partners: Partners, progress: Progress | None, tallies: Tallies
) -> QrelsFacts:
    if not _is_path(qrels):
        return _from_judgments(as_qrels(qrels, reading), QrelsFacts("qrels", "table", partners=partners), tallies)
    _refuse_unopenable(qrels)
    origin = Origin(qrels)
    facts = QrelsFacts(str(origin.path), "unreadable", partners=partners)
    try:
        with origin.open() as raw:
            content = narrowed(raw, tallies)
            facts.file, facts.format = content.name, _format(content, "qrels", reading, tallies)
            if facts.format in LAYOUTS["qrels"]:
                _QrelsPass(facts, tallies, reading).read(content, LAYOUTS["qrels"][facts.format], progress)
            elif facts.format != "unreadable":
                table = qrels_from_content(content, reading.in_format(facts.format))
                _from_judgments(table, facts, tallies)
    except InputError as error:
        _unreadable(error, facts, tallies)
    return facts


def _format(content: Content, kind: Kind, reading: Reading, tallies: Tallies) -> str:
    """The name of the format; trec for unrecognised text, so that its lines are still checked."""
    if reading.input_format != AUTO:
        return format_name(content, reading, kind)
    try:
        return detect_format(content, kind, FORMATS, reading)
    except LimitError:
        raise
    except BlankInColumn as error:
        if kind == "qrels":  # in a run, the line has too many columns, which a rule reports
            words = str(error).removeprefix(f"{error.source}: ").partition(".")[0]
            tallies["QRL007"].add(FindingExample(words, None))
        return "trec"
    except InputError:
        try:
            refuse_other_files(content)
        except InputError as error:
            _unreadable(error, None, tallies)
            return "unreadable"
        return "trec"


def _unreadable(error: InputError, facts: FileFacts | None, tallies: Tallies) -> None:
    message = str(error)
    place = ":".join(str(part) for part in (error.source, error.line) if part is not None)
    tallies["RUN001" if tallies.kind == "run" else "QRL001"].add(
        FindingExample(message.removeprefix(f"{place}: "), error.line)
    )
    if facts is not None:
        facts.format = "unreadable"


class _Interleaved(Exception):
    """The rows of a query are not grouped together."""


class _RunPass:
    """One pass over the text of a run."""

    def __init__(self, facts: RunFacts, tallies: Tallies, reading: Reading, *, gathered: bool) -> None:
        self._facts, self._tallies, self._reading, self._gathered = facts, tallies, reading, gathered
        facts.damaged = tallies.damaged
        self._open: dict[bytes, QueryRows] = {}  # the current query, or all if gathered
        self._last: bytes | None = None
        self._parted: set[bytes] = set()

    def read(self, content: Content, layout: ColumnOrder, progress: Progress | None) -> None:
        """Read the whole text."""
        reader = TextReader(content, "run", layout, self._tallies, progress, self._reading)
        for rows in reader.run_rows():
            if isinstance(rows, PlainRows):
                self._add_plain(rows)
            else:
                self._add(rows)
        for query in list(self._open):
            self._close(query)
        facts = self._facts
        facts.apart = len(self._parted)
        facts.first_apart = next((show_id(decoded(query)) for query in sorted(self._parted)), None)
        _take_over(facts, reader)

    def _add_plain(self, rows: PlainRows) -> None:
        facts, found, lines = self._facts, rows.columns, rows.line_numbers()
        facts.has_scores, facts.has_ranks = "score" in rows.layout, "rank" in rows.layout
        if found.tags:
            first = [0, *np.cumsum(found.tag_rows).tolist()]
            self._add_tags(found.tags, lambda tag: lines[first[found.tags.index(tag)]])
        facts.rows += len(found)
        refuse_endless(facts.rows, len(facts.depths) + len(self._open), found.docs, facts.file)
        scores = found.score.tolist()
        place = found.rank.tolist() if facts.has_ranks else None
        start = 0
        for query, size in zip(found.queries, found.query_rows.tolist(), strict=True):
            part = slice(start, start + size)
            start += size
            self._rows_of(query).add(
                found.docs[part], scores[part], None if place is None else place[part], lines[part]
            )

    def _add(self, rows: Rows) -> None:
        facts, layout = self._facts, rows.layout
        lines = rows.line_numbers()
        if "tag" in layout:
            tags = rows.column("tag")
            self._add_tags(tags, lambda tag: lines[tags.index(tag)])
        facts.has_scores, facts.has_ranks = "score" in layout, "rank" in layout
        place = _ranks(rows.column("rank")) if facts.has_ranks else None
        queries, docs = rows.column("query"), rows.column("doc")
        scores: list[float] | None
        if facts.has_scores:
            texts = rows.column("score")
            scores = _numbers(texts)
        else:
            texts = rows.column("rank") if facts.has_ranks else []
            scores = None if place is None or None in place else [-float(rank) for rank in place if rank is not None]
        if scores is None:
            kept, scores = self._values(texts, queries, lines)
            queries, docs = [queries[row] for row in kept], [docs[row] for row in kept]
            lines = [lines[row] for row in kept]
            place = None if place is None else [place[row] for row in kept]
        facts.rows += len(docs)
        refuse_endless(facts.rows, len(facts.depths) + len(self._open), docs, facts.file)
        start = 0
        for query, group in groupby(queries):
            end = start + len(list(group))
            part = slice(start, end)
            ranking = place[part] if place is not None else None
            self._rows_of(query).add(docs[part], scores[part], ranking, lines[part])
            start = end

    def _values(self, texts: list[bytes], queries: list[bytes], lines: Any) -> tuple[list[int], list[float]]:
        """The rows whose value is a number, and the numbers; other values are reported to the rules."""
        kept, scores = [], []
        for row, text in enumerate(texts):
            value = number(text)
            if value is None or (not self._facts.has_scores and not text.isdigit()):
                self._tallies.look_at_value(decoded(text), lines[row], decoded(queries[row]))
            else:
                kept.append(row)
                scores.append(value if self._facts.has_scores else -value)
        return kept, scores

    def _add_tags(self, tags: list[bytes], line_of: Callable[[bytes], int]) -> None:
        facts = self._facts
        for tag in dict.fromkeys(tags):
            text = decoded(tag)
            if text not in facts.tags and len(facts.tags) < 1000:
                facts.tag_lines[text] = line_of(tag)
                facts.tags[text] = 0
            if text in facts.tags:
                facts.tags[text] += 1

    def _rows_of(self, query: bytes) -> QueryRows:
        if query == self._last:
            return self._open[query]
        if not self._gathered and self._last is not None:
            self._close(self._last)
        self._last = query
        rows = self._open.get(query)
        if rows is None:
            rows = self._open[query] = QueryRows(decoded(query))
            if rows.query in self._facts.depths:  # a query that was closed
                raise _Interleaved
        else:
            self._parted.add(query)
        return rows

    def _close(self, query: bytes) -> None:
        _look_at_run_query(self._open.pop(query), self._facts, self._tallies)


def _look_at_run_query(rows: QueryRows, facts: RunFacts, tallies: Tallies) -> None:
    depth = len(rows.docs)
    if not depth:
        return
    facts.depths[rows.query] = depth
    if depth >= LONG_ENOUGH:
        facts.same_lists.setdefault(hash(tuple(rows.docs)), []).append(rows.query)
    if depth > 1:
        note_ties(rows, facts)
    tallies.look_at_query(rows, facts)


def _take_over(facts: FileFacts, reader: TextReader) -> None:
    if isinstance(facts, RunFacts):
        facts.incomplete = reader.incomplete
    facts.lines, facts.comments, facts.ended = reader.lines, reader.comments, reader.ended
    facts.encodings = reader.encodings
    if reader.shape is not None:
        facts.width, facts.layout = reader.shape.width, reader.shape.layout


def _numbers(texts: list[bytes]) -> list[float] | None:
    values = floats(texts) if texts else None
    return [] if not texts else None if values is None else values.tolist()


def _ranks(texts: list[bytes]) -> list[int | None]:
    values = ranks(texts) if texts else None
    if values is not None:
        return list(values.tolist())
    alone = (ranks([text]) for text in texts)
    return [None if value is None or not len(value) else int(value[0]) for value in alone]


class _QrelsPass:
    """One pass over the text of judgments."""

    def __init__(self, facts: QrelsFacts, tallies: Tallies, reading: Reading) -> None:
        self._facts, self._tallies, self._reading, self._grades = facts, tallies, reading, reading.grades
        self._queries: dict[bytes, QueryRows] = {}
        self._last: bytes | None = None
        self._parted: set[bytes] = set()

    def read(self, content: Content, layout: ColumnOrder, progress: Progress | None) -> None:
        """Read the whole text."""
        reader = TextReader(content, "qrels", layout, self._tallies, progress, self._reading)
        for rows in reader.rows():
            self._add(rows)
        facts = self._facts
        facts.apart = len(self._parted)
        facts.first_apart = next((show_id(decoded(query)) for query in sorted(self._parted)), None)
        _take_over(facts, reader)
        for found in self._queries.values():
            _look_at_judgments(found, facts, self._tallies)

    def _add(self, rows: Rows) -> None:
        lines, texts = rows.line_numbers(), rows.column("rel")
        iterations = rows.column("iteration") if "iteration" in rows.layout else [b""] * len(texts)
        values = None if self._grades else _numbers(texts)
        for row, (query, doc, iteration) in enumerate(
            zip(rows.column("query"), rows.column("doc"), iterations, strict=True)
        ):
            value = values[row] if values is not None else grade(decoded(texts[row]), self._grades)
            if value is None:
                self._tallies.look_at_value(decoded(texts[row]), lines[row], decoded(query))
                continue
            found = self._rows_of(query)
            found.add([doc], [value], None, lines[row : row + 1])
            found.iterations.append(iteration)
            self._facts.rows += 1
        refuse_endless(self._facts.rows, len(self._queries), rows.column("doc"), self._facts.file)

    def _rows_of(self, query: bytes) -> QueryRows:
        if query != self._last and query in self._queries:
            self._parted.add(query)
        self._last = query
        if query not in self._queries:
            self._queries[query] = QueryRows(decoded(query))
        return self._queries[query]


def _look_at_judgments(rows: QueryRows, facts: QrelsFacts, tallies: Tallies) -> None:
    facts.grades[rows.query] = rows.scores
    facts.first_line[rows.query] = rows.line(0)
    facts.iterations.update(map(decoded, set(rows.iterations)))
    tallies.look_at_query(rows, facts)


# Tables and other formats


def _from_table(run: Run, facts: RunFacts, tallies: Tallies) -> RunFacts:
    facts.rows, facts.has_ranks = len(run.doc), run.rank is not None
    if run.tag:
        facts.tags[run.tag] = facts.rows
    place = None if run.rank is None else run.rank.tolist()
    for rows in _grouped(run, run.score.tolist(), place):
        _look_at_run_query(rows, facts, tallies)
    return facts


def _from_judgments(qrels: Qrels, facts: QrelsFacts, tallies: Tallies) -> QrelsFacts:
    facts.rows = len(qrels)
    iterations = None if qrels.iteration is None else qrels.iteration.tolist()
    for rows in _grouped(qrels, qrels.rel.tolist(), None, iterations):
        _look_at_judgments(rows, facts, tallies)
    return facts


def _grouped(
    table: Run | Qrels, values: list[float], place: list[int] | None, iterations: list[str] | None = None
) -> Iterator[QueryRows]:
    found = [QueryRows(query) for query in table.queries]
    for row, (query, doc) in enumerate(zip(table.query.tolist(), table.doc.tolist(), strict=True)):
        line = None if table.lines is None else [table.lines[row]]
        found[query].add(
            [doc.encode("utf-8", "surrogateescape")], [values[row]], None if place is None else [place[row]], line
        )
        if iterations is not None:
            found[query].iterations.append(iterations[row].encode("utf-8", "surrogateescape"))
    return iter(found)


# Findings


def _said(facts: FileFacts, kind: Kind) -> list[tuple[str, Said]]:
    return [(rule.code, said) for rule in rules_of(kind, "file") for said in rule.check(facts)]


def _has_errors(tallies: Tallies, said: list[tuple[str, Said]]) -> bool:
    codes = {code for code, _ in tallies.items()} | {code for code, _ in said}
    return any(RULES[code].severity == "error" for code in codes)


def _measured(qrels: Qrels, run: Any, reading: Reading) -> list[tuple[str, Said]]:
    """Findings that need an evaluation: the share of unjudged documents, and how much ties change the results."""
    from assay.formats.unread import open_run

    try:
        evaluation = Evaluator(qrels).evaluate(open_run(run, reading), tie_bounds=True)
    except DocumentSetError as error:
        return [("RUN073", Said(error.problem, fix=error.fix))]
    except AssayError as error:
        return [("RUN058", Said(f"the run cannot be evaluated with these judgments: {error}"))]
    return [*_unjudged(evaluation), *_bounds(evaluation)]


def _unjudged(evaluation: Evaluation) -> Iterator[tuple[str, Said]]:
    shares = {k: 1 - share for k, share in evaluation.coverage.judged_share.items() if share < 1}
    if shares and not evaluation.coverage.only_relevant:
        words = ", ".join(f"{share:.0%} of the top {k}" for k, share in shares.items())
        severity: Severity = (
            "warning" if max(shares.values()) > 1 - FEW_JUDGED and shares.get(10, 0) > FEW_JUDGED else "note"
        )
        yield "RUN057", Said(f"documents not judged: {words}", severity=severity)


def _bounds(evaluation: Evaluation) -> Iterator[tuple[str, Said]]:
    bounds = evaluation.tie_bounds or {}
    if bounds:
        words = ", ".join(f"{name} from {low:.4f} to {high:.4f}" for name, (low, high) in bounds.items())
        yield "RUN059", Said(f"ties change the results: {words}")


def _coverage(
    queries: frozenset[str], partners: Partners, name: str = "run"
) -> tuple[tuple[str, int, tuple[str, ...]], ...]:
    sets = {name: queries}
    if partners.qrels is not None:
        sets["qrels"] = frozenset(partners.judged)
    if partners.topics is not None:
        sets["queries"] = partners.topics
    return known_by(sets) if len(sets) > 1 else ()


def _validation(
    facts: FileFacts,
    tallies: Tallies,
    said: list[tuple[str, Said]],
    coverage: tuple[tuple[str, int, tuple[str, ...]], ...],
) -> Validation:
    findings = [
        _finding(code, facts, tally.count, tuple(tally.examples), RULES[code].said(tally.count))
        for code, tally in tallies.items()
    ]
    findings += [_said_finding(code, facts, words) for code, words in said]
    findings = absorbed(_one_about_documents(findings, facts))
    findings.sort(key=_gravest_first)
    shown: dict[str, int | str] = {"format": facts.format, "lines": facts.lines, "rows": facts.rows}
    shown["queries"] = len(facts.queries)  # type: ignore[attr-defined]
    return Validation(facts.file, tallies.kind, tuple(findings), shown, coverage)


def _said_finding(code: str, facts: FileFacts, said: Said) -> Finding:
    found = _finding(code, facts, said.count, said.examples, RULES[code].message_of(said))
    found = replace(found, fix=said.fix or found.fix, policy=said.policy, explains=said.explains)
    return found if said.severity is None or code in facts.options.graver else replace(found, severity=said.severity)


def _one_about_documents(findings: list[Finding], facts: FileFacts) -> list[Finding]:
    """The findings, with one about documents that are written differently. If there is one cause, it names the policy."""
    near = next((each for each in findings if each.code == "RUN055"), None)
    if near is None or not isinstance(facts, RunFacts):
        return findings
    others = [each for each in findings if each.code == "RUN073"]  # no document in common
    whole = replace(near, severity=gravest((near, *others)), explains=tuple(each.code for each in others))
    if len(facts.differences) == 1:
        remedy = next(iter(facts.differences)).in_run()
        fix = next((each.fix for each in others if each.fix != RULES[each.code].fix), "") or remedy.fix("run", "qrels")
        message = f"{remedy.what}: {near.message}"
        whole = replace(whole, message=message, fix=fix or near.fix, policy=remedy.of_ours)
    return [whole if each is near else each for each in findings if each not in others]


def _gravest_first(finding: Finding) -> tuple[int, str]:
    return SEVERITIES.index(finding.severity), finding.code


def _finding(code: str, facts: FileFacts, count: int, examples: tuple[FindingExample, ...], message: str) -> Finding:
    rule = RULES[code]
    severity = "error" if code in facts.options.graver else rule.severity
    return Finding(code, severity, rule.title, message, rule.fix, facts.file, count, examples)
