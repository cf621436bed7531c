"""Rules about collections: documents, queries and judgments that should belong together.

The scope of a rule decides what its function gets and returns:

    line      a place that cannot be read (`Flaw`), and the role of its file   -> what is wrong with it, or None
    query     one query                                                       -> what is wrong with it, or None
    document  one document                                                    -> what is wrong with it, or None
    file      the facts about the whole collection (`CollectionFacts`)         -> findings about files (`About`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct, field

from assay.errors import show_id, some_of
from assay.inputs.documents import Document
from assay.inputs.fields import Flaw
from assay.inputs.queries import Query
from assay.tables import Qrels
from assay.validation.findings import SHOWN, FindingExample, Tally
from assay.validation.registry import Said, rule
from assay.words import plural

_ROLE_WORDS = {"corpus": "documents", "queries": "queries", "qrels": "judgments"}


class About(Struct, frozen=True):
    """A finding with its own message, and the file it is about."""

    file: str
    said: Said


class CollectionFacts(Struct):
    """Facts about a collection after reading all of it."""

    folder: str
    split: str
    files: Mapping[str, str]  # role -> the file as shown in messages; the folder if there are several
    missing: tuple[tuple[str, str], ...] = ()  # role, and what was searched for
    doubtful: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # role, the file used, other candidates
    splits: tuple[str, ...] = ()  # the choices, if none was chosen
    queries: dict[str, str] | None = None  # id -> text; None if they could not be read
    repeated_queries: Tally = field(default_factory=Tally)
    same_queries: Tally = field(default_factory=Tally)
    qrels: Qrels | None = None
    letters: str = ""  # the values of letter grades, if there are any
    documents: int | None = None  # None if they could not be read
    some_documents: tuple[str, ...] = ()  # the first ids
    unknown: frozenset[str] = frozenset()  # judged documents that are not in the corpus
    repeated_documents: dict[str, Tally] = field(default_factory=dict)  # by file
    same_documents: dict[str, Tally] = field(default_factory=dict)


# Files


@rule(
    "COL001",
    "file",
    "error",
    "a file is missing",
    fix="Add the file to the folder, or name it: --file ROLE=NAME, such as corpus=items.jsonl (in Python: "
    "files={'corpus': 'items.jsonl'}).",
)
def missing_file(facts: CollectionFacts) -> Iterator[About]:
    """Missing file.

    Why: A benchmark needs documents, queries and judgments. Files are recognised by name, so yours may be there under
    another name.
    Example: A folder with queries.jsonl and qrels/test.tsv but no corpus.jsonl.
    """
    for role, looked_for in facts.missing:
        yield About(facts.folder, Said(f"no {_ROLE_WORDS[role]} found: {looked_for.rstrip('.')}"))


@rule(
    "COL002",
    "line",
    "error",
    "the file cannot be read",
    fix="Copy or download the file again, unpack it if it is an archive, or convert it to UTF-8 text.",
)
def unreadable_file(flaw: Flaw, role: str) -> str | None:
    """Unreadable file.

    Why: Everything after the damaged place is lost.
    Example: corpus.jsonl.gz is cut off halfway.
    """
    return flaw.what if flaw.kind == "file" else None


@rule("COL003", "line", "error", "the file is empty", fix="Find out why nothing was written, and write the file again.")
def empty_file(flaw: Flaw, role: str) -> str | None:
    """Empty file.

    Why: A benchmark needs documents, queries and judgments.
    Example: queries.tsv has a header and no other line.
    """
    return flaw.what if flaw.kind == "empty" else None


@rule(
    "COL004",
    "line",
    "error",
    "{count} {line is not a JSON object|lines are not JSON objects}",
    fix="Write one JSON object per line: fix or remove these lines.",
)
def broken_json(flaw: Flaw, role: str) -> str | None:
    """Invalid JSON.

    Why: The document or query on that line is lost, and systems are asked to find what they were not given.
    Example: {"_id": "7", "text": "cut off
    """
    return flaw.what if flaw.kind == "json" else None


@rule(
    "COL005",
    "line",
    "error",
    "{count} {record does|records do} not have the required fields",
    fix="Rename the fields, or say what they are called: --columns corpus.id=NAME (in Python: columns={'corpus': "
    "{'id': 'NAME'}}).",
)
def wrong_columns(flaw: Flaw, role: str) -> str | None:
    """Missing or invalid field.

    Why: There is no field for the id or the text, a row has the wrong number of columns, or a value is not text. Text
    taken from another field would make a different collection.
    Example: A CSV file with the columns sku and name, neither of which is recognised as the id.
    """
    return flaw.what if flaw.kind == "columns" else None


@rule(
    "COL006",
    "line",
    "error",
    "{count} {text is|texts are} not UTF-8",
    fix="Convert the file to UTF-8, for example with iconv -f LATIN1 -t UTF-8 OLD > NEW.",
)
def not_utf8(flaw: Flaw, role: str) -> str | None:
    r"""Not UTF-8.

    Why: Engines and models read UTF-8. Other bytes make indexing fail, or are indexed as different words.
    Example: caf\xe9 in Latin-1.
    """
    return flaw.what if flaw.kind == "encoding" else None


@rule(
    "COL007",
    "file",
    "note",
    "several files fit the same role",
    fix="Remove or rename the others, or choose one: --file ROLE=NAME, such as corpus=items.jsonl (in Python: "
    "files={'corpus': 'items.jsonl'}).",
)
def doubtful_file(facts: CollectionFacts) -> Iterator[About]:
    """Several candidate files.

    Why: You may have meant another one.
    Example: corpus.jsonl and documents.tsv in one folder: the first is used.
    """
    for role, taken, others in facts.doubtful:
        words = f"used as the {_ROLE_WORDS[role]}; {some_of(list(others))} would also fit"
        yield About(taken, Said(words, len(others)))


@rule(
    "COL008",
    "file",
    "error",
    "there are several splits, and none was chosen",
    fix="Choose one with --split (in Python: split=).",
)
def undecided_split(facts: CollectionFacts) -> Iterator[About]:
    """No split chosen.

    Why: None of the splits is called test, and each split gives different results.
    Example: qrels/train.tsv and qrels/dev.tsv.
    """
    if facts.splits:
        names = ", ".join(map(show_id, facts.splits))
        yield About(facts.folder, Said(f"there are several splits, and none was chosen: {names}", len(facts.splits)))


# Queries


@rule(
    "COL010",
    "line",
    "error",
    "{count} {query has|queries have} no id",
    fix="Give every query an id (text or a whole number), or remove these lines.",
)
def query_without_id(flaw: Flaw, role: str) -> str | None:
    """Query without an id.

    Why: Nothing can be judged or retrieved for it.
    Example: {"text": "how to cook rice"} has no _id.
    """
    return flaw.what if flaw.kind == "id" and role == "queries" else None


@rule(
    "COL011",
    "file",
    "error",
    "{count} query {id appears|ids appear} more than once",
    fix="Give each query its own id, or remove the extra lines.",
)
def repeated_query_id(facts: CollectionFacts) -> Iterator[About]:
    """Duplicate query id.

    Why: It is unclear which of the two the judgments are about.
    Example: Query 7 on line 7 and, with different text, on line 12.
    """
    return _tallied("COL011", {facts.files.get("queries", ""): facts.repeated_queries})


@rule(
    "COL012",
    "query",
    "warning",
    "{count} {query has|queries have} no text",
    fix="Find the text in the source of the collection, or remove these queries from the queries and the judgments.",
)
def query_without_text(query: Query) -> str | None:
    """Query without text.

    Why: No system finds anything for it, so all of them get 0 and look more similar than they are.
    Example: {"_id": "7", "text": ""}
    """
    return None if query.text.strip() else f"query {show_id(query.id)}"


@rule(
    "COL013",
    "file",
    "warning",
    "{count} {query has|queries have} the same text as an earlier one",
    fix="Keep one of them and merge their judgments, especially if one is for training and the other for testing.",
)
def same_query(facts: CollectionFacts) -> Iterator[About]:
    """Duplicate query text.

    Why: Such a query counts twice in every mean; letter case and spaces are ignored. If one copy was used for training
    or tuning, the other is no longer a fair test.
    Example: Query 3 "Cheap flights" and query 40 "cheap  flights".
    """
    return _tallied("COL013", {facts.files.get("queries", ""): facts.same_queries})


@rule(
    "COL014",
    "file",
    "note",
    "queries without judgments are left out",
    fix="Nothing to do if they belong to another split; otherwise judge them.",
)
def unjudged_query(facts: CollectionFacts) -> Iterator[About]:
    """Query without judgments.

    Why: Nothing can be measured for it in this split, so it is left out.
    Example: queries.jsonl has the queries of train and test; qrels/test.tsv judges only those of test.
    """
    if facts.queries is None or facts.qrels is None:
        return
    judged = set(facts.qrels.queries)
    left_out = [query for query in facts.queries if query not in judged]
    if left_out and len(left_out) < len(facts.queries):
        words = plural("{count} {query has|queries have} no judgments", len(left_out))
        said = f"{words} in split {show_id(facts.split)} and {plural('{is|are}', len(left_out))} left out"
        yield About(facts.files["queries"], Said(f"{said}: {some_of(left_out)}", len(left_out)))


# Documents


@rule(
    "COL020",
    "line",
    "error",
    "{count} {document has|documents have} no id",
    fix="Give every document an id (text or a whole number), or remove these lines.",
)
def document_without_id(flaw: Flaw, role: str) -> str | None:
    """Document without an id.

    Why: It can be neither judged nor retrieved.
    Example: {"title": "Rice", "text": "Rinse it twice."} has no _id.
    """
    return flaw.what if flaw.kind == "id" and role == "corpus" else None


@rule(
    "COL021",
    "file",
    "error",
    "{count} document {id appears|ids appear} more than once",
    fix="Give each document its own id, or remove the extra lines.",
)
def repeated_document_id(facts: CollectionFacts) -> Iterator[About]:
    """Duplicate document id.

    Why: An index and a ranking may contain both, but the judgments are about one of them.
    Example: Document D12 on line 12 and, with different text, on line 900.
    """
    return _tallied("COL021", facts.repeated_documents)


@rule(
    "COL022",
    "document",
    "warning",
    "{count} {document has|documents have} neither title nor text",
    fix="Find the text in the source of the collection, or remove these documents from the corpus and the judgments.",
)
def document_without_text(document: Document) -> str | None:
    """Document without text.

    Why: No system can find it. If it is judged relevant, recall cannot reach 1.
    Example: {"_id": "471", "title": "", "text": ""}
    """
    return None if document.text.strip() or document.title.strip() else f"document {show_id(document.id)}"


@rule(
    "COL023",
    "file",
    "note",
    "{count} {document has|documents have} the same title and text as an earlier one",
    fix="Nothing to do if the source has these duplicates. To be strict, keep one of each and give it the highest of "
    "their grades.",
)
def same_document(facts: CollectionFacts) -> Iterator[About]:
    """Duplicate document.

    Why: Systems find both together; if only one is judged, the other counts as not relevant.
    Example: One product under two numbers.
    """
    return _tallied("COL023", facts.same_documents)


@rule(
    "COL024",
    "document",
    "warning",
    "{count} document {id contains|ids contain} whitespace",
    fix="Replace the whitespace, in the judgments too, or keep runs as JSON, CSV or Parquet.",
)
def document_id_with_blanks(document: Document) -> str | None:
    """Whitespace in a document id.

    Why: Whitespace separates the columns of a TREC run, so such an id cannot be written to one.
    Example: "SKU 12 B".
    """
    return _with_blanks("document", document.id)


@rule(
    "COL015",
    "query",
    "warning",
    "{count} query {id contains|ids contain} whitespace",
    fix="Replace the whitespace, in the judgments too, or keep runs as JSON, CSV or Parquet.",
)
def query_id_with_blanks(query: Query) -> str | None:
    """Whitespace in a query id.

    Why: Whitespace separates the columns of a TREC run, so such an id cannot be written to one.
    Example: "topic 12".
    """
    return _with_blanks("query", query.id)


# Judgments


@rule(
    "COL030",
    "file",
    "warning",
    "judged queries are not in the queries",
    fix="Add these queries, or remove them from the judgments. If all of them are missing, the ids may be "
    "written differently, or the files belong to different collections.",
)
def unknown_query(facts: CollectionFacts) -> Iterator[About]:
    """Judged query missing from the queries.

    Why: Without its text no system can search for it, so all get 0. This is an error if all judged queries are missing.
    Example: qrels/test.tsv judges query 12; queries.jsonl ends with query 11.
    """
    if facts.queries is None or facts.qrels is None:
        return
    unknown = [query for query in facts.qrels.queries if query not in facts.queries]
    if not unknown:
        return
    lines = _first_lines(facts.qrels, [facts.qrels.queries[code] for code in facts.qrels.query.tolist()], set(unknown))
    examples = tuple(FindingExample("", lines.get(query), show_id(query)) for query in _by_line(unknown, lines)[:SHOWN])
    if len(unknown) == len(facts.qrels.queries):
        words = f"none of the {len(unknown):,} judged queries is in the queries, which start with "
        said = Said(words + (some_of(list(facts.queries)) or "nothing"), len(unknown), examples, "error")
    else:
        words = plural("{count} judged {query is|queries are} not in the queries", len(unknown))
        said = Said(words, len(unknown), examples)
    yield About(facts.files["qrels"], said)


@rule(
    "COL031",
    "file",
    "warning",
    "judged documents are not in the corpus",
    fix="Complete the corpus, or remove these judgments. If all of them are missing, the ids may be written "
    "differently, or the files belong to different collections.",
)
def unknown_document(facts: CollectionFacts) -> Iterator[About]:
    """Judged document missing from the corpus.

    Why: No system can find it. If it is relevant, recall cannot reach 1. This is a note if no missing document is
    relevant, and an error if all judged documents are missing.
    Example: qrels/test.tsv judges document D12, but corpus.jsonl has no D12.
    """
    qrels, unknown = facts.qrels, facts.unknown
    if facts.documents is None or qrels is None or not unknown:
        return
    lines = _first_lines(qrels, qrels.doc.tolist(), unknown)
    first = _by_line(sorted(unknown), lines)
    examples = tuple(FindingExample(f"document {show_id(doc)}", lines.get(doc)) for doc in first[:SHOWN])
    judged = len(set(qrels.doc.tolist()))
    relevant = len({doc for doc, rel in zip(qrels.doc.tolist(), qrels.rel.tolist(), strict=True) if rel > 0} & unknown)
    if len(unknown) == judged:
        words = f"none of the {judged:,} judged documents is in the corpus, which starts with "
        said = Said(words + (some_of(facts.some_documents) or "nothing"), judged, examples, "error")
    else:
        words = plural("{count} judged {document is|documents are} not in the corpus", len(unknown))
        words += f" ({relevant:,} relevant)" if relevant else " (none relevant)"
        said = Said(words, len(unknown), examples, "warning" if relevant else "note")
    yield About(facts.files["qrels"], said)


@rule(
    "COL032",
    "file",
    "note",
    "the grades are letters",
    fix="Nothing to do if these values are right; otherwise write numbers.",
)
def letters(facts: CollectionFacts) -> Iterator[About]:
    """Letter grades.

    Why: Measures need numbers, and other numbers give other results. ESCI's exact, substitute, complement and
    irrelevant are read as 3, 2, 1 and 0.
    Example: q1, B07NCQWCQS, E
    """
    if facts.letters:
        yield About(facts.files["qrels"], Said(f"the grades are letters, read as {facts.letters}"))


def _tallied(code: str, tallies: Mapping[str, Tally]) -> Iterator[About]:

    for file, tally in tallies.items():
        if tally.count:
            yield About(file, Said(count=tally.count, examples=tuple(tally.examples)))


def _with_blanks(what: str, id: str) -> str | None:
    return f"{what} '{show_id(id)}'" if len(id.split()) > 1 or id != id.strip() else None


def _first_lines(qrels: Qrels, ids: list[str], wanted: set[str] | frozenset[str]) -> dict[str, int]:
    """The first line of the judgments with each of these ids."""
    if qrels.lines is None:
        return {}
    found: dict[str, int] = {}
    for line, id in zip(qrels.lines, ids, strict=True):
        if id in wanted:
            found.setdefault(id, line)
    return found


def _by_line(ids: list[str], lines: Mapping[str, int]) -> list[str]:
    return sorted(ids, key=lambda id: lines.get(id, 0))
