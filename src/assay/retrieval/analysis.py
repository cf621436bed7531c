"""Split text into terms: lower case, without stop words, stemmed. All lexical engines use tantivy's analyser.

A term is a run of letters and digits. Queries have no syntax: operators, quotes and colons only separate terms. Text
without spaces between words has no such runs: there, a term is a pair of characters that follow each other.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from assay.errors import MissingExtraError, RetrievalError, did_you_mean, some_of
from assay.words import number_of, plural, writable_text

if TYPE_CHECKING:
    from tantivy import TextAnalyzer

# Languages for which tantivy has both stop words and a stemmer.
STEMMED = (
    *("english", "danish", "dutch", "finnish", "french", "german", "hungarian", "italian", "norwegian", "portuguese"),
    *("russian", "spanish", "swedish"),
)
PAIRED = ("chinese", "japanese", "korean", "thai")  # written without spaces, or with spaces that do not separate stems
LANGUAGES = (*STEMMED, *PAIRED, "none")  # "none" has neither stop words nor a stemmer
LONGEST_TERM = 255  # bytes, as in Lucene; longer terms are ignored

_HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_KANA = "\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"
_HANGUL = "\u1100-\u11ff\u3131-\u318e\uac00-\ud7af"
_THAI = "\u0e01-\u0e3a\u0e40-\u0e4e"
_OTHERS = "\u0e81-\u0ede\u1000-\u1049\u1780-\u17d3"  # Lao, Burmese, Khmer
_UNSPACED = f"{_HAN}{_KANA}{_THAI}{_OTHERS}"
_RUN = re.compile(f"(?P<paired>[{_UNSPACED}{_HANGUL}]+)|[^\\W_{_UNSPACED}{_HANGUL}]+")
_BY_SCRIPT = {"japanese": f"[{_KANA}]", "chinese": f"[{_HAN}]", "thai": f"[{_THAI}{_OTHERS}]"}  # first that occurs
_MOST = 0.5  # of the queries: above this, something is wrong with all of them


def checked_language(language: object) -> str:
    """The language, if it is supported."""
    if language not in LANGUAGES:
        hint = did_you_mean(str(language), LANGUAGES)
        raise RetrievalError(f"no analyser for {language!r}{hint or '.'} Available: {', '.join(LANGUAGES)}.")
    return str(language)


def analyser_settings(language: str) -> dict[str, object]:
    """The settings of the analyser, for the manifest."""
    own = language if language in STEMMED else None
    pairs = "pairs of characters, Chinese characters also alone; other words whole"
    return {
        "fields": "title and text as one",
        "terms": pairs if language in PAIRED else "letters and digits",
        "lower_case": True,
        "stop_words": own,
        "stemmer": own,
        "longest_term": LONGEST_TERM,
    }


class Analyser(Struct, frozen=True):
    """Splits texts of one language."""

    language: str
    engine: TextAnalyzer  # splits a prepared text

    def prepared(self, text: str) -> str:
        """A text that tantivy splits into the terms."""
        clean = writable_text(text)
        return " ".join(_pairs(clean)) if self.language in PAIRED else clean


def make_analyser(language: str) -> Analyser:
    """The analyser for a language."""
    library = tantivy_library()
    filters = library.Filter
    paired = language in PAIRED
    builder = library.TextAnalyzerBuilder(library.Tokenizer.whitespace() if paired else library.Tokenizer.simple())
    builder = builder.filter(filters.remove_long(LONGEST_TERM + 1)).filter(filters.lowercase())
    if language in STEMMED:
        builder = builder.filter(filters.stopword(language)).filter(filters.stemmer(language))
    return Analyser(language, builder.build())


def _pairs(text: str) -> Iterator[str]:
    """The terms of a text without spaces: pairs of characters, as Lucene's analyser for Chinese, Japanese and Korean.

    A Chinese character is often a word, so it is a term on its own too. Wide and narrow forms are the same.

    >>> list(_pairs("東京のWi-Fi")), list(_pairs("กขค"))
    (['東', '東京', '京', '京の', 'Wi', 'Fi'], ['กข', 'ขค'])
    """
    for run in _RUN.finditer(unicodedata.normalize("NFKC", text)):
        whole = run.group()
        if run["paired"] is None or len(whole) == 1:
            yield whole
            continue
        for place, character in enumerate(whole):
            if _IS_HAN(character):
                yield character
            if place + 1 < len(whole):
                yield whole[place : place + 2]


_IS_HAN = re.compile(f"[{_HAN}]").match


def lexical_notes(language: str, queries: Mapping[str, str], answered: tuple[str, ...]) -> tuple[str, ...]:
    """What to set, if most queries are written without spaces, or find nothing."""
    likely, count = _unspaced(queries)
    if language not in PAIRED and likely is not None:
        return (
            f"{count} of {number_of(len(queries), 'query')} {plural('{has|have}', count)} no spaces between words, so language = {language!r} cannot "
            f"split them. Set language = {likely!r}, which searches by pairs of characters.",
        )
    return _lost(queries, answered, f"language = {language!r}")


def database_notes(setting: str, queries: Mapping[str, str], answered: tuple[str, ...]) -> tuple[str, ...]:
    """The same for a database, which cannot split such queries whatever is set; `setting` says how it splits text."""
    likely, count = _unspaced(queries)
    if likely is not None:
        return (
            f"{count} of {number_of(len(queries), 'query')} {plural('{has|have}', count)} no spaces between words, so {setting} cannot split them. The mode "
            f"lexical can, with language = {likely!r}.",
        )
    return _lost(queries, answered, setting)


def ranking_note(ranks_by: str) -> str:
    """In what a database's search by words differs from ours."""
    return (
        f"ranks by {ranks_by}. The modes lexical and bm25s rank by BM25 over other terms (stop words and stems of tantivy), "
        "so their runs differ."
    )


