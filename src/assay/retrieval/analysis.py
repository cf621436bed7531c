"""Split text into terms: lower case, without stop words, stemmed. All lexical engines use tantivy's analyser.

A term is a run of letters and digits. Queries have no syntax: operators, quotes and colons only separate terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.errors import MissingExtraError, RetrievalError, did_you_mean
from assay.retrieval.base import writable_text

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

# Languages for which tantivy has both stop words and a stemmer; "none" uses neither.
LANGUAGES = (
    *("english", "danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"),
    *("russian", "spanish", "swedish", "none"),
)
LONGEST_TERM = 255  # bytes, as in Lucene; longer terms are ignored


def checked_language(language: object) -> str:
    """The language, if it is supported."""
    if language not in LANGUAGES:
        hint = did_you_mean(str(language), LANGUAGES)
        raise RetrievalError(f"no analyser for {language!r}{hint or '.'} Available: {', '.join(LANGUAGES)}.")
    return str(language)


def analyser_settings(language: str) -> dict[str, object]:
    """The settings of the analyser, for the manifest."""
    own = None if language == "none" else language
    return {
        "fields": "title and text as one",
        "tokens": "letters and digits",
        "lower_case": True,
        "stop_words": own,
        "stemmer": own,
        "longest_term": LONGEST_TERM,
    }


def make_analyser(language: str) -> TextAnalyzer:
    """tantivy's analyser for a language."""
    library = tantivy_library()
    filters = library.Filter
    builder = library.TextAnalyzerBuilder(library.Tokenizer.simple())
    builder = builder.filter(filters.remove_long(LONGEST_TERM + 1)).filter(filters.lowercase())
    if language != "none":
        builder = builder.filter(filters.stopword(language)).filter(filters.stemmer(language))
    analyser: TextAnalyzer = builder.build()
    return analyser


def tantivy_library() -> Any:
    """The tantivy package; the error for a missing one says what to install."""
    try:
        import tantivy
    except ImportError:
        raise MissingExtraError("lexical search", "lexical") from None
    return tantivy


def terms_of(text: str, analyser: TextAnalyzer) -> list[str]:
    """The terms of a text in order; none if it has only stop words or punctuation.

    >>> terms_of('What is the "lift" of AND-wings?', make_analyser("english"))
    ['what', 'lift', 'wing']
    """
    return analyser.analyze(writable_text(text))
