"""How to get the numbers of a page again: in a shell, and in Python."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from msgspec import Struct

from assay.report.interactive.fields import shortest
from assay.worked.lists import GradedList, TopicList

SINGLE = "q"  # the name of the query, where there is one
QRELS = "qrels.txt"
LIST = "list"  # the name of the run, where there is one
PAIR = ("a", "b")
NO_LIST = "# There is no list."
EMPTY_LIST = "# An empty list cannot be a run file. The lines of Python give the numbers."


class Again(Struct, frozen=True):
    """A command and a program that give the same numbers."""

    command: str
    python: str


class Judgment(Struct, frozen=True):
    """A line of the judgments."""

    query: str
    doc: str
    grade: float
    subtopic: str = "0"


class Example(Struct, frozen=True):
    """Lists with ids: what people have in files."""

    judgments: tuple[Judgment, ...]
    runs: dict[str, dict[str, tuple[str, ...]]]  # by name of the run: the documents of each query, best first


def again(lists: Mapping[str, GradedList], measures: Sequence[str]) -> Again:
    """How to compute these measures of the lists, which have a query each.

    >>> print(again({"q": GradedList((3.0, 0.0), missed=(1.0,))}, ["nDCG@5", "AP"]).python)
    import assay
    <BLANKLINE>
    assay.score(
        ["d1", "d2"],
        {"d1": 3, "d2": 0, "m1": 1},
        ["nDCG@5", "AP"],
    )
    """
    if not lists:
        return Again(NO_LIST, NO_LIST)
    example = by_query(lists)
    rankings = example.runs[LIST]
    if len(lists) == 1:
        (query,) = lists
        arguments = (_ids(rankings[query]), _grades(example, query))
        python = f"assay.score({_lines_of(*arguments, names_of(measures))})"
    else:
        queries = ", ".join(f'"{query}": {_ids(docs)}' for query, docs in rankings.items())
        grades = ", ".join(f'"{query}": {_grades(example, query)}' for query in lists)
        python = f"assay.score_many({_lines_of(f'{{{queries}}}', f'{{{grades}}}', names_of(measures))}).mean()"
    return Again(_command(example, measures), f"import assay\n\n{python}")


def again_side_by_side(lists: Sequence[GradedList], measures: Sequence[str]) -> Again:
    """How to compute these measures of two lists for the same query.

    >>> print(again_side_by_side([GradedList((1.0, 0.0)), GradedList((0.0, 1.0))], ["AP"]).python)
    import assay
    <BLANKLINE>
    grades = {"d1-1": 1, "d0-1": 0}
    for ranking in (["d1-1", "d0-1"], ["d0-1", "d1-1"]):
        print(assay.score(ranking, grades, ["AP"]))
    """
    example = side_by_side(lists)
    rankings = ", ".join(_ids(queries[SINGLE]) for queries in example.runs.values())
    return Again(
        _command(example, measures),
        f"import assay\n\ngrades = {_grades(example, SINGLE)}\nfor ranking in ({rankings}):\n"
        f"    print(assay.score(ranking, grades, {names_of(measures)}))",
    )


def again_by_topics(ranked: TopicList, measures: Sequence[str]) -> Again:
    """How to compute these measures of a list given by subtopics: the second column of the judgments names them.

    >>> print(again_by_topics(TopicList((("1",), ())), ["StRecall@2"]).command)
    cat > qrels.txt <<'END'
    q 1 d1 1
    q 0 d2 0
    END
    cat > list.run <<'END'
    q Q0 d1 1 2 list
    q Q0 d2 2 1 list
    END
    assay evaluate qrels.txt list.run -m StRecall@2
    """
    docs = _numbered("d", ranked.covers)
    judged = [*zip(docs, ranked.covers, strict=True), *zip(_numbered("m", ranked.missed), ranked.missed, strict=True)]
    judgments = [
        Judgment(SINGLE, doc, float(bool(covers)), subtopic)
        for doc, covers in judged
        if covers is not None
        for subtopic in covers or ("0",)
    ]
    example = Example(tuple(judgments), {LIST: {SINGLE: docs}})
    unmatched = ', unmatched="zero"' if _is_unmatched(example) else ""
    python = f'import assay\n\nassay.evaluate("{QRELS}", "{LIST}.run", {names_of(measures)}{unmatched}).mean()'
    return Again(_command(example, measures), python)


def by_query(lists: Mapping[str, GradedList]) -> Example:
    """A run with a query for each list: d1 is the first result, m1 a judged document that the list misses."""
    judgments, rankings = [], {}
    for query, ranked in lists.items():
        rankings[query] = _numbered("d", ranked.grades)
        graded = zip(rankings[query], ranked.grades, strict=True)
        judgments += [Judgment(query, doc, grade) for doc, grade in graded if grade is not None]
        missed = zip(_numbered("m", ranked.missed), ranked.missed, strict=True)
        judgments += [Judgment(query, doc, grade) for doc, grade in missed]
    return Example(tuple(judgments), {LIST: rankings})


def side_by_side(lists: Sequence[GradedList]) -> Example:
    """A run for each list of the same query, judged against the same documents: d3-1 is the first one of grade 3.

    >>> side_by_side([GradedList((3.0, None)), GradedList((3.0,))]).runs
    {'a': {'q': ('d3-1', 'a-1')}, 'b': {'q': ('d3-1',)}}
    """
    judgments: dict[str, Judgment] = {}
    runs = {}
    for name, ranked in zip(PAIR, lists, strict=False):
        numbers: dict[str, count[int]] = {}
        docs = []
        for grade in (*ranked.grades, *ranked.missed):
            stem = name if grade is None else f"d{shortest(grade)}"
            doc = f"{stem}-{next(numbers.setdefault(stem, count(1)))}"
            docs.append(doc)
            if grade is not None:
                judgments[doc] = Judgment(SINGLE, doc, grade)
        runs[name] = {SINGLE: tuple(docs[: len(ranked)])}
    return Example(tuple(judgments.values()), runs)


def files_of(example: Example) -> dict[str, str]:
    r"""The files of trec_eval's format, by name: the judgments first.

    >>> list(files_of(by_query({"q": GradedList((3.0, None), missed=(1.0,))})).values())
    ['q 0 d1 3\nq 0 m1 1\n', 'q Q0 d1 1 2 list\nq Q0 d2 2 1 list\n']
    """
    judgments = [*example.judgments, *_for_unjudged(example)]
    qrels = [f"{each.query} {each.subtopic} {each.doc} {shortest(each.grade)}\n" for each in judgments]
    found = {QRELS: "".join(qrels)}
    for name, rankings in example.runs.items():
        lines = [
            f"{query} Q0 {doc} {rank} {len(docs) - rank + 1} {name}\n"
            for query, docs in rankings.items()
            for rank, doc in enumerate(docs, 1)
        ]
        found[f"{name}.run"] = "".join(lines)
    return found


def _for_unjudged(example: Example) -> list[Judgment]:
    """A judgment for each query that has none, of a document that nobody finds: without one, the query would not count."""
    judged = {each.query for each in example.judgments}
    queries = dict.fromkeys(query for rankings in example.runs.values() for query in rankings)
    return [Judgment(query, "none", 0.0) for query in queries if query not in judged]


def evaluating(example: Example, files: Iterable[str], measures: Iterable[str]) -> str:
    """The command that evaluates the files of an example, whatever they are called.

    >>> example = by_query({"q": GradedList((1.0,))})
    >>> print(evaluating(example, ["qrels.txt", "list.run"], ["AP", "nDCG(gain='exp')@5"]))
    assay evaluate qrels.txt list.run -m AP -m 'nDCG(gain='"'"'exp'"'"')@5'
    """
    options = [f"-m {shlex.quote(measure)}" for measure in measures]
    if _is_unmatched(example):
        options.append("--unmatched zero")
    return " ".join(["assay evaluate", *map(shlex.quote, files), *options])


def _is_unmatched(example: Example) -> bool:
    """Whether nothing that some run found is judged, which is otherwise taken for a mistake."""
    judged = {(each.query, each.doc) for each in example.judgments}
    found = [{(query, doc) for query, docs in rankings.items() for doc in docs} for rankings in example.runs.values()]
    return any(judged.isdisjoint(each) for each in found)


def names_of(measures: Iterable[str]) -> str:
    """Names of measures as a list of Python.

    >>> print(names_of(["AP", "P@5"]))
    ["AP", "P@5"]
    """
    return "[" + ", ".join(f'"{measure}"' for measure in measures) + "]"


def _command(example: Example, measures: Sequence[str]) -> str:
    files = files_of(example)
    if not all(files.values()):
        return EMPTY_LIST
    written = "".join(f"cat > {name} <<'END'\n{content}END\n" for name, content in files.items())
    return written + evaluating(example, files, measures)


def _numbered(letter: str, documents: Sequence[object]) -> tuple[str, ...]:
    return tuple(f"{letter}{number}" for number in range(1, len(documents) + 1))


def _ids(docs: Sequence[str]) -> str:
    return "[" + ", ".join(f'"{doc}"' for doc in docs) + "]"


def _grades(example: Example, query: str) -> str:
    pairs = (f'"{each.doc}": {shortest(each.grade)}' for each in example.judgments if each.query == query)
    return "{" + ", ".join(pairs) + "}"


def _lines_of(*arguments: str) -> str:
    return "\n" + "".join(f"    {argument},\n" for argument in arguments)
