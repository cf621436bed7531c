"""Whatever fails while a command writes: the old file or the new one is there, nothing else, and the user is told.

Every write path of the command line, with every fault at every call that changes a file.
"""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path

import pytest
from msgspec import Struct

from assay.records.storing import MANIFEST_FILE, REPORT_FILE
from benchmark.collection import RECIPE, write_collection
from faults.injecting import KINDS, Met, Stage, each_fault, files_in, temporary_in

QRELS = "".join(f"q{query} 0 d{doc} {(query + doc) % 2}\n" for query in range(9) for doc in range(4))
RUN = "".join(f"q{query} Q0 d{doc} {doc + 1} {9 - doc}.0 a\n" for query in range(9) for doc in range(4))
OTHER = "".join(f"q{query} Q0 d{3 - doc} {doc + 1} {9 - doc}.0 b\n" for query in range(9) for doc in range(4))
LOG = "".join(f"query {rank}\t{100 // rank}\n" for rank in range(1, 20))
INPUTS = {"qrels.txt": QRELS, "my.run": RUN, "other.run": OTHER, "log.tsv": LOG}
GATE = ("gate", "--baseline", "base", "--candidate", "my.run", "--qrels", "qrels.txt", "--rule", "AP >= -0.5")


class Case(Struct, frozen=True):
    """A command that writes, and what it writes: files, a report, or both halves of a sample."""

    command: tuple[str, ...]
    targets: tuple[str, ...]
    there: bool = True  # an older file of this name is replaced
    before: tuple[tuple[str, ...], ...] = ()  # commands to run first

    @property
    def name(self) -> str:
        return " ".join(self.command[:2]) + ("" if self.there else " new")


EVALUATE = ("evaluate", "qrels.txt", "my.run")
CASES = [
    Case((*EVALUATE, "-o", "out.txt"), ("out.txt",)),
    Case((*EVALUATE, "-o", "out.txt"), ("out.txt",), there=False),
    Case(("runs", "convert", "my.run", "-o", "out.jsonl.gz"), ("out.jsonl.gz",)),
    Case(("qrels", "convert", "qrels.txt", "-o", "out.tsv"), ("out.tsv",)),
    Case(("runs", "fuse", "my.run", "other.run", "-o", "out.run"), ("out.run",)),
    Case(("runs", "collapse", "my.run", "--regex", "d.", "-o", "out.run"), ("out.run",)),
    Case(("runs", "validate", "my.run", "--fix", "out.run"), ("out.run",)),
    Case(("runs", "validate", "my.run", "--fix", "out.run", "--policy", "cut=2"), ("out.run",)),
    Case(
        ("qrels", "sample", "qrels.txt", "--share", ".5", "-o", "dev", "--rest", "test", "--to", "trec"),
        ("dev", "test"),
    ),
    Case(
        ("queries", "sample", "log.tsv", "--size", "6", "-o", "queries.tsv"),
        ("queries.tsv", "queries.weights.tsv"),
    ),
    Case(("compare", "qrels.txt", "my.run", "other.run", "--format", "html", "-o", "out.html"), ("out.html",)),
    Case((*GATE, "--format", "junit", "-o", "gate.xml"), ("gate.xml",), before=((*EVALUATE, "--report", "base"),)),
    Case(("benchmark", "init", "out.toml", "--force"), ("out.toml",)),
]


@pytest.fixture
def fresh(tmp_path):
    """Make folders with the inputs of a case and its older files."""
    places = iter(range(10_000))

    def make(case: Case, stage: Stage) -> Path:
        model = tmp_path / "model"
        if not model.exists():
            model.mkdir()
            for name, text in INPUTS.items():
                (model / name).write_text(text)
            for command in case.before:
                assert 0 == stage.do(command, model).status
            for name in case.targets if case.there else ():
                (model / name).write_text(f"old {name}")
        return shutil.copytree(model, tmp_path / f"{next(places)}")

    return make


