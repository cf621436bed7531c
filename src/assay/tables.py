"""Judgments and rankings as columns. Reads no files, forms no ranking, knows no measure.

Ids are text. Bytes that are not UTF-8 are kept as surrogate escapes, so that any file can be told apart byte by byte.
"Byte order" is the order of the UTF-8 bytes, which is what trec_eval's strcmp compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError

if TYPE_CHECKING:  # numpy.typing takes a tenth as long to import as NumPy
    import numpy.typing as npt

    Floats: TypeAlias = npt.NDArray[np.float64]
    Integers: TypeAlias = npt.NDArray[np.int64]
    Booleans: TypeAlias = npt.NDArray[np.bool_]
    Ids: TypeAlias = npt.NDArray[np.object_]  # of str
else:
    Floats = Integers = Booleans = Ids = np.ndarray


class Qrels(Struct, frozen=True, eq=False):
    """Relevance judgments: how good a document is for a query. One row per judgment, in the order of the input."""

    queries: tuple[str, ...]  # distinct query ids, in byte order
    query: Integers  # index into `queries`
    doc: Ids
    rel: Floats  # the grade as given; negative: pooled but not judged
    iteration: Ids | None = None  # column 2 of a TREC file: iteration or subtopic
    source: str = "qrels"
    lines: Sequence[int] | None = None  # where each row stands in its file, for messages

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
        """Qrels from one value per judgment in each column.

        >>> Qrels.from_columns(["q2", "q1"], ["a", "b"], [1, 0]).queries
        ('q1', 'q2')
        """
        queries, codes = encode_ids(query)
        grades = np.asarray(rel, dtype=np.float64)
        iterations = None if iteration is None else as_ids(iteration)
        return cls(queries, codes, as_ids(doc), grades, iterations, source, lines)

    def whole_grades(self) -> Qrels:
        """The same with grades cut to whole numbers, as trec_eval reads them."""
        return replace(self, rel=np.trunc(self.rel) + 0.0)  # -0.5 becomes 0, not a negative one

    def __len__(self) -> int:
        return len(self.query)


class Run(Struct, frozen=True, eq=False):
    """Ranked lists of one system. One row per retrieved document, in the order of the input."""

    queries: tuple[str, ...]  # distinct query ids, in byte order
    query: Integers  # index into `queries`
    doc: Ids
    score: Floats
    rank: Integers | None = None  # the file's own rank column, where it has one
    name: str = "run"
    tag: str = ""  # the run tag of the file's last line, as trec_eval reports it
    source: str = "run"
    lines: Sequence[int] | None = None  # where each row stands in its file, for messages
    tags: tuple[str, ...] = ()  # all tags, each once: several where runs have been joined

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
        """A run from one value per retrieved document in each column."""
        queries, codes = encode_ids(query)
        scores = np.asarray(score, dtype=np.float64)
        ranks = None if rank is None else np.asarray(rank, dtype=np.int64)
        return cls(queries, codes, as_ids(doc), scores, ranks, name, tag, source, lines, tags)

    @property
    def table(self) -> Run:
        """The run itself; a run that is not read yet gives its table by the same name."""
        return self

    def named(self, name: str) -> Run:
        """The same run under another name."""
        return replace(self, name=name)

    def __len__(self) -> int:
        return len(self.query)


def encode_ids(ids: Sequence[str]) -> tuple[tuple[str, ...], Integers]:
    """The distinct ids in byte order, and for each row its place among them."""
    _check_text(ids)
    distinct = in_byte_order(dict.fromkeys(ids))
    place = {text: index for index, text in enumerate(distinct)}
    return tuple(distinct), np.fromiter(map(place.__getitem__, ids), np.int64, len(ids))


def as_ids(ids: Sequence[str] | Ids) -> Ids:
    """A column of ids; lists are copied once, columns of ids are taken as they are."""
    _check_text(ids)
    if isinstance(ids, np.ndarray) and ids.dtype == object:
        return ids
    column = np.empty(len(ids), dtype=object)
    column[:] = ids
    return column


def in_byte_order(ids: Iterable[str], *, reverse: bool = False) -> list[str]:
    """Ids sorted as their bytes sort.

    Code points sort as their UTF-8 bytes do; only bytes that are not UTF-8 (surrogate escapes) need the detour.
    """
    ids = list(ids)
    try:
        "".join(ids).encode()
    except UnicodeEncodeError:
        return sorted(ids, key=as_bytes, reverse=reverse)
    return sorted(ids, reverse=reverse)


def as_bytes(text: str) -> bytes:
    """The bytes of an id as they stood in the file."""
    return text.encode("utf-8", "surrogateescape")


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
