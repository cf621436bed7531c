"""Run the same work with the kernel and with NumPy alone. Results become plain values, so == compares bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from msgspec import Struct
from msgspec.structs import asdict

from assay import Rules, native
from assay import marking as judging
from assay.errors import AssayError
from assay.evaluation import Evaluator
from assay.formats.readings import Reading
from assay.formats.unread import open_run, read_judgments

NEEDS_KERNEL = pytest.mark.skipif(native.kernel is None, reason="the kernel is not built")

MEASURES = (
    *("nDCG@10", "nDCG(gain='exp')", "AP", "RR", "R@5", "P@3", "Rprec", "Bpref", "infAP", "ERR@5", "RBP(p=0.8)"),
    *("Judged@5", "Success@1", "SetF", "NumRet", "NumRel"),
)


def both_paths(act: Callable[[], Any]) -> tuple[Any, Any]:
    """The results of a call with the kernel and with NumPy alone; errors are results too."""
    with _kernel(used=True):
        found = outcome(act)
    return found, by_numpy(act)


def kernel_and_numpy(act: Callable[[], Any]) -> tuple[Any, Any]:
    """The same for plain, valid input, which the kernel must judge without NumPy."""
    return by_kernel(act), by_numpy(act)


def by_kernel(act: Callable[[], Any]) -> Any:
    with _kernel(used=True), patch.object(judging, "_judged_by_numpy", _no_help):
        return plain(act())


def by_numpy(act: Callable[[], Any]) -> Any:
    with _kernel(used=False):
        return outcome(act)


def outcome(act: Callable[[], Any]) -> Any:
    """The result of a call as plain values, or its error with all attributes."""
    try:
        return plain(act())
    except AssayError as error:  # any other exception is a bug
        return type(error).__name__, str(error), plain(vars(error))


def hits(qrels: Any, run: Any, rules: Rules = Rules(), *, threads: int = 1, input_format: str = "auto") -> Any:
    """The judged ranking of a run, with all its arrays."""
    judgments = read_judgments(qrels, judges=rules.judges)
    return judging.judge(judgments, open_run(run, Reading(input_format)), rules, threads=threads)


def values(qrels: Any, run: Any, measures: Any = MEASURES, **options: Any) -> Any:
    """The contents of an evaluation."""
    return Evaluator(qrels, measures, unmatched="zero", **options).evaluate(run)


def plain(value: Any) -> Any:
    """A readable value that equals another only if every bit does."""
    if isinstance(value, np.ndarray):
        listed = value.ravel().tolist()
        numbers = [number.hex() for number in listed] if value.dtype == np.float64 else listed
        return str(value.dtype), value.shape, numbers
    if isinstance(value, Struct):
        return plain(asdict(value))
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(item) for item in value]
    return value.hex() if isinstance(value, float) else value


@contextmanager
def _kernel(*, used: bool) -> Iterator[None]:
    with patch.object(native, "turned_off", not used):
        yield


def _no_help(*_: Any, **__: Any) -> Any:
    raise AssertionError("the kernel left the judging to NumPy")
