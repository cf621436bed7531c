"""The cache for models and embeddings: $ASSAY_CACHE, or the user cache folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path


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
