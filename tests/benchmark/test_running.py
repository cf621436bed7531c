"""A whole benchmark on a small collection: the files in its folder, and what reruns when something changes."""

from __future__ import annotations

import json
import os
import shutil

import pytest

from assay.benchmark.preparing import prepare
from assay.benchmark.recipe import read_recipe
from assay.benchmark.running import read_benchmark, run_benchmark
from assay.errors import InputError
from assay.evaluation import evaluate
from assay.formats import read_run
from assay.records.verifying import verify
from benchmark.collection import QUERIES, RECIPE, write_kitchen

pytest.importorskip("tantivy")
pytest.importorskip("bm25s")


@pytest.fixture(scope="module", autouse=True)
def plain_pages():
    """Skip rendering pages, which these tests do not check."""
    with pytest.MonkeyPatch.context() as patch:
        for files in ("evaluation_files", "benchmark_files"):
            patch.setattr(
                f"assay.benchmark.running.{files}",
                lambda report, details=None: {"page.html": f"<p>{report.experiment}</p>"},
            )
        yield


def run(recipe, folder, **given):
    return run_benchmark(prepare(read_recipe(recipe).but(**given)), folder)


@pytest.fixture
def kitchen(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return write_kitchen(tmp_path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A finished benchmark that no test changes."""
    folder = tmp_path_factory.mktemp("kitchen")
    report = run(write_kitchen(folder), folder / "out")
    return folder / "out", report


def files_in(folder):
    return {str(path.relative_to(folder)): path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


# Results


def test_the_folder_holds_all_that_was_found(whole):
    folder, _ = whole

    assert {
        "BenchmarkReport.json",
        "ExperimentManifest.json",
        "page.html",
        "qrels.txt",
        "runs",
        "evaluations",
        "work",
    } == set(os.listdir(folder))
    assert {"lexical.run", "bm25s.run", "both.run"} == set(os.listdir(folder / "runs"))
    assert {"EvaluationReport.json", "page.html"} == set(os.listdir(folder / "evaluations" / "both"))


def test_the_figures_are_those_of_the_run_files(whole):
    folder, report = whole
    for mode in report.modes:
        again = evaluate(folder / "qrels.txt", folder / mode.run.path, ["nDCG@10", "AP", "R@10"]).mean()

        assert dict(again) == mode.metrics


def test_every_mode_is_asked_the_same_queries(whole):
    folder, report = whole

    assert len(QUERIES) == report.collection.queries
    assert [tuple(QUERIES)] * 3 == [read_run(folder / mode.run.path).queries for mode in report.modes]


def test_the_report_is_what_is_written(whole):
    folder, report = whole

    assert report == read_benchmark(folder)
    assert "assay/benchmark/1" == json.loads((folder / "BenchmarkReport.json").read_bytes())["schema"]


def test_modes_come_in_the_order_of_the_recipe_and_are_compared_with_the_first(whole):
    _, report = whole

    assert ["lexical", "bm25s", "both"] == [mode.name for mode in report.modes]
    assert "lexical" == report.comparison.baseline
    assert 6 == len(report.comparison.pairs)
    assert (report.comparison.comparisons > 1) == (report.comparison.correction == "holm")


def test_the_choice_rests_on_the_first_measure(whole):
    _, report = whole
    values = {mode.name: mode.metrics["nDCG@10"] for mode in report.modes}

    assert max(values.values()) == report.choice.overall.value == values[report.choice.overall.mode]
    assert {"query length", "relevant documents"} == {each.segmentation for each in report.choice.segments}
    assert None is report.choice.latency


def test_the_run_of_a_hybrid_has_the_documents_of_its_parts(whole):
    folder, _ = whole
    found = {name: set(read_run(folder / "runs" / f"{name}.run").doc) for name in ("lexical", "bm25s", "both")}

    assert found["both"] == found["lexical"] | found["bm25s"]


def test_everything_can_be_verified_later(whole):
    folder, _ = whole
    found = verify(folder)

    assert [] == [check for check in found.checks if not check.holds]
    assert {"manifest", "output", "input", "number"} == {check.kind for check in found.checks}


def test_the_folder_can_be_moved(whole, tmp_path):
    folder, _ = whole
    shutil.copytree(folder, tmp_path / "moved")

    assert [] == [check for check in verify(tmp_path / "moved").checks if check.holds is False]


# Running again


def test_two_runs_of_a_recipe_give_the_same_bytes(whole, kitchen, tmp_path):
    folder, before = whole
    after = run(kitchen, "out")

    for mode in before.modes:
        assert (folder / mode.run.path).read_bytes() == (tmp_path / "out" / mode.run.path).read_bytes()
    assert [mode.metrics for mode in before.modes] == [mode.metrics for mode in after.modes]


def test_what_is_finished_is_not_done_again(kitchen, tmp_path):
    first = run(kitchen, "out")
    before = files_in(tmp_path / "out")
    second = run(kitchen, "out")

    assert first == second
    assert before == files_in(tmp_path / "out")


def test_other_measures_need_no_new_search(kitchen, tmp_path):
    run(kitchen, "out")
    before = files_in(tmp_path / "out")
    report = run(kitchen, "out", measures=("P@5",))
    after = files_in(tmp_path / "out")

    assert ("P@5",) == report.measures
    assert {name: time for name, time in before.items() if name.startswith(("runs/", "work/indexes"))} == {
        name: time for name, time in after.items() if name.startswith(("runs/", "work/indexes"))
    }
    assert before["BenchmarkReport.json"] != after["BenchmarkReport.json"]


def test_modes_that_are_gone_leave_nothing(kitchen, tmp_path):
    run(kitchen, "out")
    recipe = read_recipe(kitchen)
    report = run(kitchen, "out", modes=recipe.modes[:1])
    left = files_in(tmp_path / "out")

    assert ["lexical"] == [mode.name for mode in report.modes]
    assert None is report.comparison
    assert [] == [name for name in left if "bm25s" in name or "both" in name]
    assert [] == [check for check in verify("out").checks if not check.holds]


def test_without_its_work_a_benchmark_is_run_anew_and_leaves_nothing_of_the_old_one(kitchen, tmp_path):
    run(kitchen, "out")
    shutil.rmtree(tmp_path / "out" / "work")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    report = run(kitchen, "out", modes=read_recipe(kitchen).modes[:1])
    left = files_in(tmp_path / "out")

    assert ["lexical"] == [mode.name for mode in report.modes]
    assert [] == [name for name in left if "bm25s" in name or "both" in name]
    assert "mine" == (tmp_path / "out" / "notes.txt").read_text()
    assert [] == [check for check in verify("out").checks if not check.holds]


def test_a_changed_setting_searches_again_with_that_mode_only(kitchen, tmp_path):
    run(kitchen, "out")
    before = files_in(tmp_path / "out")
    kitchen.write_text(RECIPE.replace("k1 = 0.9", "k1 = 2.5"))
    run(kitchen, "out")
    after = files_in(tmp_path / "out")

    assert before["runs/lexical.run"] == after["runs/lexical.run"]
    assert before["runs/bm25s.run"] != after["runs/bm25s.run"]


def test_changed_documents_are_indexed_again(kitchen, tmp_path):
    run(kitchen, "out")
    corpus = tmp_path / "kitchen" / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("lentil", "quinoa"))
    after = run(kitchen, "out")
    fresh = run(kitchen, "fresh")

    assert fresh.modes == after.modes


def test_other_columns_of_the_same_files_are_another_benchmark(kitchen):
    before = run(kitchen, "out", columns={"corpus": {"text": "title"}})
    after = run(kitchen, "out", columns={"corpus": {"text": "text"}})
    fresh = run(kitchen, "fresh", columns={"corpus": {"text": "text"}})

    assert before.modes != after.modes
    assert fresh.modes == after.modes


def test_a_copy_of_the_collection_needs_no_new_search_and_is_called_by_its_own_name(kitchen, tmp_path):
    before = run(kitchen, "out")
    shutil.copytree(tmp_path / "kitchen", tmp_path / "canteen")
    after = run(kitchen, "out", collection="canteen")

    assert ("kitchen", "canteen") == (before.collection.name, after.collection.name)
    assert before.timing == after.timing


def test_a_run_file_that_somebody_changed_is_made_again(kitchen, tmp_path):
    first = run(kitchen, "out")
    path = tmp_path / "out" / "runs" / "both.run"
    right = path.read_bytes()
    path.write_bytes(right[: len(right) // 2])
    (tmp_path / "out" / "BenchmarkReport.json").unlink()
    second = run(kitchen, "out")

    assert right == path.read_bytes()
    assert first.modes == second.modes


def test_a_benchmark_that_cannot_go_on_leaves_no_report(kitchen, tmp_path, monkeypatch):
    run(kitchen, "out")
    kitchen.write_text(RECIPE.replace("k1 = 0.9", "k1 = 2.5"))

    def fail(*given, **named):
        raise RuntimeError("the lights went out")

    monkeypatch.setattr("assay.benchmark.searching.run_as_bytes", fail)
    with pytest.raises(RuntimeError):
        run(kitchen, "out")

    assert not (tmp_path / "out" / "BenchmarkReport.json").exists()
    assert not (tmp_path / "out" / "ExperimentManifest.json").exists()
    assert (tmp_path / "out" / "runs" / "lexical.run").exists()


# A mode that finds nothing


def ask(kitchen, words):
    """The same collection, with this text for every query."""
    queries = [{"_id": query, "text": words} for query in QUERIES]
    (kitchen.parent / "kitchen" / "queries.jsonl").write_text("".join(json.dumps(row) + "\n" for row in queries))


def test_a_mode_that_finds_nothing_has_no_figures_and_the_others_have(kitchen, tmp_path):
    ask(kitchen, "der die das")
    kitchen.write_text(
        'collection = "kitchen"\nmodes = ["bm25s", "german", "both"]\nmeasures = ["AP"]\n'
        '[[mode]]\nname = "bm25s"\nlanguage = "none"\n'
        '[[mode]]\nname = "german"\nkind = "lexical"\nlanguage = "german"\n'
        '[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = ["bm25s", "german"]\n'
    )
    corpus = tmp_path / "kitchen" / "corpus.jsonl"
    corpus.write_text(corpus.read_text().replace("Chop the", "Chop die"))
    report = run(kitchen, "out")

    assert ["bm25s", "both"] == [mode.name for mode in report.modes]
    assert report.modes[0].metrics == report.modes[1].metrics
    assert "bm25s and both tie: " in report.choice.overall.words
    assert (
        "bm25s has the highest AP"
        in (alone := run(kitchen, "alone", modes=read_recipe(kitchen).modes[:2]).choice.overall).words
    )
    assert alone.words.endswith("; german found nothing.")
    assert [("german", "it found no document for any of the 8 queries.")] == [
        (each.name, each.reason) for each in report.missing
    ]
    assert {"bm25s.run", "both.run"} == set(os.listdir(tmp_path / "out" / "runs"))
    assert [] == [check for check in verify("out").checks if not check.holds]
    assert report == run(kitchen, "out")


def test_modes_that_all_find_nothing_are_refused(kitchen):
    ask(kitchen, "xyzzy")

    with pytest.raises(InputError, match=r"no mode found a document for any of the 8 queries\."):
        run(kitchen, "out")


# Settings


def test_targets_bring_their_measures_and_a_status(kitchen, tmp_path):
    (tmp_path / "t.toml").write_text('[measures."P@1"]\ngood = 0.01\n[measures."AP"]\nuplift = 0.9\nover = "bm25"\n')
    report = run(kitchen, "out", targets=str(tmp_path / "t.toml"))

    assert ("nDCG@10", "AP", "R@10", "P@1") == report.measures
    assert ("t", "fail") == (report.targets, report.modes[1].status)
    assert {"P@1": "pass", "AP": "fail"} == {name: each.status for name, each in report.modes[1].targets.items()}
    assert [] == [check for check in verify("out").checks if not check.holds]


def test_each_query_is_timed_alone(kitchen):
    report = run(kitchen, "out", repeats=3)
    parts, both = [report.timing[name] for name in ("lexical", "bm25s")], report.timing["both"]

    assert [(3, len(QUERIES))] * 3 == [(len(each.passes), each.queries) for each in report.timing.values()]
    assert all(0 < each.milliseconds <= each.p95 for each in report.timing.values())
    assert both.milliseconds > max(part.milliseconds for part in parts)
    assert min(both.passes) <= both.milliseconds <= max(both.passes)


def test_a_limit_is_chosen_under(kitchen):
    report = run(kitchen, "out", latency_limit=0.000001)

    assert (None, ("lexical", "bm25s", "both")) == (report.choice.latency.mode, report.choice.latency.too_slow)


def test_measures_that_are_deeper_than_a_mode_goes_are_noted(kitchen):
    notes = run(kitchen, "out", depth=3).notes

    for mode in ("lexical", "bm25s", "both"):
        assert f"{mode}: no query has more than 3 documents, so nDCG@10, R@10 look no deeper." in notes


def test_segments_of_a_file(kitchen, tmp_path):
    (tmp_path / "s.csv").write_text("query,kind\n" + "".join(f"{q},{'a' if q < 'q5' else 'b'}\n" for q in QUERIES))
    report = run(kitchen, "out", segments=str(tmp_path / "s.csv"))

    assert [("kind", "a", 4), ("kind", "b", 4)] == [
        (each.segmentation, each.segment, each.queries) for each in report.choice.segments[:2]
    ]


@pytest.mark.parametrize("name", ["length", "relevant"])
def test_segments_that_are_always_there_can_be_named(kitchen, name):
    assert {"query length", "relevant documents"} == {
        each.segmentation for each in run(kitchen, "out", segments=name).choice.segments
    }


def test_segments_by_difficulty_come_with_their_caution(kitchen):
    before = run(kitchen, "out")
    report = run(kitchen, "out", segments="difficulty")

    assert "difficulty for lexical" in {each.segmentation for each in report.choice.segments}
    assert [] == [note for note in before.notes if "regression to the mean" in note]
    assert 1 == sum("regression to the mean" in note for note in report.notes)


def test_a_segments_file_that_is_not_there_is_refused_with_what_can_be_named(kitchen):
    with pytest.raises(InputError, match=r"lenght: no such file.*did you mean 'length'\?"):
        run(kitchen, "out", segments="lenght")


def test_segments_of_other_queries_are_refused(kitchen, tmp_path):
    (tmp_path / "s.csv").write_text("query,kind\n51,a\n52,b\n")

    with pytest.raises(InputError, match=r"s.csv: has no query of the collection: it has 51, 52, the coll"):
        run(kitchen, "out", segments=str(tmp_path / "s.csv"))


def test_a_measure_of_which_more_is_not_better_chooses_no_mode(kitchen):
    report = run(kitchen, "out", measures=("NumRet", "AP"), latency_limit=1000.0)

    assert (None, (), None) == (report.choice.overall, report.choice.segments, report.choice.latency)
    assert () == report.best["NumRet"]


def test_depth_cuts_every_run(kitchen, tmp_path):
    run(kitchen, "out", depth=3)

    for name in ("lexical", "bm25s", "both"):
        rows = read_run(tmp_path / "out" / "runs" / f"{name}.run")
        assert 3 >= max((rows.query == number).sum() for number in range(len(rows.queries)))


def test_a_folder_that_is_no_collection_is_refused(kitchen, tmp_path):
    (tmp_path / "kitchen" / "queries.jsonl").unlink()

    with pytest.raises(InputError, match="queries"):
        run(kitchen, "out")


def test_nothing_can_run(kitchen, tmp_path, monkeypatch):
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_OFFLINE", "1")
    monkeypatch.delenv("ASSAY_MODELS", raising=False)
    kitchen.write_text('collection = "kitchen"\nmodes = ["vector"]\n')

    with pytest.raises(InputError, match=r"no mode can run\. vector: .*assay models get minilm"):
        run(kitchen, "out")
