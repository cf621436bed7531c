"""ir_metadata: what a run file says of itself, in comment lines at its top (Breuer, Keller and Schaer 2022).

    # ir_metadata.start
    # method:
    #   automatic: true
    #   retrieval:
    #     - name: bm25
    #       b: 0.4
    # ir_metadata.end

The lines between the marks are YAML. Only what ir_metadata uses of it is read here: mappings by indentation, lists with
"- ", plain and quoted texts, numbers, true, false and null. Of a header that uses more, the text is kept as it is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple, TypeAlias

from assay.errors import InputError
from assay.files import write_blocks
from assay.formats.sources import BLOCK_SIZE, open_source

Metadata: TypeAlias = dict[str, Any]

START, END = "ir_metadata.start", "ir_metadata.end"
_LONGEST_HEADER = 1 << 20  # bytes that are looked through for the end mark
_DEEPEST = 50  # levels; more is no header that anyone wrote

_KEY = re.compile(
    r"""(?P<key>"(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#&*!|>%@`\[\]{},?:-][^#"']*?|-[^\s#"'][^#"']*?)\s*:(?:\s+|$)"""
)
_BEYOND = re.compile(r"[&*!|>%@`\[\]{}?]|- |-$")  # anchors, tags, blocks, flow collections
_NUMBER = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?")
_WORDS = {"true": True, "false": False, "null": None, "~": None, "": None}
_ESCAPE = re.compile(r"\\(?:U(?P<eight>[0-9a-fA-F]{8})|u(?P<four>[0-9a-fA-F]{4})|x(?P<two>[0-9a-fA-F]{2})|(?P<one>.))")
_ESCAPED = dict(zip('0abtnvfre "/\\', '\0\a\b\t\n\v\f\r\x1b "/\\', strict=True))
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+@%,;-]*[\w.)/+])?")  # texts that need no quotes


class BeyondSubset(Exception):
    """YAML that this reader does not know; says what and on which line of the header."""


class Line(NamedTuple):
    """A line of the header that says something."""

    number: int  # from 1, of the lines between the marks
    indent: int
    text: str


def read_metadata(path: str | os.PathLike[str]) -> Metadata | None:
    """The metadata of a run file, compressed or not; None where it has none.

    A header that cannot be read comes as {"raw": its text, "why": what is beyond us}.
    """
    with open_source(path) as content:
        head = content.head
        while _may_go_on(head) and content.look_further():
            head = content.head
    text = header_text(head.decode("utf-8", "replace"))
    return None if text is None else parse_metadata(text)


def _may_go_on(head: bytes) -> bool:
    """Whether the header, which is the comment lines at the top, may end after what was read so far."""
    if len(head) > _LONGEST_HEADER or f"# {END}".encode() in head:
        return False
    head = head.removeprefix(b"\xef\xbb\xbf")
    return head.startswith(b"#") and all(line.startswith(b"#") for line in head.split(b"\n")[:-1])


def header_text(text: str) -> str | None:
    r"""What stands between the marks, without the # of each line; None where there are no marks.

    >>> header_text("# ir_metadata.start\n# tag: bm25\n# ir_metadata.end\n1 Q0 d 1 2.0 bm25")
    'tag: bm25'
    """
    lines = []
    for line in text.removeprefix("\ufeff").split("\n"):
        if not line.startswith("#"):
            break
        lines.append(line[1:].rstrip())
    marks = [line.strip() for line in lines]
    if START not in marks:
        return None
    first = marks.index(START) + 1
    inside = lines[first : marks.index(END, first) if END in marks[first:] else None]
    indents = [len(line) - len(line.lstrip(" ")) for line in inside if line.strip()]
    return "\n".join(line[min(indents, default=0) :].rstrip() for line in inside)


def parse_metadata(text: str) -> Metadata:
    r"""The metadata of a header's text; {"raw": text, "why": ...} where it is beyond us.

    >>> parse_metadata("method:\n  retrieval:\n    - name: bm25\n      b: 0.4")
    {'method': {'retrieval': [{'name': 'bm25', 'b': 0.4}]}}
    >>> parse_metadata("method: [bm25, rm3]")
    {'raw': 'method: [bm25, rm3]', 'why': "line 1: '[bm25, rm3]' is YAML that is not read here"}
    """
    try:
        found = _Parser(list(_lines(text))).document()
    except BeyondSubset as error:
        return {"raw": text, "why": str(error)}
    return found


