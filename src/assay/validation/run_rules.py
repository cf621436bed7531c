"""Rules about runs. Those about bytes, lines and numbers stand in text_rules.py."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from statistics import median
from typing import TYPE_CHECKING

from assay.errors import show_id, some_of
from assay.formats.text import decoded, is_utf8
from assay.validation.findings import SHOWN, FindingExample
from assay.validation.matching import difference, fold, near_matches
from assay.validation.registry import Said, alike, lacking, rule
from assay.words import plural

if TYPE_CHECKING:
    from assay.validation.facts import RunFacts
    from assay.validation.reading import QueryRows

CUTOFFS = (10, 100, 1000)
LARGEST_FLOAT32 = 3.4028235677973366e38  # from here on a 32-bit float is infinite
SHALLOW = 10
FEW_JUDGED = 0.5


# The file


@rule(
    "RUN001",
    "file",
    "error",
    "the file cannot be read as a run",
    fix="Re-run the generation, and check that it is a run: six columns (query Q0 document rank score tag), or another "
    "of our formats.",
)
def unreadable(facts: RunFacts) -> Iterable[FindingExample]:
    """The file is no run that we read.

    Why: nothing in it can be scored. It may be an archive, binary data, damaged by a copy, or in a format of its own.
    Example: a zip archive; JSON that breaks off.
    """
    return ()  # seen by the reader


@rule("RUN002", "file", "error", "there is no data", fix="Re-run the generation, and check the format of the queries.")
def empty(facts: RunFacts) -> Iterator[Said]:
    """The file is empty, or holds only blank lines, comments or a header.

    Why: every query would count as 0. A failed job often leaves such a file.
    Example: a file of 0 bytes.
    """
    if facts.rows == 0 and facts.format != "unreadable":
        yield Said("there is no data: the file is empty, or holds only blank lines, comments or a header")


@rule(
    "RUN006",
    "file",
    "warning",
    "lines have more than six columns",
    fix="We read the first six, as trec_eval does. Remove the others, or find out whether a tag contains blanks.",
)
def extra_columns(facts: RunFacts) -> Iterator[Said]:
    """All lines have more than the six columns of a TREC run.

    Why: programs that split at blanks may take the last column for the tag, and pandas refuses the file.
    Example: 1 Q0 d3 1 9.5 sys extra
    """
    if facts.layout == ("query", "Q0", "doc", "rank", "score", "tag") and (facts.width or 0) > 6:
        yield Said(f"all lines have {facts.width} columns, of which the first six are read", facts.rows)


@rule(
    "RUN070",
    "file",
    "note",
    "the run is not in the six columns of TREC",
    fix="Convert it: assay runs convert RUN -o OUT.run --to trec.",
)
def not_trec(facts: RunFacts) -> Iterator[Said]:
    """The file is not in TREC's six columns.

    Why: we read it, but trec_eval and a TREC submission need query Q0 document rank score tag.
    Example: MS MARCO's three columns, JSON, CSV.
    """
    if facts.options.six_columns and facts.rows and (facts.format != "trec" or facts.width != 6):
        yield Said(f"the format is {facts.format}; TREC asks for six columns")


@rule("RUN060", "file", "warning", "{count} run tags in one file", fix="One run, one tag: were two files joined?")
def several_tags(facts: RunFacts) -> Iterator[Said]:
    """The last column is not the same in all lines.

    Why: a run has one tag; several mean that files were joined, or that a column is missing.
    Example: lines 1 to 1000 say bm25, the others dense.
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
    fix="trec_eval 9 keeps scores in 32 bits, where these are infinite and equal: rescale them.",
)
def beyond_float32(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """A score is larger than a 32-bit float can hold.

    Why: trec_eval 9 makes it infinite, so that all such documents are tied, and ordered by their ids.
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
    "{count} {document stands|documents stand} more than once in a query",
    fix="Re-run the generation so that each document is listed once. Chunks of the same document: collapse them first. "
    "--fix drops rows that are the same in all but the rank.",
)
def repeated_documents(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """A document stands more than once in the ranking of a query.

    Why: counted twice it makes recall greater than 1 in careless tools; trec_eval and we refuse it.
    Example: d3 at rank 1 and again at rank 6, as when passages are written with the id of their document.
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
            where = "" if place is None else f" in line {place}"
            found.append(
                rows.example(row, f"{rows.doc(row)} with score {rows.scores[row]:g}; before with {same}{where}")
            )
    return found


# Ranks


@rule(
    "RUN021",
    "query",
    "warning",
    "{count} {rank is|ranks are} not a whole number",
    fix="Ranks are 1, 2, 3 and so on. We rank by score, so that nothing depends on them here; other tools may go by them.",
)
def rank_no_number(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """The rank column holds something that is no whole number.

    Why: is it the column that we think it is? We and trec_eval rank by score; MS MARCO's script goes by the rank.
    Example: 1 Q0 d3 first 9.5 sys
    """
    if rows.ranks is None or None not in rows.ranks:
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
    "{count} {rank stands|ranks stand} more than once in a query",
    fix="Number the documents of each query 1, 2, 3 by falling score (--fix does it where the ranks agree with the scores).",
)
def repeated_ranks(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Two documents of a query have the same rank.

    Why: whoever goes by the rank has to guess which comes first. TREC refuses such a run.
    Example: ranks 1, 2, 2, 3.
    """
    if rows.ranks is None or len(set(rows.ranks)) == len(rows.ranks):
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
    "{count} {query's|queries'} ranks do not begin at 1",
    fix="Number them from 1 (--fix does it).",
)
def first_rank(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """The lowest rank of a query is not 1.

    Why: ranks that begin at 0 are common and make every cutoff by rank off by one; others mean that rows are missing.
    Example: ranks 0, 1, 2.
    """
    if rows.ranks is None or None in rows.ranks or rows.query in facts.damaged:
        return []
    lowest = min(rank for rank in rows.ranks if rank is not None)
    return [] if lowest == 1 else [rows.example(rows.ranks.index(lowest), f"the lowest rank is {lowest}")]


@rule(
    "RUN024",
    "query",
    "note",
    "{count} {query's|queries'} ranks have gaps",
    fix="Are rows missing? If not, number them anew (--fix does it).",
)
def rank_gaps(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """The ranks of a query are not consecutive.

    Why: a gap may be a row that was lost or filtered.
    Example: ranks 1, 2, 4.
    """
    if rows.ranks is None or None in rows.ranks or rows.query in facts.damaged:
        return []
    ranks = sorted({rank for rank in rows.ranks if rank is not None})
    if ranks[-1] - ranks[0] + 1 == len(ranks):
        return []
    gap = next(low + 1 for low, high in itertools.pairwise(ranks) if high != low + 1)
    behind = min(rank for rank in ranks if rank > gap)
    return [rows.example(rows.ranks.index(behind), f"there is no rank {gap}")]


@rule(
    "RUN025",
    "query",
    "warning",
    "{count} {query's|queries'} ranks contradict the scores",
    fix="Which order was meant? We and trec_eval go by the score; --order rank goes by the rank column. Write scores that "
    "fall with the rank.",
)
def rank_against_score(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """A document with a higher rank number has a higher score.

    Why: the file says two orders. Distances written as scores, or scores of another stage, look like this; tools differ
    in which they follow, so that the same file gets different figures.
    Example: rank 1 has score 5.5, rank 5 has 9.5.
    """
    if rows.ranks is None or not facts.has_scores or None in rows.ranks:
        return []
    if rows.ranks == sorted(rows.ranks) and rows.scores == sorted(rows.scores, reverse=True):  # type: ignore[type-var]
        return []  # as in most files, and quickly seen
    ranks = [rank or 0 for rank in rows.ranks]
    ordered = sorted(range(len(rows)), key=lambda row: (ranks[row], -rows.scores[row]))
    lowest = ordered[0]  # the row with the lowest score so far
    for row in ordered:
        if rows.scores[row] > rows.scores[lowest] and ranks[row] != ranks[lowest]:
            words = f"rank {ranks[row]} has score {rows.scores[row]:g}, rank {ranks[lowest]} {rows.scores[lowest]:g}"
            return [rows.example(row, words)]
        lowest = min(lowest, row, key=rows.scores.__getitem__)
    return []


# Ties


@rule(
    "RUN030",
    "file",
    "note",
    "{count} {query has|queries have} documents of equal score",
    fix="The order among them decides figures: break ties in the system, or report --ties expected.",
)
def ties(facts: RunFacts) -> Iterator[Said]:
    """Documents of a query share their score.

    Why: their order is a convention (ours and trec_eval's: document id, descending), so that figures may differ between
    tools. Where equal scores straddle a cutoff, even which documents count is arbitrary.
    Example: ranks 9 to 12 have the same score, and nDCG@10 depends on which two of them come first.
    """
    if facts.tied.count:
        across = [f"across rank {k} in {facts.straddling[k]:,}" for k in CUTOFFS if facts.straddling[k]]
        words = plural("{count} {query has|queries have} documents of equal score", facts.tied.count)
        yield Said(", ".join([words, *across]), facts.tied.count, tuple(facts.tied.examples))


def note_ties(rows: QueryRows, facts: RunFacts) -> None:
    """Count the ties of a query, and the cutoffs that they straddle."""
    distinct = len(set(rows.scores))
    if distinct == len(rows.scores) or not facts.has_scores:
        return
    ordered = sorted(rows.scores, reverse=True)
    across = [k for k in CUTOFFS if k < len(ordered) and ordered[k - 1] == ordered[k]]
    facts.straddling.update(across)
    words = plural("{count} {document shares|documents share} a score with one above", len(ordered) - distinct)
    if across:
        words += f", across rank {', '.join(map(str, across))}"
    facts.tied.add(FindingExample(words, rows.line(0), show_id(rows.query)))


@rule(
    "RUN031",
    "query",
    "note",
    "{count} {query has|queries have} scores that differ only beyond 32 bits",
    fix="trec_eval 9 takes them for ties and orders them by document id (`--scores float32` does the same).",
)
def float32_ties(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """Scores that are different become equal as 32-bit floats.

    Why: trec_eval 9 reads scores into 32 bits; its figures may then differ from ours and from trec_eval 10's.
    Example: 0.123456789 and 0.123456788.
    """
    if not facts.has_scores or len(rows.scores) < 2:
        return []
    import numpy as np

    with np.errstate(over="ignore"):
        narrow = np.asarray(rows.scores).astype(np.float32)
    lost = len(set(rows.scores)) - len(np.unique(narrow))
    return [FindingExample(f"{lost} fewer distinct scores", rows.line(0), show_id(rows.query))] if lost else []


@rule(
    "RUN032",
    "query",
    "warning",
    "{count} {query has|queries have} the same score for all documents",
    fix="Does the system score at all? Its order here is that of the document ids.",
)
def constant_scores(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """All documents of a query have the same score.

    Why: the ranking is then the order of the ids, which is no ranking. A scorer that failed, or a filter without
    scores, looks like this.
    Example: every score is 1.
    """
    if len(rows) < 2 or not facts.has_scores or len(set(rows.scores)) > 1:
        return []
    return [FindingExample(f"{len(rows)} documents with score {rows.scores[0]:g}", rows.line(0), show_id(rows.query))]


@rule(
    "RUN034",
    "file",
    "warning",
    "{count} queries have the same ranking as another one",
    fix="Does the system look at the query? Check the query format, and re-run the generation.",
)
def same_lists(facts: RunFacts) -> Iterator[Said]:
    """Different queries have exactly the same documents in the same order.

    Why: a cache with the wrong key, an empty query text or a popularity ranking answers all queries alike.
    Example: queries 51 and 57 list the same thousand documents.
    """
    groups = [queries for queries in facts.same_lists.values() if len(queries) > 1]
    if groups:
        count = sum(map(len, groups))
        shown = tuple(
            FindingExample(f"the same as {some_of(group[1:])}", None, show_id(group[0])) for group in groups[:SHOWN]
        )
        yield Said(f"{count:,} queries share their ranking with another one", count, shown)


# Depth


@rule(
    "RUN040",
    "query",
    "error",
    "{count} {query has|queries have} more documents than allowed",
    fix="Cut the run: the limit is on documents per query.",
)
def too_deep(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """A query has more documents than the limit that was asked for.

    Why: a submission that is deeper than the track allows is refused, or cut by others in their own way.
    Example: 1,000 documents where --max-depth is 100.
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
    fix="If that is not meant, mark the run as incomplete and document the coverage: recall at deeper cutoffs is capped.",
)
def shallow(facts: RunFacts) -> Iterator[Said]:
    """A query has far fewer documents than the others.

    Why: a filter, a timeout or a crash may have cut it; it counts as if nothing else were found.
    Example: most queries have 1,000 documents, this one 3.
    """
    if not facts.depths:
        return
    usual = median(facts.depths.values())
    few = {query: depth for query, depth in facts.depths.items() if depth < SHALLOW <= usual}
    if few:
        shown = tuple(
            FindingExample(f"{depth} of usually {usual:g} documents", None, show_id(query))
            for query, depth in list(few.items())[:SHOWN]
        )
        words = plural(
            f"{{count}} {{query has|queries have}} fewer than {SHALLOW} documents, the median is {usual:g}", len(few)
        )
        yield Said(words, len(few), shown)


# Queries and documents against judgments and topics


@rule(
    "RUN050",
    "file",
    "warning",
    "{count} judged {query is|queries are} missing from the run",
    fix="Re-run these queries; if they cannot be answered, mark the run as incomplete: they count as 0.",
)
def missing_judged(facts: RunFacts) -> Iterator[Said]:
    """Queries that have judgments are not in the run.

    Why: they count as 0 (trec_eval leaves them out unless it is told -c), so that the mean falls, or is over fewer
    queries than that of other runs.
    Example: 50 queries are judged, the run answers 43.
    """
    yield from lacking(facts.partners.judged, facts.queries, "judged {query is|queries are} missing from the run")


@rule(
    "RUN051",
    "file",
    "note",
    "{count} {query|queries} of the run {is|are} not judged",
    fix="They are left out of every mean.",
)
def not_judged(facts: RunFacts) -> Iterator[Said]:
    """Queries of the run have no judgments.

    Why: nothing can be said about them. Often the run is for another split than the judgments.
    Example: the run answers 6,980 queries, 43 are judged.
    """
    if facts.partners.qrels is not None:
        yield from lacking(
            facts.queries, frozenset(facts.partners.judged), "{query|queries} of the run {is|are} not judged"
        )


@rule(
    "RUN052",
    "file",
    "warning",
    "{count} {topic is|topics are} missing from the run",
    fix="Re-run these queries, or mark the run as incomplete and document the coverage.",
)
def missing_topics(facts: RunFacts) -> Iterator[Said]:
    """Queries of the topic file are not in the run.

    Why: a submission has to answer every topic.
    Example: topics.tsv has 105 queries, the run 104.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.partners.topics, facts.queries, "{topic is|topics are} missing from the run")


@rule(
    "RUN053",
    "file",
    "warning",
    "{count} {query|queries} of the run {is|are} in no topic",
    fix="Is it the right topic file?",
)
def unknown_topics(facts: RunFacts) -> Iterator[Said]:
    """Queries of the run are not in the topic file.

    Why: the run was made for other topics, or the ids are written in another way.
    Example: the run has query 151, the topics go to 150.
    """
    if facts.partners.topics is not None:
        yield from lacking(
            facts.queries, facts.partners.topics, "{query|queries} of the run {is|are} not among the topics"
        )


@rule(
    "RUN054",
    "file",
    "error",
    "{count} query {id matches|ids match} only when written in another way",
    fix="Write the ids of run, judgments and topics in the same way, and re-run the evaluation.",
)
def near_queries(facts: RunFacts) -> Iterator[Said]:
    """Query ids that others have too, but for blanks, letter case, leading zeros, a prefix or Unicode normalisation.

    Why: they are two ids to every evaluator; the query counts as 0 though it was answered.
    Example: 01 in the run, 1 in the judgments.
    """
    theirs = set(facts.partners.judged) | (facts.partners.topics or frozenset())
    matches = near_matches(sorted(facts.queries), theirs)
    yield from alike(matches, "query {id matches|ids match} only when written in another way")


@rule(
    "RUN055",
    "query",
    "warning",
    "{count} judged {document matches|documents match} a retrieved one only when written in another way",
    fix="Write document ids in the same way in run and judgments: as they are, these count as not retrieved.",
)
def near_documents(rows: QueryRows, facts: RunFacts) -> list[FindingExample]:
    """A judged document that the run seems to lack is there, written a little differently.

    Why: ids are compared byte by byte, so that a found document counts as missed.
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
            found.append(rows.example(row, f"{rows.doc(row)} here, {show_id(decoded(theirs))} judged: {words}"))
    return found


def _folded(doc: bytes) -> bytes:
    """A quick fold: most ids are plain ASCII, and there are many."""
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
    "run and judgments have no query in common",
    fix="Are these the judgments for this run? Compare the ids shown.",
)
def nothing_in_common(facts: RunFacts) -> Iterator[Said]:
    """No query of the run is judged.

    Why: every figure would be 0. The files belong to different collections, or write their ids differently.
    Example: the run has queries 1 to 50, the judgments 301 to 350.
    """
    if facts.partners.qrels is not None and facts.depths and not facts.queries & facts.partners.judged.keys():
        ours, theirs = sorted(facts.queries), sorted(facts.partners.judged)
        yield Said(f"run and judgments have no query in common: {some_of(ours)} here, {some_of(theirs)} there")


@rule(
    "RUN058",
    "file",
    "error",
    "a file to compare with cannot be used",
    fix="Look at it with `assay qrels validate`.",
)
def partner_unreadable(facts: RunFacts) -> Iterable[Said]:
    """The judgments or topics that were given cannot be read.

    Why: what they are needed for was not checked.
    Example: --qrels names a file that breaks off.
    """
    return ()  # seen where they are read


@rule(
    "RUN057",
    "file",
    "note",
    "documents at the top are not judged",
    fix="Mark the run as incomplete and document the coverage; bpref or judged-only measures help, judging the holes more.",
)
def unjudged_share(facts: RunFacts) -> Iterable[Said]:
    """How many of the documents at the top nobody has judged.

    Why: unjudged counts as not relevant. A system unlike those that the pool was made from looks worse than it is.
    Example: of the first ten documents of each query 40 % are not judged.
    """
    return ()  # found by the evaluation that validation runs; see validating.py


@rule(
    "RUN059",
    "file",
    "note",
    "the order of equal scores decides figures",
    fix="Break ties in the system, or report --ties expected.",
)
def tie_bounds(facts: RunFacts) -> Iterable[Said]:
    """The lowest and highest value that each measure could take under the ties of the run.

    Why: within these bounds the figure says how the ids are spelt, not how good the system is.
    Example: nDCG@10 from 0.4117 to 0.4391.
    """
    return ()  # found by the evaluation that validation runs; see validating.py


@rule(
    "RUN072",
    "file",
    "note",
    "the run is large and was not looked at line by line",
    fix="`assay runs validate RUN --qrels QRELS` looks at every line.",
)
def not_looked_at(facts: RunFacts) -> Iterable[Said]:
    """A report was written about a run that is too large to be validated on the way.

    Why: the evaluation read it without an error, so that its lines, numbers and ids are in order; what only a
    validation sees (ranks against scores, several tags, rankings that repeat) was not looked for.
    Example: seven million lines.
    """
    return ()  # said by validate_beside
