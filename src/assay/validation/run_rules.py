"""Rules about runs. Rules about bytes, lines and numbers are in text_rules.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from statistics import median
from typing import TYPE_CHECKING

from assay.errors import show_id, some_of
from assay.formats.text import decoded, is_utf8
from assay.validation.causes import by_cause, remedy_of
from assay.validation.findings import SHOWN, FindingExample
from assay.validation.matching import Match, difference, fold
from assay.validation.registry import Said, alike, lacking, rule
from assay.words import plural

if TYPE_CHECKING:
    from assay.validation.facts import RunFacts
    from assay.validation.reading import QueryRows

CUTOFFS = (10, 100, 1000)
LARGEST_FLOAT32 = 3.4028235677973366e38  # from here on, a 32-bit float is infinite
SHALLOW = 10
FEW_JUDGED = 0.5


# The file


@rule(
    "RUN001",
    "file",
    "error",
    "the file cannot be read as a run",
    fix="Check that the file is a run: six columns (query Q0 document rank score tag) or another supported format. If "
    "it is damaged, generate it again.",
)
def unreadable(facts: RunFacts) -> Iterable[FindingExample]:
    """Not readable as a run.

    Why: Nothing in it can be scored. It may be an archive, binary data, a damaged copy, or in an unsupported format.
    Example: A zip archive; truncated JSON.
    """
    return ()  # reported by the reader


@rule("RUN002", "file", "error", "the file contains no data", fix="Check the queries, and generate the run again.")
def empty(facts: RunFacts) -> Iterator[Said]:
    """Empty file.

    Why: Every query would count as 0. Failed jobs often leave an empty file.
    Example: A file of 0 bytes.
    """
    if facts.rows == 0 and facts.format != "unreadable":
        yield Said("the file contains no data: it is empty, or has only blank lines, comments or a header")


@rule(
    "RUN006",
    "file",
    "warning",
    "lines have more than six columns",
    fix="Remove the extra columns, or check the run tag for spaces. Like trec_eval, assay reads the first six.",
)
def extra_columns(facts: RunFacts) -> Iterator[Said]:
    """More than six columns.

    Why: Programs that split on spaces may take the last column for the tag, and pandas rejects the file.
    Example: 1 Q0 d3 1 9.5 sys extra
    """
    if facts.layout == ("query", "Q0", "doc", "rank", "score", "tag") and (facts.width or 0) > 6:
        yield Said(f"all lines have {facts.width} columns; only the first six are read", facts.rows)


@rule(
    "RUN070",
    "file",
    "note",
    "the run is not in TREC's six-column format",
    fix="Convert it: assay runs convert RUN -o OUT.run --to trec.",
)
def not_trec(facts: RunFacts) -> Iterator[Said]:
    """Not in TREC format.

    Why: assay reads it, but trec_eval and TREC submissions need the columns query Q0 document rank score tag.
    Example: MS MARCO's three columns, JSON, CSV.
    """
    if facts.options.six_columns and facts.rows and (facts.format != "trec" or facts.width != 6):
        yield Said(f"the format is {facts.format}; TREC requires six columns")


@rule(
    "RUN027",
    "file",
    "warning",
    "the run is incomplete: queries failed when it was fetched",
    fix="Run `assay runs fetch` again with the same options: it asks only for the queries that failed.",
)
def incomplete(facts: RunFacts) -> Iterator[Said]:
    """Incomplete run.

    Why: A query that failed has no documents here, as if the system had found nothing. It would count as 0.
    Example: A file that starts with the comment # incomplete: 2 of 500 queries failed
    """
    if facts.incomplete is not None:
        said = f"the run is incomplete: {facts.incomplete.text}"
        yield Said(said, 1, (facts.incomplete,))


@rule("RUN060", "file", "warning", "{count} run tags in one file", fix="Check whether two files were joined.")
def several_tags(facts: RunFacts) -> Iterator[Said]:
    """Several run tags.

    Why: A run has one tag. Several tags mean that files were joined or that a column is missing.
    Example: Lines 1 to 1000 have the tag bm25, the others dense.
    """
    if len(facts.tags) > 1:
        first, *others = facts.tags
        words = f"the first tag is '{show_id(first)}'"
        shown = tuple(FindingExample(f"'{show_id(tag)}'; {words}", facts.tag_lines.get(tag)) for tag in others[:SHOWN])
        yield Said(f"{len(facts.tags):,} run tags in one file: {some_of(list(facts.tags))}", len(facts.tags), shown)


# Numbers of one query


@rule(
    "RUN014",
    "query",
    "warning",
    "{count} {score is|scores are} too large for 32-bit floats",
    fix="Rescale the scores: trec_eval 9 stores them as 32-bit floats, where these become infinite and tie.",
)
def beyond_float32(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Score too large for a 32-bit float.

    Why: trec_eval 9 reads it as infinity, so all such documents tie and are ordered by id.
    Example: 1e39
    """
    if not rows.scores or max(map(abs, rows.scores)) < LARGEST_FLOAT32:
        return []
    large = (row for row, score in enumerate(rows.scores) if abs(score) >= LARGEST_FLOAT32)
    return [rows.example(row, f"{rows.scores[row]!r} of document {rows.doc(row)}") for row in large]


