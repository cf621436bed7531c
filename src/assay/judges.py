"""Several judgments of one document: which grade counts, and how far the judges agree. Does not read files."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.arrays import changes, starts
from assay.errors import DuplicateError, InputError, show_id, some_of
from assay.rules import Judges
from assay.tables import Floats, Integers, Qrels

SHOWN = 5  # judgments of a document to list in a message


class Agreement(Struct, frozen=True):
    """How far the judges agree about the documents that have several judgments. Documents are counted query by query."""

    documents: int  # judged
    several: int  # of these, with several judgments
    disputed: int  # of these, with different grades
    judgments: int  # of documents with several judgments
    equal_pairs: float  # share with the same grade, among all pairs of judgments of the same document
    alpha: float | None  # Krippendorff's, for ordinal grades; None if all these judgments have the same grade


class Merged(Struct, frozen=True, eq=False):
    """Qrels with one judgment per document, and how far the judges agreed."""

    qrels: Qrels
    agreement: Agreement | None  # None if no document has several judgments
    column_2_differs: bool = False  # between judgments of one document; the merged qrels have no such column


def merge_judges(qrels: Qrels, judges: Judges = "error", *, by_subtopic: bool = False) -> Merged:
    """The qrels with one judgment per query and document or, `by_subtopic`, per query, subtopic and document.

    A document stays where it was first judged. Of several grades equally frequent, `majority` takes the lowest.

    >>> qrels = Qrels.from_columns(["q", "q", "q", "q"], ["a", "b", "a", "a"], [2, 0, 0, 2])
    >>> [merge_judges(qrels, judges).qrels.rel.tolist() for judges in ("best", "median", "majority")]
    [[2.0, 0.0], [2.0, 0.0], [2.0, 0.0]]
    >>> merge_judges(qrels, "mean").agreement.equal_pairs  # 1 of 3 pairs
    0.3333333333333333
    """
    if not isinstance(qrels, Qrels):
        raise InputError(f"expected Qrels, as from assay.read_qrels, not a value of type {type(qrels).__name__}.")
    document, first = _documents(qrels, by_subtopic)
    if len(first) == len(qrels):
        return Merged(qrels, None)
    if judges == "error":
        raise _error(qrels, document, first, by_subtopic)
    differs = qrels.iteration is not None and bool((qrels.iteration != qrels.iteration[first[document]]).any())
    merged = replace(
        qrels,
        query=qrels.query[first],
        doc=qrels.doc[first],
        rel=qrels.rel[first] if judges == "first" else _grades(qrels.rel, document, judges),
        iteration=None if qrels.iteration is None or differs else qrels.iteration[first],
        lines=None,
    )
    return Merged(merged, agreement_of(qrels.rel, document), differs)


def agreement_of(grade: Floats, document: Integers) -> Agreement:
    """How far judges agree; `document` is the number of the document that each grade is for, from 0.

    >>> found = agreement_of(np.array([1.0, 0.0, 2.0, 2.0, 1.0]), np.array([0, 0, 1, 1, 2]))
    >>> found.several, found.disputed, found.equal_pairs, round(found.alpha, 4)
    (2, 1, 0.5, 0.8333)
    """
    count = np.bincount(document)
    several = count[count > 1]
    again = count[document] > 1
    document, grade = _renumbered(document[again]), grade[again]
    order = np.lexsort((grade, document))
    document, grade = document[order], grade[order]
    begin, size = _equal_grades(document, grade)
    pairs = int((several * (several - 1)).sum())
    return Agreement(
        documents=len(count),
        several=len(several),
        disputed=int(np.count_nonzero(np.bincount(document[begin]) > 1)),
        judgments=len(grade),
        equal_pairs=int((size * (size - 1)).sum()) / pairs if pairs else 1.0,
        alpha=ordinal_alpha(grade, document),
    )


def ordinal_alpha(grade: Floats, document: Integers) -> float | None:
    """Krippendorff's alpha for ordinal grades of documents that all have several.

    The ordinal distance of two grades is the difference of their mid-ranks, so this is the interval alpha of the
    mid-ranks. Summed over all pairs, squared differences are variances, so no pair has to be formed (Krippendorff 2011,
    Computing Krippendorff's alpha-reliability).
    """
    _, place, number = np.unique(grade, return_inverse=True, return_counts=True)
    return interval_alpha((np.cumsum(number) - number / 2)[place], document)


def interval_alpha(value: Floats, document: Integers) -> float | None:
    """Krippendorff's alpha for values whose differences count, of documents that all have several."""
    total = float(np.square(value - value.mean()).sum()) if len(value) else 0.0
    if not total:
        return None
    count = np.bincount(document)
    mean = np.bincount(document, value) / count
    within = np.bincount(document, np.square(value - mean[document]))
    n = len(value)
    return 1 - (n - 1) / n * float((within * count / (count - 1)).sum()) / total


def _documents(qrels: Qrels, by_subtopic: bool) -> tuple[Integers, Integers]:
    """For each judgment the number of its document, from 0 by first occurrence; for each document its first row."""
    key = qrels.query
    for column in (qrels.doc, qrels.iteration if by_subtopic else None):
        if column is not None:
            code: dict[str, int] = {}
            codes = np.fromiter((code.setdefault(text, len(code)) for text in column), np.int64, len(qrels))
            key = _renumbered(key * max(len(code), 1) + codes)  # small again, so the next product cannot overflow
    _, first, document = np.unique(key, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty(len(first), np.int64)
    number[order] = np.arange(len(first))
    return number[document], first[order]


def _renumbered(numbers: Integers) -> Integers:
    return np.unique(numbers, return_inverse=True)[1].astype(np.int64)


def _grades(grade: Floats, document: Integers, judges: Judges) -> Floats:
    """The grade of each document; computed from sorted grades, so the order of judges does not change a bit."""
    grade = grade[np.lexsort((grade, document))]
    count = np.bincount(document)
    document = np.repeat(np.arange(len(count)), count)
    start = starts(count)[:-1]
    lowest: Floats = grade[start]
    highest: Floats = grade[start + count - 1]
    if judges == "best":
        return highest
    if judges == "mean":  # rounding must not put it outside the grades: 0.1, 0.1 and 0.1 have the mean 0.1
        mean: Floats = np.minimum(np.maximum(np.bincount(document, grade) / count, lowest), highest)
        return mean
    if judges == "median":
        median: Floats = grade[start + (count - 1) // 2] / 2 + grade[start + count // 2] / 2
        return median
    begin, size = _equal_grades(document, grade)
    most_frequent_first = np.lexsort((grade[begin], -size, document[begin]))
    return grade[begin[most_frequent_first[changes(document[begin])]]]


def _equal_grades(document: Integers, grade: Floats) -> tuple[Integers, Integers]:
    """Where the equal grades of a document begin, and how many there are; both columns are sorted."""
    begin = np.flatnonzero(changes(document) | changes(grade))
    return begin, np.diff(np.append(begin, len(grade)))


def _error(qrels: Qrels, document: Integers, first: Integers, by_subtopic: bool) -> DuplicateError:
    """The error for documents with several judgments: the first of them, how many there are, and what to do."""
    repeated = np.flatnonzero(first[document] != np.arange(len(qrels)))
    pairs = [(qrels.queries[qrels.query[row]], str(qrels.doc[row])) for row in repeated.tolist()]
    rows = np.flatnonzero(document == document[repeated[0]]).tolist()
    found = agreement_of(qrels.rel, document)
    return DuplicateError(
        " ".join(_sentences(qrels, rows, found, by_subtopic)),
        pairs=pairs,
        source=qrels.source,
        line=None if qrels.lines is None else int(qrels.lines[rows[1]]),
    )


def _sentences(qrels: Qrels, rows: list[int], found: Agreement, by_subtopic: bool) -> Iterator[str]:
    query, doc = show_id(qrels.queries[qrels.query[rows[0]]]), show_id(str(qrels.doc[rows[0]]))
    times = "twice" if len(rows) == 2 else f"{len(rows):,} times"
    column_2 = [] if qrels.iteration is None else list(dict.fromkeys(map(str, qrels.iteration[rows])))
    subtopic = f", subtopic {show_id(column_2[0])}" if by_subtopic and column_2 else ""
    yield f"document {doc} is judged {times} for query {query}{subtopic}, with {_listed(qrels, rows)}."
    if found.several > 1:
        disputed = f"{found.disputed:,} of them" if found.disputed else "never"
        yield f"In all, {found.several:,} documents have several judgments, {disputed} with different grades."
    if len(column_2) > 1:
        yield f"Column 2 differs ({some_of(column_2)}); if it holds subtopics, use measures such as alpha_nDCG."
    if found.disputed:
        yield "Choose which grade counts: `Rules(judges='mean')`, median, majority, best or first."
    else:
        yield "Remove the repeated rows, or keep the first (`Rules(judges='first')`)."


def _listed(qrels: Qrels, rows: list[int]) -> str:
    """'grades 2, 0 (lines 1, 4)', or 'grade 1 each time (lines 1, 4)'."""
    grades = [f"{grade:g}" for grade in qrels.rel[rows].tolist()]
    numbers = [] if qrels.lines is None else list(dict.fromkeys(str(qrels.lines[row]) for row in rows))
    lines = f" (lines {_first_few(numbers)})" if len(numbers) > 1 else ""  # JSON may be on one line
    if len(set(qrels.rel[rows].tolist())) == 1:
        return f"grade {grades[0]} each time{lines}"
    return f"grades {_first_few(grades)}{lines}"


def _first_few(items: list[str]) -> str:
    more = f" and {len(items) - SHOWN:,} more" if len(items) > SHOWN else ""
    return ", ".join(items[:SHOWN]) + more
