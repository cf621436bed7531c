"""Completion as a shell asks for it, and in bash itself."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from assay.cli import completion, group
from assay.cli.completion import CUTOFFS
from assay.measures import definition_of, parse_measure


def asked(shell: str, line: str) -> list[str]:
    """What a shell gets for a line whose end is the cursor: the kind and the text of each answer."""
    words = line.split(" ")
    by_shell = {
        "bash": {"COMP_LINE": line},
        "zsh": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "fish": {"COMP_WORDS": line, "COMP_CWORD": words[-1]},
    }
    environment = {**os.environ, "_ASSAY_COMPLETE": f"{shell}_complete", **by_shell[shell]}
    done = subprocess.run(
        [sys.executable, "-m", "assay"], env=environment, capture_output=True, text=True, encoding="utf-8", check=True
    )
    assert "" == done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize(
    ("line", "answers"),
    [
        ("assay ev", ["plain,evaluate"]),
        ("assay runs va", ["plain,validate"]),
        ("assay evaluate --so", ["plain,--sort"]),
        ("assay evaluate q.txt r.run --like trec", ["plain,trec_eval-9", "plain,trec_eval-10"]),
        ("assay evaluate q.txt r.run -m GMA", ["plain,GMAP"]),
        ("assay evaluate q.txt r.run -m AP,RBPR", ["plain,AP,RBPResidual"]),
        (
            "assay evaluate q.txt r.run --sort nDCG@1",
            ["plain,nDCG@1", "plain,nDCG@10", "plain,nDCG@100", "plain,nDCG@1000"],
        ),
        ("assay evaluate ", ["file,"]),
        ("assay evaluate qrels.txt new=hy", ["file,new=hy"]),
        ("assay verify rep", ["dir,rep"]),
        ("assay explain RUN00", [f"plain,RUN00{n}" for n in range(1, 10)]),
        ("assay reproduce 0.5 qr", ["file,qr"]),
        ("assay reproduce ", [""]),  # a number, which nobody knows
    ],
)
def test_bash_is_answered(line, answers):
    assert answers == asked("bash", line)


def test_the_other_shells_are_answered_with_help():
    assert ["plain", "evaluate", "Score one or more runs against judgments."] == asked("zsh", "assay eva")
    assert any(line.startswith("plain\tevaluate") or "evaluate" in line for line in asked("fish", "assay eva"))
    assert "RBPResidual" in " ".join(asked("zsh", "assay evaluate q r -m RBPR"))


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("value", ["--measure=RBPResidual", "--measure=AP,RBPResidual", "--like=msmarco"])
def test_a_value_joined_to_its_option_keeps_the_option(shell, value):
    assert f" {value} " in f" {' '.join(asked(shell, f'assay evaluate q r {value[:-4]}'))} ".replace(
        ",--", " --"
    ).replace("\t", " ")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell):
    done = subprocess.run(
        [sys.executable, "-m", "assay"],
        env={**os.environ, "_ASSAY_COMPLETE": f"{shell}_source"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert f"_ASSAY_COMPLETE={shell}_complete" in done.stdout
    if shutil.which(shell):
        check = subprocess.run([shell, "-n"], input=done.stdout, capture_output=True, text=True, check=False)
        assert (0, "") == (check.returncode, check.stderr)


def test_nothing_heavy_is_imported():
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "assay"],
        env={**os.environ, "_ASSAY_COMPLETE": "bash_complete", "COMP_LINE": "assay evaluate q r -m nD"},
        capture_output=True,
        text=True,
        check=True,
    )

    assert "plain,nDCG\n" in done.stdout
    imported = {line.rpartition("|")[2].strip().partition(".")[0] for line in done.stderr.splitlines()}
    assert set() == imported & {"numpy", "scipy", "rich", "jinja2", "pyarrow"}


IN_BASH = r"""
eval "$(_ASSAY_COMPLETE=bash_source assay)"
for line in "assay evalu" "assay evaluate q r -m nDCG@1" "assay evaluate q r -m AP,RBPR" "assay evaluate --lik"; do
    COMP_LINE="$line" COMP_POINT=${#line} COMPREPLY=()
    _assay_completion assay
    printf '%s\n' "${COMPREPLY[*]}"
done
complete -p assay
"""


@pytest.mark.skipif(sys.platform == "win32" or shutil.which("bash") is None, reason="needs bash")
def test_bash_gets_what_stands_behind_its_word_breaks(tmp_path):
    """bash divides words before @, so only the cutoff is completed; a comma divides nothing."""
    tool = tmp_path / "assay"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assay "$@"\n')
    tool.chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", IN_BASH], env=environment, capture_output=True, text=True, check=False)

    assert ["evaluate", "@1 @10 @100 @1000", "AP,RBPResidual", "--like"] == done.stdout.splitlines()[:4], done.stderr
    assert "-F _assay_completion assay" in done.stdout.splitlines()[4]


IN_FISH = """
_ASSAY_COMPLETE=fish_source assay | source
for line in "assay evaluate q r -m AP,RBPR" "assay evaluate qrels.txt new=hy" "assay evaluate --query-weights=we" "assay verify re"
    complete -C $line
end
"""


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_fish_completes_names_with_commas_and_files_behind_an_equals_sign(tmp_path):
    tool = tmp_path / "assay"
    tool.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m assay "$@"\n')
    tool.chmod(0o755)
    for name in ("hybrid.run", "weights.tsv", "report.txt"):
        (tmp_path / name).touch()
    (tmp_path / "reports").mkdir()
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["fish", "--no-config", "-c", IN_FISH],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    names = [line.partition("\t")[0] for line in done.stdout.splitlines()]

    assert ["AP,RBPResidual", "new=hybrid.run", "--query-weights=weights.tsv", "reports/"] == names, done.stderr


def test_the_table_has_all_commands_and_only_measures_that_exist():
    table = json.loads(completion.TABLE.read_text(encoding="utf-8"))

    assert Path(completion.TABLE).read_text(encoding="utf-8") == completion.table_of(group)
    for name, (_, has_cutoff) in table["measures"].items():
        assert definition_of(name)
        assert not has_cutoff or parse_measure(f"{name}@{CUTOFFS[0]}")