def _unspaced(queries: Mapping[str, str]) -> tuple[str | None, int]:
    """The likely language of the queries without spaces between words, and their number; None if they are not most."""
    unspaced = [found for text in queries.values() if (found := _language_of(text)) is not None]
    if len(unspaced) <= _MOST * len(queries):
        return None, len(unspaced)
    return max(sorted(set(unspaced)), key=unspaced.count), len(unspaced)


def _lost(queries: Mapping[str, str], answered: tuple[str, ...], setting: str) -> tuple[str, ...]:
    lost = [query for query in queries if query not in set(answered)]
    if len(lost) <= _MOST * len(queries):
        return ()
    return (
        f"{len(lost)} of {number_of(len(queries), 'query')} {plural('{shares|share}', len(lost))} no word with any document ({some_of(lost)}). Check that queries "
        f"and documents are in the same language, and that it is the one set ({setting}).",
    )


def _language_of(text: str) -> str | None:
    """The likely language of a text that is mostly in a script without spaces; None for other texts.

    >>> _language_of("東京の天気"), _language_of("北京天气"), _language_of("the word 天气 in a sentence")
    ('japanese', 'chinese', None)
    """
    letters = sum(character.isalpha() for character in text)
    if not letters or len(re.findall(f"[{_UNSPACED}]", text)) <= letters / 2:
        return None
    return next((language for language, script in _BY_SCRIPT.items() if re.search(script, text)), None)


def tantivy_library() -> Any:
    """The tantivy package; the error for a missing one says what to install."""
    try:
        import tantivy
    except ImportError:
        raise MissingExtraError("lexical search", "lexical") from None
    return tantivy


def terms_of(text: str, analyser: Analyser) -> list[str]:
    """The terms of a text in order; none if it has only stop words or punctuation.

    >>> terms_of('What is the "lift" of AND-wings?', make_analyser("english"))
    ['what', 'lift', 'wing']
    """
    return analyser.engine.analyze(analyser.prepared(text))
