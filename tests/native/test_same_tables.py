"""The kernel and Python alone read the same table from the text of a run, and validation finds the same in it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import asdict

from assay import parse_run
from assay.formats import lines
from assay.validation.validating import validate_run
from native.inputs import DOCS, Case, cases, odd_texts, run_text
from native.paths import NEEDS_KERNEL, both_paths

pytestmark = NEEDS_KERNEL

PLAIN = b"q2 Q0 a 1 2.5 t\nq2 Q0 b 2 -1e3 t\nq1 Q0 c 1 0.5 t\n"


def table(text: bytes, input_format: str = "auto") -> Any:
    """Every column of a run, with its line numbers."""
    run = parse_run(text, input_format=input_format)
    return {**asdict(run), "lines": None if run.lines is None else list(run.lines)}


def findings(path: str) -> Any:
    found = validate_run(path)
    return asdict(found)


def without_python(*_: Any) -> Any:
    raise AssertionError("the kernel left a plain text to Python")


def test_a_plain_text_is_read_by_the_kernel() -> None:
    with patch.object(lines, "even_rows", without_python):
        found = table(PLAIN)

    assert [1, 1, 0] == found["query"].tolist()
    assert ["a", "b", "c"] == found["doc"].tolist()
    assert [2.5, -1000.0, 0.5] == found["score"].tolist()
    assert [1, 2, 1] == found["rank"].tolist()
    assert ("t", ("t",), [1, 2, 3]) == (found["tag"], found["tags"], found["lines"])


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        PLAIN.replace(b"\n", b"\r\n"),
        PLAIN.removesuffix(b"\n"),
        PLAIN + b"q2 Q0 c 3 1.0 u\n",  # a query that goes on, and another tag
        b"# comment\n" + PLAIN,
        PLAIN + b"\n" + PLAIN,  # a blank line
        PLAIN + b"q3 Q0 a - 1.0 t\n",  # a rank that is no number
        PLAIN + b"q3 Q0 a 1 1,5 t\n",  # a score that is none
        PLAIN + b"q3 Q0 a 1 1.0\n",
        PLAIN + b"q3 Q0 d\xe9 1 1.0 t\n",
        b"query_id doc_id score\nq1 a 1.5\nq1 b 0.5\n",
        b"q1 a 1\nq1 b 2\nq2 a 1\n",  # MS MARCO: no score
        b"q1 a 0\nq1 b 1\n",  # ranks from 0
        b"q1 Q0 a 1 2.5 t more\nq1 Q0 b 2 1.5 t more\n",
        b"q1 Q0 a 99999999999999999999 1.0 t\n",
        PLAIN * 50_000,  # several pieces
    ],
)
def test_the_same_table_or_the_same_error(text: bytes) -> None:
    found, expected = both_paths(lambda: table(text))

    assert expected == found


@settings(max_examples=200)
@given(st.data(), cases())
def test_any_text_gives_the_same_table(data: st.DataObject, case: Case) -> None:
    text = data.draw(st.sampled_from([run_text(case.rows), None])) or data.draw(odd_texts(case.rows))
    found, expected = both_paths(lambda: table(text, "trec"))

    assert expected == found


@settings(max_examples=100)
@given(data=st.data(), case=cases(docs=DOCS[:20]))
def test_any_text_gives_the_same_findings(
    data: st.DataObject, case: Case, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("run") / "some.run"
    path.write_bytes(run_text(case.rows[:2]) + data.draw(odd_texts(case.rows)))
    found, expected = both_paths(lambda: findings(str(path)))

    assert expected == found


def test_findings_of_a_large_file(tmp_path: Path) -> None:
    """Several pieces with two tags, a query that goes on in the next piece, and ranks that do not."""
    rows = [
        b"q%d Q0 d%d %d %d.5 %s" % (n // 900, n, n % 900 + 1, 900 - n % 900, b"tu"[n > 60_000 :][:1])
        for n in range(90_000)
    ]
    path = tmp_path / "large.run"
    path.write_bytes(b"\n".join(rows) + b"\n")
    found, expected = both_paths(lambda: findings(str(path)))

    assert expected == found
    assert {"RUN060"} <= set(validate_run(str(path)).codes())
