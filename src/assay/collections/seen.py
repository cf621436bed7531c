"""The documents seen so far: ids and digests of texts, about fifty bytes each, not the texts."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterator
from hashlib import blake2b

import numpy as np

from assay.tables import Integers, as_bytes

_DIGEST = 16  # bytes; makes a collision among a million texts practically impossible


class Seen:
    """Ids, digests and places of documents, in reading order."""

    def __init__(self) -> None:
        self._ids = bytearray()
        self._ends = array("Q", [0])
        self._hashes = array("q")
        self._lines = array("Q")  # 0 if unknown
        self._texts = bytearray()
        self._text_rows = array("Q")  # empty texts have no digest
        self._files: list[str] = []
        self._starts: list[int] = []  # first row of each file

    def __len__(self) -> int:
        return len(self._hashes)

    def begin(self, file: str) -> None:
        """Start a new file."""
        self._files.append(file)
        self._starts.append(len(self))

    def add(self, id: str, text: str, line: int | None) -> None:
        """Add a document."""
        data = as_bytes(id)
        self._ids += data
        self._ends.append(len(self._ids))
        if text:
            self._texts += blake2b(text.encode(), digest_size=_DIGEST).digest()
            self._text_rows.append(len(self))
        self._hashes.append(hash(data))
        self._lines.append(line or 0)

    def id(self, row: int) -> str:
        """The id of a document."""
        return bytes(self._ids[self._ends[row] : self._ends[row + 1]]).decode("utf-8", "surrogateescape")

    def place(self, row: int) -> tuple[str, int | None]:
        """The file and line of a document."""
        return self._files[bisect_right(self._starts, row) - 1], self._lines[row] or None

    def repeated_ids(self) -> Iterator[tuple[int, int]]:
        """Each document with an id seen before, with the first document of that id; in file order."""
        hashes = np.frombuffer(self._hashes, np.int64)
        pairs = []
        for rows in _equal(hashes[:, None]):
            first: dict[str, int] = {}  # different ids can have the same hash
            pairs += [(row, there) for row in rows if (there := first.setdefault(self.id(row), row)) != row]
        yield from sorted(pairs)

    def repeated_texts(self) -> Iterator[tuple[int, int]]:
        """Each document with a text seen before under another id, with the first document of that text."""
        digests = np.frombuffer(self._texts, np.int64).reshape(-1, _DIGEST // 8)
        pairs = []
        for places in _equal(digests):
            rows = [self._text_rows[place] for place in places]
            name = self.id(rows[0])
            pairs += [(row, rows[0]) for row in rows[1:] if self.id(row) != name]
        yield from sorted(pairs)


def _equal(keys: Integers) -> Iterator[list[int]]:
    """The rows of each duplicate key, in order."""
    if len(keys) < 2:
        return
    order = np.lexsort(keys.T)  # stable: equal keys keep their order
    same = (keys[order[1:]] == keys[order[:-1]]).all(axis=1)
    starts = np.flatnonzero(same & ~np.concatenate(([False], same[:-1])))
    ends = np.flatnonzero(same & ~np.concatenate((same[1:], [False]))) + 2
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        yield order[start:end].tolist()
