"""Read a collection once, valid or not, and report errors and warnings. The corpus is streamed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from assay.collections.columns import columns_by_role
from assay.collections.judgments import ESCI, Judgment, JudgmentFile, judgments_from, read_judgments, scan_judgments
from assay.collections.locating import Places
from assay.collections.model import Collection
from assay.collections.seen import Seen
from assay.errors import InputError, show_id
from assay.formats.sources import open_source
from assay.formats.text import NO_DATA
from assay.inputs.documents import Document, scan_documents
from assay.inputs.fields import Columns, Flaw, writable
from assay.inputs.queries import Query, scan_queries
from assay.retrieval.base import Progress
from assay.validation.collection_rules import CollectionFacts
from assay.validation.findings import SEVERITIES, Finding, FindingExample, Tally, Validation
from assay.validation.registry import RULES, Rule, rules_of

STEP = "checking documents"
_EVERY = 1000  # documents between two calls of progress

Row = TypeVar("Row", Document, Query, Judgment)


class Checked(Struct, frozen=True, eq=False):
    """A collection, valid or not, with its findings."""

    name: str
    places: Places
    columns: Mapping[str, Columns]
    facts: CollectionFacts
    findings: tuple[Finding, ...]

    def validation(self) -> Validation:
        """The findings, and counts of what was checked."""
        facts = self.facts
        looked_at: dict[str, int | str] = {
            "split": facts.split,
            "documents": facts.documents or 0,
            "queries": len(facts.queries or ()),
            "judgments": 0 if facts.qrels is None else len(facts.qrels),
        }
        return Validation(facts.folder, "collection", self.findings, looked_at)

    def collection(self) -> Collection:
        """The collection; raises the first error if there is one."""
        errors = [finding for finding in self.findings if finding.severity == "error"]
        facts = self.facts
        if errors:
            raise _refusal(errors, facts.folder)
        if facts.qrels is None or facts.queries is None:  # cannot happen without an error
            raise InputError("the collection cannot be read", source=facts.folder)
        judged = set(facts.qrels.queries)
        return Collection(
            name=self.name,
            split=facts.split,
            queries={query: text for query, text in facts.queries.items() if query in judged},
            qrels=facts.qrels,
            files=_files(self.places),
            findings=self.findings,
            size=facts.documents or 0,
            columns=self.columns.get("corpus"),
            letters=ESCI if facts.letters else {},
        )


def _refusal(errors: list[Finding], folder: str) -> InputError:
    """The first error with its place, and the command that shows the others."""
    first, others = errors[0], len(errors) - 1
    shown = next((example.text or f"query {example.query}" for example in first.examples), "")
    words = f"{first.message} ({shown})" if shown else first.message
    more = f"There {'is 1 more error' if others == 1 else f'are {others} more errors'}" if others else "For details"
    return InputError(
        f"{words} [{first.code}]. {first.fix} {more}: assay collections check {show_id(folder, 200)}",
        source=first.file,
        line=first.line,
    )


def _files(places: Places) -> dict[str, Path]:
    """The files by role; a corpus of several files has one entry for each."""
    corpus = places.corpus()
    parts = {"corpus": corpus[0]} if len(corpus) == 1 else {f"corpus/{n}": path for n, path in enumerate(corpus, 1)}
    return {**parts, **{role: path for role, path in places.files.items() if role != "corpus"}}


def check(places: Places, name: str, columns: Mapping[str, Any] | None, progress: Progress | None) -> Checked:
    """Read the whole collection once."""
    return _CollectionCheck(places, name, columns_by_role(columns), progress).run()


class _CollectionCheck:
    """One pass over a collection."""

    def __init__(self, places: Places, name: str, columns: dict[str, Columns], progress: Progress | None) -> None:
        self._places, self._name, self._columns, self._progress = places, name, columns, progress
        self._tallies: dict[tuple[str, str], Tally] = {}  # by code and file
        self._findings: list[Finding] = []
        self._facts = CollectionFacts(
            folder=str(places.folder),
            split=places.split,
            files={role: str(path) for role, path in places.files.items()},
            missing=tuple((missing.role, missing.what) for missing in places.missing),
            splits=places.splits if places.undecided else (),
            doubtful=tuple(
                (role, str(taken), tuple(one.name for one in rest)) for role, taken, rest in places.doubtful
            ),
        )
        self._line_rules = rules_of("collection", "line")

    def run(self) -> Checked:
        """Check the judgments, the queries and the documents, then how they fit together."""
        if "qrels" in self._places.files:
            self._read_qrels(self._places.files["qrels"])
        if "queries" in self._places.files:
            self._read_queries(self._places.files["queries"])
        if "corpus" in self._places.files:
            self._read_corpus()
        for rule in rules_of("collection", "file"):
            for about in rule.check(self._facts):
                file, said = about.file, about.said
                found = _finding(rule, file, said.count, said.examples, rule.message_of(said))
                self._findings.append(found if said.severity is None else replace(found, severity=said.severity))
        for (code, file), tally in self._tallies.items():
            rule = RULES[code]
            self._findings.append(_finding(rule, file, tally.count, tuple(tally.examples), rule.said(tally.count)))
        self._findings.sort(key=lambda finding: (SEVERITIES.index(finding.severity), finding.code, finding.file))
        return Checked(self._name, self._places, self._columns, self._facts, tuple(self._findings))

    # Reading

    def _rows(self, path: Path, role: str, scan: Callable[..., Iterator[Row | Flaw]]) -> Iterator[Row]:
        """The readable rows of a file; the others are passed to the rules."""
        file = str(path)
        count = 0
        try:
            with open_source(path) as content:
                for found in scan(content, columns=self._columns.get(role)):
                    count += 1
                    if isinstance(found, Flaw):
                        self._tell(found, role, file)
                    else:
                        yield found
            if not count:
                raise InputError(NO_DATA, source=file)
        except InputError as error:
            kind: Any = "empty" if NO_DATA in str(error) else "file"
            self._tell(Flaw(kind, _without_place(error), "", error.line), role, file)

    def _tell(self, flaw: Flaw, role: str, file: str) -> None:
        for rule in self._line_rules:
            if words := rule.check(flaw, role):
                self._tally(rule.code, file).add(FindingExample(words, flaw.line))

    def _tally(self, code: str, file: str) -> Tally:
        return self._tallies.setdefault((code, file), Tally())

    def _ask(self, rules: Iterable[Rule], row: Document | Query, file: str) -> None:
        for rule in rules:
            if words := rule.check(row):
                self._tally(rule.code, file).add(FindingExample(words, row.line))

    # Judgments

    def _read_qrels(self, path: Path) -> None:
        try:
            found = self._judgments_by_columns(path) if self._columns.get("qrels") else read_judgments(path)
        except InputError as error:  # it cannot be opened
            self._tell(Flaw("file", _without_place(error), "", error.line), "qrels", str(path))
            return
        self._facts.qrels, self._facts.letters = found.qrels, found.letters
        self._findings += found.findings

    def _judgments_by_columns(self, path: Path) -> JudgmentFile:
        return judgments_from(list(self._rows(path, "qrels", scan_judgments)), str(path))

    # Queries

    def _read_queries(self, path: Path) -> None:
        facts, file = self._facts, str(path)
        rules = rules_of("collection", "query")
        beside_judgments = path == self._places.files.get("qrels")  # each query appears once per judgment
        found: dict[str, Query] = {}
        by_words: dict[str, Query] = {}
        for query in self._rows(path, "queries", scan_queries):
            if not (writable(query.id) and writable(query.text)):
                flaw = Flaw("encoding", f"'{show_id(query.text or query.id)}' is not UTF-8", "", query.line)
                self._tell(flaw, "queries", file)
                continue
            first = found.setdefault(query.id, query)
            if first is not query:
                if not (beside_judgments and first.text == query.text):
                    words = f"as on line {first.line}" if first.line else ""
                    facts.repeated_queries.add(FindingExample(words, query.line, show_id(query.id)))
                continue
            self._ask(rules, query, file)
            words = " ".join(query.text.split()).casefold()
            twin = by_words.setdefault(words, query) if words else query
            if twin is not query:
                text = f"'{show_id(query.text)}', as query {show_id(twin.id)}"
                facts.same_queries.add(FindingExample(text, query.line, show_id(query.id)))
        if found:
            facts.queries = {query.id: query.text for query in found.values()}

    # Documents

    def _read_corpus(self) -> None:
        facts, seen = self._facts, Seen()
        rules = rules_of("collection", "document")
        unknown = set() if facts.qrels is None else set(facts.qrels.doc.tolist())
        for path in self._corpus_files():
            file = str(path)
            seen.begin(file)
            for document in self._rows(path, "corpus", scan_documents):
                self._ask(rules, document, file)
                seen.add(document.id, document.whole.strip(), document.line)
                unknown.discard(document.id)
                if self._progress is not None and len(seen) % _EVERY == 0:
                    self._progress(STEP, len(seen), None)
        if self._progress is not None:
            self._progress(STEP, len(seen), len(seen))
        if not len(seen):
            return
        facts.documents = len(seen)
        facts.some_documents = tuple(seen.id(row) for row in range(min(len(seen), 4)))
        facts.unknown = frozenset(unknown)
        _tell_pairs(facts.repeated_documents, seen, seen.repeated_ids(), "document {}, as on {}")
        _tell_pairs(facts.same_documents, seen, seen.repeated_texts(), "document {} is document {other} on {}")

    def _corpus_files(self) -> list[Path]:
        try:
            return self._places.corpus()
        except InputError as error:
            self._tell(Flaw("file", _without_place(error), ""), "corpus", str(self._places.files["corpus"]))
            return []


def _tell_pairs(tallies: dict[str, Tally], seen: Seen, pairs: Iterable[tuple[int, int]], words: str) -> None:
    for row, first in pairs:
        (file, line), (first_file, first_line) = seen.place(row), seen.place(first)
        where = f"line {first_line}" if first_line else f"row {first + 1}"
        where = where if file == first_file else f"{where} of {show_id(first_file, 200)}"
        text = words.format(show_id(seen.id(row)), where, other=show_id(seen.id(first)))
        tallies.setdefault(file, Tally()).add(FindingExample(text, line))


def _finding(rule: Rule, file: str, count: int, examples: tuple[FindingExample, ...], message: str) -> Finding:
    return Finding(rule.code, rule.severity, rule.title, message, rule.fix, file, count, examples)


def _without_place(error: InputError) -> str:
    place = ":".join(str(part) for part in (error.source, error.line) if part is not None)
    return str(error).removeprefix(f"{place}: ")
