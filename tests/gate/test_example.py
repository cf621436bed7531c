"""The example for GitHub Actions works: its steps are run as a runner would."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from conftest import ROOT
from docs.blocks import shell_environment

EXAMPLE = ROOT / "examples" / "github-actions"
STEPS = yaml.safe_load((EXAMPLE / "search-gate.yml").read_text(encoding="utf-8"))["jobs"]["gate"]["steps"]
INSTALLS = "pip install assay-ir"


@pytest.fixture
def checkout(tmp_path):
    """The example as the two checkouts of its workflow leave it."""
    work = tmp_path / "work"
    shutil.copytree(EXAMPLE, work)
    shutil.copytree(EXAMPLE, work / "base")
    return work


def run_steps(work: Path) -> tuple[int, str, str]:
    """The status of the first step that fails, or 0; the output of all steps; and the summary."""
    summary = work.parent / "summary.md"
    environment = {**shell_environment(work.parent), "GITHUB_STEP_SUMMARY": str(summary)}
    printed = ""
    for step in STEPS:
        if "run" not in step or step["run"] == INSTALLS:
            continue
        done = subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-c", step["run"]],
            cwd=work,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed += done.stdout
        if done.returncode:
            break
    return done.returncode, printed, summary.read_text(encoding="utf-8")


def test_an_unchanged_search_passes(checkout):
    status, printed, summary = run_steps(checkout)

    assert 0 == status, printed
    assert (
        "::notice title=assay gate::Gate: unchanged (2 are unchanged, 1 passes): candidate against baseline, 14 queries\n"
        in printed
    )
    assert "nDCG@10 >= -0.02%3A unchanged::" in printed
    assert "both runs have the same value on every query" in printed
    assert summary.startswith(
        "**Gate: unchanged (2 are unchanged, 1 passes): candidate against baseline, 14 queries**\n"
    )
    suite = ElementTree.parse(checkout / "gate.xml").getroot()
    assert ("3", "0", "0") == (suite.get("tests"), suite.get("failures"), suite.get("errors"))


def test_a_search_that_is_turned_around_fails(checkout):
    program = checkout / "search.py"
    program.write_text(program.read_text().replace("-scores[name], name", "scores[name], name"))

    status, printed, summary = run_steps(checkout)

    assert 1 == status, printed
    assert "::error title=nDCG@10 >= -0.02%3A fail::difference -" in printed
    assert "::error title=target Success@3%3A fail::" in printed
    assert "| fail |\n" in summary
    assert "3" == ElementTree.parse(checkout / "gate.xml").getroot().get("failures")


def test_worse_documents_fail_too(checkout):
    """The change is in the data, not in the program: the base branch must search its own documents."""
    documents = checkout / "documents.tsv"
    lines = documents.read_text().splitlines()
    documents.write_text("".join(f"{line.split(chr(9))[0]}\tempty\n" for line in lines))

    status, printed, _ = run_steps(checkout)

    assert 1 == status, printed
    assert "::error title=nDCG@10 >= -0.02%3A fail::" in printed
    assert (checkout / "baseline.run").read_text() != (checkout / "candidate.run").read_text()


def test_a_new_query_is_asked_of_both(checkout):
    with (checkout / "queries.tsv").open("a") as file:
        file.write("new\tzip of a tent\n")

    run_steps(checkout)

    assert "new Q0 " in (checkout / "baseline.run").read_text()
    assert "new Q0 " in (checkout / "candidate.run").read_text()


def test_shorter_lists_are_inconclusive_with_so_few_questions(checkout):
    program = checkout / "search.py"
    program.write_text(program.read_text().replace("[:10]", "[:2]"))

    status, printed, summary = run_steps(checkout)

    assert 3 == status, printed
    assert "::warning title=nDCG@10 >= -0.02%3A inconclusive::" in printed
    assert " queries would settle it as " in summary


def test_the_workflow_is_one_that_a_runner_takes():
    workflow = yaml.safe_load((EXAMPLE / "search-gate.yml").read_text(encoding="utf-8"))

    assert "pull_request" == workflow[True]  # YAML 1.1 reads the key `on` as true
    assert all(("run" in step) != ("uses" in step) for step in STEPS)
    assert [INSTALLS] == [step["run"] for step in STEPS if step.get("run", "").startswith("pip")]
    assert ["gate.xml"] == [step["with"]["path"] for step in STEPS if "upload-artifact" in step.get("uses", "")]


def test_every_file_is_in_the_readme_and_all_that_it_names_are_there():
    page = (EXAMPLE / "README.md").read_text(encoding="utf-8")
    files = sorted(path.name for path in EXAMPLE.iterdir() if path.is_file() and path.name != "README.md")

    assert [] == [name for name in files if f"`{name}`" not in page]
    assert (ROOT / "docs" / "gate.md").exists()
