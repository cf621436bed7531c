"""BM25 on tantivy and bm25s: hits, scores by hand, queries without syntax, ties, hostile ids."""

from __future__ import annotations

import math

import pytest

from assay.errors import RetrievalError
from assay.formats.writing import run_as_bytes
from assay.inputs.documents import Document
from assay.inputs.queries import Query
from assay.retrieval.observing import observe
from assay.retrieval.retrievers.bm25s import METHODS, BM25s
from assay.retrieval.retrievers.lexical import TantivyBM25
from engines.small import WINGS, corpus, ranking, search

ENGINES = [TantivyBM25(), BM25s()]
both = pytest.mark.parametrize("engine", ENGINES, ids=["tantivy", "bm25s"])


@both
def test_documents_are_found_by_their_words_however_they_are_bent(engine, tmp_path):
    run = search(engine, WINGS, {"q": "The LIFTING of a wing?"}, tmp_path)

    assert ["lift", "drag"] == ranking(run)


@both
def test_titles_are_searched_too(engine, tmp_path):
    documents = (Document("a", "nothing of the kind", "Slipstream"), Document("b", "nothing"))

    assert ["a"] == ranking(search(engine, documents, {"q": "slipstream"}, tmp_path))


@both
def test_queries_without_a_hit_are_absent(engine, tmp_path):
    queries = {"stop words": "of the", "signs": "?!", "nothing": "", "unknown": "zebra", "q": "drag"}

    assert ("q",) == search(engine, WINGS, queries, tmp_path).queries


@both
@pytest.mark.parametrize(
    "text",
    [
        *(
            "drag AND NOT lift",
            "text:drag",
            '"drag',
            "drag^9",
            "+drag -lift",
            "(drag",
            "drag*",
            "drag~2",
            "[drag TO x]",
        ),
        *("drag 🛩️", "drag\x00", "drag\n\tor", "drag \udc80", "drag \\", "/drag/", "drag' OR 1=1", "IN [drag]"),
    ],
)
def test_a_query_is_data_not_syntax(engine, text, tmp_path):
    assert "drag" in ranking(search(engine, WINGS, {"q": text}, tmp_path))


@both
def test_not_is_a_word_like_any_other(engine, tmp_path):
    """As an operator it would exclude the document with "lift"."""
    assert ["drag", "lift"] == ranking(search(engine, WINGS, {"q": "drag NOT lift"}, tmp_path))


@both
def test_a_long_query_is_searched_whole(engine, tmp_path):
    words = " ".join(f"word{number}" for number in range(5000))

    assert ["heat", "drag"] == ranking(search(engine, WINGS, {"q": f"{words} heating body"}, tmp_path))


def test_tantivy_scores_by_the_formula(tmp_path):
    documents = (Document("a", "lift lift drag"), Document("b", "lift"), Document("c", "heat heat"))
    run = search(TantivyBM25(), documents, {"q": "lift"}, tmp_path)

    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def term(count, length):
        return count * (1.2 + 1) / (count + 1.2 * (1 - 0.75 + 0.75 * length / 2))

    assert ["b", "a"] == ranking(run)
    assert [idf * term(1, 1), idf * term(2, 3)] == pytest.approx(run.score.tolist(), rel=1e-6)


def test_bm25s_scores_by_the_formula_with_the_parameters_that_are_set(tmp_path):
    documents = (Document("a", "lift lift drag"), Document("b", "lift"), Document("c", "heat heat"))
    run = search(BM25s(k1=0.9, b=0.4), documents, {"q": "lift"}, tmp_path)

    idf = math.log(1 + (3 - 2 + 0.5) / (2 + 0.5))

    def term(count, length):
        return count / (count + 0.9 * (1 - 0.4 + 0.4 * length / 2))

    expected = {"a": idf * term(2, 3), "b": idf * term(1, 1)}

    assert expected == pytest.approx(dict(zip(run.doc.tolist(), run.score.tolist(), strict=True)), rel=1e-6)


@both
def test_a_word_that_stands_twice_counts_twice(engine, tmp_path):
    run = search(engine, WINGS, {"once": "heating", "twice": "heating heating"}, tmp_path)

    assert 2 * run.score[run.query == 0] == pytest.approx(run.score[run.query == 1])


@pytest.mark.parametrize("method", METHODS)
def test_every_variant_finds_only_documents_with_a_word_of_the_query(method, tmp_path):
    """bm25l and bm25+ give every document a score; under robertson a frequent word counts less than nothing."""
    documents = (*WINGS, Document("more", "blunt"), Document("yet more", "a body"))
    run = search(BM25s(method=method), documents, {"q": "blunt body"}, tmp_path)

    assert {"heat", "drag", "more", "yet more"} == set(ranking(run))


