"""Modes that stand on others: rerankers, run files, and what they keep. The rerankers here are small enough to foresee."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import ClassVar

import numpy as np
import pytest
from msgspec import Struct

from assay.benchmark.planning import plan_modes
from assay.benchmark.preparing import prepare
from assay.benchmark.recipe import parse_recipe, read_recipe
from assay.benchmark.running import run_benchmark
from assay.errors import InputError, RetrievalError
from assay.formats import read_run
from assay.heads import Recall
from assay.inputs.documents import Document
from assay.journal import Journal
from assay.retrieval.base import KINDS, reranker
from assay.retrieval.nodes import Answer, Ranking, rankings_of, reordered
from assay.retrieval.observing import Observed
from assay.retrieval.reranking import Reranked, Work, by_score, falling
from assay.retrieval.texts import open_texts
from assay.tables import Run
from benchmark.collection import QUERIES, documents, write_kitchen

pytest.importorskip("tantivy")
pytest.importorskip("bm25s")

ASKED: list[str] = []  # the queries that the reranker below was asked, in order


class Shortest(Struct, frozen=True):
    """Puts short documents first."""

    name: ClassVar[str] = "shortest"
    deterministic: ClassVar[bool] = True

    fails_at: str = ""  # a query text

    @property
    def settings(self) -> Mapping[str, object]:
        return {"engine": "shortest"}

    @contextmanager
    def open(self) -> Iterator[Shortest]:
        yield self

    def rerank(self, query: str, documents: Sequence[Document]) -> Reranked:
        if query == self.fails_at:
            raise RetrievalError("the reranker broke.")
        ASKED.append(query)
        return by_score([-len(each.whole) for each in documents], Work(documents=len(documents)))


@pytest.fixture(autouse=True)
def shortest(monkeypatch):
    ASKED.clear()
    monkeypatch.setattr("assay.retrieval.base.KINDS", KINDS)
    reranker("short documents first")(Shortest)
    yield
    del KINDS["shortest"]


@pytest.fixture(autouse=True)
def plain_pages(monkeypatch):
    for files in ("evaluation_files", "benchmark_files"):
        monkeypatch.setattr(f"assay.benchmark.running.{files}", lambda report, details=None: {})


STAGES = """\
collection = "kitchen"
modes = ["lexical", "first", "second"]
measures = ["nDCG@10"]
repeats = 2

[[mode]]
name = "first"
kind = "shortest"
of = "lexical"
top = 3

