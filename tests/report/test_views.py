"""Results as text, HTML, data frames, charts and files: short to look at, exact to read back."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import assay
from assay import AssayError, Evaluations, Rules, Study, compare_scores, diagnose, evaluate, evaluate_runs, validate_run
from assay.errors import InputError, MissingExtraError
from assay.example import QRELS, RUNS
from assay.measures import nDCG
from assay.report.comparison import RENDERERS as OF_COMPARISONS
from assay.report.diagnosis import RENDERERS as OF_DIAGNOSES
from assay.report.drawing import charts
from assay.report.drawing.sheets import Sheet, SheetTable, Strong, sheet_as_latex, sheet_as_markdown, sheet_as_page
from assay.report.evaluation import RENDERERS as OF_EVALUATIONS
from assay.report.evaluation import tabulate
from assay.report.validation import RENDERERS as OF_VALIDATIONS
from assay.showing import Plot, Shown
from benchmark.test_report import report
from report.pages import Page
from report.samples import HOSTILE

MEASURES = ["nDCG@10", "AP", "RR@10"]
LONG = "a-name-with-all-settings-in-it" * 150


@pytest.fixture(scope="module")
def values(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Shown]:
    """One value of each class."""
    with chdir(tmp_path_factory.mktemp("runs")):
        Path("bad.run").write_text("q1 Q0 a 1 nan t\nq1 Q0 b 2 1 t\n")
        validation = validate_run("bad.run")
    return {
        "evaluation": evaluate(QRELS, RUNS[0], MEASURES),
        "evaluations": evaluate_runs(QRELS, RUNS, MEASURES),
        "comparison": assay.compare(QRELS, RUNS, MEASURES),
        "leaderboard": assay.leaderboard(QRELS, RUNS, MEASURES),
        "diagnosis": diagnose(QRELS, RUNS, MEASURES),
        "validation": validation,
        "benchmark": report(),
    }


IDS = {name: text for name, text in HOSTILE.items() if name != "lone"}  # half a character is refused as an id
PLAIN = Sheet(
    "x",
    "x",
    (SheetTable(("x", "n"), (("x", Strong("x")),), frozenset({1}), title="x", texts=("x",), note="x"),),
    ("x",),
    ("x",),
)
SUFFIXES = (".csv", ".html", ".json", ".md", ".tex")
EVERY = ("evaluation", "evaluations", "comparison", "leaderboard", "diagnosis", "validation", "benchmark")


def judged(queries: int) -> dict[str, set[str]]:
    return {f"q{number}": {"a"} for number in range(queries)}


def ranked(queries: int, shift: int = 0) -> dict[str, list[str]]:
    """A run with its relevant document at the ranks 1 to 5 in turn."""
    return {f"q{number}": [*"vwxy"[: (number + shift) % 5], "a"] for number in range(queries)}


# In one line


def test_the_line_of_a_value_says_what_was_found(values):
    assert "<Evaluation of 'keyword' over 8 queries: nDCG@10=0.5214, AP=0.4160, RR@10=0.6250>" == repr(
        values["evaluation"]
    )
    assert "<Evaluations of 2 runs: 'keyword': nDCG@10=0.5214, 'hybrid': nDCG@10=0.8920>" == repr(values["evaluations"])
    assert "<Diagnosis of 2 runs over 8 queries: 0 problems, 1 warning, 3 notes, 3 fine, 7 not checked>" == repr(
        values["diagnosis"]
    )
    assert "<Validation of 'bad.run': not valid, 1 error>" == repr(values["validation"])
    assert "<BenchmarkReport of 'kitchen': 3 modes, 50 queries; best by nDCG@10: hybrid>" == repr(values["benchmark"])
    assert repr(values["comparison"]).startswith("<Comparison of 2 systems over 8 queries by nDCG@10, AP, RR@10: 2 bet")


def test_the_lines_of_300_runs_are_short():
    runs = {f"{LONG} {number}": ranked(10, number) for number in range(300)}
    found, comparison = evaluate_runs(judged(10), runs, MEASURES), assay.compare(judged(10), runs, MEASURES)

    assert len(repr(found)) < 1000
    assert len(repr(comparison)) < 1000
    assert repr(found).endswith(", and 294 more>")
    assert "<Comparison of 300 systems over 10 queries by RR: 299 no significant difference>" == repr(
        assay.compare(judged(10), runs, ["RR"])
    )


def test_the_line_of_10_000_queries_is_short():
    labels = [f"nDCG(gain='exp', judged_only=True)@{cutoff}" for cutoff in range(1, 50)]
    found = evaluate(judged(10_000), ranked(10_000), ["RR", *labels], name=LONG)

    # The mean of 1, 1/2, 1/3, 1/4 and 1/5.
    assert "over 10,000 queries: RR=0.4567, " in repr(found)
    assert len(repr(found)) < 1000


def test_long_names_are_cut_in_the_lines_of_all():
    collection = replace(report().collection, name=LONG)

    assert len(repr(report(collection=collection))) < 1000
    assert len(repr(validate_run(ranked(2)))) < 1000
    assert len(repr(diagnose(judged(3), {LONG: ranked(3)}, ["RR"]))) < 1000


# As text and as HTML


def test_printing_gives_the_text_of_the_command(values):
    texts = {
        "evaluation": OF_EVALUATIONS["table"](tabulate([values["evaluation"]])),
        "evaluations": OF_EVALUATIONS["table"](tabulate(list(values["evaluations"].values()))),
        "comparison": OF_COMPARISONS["table"](values["comparison"]),
        "diagnosis": OF_DIAGNOSES["table"](values["diagnosis"]),
        "validation": OF_VALIDATIONS["table"](values["validation"]),
    }

    assert texts == {name: f"{values[name]}\n" for name in texts}


def test_printing_on_a_terminal_has_no_colours(values, monkeypatch):
    monkeypatch.setattr("assay.report.drawing.terminal.is_terminal", lambda: True)

    assert "\x1b" in OF_COMPARISONS["table"](values["comparison"])
    assert "\x1b" not in str(values["comparison"])


@pytest.mark.parametrize("text", IDS.values(), ids=IDS)
def test_ids_are_never_markup(text):
    runs = {"old": {text: ["x", "a"], "q2": ["a"]}, text: {text: ["a"], "q2": ["a"]}}
    qrels = {text: {"a"}, "q2": {"a"}}
    found = [evaluate_runs(qrels, runs, ["RR"]), assay.compare(qrels, runs, ["RR"]), diagnose(qrels, runs, ["RR"])]
    found += [evaluate(qrels, runs[text], ["RR"], name=text), replace(report(), collection=_called(text))]

    for value in found:
        page = Page(value._repr_html_())
        assert {"script", "img", "svg", "a"}.isdisjoint({tag for tag, *_ in page.tags})
        assert {"style"} >= {name for _, *names in page.tags for name in names}
        assert all(part.isprintable() for part in page.texts)
        assert "\x1b" not in str(value)
        assert repr(value).isprintable()


@pytest.mark.parametrize("text", IDS.values(), ids=IDS)
def test_texts_are_data_on_the_page_and_in_markdown(text):
    table = SheetTable((text, "n"), ((text, Strong(text)),), frozenset({1}), title=text, texts=(text,), note=text)
    sheet = Sheet(text, text, (table,), remarks=(text,), notes=(text,))
    page, plain = Page(sheet_as_page(sheet)), Page(sheet_as_page(PLAIN))

    assert plain.tags == page.tags
    assert all(part.isprintable() for part in "".join(page.texts).split("\n"))
    assert len(sheet_as_markdown(PLAIN).splitlines()) == len(sheet_as_markdown(sheet).splitlines())
    assert "<" not in re.sub(r"\\.", "", sheet_as_markdown(sheet))  # every other one is escaped


def _called(name: str) -> Any:
    return replace(report().collection, name=name)


def test_of_many_runs_the_highest_are_shown():
    runs = {f"run {number}": ranked(10, number) for number in range(60)}
    best = {"run 55": {query: ["a"] for query in judged(10)}}
    texts = Page(evaluate_runs(judged(10), runs | best, ["RR"])._repr_html_()).texts

    assert ["60 runs, 10 queries", "run", "RR", "run 55", "1.0000"] == texts[:5]
    assert "The 20 highest of 60 runs by RR; `to_pandas()` has all." in texts


def test_of_many_comparisons_the_largest_differences_are_shown():
    runs = {f"run {number}": ranked(10, number) for number in range(30)}
    texts = " ".join(Page(assay.compare(judged(10), runs, ["RR", "P@1"])._repr_html_()).texts)

    assert "The 20 largest differences by RR, of 58 comparisons; `to_pandas()` has all." in texts


def test_a_run_with_many_measures_has_a_row_for_each():
    measures = [f"P@{cutoff}" for cutoff in range(1, 11)]
    texts = Page(evaluate(judged(5), ranked(5), measures)._repr_html_()).texts

    assert ["measure", "run", "P@1", "0.2000", "P@2", "0.2000"] == texts[1:7]


def test_weighted_means_stand_below():
    found = evaluate(judged(2), ranked(2), ["RR"], query_weights={"q0": 3, "q1": 1})
    texts = Page(found._repr_html_()).texts

    # (3 * 1 + 1 * 1/2) / 4
    assert "Weighted by query" in texts
    assert "0.8750" in texts


# Lookups


def test_a_mean_is_found_under_any_name_of_its_measure():
    found = evaluate({"q1": {"a"}}, {"q1": ["b", "a"]}, ["RR@10", "nDCG@10"])

    assert [0.5] * 3 == [found["RR@10"], found["MRR@10"], found["RR(rel=1)@10"]]
    assert found["ndcg_cut_10"] == found[nDCG @ 10] == found.mean()["nDCG@10"]
    for unknown in ("AP", "nothing"):
        with pytest.raises(KeyError, match=unknown):
            found[unknown]


def test_a_result_of_several_systems_is_looked_up_by_a_measure_too(values):
    comparison, board, found = values["comparison"], values["leaderboard"], values["benchmark"]
    (pair,) = comparison["MRR@10"]

    assert ("RR@10", "hybrid") == (pair.measure, pair.system)
    assert {"hybrid": pair.system_mean, "keyword": pair.baseline_mean} == board["MRR@10"]
    assert ["hybrid", "keyword"] == list(board["RR@10"])
    assert {mode.name: mode.metrics[found.measures[0]] for mode in found.modes} == found[found.measures[0]]


def test_a_finding_is_found_by_its_code(values):
    for found in (values["diagnosis"], values["validation"]):
        assert [found[finding.code.lower()] for finding in found] == list(found.findings)


@pytest.mark.parametrize("name", EVERY)
def test_a_name_that_a_result_does_not_have_is_an_error_with_those_it_has(values, name):
    with pytest.raises(AssayError, match=r"^no (measure|run|finding) 'P@7'; the result has \w") as caught:
        values[name]["P@7"]
    assert isinstance(caught.value, KeyError)


def test_a_misspelt_name_gets_the_nearest(values):
    for name in ("evaluation", "comparison", "leaderboard"):
        with pytest.raises(AssayError, match=r"^no measure 'nDGC@10'; did you mean 'nDCG@10'\?$"):
            values[name]["nDGC@10"]
    with pytest.raises(AssayError, match=r"^no run 'hybird'; did you mean 'hybrid'\?$"):
        values["evaluations"]["hybird"]


def test_an_evaluation_is_not_a_list():
    with pytest.raises(TypeError, match=r"an evaluation is looked up by the name of a measure, not by 0\."):
        list(evaluate({"q1": {"a"}}, {"q1": ["a"]}, ["RR"]))


def test_several_evaluations_are_a_dict(values):
    found = values["evaluations"]

    assert isinstance(found, dict)
    assert ["keyword", "hybrid"] == list(found)
    assert found["keyword"]["AP"] == values["evaluation"]["AP"]


def test_evaluations_by_different_measures_are_not_shown_side_by_side():
    both = Evaluations(
        a=evaluate({"q": {"a"}}, {"q": ["a"]}, ["RR"]), b=evaluate({"q": {"a"}}, {"q": ["a"]}, ["AP"], name="other")
    )

    with pytest.raises(
        AssayError, match=r"^a and b were evaluated with different measures; evaluate them with the same"
    ):
        str(both)
    with pytest.raises(AssayError, match=r"^there is no evaluation to show\.$"):
        str(Evaluations())


# Data frames


def test_the_frame_of_an_evaluation_has_a_row_per_query(values):
    frame, evaluation = values["evaluation"].to_pandas(), values["evaluation"]

    assert ["run", "query", *MEASURES] == list(frame.columns)
    assert list(evaluation.queries) == frame["query"].tolist()
    assert evaluation.values.tolist() == frame[MEASURES].to_numpy().tolist()
    assert {"keyword": 8, "hybrid": 8} == values["evaluations"].to_pandas().groupby("run").size().to_dict()


def test_undefined_values_are_missing_in_a_frame():
    found = evaluate({"q1": {"a": 1}, "q2": {"a": 0}}, ranked(3), ["AP"], rules=Rules(undefined="nan"))

    assert [False, True] == found.to_pandas()["AP"].isna().tolist()


def test_the_frame_of_a_comparison_has_a_row_per_pair_and_measure(values):
    frame, comparison = values["comparison"].to_pandas(), values["comparison"]

    assert [pair.difference for pair in comparison.pairs] == frame["difference"].tolist()
    assert [pair.interval for pair in comparison.pairs] == list(zip(frame["low"], frame["high"], strict=True))
    assert [pair.verdict for pair in comparison.pairs] == frame["verdict"].tolist()
    assert "int64" == frame["wins"].dtype
    assert "needed" not in frame


def test_what_options_add_is_a_column_and_whole_numbers_stay_whole():
    scores = {
        "old": {"1": 0.1, "2": 0.2, "3": 0.4},
        "new": {"1": 0.2, "2": 0.2, "3": 0.4},
        "far": dict.fromkeys("123", 9.0),
    }
    frame = (
        compare_scores(scores | {"same": scores["old"]}, Study(plan=0.05, margin=0.1)).to_pandas().set_index("system")
    )

    assert "Int64" == frame["needed"].dtype
    assert [False, False, True] == frame["needed"].isna().tolist()
    assert [False] * 3 == frame["p_equivalence"].isna().tolist()


def test_the_frames_of_findings(values):
    diagnosis, validation = values["diagnosis"], values["validation"]

    assert [(each.code, each.measured) for each in diagnosis] == list(
        zip(diagnosis.to_pandas()["code"], diagnosis.to_pandas()["measured"], strict=True)
    )
    assert [("RUN011", 1, "q1", 1)] == [
        (row.code, row.line, row.query, row.count_)
        for row in validation.to_pandas().rename(columns={"count": "count_"}).itertuples()
    ]
    assert validate_run(ranked(2)).to_pandas().empty == (not validate_run(ranked(2)).findings)


def test_the_frame_of_a_benchmark_has_a_row_per_mode_and_measure(values):
    frame = values["benchmark"].to_pandas().set_index(["mode", "measure"])

    assert 6 == len(frame)
    assert (0.38, True) == (frame.loc[("hybrid", "nDCG@10"), "mean"], frame.loc[("hybrid", "nDCG@10"), "best"])
    assert math.isnan(frame.loc[("hybrid", "HitRate@10"), "low"])


@pytest.mark.parametrize("text", IDS.values(), ids=IDS)
def test_ids_are_unchanged_in_a_frame(text):
    assert [text] == evaluate({text: {"a"}}, {text: ["a"]}, ["RR"]).to_pandas()["query"].tolist()


def test_without_pandas_the_error_says_what_to_install(values, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)

    with pytest.raises(MissingExtraError, match=r"^making a data frame needs one more package: pip install pandas$"):
        values["evaluation"].to_pandas()


# Files


@pytest.mark.parametrize("suffix", SUFFIXES)
@pytest.mark.parametrize("name", EVERY)
def test_every_form_is_written(values, name, suffix, tmp_path):
    values[name].save(tmp_path / f"result{suffix.upper()}")
    text = (tmp_path / f"result{suffix.upper()}").read_text(encoding="utf-8")

    begins = {".html": "<!doctype html>", ".json": "{\n", ".csv": "", ".md": "", ".tex": "%"}
    assert text.startswith(begins[suffix])
    assert text.endswith("\n") or suffix == ".html"
    assert len(text) > 100


def test_csv_and_json_have_the_exact_values_of_each_query(values, tmp_path):
    evaluation = values["evaluation"]
    evaluation.save(tmp_path / "result.csv")
    evaluation.save(str(tmp_path / "result.json"))
    rows = list(csv.DictReader(io.StringIO((tmp_path / "result.csv").read_text(encoding="utf-8"), newline="")))
    (run,) = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["runs"]
    expected = {query: dict(scores) for query, scores in evaluation.per_query().items()}

    assert expected == {
        row["query"]: {measure: float(row[measure]) for measure in MEASURES} for row in rows if row["query"] != "all"
    }
    assert expected == run["queries"]
    assert dict(evaluation.mean()) == run["mean"]


def test_csv_and_json_have_the_exact_differences(values, tmp_path):
    comparison = values["comparison"]
    for suffix in ("csv", "json"):
        comparison.save(tmp_path / f"result.{suffix}")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "result.csv").read_text(encoding="utf-8"), newline="")))
    pairs = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))["pairs"]

    expected = [(pair.difference, pair.p_corrected) for pair in comparison.pairs]
    assert expected == [(float(row["difference"]), float(row["p_corrected"])) for row in rows]
    assert expected == [(pair["difference"], pair["p_corrected"]) for pair in pairs]


@pytest.mark.parametrize("name", EVERY)
def test_an_unknown_suffix_is_refused_with_those_that_are_known(values, name, tmp_path):
    known = "the suffix can be .csv, .html, .json, .md or .tex."

    with pytest.raises(InputError, match=re.escape(f"cannot be saved as .xlsx; {known}")):
        values[name].save(tmp_path / "result.xlsx")
    with pytest.raises(InputError, match=r"the name of the file has no suffix; the suffix can be "):
        values[name].save(tmp_path / "result")
    assert [] == list(tmp_path.iterdir())


def test_findings_are_a_table_for_a_paper():
    hostile = r"50% of \x{y}_$& #1"
    table = SheetTable(
        ("severity", "finding", "n"), ((Strong("note"), hostile, "1"), ("fine", "x" * 41, "2")), frozenset({2})
    )

    assert [
        "% Two\\nfindings",
        "",
        r"\begin{tabular}{lp{0.75\linewidth}r}",
        r"\toprule",
        r"severity & finding & n \\",
        r"\midrule",
        r"\textbf{note} & 50\% of \textbackslash{}x\{y\}\_\$\& \#1 & 1 \\",
        rf"fine & {'x' * 41} & 2 \\",
        r"\bottomrule",
        r"\end{tabular}",
    ] == sheet_as_latex(Sheet("x", "Two\nfindings", (table,))).splitlines()


def test_a_file_in_a_folder_that_does_not_exist_is_refused(values, tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        values["validation"].save(tmp_path / "none" / "result.md")


def test_the_page_of_a_diagnosis_has_the_figures_of_its_findings(values, tmp_path):
    values["diagnosis"].save(tmp_path / "result.html")
    texts = Page((tmp_path / "result.html").read_text(encoding="utf-8")).texts

    assert {finding.measured for finding in values["diagnosis"]} <= set(texts)
    assert any(text.startswith("DIA006: ") for text in texts)
    assert "Not checked" in texts


# Charts


def test_a_chart_is_the_one_of_the_report(values):
    pytest.importorskip("vl_convert")
    plot = values["comparison"].plot()

    assert ("differences", "Differences and their 95% intervals") == (plot.name, plot.title)
    assert plot.svg == plot._repr_svg_()
    assert plot.svg.startswith("<svg")
    assert "won-and-lost" == values["comparison"].plot("won-and-lost").name
    assert "per-query" == values["evaluation"].plot("per-query").name
    assert "means" == values["benchmark"].plot().name
    assert "<Plot 'differences': Differences and their 95% intervals>" == repr(plot)


def test_a_chart_is_saved_as_svg_and_png(values, tmp_path):
    pytest.importorskip("vl_convert")
    plot = values["comparison"].plot()
    for name in ("chart.svg", "chart.png"):
        plot.save(tmp_path / name)

    assert plot.svg == (tmp_path / "chart.svg").read_text(encoding="utf-8")
    assert b"\x89PNG\r\n\x1a\n" == (tmp_path / "chart.png").read_bytes()[:8]
    with pytest.raises(InputError, match=r"a chart cannot be saved as \.pdf; the suffix can be \.png or \.svg\.$"):
        plot.save(tmp_path / "chart.pdf")


def test_an_unknown_chart_is_refused_with_those_that_are_known(values):
    with pytest.raises(AssayError, match=r"^no chart called 'diferences'; did you mean 'differences'\?$"):
        values["comparison"].plot("diferences")
    with pytest.raises(AssayError, match=r"^no chart called 'x'; the charts are distribution, per-query\.$"):
        values["evaluation"].plot("x")


def test_without_values_there_is_no_chart():
    nothing = evaluate({"q1": {"a": 0}}, {"q1": ["a"]}, ["AP"], rules=Rules(undefined="nan"))

    with pytest.raises(AssayError, match=r"^there is no chart of an evaluation without values\.$"):
        nothing.plot()


def test_without_the_package_that_draws_the_error_says_what_to_install(values, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

    with pytest.raises(
        MissingExtraError, match=r"^drawing charts needs one more package: pip install 'assay-ir\[report\]'$"
    ):
        values["comparison"].plot()
    with pytest.raises(MissingExtraError, match="drawing charts needs one more package"):
        Plot("x", "X", "", "<svg/>").save("x.png")


def test_a_program_that_draws_and_fails_is_an_error(values, monkeypatch):
    def fail(_: int) -> None:
        raise charts._CannotDrawError("the program that draws charts failed")

    pytest.importorskip("vl_convert")
    monkeypatch.setattr(charts, "_painter", fail)

    with pytest.raises(AssayError, match=r"^the program that draws charts failed\.$"):
        values["comparison"].plot()
    with pytest.raises(AssayError, match=r"^the program that draws charts failed\.$"):
        Plot("x", "X", "", "<svg/>").save("x.png")


def test_nothing_that_draws_is_imported_before_it_is_used():
    code = (
        "import sys, assay; e = assay.evaluate({'q': {'a'}}, {'q': ['a']}, ['RR']); repr(e), e['RR'];"
        "print(*sorted(m for m in sys.modules if m.startswith('assay.report') or m in ('pandas', 'rich', 'jinja2')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert "" == loaded.strip()
