"""Results in a notebook: a real kernel runs it, and asks each value for its HTML, text and SVG as JupyterLab does."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest

from assay.records.benchmark import BENCHMARK_FILE
from assay.records.encoding import encode_record
from benchmark.test_report import report
from report.pages import Page

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
]  # those of the kernel's client
nbclient = pytest.importorskip("nbclient", reason="running notebooks needs nbclient")
nbformat = pytest.importorskip("nbformat", reason="running notebooks needs nbformat")
pytest.importorskip("ipykernel", reason="running notebooks needs ipykernel")
pytest.importorskip("vl_convert", reason="charts need vl_convert")

HOSTILE = "<img src=x onerror='window.hacked = 1'>"
BEGIN = f"""
    import assay
    from assay.benchmark.running import read_benchmark
    from assay.formats import parse_run

    hostile = {HOSTILE!r}
    qrels = {{hostile: {{"a": 1}}, "q2": {{"b": 1}}, "q3": {{"c": 1}}}}
    old = {{query: ["x", *docs] for query, docs in qrels.items()}}
    new = {{query: [*docs, "x"] for query, docs in qrels.items()}}
    new["q2"] = ["x", "y", "b"]
    measures = ["nDCG@10", "RR"]
    """
VALUES = {
    "evaluation": "assay.evaluate(qrels, new, measures, name=hostile)",
    "evaluations": "assay.evaluate_runs(qrels, {hostile: new, 'old': old}, measures)",
    "comparison": "assay.compare(qrels, {'old': old, hostile: new}, measures)",
    "leaderboard": "assay.leaderboard(qrels, {'old': old, hostile: new}, measures)",
    "diagnosis": "assay.diagnose(qrels, {'old': old, hostile: new}, measures)",
    "validation": "assay.validate_run('bad.run')",
    "benchmark": "read_benchmark('.')",
}
CHARTED = ("evaluation", "comparison", "leaderboard", "benchmark")


def run_notebook(folder: Path, cells: Mapping[str, str]) -> dict[str, list[Any]]:
    """The outputs of each cell."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(dedent(code)) for code in cells.values()])
    nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(folder)}}).execute()
    return {name: cell.outputs for name, cell in zip(cells, notebook.cells, strict=True)}


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    folder = tmp_path_factory.mktemp("notebook")
    (folder / BENCHMARK_FILE).write_bytes(encode_record(report()))
    (folder / "bad.run").write_text("q1 Q0 <b>a</b> 1 nan t\n")
    cells = {"begin": BEGIN}
    for name, code in VALUES.items():
        cells |= {name: f"{name} = {code}\n{name}", f"print {name}": f"print({name})"}
        cells |= {f"frame {name}": f"{name}.to_pandas()"}
    cells |= {f"plot {name}": f"{name}.plot()" for name in CHARTED}
    return run_notebook(folder, cells)


def data_of(outputs: Mapping[str, list[Any]], name: str) -> dict[str, str]:
    """What the last line of a cell shows, by MIME type."""
    (output,) = outputs[name]
    assert "execute_result" == output.output_type
    return dict(output.data)


@pytest.mark.parametrize("name", VALUES)
def test_a_value_is_a_table_and_a_line(outputs, name):
    data = data_of(outputs, name)

    assert {"text/html", "text/plain"} == set(data)
    assert "<table>" in data["text/html"]
    assert data["text/plain"].startswith("<")
    assert len(data["text/plain"]) < 1000


def test_the_tables_have_the_figures(outputs):
    evaluation = Page(data_of(outputs, "evaluation")["text/html"]).texts
    comparison = Page(data_of(outputs, "comparison")["text/html"]).texts

    # New: RR is 1, 1/3 and 1; old: 1/2 on each of the three queries.
    assert f"{(1 + 1 / 3 + 1) / 3:.4f}" in evaluation
    assert {"0.5000", "0.7778", "+0.2778"} <= set(comparison)
    assert "Benchmark of" in " ".join(Page(data_of(outputs, "benchmark")["text/html"]).texts)


@pytest.mark.parametrize("name", VALUES)
def test_ids_are_text_and_never_markup(outputs, name):
    page = Page(data_of(outputs, name)["text/html"])

    known = {"div", "p", "strong", "table", "thead", "tbody", "tr", "th", "td", "bdi", "details", "summary", "ul", "li"}
    assert {tag.removeprefix("/") for tag, *_ in page.tags} <= known
    assert {"style"} >= {name for _, *names in page.tags for name in names}
    if name in ("evaluation", "evaluations", "comparison", "leaderboard"):
        assert HOSTILE in " ".join(page.texts)


@pytest.mark.parametrize("name", VALUES)
def test_print_gives_the_text_of_the_command_without_colours(outputs, name):
    (output,) = outputs[f"print {name}"]

    assert ("stream", "stdout") == (output.output_type, output.name)
    assert "\x1b" not in output.text
    assert max(map(len, output.text.splitlines())) <= 120


@pytest.mark.parametrize("name", VALUES)
def test_a_frame_is_shown_by_pandas(outputs, name):
    assert 'class="dataframe"' in data_of(outputs, f"frame {name}")["text/html"]


@pytest.mark.parametrize("name", CHARTED)
def test_a_chart_is_shown_as_svg(outputs, name):
    data = data_of(outputs, f"plot {name}")

    assert data["image/svg+xml"].startswith("<svg")
    assert "<img" not in data["image/svg+xml"]
    assert data["text/plain"].startswith("<Plot '")