def is_raw(metadata: Mapping[str, Any]) -> bool:
    """Whether a header was beyond us, and its text was kept."""
    return set(metadata) == {"raw", "why"}


def _lines(text: str) -> Iterator[Line]:
    for number, line in enumerate(text.split("\n"), 1):
        bare = line.strip()
        if not bare or bare.startswith("#") or bare == "---":
            continue
        indent = line[: len(line) - len(line.lstrip())]
        if "\t" in indent:
            raise BeyondSubset(f"line {number}: tabs cannot indent")
        yield Line(number, len(indent), bare)


class _Parser:
    """Lines into mappings, lists and scalars."""

    def __init__(self, lines: list[Line]) -> None:
        self._lines, self._at, self._depth = lines, 0, 0

    def document(self) -> Metadata:
        if not self._lines:
            return {}
        found = self._block(self._lines[0].indent)
        if self._at < len(self._lines):
            raise self._beyond("is indented less than the first line", self._lines[self._at])
        if not isinstance(found, dict):
            raise BeyondSubset("the header is a list; ir_metadata starts with names")
        return found

    def _beyond(self, what: str, line: Line) -> BeyondSubset:
        return BeyondSubset(f"line {line.number}: {line.text!r} {what}")

    def _block(self, indent: int) -> Any:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise BeyondSubset(f"line {self._lines[self._at].number}: more than {_DEEPEST} levels")
        found = self._list(indent) if _is_item(self._lines[self._at].text) else self._mapping(indent)
        self._depth -= 1
        return found

    def _here(self, indent: int) -> Line | None:
        """The next line, if it belongs to the block of this indentation."""
        line = self._lines[self._at] if self._at < len(self._lines) else None
        if line is not None and line.indent > indent:
            raise self._beyond("is indented further than its neighbours", line)
        return line if line is not None and line.indent == indent else None

    def _mapping(self, indent: int) -> Metadata:
        found: Metadata = {}
        while (line := self._here(indent)) is not None and not _is_item(line.text):
            match = _KEY.match(line.text)
            if match is None:
                raise self._beyond("is YAML that is not read here", line)
            key = str(_text(match["key"]))
            if key in found:
                raise self._beyond(f"gives {key!r} a second time", line)
            found[key] = self._value(line, indent, line.text[match.end() :])
        return found

    def _list(self, indent: int) -> list[Any]:
        found = []
        while (line := self._here(indent)) is not None and _is_item(line.text):
            rest = line.text[1:].lstrip()
            inner = indent + len(line.text) - len(rest)
            if rest and (_is_item(rest) or _KEY.match(rest)):  # a block that starts on the line of its dash
                self._lines[self._at] = Line(line.number, inner, rest)
                found.append(self._block(inner))
            else:
                found.append(self._value(line, indent, rest))
        return found

    def _value(self, line: Line, indent: int, rest: str) -> Any:
        """What follows a name or a dash: a scalar, or the block of the lines below."""
        self._at += 1
        if rest and not rest.startswith("#"):
            return self._scalar(line, rest)
        below = self._lines[self._at] if self._at < len(self._lines) else None
        if below is None or below.indent < indent or (below.indent == indent and not _opens_here(line, below)):
            return None
        return self._block(below.indent)

    def _scalar(self, line: Line, text: str) -> Any:
        if text[0] in "\"'":
            match = re.match(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*(?:#.*)?$""", text)
            if match is None:
                raise BeyondSubset(f"line {line.number}: the quotes in {text!r} are not closed on the line")
            return _text(match[1])
        bare = re.split(r"\s#", text, maxsplit=1)[0].rstrip()
        if _BEYOND.match(bare) or re.search(r":(?:\s|$)", bare):
            raise BeyondSubset(f"line {line.number}: {bare!r} is YAML that is not read here")
        return _plain(bare)


def _is_item(text: str) -> bool:
    return text == "-" or text.startswith("- ")


def _opens_here(line: Line, below: Line) -> bool:
    """A list may stand under its name without further indentation."""
    return _is_item(below.text) and not _is_item(line.text)


def _text(token: str) -> str:
    if token.startswith("'"):
        return token[1:-1].replace("''", "'")
    if not token.startswith('"'):
        return token
    return _ESCAPE.sub(_unescaped, token[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    digits = found["eight"] or found["four"] or found["two"]
    if digits:
        return chr(int(digits, 16) % 0x110000)
    return _ESCAPED.get(found["one"], found[0])


def _plain(text: str) -> Any:
    if text.casefold() in _WORDS:
        return _WORDS[text.casefold()]
    if not _NUMBER.fullmatch(text):
        return text
    whole = text.lstrip("+-")
    if whole.isdecimal():
        return text if len(whole) > 1 and whole.startswith("0") else int(text)  # 007 is a name
    return float(text)


# Writing


def render_metadata(metadata: Mapping[str, Any]) -> str:
    """The header of a run file: comment lines with the marks around.

    >>> print(render_metadata({"tag": "bm25", "method": {"retrieval": [{"name": "bm25", "b": 0.4}]}}), end="")
    # ir_metadata.start
    # tag: bm25
    # method:
    #   retrieval:
    #     - name: bm25
    #       b: 0.4
    # ir_metadata.end
    """
    lines = str(metadata["raw"]).split("\n") if is_raw(metadata) else list(_rendered(metadata))
    return "".join(f"# {line}".rstrip() + "\n" for line in [START, *lines, END])


def _rendered(value: Mapping[str, Any]) -> Iterator[str]:
    for key, inner in value.items():
        if isinstance(inner, (Mapping, list, tuple)) and inner:
            yield f"{_shown(str(key))}:"
            yield from (f"  {line}" for line in _rendered_inner(inner))
        else:
            yield f"{_shown(str(key))}: {_shown(inner)}"


def _rendered_inner(value: Mapping[str, Any] | Sequence[Any]) -> Iterator[str]:
    if isinstance(value, Mapping):
        yield from _rendered(value)
        return
    for item in value:
        lines = list(_rendered_inner(item)) if isinstance(item, (Mapping, list, tuple)) and item else [_shown(item)]
        yield f"- {lines[0]}"
        yield from (f"  {line}" for line in lines[1:])


def _shown(value: Any) -> str:
    """A scalar so that it is read as the same again."""
    if isinstance(value, (Mapping, list, tuple)):
        raise InputError("ir_metadata has no empty lists or mappings; leave the name out.")
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, (int, float)):
        return repr(value)
    text = str(value)
    plain = _PLAIN.fullmatch(text) and text.casefold() not in _WORDS and text.isprintable()
    return text if plain else '"' + "".join(map(_escaped, text)) + '"'


def _escaped(character: str) -> str:
    if character in '"\\':
        return f"\\{character}"
    return character if character.isprintable() else f"\\U{ord(character):08x}"


def write_with_metadata(
    run: str | os.PathLike[str], metadata: Mapping[str, Any], output: str | os.PathLike[str]
) -> None:
    """Write a run file with this header in place of its own; lines of the run stay as they are, compression does not."""
    with open_source(run) as content:
        while _may_go_on(content.head) and content.look_further():
            pass
        content.head = _without_header(content.head)
        header = render_metadata(metadata).encode("utf-8", "surrogateescape")
        write_blocks(output, chain([header], iter(lambda: content.read_some(BLOCK_SIZE), b"")))


def _without_header(head: bytes) -> bytes:
    """The head of a file without the lines from the first mark to the last."""
    found = re.search(
        rb"^#[ \t]*"
        + re.escape(START).encode()
        + rb"[ \t]*\r?\n(?:#.*\n)*?#[ \t]*"
        + re.escape(END).encode()
        + rb"[ \t]*\r?\n",
        head,
        re.MULTILINE,
    )
    return head if found is None else head[: found.start()] + head[found.end() :]