@rule(
    "RUN020",
    "query",
    "error",
    "{count} {document is|documents are} listed more than once for a query",
    fix="List each document once per query. If the rows are passages of the same document, collapse them first "
    "(`assay runs collapse`). --fix removes duplicates with the same score; with --policy "
    "duplicates=best, it keeps the best of the others too.",
    least=2,
)
def repeated_documents(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Duplicate document in a query.

    Why: Counting a document twice can push recall above 1. assay and trec_eval reject such a run.
    Example: d3 at rank 1 and again at rank 6, because passages were written with their document's id.
    """
    if len(set(rows.docs)) == len(rows.docs):
        return []
    first: dict[bytes, int] = {}
    found = []
    for row, doc in enumerate(rows.docs):
        earlier = first.setdefault(doc, row)
        if earlier != row:
            same = "the same score" if rows.scores[row] == rows.scores[earlier] else f"score {rows.scores[earlier]:g}"
            place = rows.line(earlier)
            where = "listed" if place is None else f"in line {place}"
            words = f"{rows.doc(row)} with score {rows.scores[row]:g}; already {where} with {same}"
            found.append(rows.example(row, words))
    return found


# Ranks


@rule(
    "RUN021",
    "query",
    "warning",
    "{count} {rank is not a whole number|ranks are not whole numbers}",
    fix="Number ranks 1, 2, 3 and so on. assay ranks by score and ignores them, but other tools may use them.",
)
def rank_no_number(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Rank is not a whole number.

    Why: The columns may be in the wrong order. assay and trec_eval rank by score; the MS MARCO script ranks by rank.
    Example: 1 Q0 d3 first 9.5 sys
    """
    if rows.ranks is None or rows.numbered or not facts.has_scores or None not in rows.ranks:
        return []
    return [
        rows.example(row, f"the rank of document {rows.doc(row)}")
        for row, rank in enumerate(rows.ranks)
        if rank is None
    ]


@rule(
    "RUN022",
    "query",
    "warning",
    "{count} {rank appears|ranks appear} more than once in a query",
    fix="Number the documents of each query 1, 2, 3 by decreasing score (--fix does this if ranks and scores agree).",
    least=2,
)
def repeated_ranks(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Duplicate rank in a query.

    Why: Tools that sort by rank have to guess which document comes first. TREC rejects such runs.
    Example: Ranks 1, 2, 2, 3.
    """
    if rows.ranks is None or rows.numbered or not facts.has_scores or len(set(rows.ranks)) == len(rows.ranks):
        return []
    seen: set[int] = set()
    found = []
    for row, rank in enumerate(rows.ranks):
        if rank in seen:
            found.append(rows.example(row, f"rank {rank} of document {rows.doc(row)}"))
        elif rank is not None:
            seen.add(rank)
    return found


@rule(
    "RUN023",
    "query",
    "note",
    "{count} {query has|queries have} ranks that do not start at 1",
    fix="Number ranks from 1 (--fix does this).",
)
def first_rank(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Ranks do not start at 1.

    Why: Ranks from 0 shift every cutoff by one in tools that sort by rank. Any other start suggests missing rows.
    Example: Ranks 0, 1, 2.
    """
    if rows.ranks is None or rows.numbered or not facts.has_scores:
        return []
    if None in rows.ranks or rows.query in facts.damaged:
        return []
    lowest = min(rank for rank in rows.ranks if rank is not None)
    return [] if lowest == 1 else [rows.example(rows.ranks.index(lowest), f"the lowest rank is {lowest}")]


@rule(
    "RUN024",
    "query",
    "note",
    "{count} {query has|queries have} gaps in the ranks",
    fix="Check for missing rows. If none are missing, renumber the ranks (--fix does this).",
    least=2,
)
def rank_gaps(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Gap in the ranks.

    Why: A row may have been lost or filtered out.
    Example: Ranks 1, 2, 4.
    """
    if rows.ranks is None or rows.numbered or None in rows.ranks or rows.query in facts.damaged:
        return []
    ranks = sorted({rank for rank in rows.ranks if rank is not None})
    if ranks[-1] - ranks[0] + 1 == len(ranks):
        return []
    gap = next(low + 1 for low, high in itertools.pairwise(ranks) if high != low + 1)
    behind = min(rank for rank in ranks if rank > gap)
    return [rows.example(rows.ranks.index(behind), f"rank {gap} is missing")]


@rule(
    "RUN025",
    "query",
    "warning",
    "{count} {query has|queries have} ranks that contradict the scores",
    fix="Decide which order is right, and write scores that decrease with rank. assay and trec_eval rank by score; "
    "--order rank uses the rank column. --fix OUT --policy ranks=renumber numbers the documents by score.",
    least=2,
)
def rank_against_score(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Ranks contradict scores.

    Why: The file gives two orders, and tools differ in which one they use, so they report different values. Distances
    written as scores, or scores from another ranking stage, cause this.
    Example: Rank 1 has score 5.5, rank 5 has 9.5.
    """
    if rows.ranks is None or not facts.has_scores or None in rows.ranks:
        return []
    if rows.ranks == sorted(rows.ranks) and rows.scores == sorted(rows.scores, reverse=True):  # type: ignore[type-var]
        return []  # most files, and quick to check
    ranks = [rank or 0 for rank in rows.ranks]
    ordered = sorted(range(len(rows)), key=lambda row: (ranks[row], -rows.scores[row]))
    lowest = ordered[0]  # the row with the lowest score so far
    for row in ordered:
        if rows.scores[row] > rows.scores[lowest] and ranks[row] != ranks[lowest]:
            words = f"rank {ranks[row]} has score {rows.scores[row]:g}"
            return [rows.example(row, f"{words}, but rank {ranks[lowest]} has {rows.scores[lowest]:g}")]
        lowest = min(lowest, row, key=rows.scores.__getitem__)
    return []


# Ties


@rule(
    "RUN026",
    "query",
    "error",
    "{count} {query has|queries have} no scores, and ranks that repeat, do not start at 1 or are too large",
    fix="If the third column is a score, add a header line: query_id doc_id score. If it is the rank, number the documents "
    "of each query 1, 2, 3 and so on.",
)
def not_ranks(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """No scores, and the third column does not hold ranks.

    Why: A run in three columns is ranked by the third. Whole scores in that column would turn the ranking upside down.
    Example: q1 d1 10, then q1 d2 9.
    """
    if rows.ranks is None or rows.numbered or facts.has_scores or rows.query in facts.damaged:
        return []
    ranks = [rank for rank in rows.ranks if rank is not None]
    if len(ranks) < len(rows):
        return [rows.example(rows.ranks.index(None), "a rank is too large")]
    if min(ranks) != 1:
        return [rows.example(ranks.index(min(ranks)), f"the lowest rank is {min(ranks)}")]
    seen: set[int] = set()
    for row, rank in enumerate(ranks):
        if rank in seen:
            return [rows.example(row, f"rank {rank} appears more than once")]
        seen.add(rank)
    return []


@rule(
    "RUN030",
    "file",
    "note",
    "{count} {query has|queries have} tied scores",
    fix="The order of tied documents affects the results: break ties in the system, or use --ties expected.",
)
def ties(facts: RunFacts) -> Iterator[Said]:
    """Tied scores.

    Why: Tied documents are ordered by convention (in assay and trec_eval: document id, descending), so other tools may
    report different values. If a tie crosses a cutoff, even which documents count is arbitrary.
    Example: Ranks 9 to 12 have the same score, and nDCG@10 depends on which two come first.
    """
    if facts.tied.count:
        across = [f"across rank {k} in {facts.straddling[k]:,}" for k in CUTOFFS if facts.straddling[k]]
        detail = f" ({', '.join(across)})" if across else ""
        yield Said(count=facts.tied.count, examples=tuple(facts.tied.examples), detail=detail)


def note_ties(rows: QueryRows, facts: RunFacts) -> None:
    """Count the ties of a query and the cutoffs they cross."""
    distinct = rows.distinct
    if distinct == len(rows.scores) or not facts.has_scores:
        return
    ordered = sorted(rows.scores, reverse=True)
    across = [k for k in CUTOFFS if k < len(ordered) and ordered[k - 1] == ordered[k]]
    facts.straddling.update(across)
    words = plural("{count} {document has|documents have} the same score as one above", len(ordered) - distinct)
    if across:
        words += f", across rank {', '.join(map(str, across))}"
    facts.tied.add(FindingExample(words, rows.line(0), show_id(rows.query)))


@rule(
    "RUN031",
    "query",
    "note",
    "{count} {query has|queries have} different scores that are equal as 32-bit floats",
    fix="Use --score-type float32 to reproduce trec_eval 9, which treats these scores as ties.",
    least=2,
)
def float32_ties(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Different scores that are equal as 32-bit floats.

    Why: trec_eval 9 reads scores as 32-bit floats, so its values may differ from those of assay and trec_eval 10.
    Example: 0.123456789 and 0.123456788.
    """
    if not facts.has_scores or len(rows.scores) < 2:
        return []
    import numpy as np

    with np.errstate(over="ignore"):
        narrow = np.asarray(rows.scores).astype(np.float32)
    falls = bool((narrow[1:] <= narrow[:-1]).all())  # equal ones are then neighbours
    lost = rows.distinct - (1 + np.count_nonzero(narrow[1:] != narrow[:-1]) if falls else len(np.unique(narrow)))
    return [FindingExample(f"{lost} fewer distinct scores", rows.line(0), show_id(rows.query))] if lost else []


@rule(
    "RUN032",
    "query",
    "warning",
    "{count} {query has|queries have} the same score for all documents",
    fix="Check that the system assigns scores: these documents are ordered by id.",
    least=2,
)
def constant_scores(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Same score for all documents.

    Why: The ranking is just the order of the ids. A failed scorer or a filter without scores causes this.
    Example: Every score is 1.
    """
    if len(rows) < 2 or not facts.has_scores or rows.distinct > 1:
        return []
    return [FindingExample(f"{len(rows)} documents with score {rows.scores[0]:g}", rows.line(0), show_id(rows.query))]


@rule(
    "RUN034",
    "file",
    "warning",
    "{count} queries have the same ranking as another query",
    fix="Check that the system uses the query text, then generate the run again.",
)
def same_lists(facts: RunFacts) -> Iterator[Said]:
    """Same ranking for several queries.

    Why: A cache with the wrong key, an empty query text or a popularity ranking gives every query the same answer.
    Example: Queries 51 and 57 list the same thousand documents.
    """
    groups = [queries for queries in facts.same_lists.values() if len(queries) > 1]
    if groups:
        count = sum(map(len, groups))
        shown = tuple(
            FindingExample(f"same ranking as {some_of(group[1:])}", None, show_id(group[0])) for group in groups[:SHOWN]
        )
        yield Said(count=count, examples=shown)


# Depth


@rule(
    "RUN040",
    "query",
    "error",
    "{count} {query has|queries have} more documents than allowed",
    fix="Cut the ranking of each query to the allowed number of documents: --fix OUT --policy cut=100.",
)
def too_deep(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Too many documents for a query.

    Why: Tracks reject a submission that is too deep, or cut it in their own way.
    Example: 1,000 documents with --max-depth 100.
    """
    limit = facts.options.max_depth
    if limit is None or len(rows) <= limit:
        return []
    return [rows.example(limit, f"{len(rows):,} documents, {limit:,} allowed")]


@rule(
    "RUN041",
    "file",
    "note",
    "{count} {query has|queries have} few documents",
    fix="If this is not intended, mark the run as incomplete and report its coverage: recall at deeper cutoffs is "
    "limited.",
)
def shallow(facts: RunFacts) -> Iterator[Said]:
    """Few documents for a query.

    Why: A filter, a timeout or a crash may have cut the ranking short. It is scored as if nothing else had been found.
    Example: Most queries have 1,000 documents; this one has 3.
    """
    if not facts.depths:
        return
    usual = median(facts.depths.values())
    few = {query: depth for query, depth in facts.depths.items() if depth < SHALLOW <= usual}
    if few:
        shown = tuple(
            FindingExample(f"{depth} of the usual {usual:g} documents", None, show_id(query))
            for query, depth in list(few.items())[:SHOWN]
        )
        words = plural(
            f"{{count}} {{query has|queries have}} fewer than {SHALLOW} documents; the median is {usual:g}", len(few)
        )
        yield Said(words, len(few), shown)


# Queries and documents against judgments and topics


@rule(
    "RUN050",
    "file",
    "warning",
    "{count} judged {query is|queries are} missing from the run",
    fix="Run these queries again. If they cannot be answered, mark the run as incomplete: they count as 0.",
)
def missing_judged(facts: RunFacts) -> Iterator[Said]:
    """Judged query missing from the run.

    Why: Missing queries count as 0 and lower the mean. trec_eval skips them unless called with -c, so its mean is over
    fewer queries.
    Example: 50 queries are judged; the run answers 43.
    """
    yield from lacking(facts.beside_judged.missing)


@rule(
    "RUN051",
    "file",
    "note",
    "{count} {query|queries} in the run {is|are} not judged",
    fix="Nothing to do if this is intended: these queries are left out of every mean.",
)
def not_judged(facts: RunFacts) -> Iterator[Said]:
    """Unjudged query in the run.

    Why: It cannot be scored. Often the run and the judgments are for different splits.
    Example: The run answers 6,980 queries; 43 are judged.
    """
    if facts.partners.qrels is not None:
        yield from lacking(facts.beside_judged.extra)


@rule(
    "RUN052",
    "file",
    "warning",
    "{count} {topic is|topics are} missing from the run",
    fix="Run these queries, or mark the run as incomplete and report its coverage.",
)
def missing_topics(facts: RunFacts) -> Iterator[Said]:
    """Topic missing from the run.

    Why: A submission must answer every topic.
    Example: topics.tsv has 105 queries, the run 104.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.beside_topics.missing)


@rule(
    "RUN053",
    "file",
    "warning",
    "{count} {query|queries} in the run {is|are} not in the topics",
    fix="Check that this is the right topic file.",
)
def unknown_topics(facts: RunFacts) -> Iterator[Said]:
    """Query not in the topics.

    Why: The run was made for other topics, or the ids are written differently.
    Example: The run has query 151; the topics end at 150.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.beside_topics.extra)


@rule(
    "RUN054",
    "file",
    "error",
    "{count} query {id|ids} would match if written the same way",
    fix="Write query ids the same way in the run, the judgments and the topics. --fix OUT with --policy ids=strip-zeros, "
    "ids=strip-prefix=X or ids=lower rewrites them.",
)
def near_queries(facts: RunFacts) -> Iterator[Said]:
    """Query id written differently.

    Why: Ids are compared exactly, so the query counts as 0 although it was answered. These ids differ only in spaces,
    letter case, leading zeros, a prefix or Unicode normalisation.
    Example: 01 in the run, 1 in the judgments.
    """
    judged, topics = facts.beside_judged, facts.beside_topics
    explains = [*judged.explained("RUN050", "RUN051", "RUN056"), *topics.explained("RUN052", "RUN053")]
    for found, matches in by_cause((*judged.matches, *topics.matches)):
        remedy = found.in_run() if judged.matches else found
        yield alike(matches, remedy, remedy.fix("run", "qrels" if judged.matches else None), explains)
        explains = []  # by the most frequent cause


@rule(
    "RUN055",
    "query",
    "warning",
    "{count} retrieved {document|documents} would match a judged one if the ids were written the same way",
    fix="Write document ids the same way in the run and the judgments: those written differently count as not retrieved. "
    "--fix OUT with --policy ids=strip-zeros, ids=strip-prefix=X or ids=lower rewrites them.",
)
def near_documents(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Document id written differently.

    Why: Ids are compared byte by byte, so a retrieved document counts as missed.
    Example: D3 in the run, d3 in the judgments.
    """
    judged = facts.partners.judged.get(rows.query)
    if not judged:
        return []
    missing = judged.keys() - set(rows.docs)
    if not missing:
        return []
    wanted = {_folded(doc): doc for doc in missing}
    found = []
    for row, doc in enumerate(rows.docs):
        theirs = wanted.get(_folded(doc)) if doc not in judged else None
        if theirs is not None:
            same_encoding = is_utf8(doc) and is_utf8(theirs)
            words = difference(decoded(doc), decoded(theirs)) if same_encoding else "encoding"
            facts.differences[remedy_of(Match(decoded(doc), decoded(theirs), words))] += 1
            found.append(
                rows.example(row, f"{rows.doc(row)} in the run, {show_id(decoded(theirs))} in the qrels ({words})")
            )
    return found


def _folded(doc: bytes) -> bytes:
    """A fast `fold`: there are many ids, and most are ASCII."""
    if doc.isascii():
        return doc.lower().lstrip(b"0")
    try:
        return fold(doc.decode("utf-8")).encode("utf-8").lstrip(b"0")
    except UnicodeDecodeError:
        return fold(doc.decode("latin-1")).encode("utf-8").lstrip(b"0")


@rule(
    "RUN056",
    "file",
    "error",
    "the run and the judgments have no query in common",
    fix="Check that these judgments belong to this run, and that both write query ids the same way.",
)
def nothing_in_common(facts: RunFacts) -> Iterator[Said]:
    """No query in common with the judgments.

    Why: Every value would be 0. The files belong to different collections, or write their ids differently.
    Example: The run has queries 1 to 50, the judgments 301 to 350.
    """
    beside = facts.beside_judged
    if facts.partners.qrels is not None and facts.depths and beside.apart and not beside.matches:
        ours, theirs = sorted(facts.queries), sorted(facts.partners.judged)
        yield Said(f"the run ({some_of(ours)}) and the judgments ({some_of(theirs)}) have no query in common")


@rule(
    "RUN073",
    "file",
    "error",
    "the run and the judgments have no document in common",
    fix="Check that these judgments belong to this run, and that both write document ids the same way.",
)
def no_common_document(facts: RunFacts) -> Iterable[Said]:
    """No document in common with the judgments.

    Why: Every value would be 0. The run lists chunks of documents, or the files write their ids differently.
    Example: The run has d3#0 and d3#1, the judgments d3.
    """
    return ()  # reported where the run is evaluated


@rule(
    "RUN058",
    "file",
    "error",
    "the judgments or topics cannot be used",
    fix="Repair the file; `assay qrels validate` checks judgments.",
)
def partner_unreadable(facts: RunFacts) -> Iterable[Said]:
    """Unusable judgments or topics.

    Why: Checks that need this file were skipped.
    Example: --qrels names a truncated file.
    """
    return ()  # reported where they are read


@rule(
    "RUN057",
    "file",
    "note",
    "documents at the top are not judged",
    fix="Judge these documents if you can. Otherwise mark the run as incomplete, report its coverage, and consider "
    "bpref or judged-only measures.",
)
def unjudged_share(facts: RunFacts) -> Iterable[Said]:
    """Unjudged documents at the top.

    Why: Unjudged documents count as not relevant, so a system unlike those in the pool looks worse than it is.
    Example: 40% of the top 10 documents are not judged.
    """
    return ()  # found by evaluating the run; see validating.py


@rule("RUN059", "file", "note", "ties change the results", fix="Break ties in the system, or use --ties expected.")
def tie_bounds(facts: RunFacts) -> Iterable[Said]:
    """Results depend on ties.

    Why: Between these bounds, a value reflects how the ids are spelt, not how good the system is.
    Example: nDCG@10 from 0.4117 to 0.4391.
    """
    return ()  # found by evaluating the run; see validating.py


@rule(
    "RUN072",
    "file",
    "note",
    "the run is large, so its lines were not checked",
    fix="Run `assay runs validate RUN --qrels QRELS` to check every line.",
)
def not_looked_at(facts: RunFacts) -> Iterable[Said]:
    """Large run not checked line by line.

    Why: The evaluation read the run without errors, so its lines, numbers and ids are fine. Checks that only validation
    makes (ranks against scores, several tags, repeated rankings) were skipped.
    Example: A run of seven million lines.
    """
    return ()  # reported by validate_beside
