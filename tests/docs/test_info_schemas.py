"""The JSON of `assay runs info` and `assay qrels info` matches docs/schemas."""

from __future__ import annotations

import json

import pytest

from assay.example import QRELS, RUNS
from assay.formats import INPUT_FORMATS
from assay.formats.info import qrels_info, run_info
from assay.formats.sources import _COMPRESSIONS
from assay.report.info import QRELS_SCHEMA, RUN_SCHEMA, info_as_json
from docs.blocks import DOCS
from docs.schema import problems

SCHEMAS = {
    kind: json.loads((DOCS / "schemas" / f"{kind}-info-1.json").read_text(encoding="utf-8"))
    for kind in ("run", "qrels")
}
FILES = {
    "run": [b'{"q1": {"a": 1}}', b"q1\ta\t1\n", b"q1 Q0 a x 1 t\nq2 Q0 a x 1 t\nq1 Q0 b x 1 u\n"],
    "qrels": [
        b'{"q1": {"a": 1}}',
        b"q1 1 a 1\nq2 2 a 0\nq1 3 b 0.5\n",
        b"q1\ta\t-1\n",
        b"q1 0 a 1\nq1 0 a 0\n",
        b"q1 0 a 1\nq1 0 a 1\n",
    ],
}


def printed(kind: str, path) -> dict:
    return json.loads(info_as_json(run_info(path) if kind == "run" else qrels_info(path)))


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_real_output_is_valid(kind, tmp_path):
    own = RUNS[0] if kind == "run" else QRELS
    found = [printed(kind, own)]
    for text in FILES[kind]:
        (tmp_path / "file").write_bytes(text)
        found.append(printed(kind, tmp_path / "file"))

    assert [[]] * (1 + len(FILES[kind])) == [list(problems(value, SCHEMAS[kind])) for value in found]


@pytest.mark.parametrize("kind", ["run", "qrels"])
def test_the_schemas_know_the_formats_and_their_own_names(kind):
    file = SCHEMAS[kind]["$defs"]["file"]["properties"]

    assert SCHEMAS[kind]["$id"] == SCHEMAS[kind]["properties"]["schema"]["const"]
    assert SCHEMAS[kind]["$id"] == {"run": RUN_SCHEMA, "qrels": QRELS_SCHEMA}[kind]
    assert list(INPUT_FORMATS) == file["format"]["enum"]
    assert [*_COMPRESSIONS, None] == file["compression"]["enum"]


@pytest.mark.parametrize(
    ("kind", "change", "problem"),
    [
        ("run", {"ranks": {"lowest": 1.5, "highest": 2}}, "$.ranks.lowest: 1.5 is not of type 'integer'"),
        ("run", {"first_rows": []}, "$.first_rows: [] should be non-empty"),
        ("run", {"extra": 1}, "$: Additional properties are not allowed ('extra' was unexpected)"),
        ("qrels", {"iterations": {}}, "$.iterations: 'count' is a required property"),
        ("qrels", {"queries": "8"}, "$.queries: '8' is not of type 'integer'"),
    ],
)
def test_other_output_is_not(kind, change, problem):
    value = printed(kind, RUNS[0] if kind == "run" else QRELS) | change

    assert problem in list(problems(value, SCHEMAS[kind]))