[[mode]]
name = "second"
kind = "shortest"
of = "first"
top = 2
"""


def kitchen(folder, recipe=STAGES):
    path = write_kitchen(folder)
    path.write_text(recipe)
    return path


def run(recipe, folder):
    return run_benchmark(prepare(read_recipe(recipe)), folder)


def ranking(folder, mode, query):
    return rankings_of(read_run(folder / f"runs/{mode}.run"))[query].docs


def length(doc):
    return len(Document(doc, *reversed(documents()[doc])).whole)


# Rerankers


def test_a_reranker_orders_the_top_and_leaves_the_rest_beneath(tmp_path):
    run(kitchen(tmp_path), tmp_path / "out")

    for query in QUERIES:
        found, first = (ranking(tmp_path / "out", mode, query) for mode in ("lexical", "first"))
        assert sorted(found[:3], key=length) == first[:3]  # sorted() is stable, as the reranker is
        assert found[3:] == first[3:]


def test_a_reranker_may_stand_on_another(tmp_path):
    run(kitchen(tmp_path), tmp_path / "out")

    first, second = (ranking(tmp_path / "out", mode, "q1") for mode in ("first", "second"))
    assert (sorted(first[:2], key=length), first[2:]) == (second[:2], second[2:])


def test_every_tool_reads_the_same_order_from_the_scores(tmp_path):
    run(kitchen(tmp_path), tmp_path / "out")

    scores = read_run(tmp_path / "out/runs/second.run")
    for number in range(len(scores.queries)):
        assert (np.diff(scores.score[scores.query == number].astype(np.float32)) < 0).all()


def test_time_is_that_of_the_modes_below_too_and_work_is_counted(tmp_path):
    report = run(kitchen(tmp_path), tmp_path / "out")

    times = report.timing
    assert (False, True, True) == tuple(times[mode].once for mode in ("lexical", "first", "second"))
    assert times["lexical"].milliseconds < times["first"].milliseconds < times["second"].milliseconds
    assert times["first"].own < times["first"].milliseconds
    works = {mode.name: mode.work for mode in report.modes}
    assert (None, 3 * len(QUERIES), 2 * len(QUERIES)) == (
        works["lexical"],
        works["first"].documents,
        works["second"].documents,
    )
    assert [(), ("lexical",), ("first",)] == [mode.inputs for mode in report.modes]


def test_after_an_error_no_query_is_asked_again(tmp_path):
    recipe = kitchen(tmp_path, STAGES.replace("top = 3", f'top = 3\nfails_at = "{QUERIES["q3"]}"'))
    with pytest.raises(RetrievalError, match="broke"):
        run(recipe, tmp_path / "out")
    before = list(ASKED)
    recipe.write_text(STAGES)
    run(recipe, tmp_path / "out")

    assert 0 < len(before) < len(QUERIES)
    assert len(set(ASKED)) * 2 == len(ASKED)  # by the first and by the second mode, once each


def test_more_queries_to_search_or_more_depth_ask_only_what_is_new(tmp_path):
    recipe = kitchen(tmp_path)
    run(recipe, tmp_path / "out")
    ASKED.clear()
    recipe.write_text(STAGES.replace("repeats = 2", "depth = 20"))  # the first three stay the same
    run(recipe, tmp_path / "out")

    assert [] == ASKED


def test_a_reranker_stands_on_the_mode_before_it_unless_it_says_otherwise():
    planned = plan_modes(parse_recipe('modes = ["bm25s", "lexical", "shortest"]'))

    assert {"bm25s": (), "lexical": (), "shortest": ("lexical",)} == {
        mode.name: mode.node.inputs for mode in planned.modes
    }


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        ('modes = ["shortest"]', "mode 'shortest': of cannot be None; name the mode whose documents are reranked"),
        (
            '[[mode]]\nname = "a"\nkind = "shortest"\nof = "lexica"',
            "r.toml:4: mode 'a': of: no mode called 'lexica'; did you mean 'lexical'?",
        ),
        (
            '[[mode]]\nname = "a"\nkind = "shortest"\nof = "lexical"\ntop = 0',
            "r.toml:5: mode 'a': top cannot be 0; it takes a whole number of at least 1.",
        ),
        (
            '[[mode]]\nname = "a"\nkind = "shortest"\nof = "b"\n[[mode]]\nname = "b"\nkind = "shortest"\nof = "a"',
            "mode 'a': of: a mode cannot stand on itself (a -> b -> a).",
        ),
        (
            '[[mode]]\nname = "a"\nkind = "shortest"\nof = "lexical"\ndepth = 3',
            "mode 'a': depth: shortest has no setting 'depth'. It has of, top, fails_at.",
        ),
    ],
)
def test_wrong_settings_are_refused_with_their_place(recipe, message):
    with pytest.raises(InputError) as refusal:
        plan_modes(parse_recipe(recipe, source="r.toml"))

    assert message in str(refusal.value)


@pytest.mark.parametrize(
    "wrong", [Reranked((0, 0, 1)), Reranked((0, 1)), Reranked((0, 1, 3)), Reranked((0, 1, 2), (1.0,))]
)
def test_an_order_that_loses_or_invents_a_document_is_refused(tmp_path, monkeypatch, wrong):
    monkeypatch.setattr(Shortest, "rerank", lambda *_: wrong)

    with pytest.raises(RetrievalError, match="the reranker gave"):
        run(kitchen(tmp_path), tmp_path / "out")


# Run files

WITH_FILE = """\
collection = "kitchen"
modes = ["lexical", "theirs", "shortest"]
measures = ["nDCG@10"]

