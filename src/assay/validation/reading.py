"""Read text in columns, however malformed, as rows and tallies of problems.

Where `formats` raises an error, this module reports to a rule and continues with the next line.
"""

from __future__ import annotations

import codecs
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.chosen import refuse_no_header
from assay.formats.dialects import ASSAY
from assay.formats.ir_metadata import INCOMPLETE
from assay.formats.lines import ColumnOrder, PlainRows, Rows, Shape, even_rows, header_shape, plain_rows
from assay.formats.names import Kind, is_header
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.text import (
    BYTE_ORDER_MARK,
    Chunk,
    count_lines,
    decoded,
    is_utf8,
    lines_of,
    whole_lines,
    wide_encoding,
)
from assay.inputs.fields import is_table
from assay.validation.findings import FindingExample, Tally
from assay.validation.registry import Rule, Scope, rules_of

SHOWN_LENGTH = 100  # characters of a line
MOST_ODD_LINES = 100_000  # before the first row: this is another kind of file, or an endless stream
_FILES: dict[Kind, str] = {"run": "a run", "qrels": "judgments"}
SCOPES: tuple[Scope, ...] = ("text", "line", "value", "query")  # of rules about parts of a file


class OddLine(Struct, frozen=True):
    """A line that is not a regular row."""

    raw: bytes  # without its line end
    tokens: list[bytes]
    layout: ColumnOrder
    width: int  # columns of the other lines
    is_first: bool  # of the lines with data
    cut_off: bool  # the last line, without a line end

    def shown(self) -> str:
        """The line, safe to print."""
        return show_id(decoded(self.raw), SHOWN_LENGTH)


