"""Random runs and judgments with edge cases for the kernel, and the forms in which they can be passed."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
from hypothesis import strategies as st

from assay import Rules, Run
from assay.formats.numbers import ranks
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.unread import FileRun
from assay.rules import RULE_CHOICES

_STEM = b"abcdefghijklmnopqrstuvwxyz0123456789ABCD"
_LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13, 15, 16, 17, 24, 31, 32, 33, 40)
# Ids of lengths around those that the kernel handles separately: each is a prefix of the next, and has a neighbour that
# differs in one byte at the start, in the middle or at the end.
PREFIXES = [_STEM[:length] for length in _LENGTHS]
NEIGHBOURS = [
    prefix[:place] + b"!" + prefix[place + 1 :]
    for prefix in (_STEM[:length] for length in (4, 7, 8, 16, 17, 33, 40))
    for place in (0, len(prefix) // 2, len(prefix) - 1)
]
FOREIGN = ["é".encode(), "\ue000".encode(), "𝄞".encode(), "١".encode()]
NOT_UTF8 = [b"\xff", b"d\xe9", b"\xf5", b"\xed\xa0\x80", b"\x80" * 9]
NUMBERS = [b"1", b"01", b"10", b"#1"]
DOCS = [*PREFIXES, *NEIGHBOURS, *FOREIGN, *NOT_UTF8, *NUMBERS]
QUERIES = [b"a", b"abcd", b"abcdefgh", _STEM, b"q", b"1", b"10", "é".encode(), b"\xff"]

# Many are equal, some only as 32-bit floats, some only once they are read.
SCORES = [
    *(b"1", b"1.0", b"1.", b"+1", b"1e0", b"10E-1", b"0.1", b".1", b"0.10000000000000000555111512312578270"),
    *(b"0", b"-0.0", b"-1", b"-.5", b"2.5", b"16777216", b"16777217", b"9007199254740993", b"9007199254740992"),
    *(b"1e39", b"2e39", b"-1e39", b"1e-400", b"5e-324", b"12.34567890", b"12.3456789", b"1234567.12345678"),
]


class Row(NamedTuple):
    """A document in a ranking."""

    query: bytes
    doc: bytes
    score: bytes
    rank: int


class Case(NamedTuple):
    """Rows of a run, and grades by query and document."""

    rows: list[Row]
    grades: dict[bytes, dict[bytes, int]]

    @property
    def qrels(self) -> dict[str, dict[str, int]]:
        return {text(query): {text(doc): grade for doc, grade in docs.items()} for query, docs in self.grades.items()}


def text(token: bytes) -> str:
    return token.decode("utf-8", "surrogateescape")


@st.composite
def cases(draw: st.DrawFn, docs: Sequence[bytes] = DOCS, scores: Sequence[bytes] = SCORES) -> Case:
    """Queries interleaved or not, with or without duplicates, judged or not."""
    some_docs = st.sampled_from(draw(st.lists(st.sampled_from(docs), min_size=1, max_size=14, unique=True)))
    some_scores = st.sampled_from(draw(st.lists(st.sampled_from(scores), min_size=1, max_size=6)))
    answered = draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4, unique=True))
    judged = draw(st.lists(st.sampled_from(QUERIES), min_size=1, max_size=4, unique=True))
    repeats = draw(st.booleans())
    rows = [
        Row(query, doc, draw(some_scores), draw(st.integers(1, 9)))
        for query in answered
        for doc in draw(st.lists(some_docs, min_size=1, max_size=14, unique=not repeats))
    ]
    grades = {
        query: {doc: draw(st.integers(-1, 3)) for doc in draw(st.lists(some_docs, min_size=1, max_size=5, unique=True))}
        for query in judged
    }
    return Case(draw(st.permutations(rows)) if draw(st.booleans()) else rows, grades)


def some_rules() -> st.SearchStrategy[Rules]:
    """Any valid combination of rules."""
    choices = {name: st.sampled_from(given) for name, given in RULE_CHOICES.items()}
    choices["depth"] = st.sampled_from([None, None, 0, 1, 3])
    return st.fixed_dictionaries(choices).filter(_together).map(lambda chosen: Rules(**chosen))


def _together(chosen: dict[str, Any]) -> bool:
    return chosen["depth"] is None or chosen["ties"] not in ("expected", "error")


# Text

BLANKS = [b" ", b"\t", b"  ", b" \t ", b"\v", b" \f"]
LINE_ENDS = [b"\n", b"\r\n", b" \n", b"\t\r\n", b"\r\r\n"]
NO_DATA = [b"\n", b"  \n", b"\r\n", b"# a b c d e f\n", b"#\n", b"#" + b" x" * 50 + b"\r\n"]
LINE_LENGTHS = [0, 62, 63, 64, 65, 126, 127, 128, 129, 191, 192, 193, 400]  # with the line feed; 0: any length


def run_line(row: Row, *, blank: bytes = b" ", end: bytes = b"\n", length: int = 0) -> bytes:
    """A line of TREC text, with a tag that gives it the right length."""
    line = blank.join([row.query, b"Q0", row.doc, b"%d" % row.rank, row.score, b"t"])
    return line + b"t" * max(0, length - len(line) - len(end)) + end


def run_text(rows: Sequence[Row]) -> bytes:
    return b"".join(map(run_line, rows))


def qrels_text(case: Case) -> bytes:
    return b"".join(
        b"%s 0 %s %d\n" % (query, doc, grade) for query, docs in case.grades.items() for doc, grade in docs.items()
    )


@st.composite
def odd_texts(draw: st.DrawFn, rows: Sequence[Row]) -> bytes:
    """The lines of a run with all kinds of whitespace, endings and lengths, and with lines without data in between."""
    blanks, ends, lengths = (
        st.sampled_from(draw(st.lists(st.sampled_from(choices), min_size=1, max_size=3)))
        for choices in (BLANKS, LINE_ENDS, LINE_LENGTHS)
    )
    between = st.one_of(st.just(b""), st.sampled_from(NO_DATA)) if draw(st.booleans()) else st.just(b"")
    lines = [draw(between) + run_line(row, blank=draw(blanks), end=draw(ends), length=draw(lengths)) for row in rows]
    mark = draw(st.sampled_from([b"", b"", b"\xef\xbb\xbf"]))
    whole = mark + b"".join(lines) + draw(between)
    return whole.removesuffix(b"\n") if draw(st.booleans()) else whole


class DripRun(FileRun):
    """A run that comes in pieces of a few bytes, so the kernel refills its buffer at any position."""

    def __init__(self, data: bytes, pieces: Sequence[int]) -> None:
        super().__init__("drip.run", Reading(), None)
        self._origin = DripOrigin(data, pieces)  # type: ignore[assignment]


class DripOrigin:
    """A source that gives a few bytes at a time."""

    path = "drip.run"

    def __init__(self, data: bytes, pieces: Sequence[int]) -> None:
        self._data, self._pieces = data, pieces

    @contextmanager
    def open(self) -> Iterator[Content]:
        yield Content(_Drip(self._data, self._pieces), self.path, "drip")


class _Drip:
    def __init__(self, data: bytes, pieces: Sequence[int]) -> None:
        self._stream, self._pieces = io.BytesIO(data), cycle(pieces)

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(min(next(self._pieces), size))


# All forms of a run


def as_text_file(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "text.run"
    path.write_bytes(run_text(rows))
    return path


def as_gzip_file(rows: Sequence[Row], folder: Path) -> Path:
    path = folder / "text.run.gz"
    path.write_bytes(gzip.compress(run_text(rows), 1))
    return path


def as_drip(rows: Sequence[Row], folder: Path) -> DripRun:
    return DripRun(run_text(rows), [7, 64, 1])


def as_table(rows: Sequence[Row], folder: Path) -> Run:
    return Run.from_columns(
        [text(row.query) for row in rows],
        [text(row.doc) for row in rows],
        [float(row.score) for row in rows],
        rank=ranks([b"%d" % row.rank for row in rows]),
        tag="t",
    )


def as_dict(rows: Sequence[Row], folder: Path) -> dict[str, dict[str, float]]:
    run: dict[str, dict[str, float]] = {}
    for row in rows:
        run.setdefault(text(row.query), {})[text(row.doc)] = float(row.score)
    return run


def as_arrow(rows: Sequence[Row], folder: Path) -> Any:
    return pa.table(
        {
            "query": string_array([row.query for row in rows]),
            "doc": string_array([row.doc for row in rows]),
            "score": pa.array([float(row.score) for row in rows]),
            "rank": pa.array([row.rank for row in rows]),
            "tag": pa.array(["t"] * len(rows)),
        }
    )


def string_array(tokens: Sequence[bytes]) -> Any:
    """Arrow text of any bytes: Arrow does not check that they are UTF-8."""
    binary = pa.array(tokens, pa.binary())
    return pa.StringArray.from_buffers(len(tokens), *binary.buffers()[1:])


FORMS = {form.__name__: form for form in (as_text_file, as_gzip_file, as_drip, as_table, as_dict, as_arrow)}
