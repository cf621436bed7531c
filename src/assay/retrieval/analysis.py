"""Texts to terms: lower case, without stop words, stemmed. One analyser for all lexical engines: tantivy's.

A term is a run of letters and digits. Nothing of a query is read as syntax: operators, quotes and colons only part terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from assay.errors import MissingExtraError, RetrievalError, did_you_mean
from assay.retrieval.base import writable_text

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

# Languages for which tantivy has both stop words and a stemmer. "none": neither.
LANGUAGES = (
    *("english", "danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"),
    *("russian", "spanish", "swedish", "none"),
)
LONGEST_TERM = 255  # bytes, as in Lucene; what is longer is no word


def checked_language(language: object) -> str:
    """A language that texts can be analysed in."""
    if language not in LANGUAGES:
        hint = did_you_mean(str(language), LANGUAGES)
        raise RetrievalError(f"there is no analyser for {language!r}{hint or '.'} There are {', '.join(LANGUAGES)}.")
    return str(language)


def analyser_settings(language: str) -> dict[str, object]:
    """What the analyser does, for the record."""
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
    """The package; what to install where it is not there."""
    try:
        import tantivy
    except ImportError:
        raise MissingExtraError("lexical search", "lexical") from None
    return tantivy


def terms_of(text: str, analyser: TextAnalyzer) -> list[str]:
    """The terms of a text, in its order; none where it has only stop words or signs.

    >>> terms_of('What is the "lift" of AND-wings?', make_analyser("english"))
    ['what', 'lift', 'wing']
    """
    return analyser.analyze(writable_text(text))
