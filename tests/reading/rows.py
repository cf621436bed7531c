"""Tables as plain rows, and error messages as plain text, to keep tests readable."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy.typing as npt
import pytest

from assay.errors import InputError
from assay.tables import Qrels, Run

QrelsRow = tuple[str, str, float]
RunRow = tuple[str, str, float]

GOOD_QRELS: list[QrelsRow] = [("q1", "a", 1.0), ("q1", "b", 0.0), ("q2", "a", 2.0)]
GOOD_RUN: list[RunRow] = [("q1", "b", 9.5), ("q1", "a", 8.25), ("q2", "c", -0.5)]


def qrels_rows(qrels: Qrels) -> list[QrelsRow]:
    queries = [qrels.queries[code] for code in qrels.query]
    return list(zip(queries, qrels.doc.tolist(), qrels.rel.tolist(), strict=True))


def run_rows(run: Run) -> list[RunRow]:
    queries = [run.queries[code] for code in run.query]
    return list(zip(queries, run.doc.tolist(), run.score.tolist(), strict=True))


def listed(column: npt.NDArray[Any] | None) -> list[Any] | None:
    return None if column is None else column.tolist()


def refusal(read: Callable[[], object], kind: type[Exception] = InputError) -> str:
    """The message of the error that the call raises."""
    with pytest.raises(kind) as caught:
        read()
    return str(caught.value)
