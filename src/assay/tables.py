"""Judgments and runs as columns. Does not read files, rank documents or compute measures.

Ids are text. Bytes that are not UTF-8 are kept as surrogate escapes, so no two ids become equal. "Byte order" is the
order of the UTF-8 bytes, as in trec_eval's strcmp.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError

if TYPE_CHECKING:  # importing numpy.typing takes a tenth of the time of importing NumPy
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]
    Integers: TypeAlias = npt.NDArray[np.int64]
    Booleans: TypeAlias = npt.NDArray[np.bool_]
    Ids: TypeAlias = npt.NDArray[np.object_]  # of str
else:
    Floats = Integers = Booleans = Ids = np.ndarray


class Qrels(Struct, frozen=True, eq=False):
    """Relevance judgments, one row per judgment, in input order."""

    queries: tuple[str, ...]  # distinct query ids, in byte order
    query: Integers  # index into `queries`
    doc: Ids
    rel: Floats  # grade; negative: pooled but not judged
    iteration: Ids | None = None  # column 2 of a TREC file: iteration or subtopic
    source: str = "qrels"
    lines: Sequence[int] | None = None  # line number of each row, for messages

    def __post_init__(self) -> None:
        _check_lengths(self.source, self.query, self.doc, self.rel, self.iteration)
        _check_finite(self.source, "grade", self.rel, self)

    @classmethod
    def from_columns(
        cls,
        query: Sequence[str],
        doc: Sequence[str] | Ids,
        rel: npt.ArrayLike,
        *,
        iteration: Sequence[str] | Ids | None = None,
        source: str = "qrels",
        lines: Sequence[int] | None = None,
    ) -> Qrels:
        """Qrels from columns with one value per judgment.

        >>> Qrels.from_columns(["q2", "q1"], ["a", "b"], [1, 0]).queries
        ('q1', 'q2')
        """
        queries, codes = encode_ids(query)
        grades = np.asarray(rel, dtype=np.float64)
        iterations = None if iteration is None else as_ids(iteration)
        return cls(queries, codes, as_ids(doc), grades, iterations, source, lines)

    def whole_grades(self) -> Qrels:
        """The same qrels with grades truncated to whole numbers, as in trec_eval."""
        return replace(self, rel=np.trunc(self.rel) + 0.0)  # -0.5 becomes 0, not -0

    def __len__(self) -> int:
        return len(self.query)


class Run(Struct, frozen=True, eq=False):
    """The rankings of one system, one row per retrieved document, in input order."""

    queries: tuple[str, ...]  # distinct query ids, in byte order
    query: Integers  # index into `queries`
    doc: Ids
    score: Floats
    rank: Integers | None = None  # rank column of the file, if any
    name: str = "run"
    tag: str = ""  # run tag of the last line, as trec_eval reports it
    source: str = "run"
    lines: Sequence[int] | None = None  # line number of each row, for messages
    tags: tuple[str, ...] = ()  # distinct tags: several if runs were concatenated

    def __post_init__(self) -> None:
        _check_lengths(self.source, self.query, self.doc, self.score, self.rank)
        _check_finite(self.source, "score", self.score, self)

    @classmethod
    def from_columns(
        cls,
        query: Sequence[str],
        doc: Sequence[str] | Ids,
        score: npt.ArrayLike,
        *,
        rank: npt.ArrayLike | None = None,
        name: str = "run",
        tag: str = "",
        source: str = "run",
        lines: Sequence[int] | None = None,
        tags: tuple[str, ...] = (),
    ) -> Run:
        """A run from columns with one value per retrieved document."""
        queries, codes = encode_ids(query)
        scores = np.asarray(score, dtype=np.float64)
        ranks = None if rank is None else np.asarray(rank, dtype=np.int64)
        return cls(queries, codes, as_ids(doc), scores, ranks, name, tag, source, lines, tags)

    @property
    def table(self) -> Run:
        """The run itself; same interface as `UnreadRun.table`."""
        return self

    @property
    def has_only_ranks(self) -> bool:
        """Whether the scores are the negated ranks, as for a file without scores."""
        return self.rank is not None and np.array_equal(self.score, -self.rank)

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return replace(self, name=name)

    def __len__(self) -> int:
        return len(self.query)


def encode_ids(ids: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """The distinct ids in byte order, and the index of each row's id among them."""
    _check_text(ids)
    distinct = in_byte_order(dict.fromkeys(ids))
    place = {text: index for index, text in enumerate(distinct)}
    return tuple(distinct), np.fromiter(map(place.__getitem__, ids), np.int64, len(ids))


def as_ids(ids: Sequence[str] | Ids) -> Ids:
    """A column of ids; lists are copied, object arrays are not."""
    _check_text(ids)
    if isinstance(ids, np.ndarray) and ids.dtype == object:
        return ids
    column = np.empty(len(ids), dtype=object)
    column[:] = ids
    return column


def in_byte_order(ids: Iterable[str], *, reverse: bool = False) -> list[str]:
    """Ids sorted by their bytes.

    Code points and UTF-8 bytes sort the same way, so only invalid UTF-8 (surrogate escapes) needs a sort key.
    """
    ids = list(ids)
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        return sorted(ids, key=as_bytes, reverse=reverse)
    return sorted(ids, reverse=reverse)


def as_bytes(text: str) -> bytes:
    """The original bytes of an id; half a character, which no file can hold, has three."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


def _check_text(ids: Any) -> None:
    kinds = set(map(type, ids)) - {str, np.str_}
    if kinds:
        raise InputError(f"ids must be text, not {', '.join(sorted(kind.__name__ for kind in kinds))}; use str(id).")


def _check_lengths(source: str, *columns: Any) -> None:
    if any(np.ndim(column) != 1 for column in columns if column is not None):
        raise InputError("columns must be one-dimensional: one value per row", source=source)
    lengths = {len(column) for column in columns if column is not None}
    if len(lengths) > 1:
        raise InputError(f"columns have different lengths: {sorted(lengths)}", source=source)


def _check_finite(source: str, what: str, values: Floats, table: Any) -> None:
    bad = np.flatnonzero(~np.isfinite(values))
    if len(bad):
        row = int(bad[0])
        raise InputError(
            f"{what} {values[row]} is not a finite number (query {table.queries[table.query[row]]}, "
            f"document {table.doc[row]}; {len(bad)} such rows). Fix or remove these rows.",
            source=source,
        )
