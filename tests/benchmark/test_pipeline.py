"""The stages of a benchmark that runs: also those that are not among its modes, and those whose order is not their own."""

from __future__ import annotations

import pytest

from assay.benchmark.building import is_from_repair
from assay.records.benchmark import WorkRecord
from assay.report.benchmark.stages import verdict_on_stages
from assay.report.benchmark.text import render_text
from assay.report.benchmark.words import benchmark_table, choices
from assay.retrieval.reranking import Work, by_score
from benchmark.collection import QUERIES
from benchmark.test_stages import STAGES, Shortest, kitchen, plain_pages, run, shortest

__all__ = ["plain_pages", "shortest"]  # fixtures

pytest.importorskip("tantivy")
pytest.importorskip("bm25s")


def test_the_stages_are_the_modes_that_stand_on_others_and_those_they_stand_on(tmp_path):
    report = run(kitchen(tmp_path, STAGES.replace('["lexical", ', '["bm25s", "lexical", ')), tmp_path / "out")

    assert ["lexical", "first", "second"] == [stage.name for stage in report.stages]  # nothing stands on bm25s
    assert [(), ("lexical",), ("first",)] == [stage.inputs for stage in report.stages]
    assert ["nDCG@10", "MRR@10", "Recall@100"] == list(report.stages[0].metrics)
    means = {mode.name: mode.metrics["nDCG@10"] for mode in report.modes}
    for stage in report.stages:
        assert means[stage.name] == stage.metrics["nDCG@10"]
    _, first, second = report.stages
    assert (3.0, 2.0) == (first.per_query.documents, second.per_query.documents)
    assert first.ceiling.before == means["lexical"]
    assert second.ceiling.before == means["first"]


def test_a_stage_need_not_be_among_the_modes(tmp_path):
    report = run(kitchen(tmp_path, STAGES.replace('"lexical", "first", "second"', '"second"')), tmp_path / "out")

    assert ["second"] == [mode.name for mode in report.modes]
    assert ["lexical", "first", "second"] == [stage.name for stage in report.stages]
    assert {"lexical", "first", "second"} == set(report.timing)


def test_modes_side_by_side_are_no_stages(tmp_path):
    report = run(
        kitchen(tmp_path, 'collection = "kitchen"\nmodes = ["lexical", "bm25s"]\nrepeats = 1'), tmp_path / "out"
    )

    assert () == report.stages
    assert "\nStages\n" not in render_text(report)


def test_a_mode_whose_answers_were_mostly_repaired_is_never_the_best(tmp_path, monkeypatch):
    judged = {"lentil soup": "lentil-soup", QUERIES["q2"]: "potato-pie", QUERIES["q3"]: "mushroom-risotto"}

    def perfect(self, query, documents):
        work = Work(documents=len(documents), windows=2, repaired=1 if self.fails_at else 2)
        return by_score([float(each.id == judged.get(query)) for each in documents], work)

    monkeypatch.setattr(Shortest, "rerank", perfect)
    recipe = STAGES.partition('\n[[mode]]\nname = "second"')[0].replace(', "second"', "").replace("top = 3", "top = 10")
    repaired = run(kitchen(tmp_path / "a", recipe), tmp_path / "repaired")
    own = run(kitchen(tmp_path / "b", recipe.replace("top = 10", 'top = 10\nfails_at = "-"')), tmp_path / "own")

    assert ("first", False) == (own.choice.overall.mode, own.modes[1].order_from_repair)
    assert ("lexical", True) == (repaired.choice.overall.mode, repaired.modes[1].order_from_repair)
    assert own.modes[1].metrics == repaired.modes[1].metrics
    assert {"order from repair"} == {pair.verdict for pair in repaired.comparison.pairs}
    assert ("lexical", "first (order from repair)") == benchmark_table(repaired).modes
    assert "lexical has the highest nDCG@10" in next(choices(repaired))
    assert (
        "first cannot be the best mode: more than half of the answers had to be repaired, so most of the order comes from "
        "repair." in list(choices(repaired))
    )
    assert ["No stage earned its cost. first does not count, because most of the order comes from repair."] == list(
        verdict_on_stages(repaired)
    )


def test_half_of_the_answers_is_not_most():
    half = WorkRecord(documents=9, requests=4, tokens_in=9, tokens_out=9, cost=0.0, windows=4, repaired=2)

    assert (False, False) == (is_from_repair(half), is_from_repair(None))
