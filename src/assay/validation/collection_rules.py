"""Rules about collections: documents, queries and judgments that should belong together.

What a function is given depends on where a rule is looked at:

    line      a place that cannot be read (`Flaw`), and the role of its file   -> what is wrong with it, or None
    query     one query                                                       -> what is wrong with it, or None
    document  one document                                                    -> what is wrong with it, or None
    file      what is known at the end (`CollectionFacts`)                     -> findings about files (`About`)
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
    """A finding in its own words, and the file that it is about."""

    file: str
    said: Said


class CollectionFacts(Struct):
    """What is known of a collection when all of it has been read."""

    folder: str
    split: str
    files: Mapping[str, str]  # role -> the file as messages show it; where there are several, their folder
    missing: tuple[tuple[str, str], ...] = ()  # role, and what was looked for
    doubtful: tuple[tuple[str, str, tuple[str, ...]], ...] = ()  # role, the file taken, those as likely
    splits: tuple[str, ...] = ()  # those to choose from, where none was chosen
    queries: dict[str, str] | None = None  # id -> text; None where they could not be read
    repeated_queries: Tally = field(default_factory=Tally)
    same_queries: Tally = field(default_factory=Tally)
    qrels: Qrels | None = None
    letters: str = ""  # the grades that letters were given, if the judgments have letters
    documents: int | None = None  # None where they could not be read
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
    fix="Put the file into the folder under such a name, or say which file it is: --file ROLE=NAME, such as corpus=items.jsonl"
    " (in Python: files={'corpus': 'items.jsonl'}).",
)
def missing_file(facts: CollectionFacts) -> Iterator[About]:
    """A part of the collection is missing: the documents, the queries or the judgments.

    Why: a benchmark needs all three. Files are recognised by their names, so that one may be there under another name.
    Example: a folder with queries.jsonl and qrels/test.tsv, and no corpus.jsonl.
    """
    for role, looked_for in facts.missing:
        yield About(facts.folder, Said(f"there are no {_ROLE_WORDS[role]}: {looked_for.rstrip('.')}"))


@rule(
    "COL002",
    "line",
    "error",
    "the file cannot be read",
    fix="Copy or download the file again, unpack it if it is an archive, or convert it to UTF-8 text.",
)
def unreadable_file(flaw: Flaw, role: str) -> str | None:
    """A file that is no text, or is damaged, from some place on.

    Why: what comes behind that place is lost.
    Example: corpus.jsonl.gz is cut off after half of its bytes.
    """
    return flaw.what if flaw.kind == "file" else None


@rule("COL003", "line", "error", "the file is empty", fix="Find out why nothing was written, and write it again.")
def empty_file(flaw: Flaw, role: str) -> str | None:
    """A file without data.

    Why: nothing can be searched, asked or judged.
    Example: queries.tsv holds a header and no other line.
    """
    return flaw.what if flaw.kind == "empty" else None


@rule(
    "COL004",
    "line",
    "error",
    "{count} {line is|lines are} no JSON",
    fix="Each line is one JSON object: repair or remove these lines.",
)
def broken_json(flaw: Flaw, role: str) -> str | None:
    """A line that is no JSON object.

    Why: the document or the query of that line is lost, and systems are asked to find what they were not given.
    Example: {"_id": "7", "text": "cut off
    """
    return flaw.what if flaw.kind == "json" else None


@rule(
    "COL005",
    "line",
    "error",
    "{count} {place does|places do} not have the fields that are needed",
    fix="Rename the fields, or say what they are called: --columns corpus.id=NAME (in Python: "
    "columns={'corpus': {'id': 'NAME'}}).",
)
def wrong_columns(flaw: Flaw, role: str) -> str | None:
    """No field for the id or for the text, a row of another width, or a value that is no text.

    Why: a text that is taken from another field makes another collection.
    Example: a CSV file with the columns sku and name, of which neither is known to be the id.
    """
    return flaw.what if flaw.kind == "columns" else None


@rule(
    "COL006",
    "line",
    "error",
    "{count} {text is|texts are} not UTF-8",
    fix="Convert the file from its own encoding: iconv -f LATIN1 -t UTF-8 OLD > NEW.",
)
def not_utf8(flaw: Flaw, role: str) -> str | None:
    r"""Bytes that are not UTF-8, or half a character.

    Why: engines and models read UTF-8; others would refuse the text in the middle of indexing, or index other words.
    Example: caf\xe9 in Latin-1.
    """
    return flaw.what if flaw.kind == "encoding" else None


@rule(
    "COL007",
    "file",
    "note",
    "several files could be the same part",
    fix="Remove or rename the others, or say which file it is: --file ROLE=NAME, such as corpus=items.jsonl"
    " (in Python: files={'corpus': 'items.jsonl'}).",
)
def doubtful_file(facts: CollectionFacts) -> Iterator[About]:
    """Several files could be the documents, or the queries.

    Why: you may have meant another one.
    Example: corpus.jsonl and documents.tsv in one folder: the first is taken.
    """
    for role, taken, others in facts.doubtful:
        words = f"taken for the {_ROLE_WORDS[role]}; {some_of(list(others))} could be them too"
        yield About(taken, Said(words, len(others)))


@rule(
    "COL008",
    "file",
    "error",
    "there are several splits, and none was chosen",
    fix="Choose one with --split (in Python: split=).",
)
def undecided_split(facts: CollectionFacts) -> Iterator[About]:
    """Judgments for several splits, none of which is called test.

    Why: figures of different splits are different figures, and nobody should have to guess whose they are.
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
    fix="Every query needs an id, text or a whole number: repair or remove these lines.",
)
def query_without_id(flaw: Flaw, role: str) -> str | None:
    """A query without an id.

    Why: nothing can be judged for it, and nothing retrieved.
    Example: {"text": "how to cook rice"} has no _id.
    """
    return flaw.what if flaw.kind == "id" and role == "queries" else None


