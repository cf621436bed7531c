"""Rules about judgments. Those about bytes, lines and numbers stand in text_rules.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.errors import show_id, some_of
from assay.validation.findings import SHOWN, FindingExample
from assay.validation.matching import near_matches, twins
from assay.validation.registry import Said, alike, lacking, rule
from assay.words import plural

if TYPE_CHECKING:
    from assay.validation.facts import QrelsFacts
    from assay.validation.reading import QueryRows

FEW_QUERIES = 50  # with fewer, differences between systems are mostly chance (Voorhees and Buckley 2002)
HUGE = 1000  # no scale that people judge on goes so far
ABOVE_INT = 2**31


# The file


@rule(
    "QRL001",
    "file",
    "error",
    "the file cannot be read as judgments",
    fix="Rebuild the qrels, and check that they are: four columns (query iteration document grade), or another of our "
    "formats.",
)
def unreadable(facts: QrelsFacts) -> Iterable[Said]:
    """The file holds no judgments that we read.

    Why: nothing can be scored with it. It may be an archive, binary data, damaged by a copy, or in a format of its own.
    Example: a run given for qrels; JSON that breaks off.
    """
    return ()  # seen by the reader


@rule("QRL002", "file", "error", "there is no data", fix="Rebuild the qrels.")
def empty(facts: QrelsFacts) -> Iterator[Said]:
    """The file is empty, or holds only blank lines, comments or a header.

    Why: nothing is relevant, and nothing can be measured.
    Example: a file of 0 bytes.
    """
    if facts.rows == 0 and facts.format != "unreadable":
        yield Said("there is no data: the file is empty, or holds only blank lines, comments or a header")


@rule(
    "QRL016",
    "file",
    "note",
    "{count} {line is a comment|lines are comments}",
    fix="trec_eval 9 takes them for data: remove them if the file goes there.",
)
def comments(facts: QrelsFacts) -> Iterator[Said]:
    """Lines that begin with '#'.

    Why: we leave them out, as trec_eval 10 does; trec_eval 9 reads them as judgments, or stops.
    Example: # NIST
    """
    if facts.comments:
        yield Said(plural("{count} {line is a comment|lines are comments}", facts.comments), facts.comments)


# Judgments


@rule(
    "QRL020",
    "query",
    "error",
    "{count} {document is|documents are} judged more than once for a query, alike",
    fix="Remove the repeats (--fix does).",
)
def repeated_judgments(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """The same judgment stands more than once.

    Why: a document would count twice among the relevant ones. trec_eval refuses it, other tools keep the last.
    Example: '1 0 d1 1' in lines 1 and 9.
    """
    return _repeats(rows, same=True)


@rule(
    "QRL021",
    "query",
    "error",
    "{count} {document has|documents have} conflicting judgments",
    fix="Decide which grade counts (the last assessor's, the majority's), rebuild the qrels, and write down how.",
)
def conflicting_judgments(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """A document has two grades for the same query.

    Why: which one counts depends on the tool, and so do the figures.
    Example: d1 has grade 1 in line 1 and grade 0 in line 9.
    """
    return _repeats(rows, same=False)


def _repeats(rows: QueryRows, *, same: bool) -> list[FindingExample]:
    if len(set(rows.docs)) == len(rows.docs):
        return []
    first: dict[tuple[bytes, bytes], int] = {}
    found = []
    for row, doc in enumerate(rows.docs):
        earlier = first.setdefault((doc, rows.iterations[row] if rows.iterations else b""), row)
        if earlier != row and (rows.scores[row] == rows.scores[earlier]) == same:
            place = rows.line(earlier)
            where = "before" if place is None else f"in line {place}"
            grades = f"grade {rows.scores[row]:g}, {rows.scores[earlier]:g} {where}"
            found.append(rows.example(row, f"{rows.doc(row)} with {grades}"))
    return found


@rule(
    "QRL022",
    "file",
    "note",
    "documents are judged by subtopic",
    fix="Use diversity measures (alpha_nDCG, ERR_IA); for others choose with --duplicates first or best.",
)
def subtopics(facts: QrelsFacts) -> Iterator[Said]:
    """The second column has several values: iterations, or subtopics of a diversity task.

    Why: ad hoc measures refuse a document that is judged for several subtopics; diversity measures need them.
    Example: 0 in some lines and 1 in others.
    """
    if len(facts.iterations) > 1:
        values = sorted(facts.iterations)
        yield Said(f"column 2 has {len(values):,} values ({some_of(values)}): iterations or subtopics")


# Grades


@rule(
    "QRL014",
    "value",
    "error",
    "{count} {grade is a letter|grades are letters}",
    fix="Say what each letter is worth: --grades E=3,S=2,C=1,I=0 (in Python: grades={'E': 3, ...}).",
)
def letter_grades(text: str) -> str | None:
    """A grade is a letter or a word.

    Why: what is worth how much is for you to say; ESCI's Exact, Substitute, Complement, Irrelevant are 3, 2, 1, 0.
    Example: E
    """
    word = text.isalpha() and text.casefold() not in {"nan", "inf", "infinity", "na", "null", "none"}
    return f"'{show_id(text)}'" if word else None


@rule(
    "QRL030",
    "query",
    "note",
    "{count} {grade is|grades are} negative",
    fix="They count as not relevant; TREC uses -1 and -2 for spam and the like.",
)
def negative_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """A grade is below 0.

    Why: it counts as judged and not relevant. Exponential gains must not be computed from it.
    Example: -2 for spam in the TREC Web track.
    """
    if not rows.scores or min(rows.scores) >= 0:
        return []
    return [rows.example(row, f"{rows.doc(row)} has grade {g:g}") for row, g in enumerate(rows.scores) if g < 0]


@rule(
    "QRL031",
    "query",
    "warning",
    "{count} {grade is|grades are} not a whole number",
    fix="trec_eval cuts them to whole numbers, so that 0.5 is 0: scale the grades, or say which tool was used.",
)
def fractional_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """A grade has a fraction.

    Why: we keep it, trec_eval cuts it; relevant is what reaches 1 (rel=1), so that 0.5 is not.
    Example: 1.9 counts 1.9 here and 1 in trec_eval.
    """
    if all(map(float.is_integer, rows.scores)):
        return []
    return [
        rows.example(row, f"{rows.doc(row)} has grade {g:g}") for row, g in enumerate(rows.scores) if not g.is_integer()
    ]


@rule(
    "QRL032",
    "query",
    "warning",
    "{count} {grade is|grades are} huge",
    fix="Is it the right column? No scale that people judge on goes over a few levels.",
)
def huge_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """A grade is so high that it can hardly be meant.

    Why: one such grade decides every graded measure; over 2**31 trec_eval reads another number.
    Example: 4294967297, which is a document number in the wrong column.
    """
    if not rows.scores or max(rows.scores) <= HUGE:
        return []
    return [
        rows.example(row, f"{rows.doc(row)} has grade {g:.0f}" + (", over 2**31" if g >= ABOVE_INT else ""))
        for row, g in enumerate(rows.scores)
        if g > HUGE
    ]


@rule(
    "QRL033",
    "file",
    "warning",
    "the scale of grades seems to be inverted",
    fix="Turn the grades round if a low one means better (Cranfield's codes do): assay takes higher for better.",
)
def inverted_scale(facts: QrelsFacts) -> Iterator[Said]:
    """The best grade is the most common one, and the more common the higher.

    Why: good documents are rare among those judged. Where nearly all have the top grade, 1 may mean the best and 4 the
    worst.
    Example: 1 twice, 2 ten times, 3 forty times, 4 two hundred times.
    """
    counts = [facts.scale[grade] for grade in sorted(facts.scale) if grade >= 0]
    if len(counts) >= 3 and counts == sorted(counts) and counts[-1] > sum(counts[:-1]) and counts[0] < counts[-1]:
        top = max(facts.scale)
        yield Said(
            f"{counts[-1]:,} of {sum(counts):,} judgments have the highest grade, {top:g}: is the scale inverted?"
        )


@rule("QRL034", "file", "note", "a grade of the scale is not used", fix="Check that no grade was lost in a conversion.")
def unused_grades(facts: QrelsFacts) -> Iterator[Said]:
    """Grades between the lowest and the highest are never given.

    Why: a level that got lost in a conversion changes every graded measure.
    Example: 0, 1 and 3, but never 2.
    """
    grades = [grade for grade in facts.scale if 0 <= grade <= HUGE and grade.is_integer()]
    unused = sorted(set(range(int(max(grades, default=0)) + 1)) - set(map(int, grades)) - {0})
    if unused and len(unused) <= 20:
        yield Said(f"no document has grade {', '.join(map(str, unused))}", len(unused))


@rule(
    "QRL035",
    "file",
    "note",
    "all judgments have the same grade",
    fix="Only relevant documents are listed, as in BEIR and MS MARCO: measures of judged documents (bpref, judged share) "
    "say nothing then.",
)
def one_grade(facts: QrelsFacts) -> Iterator[Said]:
    """Every judgment has the same grade.

    Why: nothing is known to be not relevant, so that unjudged and not relevant cannot be told apart.
    Example: MS MARCO lists one relevant passage for each query and nothing else.
    """
    if len(facts.scale) == 1 and facts.rows > 1:
        yield Said(f"all {facts.rows:,} judgments have grade {next(iter(facts.scale)):g}")


@rule(
    "QRL040",
    "file",
    "warning",
    "{count} {query has|queries have} no relevant document",
    fix="They count as 0 for every system. Leave them out on purpose (--undefined nan), or judge more documents.",
)
def nothing_relevant(facts: QrelsFacts) -> Iterator[Said]:
    """A judged query has no document of grade 1 or more.

    Why: no system can do well there. Tools differ: some count 0, some leave the query out.
    Example: all documents of query 2 have grade 0.
    """
    none = sorted(query for query, grades in facts.grades.items() if max(grades) < 1)
    if none:
        shown = tuple(
            FindingExample(f"{len(facts.grades[query])} judged", facts.first_line.get(query), show_id(query))
            for query in none[:SHOWN]
        )
        words = plural("{count} {query has|queries have} no relevant document", len(none))
        yield Said(f"{words}: {some_of(none)}", len(none), shown)


@rule(
    "QRL041",
    "file",
    "warning",
    f"fewer than {FEW_QUERIES} judged queries",
    fix=f"Judge more queries, or say how wide the intervals are: with fewer than {FEW_QUERIES} most differences are chance.",
)
def few_queries(facts: QrelsFacts) -> Iterator[Said]:
    """There are fewer than 50 judged queries.

    Why: means over few queries swing from one set of queries to the next; tracks use 50 and more for this reason.
    Example: 12 queries.
    """
    if 0 < len(facts.grades) < FEW_QUERIES:
        yield Said(
            plural(f"{{count}} judged {{query|queries}}: fewer than {FEW_QUERIES}", len(facts.grades)),
            len(facts.grades),
        )


# Ids


@rule(
    "QRL052",
    "file",
    "warning",
    "{count} {topic has|topics have} no judgments",
    fix="Judge them, or leave them out of the runs.",
)
def topics_without_judgments(facts: QrelsFacts) -> Iterator[Said]:
    """Queries of the topic file have no judgments.

    Why: they are left out of every mean.
    Example: topics.tsv has 200 queries, 43 are judged.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.partners.topics, facts.queries, "{topic has|topics have} no judgments")


