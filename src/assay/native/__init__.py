"""The optional native kernel, which joins bytes, columns or dicts with judgments. Values do not depend on it.

    *.hpp, *.cpp  the kernel: module.cpp is its Python interface, joiner.hpp its core
    index.py      the same with Python types

ASSAY_NATIVE=0 in the environment turns it off. This module does not import NumPy, since `assay --version` uses it.
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
    """Whether the kernel is used."""
    return kernel is not None and not turned_off


def path_in_use() -> str:
    """Which implementation is used, as shown by `assay --version`."""
    if enabled():
        return "native kernel"
    return "NumPy, ASSAY_NATIVE=0" if kernel is not None else "NumPy, kernel not built"


def usual_threads() -> int:
    """The number of available cores, up to four: more do not read a file faster."""
    available = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(available, 4)
