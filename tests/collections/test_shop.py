"""The embedded shop collection matches its docs page. Needs no search engine."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest

from assay.collections import Collection, check_collection, open_collection
from assay.inputs.documents import Document

FUNCTION_WORDS = frozenset(
    [
        "a",
        "and",
        "be",
        "can",
        "cant",
        "dont",
        "doesnt",
        "for",
        "from",
        "i",
        "in",
        "like",
        "my",
        "no",
        "of",
        "or",
        "something",
        "that",
        "the",
        "they",
        "to",
        "up",
        "what",
        "when",
        "who",
        "with",
        "without",
        "wont",
        "you",
    ]
)
LETTERS = {3: "E", 2: "S", 1: "C", 0: "I"}


@pytest.fixture(scope="module")
def shop() -> Collection:
    return open_collection("shop")


@pytest.fixture(scope="module")
def products(shop: Collection) -> dict[str, Document]:
    return {document.id: document for document in shop.documents()}


@pytest.fixture(scope="module")
def letters(shop: Collection) -> dict[str, dict[str, str]]:
    """Query -> product -> letter."""
    qrels = shop.qrels
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for query, doc, rel in zip(qrels.query.tolist(), qrels.doc.tolist(), qrels.rel.tolist(), strict=True):
        found[qrels.queries[query]][doc] = LETTERS[rel]
    return dict(found)


def words(text: str) -> set[str]:
    """The words of a text without their endings, so "bulbs" matches "bulb" and "plugs" matches "plug"."""
    return {stem(word) for word in re.findall(r"[a-z0-9]+", re.sub(r"['\u2019]", "", text.lower()))}


def stem(word: str) -> str:
    """Remove common English endings, rather too much than too little, to find all shared words."""
    cut = re.sub(r"(ings?|ed|er|ers|es|s|e|ies|y)$", "", word) if len(word) > 3 else word
    return re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", cut)


def content_words(text: str) -> set[str]:
    return words(text) - {stem(word) for word in FUNCTION_WORDS}


def having(letter: str, of_query: dict[str, str]) -> list[str]:
    return [doc for doc, given in of_query.items() if given == letter]


def test_nothing_is_odd_with_it_but_that_its_grades_are_letters():
    assert ["COL032"] == [finding.code for finding in check_collection("shop").findings]


def test_it_is_as_large_as_its_page_says(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    assert (455, 100, 4081) == (len(products), len(shop.queries), len(shop.qrels))
    assert {"E": 159, "S": 128, "C": 93, "I": 3701} == Counter(
        letter for of_query in letters.values() for letter in of_query.values()
    )


def test_products_are_described_shortly_and_each_for_itself(products: dict[str, Document]):
    lengths = [len(document.text.split()) for document in products.values()]

    assert 25 <= min(lengths) <= max(lengths) <= 70
    assert all(document.title.strip() and document.text == document.text.strip() for document in products.values())
    assert len(products) == len({document.title.lower() for document in products.values()})
    assert len(products) == len({document.text.lower() for document in products.values()})


def test_no_product_takes_over_the_text_of_another(products: dict[str, Document]):
    # Two sizes of one product may share a phrase, as in any shop, but no longer sentence.
    sentences = Counter(
        sentence.lower()
        for document in products.values()
        for sentence in re.split(r"(?<=[.?!])\s+", document.text)
        if len(sentence.split()) > 3
    )

    assert [] == [sentence for sentence, times in sentences.items() if times > 3]
    assert sum(times > 1 for times in sentences.values()) <= 10


def test_queries_are_asked_once_and_short_as_shoppers_have_them(shop: Collection):
    queries = list(shop.queries.values())
    lengths = [len(query.split()) for query in queries]

    assert len(queries) == len({query.lower() for query in queries})
    assert max(lengths) <= 10
    assert sum(length <= 2 for length in lengths) >= 8
    assert sum(length >= 6 for length in lengths) >= 15


def test_ids_are_plain_and_in_order(shop: Collection, products: dict[str, Document]):
    assert [f"p{number:03d}" for number in range(1, len(products) + 1)] == list(products)
    assert [f"s{number:03d}" for number in range(1, len(shop.queries) + 1)] == list(shop.queries)


def test_lines_are_written_as_beir_has_them_with_letters_for_scores(shop: Collection):
    def keys(role: str) -> set[tuple[str, ...]]:
        with shop.files[role].open(encoding="utf-8") as lines:
            return {tuple(json.loads(line)) for line in lines}

    header, *rows = shop.files["qrels"].read_text("utf-8").splitlines()

    assert {("_id", "title", "text")} == keys("corpus")
    assert {("_id", "text")} == keys("queries")
    assert "query-id\tcorpus-id\tscore" == header
    assert {"E", "S", "C", "I"} == {row.split("\t")[2] for row in rows}


def test_judgments_name_only_what_is_there_and_each_pair_once(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    assert set(shop.queries) == set(letters)
    assert {doc for of_query in letters.values() for doc in of_query} <= set(products)
    assert len(shop.qrels) == sum(map(len, letters.values()))


def test_every_query_has_an_exact_product_and_judged_others(letters: dict[str, dict[str, str]]):
    for query, of_query in letters.items():
        assert 1 <= len(having("E", of_query)) <= 3, query
        assert len(having("I", of_query)) >= 15, query


def test_most_queries_have_substitutes_and_complements_and_some_have_neither(letters: dict[str, dict[str, str]]):
    substituted = {query for query, of_query in letters.items() if having("S", of_query)}
    complemented = {query for query, of_query in letters.items() if having("C", of_query)}

    assert len(substituted) >= 70
    assert len(complemented) >= 60
    assert len(letters.keys() - substituted - complemented) >= 8


def test_a_product_means_different_things_to_different_queries(letters: dict[str, dict[str, str]]):
    roles = defaultdict(set)
    for of_query in letters.values():
        for doc, letter in of_query.items():
            roles[doc].add(letter)

    assert sum({"E", "S"} <= given for given in roles.values()) >= 8
    assert sum({"E", "C"} <= given for given in roles.values()) >= 8


def test_many_queries_have_an_exact_product_without_most_of_their_words(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    def unlike(query: str, doc: str) -> bool:
        wanted = content_words(shop.queries[query])
        return len(wanted & words(products[doc].whole)) < len(wanted) / 2

    hard = [query for query in shop.queries if any(unlike(query, doc) for doc in having("E", letters[query]))]

    assert len(hard) >= 0.25 * len(shop.queries), hard


def test_some_queries_share_no_content_word_with_any_exact_product(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    without = [
        query
        for query, text in shop.queries.items()
        if all(not content_words(text) & words(products[doc].whole) for doc in having("E", letters[query]))
    ]

    assert len(without) >= 5, without


@pytest.mark.slow
def test_some_queries_are_answered_to_the_letter_by_one_exact_product_alone(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    named = 0
    for query, text in shop.queries.items():
        complete = {doc for doc, product in products.items() if content_words(text) <= words(product.whole)}
        named += complete != set() and complete <= set(having("E", letters[query]))

    assert named >= 20


def test_hard_negatives_share_more_words_with_a_query_than_its_exact_products_do(
    shop: Collection, products: dict[str, Document], letters: dict[str, dict[str, str]]
):
    misled = 0
    for query, text in shop.queries.items():
        shared = {doc: len(content_words(text) & words(products[doc].whole)) for doc in letters[query]}
        best = max(shared[doc] for doc in having("E", letters[query]))
        misled += any(shared[doc] > best for doc in having("I", letters[query]))

    assert misled >= 8


@pytest.mark.parametrize(
    ("query", "wanted", "decoy"),
    [
        ("jigsaw 1000 pieces", "Piecewell Puzzle Alpine Lake, 1000 Pieces", "Torrano Jigsaw 650 W with Laser"),
        (
            "get rid of mould in bathroom",
            "Clearby Mildew Remover Spray with Chlorine, 500 ml",
            "Fenwold Silicone Mould",
        ),
        ("raised bed for vegetables", "Greenmarl Larch Planter Box on Legs", "Nestory Kids Loft Bed with Slide"),
        ("dutch oven 5 litre", "Marrowby Enamelled Cast Iron Casserole", "Fieldhand Dutch Hoe with Ash Handle"),
        ("router bits 8mm shank", "Oakrill Router Bit Set 8 mm Shank", "Netivo Dual-Band Wi-Fi Router"),
        ("trouser braces", "Gentrow Clip-On Suspenders", "Medisel Knee Brace"),
        ("tavos t24", "Tavos T24 Black Ink Cartridge", "Tavos T42 Black Ink Cartridge"),
        ("metric spanner set", "Brackhill Combination Wrench Set, 12 Pieces", "Brackhill Combination Wrench Set, Inch"),
    ],
)
def test_what_shares_words_but_is_something_else_is_irrelevant(
    shop: Collection,
    products: dict[str, Document],
    letters: dict[str, dict[str, str]],
    query: str,
    wanted: str,
    decoy: str,
):
    judged = letters[{text: id for id, text in shop.queries.items()}[query]]

    def letter_of(title: str) -> str:
        return next(given for doc, given in judged.items() if products[doc].title.startswith(title))

    assert ("E", "I") == (letter_of(wanted), letter_of(decoy))
