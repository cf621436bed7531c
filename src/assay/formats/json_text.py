"""Read one JSON value piece by piece: its records or pairs come one after the other, and the text is never held whole.

Duplicate keys of an object are kept, for the check for duplicate documents.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from functools import cache
from json import JSONDecodeError, JSONDecoder
from typing import Any

from assay.errors import FormatError
from assay.formats.lists import Object
from assay.formats.sources import Content
from assay.formats.text import BYTE_ORDER_MARK, Chunk, refuse_nul, refuse_other_files
from assay.limits import beyond, in_words, limit

_SPACE = re.compile(r"[ \t\n\r]*")
_LONGEST_WORD = 16  # characters: an error so close to the end of the text may be due to what has not been read


@cache
def decoder() -> JSONDecoder:
    """The decoder that keeps duplicate keys."""
    return JSONDecoder(object_pairs_hook=Object)


def no_json(error: Exception, content: Content, line: int | None, *, is_line: bool) -> FormatError:
    """The error for text that is not JSON; `is_line` if the line should be a value of its own."""
    if isinstance(error, JSONDecodeError):
        hint = "" if is_line else " If each line is a separate record, use `input_format='jsonl'`."
        return FormatError(f"invalid JSON: {error.msg}.{hint}", source=content.name, line=line)
    # Nested too deeply, or an integer with thousands of digits.
    return FormatError(f"cannot read this JSON: {error}", source=content.name, line=line if is_line else None)


class JsonText:
    """The JSON of a source, read as far as its values are asked for."""

    def __init__(self, content: Content) -> None:
        refuse_other_files(content)
        self._content, self._blocks = content, _text_blocks(content)
        self._decode = decoder().raw_decode
        self._text, self._place, self._line = "", 0, 1

    def next(self) -> str:
        """The next character except spaces, which is not taken; empty at the end."""
        while True:
            self._place = _SPACE.match(self._text, self._place).end()  # type: ignore[union-attr]
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def records(self) -> Iterator[Any]:
        """The values of a list, up to the end of the text."""
        self._place += 1
        while self.next() != "]":
            yield self._value()
            if not self._goes_on("]"):
                break
        self._end()

    def pairs(self) -> Iterator[tuple[str, Any]]:
        """The pairs of an object, up to the end of the text."""
        self._place += 1
        while (character := self.next()) != "}":
            if character != '"':
                raise self._error("Expecting property name enclosed in double quotes")
            key = self._value()
            if self.next() != ":":
                raise self._error("Expecting ':' delimiter")
            self._place += 1
            yield key, self._value()
            if not self._goes_on("}"):
                break
        self._end()

    def alone(self) -> Any:
        """A value that is the whole text."""
        value = self._value()
        self._end(taken=0)
        return value

    def _goes_on(self, close: str) -> bool:
        """Whether another value follows, after a comma."""
        character = self.next()
        if character == close:
            return False
        if character != ",":
            raise self._error("Expecting ',' delimiter")
        self._place += 1
        if self.next() == close:
            raise self._error("Expecting value")  # a comma at the end
        return True

    def _end(self, taken: int = 1) -> None:
        self._place += taken
        if self.next():
            raise self._error("Extra data")

    def _value(self) -> Any:
        self.next()
        while True:
            try:
                value, end = self._decode(self._text, self._place)
            except JSONDecodeError as error:
                cut_off = error.msg.startswith("Unterminated") or error.pos + _LONGEST_WORD > len(self._text)
                if cut_off and self._more():
                    continue
                raise self._error(error.msg, error.pos) from None
            except (RecursionError, ValueError) as error:
                raise no_json(error, self._content, None, is_line=False) from None
            if end < len(self._text) or not self._more():  # a number at the end of the text may go on
                self._place = end
                return value

    def _more(self) -> bool:
        """Drop what has been read, and read as much again as is left; False at the end."""
        self._line += self._text.count("\n", 0, self._place)
        pieces = [self._text[self._place :]]
        left = size = len(pieces[0])
        most = limit("whole")
        if left > most:
            raise beyond("whole", f"one JSON value has more than {in_words('whole')}", source=self._content.name)
        for block in self._blocks:
            pieces.append(block)
            size += len(block)
            if size > min(2 * left, most):
                break
        self._text, self._place = "".join(pieces), 0
        return size > left

    def _error(self, message: str, place: int | None = None) -> FormatError:
        line = self._line + self._text.count("\n", 0, self._place if place is None else place)
        return no_json(JSONDecodeError(message, "", 0), self._content, line, is_line=False)


def _text_blocks(content: Content) -> Iterator[str]:
    decode = codecs.getincrementaldecoder("utf-8")("surrogateescape").decode
    line = 1
    for block in content.blocks():
        refuse_nul(Chunk(block, line), content)
        text = decode(block.removeprefix(BYTE_ORDER_MARK) if line == 1 else block)
        line += block.count(b"\n")
        if text:
            yield text
    yield decode(b"", final=True) + "\n"  # a file that is cut off is cut off after its last line