def test_the_length_of_a_document_does_not_count_where_b_is_0(tmp_path):
    documents = (Document("long", "lift and much more of other things"), Document("short", "lift"), Document("x", "x"))

    long, short = search(BM25s(b=0), documents, {"q": "lift"}, tmp_path).score

    assert long == short


@both
def test_equal_scores_come_by_document_id_descending_at_the_cut_too(engine, tmp_path):
    documents = tuple(Document(f"d{number:02}", "the same lift") for number in range(30)) + WINGS
    run = search(engine, documents, {"q": "same"}, tmp_path, depth=4)

    assert ["d29", "d28", "d27", "d26"] == ranking(run)


@both
def test_ids_survive_byte_for_byte(engine, tmp_path):
    ids = [
        "a b",
        "é",
        "\udce9",
        "\udcff\udcfe",
        "x" * 5000,
        "tab\there",
        "'\"<&>",
        "\x1b[31m",
        "🛩️",
        "nul\x00",
        "l\nine",
    ]
    documents = tuple(Document(name, "lift") for name in ids)

    found = ranking(search(engine, documents, {"q": "lift"}, tmp_path, depth=50))

    assert sorted(ids, key=lambda text: text.encode("utf-8", "surrogateescape"), reverse=True) == found


@both
def test_texts_that_are_not_utf8_are_searched_all_the_same(engine, tmp_path):
    assert ["a"] == ranking(search(engine, (Document("a", "caf\udce9 lift"),), {"q": "lift"}, tmp_path))


@both
def test_of_documents_with_the_same_id_the_first_counts(engine, tmp_path):
    documents = (Document("a", "lift"), Document("a", "drag"), Document("b", "drag"))

    assert ["b"] == ranking(search(engine, documents, {"q": "drag"}, tmp_path))


@both
def test_a_corpus_may_be_empty_or_have_no_words(engine, tmp_path):
    assert 0 == len(search(engine, (), {"q": "drag"}, tmp_path / "none"))
    assert 0 == len(search(engine, (Document("a", "?"), Document("b", "")), {"q": "drag"}, tmp_path / "empty"))


@both
def test_what_a_query_finds_does_not_depend_on_the_others_nor_on_the_index_being_built_anew(engine, tmp_path):
    queries = {"q1": "lift of a blunt body", "q2": "heating wings", "q3": "body body drag"}
    whole = search(engine, WINGS, queries, tmp_path / "one")
    again = search(engine, WINGS, queries, tmp_path / "two")
    alone = engine.search(tmp_path / "one", {"q2": queries["q2"]}, 10)

    assert run_as_bytes(whole, "trec")[0] == run_as_bytes(again, "trec")[0]
    assert whole.score[whole.query == 1].tolist() == alone.score.tolist()


@both
def test_an_open_index_answers_query_after_query(engine, tmp_path):
    run = search(engine, WINGS, {"q": "lift of a blunt body"}, tmp_path)
    with engine.open(tmp_path) as searcher:
        nothing, found = searcher.find([Query("1", "the?"), Query("2", "lift of a blunt body")], 10)
        (first,) = searcher.find([Query("3", "lift of a blunt body")], 1)

    assert 0 == len(nothing.row)
    assert ranking(run) == searcher.ids[found.row].tolist()
    assert run.score.tolist() == found.score.tolist()
    assert found.row[:1].tolist() == first.row.tolist()


@both
def test_the_depth_does_not_change_the_bits_of_what_is_above_it(engine, tmp_path):
    words = ["lift", "drag", "heat", "body", "wing", "flow"]
    documents = tuple(
        Document(f"d{number}", " ".join(words[(number * step) % 6] for step in range(1, 4 + number % 5)))
        for number in range(200)
    )
    queries = {"q": "lift drag heat body wing flow lift"}
    deep = search(engine, documents, queries, tmp_path, depth=200)
    shallow = engine.search(tmp_path, queries, 7)

    assert deep.score[:7].tolist() == shallow.score.tolist()
    assert deep.doc[:7].tolist() == shallow.doc.tolist()


@both
def test_progress_tells_how_much_is_left(engine, tmp_path):
    told = []
    engine.index(corpus(), tmp_path, lambda *step: told.append(step))
    engine.search(tmp_path, {"q": "lift"}, 5, lambda *step: told.append(step))

    assert ("indexing", 0, 3) in told
    assert ("indexing", 3, 3) in told
    assert [("searching", 0, 1), ("searching", 1, 1)] == told[-2:]