@rule(
    "QRL053", "file", "warning", "{count} judged {query is|queries are} in no topic", fix="Is it the right topic file?"
)
def judged_without_topic(facts: QrelsFacts) -> Iterator[Said]:
    """Judged queries are not in the topic file.

    Why: no system can have answered them; they count as 0.
    Example: query 151 is judged, the topics go to 150.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.queries, facts.partners.topics, "judged {query is|queries are} not among the topics")


@rule(
    "QRL054",
    "file",
    "error",
    "{count} query {id matches|ids match} a topic only when written in another way",
    fix="Write the ids of topics and judgments in the same way.",
)
def near_topics(facts: QrelsFacts) -> Iterator[Said]:
    """Query ids that the topics have too, but for blanks, letter case, leading zeros, a prefix or normalisation.

    Why: they are two ids to every evaluator.
    Example: 01 in the qrels, 1 among the topics.
    """
    matches = near_matches(sorted(facts.queries), facts.partners.topics or frozenset())
    yield from alike(matches, "query {id matches|ids match} a topic only when written in another way")


@rule(
    "QRL055",
    "file",
    "warning",
    "{count} {pair of query ids is|pairs of query ids are} nearly the same",
    fix="If each pair is one query, write its id in one way and rebuild the qrels.",
)
def twin_queries(facts: QrelsFacts) -> Iterator[Said]:
    """Two query ids of the file differ only in blanks, letter case, leading zeros or Unicode normalisation.

    Why: the judgments of one query are spread over two, of which a run answers one.
    Example: 1 and 01.
    """
    words = "{pair of query ids is|pairs of query ids are} nearly the same"
    yield from alike(twins(facts.queries), words, "'{}' and '{}'")


@rule(
    "QRL058",
    "file",
    "error",
    "a file to compare with cannot be used",
    fix="Give the topics as TSV, JSONL or one id per line.",
)
def partner_unreadable(facts: QrelsFacts) -> Iterable[Said]:
    """The topics that were given cannot be read.

    Why: what they are needed for was not checked.
    Example: --queries names an empty file.
    """
    return ()  # seen where they are read
