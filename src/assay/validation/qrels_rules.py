"""Rules about judgments. Rules about bytes, lines and numbers are in text_rules.py."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from assay.errors import show_id, some_of
from assay.validation.causes import by_cause
from assay.validation.findings import SHOWN, FindingExample
from assay.validation.matching import twins
from assay.validation.registry import Said, alike, examples_of, lacking, rule
from assay.words import plural

if TYPE_CHECKING:
    from assay.validation.facts import QrelsFacts
    from assay.validation.reading import QueryRows

FEW_QUERIES = 50  # with fewer, differences between systems are mostly chance (Voorhees and Buckley 2002)
HUGE = 1000  # far above any grading scale
ABOVE_INT = 2**31


# The file


@rule(
    "QRL001",
    "file",
    "error",
    "the file cannot be read as judgments",
    fix="Check that the file contains judgments: four columns (query iteration document grade) or another supported "
    "format. If it is damaged, rebuild it.",
)
def unreadable(facts: QrelsFacts) -> Iterable[Said]:
    """Not readable as judgments.

    Why: Nothing can be scored with it. It may be an archive, binary data, a damaged copy, or in an unsupported format.
    Example: A run given as qrels; truncated JSON.
    """
    return ()  # reported by the reader


@rule("QRL002", "file", "error", "the file contains no data", fix="Rebuild the qrels.")
def empty(facts: QrelsFacts) -> Iterator[Said]:
    """Empty file.

    Why: Without judgments nothing can be measured.
    Example: A file of 0 bytes.
    """
    if facts.rows == 0 and facts.format != "unreadable":
        yield Said("the file contains no data: it is empty, or has only blank lines, comments or a header")


@rule(
    "QRL016",
    "file",
    "note",
    "{count} {line is a comment|lines are comments}",
    fix="Remove them if you also use trec_eval 9, which reads them as data.",
)
def comments(facts: QrelsFacts) -> Iterator[Said]:
    """Comment lines.

    Why: Lines that start with '#' are ignored here and by trec_eval 10. trec_eval 9 reads them as judgments, or stops.
    Example: # NIST
    """
    if facts.comments:
        yield Said(count=facts.comments)


# Judgments


@rule(
    "QRL020",
    "query",
    "error",
    "{count} {judgment repeats|judgments repeat} an earlier one with the same grade",
    fix="If several people judged, keep them and choose which grade counts with --judges. If the rows are copies, remove "
    "them: --fix OUT --policy duplicates=first.",
    least=2,
)
def repeated_judgments(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """Duplicate judgment.

    Why: A relevant document would count twice. trec_eval rejects the file; other tools keep the last judgment.
    Example: '1 0 d1 1' in lines 1 and 9.
    """
    return _repeats(rows, same=True)


@rule(
    "QRL021",
    "query",
    "error",
    "{count} {document has|documents have} conflicting judgments",
    fix="Choose which grade counts: --judges mean, median, majority, best or first, for an evaluation or for good "
    "(`assay qrels convert`). `assay qrels info` shows how far the judges agree.",
    least=2,
)
def conflicting_judgments(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """Conflicting judgments.

    Why: The document has several grades for the same query, often from several judges. Tools differ in which one they
    use.
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
            where = "earlier" if place is None else f"in line {place}"
            grades = f"grade {rows.scores[row]:g}; {where} with grade {rows.scores[earlier]:g}"
            found.append(rows.example(row, f"{rows.doc(row)} with {grades}"))
    return found


@rule(
    "QRL022",
    "file",
    "note",
    "documents are judged by subtopic, or by several judges",
    fix="For subtopics, use diversity measures (alpha_nDCG, ERR_IA). For other measures, choose which of several grades "
    "of a document counts: --judges best, for example.",
)
def subtopics(facts: QrelsFacts) -> Iterator[Said]:
    """Several iterations, subtopics or judges.

    Why: Ad hoc measures reject a document that is judged for several subtopics or by several judges; diversity measures
    need the judgments by subtopic.
    Example: Column 2 is 0 in some lines and 1 in others.
    """
    if len(facts.iterations) > 1:
        values = sorted(facts.iterations)
        yield Said(f"column 2 has {len(values):,} values ({some_of(values)}): iterations, subtopics or judges")


# Grades


@rule(
    "QRL014",
    "value",
    "error",
    "{count} {grade is a letter|grades are letters}",
    fix="Give each letter a value: --grades E=3,S=2,C=1,I=0 (in Python: grades={'E': 3, ...}).",
)
def letter_grades(text: str) -> str | None:
    """Letter grade.

    Why: You decide what each letter is worth. ESCI's Exact, Substitute, Complement and Irrelevant are 3, 2, 1 and 0.
    Example: E
    """
    word = text.isalpha() and text.casefold() not in {"nan", "inf", "infinity", "na", "null", "none"}
    return f"'{show_id(text)}'" if word else None


