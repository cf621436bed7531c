"""Written records match the published schemas."""

from __future__ import annotations

import json

import pytest

from assay.formats.readings import Reading, Readings
from assay.records.model import MANIFEST_SCHEMA, REPORT_SCHEMA
from assay.records.storing import MANIFEST_FILE, REPORT_FILE
from docs.blocks import DOCS
from docs.schema import changed, problems
from records.samples import conduct, write_files

REPORT, MANIFEST = (
    json.loads((DOCS / "schemas" / name).read_text(encoding="utf-8"))
    for name in ("evaluation-report-1.json", "experiment-manifest-1.json")
)


@pytest.fixture
def written(tmp_path, monkeypatch):
    """The report and the manifest of an experiment, as JSON."""
    monkeypatch.chdir(write_files(tmp_path))

    def write(**wishes):
        conduct("qrels.txt", ["plain.run"], report="report", **wishes)
        folder = tmp_path / "report"
        return json.loads((folder / REPORT_FILE).read_bytes()), json.loads((folder / MANIFEST_FILE).read_bytes())

    return write


@pytest.mark.parametrize(
    "wishes",
    [
        {},
        {"rules": {"undefined": "nan", "depth": 1}, "measures": ("AP(rel=9)", "num_ret", "GMAP")},
        {"targets": "trec-rag", "settings": ["model=m", "dataset=d", "index.i=1", "k=60"], "notes": ["n"]},
        {"readings": Readings(Reading(grades={"E": 3}), Reading("trec"))},
    ],
    ids=["plain", "rules", "targets", "reading"],
)
def test_what_is_written_is_valid(written, wishes):
    report, manifest = written(**wishes)

    assert [] == list(problems(report, REPORT))
    assert [] == list(problems(manifest, MANIFEST))


def test_the_schemas_know_their_own_names():
    for schema, name in ((REPORT, REPORT_SCHEMA), (MANIFEST, MANIFEST_SCHEMA)):
        record = schema["$defs"][schema["$ref"].removeprefix("#/$defs/")]

        assert name == schema["$id"]
        assert [name] == record["properties"]["schema"]["enum"]
        assert "schema" in record["required"]


def test_fields_say_what_they_mean():
    report = REPORT["$defs"]["EvaluationReport"]["properties"]

    assert "the rules in words" == report["conventions"]["description"]
    assert "sha256" in REPORT["$defs"]["Identity"]["properties"]


@pytest.mark.parametrize(
    ("path", "to", "problem"),
    [
        (("schema",), "assay/evaluation-report/2", "$.schema: 'assay/evaluation-report/2' is not one of ['assay/evaluation-report/1']"),
        (("complete",), "yes", "$.complete: 'yes' is not of type 'boolean'"),
        (("run", "size"), "3", "$.run.size: '3' is not of type 'integer'"),
        (("measures", 0, "mean"), "0.5", "$.measures[0].mean: '0.5' is not of type 'number'"),
        (("measures", 0, "interval"), [0.1], "$.measures[0].interval: [0.1] is too short"),
        (("measures", 0, "interval"), [0.1, 0.2, 0.3], "$.measures[0].interval: [0.1, 0.2, 0.3] is too long"),
        (("queries", "q1"), {"RR": 1}, "$.queries.q1: {'RR': 1} is not of type 'array'"),
        (("status",), "good", "$.status: 'good' is not one of ['fail', 'pass', 'unknown', 'warn']"),
    ],
)  # fmt: skip
def test_other_reports_are_not(written, path, to, problem):
    report, _ = written()

    assert problem in list(problems(changed(report, *path, to=to), REPORT))


def test_a_field_that_is_missing_is_found(written):
    report, manifest = written()
    del report["curves"], manifest["config"]["like"]

    assert ["$: 'curves' is a required property"] == list(problems(report, REPORT))
    assert ["$.config: 'like' is a required property"] == list(problems(manifest, MANIFEST))


def test_what_a_later_version_adds_is_allowed(written):
    report, _ = written()

    assert [] == list(problems({**report, "later": 1}, REPORT))
