"""Drop-in replacements for other tools: programs and scripts written for them run on Assay unchanged.

`assay.compat.pytrec_eval` and `assay.compat.trec_eval` are imported on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


def __getattr__(name: str) -> Any:
    if name not in ("pytrec_eval", "trec_eval"):
        raise AttributeError(f"module 'assay.compat' has no attribute {name!r}")
    return import_module(f"assay.compat.{name}")
