"""Write a repaired copy of a file and list the repairs. Never guesses: anything ambiguous is left unchanged."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise

from msgspec import Struct

from assay.errors import InputError
from assay.files import write_blocks
from assay.formats.detect import detect_format
from assay.formats.lines import ColumnOrder
from assay.formats.names import Kind, is_header
from assay.formats.numbers import number, ranks
from assay.formats.reading import FORMATS
from assay.formats.readings import AUTO, Reading
from assay.formats.sources import COMPRESSION_SUFFIXES, STDIN, Content, Origin, Source
from assay.formats.text import BYTE_ORDER_MARK, decoded, lines_of, refuse_other_files, whole_lines, wide_encoding
from assay.validation.findings import SHOWN
from assay.validation.reading import transcoded
from assay.validation.text_rules import ascii_digits
from assay.validation.validating import LAYOUTS

BLANK, HEADER, TRAILING = "blank lines removed", "header line removed", "whitespace around lines removed"
DIGITS, REPEATS, RANKS = (
    "non-ASCII digits converted",
    "duplicate rows removed",
    "ranks renumbered 1, 2, 3",
)
MARK, RETURNS, LINE_END = (
    "byte order mark removed",
    "carriage returns converted to line feeds",
    "line end added to the last line",
)


class Repair(Struct, frozen=True):
    """One kind of repair."""

    what: str
    count: int
    lines: tuple[int, ...]  # the first ones, in the original file


class Repairs(Struct, frozen=True):
    """The repairs made to a file."""

    output: str
    made: tuple[Repair, ...]


class _Line:
    """A row to be written to the new file."""

    __slots__ = ("end", "number", "raw", "tokens")

    def __init__(self, number: int, raw: bytes, tokens: list[bytes], end: bytes) -> None:
        self.number, self.raw, self.tokens, self.end = number, raw, tokens, end

    def set(self, column: int, token: bytes) -> None:
        """Replace the value of a column and keep the whitespace between columns."""
        place = 0
        for before in self.tokens[:column]:
            place = self.raw.index(before, place) + len(before)
        start = self.raw.index(self.tokens[column], place)
        self.raw = self.raw[:start] + token + self.raw[start + len(self.tokens[column]) :]
        self.tokens[column] = token


def fix_run(source: Source, output: str | os.PathLike[str], *, reading: Reading = Reading()) -> Repairs:
    """Write a repaired copy of a run in columns and list the repairs."""
    return _fixed(source, output, "run", reading)


def fix_qrels(source: Source, output: str | os.PathLike[str], *, reading: Reading = Reading()) -> Repairs:
    """Write a repaired copy of judgments in columns and list the repairs."""
    return _fixed(source, output, "qrels", reading)


def _fixed(source: Source, output: str | os.PathLike[str], kind: Kind, reading: Reading) -> Repairs:
    target = os.fspath(output)
    if source != STDIN and os.path.exists(target) and os.path.samefile(source, target):
        raise InputError("the repaired copy would overwrite the original. Choose another name.", source=target)
    if target.endswith(COMPRESSION_SUFFIXES):
        raise InputError(
            "repaired copies are not compressed. Choose a name without this suffix, and compress the file afterwards.",
            source=target,
        )
    with Origin(source).open() as content:
        layout = _layout(content, kind, reading)
        fixer = _Fixer(layout, kind)
        write_blocks(target, fixer.blocks(content))
    return Repairs(target, fixer.made())


def _layout(content: Content, kind: Kind, reading: Reading) -> ColumnOrder:
    name = reading.input_format
    if name == AUTO and wide_encoding(content.head) is None:
        try:
            name = detect_format(content, kind, FORMATS, reading)
        except InputError:
            refuse_other_files(content)
            name = "trec"
    name = "trec" if name == AUTO else name
    if name not in LAYOUTS[kind]:
        raise InputError(
            f"only text in columns can be repaired, and this is {name}. "
            f"Convert it first with `assay {'runs' if kind == 'run' else 'qrels'} convert`.",
            source=content.name,
        )
    return LAYOUTS[kind][name]


class _Fixer:
    """Repairs a file query by query."""

    def __init__(self, layout: ColumnOrder, kind: Kind) -> None:
        self._layout, self._kind = layout, kind
        self._place = {role: column for column, role in enumerate(layout)}
        self._value = self._place.get("rel", self._place.get("score", -1))
        self._made: dict[str, list[int]] = {}
        self._count: dict[str, int] = {}
        self._cut_off = self._exhausted = False  # the last line has no line end; everything is read
        self._width: int | None = None
        self._open: list[_Line] = []  # rows of the current query, and lines between them
        self._query: bytes | None = None
        self._spoilt = False  # whether a row of the current query could not be read
        self._seen: dict[bytes, set[tuple[bytes, ...]]] = {}

    def made(self) -> tuple[Repair, ...]:
        """The repairs made."""
        return tuple(Repair(what, self._count[what], tuple(lines)) for what, lines in self._made.items())

    def _note(self, what: str, line: int) -> None:
        self._count[what] = self._count.get(what, 0) + 1
        lines = self._made.setdefault(what, [])
        if len(lines) < SHOWN:
            lines.append(line)

    def blocks(self, content: Content) -> Iterator[bytes]:
        """The content of the new file, query by query."""
        for line, raw, end in self._lines(content):
            yield from self._take(line, raw, end)
        yield self._close()

    def _lines(self, content: Content) -> Iterator[tuple[int, bytes, bytes]]:
        """Number, text and line end of each line."""
        line = 0
        for data in whole_lines(self._blocks(content), content.name):
            for raw in lines_of(self._start(data) if line == 0 else data):
                line += 1
                yield line, raw.removesuffix(b"\r"), b"\r\n" if raw.endswith(b"\r") else b"\n"

    def _blocks(self, content: Content) -> Iterator[bytes]:
        encoding = wide_encoding(content.head)
        if encoding:
            self._note(f"{encoding} converted to UTF-8", 1)
        blocks = content.blocks()
        for block in transcoded(blocks, encoding) if encoding else blocks:
            self._cut_off = not block.endswith((b"\n", b"\r"))
            yield block
        self._exhausted = True

    def _start(self, data: bytes) -> bytes:
        if data.startswith(BYTE_ORDER_MARK):
            self._note(MARK, 1)
            data = data.removeprefix(BYTE_ORDER_MARK)
        if b"\n" not in data[:-1] and b"\r" in data[:-1].rstrip(b"\r"):
            self._note(RETURNS, 1)
            data = data.rstrip(b"\r\n").replace(b"\r", b"\n") + b"\n"
        return data

    def _take(self, line: int, raw: bytes, end: bytes) -> Iterator[bytes]:
        """Process a line; gives the previous query when a row starts the next one."""
        tokens = raw.split()
        if raw.startswith(b"#"):
            self._open.append(_Line(line, raw, [], end))
            return
        if not tokens:
            self._note(BLANK, line)
            return
        if self._width is None and self._is_usual_header(tokens):
            self._note(HEADER, line)
            return
        self._width = self._width or max(len(tokens), len(self._layout))
        if tokens[0] != self._query:
            yield self._close()
            self._query, self._spoilt = tokens[0], False
        cut_off = self._exhausted and self._cut_off
        if len(tokens) != self._width:
            self._spoilt = True
            self._open.append(_Line(line, raw, [], b"" if cut_off else end))
            return
        if cut_off:
            self._note(LINE_END, line)
        stripped = raw.strip()
        if stripped != raw:
            self._note(TRAILING, line)
        row = _Line(line, stripped, tokens, end)
        self._write_ascii(row)
        if not self._is_repeat(row):
            self._open.append(row)

    def _is_usual_header(self, tokens: list[bytes]) -> bool:
        return len(tokens) == len(self._layout) and is_header(list(map(decoded, tokens)))

    def _write_ascii(self, row: _Line) -> None:
        written = ascii_digits(decoded(row.tokens[self._value])) if self._value >= 0 else None
        if written is not None:
            self._note(DIGITS, row.number)
            row.set(self._value, written.encode())

    def _is_repeat(self, row: _Line) -> bool:
        """Whether an earlier row has the same values, except for rank and tag."""
        columns = [self._place[role] for role in ("doc", "iteration") if role in self._place]
        value = number(row.tokens[self._value]) if self._value >= 0 else None
        key = (*(row.tokens[column] for column in columns), repr(value).encode())
        seen = self._seen.setdefault(row.tokens[0], set())
        if value is None or key not in seen:
            seen.add(key)
            return False
        self._note(REPEATS, row.number)
        return True

    def _close(self) -> bytes:
        if self._kind == "run" and not self._spoilt and "rank" in self._place and "score" in self._place:
            self._renumber([line for line in self._open if line.tokens])
        lines, self._open = self._open, []
        return b"".join(line.raw + line.end for line in lines)

    def _renumber(self, rows: list[_Line]) -> None:
        """Renumber the ranks from 1 if they agree with the scores."""
        if not rows:
            return
        place = ranks([row.tokens[self._place["rank"]] for row in rows])
        scores = [number(row.tokens[self._value]) for row in rows]
        if place is None or None in scores or sorted(place.tolist()) == list(range(1, len(rows) + 1)):
            return
        known = [score for score in scores if score is not None]
        order = sorted(range(len(rows)), key=lambda row: (int(place[row]), -known[row], row))
        if any(known[after] > known[before] for before, after in pairwise(order)):
            return  # ranks and scores contradict each other
        for rank, row in enumerate(order, 1):
            if int(place[row]) != rank:
                rows[row].set(self._place["rank"], str(rank).encode())
                self._note(RANKS, rows[row].number)