@rule(
    "COL011",
    "file",
    "error",
    "{count} {query id stands|query ids stand} more than once",
    fix="Give each query an id of its own, or remove the lines that are too many.",
)
def repeated_query_id(facts: CollectionFacts) -> Iterator[About]:
    """The same query id twice.

    Why: the judgments are about one of the two, and nobody can say which.
    Example: query 7 on line 7 and, with other words, on line 12.
    """
    return _tallied("COL011", {facts.files.get("queries", ""): facts.repeated_queries})


@rule(
    "COL012",
    "query",
    "warning",
    "{count} {query has|queries have} no text",
    fix="Find the text in the source of the collection, or remove these queries from queries and judgments.",
)
def query_without_text(query: Query) -> str | None:
    """A query without words.

    Why: no system finds anything for it, so that all of them get 0 and look more alike than they are.
    Example: {"_id": "7", "text": ""}
    """
    return None if query.text.strip() else f"query {show_id(query.id)}"


@rule(
    "COL013",
    "file",
    "warning",
    "{count} {query has|queries have} the words of an earlier one",
    fix="Keep one of them and join their judgments, above all where one is for training and the other for testing.",
)
def same_query(facts: CollectionFacts) -> Iterator[About]:
    """Two queries with the same words; case and blanks do not count.

    Why: such a query counts twice in every mean; and if one of the two was used to train or to tune, its twin is no
    test any more.
    Example: query 3 "Cheap flights" and query 40 "cheap  flights".
    """
    return _tallied("COL013", {facts.files.get("queries", ""): facts.same_queries})


