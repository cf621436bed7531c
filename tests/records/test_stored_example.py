"""A report of the first version can still be read and verified."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.formats.ir_metadata import read_metadata
from assay.records.recording import find_baseline
from assay.records.storing import read_manifest, read_report
from assay.records.verifying import verify
from docs.blocks import DOCS
from docs.schema import problems

DATA = Path(__file__).parent / "data"
REPORT = DATA / "report"


@pytest.fixture
def there(monkeypatch):
    monkeypatch.chdir(DATA)


def test_the_manifest_is_read():
    found = read_manifest(REPORT)

    assert ("0.1.0", ("keyword", "hybrid")) == (found.assay_version, found.runs)
    assert ("demo", "cookbook", {"k": "60"}, {"recipes": "2025-01-31"}) == (
        found.model,
        found.dataset,
        found.parameters,
        found.index_snapshots,
    )
    assert (("nDCG@5", "RR", "num_ret", "AP"), {"undefined": "nan"}) == (found.config.measures, found.config.rules)
    assert {"hybrid": read_metadata(DATA / "hybrid.run")} == found.metadata
    assert ("a report to be read by all later versions",) == found.notes


def test_the_reports_are_read():
    keyword, hybrid = read_report(REPORT / "keyword"), read_report(REPORT / "hybrid")
    ndcg, rr, ret, ap = hybrid.measures

    assert (0.8920, 0.8750, 29.0) == (round(ndcg.mean, 4), rr.mean, ret.mean)
    assert ("strong", "0.8920 of 0.6000 (good), also strong (0.8000)") == (ndcg.target.reached, ndcg.target.words)
    assert "keyword" == ap.target.baseline
    assert ("pass", "fail") == (hybrid.status, keyword.status)
    assert (True, False) == (hybrid.complete, keyword.complete)
    assert 8 == len(hybrid.queries)
    assert ("RUN001", "curry-mild") == (hybrid.findings[0].code, hybrid.findings[0].examples[0].query)


def test_everything_still_holds(there):
    found = verify("report")

    assert [] == [(check.name, check.words) for check in found.checks if check.holds is not True]


def test_it_can_be_a_baseline():
    found = find_baseline(str(REPORT / "keyword"), [])

    assert ("keyword", 0.625) == (found.name, found.means["RR"])


@pytest.mark.parametrize(
    ("file", "schema"),
    [
        ("ExperimentManifest.json", "experiment-manifest-1.json"),
        ("keyword/EvaluationReport.json", "evaluation-report-1.json"),
        ("hybrid/EvaluationReport.json", "evaluation-report-1.json"),
    ],
)
def test_it_is_what_the_schemas_of_today_say(file, schema):
    document = json.loads((DOCS / "schemas" / schema).read_text())

    assert [] == list(problems(json.loads((REPORT / file).read_bytes()), document))