[[mode]]
name = "theirs"
kind = "run"
path = "their.run"
"""


def test_a_run_of_another_system_takes_part_like_a_mode(tmp_path):
    recipe = kitchen(tmp_path, WITH_FILE)
    (tmp_path / "their.run").write_text(
        "q1 Q0 lentil-soup 1 3 x\nq1 Q0 onion-soup 2 2 x\nother Q0 lentil-soup 1 1 x\nq2 Q0 potato-pie 1 1 x\n"
    )
    report = run(recipe, tmp_path / "out")

    assert ["lentil-soup", "onion-soup"] == ranking(tmp_path / "out", "theirs", "q1")
    assert [2, 2] == [mode.queries for mode in report.modes[1:]]  # its query "other" is not of the collection
    assert "theirs" not in report.timing
    assert ("theirs",) == report.timing["shortest"].unknown


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("x Q0 a 1 1 t\n", "their.run: has no query of the collection: it has x, the collection has q1, q2, q3, ...."),
        ("q1 Q0 a 1 1 t\n", "the corpus has no document a, so it cannot be read."),
        (None, "their.run: no such file"),
    ],
)
def test_a_run_that_does_not_fit_the_collection_is_refused(tmp_path, content, message):
    recipe = kitchen(tmp_path, WITH_FILE)
    if content is not None:
        (tmp_path / "their.run").write_text(content)

    with pytest.raises((InputError, RetrievalError)) as refusal:
        run(recipe, tmp_path / "out")

    assert message in str(refusal.value)


# Modes that cannot run


def test_a_chosen_mode_that_cannot_run_stops_the_benchmark_unless_it_may_be_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_OFFLINE", "1")
    monkeypatch.delenv("ASSAY_MODELS", raising=False)
    chosen = parse_recipe('modes = ["lexical", "vector"]')

    with pytest.raises(
        InputError, match=r"a mode of this benchmark cannot run\. vector: the model minilm is not installed"
    ):
        prepare(chosen)
    assert ["lexical"] == [mode.name for mode in prepare(chosen.but(allow_missing=True)).plan.modes]


# Parts


def test_scores_fall_also_as_32_bit_floats():
    fell = falling(np.array([1e8, 1e8 - 1, 0.5, 0.5, 0.5 - 1e-12, -3.0]))

    assert (np.diff(fell.astype(np.float32)) < 0).all()
    assert (1e8, -3.0) == (fell[0], fell[-1])


def test_an_order_without_scores_gets_ranks_as_scores():
    new = reordered(Ranking(["a", "b", "c"], np.array([0.3, 0.2, 0.1])), Reranked((1, 0)))

    assert (["b", "a", "c"], [3.0, 2.0, 1.0]) == (new.docs, new.scores.tolist())


def test_rankings_break_ties_as_the_default_rules_do():
    tied = Run.from_columns(["q", "q", "q", "p"], ["a", "c", "b", "a"], [1.0, 1.0, 2.0, 0.5])

    assert {"p": ["a"], "q": ["b", "c", "a"]} == {query: each.docs for query, each in rankings_of(tied).items()}


def test_texts_are_found_by_id_and_the_first_of_equal_ids_counts(tmp_path):
    corpus = (Document("a", "one", "A"), Document("b", "two"), Document("a", "three"))
    texts = open_texts(lambda: iter(corpus), tmp_path)

    assert [Document("b", "two"), Document("a", "one", "A")] == texts.of(["b", "a"])
    with pytest.raises(RetrievalError, match="the corpus has no document c"):
        texts.of(["a", "c"])


def test_a_journal_leaves_out_the_line_that_a_killed_process_began(tmp_path):
    file = tmp_path / "answers.jsonl"
    answer = Answer(Reranked((1, 0), (2.0, 1.0), Work(documents=2)), 3.5)
    with Journal(file, Answer) as journal:
        journal.add("a", answer)
        journal.add("b", answer)
    file.write_bytes(file.read_bytes()[:-5])

    with Journal(file, Answer) as journal:
        assert (answer, None) == (journal.get("a"), journal.get("b"))
        journal.add("b", answer)
    assert ["a", "b"] == [json.loads(line)[0] for line in file.read_text().splitlines()]


def test_a_damaged_journal_is_named(tmp_path):
    (tmp_path / "answers.jsonl").write_text('["a", 3]\n')

    with pytest.raises(InputError, match=r"answers\.jsonl: is damaged. Delete it to begin again."):
        Journal(tmp_path / "answers.jsonl", Answer)


# What modes notice


def test_a_mode_that_loses_documents_says_how_many(tmp_path, monkeypatch):
    noticed = Observed(recalls=(Recall(10, 8, 0.9, 0.5),))
    monkeypatch.setattr("assay.retrieval.nodes.observe", lambda *_: noticed)
    report = run(
        kitchen(tmp_path, 'collection = "kitchen"\nmodes = ["lexical"]\nmeasures = ["AP"]\n'), tmp_path / "out"
    )

    assert [(10, 0.9, 0.5)] == [(each.depth, each.mean, each.p5) for each in report.modes[0].exact_recall]
    assert (
        "lexical finds 90.0% of the best 10 documents of exact search (mean over 8 queries; 5th percentile 50.0%)."
        in report.notes
    )


def test_words_that_cannot_be_told_apart_are_explained(tmp_path):
    recipe = kitchen(tmp_path, 'collection = "kitchen"\nmodes = ["lexical"]\nmeasures = ["AP"]\n')
    spaceless = [{"_id": query, "text": "寿司の作り方"} for query in QUERIES]
    (tmp_path / "kitchen/queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in spaceless))
    corpus = [{"_id": doc, "title": "", "text": "寿司の作り方 lentil"} for doc in documents()]
    (tmp_path / "kitchen/corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in corpus))
    report = run(recipe, tmp_path / "out")

    assert any(note.startswith("lexical: ") and "japanese" in note for note in report.notes), report.notes


HINT = (
    "8 of 8 queries have no spaces between words, so language = 'english' cannot split them. Set language = 'japanese'"
)


def spaceless(folder, modes):
    """A collection in Japanese, and a recipe that says nothing of it."""
    recipe = kitchen(folder, f'collection = "kitchen"\nmeasures = ["AP"]\n{modes}')
    queries = [{"_id": query, "text": "寿司の作り方"} for query in QUERIES]
    (folder / "kitchen/queries.jsonl").write_text("".join(json.dumps(each) + "\n" for each in queries))
    corpus = [{"_id": doc, "title": "", "text": "東京の寿司の作り方"} for doc in documents()]
    (folder / "kitchen/corpus.jsonl").write_text("".join(json.dumps(each) + "\n" for each in corpus))
    return recipe


def test_if_no_mode_finds_anything_the_error_says_what_to_set(tmp_path):
    with pytest.raises(InputError) as refusal:
        run(spaceless(tmp_path, 'modes = ["lexical"]\n'), tmp_path / "out")

    assert f"no mode found a document for any of the 8 queries.\nlexical: {HINT}" in str(refusal.value)


def test_a_mode_that_finds_nothing_says_what_to_set(tmp_path):
    pairs = 'modes = ["pairs", "lexical"]\n[[mode]]\nname = "pairs"\nkind = "lexical"\nlanguage = "japanese"\n'
    report = run(spaceless(tmp_path, pairs), tmp_path / "out")

    assert ["lexical"] == [each.name for each in report.missing]
    assert report.missing[0].remedy.startswith(HINT)
    assert "pairs of characters" in report.modes[0].settings["analyser"]["terms"]  # and is not hidden like a key
