"""The cache for models and embeddings ($ASSAY_CACHE, or the user cache folder), and one in memory."""

from __future__ import annotations

import os
import sys
import threading
from collections import OrderedDict
from pathlib import Path
from typing import Generic, TypeVar

Value = TypeVar("Value")


class Recent(Generic[Value]):
    """Values that were computed for a text, in memory up to a size; those not used for longest go first.

    >>> recent = Recent[str](limit=2)
    >>> for text in ("a", "b", "c"):
    ...     recent.put(text, text.upper())
    >>> recent.get("a"), recent.get("c")
    (None, 'C')
    """

    def __init__(self, limit: int) -> None:
        self._limit, self._size = limit, 0
        self._values: OrderedDict[str, tuple[Value, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, text: str) -> Value | None:
        """The value of a text, if it is still here."""
        with self._lock:
            if text not in self._values:
                return None
            self._values.move_to_end(text)
            return self._values[text][0]

    def put(self, text: str, value: Value, size: int = 1) -> None:
        """Keep a value."""
        with self._lock:
            if text not in self._values:
                self._values[text] = value, size
                self._size += size
            while self._size > self._limit:
                self._size -= self._values.popitem(last=False)[1][1]


def cache_folder() -> Path:
    """The cache folder, which may not exist; it can be deleted at any time and is refilled."""
    given = os.environ.get("ASSAY_CACHE")
    return Path(given).expanduser() if given else _users_cache() / "assay"


def _users_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    given = os.environ.get("XDG_CACHE_HOME", "")
    return Path(given) if os.path.isabs(given) else Path.home() / ".cache"
