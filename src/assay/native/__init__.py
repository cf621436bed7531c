"""The native kernel: bytes, columns or dicts joined with judgments. Optional, and no value depends on it.

    *.hpp, *.cpp  the kernel: module.cpp is its Python face, joiner.hpp its heart
    index.py      the same in Python's types

ASSAY_NATIVE=0 in the environment turns it off. This module needs no NumPy: `assay --version` asks it.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any


def _load() -> Any:
    try:
        return import_module("assay.native._kernel")
    except ImportError:
        return None


kernel = _load()
turned_off = os.environ.get("ASSAY_NATIVE") == "0"


def enabled() -> bool:
    """Whether the kernel does the work."""
    return kernel is not None and not turned_off


def path_in_use() -> str:
    """Which path computes, as `assay --version` says it."""
    if enabled():
        return "native kernel"
    return "NumPy, ASSAY_NATIVE=0" if kernel is not None else "NumPy, kernel not built"


def usual_threads() -> int:
    """The processor's cores that we may use, up to four: more do not read a file faster."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, 4)