@pytest.mark.parametrize("kind", ["errors in turn", "short write", "kill"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_a_file_is_old_or_new_and_the_user_is_told(case, kind, stage, fresh):
    begun = fresh(case, stage)
    old = files_in(begun)
    assert stage.do(case.command, begun).status in (0, 1, 3)
    new = files_in(begun)

    hit = 0
    for folder, met in each_fault(stage, case.command, kind, lambda: fresh(case, stage)):
        hit += 1
        found = files_in(folder)
        for name in case.targets:
            assert found.get(name) in (old.get(name), new[name]), met
        assert {name: found[name] for name in found if name not in case.targets} == {
            name: old[name] for name in old if name not in case.targets
        }
        if kind == "kill":
            assert -9 == met.status
            assert_a_second_try_is_clean(case, stage, folder, new)
        else:
            assert_it_is_told(met, case.targets)
            assert [] == temporary_in(folder)
    assert hit >= (1 if kind == "short write" else 5)


def assert_it_is_told(met: Met, targets: tuple[str, ...]) -> None:
    """One line: the file, the reason and what to do; or all is done, since the fault did not matter."""
    if met.status == 2:
        told = r"Error: ([^:\n]+): .*(No space left on device|Input/output error|Permission denied)\. [A-Z][^\n]+\.\n"
        found = re.fullmatch(told, met.err)
        assert found, met
        assert found[1] in targets or "tmp" in found[1], met
        assert "" == met.out
    else:  # as in file systems that cannot flush a folder, or know no files without a name: Python makes one with a name
        assert 0 == met.status, met
        assert "flush" == met.call.split()[1] or met.call.endswith("open ./tmp"), met
        assert "Error" not in met.err


def assert_a_second_try_is_clean(case: Case, stage: Stage, folder: Path, new: dict[str, bytes]) -> None:
    """The same command completes; what was left goes when it is a day old."""
    assert stage.do(case.command, folder).status in (0, 1, 3)
    assert {name: new[name] for name in case.targets} == {name: files_in(folder)[name] for name in case.targets}
    for name in temporary_in(folder):
        os.utime(folder / name, (0, 0))
    stage.do(case.command, folder)
    assert [] == [name for name in temporary_in(folder) if not name.startswith("tmp/")]  # the system clears that


# Reports


def whole_report(folder: Path) -> str | None:
    """The measure of a report, after checking every digest in its manifest; None if there is no report."""
    import hashlib

    if not (folder / MANIFEST_FILE).exists():
        return None
    manifest = json.loads((folder / MANIFEST_FILE).read_bytes())
    for output in manifest["outputs"]:
        assert output["sha256"] == hashlib.sha256((folder / output["path"]).read_bytes()).hexdigest(), output["path"]
    report = json.loads((folder / REPORT_FILE).read_bytes())
    assert manifest["experiment"] == report["experiment"]
    return report["measures"][0]["name"]


NEW = (*EVALUATE, "-m", "AP", "--report", "report")


@pytest.mark.parametrize(
    ("kind", "there"),
    [("errors in turn", True), ("full disk", False), ("short write", False), ("kill", True)],
)
def test_a_report_is_old_or_new_and_the_user_is_told(kind, there, stage, fresh):
    before = ((*EVALUATE, "-m", "RR", "--report", "report"),) if there else ()
    case = Case(NEW, ("report",), there=False, before=before)
    old = "RR" if there else None

    seen = {}
    for folder, met in each_fault(stage, case.command, kind, lambda: fresh(case, stage)):
        found = whole_report(folder / "report")
        seen[met.call] = found
        assert found in (old, "AP"), met
        assert (found is not None) == (folder / "report").exists(), met
        if kind == "kill":
            assert (-9, 0, "AP") == (met.status, stage.do(NEW, folder).status, whole_report(folder / "report")), met
        elif met.status == 2:
            assert old == found, met
            assert re.fullmatch(r"Error: report: the report cannot be written: [^\n]+\. [A-Z][^\n]+\.\n", met.err), met
        else:
            assert (0, "AP") == (met.status, found), met
        assert [] == temporary_in(folder), met
    assert 4 <= list(seen.values()).count(old)


# Benchmarks

ONE_MODE = RECIPE.replace('"lexical", "bm25s", "both"', '"bm25s"').partition('[[mode]]\nname = "both"')[0]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_benchmark_goes_on_where_it_failed(kind, stage, tmp_path):
    """A sample of its calls: it has hundreds."""
    pytest.importorskip("bm25s")
    model = tmp_path / "model"
    write_collection(model / "kitchen")
    (model / "benchmark.toml").write_text(ONE_MODE)
    command = ("benchmark", "run", "benchmark.toml", "--output", "out")
    statuses = []
    for at in range(3 + list(KINDS).index(kind), 1000, 29):
        folder = shutil.copytree(model, tmp_path / f"{at}")
        met = stage.do(command, folder, KINDS[kind], at)
        if not met.call:
            break
        statuses.append(met.status)
        if kind == "kill":
            assert -9 == met.status, met
        elif met.status:
            assert (2, "") == (met.status, met.out), met
            assert re.search(r"^Error: [^:\n]+: [^\n]+\. [A-Z][^\n]+\.\n$", met.err, re.MULTILINE), met
        again = stage.do(command, folder)

        assert 0 == again.status, (met, again)
        assert 0 == stage.do(("verify", "out"), folder).status, met
        assert [] == temporary_in(folder), met
        shutil.rmtree(folder)
    assert set(statuses) - {0}  # not only folders that could not be flushed
