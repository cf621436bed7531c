"""The embedded insurance collection matches its docs page. Needs no search engine."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict

import pytest

from assay.collections import Collection, check_collection, open_collection
from assay.inputs.documents import Document

# Stop words; the other words of a question are its content words.
FUNCTION_WORDS = frozenset(
    [
        "a",
        "about",
        "after",
        "all",
        "am",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "before",
        "but",
        "by",
        "can",
        "cant",
        "could",
        "did",
        "do",
        "does",
        "doesnt",
        "for",
        "from",
        "get",
        "go",
        "got",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "im",
        "in",
        "into",
        "is",
        "isnt",
        "it",
        "its",
        "just",
        "me",
        "must",
        "my",
        "no",
        "not",
        "now",
        "of",
        "off",
        "on",
        "one",
        "or",
        "our",
        "out",
        "she",
        "should",
        "so",
        "some",
        "still",
        "than",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "they",
        "this",
        "to",
        "too",
        "up",
        "us",
        "was",
        "wasnt",
        "we",
        "were",
        "what",
        "whats",
        "when",
        "where",
        "which",
        "while",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


@pytest.fixture(scope="module")
def insurance() -> Collection:
    return open_collection("insurance")


@pytest.fixture(scope="module")
def answers(insurance: Collection) -> dict[str, Document]:
    return {document.id: document for document in insurance.documents()}


@pytest.fixture(scope="module")
def grades(insurance: Collection) -> dict[str, dict[str, int]]:
    """Query -> document -> grade."""
    qrels = insurance.qrels
    found: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for query, doc, rel in zip(qrels.query.tolist(), qrels.doc.tolist(), qrels.rel.tolist(), strict=True):
        assert rel == int(rel)
        found[qrels.queries[query]][doc] = int(rel)
    return dict(found)


def words(text: str) -> set[str]:
    """The words of a text without their endings, so "claims" matches "claimed"."""
    return {stem(word) for word in re.findall(r"[a-z0-9]+", re.sub(r"['\u2019]", "", text.lower()))}


def stem(word: str) -> str:
    """Remove common English endings, rather too much than too little, to find all shared words."""
    cut = re.sub(r"(ings?|ed|es|s|e|ies|y)$", "", word) if len(word) > 3 else word
    return re.sub(r"([b-df-hj-np-tv-z])\1$", r"\1", cut)


def content_words(text: str) -> set[str]:
    return words(text) - {stem(word) for word in FUNCTION_WORDS}


def answering(grades: dict[str, int]) -> list[str]:
    return [doc for doc, grade in grades.items() if grade == 2]


def test_nothing_is_found_wrong_or_odd_with_it():
    assert () == tuple(check_collection("insurance").findings)


def test_it_is_as_large_as_its_page_says(insurance: Collection, answers: dict[str, Document]):
    assert (361, 99, 4473) == (len(answers), len(insurance.queries), len(insurance.qrels))


def test_answers_are_short_have_a_title_and_are_told_once(answers: dict[str, Document]):
    lengths = [len(document.text.split()) for document in answers.values()]

    assert 40 <= min(lengths) <= max(lengths) <= 110
    assert all(document.title.strip() and document.text == document.text.strip() for document in answers.values())
    assert len(answers) == len({document.title.lower() for document in answers.values()})
    assert len(answers) == len({document.text.lower() for document in answers.values()})


def test_no_two_answers_share_a_sentence(answers: dict[str, Document]):
    sentences = Counter(
        sentence.strip().lower()
        for document in answers.values()
        for sentence in re.split(r"(?<=[.?!])\s+", document.text)
        if len(sentence.split()) > 3  # "Keep copies." may be repeated
    )

    assert [] == [sentence for sentence, times in sentences.items() if times > 1]


def test_questions_are_asked_once_and_in_many_lengths(insurance: Collection):
    questions = list(insurance.queries.values())
    lengths = [len(question.split()) for question in questions]

    assert len(questions) == len({question.lower() for question in questions})
    assert 10 <= sum(length <= 3 for length in lengths)
    assert 10 <= sum(length >= 12 for length in lengths)


def test_ids_are_plain_and_in_order(insurance: Collection, answers: dict[str, Document]):
    assert [f"a{number:03d}" for number in range(1, len(answers) + 1)] == list(answers)
    assert [f"q{number:02d}" for number in range(1, len(insurance.queries) + 1)] == list(insurance.queries)


def test_lines_are_written_as_beir_has_them(insurance: Collection):
    def keys(role: str) -> set[tuple[str, ...]]:
        with insurance.files[role].open(encoding="utf-8") as lines:
            return {tuple(json.loads(line)) for line in lines}

    assert {("_id", "title", "text")} == keys("corpus")
    assert {("_id", "text")} == keys("queries")
    assert insurance.files["qrels"].read_text("utf-8").startswith("query-id\tcorpus-id\tscore\nq01\t")


def test_judgments_name_only_what_is_there(
    insurance: Collection, answers: dict[str, Document], grades: dict[str, dict[str, int]]
):
    judged = {doc for of_query in grades.values() for doc in of_query}

    assert set(insurance.queries) == set(grades)
    assert judged <= set(answers)
    assert len(insurance.qrels) == sum(map(len, grades.values()))  # no duplicate pairs
    assert {0, 1, 2} == {grade for of_query in grades.values() for grade in of_query.values()}


def test_every_question_has_an_answer_and_judged_others(grades: dict[str, dict[str, int]]):
    for query, of_query in grades.items():
        assert answering(of_query), query
        assert sum(grade == 0 for grade in of_query.values()) >= 15, query


def test_many_questions_have_several_relevant_answers_and_some_have_one(grades: dict[str, dict[str, int]]):
    relevant = [sum(grade > 0 for grade in of_query.values()) for of_query in grades.values()]

    assert sum(count >= 2 for count in relevant) >= 70
    assert sum(count >= 4 for count in relevant) >= 20
    assert 10 <= sum(count == 1 for count in relevant) <= 25


def test_most_answers_answer_no_question(answers: dict[str, Document], grades: dict[str, dict[str, int]]):
    relevant = {doc for of_query in grades.values() for doc, grade in of_query.items() if grade > 0}

    assert len(relevant) < 2 / 3 * len(answers)


def test_some_questions_share_no_content_word_with_any_answer_to_them(
    insurance: Collection, answers: dict[str, Document], grades: dict[str, dict[str, int]]
):
    without = [
        query
        for query, question in insurance.queries.items()
        if all(not content_words(question) & words(answers[doc].whole) for doc in answering(grades[query]))
    ]

    assert len(without) >= 8, without


def test_many_questions_have_an_answer_that_shares_at_most_one_content_word(
    insurance: Collection, answers: dict[str, Document], grades: dict[str, dict[str, int]]
):
    hard = [
        query
        for query, question in insurance.queries.items()
        if len(content_words(question)) >= 3
        and any(len(content_words(question) & words(answers[doc].whole)) <= 1 for doc in answering(grades[query]))
    ]

    assert len(hard) >= 30, hard


def test_hard_negatives_share_more_words_with_a_question_than_its_answer_does(
    insurance: Collection, answers: dict[str, Document], grades: dict[str, dict[str, int]]
):
    misled = 0
    for query, question in insurance.queries.items():
        asked = content_words(question)
        shared = {doc: len(asked & words(answers[doc].whole)) for doc in grades[query]}
        best = max(shared[doc] for doc in answering(grades[query]))
        misled += any(shared[doc] > best for doc, grade in grades[query].items() if grade == 0)

    assert misled >= 25


@pytest.mark.parametrize(
    ("question", "answer", "decoy"),
    [
        ("GAP insurance", "GAP insurance", "A gap between two policies"),
        ("my dog bit the postman", "Your dog hurt a person", "Your dog was attacked by another dog"),
        ("umbrella policy worth it?", "Umbrella liability", "Garden furniture and parasols"),
        ("patio umbrella blew away in the wind", "Garden furniture and parasols", "Umbrella liability"),
        ("convertable roof slit with a knife", "Slashed roof of a convertible", "Convertible term policies"),
        ("reversionary bonus", "Bonuses on with-profits policies", "How a no-claims bonus grows"),
        (
            "rider that keeps the policy going when I cant work",
            "Waiver of premium rider",
            "Motorcycles: helmet, leathers and pillion",
        ),
    ],
)
def test_words_with_two_meanings_are_told_apart(
    insurance: Collection,
    answers: dict[str, Document],
    grades: dict[str, dict[str, int]],
    question: str,
    answer: str,
    decoy: str,
):
    query = {text: query for query, text in insurance.queries.items()}[question]
    by_title = {answers[doc].title: grade for doc, grade in grades[query].items()}

    assert (2, 0) == (by_title[answer], by_title[decoy])
