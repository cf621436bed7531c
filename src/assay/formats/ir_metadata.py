"""ir_metadata: metadata in comment lines at the top of a run file (Breuer, Keller and Schaer 2022).

    # ir_metadata.start
    # method:
    #   automatic: true
    #   retrieval:
    #     - name: bm25
    #       b: 0.4
    # ir_metadata.end

The lines between the marks are YAML, parsed by PyYAML (the extra `metadata`). A header that cannot be parsed, or any
header if PyYAML is not installed, is kept as text with the reason. Writing does not need PyYAML.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, TypeAlias

from assay.errors import InputError, MissingExtraError
from assay.files import write_blocks
from assay.formats.sources import BLOCK_SIZE, open_source

Metadata: TypeAlias = dict[str, Any]

INCOMPLETE = b"# incomplete:"  # begins the comment of a run that lacks queries which failed when it was fetched
START, END = "ir_metadata.start", "ir_metadata.end"
_LONGEST_HEADER = 1 << 20  # bytes searched for the end mark
_WORDS = frozenset({"true", "false", "null"})
_PLAIN = re.compile(r"[^\W\d_](?:[\w ./()+@%,;-]*[\w.)/+])?")  # texts that need no quotes


def read_metadata(path: str | os.PathLike[str]) -> Metadata | None:
    """The metadata of a run file, compressed or not; None if it has no header.

    A header that cannot be parsed gives {"raw": its text, "why": the reason}.
    """
    text = read_header(path)
    return None if text is None else parse_metadata(text)


def read_header(path: str | os.PathLike[str]) -> str | None:
    """The text of a run file's header; None if it has none."""
    with open_source(path) as content:
        while _may_go_on(content.head) and content.look_further():
            pass
        return header_text(content.head.decode("utf-8", "replace"))


def _may_go_on(head: bytes) -> bool:
    """Whether the comment lines at the top may continue beyond the bytes read so far."""
    if len(head) > _LONGEST_HEADER or f"# {END}".encode() in head:
        return False
    head = head.removeprefix(b"\xef\xbb\xbf")
    return head.startswith(b"#") and all(line.startswith(b"#") for line in head.split(b"\n")[:-1])


def header_text(text: str) -> str | None:
    r"""The lines between the marks, without their #; None if there are no marks.

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
    r"""Parse the text of a header; {"raw": text, "why": the reason} if it cannot be parsed.

    >>> parse_metadata("method:\n  retrieval:\n    - name: bm25\n      b: 0.4")
    {'method': {'retrieval': [{'name': 'bm25', 'b': 0.4}]}}
    >>> parse_metadata("method: *bm25")
    {'raw': 'method: *bm25', 'why': 'line 1: anchors and aliases are not supported'}
    """
    try:
        from assay.formats.header_yaml import Refused, load_header
    except ImportError:
        return {"raw": text, "why": str(MissingExtraError("reading the header of a run", "metadata"))}
    try:
        return load_header(text)
    except Refused as error:
        return {"raw": text, "why": str(error)}


def is_raw(metadata: Mapping[str, Any]) -> bool:
    """Whether the header could not be parsed and was kept as text."""
    return set(metadata) == {"raw", "why"}


# Writing


def render_metadata(metadata: Mapping[str, Any]) -> str:
    """The header of a run file: comment lines between the two marks.

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


def appended(text: str | None, name: str, item: Mapping[str, Any]) -> str:
    """The text of a header with one more item in the list of this name, which is the header's last key.

    >>> print(appended(appended("tag: bm25", "repairs", {"lines": 5}), "repairs", {"lines": 2}))
    tag: bm25
    repairs:
      - lines: 5
      - lines: 2
    """
    lines = [] if text is None else text.split("\n")
    first, *others = _rendered({name: [item]})
    lines += others if first in lines else [first, *others]
    return "\n".join(lines)


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
    """A scalar as YAML that parses to the same value."""
    if isinstance(value, (Mapping, list, tuple)):
        raise InputError("ir_metadata does not allow empty lists or mappings; leave the key out.")
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
    """Copy a run file with this header in place of its own; the run's lines are unchanged, compression is removed."""
    with open_source(run) as content:
        while _may_go_on(content.head) and content.look_further():
            pass
        content.head = _without_header(content.head)
        header = render_metadata(metadata).encode("utf-8", "surrogateescape")
        write_blocks(output, chain([header], iter(lambda: content.read_some(BLOCK_SIZE), b"")))


def _without_header(head: bytes) -> bytes:
    """The start of a file without the header, marks included."""
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