@rule(
    "QRL030",
    "query",
    "note",
    "{count} {grade is|grades are} negative",
    fix="Nothing to do: negative grades count as not relevant. TREC uses -1 and -2 for spam and the like. For tools that "
    "cannot read them, --fix OUT --policy grades=clip writes 0.",
)
def negative_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """Negative grade.

    Why: It counts as judged and not relevant. Exponential gains must not be computed from it.
    Example: -2 for spam in the TREC Web track.
    """
    if not rows.scores or min(rows.scores) >= 0:
        return []
    return [rows.example(row, f"{rows.doc(row)} has grade {g:g}") for row, g in enumerate(rows.scores) if g < 0]


@rule(
    "QRL031",
    "query",
    "warning",
    "{count} {grade is not a whole number|grades are not whole numbers}",
    fix="Scale the grades to whole numbers, or report which tool was used: trec_eval truncates them, so 0.5 becomes 0.",
)
def fractional_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """Fractional grade.

    Why: assay keeps the fraction, trec_eval truncates it. A document is relevant from grade 1 on (rel=1), so 0.5 is not
    relevant.
    Example: 1.9 counts as 1.9 here and as 1 in trec_eval.
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
    "{count} {grade is|grades are} unusually high",
    fix="Check that the grades come from the right column: judging scales have only a few levels.",
)
def huge_grades(rows: QueryRows, facts: QrelsFacts) -> list[FindingExample]:
    """Unusually high grade.

    Why: One such grade dominates every graded measure. From 2**31 on, trec_eval reads a different number.
    Example: 4294967297, a document number in the wrong column.
    """
    if not rows.scores or max(rows.scores) <= HUGE:
        return []
    return [
        rows.example(row, f"{rows.doc(row)} has grade {g:.0f}" + (", above 2**31" if g >= ABOVE_INT else ""))
        for row, g in enumerate(rows.scores)
        if g > HUGE
    ]


@rule(
    "QRL033",
    "file",
    "warning",
    "the grading scale may be inverted",
    fix="Reverse the grades if a low one means better, as in Cranfield: assay treats higher grades as better.",
)
def inverted_scale(facts: QrelsFacts) -> Iterator[Said]:
    """Scale may be inverted.

    Why: Good documents are usually rare among those judged. If most have the top grade, 1 may mean the best and 4 the
    worst.
    Example: Grade 1 twice, 2 ten times, 3 forty times, 4 two hundred times.
    """
    counts = [facts.scale[grade] for grade in sorted(facts.scale) if grade >= 0]
    if len(counts) >= 3 and counts == sorted(counts) and counts[-1] > sum(counts[:-1]) and counts[0] < counts[-1]:
        top = max(facts.scale)
        yield Said(
            f"{counts[-1]:,} of {sum(counts):,} judgments have the highest grade, {top:g}; the scale may be inverted"
        )


@rule("QRL034", "file", "note", "a grade is never used", fix="Check that no grade was lost in a conversion.")
def unused_grades(facts: QrelsFacts) -> Iterator[Said]:
    """Unused grade.

    Why: A level that was lost in a conversion changes every graded measure.
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
    fix="If the file lists only relevant documents, as in BEIR and MS MARCO, do not use measures that depend on "
    "judged documents (bpref, judged share).",
)
def one_grade(facts: QrelsFacts) -> Iterator[Said]:
    """Only one grade.

    Why: No document is known to be non-relevant, so unjudged and non-relevant documents look the same.
    Example: MS MARCO lists one relevant passage for each query and nothing else.
    """
    if len(facts.scale) == 1 and facts.rows > 1:
        yield Said(f"all {facts.rows:,} judgments have grade {next(iter(facts.scale)):g}")


@rule(
    "QRL036",
    "file",
    "note",
    "no grade is below 1, so every judged document counts as relevant",
    fix="If the lowest grades mean not relevant, as on a scale of 1 to 5 stars, say from which grade a document is "
    "relevant, as in AP(rel=4), and subtract the lowest grade from all, so that it gains nothing in nDCG. If the file lists "
    "only relevant documents, there is nothing to do.",
)
def scale_without_zero(facts: QrelsFacts) -> Iterator[Said]:
    """No grade below 1.

    Why: A document counts as relevant from grade 1 on. On a scale of stars that includes the worst ones.
    Example: Grades from 1 to 5, where 1 means useless.
    """
    if len(facts.scale) >= 3 and min(facts.scale) >= 1:
        low, high = min(facts.scale), max(facts.scale)
        yield Said(f"the grades go from {low:g} to {high:g}, so every judged document counts as relevant")


