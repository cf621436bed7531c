"""The lines of a repaired copy, query by query: safe repairs, and the policies that were asked for. Opens no files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.formats.lines import ColumnOrder
from assay.formats.names import Kind, is_header
from assay.formats.numbers import number, ranks
from assay.formats.sources import Content
from assay.formats.text import BYTE_ORDER_MARK, decoded, lines_of, whole_lines, wide_encoding
from assay.ids import trimmed
from assay.validation.findings import SHOWN
from assay.validation.policies import Chosen
from assay.validation.reading import transcoded
from assay.validation.text_rules import ascii_digits

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
Write: TypeAlias = Callable[[str], str]  # how an id is rewritten
ID_WORDS = {"query": "query ids", "doc": "document ids"}


class Interleaved(Exception):
    """The rows of a query are not grouped together, so the lines have to be gathered."""


class Repair(Struct, frozen=True):
    """One kind of repair."""

    what: str
    count: int
    lines: tuple[int, ...]  # the first ones, in the original file


class _Line:
    """A line to be written to the new file; a row if it has tokens."""

    __slots__ = ("end", "number", "raw", "tokens", "was")

    def __init__(self, number: int, raw: bytes, tokens: list[bytes], end: bytes) -> None:
        self.number, self.raw, self.tokens, self.end = number, raw, tokens, end
        self.was = tuple(tokens)

    def set(self, column: int, token: bytes) -> None:
        """Replace the value of a column and keep the whitespace between columns."""
        place = 0
        for before in self.tokens[:column]:
            place = self.raw.index(before, place) + len(before)
        start = self.raw.index(self.tokens[column], place)
        self.raw = self.raw[:start] + token + self.raw[start + len(self.tokens[column]) :]
        self.tokens[column] = token


class Mender:
    """Repairs the lines of a file, one query at a time or, if gathered, all queries at the end."""

    def __init__(
        self,
        layout: ColumnOrder,
        kind: Kind,
        policies: Sequence[Chosen] = (),
        writes: Mapping[str, Mapping[str, Write]] | None = None,
        *,
        gathered: bool = False,
    ) -> None:
        """`writes` says how each policy about ids, by its label, rewrites which columns (query, doc)."""
        self._layout, self._kind, self._gathered = layout, kind, gathered
        self._place = {role: column for column, role in enumerate(layout)}
        self._value = self._place.get("rel", self._place.get("score", -1))
        self._policies = {each.name: each for each in policies}
        self._writes = {each.label: (writes or {}).get(each.label, {}) for each in policies if each.name == "ids"}
        self._rewrites = bool(self._writes) or "blanks" in self._policies
        self._made: dict[str, list[int]] = {}
        self._count: dict[str, int] = {}
        self._file = ""
        self._cut_off = self._exhausted = False  # the last line has no line end; everything is read
        self._width: int | None = None
        self._open: list[_Line] = []  # lines since the last query that was written
        self._query: bytes | None = None
        self._written: set[bytes] = set()  # queries
        self._spelt: dict[bytes, bytes] = {}  # query -> the first way in which it was written
        self._spoilt: set[bytes] = set()  # queries with a row that could not be read

    def made(self) -> tuple[Repair, ...]:
        """The repairs made without a policy."""
        labels = {*self._writes} | {each.label for each in self._policies.values()}
        return tuple(self.repair(what, what) for what in self._made if what not in labels)

    def repair(self, key: str, what: str) -> Repair:
        """The lines noted under a key, as a repair."""
        return Repair(what, self._count.get(key, 0), tuple(sorted(self._made.get(key, ()))))

    def _note(self, what: str, line: int) -> None:
        self._count[what] = self._count.get(what, 0) + 1
        lines = self._made.setdefault(what, [])
        if len(lines) < SHOWN:
            lines.append(line)

    # Lines

    def blocks(self, content: Content) -> Iterator[bytes]:
        """The content of the new file."""
        for line, raw, end in self._lines(content):
            yield from self._take(line, raw, end)
        yield self._close()

    def ids(self, content: Content) -> dict[str, set[str]]:
        """The ids in the columns query and doc, as the policies find them."""
        found: dict[str, set[bytes]] = {role: set() for role in ID_WORDS}
        for _, raw, _ in self._lines(content):
            tokens = raw.split()
            if len(tokens) >= len(self._layout) and not raw.startswith(b"#"):
                for role, ids in found.items():
                    ids.add(tokens[self._place[role]])
        trim = trimmed if "blanks" in self._policies else str
        return {role: {trim(decoded(each)) for each in ids} for role, ids in found.items()}

    def _lines(self, content: Content) -> Iterator[tuple[int, bytes, bytes]]:
        """Number, text and line end of each line."""
        self._file, line = content.name, 0
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
        cut_off = self._exhausted and self._cut_off
        stripped = (
            raw.rstrip() if tokens[0].startswith(b"#") else raw.strip()
        )  # without its blank, it would be a comment
        row = _Line(line, stripped, tokens, end)
        is_row = len(tokens) == self._width
        if is_row:
            self._rewrite(row)
        query = row.tokens[0] if is_row else self._rewritten_query(tokens[0])
        yield from self._turn_to(query)
        if not is_row:
            self._spoilt.add(query)
            self._open.append(_Line(line, raw, [], b"" if cut_off else end))
            return
        if cut_off:
            self._note(LINE_END, line)
        if stripped != raw:
            self._note(TRAILING, line)
        self._write_number(row)
        if self._rewrites:
            self._refuse_one_of_two("query", self._spelt, row, "")
        self._open.append(row)

    def _turn_to(self, query: bytes) -> Iterator[bytes]:
        """Start or continue a query; gives the one before it."""
        if query == self._query:
            return
        if not self._gathered:
            yield self._close()
            if query in self._written:
                raise Interleaved
            self._written.add(query)
        self._query = query

    def _is_usual_header(self, tokens: list[bytes]) -> bool:
        return len(tokens) == len(self._layout) and is_header(list(map(decoded, tokens)))

    # Values

    def _rewrite(self, row: _Line) -> None:
        """Apply the policies about ids."""
        if "blanks" in self._policies and not row.raw.isascii():
            self._replace(row, self._policies["blanks"].label, dict.fromkeys(range(len(row.tokens)), trimmed))
        for label, writes in self._writes.items():
            self._replace(row, label, {self._place[role]: write for role, write in writes.items()})
        if row.raw.startswith(b"#"):
            old = show_id(decoded(row.was[0]))
            raise InputError(
                f"the policies turn the query id '{old}' into one that starts with '#', which makes the line a comment.",
                source=self._file,
                line=row.number,
            )

    def _rewritten_query(self, token: bytes) -> bytes:
        """The query of a line whose other columns cannot be told."""
        query = trimmed(decoded(token)) if "blanks" in self._policies else decoded(token)
        for writes in self._writes.values():
            query = writes.get("query", str)(query)
        return query.encode("utf-8", "surrogateescape")

    def _replace(self, row: _Line, label: str, writes: Mapping[int, Write]) -> None:
        changed = False
        for column, write in writes.items():
            old = decoded(row.tokens[column])
            new = write(old)
            if new != old:
                row.set(column, new.encode("utf-8", "surrogateescape"))
                changed = True
        if changed:
            self._note(label, row.number)

    def _write_number(self, row: _Line) -> None:
        """Write the score or grade in ASCII digits, and clip it if a policy says so."""
        if self._value < 0:
            return
        text = row.tokens[self._value]
        written = None if text.isascii() else ascii_digits(decoded(text))
        if written is not None:
            self._note(DIGITS, row.number)
            row.set(self._value, written.encode())
        grade = number(row.tokens[self._value]) if "grades" in self._policies else None
        if grade is not None and grade < 0:
            self._note(self._policies["grades"].label, row.number)
            row.set(self._value, b"0")

    def _refuse_one_of_two(self, role: str, known: dict[bytes, bytes], row: _Line, of: str) -> None:
        """Refuse policies that turn two ids into one, unless another policy says which row to keep."""
        column = self._place[role]
        new, old = row.tokens[column], row.was[column]
        first = known.setdefault(new, old)
        if first != old and "duplicates" not in self._policies:
            one, other = show_id(decoded(first)), show_id(decoded(old))
            raise InputError(
                f"the policies turn the {ID_WORDS[role]} '{one}' and '{other}'{of} into one. If they mean the same, say which "
                "row to keep of a document that is then listed twice: `policies={'duplicates': 'best'}`, or 'first'.",
                source=self._file,
                line=row.number,
            )

    # Queries

    def _close(self) -> bytes:
        """Repair the open queries and write them."""
        queries: dict[bytes, list[_Line]] = {}
        for line in self._open:
            if line.tokens:
                queries.setdefault(line.tokens[0], []).append(line)
        gone: set[int] = set()
        for query, rows in queries.items():
            gone |= self._mend(query, rows)
        lines, self._open = self._open, []
        return b"".join(line.raw + line.end for line in lines if line.number not in gone)

    def _mend(self, query: bytes, rows: list[_Line]) -> set[int]:
        """Repair the rows of a query; returns the lines to leave out."""
        if self._rewrites:
            spelt: dict[bytes, bytes] = {}
            for row in rows:
                self._refuse_one_of_two("doc", spelt, row, f" of query {show_id(decoded(query))}")
        # Equal judgments of a document may come from two judges, and then both count.
        kept = self._without_duplicates(rows if self._kind == "qrels" else self._without_repeats(rows))
        if self._kind == "run" and query not in self._spoilt:
            kept = self._cut(kept)
            self._renumber(kept)
        return {row.number for row in rows} - {row.number for row in kept}

    def _without_repeats(self, rows: list[_Line]) -> list[_Line]:
        """The rows without those that have the same values as an earlier one, except for rank and tag."""
        seen: set[tuple[bytes, ...]] = set()
        kept = []
        for row in rows:
            value = number(row.tokens[self._value]) if self._value >= 0 else None
            key = (*self._identity(row), repr(value).encode())
            if value is not None and key in seen:
                self._note(REPEATS, row.number)
            else:
                seen.add(key)
                kept.append(row)
        return kept

    def _identity(self, row: _Line) -> tuple[bytes, ...]:
        """The document of a row and, in judgments, the iteration or subtopic."""
        return tuple(row.tokens[self._place[role]] for role in ("doc", "iteration") if role in self._place)

    def _without_duplicates(self, rows: list[_Line]) -> list[_Line]:
        policy = self._policies.get("duplicates")
        scores = self._scores(rows) if policy is not None and policy.value == "best" else [0.0] * len(rows)
        if policy is None or scores is None:
            return rows
        best: dict[tuple[bytes, ...], int] = {}
        for place, row in enumerate(rows):
            first = best.setdefault(self._identity(row), place)
            if scores[place] > scores[first]:
                best[self._identity(row)] = place
        return self._without(policy, rows, set(best.values()))

    def _cut(self, rows: list[_Line]) -> list[_Line]:
        policy = self._policies.get("cut")
        order = self._order(rows) if policy is not None and len(rows) > int(policy.value) else None
        return rows if policy is None or order is None else self._without(policy, rows, set(order[: int(policy.value)]))

    def _without(self, policy: Chosen, rows: list[_Line], kept: set[int]) -> list[_Line]:
        for place, row in enumerate(rows):
            if place not in kept:
                self._note(policy.label, row.number)
        return [row for place, row in enumerate(rows) if place in kept]

    def _scores(self, rows: list[_Line]) -> list[float] | None:
        """What the rows are ranked by, or their grades; None if one of them is not a number."""
        if self._value >= 0:
            values = [number(row.tokens[self._value]) for row in rows]
            known = [value for value in values if value is not None]
            return known if len(known) == len(rows) else None
        place = self._ranks(rows)
        return None if place is None else [-float(rank) for rank in place]

    def _ranks(self, rows: list[_Line]) -> list[int] | None:
        found = ranks([row.tokens[self._place["rank"]] for row in rows]) if rows and "rank" in self._place else None
        return None if found is None else list(map(int, found.tolist()))

    def _order(self, rows: list[_Line]) -> list[int] | None:
        """The rows as evaluation ranks them: by score, with ties broken by document id, both descending."""
        scores = self._scores(rows)
        if scores is None:
            return None
        doc = self._place["doc"]
        return sorted(range(len(rows)), key=lambda row: (scores[row], rows[row].tokens[doc]), reverse=True)

    def _renumber(self, rows: list[_Line]) -> None:
        """Renumber the ranks from 1 if they agree with the scores, or by score if a policy says so."""
        place, scores = self._ranks(rows), self._scores(rows)
        if "ranks" in self._policies and scores is not None and "rank" in self._place:
            self._reorder(self._policies["ranks"], rows)
        elif place is not None and scores is not None and self._value >= 0:
            if sorted(place) == list(range(1, len(rows) + 1)):
                return
            order = sorted(range(len(rows)), key=lambda row: (place[row], -scores[row], row))
            if any(scores[after] > scores[before] for before, after in pairwise(order)):
                return  # ranks and scores contradict each other
            for rank, row in enumerate(order, 1):
                if place[row] != rank:
                    rows[row].set(self._place["rank"], str(rank).encode())
                    self._note(RANKS, rows[row].number)

    def _reorder(self, policy: Chosen, rows: list[_Line]) -> None:
        """Number the rows by score and write them in this order, in the places that they have in the file."""
        column = self._place["rank"]
        old = {row.number: place for place, row in enumerate(self._open)}
        slots = [old[row.number] for row in rows]
        for rank, (slot, row) in enumerate(
            zip(slots, (rows[place] for place in self._order(rows) or ()), strict=True), 1
        ):
            if row.tokens[column] != str(rank).encode():
                row.set(column, str(rank).encode())
                self._note(policy.label, row.number)
            elif old[row.number] != slot:
                self._note(policy.label, row.number)
            self._open[slot] = row
