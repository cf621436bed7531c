"""Read vectors that somebody else has made: NumPy's .npy with a list of ids, or Parquet. Independent of modes.

Every fault is found before a search: other shapes, numbers that are not finite, ids that occur twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from assay.errors import InputError, MissingExtraError, RetrievalError, show_id, some_of
from assay.inputs.documents import NAMES
from assay.retrieval.exact import blocks_of

if TYPE_CHECKING:
    from assay.retrieval.exact import Matrix

_DTYPES = ("float16", "float32", "float64")
_VECTORS = ("vector", "embedding", "vectors", "embeddings", "emb")
_IDS = (*NAMES["id"], "query_id", "qid", "query")
_LIST = ".ids.txt"  # replaces .npy


class OwnVectors(Struct, frozen=True):
    """Vectors with the ids that they belong to."""

    source: str
    ids: tuple[str, ...]
    vectors: Matrix  # (ids, dimensions); of an .npy file memory-mapped

    @property
    def dimensions(self) -> int:
        """Numbers in a vector."""
        return int(self.vectors.shape[1])

    def row_of(self) -> dict[str, int]:
        """The row of each id."""
        return {id: row for row, id in enumerate(self.ids)}


def files_of(path: str, ids: str | None) -> tuple[Path, ...]:
    """The files that hold the vectors and their ids."""
    vectors = Path(path).expanduser()
    return (vectors,) if _is_parquet(vectors) else (vectors, _id_list(vectors, ids))


def read_own_vectors(path: str, ids: str | None = None) -> OwnVectors:
    """The vectors in a file. Of docs.npy, the ids are one per line in `ids`, or else in docs.ids.txt beside it.

    Raises InputError if the file cannot be read, or a vector cannot be used.
    """
    source = Path(path).expanduser()
    if not source.is_file():
        raise InputError("no such file of vectors.", source=str(source))
    if _is_parquet(source):
        names, vectors = _from_parquet(source)
    else:
        vectors = _from_npy(source)
        names = _read_ids(_id_list(source, ids), source)
    found = OwnVectors(str(source), tuple(names), vectors)
    _check(found)
    return found


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _id_list(vectors: Path, ids: str | None) -> Path:
    return vectors.with_suffix(_LIST) if ids is None else Path(ids).expanduser()


def _from_npy(source: Path) -> Matrix:
    try:
        found: Any = np.load(source, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(
            f"is not a NumPy array of numbers ({_first_line(error)}). Write it with numpy.save, or as Parquet.",
            source=str(source),
        ) from None
    if not isinstance(found, np.ndarray):
        raise InputError("holds several arrays. Write one of them with numpy.save.", source=str(source))
    matrix: Matrix = found
    return matrix


def _read_ids(path: Path, vectors: Path) -> list[str]:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"cannot be read ({error.strerror}). The ids of {vectors.name} are expected here, one per line; name "
            "another file as `ids` (documents) or `query_ids` (queries).",
            source=str(path),
        ) from None
    lines = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff").split("\n")
    names = [line.removesuffix("\r") for line in (lines[:-1] if lines[-1] == "" else lines)]
    for number, name in enumerate(names, 1):
        if not name:
            raise InputError("the line is empty; each line is the id of one vector.", source=str(path), line=number)
    return names


def _from_parquet(source: Path) -> tuple[list[str], Matrix]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise MissingExtraError("reading Parquet", "frames") from None
    try:
        columns = parquet.ParquetFile(source).schema_arrow.names
        id, vector = (_column(columns, names, source) for names in (_IDS, _VECTORS))
        table = parquet.read_table(source, columns=[id, vector], use_threads=False)
    except (OSError, ValueError) as error:
        raise InputError(f"is not a Parquet file ({_first_line(error)}).", source=str(source)) from None
    lists = table[vector].combine_chunks()
    if not hasattr(lists, "flatten") or lists.null_count:
        raise InputError(f"the column {vector} must hold a list of numbers in each row.", source=str(source))
    rows, numbers = len(lists), lists.flatten()
    sizes = (
        set(lists.value_lengths().to_pylist()) if hasattr(lists, "value_lengths") else {len(numbers) // max(rows, 1)}
    )
    if len(sizes) > 1:
        raise InputError(
            f"the vectors have different lengths: {min(sizes)} to {max(sizes)} numbers.", source=str(source)
        )
    names = [str(name) if name is not None else "" for name in table[id].to_pylist()]
    if "" in names:
        raise InputError(f"row {names.index('') + 1} has no id.", source=str(source))
    matrix: Matrix = np.asarray(numbers.to_numpy(zero_copy_only=False)).reshape(rows, -1 if rows else 0)
    return names, matrix


def _column(columns: Sequence[str], names: Sequence[str], source: Path) -> str:
    folded = {column.casefold(): column for column in reversed(columns)}
    for name in names:
        if name in folded:
            return folded[name]
    raise InputError(
        f"there is no column {names[0]}; there are {some_of(columns, 10)}. Name one of them {names[0]}.",
        source=str(source),
    )


def _check(found: OwnVectors) -> None:
    """Raise unless there is one usable vector for each id."""
    vectors, source = found.vectors, found.source
    if vectors.dtype.name not in _DTYPES:
        raise InputError(f"the numbers are {vectors.dtype}; they must be {', '.join(_DTYPES)}.", source=source)
    if vectors.ndim != 2 or not vectors.shape[1]:
        shape = " x ".join(map(str, vectors.shape)) or "a single number"
        raise InputError(f"the shape is {shape}; it must be vectors x dimensions.", source=source)
    if len(vectors) != len(found.ids):
        raise InputError(f"there are {len(vectors):,} vectors but {len(found.ids):,} ids.", source=source)
    twice = [id for id, times in Counter(found.ids).items() if times > 1]
    if twice:
        raise InputError(
            f"{len(twice):,} ids have more than one vector ({some_of(twice)}). Each needs exactly one: join the vectors "
            "of a document, for example by their mean.",
            source=source,
        )
    row = 0
    for block in blocks_of(vectors):
        bad = np.flatnonzero(~np.isfinite(block).all(axis=1))
        if len(bad):
            id = show_id(found.ids[row + int(bad[0])])
            raise InputError(f"the vector of {id} (row {row + int(bad[0]) + 1}) is not finite.", source=source)
        row += len(block)


def prepared(found: OwnVectors, rows: Sequence[int], *, unit: bool) -> Matrix:
    """Some of the vectors in 32 bits, or 64 if they have them, and at unit length if asked; a zero has none."""
    vectors = found.vectors[rows].astype(np.float64)
    if unit:
        lengths = np.sqrt(np.square(vectors).sum(axis=1, keepdims=True))
        if not lengths.all():
            row = rows[int(np.flatnonzero(lengths == 0)[0])]
            raise InputError(
                f"the vector of {show_id(found.ids[row])} (row {row + 1}) is zero, so it has no cosine. Remove it, or "
                'set similarity = "dot".',
                source=found.source,
            )
        vectors /= lengths
    return vectors.astype(stored_as(found))


def stored_as(found: OwnVectors) -> np.dtype[Any]:
    """The type in which the vectors are searched."""
    return np.dtype("<f8" if found.vectors.dtype.itemsize == 8 else "<f4")


def same_dimensions(documents: OwnVectors, queries: OwnVectors) -> None:
    """Raise unless the vectors of documents and queries can be compared."""
    if documents.dimensions != queries.dimensions:
        raise RetrievalError(
            f"the vectors of the queries ({queries.source}) have {queries.dimensions} dimensions, those of the documents "
            f"({documents.source}) {documents.dimensions}. Use the same model for both."
        )


def _first_line(error: Exception) -> str:
    return (
        (getattr(error, "strerror", None) or str(error) or type(error).__name__).strip().partition("\n")[0].rstrip(".")
    )
