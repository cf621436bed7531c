r"""Read documents one by one: JSON Lines (BEIR and others), TREC's <DOC>, CSV, TSV, Parquet.

A corpus is never loaded into memory as a whole. Errors name the file and line; `scan_documents` yields them and continues.
"""

from __future__ import annotations

import html
import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source, open_text
from assay.formats.text import BYTE_ORDER_MARK, decoded, line_chunks
from assay.inputs.fields import NOT_UTF8, Columns, Fields, Flaw, Names, folded, scan_records, writable

NAMES: Names = {
    "id": (
        *("_id", "id", "docid", "docno", "document_id", "corpus_id", "passage_id", "product_id", "pid", "item_id"),
        *("asin", "doc"),
    ),
    "title": ("title", "product_title", "headline", "doc_title", "name"),
    "text": (
        *("text", "contents", "content", "body", "passage", "segment", "abstract", "document", "answer"),
        *("product_description", "description"),
    ),
}
_TITLE_TAGS = ("title", "headline", "head", "ti", "ttl", "hl")
_TEXT_TAGS = ("text", "abstract", "body", "lp", "leadpara", "summary", "content", "contents")
_ELEMENT = re.compile(r"<([a-zA-Z][\w-]*)(?:\s[^>]*)?>(.*?)</\1\s*>", re.DOTALL)
_NUMBER = re.compile(r"<docno(?:\s[^>]*)?>(.*?)</docno\s*>", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[a-zA-Z][^<>]*>|<!--.*?-->", re.DOTALL)
_BEGIN, _END = re.compile(rb"<doc(?:\s[^>]*)?>", re.IGNORECASE), re.compile(rb"</doc\s*>", re.IGNORECASE)


class Document(Struct, frozen=True):
    """A document of the corpus."""

    id: str
    text: str
    title: str = ""
    line: int | None = None  # first line, in a text file

    @property
    def whole(self) -> str:
        """Title and text separated by a space, or the one that is not empty.

        >>> Document("1", "Rinse it twice.", "Rice").whole, Document("2", "", "Rice").whole
        ('Rice Rinse it twice.', 'Rice')
        """
        return f"{self.title} {self.text}" if self.title and self.text else self.title or self.text


def read_documents(source: Source, *, columns: Columns | None = None) -> Iterator[Document]:
    """The documents of a file, compressed or not, or of all files in a folder, one by one.

    `columns` names the fields if they have unusual names: {"id": "sku", "text": ["name", "features"]}; several fields are
    joined with a space. Errors name the file and line.
    """
    for path in document_files(source):
        with open_source(path) as content:
            for found in scan_documents(content, columns=columns):
                if isinstance(found, Flaw):
                    raise found.error(content.name)
                yield found


def parse_documents(text: str | bytes, *, columns: Columns | None = None) -> list[Document]:
    r"""The documents of a text.

    >>> parse_documents('{"_id": "1", "title": "Rice", "text": "Rinse it twice."}\n')
    [Document(id='1', text='Rinse it twice.', title='Rice', line=1)]
    """
    found: list[Document] = []
    with open_text(text, "documents") as content:
        for document in scan_documents(content, columns=columns):
            if isinstance(document, Flaw):
                raise document.error(content.name)
            found.append(document)
    return found


def document_files(source: Source) -> list[Path | str]:
    """The files of a source: itself, or all files below a folder, sorted by name, except hidden ones."""
    if not os.path.isdir(source):
        return [os.fsdecode(source)]
    folder = Path(os.fsdecode(source))
    found = sorted(
        path
        for path in folder.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(folder).parts)
    )
    if not found:
        raise InputError("the folder contains no files", source=str(folder))
    return list(found)