@rule(
    "COL014",
    "file",
    "note",
    "queries without judgments are left out",
    fix="Nothing, if they belong to another split; else judge them.",
)
def unjudged_query(facts: CollectionFacts) -> Iterator[About]:
    """Queries that this split has no judgments for.

    Why: they are left out, since nothing can be measured for them.
    Example: queries.jsonl holds the queries of train and test, qrels/test.tsv judges those of test.
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
    fix="Every document needs an id, text or a whole number: repair or remove these lines.",
)
def document_without_id(flaw: Flaw, role: str) -> str | None:
    """A document without an id.

    Why: it can be neither judged nor retrieved.
    Example: {"title": "Rice", "text": "Rinse it twice."} has no _id.
    """
    return flaw.what if flaw.kind == "id" and role == "corpus" else None


@rule(
    "COL021",
    "file",
    "error",
    "{count} {document id stands|document ids stand} more than once",
    fix="Give each document an id of its own, or remove the lines that are too many.",
)
def repeated_document_id(facts: CollectionFacts) -> Iterator[About]:
    """The same document id twice.

    Why: an index holds both, a ranking may hold both, and the judgments are about one of them.
    Example: document D12 on line 12 and, with another text, on line 900.
    """
    return _tallied("COL021", facts.repeated_documents)


@rule(
    "COL022",
    "document",
    "warning",
    "{count} {document has|documents have} neither title nor text",
    fix="Find the text in the source of the collection, or remove these documents from corpus and judgments.",
)
def document_without_text(document: Document) -> str | None:
    """A document without words.

    Why: no system can find it. If it is judged relevant, recall cannot reach 1.
    Example: {"_id": "471", "title": "", "text": ""}
    """
    return None if document.text.strip() or document.title.strip() else f"document {show_id(document.id)}"


@rule(
    "COL023",
    "file",
    "note",
    "{count} {document has|documents have} the title and text of an earlier one",
    fix="Nothing, if the source has them so. To be strict, keep one of each and give it the highest of their grades.",
)
def same_document(facts: CollectionFacts) -> Iterator[About]:
    """Documents that are the same but for their id.

    Why: systems find them together; if only one of them is judged, the other counts as not relevant.
    Example: one product under two numbers.
    """
    return _tallied("COL023", facts.same_documents)


@rule(
    "COL024",
    "document",
    "warning",
    "{count} document {id has|ids have} blanks",
    fix="Put another character in place of the blanks, in the judgments too; or keep runs as JSON, CSV or Parquet.",
)
def document_id_with_blanks(document: Document) -> str | None:
    """A blank inside the id of a document.

    Why: the columns of a TREC run are parted by blanks, so that such an id cannot be written to one.
    Example: "SKU 12 B".
    """
    return _with_blanks("document", document.id)


@rule(
    "COL015",
    "query",
    "warning",
    "{count} query {id has|ids have} blanks",
    fix="Put another character in place of the blanks, in the judgments too; or keep runs as JSON, CSV or Parquet.",
)
def query_id_with_blanks(query: Query) -> str | None:
    """A blank inside the id of a query.

    Why: the columns of a TREC run are parted by blanks, so that such an id cannot be written to one.
    Example: "topic 12".
    """
    return _with_blanks("query", query.id)


# Judgments


@rule(
    "COL030",
    "file",
    "warning",
    "judged queries are not among the queries",
    fix="Find the texts of these queries, or remove them from the judgments. If all are unknown, the ids are written in "
    "another way, or the files belong to different collections.",
)
def unknown_query(facts: CollectionFacts) -> Iterator[About]:
    """Judgments for a query that there is not.

    Why: no system can be asked it, and all of them get 0 for it. An error if there is no query in common.
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
        words = f"none of the {len(unknown):,} judged queries is among the queries, which begin with "
        said = Said(words + (some_of(list(facts.queries)) or "nothing"), len(unknown), examples, "error")
    else:
        words = plural("{count} judged {query is|queries are} not among the queries", len(unknown))
        said = Said(words, len(unknown), examples)
    yield About(facts.files["qrels"], said)


@rule(
    "COL031",
    "file",
    "warning",
    "judged documents are not in the corpus",
    fix="Complete the corpus, or remove these judgments. If all are unknown, the ids are written in another way, or the "
    "files belong to different collections.",
)
def unknown_document(facts: CollectionFacts) -> Iterator[About]:
    """Judgments for a document that there is not.

    Why: no system can find it; if it is relevant, recall cannot reach 1. A note if none of them is relevant, an error
    if no judged document is there.
    Example: qrels/test.tsv judges document D12, and corpus.jsonl has no D12.
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
        words = f"none of the {judged:,} judged documents is in the corpus, which begins with "
        said = Said(words + (some_of(facts.some_documents) or "nothing"), judged, examples, "error")
    else:
        words = plural("{count} judged {document is|documents are} not in the corpus", len(unknown))
        words += f" (relevant: {relevant:,})" if relevant else " (relevant: none)"
        said = Said(words, len(unknown), examples, "warning" if relevant else "note")
    yield About(facts.files["qrels"], said)


@rule(
    "COL032",
    "file",
    "note",
    "the grades are letters",
    fix="Nothing, if that is what they mean; else write numbers.",
)
def letters(facts: CollectionFacts) -> Iterator[About]:
    """Judgments in the letters of ESCI: exact, substitute, complement, irrelevant.

    Why: measures need numbers, and other numbers give other values. The letters are read as 3, 2, 1 and 0.
    Example: q1, B07NCQWCQS, E
    """
    if facts.letters:
        yield About(facts.files["qrels"], Said(f"the grades are letters and are read as {facts.letters}"))


def _tallied(code: str, tallies: Mapping[str, Tally]) -> Iterator[About]:
    from assay.validation.registry import RULES

    for file, tally in tallies.items():
        if tally.count:
            yield About(file, Said(RULES[code].said(tally.count), tally.count, tuple(tally.examples)))


def _with_blanks(what: str, id: str) -> str | None:
    return f"{what} '{show_id(id)}'" if len(id.split()) > 1 or id != id.strip() else None


def _first_lines(qrels: Qrels, ids: list[str], wanted: set[str] | frozenset[str]) -> dict[str, int]:
    """The first line of the judgments where each of these ids stands."""
    if qrels.lines is None:
        return {}
    found: dict[str, int] = {}
    for line, id in zip(qrels.lines, ids, strict=True):
        if id in wanted:
            found.setdefault(id, line)
    return found


def _by_line(ids: list[str], lines: Mapping[str, int]) -> list[str]:
    return sorted(ids, key=lambda id: lines.get(id, 0))