@both
def test_other_languages_have_their_own_words(engine, tmp_path):
    documents = (Document("a", "Die Flügel des Flugzeugs"), Document("b", "Der Auftrieb"))
    german = type(engine)(language="german")

    assert ["a"] == ranking(search(german, documents, {"q": "der Flügels"}, tmp_path))


ABROAD = (
    Document("tokyo", "東京は日本の首都です。", "東京"),
    Document("kyoto", "京都はむかしの首都で、ﾃﾚﾋﾞのWi-Fiが速い。"),
    Document("beijing", "我爱北京天安门。"),
    Document("cat", "黑猫在睡觉"),
    Document("bangkok", "กรุงเทพเป็นเมืองหลวง"),
    Document("seoul", "서울은 한국의 수도이다"),
)


@both
@pytest.mark.parametrize(
    ("language", "query", "expected"),
    [
        ("japanese", "日本の首都", ["tokyo", "kyoto"]),  # 首都 is in both
        ("japanese", "テレビ", ["kyoto"]),  # in wide letters here, in narrow ones there
        ("japanese", "WI-FI", ["kyoto"]),  # other words stay whole
        ("chinese", "北京", ["beijing", "tokyo", "kyoto"]),  # 京 is in all three
        ("chinese", "猫", ["cat"]),
        ("thai", "เมืองหลวง", ["bangkok"]),
        ("korean", "수도", ["seoul"]),  # 수도이다 there
    ],
)
def test_text_without_spaces_is_found_by_pairs_of_characters(engine, language, query, expected, tmp_path):
    found = ranking(search(type(engine)(language=language), ABROAD, {"q": query}, tmp_path / "pairs"))

    assert expected[0] == found[0]
    assert set(expected) == set(found)


@both
def test_a_mode_that_cannot_read_the_queries_says_what_to_set(engine, tmp_path):
    queries = {"1": "日本の首都はどこ", "2": "東京の天気", "3": "lift of wings"}
    run = search(engine, ABROAD, queries, tmp_path)
    (note,) = observe(engine, tmp_path, queries, run, 10).notes

    assert (
        "2 of 3 queries have no spaces between words, so language = 'english' cannot split them. Set language = "
        "'japanese', which searches by pairs of characters."
    ) == note
    asked = {query: queries[query] for query in "12"}
    japanese = type(engine)(language="japanese")
    assert () == observe(japanese, tmp_path, asked, search(japanese, ABROAD, asked, tmp_path / "pairs"), 10).notes


@both
def test_a_mode_that_finds_nothing_for_most_queries_says_so(engine, tmp_path):
    queries = {"a": "Auftrieb", "b": "Flügel", "c": "lift"}
    run = search(engine, WINGS, queries, tmp_path)

    assert (
        "2 of 3 queries share no word with any document (a, b). Check that queries and documents are in the same language, "
        "and that it is the one set (language = 'english').",
    ) == observe(engine, tmp_path, queries, run, 10).notes
    assert () == observe(engine, tmp_path, {"c": "lift"}, run, 10).notes


def test_what_cannot_be_set_is_refused(tmp_path):
    for make, words in [
        (lambda: TantivyBM25(language="englisch"), "no analyser for 'englisch'; did you mean 'english'?"),
        (lambda: BM25s(method="bm25"), "no BM25 variant called 'bm25'; did you mean 'bm25l'?"),
        (lambda: BM25s(k1=-1), "k1 cannot be -1; it takes a number of at least 0."),
        (lambda: BM25s(b=10**400), f"b cannot be 1{'0' * 36}...{'0' * 20}; it takes a number from 0 to 1."),
        (lambda: BM25s(b=1.5), "b cannot be 1.5; it takes a number from 0 to 1."),
        (lambda: BM25s(delta="x"), "delta cannot be 'x'; it takes a number of at least 0."),
        (lambda: search(TantivyBM25(), WINGS, {"q": "lift"}, tmp_path, depth=0), "depth cannot be 0; it takes a whole"),
    ]:
        with pytest.raises(RetrievalError) as refusal:
            make()

        assert str(refusal.value).startswith(words)


def test_settings_name_engine_version_and_parameters():
    from importlib.metadata import version

    tantivy, bm25s = TantivyBM25().settings, BM25s(method="bm25+", delta=1).settings

    assert ("tantivy", version("tantivy"), 1.2, 0.75) == tuple(
        tantivy[name] for name in ("engine", "version", "k1", "b")
    )
    assert ("bm25+", 1.5, 0.75, 1.0) == tuple(bm25s[name] for name in ("method", "k1", "b", "delta"))
    assert "delta" not in BM25s().settings