def scan_documents(content: Content, *, columns: Columns | None = None) -> Iterator[Document | Flaw]:
    """The documents of a content, with a `Flaw` for each that cannot be read."""
    if content.head.removeprefix(BYTE_ORDER_MARK).lstrip().startswith(b"<"):
        yield from _trec_documents(content)
        return
    fields = Fields(NAMES, columns, required=("id", "text"), stands_in={"text": "title"})
    for record in scan_records(content, _no_bare if columns else _bare):
        if isinstance(record, Flaw):
            yield record
            continue
        if lack := fields.lack(record):
            yield lack
            return  # all others would too
        yield _document(fields.id(record), fields.text(record, "title"), fields.text(record), record.line)


def _bare(row: Sequence[str]) -> Sequence[str] | None:
    """Id and text, as in MS MARCO's passages, if the first row has two columns and is not a header."""
    names = set(map(folded, row))
    is_header = any(folded(name) in names for role in ("id", "text") for name in NAMES[role])
    return None if is_header or len(row) != 2 else ("id", "text")


def _no_bare(row: Sequence[str]) -> None:
    return None


def _document(id: str | Flaw, title: str | Flaw, text: str | Flaw, line: int | None) -> Document | Flaw:
    for part in (id, title, text):
        if isinstance(part, Flaw):
            return part
        if not writable(part):
            return Flaw("encoding", f"'{show_id(part)}' is not UTF-8", NOT_UTF8, line)
    return Document(id, text, title, line)  # type: ignore[arg-type]


# TREC


def _trec_documents(content: Content) -> Iterator[Document | Flaw]:
    """The documents inside <DOC> ... </DOC>; text outside is ignored."""
    found = False
    for line, data in _blocks(content):
        found = True
        yield data if isinstance(data, Flaw) else _trec_document(data, line)
    if not found:
        raise InputError("the file contains no <DOC>", source=content.name)


def _blocks(content: Content) -> Iterator[tuple[int, bytes | Flaw]]:
    """The bytes inside each <DOC>, and its first line."""
    pieces: list[bytes] = []
    begin: int | None = None
    for chunk in line_chunks(content):
        for number, line in enumerate(chunk.data.split(b"\n")[:-1], chunk.line):
            rest = line
            while True:
                if begin is None:
                    start = _BEGIN.search(rest)
                    if start is None:
                        break
                    begin, rest = number, rest[start.end() :]
                end, again = _END.search(rest), _BEGIN.search(rest)
                if again and (end is None or again.start() < end.start()):
                    yield begin, _unclosed(begin)
                    begin, pieces, rest = number, [], rest[again.end() :]
                    continue
                if end is None:
                    pieces.append(rest)
                    break
                pieces.append(rest[: end.start()])
                yield begin, b"\n".join(pieces)
                begin, pieces, rest = None, [], rest[end.end() :]
    if begin is not None:
        yield begin, _unclosed(begin)


def _unclosed(line: int) -> Flaw:
    return Flaw("columns", "the <DOC> has no </DOC>", "Is the file cut off? Close the document or remove it.", line)


def _trec_document(data: bytes, line: int) -> Document | Flaw:
    body = decoded(data)
    if not writable(body):
        return Flaw("encoding", f"'{show_id(_plain(body))}' is not UTF-8", NOT_UTF8, line)
    number = _NUMBER.search(body)
    if number is None or not number[1].strip():
        return Flaw("id", "the <DOC> has no <DOCNO>", "Every document needs an id: fix or remove it.", line)
    rest = body[: number.start()] + body[number.end() :]
    elements = [(tag.casefold(), inside) for tag, inside in _ELEMENT.findall(rest)]
    title = next((_plain(inside) for tag, inside in elements if tag in _TITLE_TAGS), "")
    texts = [_plain(inside) for tag, inside in elements if tag in _TEXT_TAGS]
    if not texts:  # everything except the title
        first = next((tag for tag, _ in elements if tag in _TITLE_TAGS), None)
        texts = [_plain(rest if first is None else re.sub(rf"(?is)<{first}\b.*?</{first}\s*>", " ", rest, count=1))]
    return Document(number[1].strip(), " ".join(filter(None, texts)), title, line)


def _plain(markup: str) -> str:
    """The words of a piece of SGML, separated by single spaces."""
    return " ".join(html.unescape(_TAG.sub(" ", markup)).split())
