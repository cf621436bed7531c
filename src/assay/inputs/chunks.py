r"""Read the document of each chunk from a file with two columns or a JSON object.

>>> from assay.formats.sources import open_text
>>> with open_text("a#1\ta\na#2\ta\n", "chunks") as content:
...     chunks_from_text(content)
{'a#1': 'a', 'a#2': 'a'}
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Iterator

from assay.errors import InputError, show_id
from assay.formats.sources import Content, Source, open_source
from assay.formats.text import NO_DATA, whole_text


def read_chunks(source: Source) -> dict[str, str]:
    """Read the document of each chunk: chunk -> document.

    Each line has a chunk and its document, separated by a tab, comma or spaces; or the file is one JSON object. A header
    is harmless: it is read as one more chunk.
    """
    with open_source(source) as content:
        return chunks_from_text(content)


def chunks_from_text(content: Content) -> dict[str, str]:
    """The document of each chunk; a chunk with two documents is an error."""
    text = whole_text(content)
    start = text.lstrip()
    if not start:
        raise InputError(NO_DATA, source=content.name)
    pairs = _members(text, content.name) if start.startswith("{") else _rows(text, content.name)
    found: dict[str, str] = {}
    for line, chunk, doc in pairs:
        if found.setdefault(chunk, doc) != doc:
            raise InputError(
                f"chunk {show_id(chunk)} belongs to two documents: {show_id(found[chunk])} and {show_id(doc)}",
                source=content.name,
                line=line,
            )
    return found


def _members(text: str, source: str) -> list[tuple[None, str, str]]:
    try:
        members = json.loads(text, object_pairs_hook=list)  # keeps duplicate keys
    except (ValueError, RecursionError) as error:
        raise InputError(f"expected a JSON object that maps chunks to documents: {error}", source=source) from None
    for member in members:
        if not isinstance(member, tuple) or not isinstance(member[1], str):
            raise InputError('expected a JSON object that maps chunks to documents: {"a#1": "a"}', source=source)
    return [(None, chunk, doc) for chunk, doc in members]


def _rows(text: str, source: str) -> Iterator[tuple[int, str, str]]:
    for number, fields in _split(text, source):
        if not fields or fields == [""]:
            continue
        if len(fields) != 2 or not all(fields):
            raise InputError(
                f"expected a chunk and its document, separated by a tab, comma or spaces; found {len(fields)} columns",
                source=source,
                line=number,
            )
        yield number, fields[0], fields[1]


def _split(text: str, source: str) -> Iterable[tuple[int, list[str]]]:
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    first = next(line for line in lines if line.strip())
    if "\t" in first:
        return enumerate((line.split("\t") for line in lines), 1)
    if "," in first:
        return _comma_rows(lines, source)
    return enumerate((line.split() for line in lines), 1)


def _comma_rows(lines: Iterable[str], source: str) -> Iterator[tuple[int, list[str]]]:
    for number, line in enumerate(lines, 1):
        try:
            yield number, next(csv.reader([line]), [])
        except csv.Error as error:
            raise InputError(f"cannot read the line: {error}", source=source, line=number) from None
