"""A killed benchmark resumes where it stopped and produces the same report."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from time import monotonic, sleep

import pytest

from assay.collections.opening import EMBEDDED
from benchmark.collection import RECIPE, write_kitchen
from cli.command import assay

pytest.importorskip("tantivy")
pytest.importorskip("bm25s")

KILLS = 10
WITH_VECTORS = RECIPE.replace('"bm25s", "both"]', '"bm25s", "vector", "both"]').replace(
    'modes = ["lexical", "bm25s"]\n', 'modes = ["lexical", "vector"]\n'
)


def model_folder() -> Path | None:
    """The folder of the default model, if it is installed and works."""
    try:
        import onnxruntime  # noqa: F401

        from assay.retrieval.models import find_model
    except ImportError:
        return None
    found = find_model()
    return None if found is None else found.folder.parent


def command(folder: Path, models: Path | None) -> tuple[list[str], dict[str, str]]:
    """The command, and an environment with an empty vector cache per folder."""
    environment = {**os.environ, "ASSAY_OFFLINE": "1", "ASSAY_CACHE": str(folder.with_suffix(".cache"))}
    if models is not None:
        environment["ASSAY_MODELS"] = str(models)
    return [sys.executable, "-m", "assay", "benchmark", "run", "benchmark.toml", "--output", folder.name], environment


def run(folder: Path, models: Path | None) -> None:
    """Run to the end."""
    given, environment = command(folder, models)
    done = subprocess.run(given, cwd=folder.parent, env=environment, capture_output=True, check=False)

    assert (0, True) == (done.returncode, done.stderr.endswith(b"/BenchmarkReport.html\n")), done.stderr


def killed(folder: Path, models: Path | None, seconds: float) -> bool:
    """Kill it after this many seconds; returns whether it was still running."""
    given, environment = command(folder, models)
    with subprocess.Popen(
        given, cwd=folder.parent, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
    return False


def found_in(folder: Path) -> dict[str, object]:
    """All files of a finished benchmark, with reports stripped of everything that depends on time."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if not path.is_file() or name.startswith("work/"):
            continue
        if path.name in ("BenchmarkReport.json", "EvaluationReport.json"):
            report = json.loads(path.read_bytes())
            found[name] = {
                key: value for key, value in report.items() if key not in ("created", "experiment", "timing", "seconds")
            }
        else:
            found[name] = path.read_bytes() if path.suffix in (".run", ".txt", ".svg") else None
    return found


def is_whole(folder: Path) -> bool:
    """Whether there is a report; if so, all files in its manifest must exist unchanged."""
    return (folder / "ExperimentManifest.json").exists()


@pytest.mark.slow
def test_killed_at_ten_random_moments_it_comes_to_the_same_report(tmp_path):
    write_kitchen(tmp_path)
    models = model_folder()
    if models is not None:
        (tmp_path / "benchmark.toml").write_text(WITH_VECTORS)
    start = monotonic()
    run(tmp_path / "straight", models)
    whole = monotonic() - start
    expected = found_in(tmp_path / "straight")
    draw = random.Random(7)
    kills, attempt = 0, 0

    while kills < KILLS:
        attempt += 1
        folder = tmp_path / f"attempt-{attempt}"
        for _ in range(KILLS):  # repeatedly in the same folder, until it finishes
            if kills == KILLS or not killed(folder, models, draw.uniform(0.1, 1.0) * whole):
                break
            kills += 1
            if is_whole(folder):
                assert 0 == assay("verify", folder.name, cwd=tmp_path).returncode
        run(folder, models)

        assert expected == found_in(folder)
        assert 0 == assay("verify", folder.name, cwd=tmp_path).returncode


FIVE_STAGES = Path(__file__).parents[2] / "examples" / "stages.toml"
FEW = 20  # queries, and 10 documents for each reranker; `make stages` takes all of them
ALL = os.environ.get("ASSAY_ALL_STAGES") == "1"