class Tallies:
    """What each rule has found so far."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.damaged: set[str] = set()  # queries with rows that could not be read
        self._found: dict[str, Tally] = {}
        self._rules = {scope: rules_of(kind, scope) for scope in SCOPES}
        self._of_one_row = [rule for rule in self._rules["query"] if rule.least == 1]

    def __getitem__(self, code: str) -> Tally:
        return self._found.setdefault(code, Tally())

    def take(self, other: Tallies) -> None:
        """Add the tallies of another reading."""
        for code, tally in other.items():
            self[code].count += tally.count
            self[code].examples += tally.examples

    def items(self) -> list[tuple[str, Tally]]:
        """The rules that found something."""
        return [(code, tally) for code, tally in self._found.items() if tally.count]

    def look_at_text(self, chunk: Chunk) -> None:
        """Apply the rules about text."""
        for rule in self._rules["text"]:
            self._extend(rule, rule.check(chunk))

    def look_at_line(self, line: OddLine, number: int) -> None:
        """Apply the rules about lines until one matches."""
        for rule in self._rules["line"]:
            said = rule.check(line)
            if said is not None:
                query = decoded(line.tokens[0]) if line.tokens else None
                self[rule.code].add(FindingExample(said, number, None if query is None else show_id(query)))
                self.damaged |= set() if query is None else {query}
                return

    def look_at_value(self, text: str, number: int | None, query: str) -> None:
        """Apply the rules about values until one matches."""
        for rule in self._rules["value"]:
            said = rule.check(text)
            if said is not None:
                self[rule.code].add(FindingExample(said, number, show_id(query)))
                self.damaged.add(query)
                return

    def look_at_query(self, rows: QueryRows, facts: object) -> None:
        """Apply the rules about queries."""
        for rule in self._rules["query"] if len(rows.docs) > 1 else self._of_one_row:
            examples = rule.check(rows, facts)
            if examples:
                self[rule.code].extend(examples)

    def _extend(self, rule: Rule, examples: Iterable[FindingExample]) -> None:
        if examples:
            self[rule.code].extend(examples)


class TextReader:
    """Reads the rows of text in columns and reports everything else to the rules."""

    def __init__(
        self,
        content: Content,
        kind: Kind,
        layout: ColumnOrder,
        tallies: Tallies,
        progress: Callable[[int], None] | None = None,
        reading: Reading = Reading(),
    ) -> None:
        self._content, self._kind, self._layout, self._tallies = content, kind, layout, tallies
        self._progress, self._reading = progress, reading
        self.lines = 0
        self.comments = 0
        self.incomplete: FindingExample | None = None  # a comment that says that the file is not whole
        self.encodings: set[str] = set()  # of non-ASCII characters: utf-8, other
        self.shape: Shape | None = None
        self._ended = True  # whether the text read so far ends with a line end
        self._exhausted = False
        self._odd, self._any = 0, False  # lines that are no rows, and whether there is a row

    @property
    def width(self) -> int | None:
        """The number of columns of the first line with data."""
        return None if self.shape is None else self.shape.width

    def run_rows(self) -> Iterator[Rows | PlainRows]:
        """The same for a run, by the kernel where every line of a chunk is a plain row."""
        for chunk in self._chunks():
            self._tallies.look_at_text(chunk)
            plain = None if self.shape is None else plain_rows(chunk, self.shape, ASSAY, as_text=False)
            if plain is not None:
                yield plain
                continue
            rows = self._fast(chunk) or self._one_by_one(chunk)
            if rows.tokens:
                yield rows

    def rows(self) -> Iterator[Rows]:
        """The rows, chunk by chunk; other lines are reported to the rules."""
        for chunk in self._chunks():
            self._tallies.look_at_text(chunk)
            rows = self._fast(chunk) or self._one_by_one(chunk)
            if rows.tokens:
                yield rows

    def _chunks(self) -> Iterator[Chunk]:
        for data in whole_lines(self._noting_end(self._content.blocks()), self._content.name):
            chunk = Chunk(data, self.lines + 1)
            if chunk.line == 1:
                chunk = self._start(chunk)
            self.lines += count_lines(chunk.data)
            self.encodings |= encodings_of(chunk.data)
            yield chunk

    def _start(self, chunk: Chunk) -> Chunk:
        data = chunk.data
        if data.startswith(BYTE_ORDER_MARK):
            self._tallies[self._code("063")].add(FindingExample("a byte order mark", 1))
            data = data.removeprefix(BYTE_ORDER_MARK)
        if b"\n" not in data[:-1] and b"\r" in data[:-1].rstrip(b"\r"):
            self._tallies[self._code("066")].add(FindingExample("carriage returns are the only line ends", 1))
            data = data.rstrip(b"\r\n").replace(b"\r", b"\n") + b"\n"
        return Chunk(data, chunk.line)

    def _noting_end(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        for block in blocks:
            self._ended = block.endswith((b"\n", b"\r"))
            yield block
            if self._progress is not None:
                self._progress(len(block))
        self._exhausted = True

    def _code(self, number: str) -> str:
        return ("RUN" if self._kind == "run" else "QRL") + number

    def _fast(self, chunk: Chunk) -> Rows | None:
        """All lines at once, if each of them is a regular row."""
        if self.shape is None:
            return None
        rows = even_rows(chunk, self.shape)
        lines = chunk.data.count(b"\n")
        return rows if rows is not None and len(rows.tokens) == lines * rows.width else None

    def _one_by_one(self, chunk: Chunk) -> Rows:
        kept: list[bytes] = []
        numbers: list[int] = []
        last = chunk.line + chunk.data.count(b"\n") - 1
        for number, raw in enumerate(lines_of(chunk.data), chunk.line):
            if raw.startswith(b"#"):
                self.comments += 1
                if raw.startswith(INCOMPLETE):
                    said = decoded(raw.removeprefix(INCOMPLETE)).strip()
                    self.incomplete = self.incomplete or FindingExample(show_id(said, SHOWN_LENGTH), number)
                continue
            tokens = raw.split()
            is_first = self.shape is None and bool(tokens)
            if is_first and self._is_header(tokens, raw, number):
                self._tallies[self._code("008")].add(FindingExample(show_id(decoded(raw), SHOWN_LENGTH), number))
                continue
            shape = self.shape or self._shape(tokens, raw)
            self.shape = shape if tokens else self.shape
            cut_off = number == last and self._exhausted and not self._ended
            if len(tokens) == shape.width:
                kept += tokens[: len(shape.layout)]
                numbers.append(number)
                continue
            odd = OddLine(raw, tokens, shape.layout, shape.width, is_first, cut_off)
            self._tallies.look_at_line(odd, number)
            self._odd += bool(tokens)
        self._any = self._any or bool(kept)
        if self._odd > MOST_ODD_LINES and not self._any:
            raise InputError(
                f"none of the first {MOST_ODD_LINES:,} lines has the columns of {_FILES[self._kind]}",
                source=self._content.name,
            )
        layout = self.shape.layout if self.shape else self._layout
        return Rows(kept, layout, len(layout), lambda: numbers)

    def _shape(self, first: Sequence[bytes], raw: bytes) -> Shape:
        """The expected columns: a TREC run may have more than six if all lines do."""
        more = self._kind == "run" and len(self._layout) == 6 < len(first) and len(raw.split(b"\t")) != 6
        return Shape(self._layout, len(first) if more else len(self._layout), "", False, True, ASSAY.comments)

    def _is_header(self, tokens: list[bytes], raw: bytes, number: int) -> bool:
        names = list(map(decoded, tokens))
        kind, source, reading = self._kind, self._content.name, self._reading
        if not is_header(names, kind, reading):
            if reading.columns:
                refuse_no_header(kind, source, reading, " ".join(names))
            return False
        self.shape = header_shape(names, kind, source, number, self._shape(tokens, raw), reading)
        return True

    @property
    def ended(self) -> bool:
        """Whether the last line has a line end."""
        return self._ended


def encodings_of(data: bytes) -> set[str]:
    r"""The encodings of non-ASCII characters: utf-8, other, or both.

    >>> sorted(encodings_of("d\u00e9\n".encode() + b"d\xe9\n")), encodings_of(b"d")
    (['other', 'utf-8'], set())
    """
    if data.isascii():
        return set()
    if is_utf8(data):
        return {"utf-8"}
    return {"utf-8" if is_utf8(line) else "other" for line in lines_of(data) if not line.isascii()}


def narrowed(content: Content, tallies: Tallies) -> Content:
    """The content converted to UTF-8 if it is UTF-16 or UTF-32; otherwise unchanged."""
    encoding = None if is_table(content) else wide_encoding(content.head)
    if encoding is None:
        return content
    tallies["RUN003" if tallies.kind == "run" else "QRL003"].add(FindingExample(f"the text is {encoding}", 1))
    data = b"".join(transcoded(content.blocks(), encoding))
    return Content(io.BytesIO(data), content.name, content.stem)


def transcoded(blocks: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """UTF-16 or UTF-32 text as UTF-8. Without a byte order mark, the zero bytes give the byte order."""
    decoder = None
    for block in blocks:
        if decoder is None:
            marked = block.startswith((b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff"))
            order = "" if marked else "-le" if block[:1] != b"\x00" else "-be"
            decoder = codecs.getincrementaldecoder(encoding.lower() + order)(errors="replace")
        yield decoder.decode(block).removeprefix("\ufeff").encode("utf-8", "surrogatepass")


class QueryRows:
    """The rows of one query, in the order of the file."""

    __slots__ = ("__dict__", "_lines", "docs", "iterations", "query", "ranks", "scores")

    def __init__(self, query: str) -> None:
        self.query = query
        self.docs: list[bytes] = []
        self.scores: list[float] = []  # grades, in judgments
        self.ranks: list[int | None] | None = None  # None if there is no such column
        self.iterations: list[bytes] = []
        self._lines: list[Sequence[int]] = []

    def __len__(self) -> int:
        return len(self.docs)

    def add(
        self, docs: list[bytes], scores: list[float], ranks: list[int | None] | None, lines: Sequence[int] | None
    ) -> None:
        """Add rows."""
        self.docs += docs
        self.scores += scores
        if ranks is not None:
            self.ranks = ranks if self.ranks is None else self.ranks + ranks
        if lines is not None:
            self._lines.append(lines)

    @cached_property
    def numbered(self) -> bool:
        """Whether the ranks are 1, 2, 3 and so on; ask when all rows are there."""
        return self.ranks == list(range(1, len(self.docs) + 1))

    @cached_property
    def distinct(self) -> int:
        """The number of different scores; ask when all rows are there."""
        return len(set(self.scores))

    def line(self, row: int) -> int | None:
        """The line number of a row, if known."""
        for lines in self._lines:
            if row < len(lines):
                return lines[row]
            row -= len(lines)
        return None

    def example(self, row: int, text: str) -> FindingExample:
        """A row as an example."""
        return FindingExample(text, self.line(row), show_id(self.query))

    def doc(self, row: int) -> str:
        """The document id of a row, safe to print."""
        return show_id(decoded(self.docs[row]))