@rule(
    "QRL040",
    "file",
    "warning",
    "{count} {query has|queries have} no relevant document",
    fix="Exclude these queries with --undefined nan, or judge more documents: they count as 0 for every system.",
)
def nothing_relevant(facts: QrelsFacts) -> Iterator[Said]:
    """No relevant document.

    Why: No document of the query has grade 1 or more, so no system can do well. Some tools skip such queries.
    Example: All documents of query 2 have grade 0.
    """
    none = sorted(query for query, grades in facts.grades.items() if max(grades) < 1)
    if none:
        shown = tuple(
            FindingExample(f"{len(facts.grades[query])} judged", facts.first_line.get(query), show_id(query))
            for query in none[:SHOWN]
        )
        yield Said(count=len(none), examples=shown, detail=f": {some_of(none)}")


@rule(
    "QRL041",
    "file",
    "warning",
    f"fewer than {FEW_QUERIES} judged queries",
    fix="Judge more queries, or report confidence intervals: "
    f"with fewer than {FEW_QUERIES} queries, most differences are due to chance.",
)
def few_queries(facts: QrelsFacts) -> Iterator[Said]:
    """Fewer than 50 judged queries.

    Why: Means over few queries vary a lot from one set of queries to the next. Tracks use 50 or more for this reason.
    Example: 12 queries.
    """
    if 0 < len(facts.grades) < FEW_QUERIES:
        words = f"only {{count}} judged {{query|queries}}; {FEW_QUERIES} or more are recommended"
        yield Said(plural(words, len(facts.grades)), len(facts.grades))


# Ids


@rule(
    "QRL052",
    "file",
    "warning",
    "{count} {topic has|topics have} no judgments",
    fix="Judge these topics, or leave them out of the runs.",
)
def topics_without_judgments(facts: QrelsFacts) -> Iterator[Said]:
    """Topic without judgments.

    Why: It is left out of every mean.
    Example: topics.tsv has 200 queries; 43 are judged.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.beside_topics.missing)


@rule(
    "QRL053", "file", "warning", "{count} judged {query is|queries are} not in the topics", fix="Check the topic file."
)
def judged_without_topic(facts: QrelsFacts) -> Iterator[Said]:
    """Judged query not in the topics.

    Why: No system can have answered it, so it counts as 0.
    Example: Query 151 is judged; the topics end at 150.
    """
    if facts.partners.topics is not None:
        yield from lacking(facts.beside_topics.extra)


@rule(
    "QRL054",
    "file",
    "error",
    "{count} query {id|ids} would match a topic if written the same way",
    fix="Write query ids the same way in the topics and the judgments. --fix OUT with --policy ids=strip-zeros, "
    "ids=strip-prefix=X or ids=lower rewrites them.",
)
def near_topics(facts: QrelsFacts) -> Iterator[Said]:
    """Query id written differently.

    Why: Ids are compared exactly. These differ only in spaces, case, leading zeros, a prefix or normalisation.
    Example: 01 in the qrels, 1 in the topics.
    """
    explains = facts.beside_topics.explained("QRL052", "QRL053")
    for remedy, matches in by_cause(facts.beside_topics.matches):
        yield alike(matches, remedy, remedy.fix("qrels", None), explains)
        explains = []  # by the most frequent cause


@rule(
    "QRL055",
    "file",
    "warning",
    "{count} {pair|pairs} of query ids {is|are} nearly identical",
    fix="If a pair is one query, use one id for it and rebuild the qrels.",
)
def twin_queries(facts: QrelsFacts) -> Iterator[Said]:
    """Nearly identical query ids.

    Why: The judgments of one query may be split over two ids, of which a run answers only one. The ids differ only in
    spaces, letter case, leading zeros or Unicode normalisation.
    Example: 1 and 01.
    """
    matches = twins(facts.queries)
    if matches:
        yield Said(count=len(matches), examples=examples_of(matches, "'{}' and '{}'"))


@rule(
    "QRL058",
    "file",
    "error",
    "the topics cannot be used",
    fix="Give the topics as TSV, JSONL, TREC topics or one id per line.",
)
def partner_unreadable(facts: QrelsFacts) -> Iterable[Said]:
    """Unusable topics.

    Why: Checks that need this file were skipped.
    Example: --queries names an empty file.
    """
    return ()  # reported where they are read
