"""How to get the numbers of a page again: in a shell, and in Python."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from msgspec import Struct

from assay.report.interactive.fields import shortest
from assay.report.interactive.matching import same_documents
from assay.worked.lists import GradedList, TopicList

SINGLE = "q"  # the name of the query, where there is one
QRELS = "qrels.txt"
LIST = "list"  # the name of the run, where there is one
PAIR = ("a", "b")
NO_LIST = "# There is no list."
_LONGEST_ID = 60  # characters
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


def again(
    lists: Mapping[str, GradedList],
    measures: Sequence[str],
    names: Mapping[str, Sequence[str]] | None = None,
    title: str = "",
) -> Again:
    """How to compute these measures of the lists, which have a query each; `names` and `title` are as for `by_query`.

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
    example = by_query(lists, names, title)
    rankings = example.runs[LIST]
    if len(lists) == 1:
        (query,) = rankings
        arguments = (_ids(rankings[query]), _grades(example, query))
        python = f"assay.score({_lines_of(*arguments, names_of(measures))})"
    else:
        queries = ", ".join(f'"{query}": {_ids(docs)}' for query, docs in rankings.items())
        grades = ", ".join(f'"{query}": {_grades(example, query)}' for query in lists)
        python = f"assay.score_many({_lines_of(f'{{{queries}}}', f'{{{grades}}}', names_of(measures))}).mean()"
    return Again(_command(example, measures), f"import assay\n\n{python}")


def again_side_by_side(
    lists: Sequence[GradedList], measures: Sequence[str], names: Sequence[Sequence[str]] = (), title: str = ""
) -> Again:
    """How to compute these measures of two lists for the same query; `names` and `title` are as for `side_by_side`.

    >>> print(again_side_by_side([GradedList((1.0, 0.0)), GradedList((0.0, 1.0))], ["AP"]).python)
    import assay
    <BLANKLINE>
    grades = {"d1-1": 1, "d0-1": 0}
    for ranking in (["d1-1", "d0-1"], ["d0-1", "d1-1"]):
        print(assay.score(ranking, grades, ["AP"]))
    """
    example = side_by_side(lists, names, title)
    rankings = ", ".join(_ids(docs) for queries in example.runs.values() for docs in queries.values())
    return Again(
        _command(example, measures),
        f"import assay\n\ngrades = {_grades(example, id_from(title) or SINGLE)}\nfor ranking in ({rankings}):\n"
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


def by_query(
    lists: Mapping[str, GradedList], names: Mapping[str, Sequence[str]] | None = None, title: str = ""
) -> Example:
    """A run with a query for each list.

    Results have ids from their names, where they have some: else d1 is the first result. m1 is a judged document that the
    list misses. A single list may have a title, which gives its query a name.

    >>> by_query({"q": GradedList((3.0, 0.0))}, {"q": ["Rye bread", ""]}).runs
    {'list': {'q': ('Rye-bread', 'd2')}}
    """
    judgments, rankings = [], {}
    for key, ranked in lists.items():
        query = (id_from(title) or key) if len(lists) == 1 else key
        called = (names or {}).get(key) or [""] * len(ranked)
        taken: dict[str, int] = {}
        rankings[query] = tuple(
            _free(id_from(name) or f"d{number}", taken) for number, name in enumerate(called, start=1)
        )
        graded = zip(rankings[query], ranked.grades, strict=True)
        judgments += [Judgment(query, doc, grade) for doc, grade in graded if grade is not None]
        missed = (_free(doc, taken) for doc in _numbered("m", ranked.missed))
        judgments += [Judgment(query, doc, grade) for doc, grade in zip(missed, ranked.missed, strict=True)]
    return Example(tuple(judgments), {LIST: rankings})


def side_by_side(lists: Sequence[GradedList], names: Sequence[Sequence[str]] = (), title: str = "") -> Example:
    """A run for each list of the same query, judged against the same documents: see `same_documents`.

    Results have ids from their names, where they have some; else d3-1 is the first one of grade 3.

    >>> side_by_side([GradedList((3.0, None)), GradedList((3.0,))]).runs
    {'a': {'q': ('d3-1', 'a-1')}, 'b': {'q': ('d3-1',)}}
    >>> side_by_side([GradedList((3.0,), missed=(3.0,)), GradedList((3.0,), missed=(3.0,))], [["rye"], ["spelt"]]).runs
    {'a': {'q': ('rye',)}, 'b': {'q': ('spelt',)}}
    """
    called = names or [[""] * len(ranked) for ranked in lists]
    same = same_documents([ranked.grades for ranked in lists], called)
    name_elsewhere = {place: called[1][other] for other, place in same.items()}
    taken: dict[str, int] = {}
    ids: list[list[str]] = [[], []]
    for number, (run, ranked) in enumerate(zip(PAIR, lists, strict=True)):
        for place, (grade, name) in enumerate(zip(ranked.grades, called[number], strict=True)):
            if number == 1 and place in same:
                ids[1].append(ids[0][same[place]])
                continue
            named = id_from(name or ("" if number else name_elsewhere.get(place, "")))
            stem = named or (run if grade is None else f"d{shortest(grade)}")
            ids[number].append(_free(stem, taken, numbered=not named))
    grades = {
        doc: grade
        for docs, ranked in zip(ids, lists, strict=True)
        for doc, grade in zip(docs, ranked.grades, strict=True)
        if grade is not None
    }
    left = Counter((*lists[0].grades, *lists[0].missed)) - Counter(grades.values())  # the same for each list
    grades |= {
        _free(f"d{shortest(grade)}", taken, numbered=True): grade for grade in left.elements() if grade is not None
    }
    query = id_from(title) or SINGLE
    judgments = tuple(Judgment(query, doc, grade) for doc, grade in grades.items())
    return Example(judgments, {run: {query: tuple(docs)} for run, docs in zip(PAIR, ids, strict=True)})


def id_from(name: str) -> str:
    """A name as an id: letters, digits, dots and hyphens; empty if nothing is left of it.

    >>> id_from("Rye bread, 500 g"), id_from("$(rm -r /)"), id_from("...")
    ('Rye-bread-500-g', 'rm-r', '')
    """
    return re.sub(r"[^\w.]+", "-", name)[:_LONGEST_ID].strip("-._")


def _free(stem: str, taken: dict[str, int], *, numbered: bool = False) -> str:
    """An id that nobody has yet, taken from now on: this one, or the first free one with a number after it."""
    if not numbered and stem not in taken:
        taken[stem] = 1
        return stem
    for number in count(taken.get(stem, 0) + 1):
        doc = f"{stem}-{number}"
        if doc not in taken:
            break
    taken[stem], taken[doc] = number, 1
    return doc


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