def installed_models() -> Path:
    """The folder of the three small models, fetched if they are missing."""
    from assay.errors import AssayError
    from assay.retrieval.models import get_model

    try:
        folders = {get_model(name).folder.parent for name in ("minilm", "bert-mini-reranker", "smollm2-135m")}
    except AssayError as error:
        pytest.skip(f"needs three small models, which could not be fetched: {error}")
    if len(folders) > 1:
        pytest.skip("needs the three small models in one folder")
    return folders.pop()


def write_few(folder: Path) -> str:
    """The first queries of the shop as a collection, and the recipe for them."""
    shop = EMBEDDED / "shop"
    copy = folder / "few"
    (copy / "qrels").mkdir(parents=True)
    (copy / "corpus.jsonl").write_bytes((shop / "corpus.jsonl").read_bytes())
    queries = (shop / "queries.jsonl").read_text().splitlines(keepends=True)[:FEW]
    (copy / "queries.jsonl").write_text("".join(queries))
    chosen = {json.loads(line)["_id"] for line in queries}
    rows = (shop / "qrels" / "test.tsv").read_text().splitlines(keepends=True)
    kept = [row for row in rows[1:] if row.partition("\t")[0] in chosen]
    (copy / "qrels" / "test.tsv").write_text("".join([rows[0], *kept]))
    return FIVE_STAGES.read_text().replace('"shop"', '"few"').replace("top = 100", "top = 10")


@pytest.mark.slow
def test_five_stages_killed_at_ten_random_moments_come_to_the_same_report(tmp_path):
    for package in ("onnxruntime", "tokenizers", "xllamacpp", "httpx"):
        pytest.importorskip(package)
    models = installed_models()
    (tmp_path / "benchmark.toml").write_text(FIVE_STAGES.read_text() if ALL else write_few(tmp_path))
    draw, kills, folders = random.Random(7), 0, []
    while kills < KILLS:  # on a fast machine it finishes earlier, and begins again in another folder
        folder = tmp_path / f"killed-{len(folders)}"
        folders.append(folder)
        while kills < KILLS and killed(folder, models, draw.uniform(2, 12) * (8 if ALL else 1)):
            kills += 1
        run(folder, models)
    if not ALL:  # the language model is asked no more than needed; its answers are kept outside the folder
        folder.with_suffix(".cache").rename(tmp_path / "straight.cache")
    run(tmp_path / "straight", models)

    for folder in folders:
        assert found_in(tmp_path / "straight") == found_in(folder)
        assert 0 == assay("verify", folder.name, cwd=tmp_path).returncode
    report = json.loads((tmp_path / "straight" / "BenchmarkReport.json").read_bytes())
    stages = {stage["name"]: stage for stage in report["stages"]}
    assert ["lexical", "vector", "hybrid", "cross-encoder", "llm-pointwise"] == list(stages)
    assert {"", "helped", "hurt", "mixed", "no significant difference", "order from repair"} >= {
        stage["verdict"] for stage in stages.values()
    }
    recall = [stage["metrics"]["Recall@100"] for stage in stages.values()]
    assert recall[2] == recall[3] == recall[4]  # rerankers find nothing new
    assert 10.0 == stages["llm-pointwise"]["per_query"]["documents"]
    assert stages["llm-pointwise"]["per_query"]["tokens_in"] > 0


def test_a_second_run_says_the_same_at_once(tmp_path):
    write_kitchen(tmp_path)
    first = assay("benchmark", "run", "benchmark.toml", "--output", "out", cwd=tmp_path)
    second = assay("benchmark", "run", "benchmark.toml", "--output", "out", cwd=tmp_path)

    assert (0, first.stdout) == (second.returncode, second.stdout)


def test_control_c_says_that_it_can_go_on(tmp_path):
    import signal

    write_kitchen(tmp_path)
    (tmp_path / "benchmark.toml").write_text(RECIPE.replace("repeats = 1", "repeats = 100000"))
    given, environment = command(tmp_path / "out", None)
    with subprocess.Popen(
        given, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        while process.poll() is None and not (tmp_path / "out" / "runs" / "lexical.run").exists():
            sleep(0.01)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=60)

    assert 130 == process.returncode
    assert b"Interrupted. Finished steps are in out; run the same command again to resume.\n" in said
    assert b"Traceback" not in said
