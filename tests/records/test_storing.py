"""Reports are written completely or not at all, whatever happens."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from assay.errors import InputError
from assay.files import exchange
from assay.records import storing
from assay.records.encoding import encode_record
from assay.records.storing import (
    MANIFEST_FILE,
    REPORT_FILE,
    checked_folder,
    read_manifest,
    read_report,
    report_folders,
    run_folders,
    write_reports,
)
from records.rewriting import experiment, render
from records.samples import files_below

ONE = ["EvaluationReport.html", REPORT_FILE, MANIFEST_FILE, "b.md", "charts/a.svg"]
TWO = [MANIFEST_FILE, *(f"{run}/{name}" for run in ("other", "run1") for name in ONE if name != MANIFEST_FILE)]


def write(folder, number: int = 0):
    return write_reports(folder, *experiment(number), render)


def number_in(folder: Path) -> str:
    """The report in a folder, after checking every digest in its manifest."""
    manifest = json.loads((folder / MANIFEST_FILE).read_bytes())
    for output in manifest["outputs"]:
        data = (folder / output["path"]).read_bytes()
        assert (output["sha256"], output["size"]) == (hashlib.sha256(data).hexdigest(), len(data)), output["path"]
    reports = [path for path in (o["path"] for o in manifest["outputs"]) if path.endswith(REPORT_FILE)]
    assert {manifest["experiment"]} == {json.loads((folder / path).read_bytes())["experiment"] for path in reports}
    return manifest["experiment"]


# Written files


def test_one_run_stands_in_the_folder_itself(tmp_path):
    written = write(tmp_path / "report")

    assert sorted(ONE) == files_below(tmp_path / "report")
    assert "number 0" == number_in(tmp_path / "report")
    assert read_manifest(tmp_path / "report") == written
    assert [""] == report_folders(written)


def test_several_runs_have_a_folder_each_and_one_manifest(tmp_path):
    written = write(tmp_path / "report", 1)

    assert sorted(TWO) == files_below(tmp_path / "report")
    assert ["run1", "other"] == report_folders(written)
    assert "other" == read_report(tmp_path / "report" / "other").run.name


def test_the_manifest_vouches_for_every_other_file(tmp_path):
    written = write(tmp_path / "report")

    assert set(ONE) - {MANIFEST_FILE} == {output.path for output in written.outputs}


def test_folders_above_are_made(tmp_path):
    write(tmp_path / "a" / "b" / "report")

    assert "number 0" == number_in(tmp_path / "a" / "b" / "report")


def test_nothing_else_is_left_behind(tmp_path):
    for number in range(3):
        write(tmp_path / "report", number)

    assert ["report"] == os.listdir(tmp_path)


def test_text_that_is_no_utf_8_is_escaped_in_rendered_files(tmp_path):
    write_reports(tmp_path / "report", *experiment(0), lambda report: {"a.md": "caf\udce9"})

    assert b"caf\\udce9" == (tmp_path / "report" / "a.md").read_bytes()


@pytest.mark.parametrize(
    ("names", "folders"),
    [
        (["bm25", "dense"], ["bm25", "dense"]),
        (["a/b", "a\\b", "a b"], ["a_b", "a_b-2", "a_b-3"]),
        (["x", "X", "x-2"], ["x", "X-2", "x-2-2"]),
        (["..", ".", "", " "], ["run", "run-2", "run-3", "_"]),
        (["../../etc/passwd"], ["_.._etc_passwd"]),
        (["con", "NUL.txt", "com1", "console"], ["con_", "NUL.txt_", "com1_", "console"]),
        (["<script>", "a:b*c?"], ["_script_", "a_b_c_"]),
        (["größe", "日本"], ["größe", "日本"]),
        (["e\u0301", "\u00e9"], ["é", "é-2"]),
        (["x" * 300], ["x" * 100]),
        (["日" * 300], ["日" * 66]),
        (["ExperimentManifest.json"], ["ExperimentManifest.json-2"]),
        (["-rf"], ["rf"]),
        (["caf\udce9"], ["caf_"]),
    ],
)
def test_folders_of_runs_are_safe_on_every_file_system(names, folders):
    assert folders == run_folders(names)


# Existing files


def test_an_older_report_is_replaced_whole(tmp_path):
    write(tmp_path / "report", 1)
    write(tmp_path / "report", 2)

    assert sorted(ONE) == files_below(tmp_path / "report")
    assert "number 2" == number_in(tmp_path / "report")


def test_files_of_others_stay(tmp_path):
    report = tmp_path / "report"
    write(report, 1)
    (report / "notes.md").write_text("mine")
    (report / "run1" / "mine.txt").write_text("mine too")
    (report / "empty").mkdir()
    (report / "link").symlink_to("notes.md")
    before = (report / "notes.md").stat().st_ino
    write(report, 2)

    assert sorted([*ONE, "notes.md", "run1/mine.txt", "link"]) == files_below(report)
    assert ("mine", before) == ((report / "notes.md").read_text(), (report / "notes.md").stat().st_ino)
    assert (report / "link").is_symlink()
    assert (report / "empty").is_dir()
    assert not (report / "other").exists()


def test_files_of_others_are_copied_where_there_are_no_hard_links(tmp_path, monkeypatch):
    def refuse(*given, **named):
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    write(tmp_path / "report", 0)
    (tmp_path / "report" / "notes.md").write_text("mine")
    (tmp_path / "report" / "link").symlink_to("notes.md")
    write(tmp_path / "report", 2)

    assert "mine" == (tmp_path / "report" / "notes.md").read_text()
    assert (tmp_path / "report" / "link").is_symlink()


def test_an_empty_folder_is_taken_and_keeps_its_mode(tmp_path):
    (tmp_path / "report").mkdir(mode=0o700)
    write(tmp_path / "report")

    assert "number 0" == number_in(tmp_path / "report")
    assert 0o700 == (tmp_path / "report").stat().st_mode & 0o777


def test_a_folder_with_other_things_in_it_is_refused_and_left_alone(tmp_path):
    (tmp_path / "thesis.tex").write_text("years of work")
    with pytest.raises(InputError) as refused:
        write(tmp_path)

    assert (
        f"{tmp_path}: contains other files but no report (thesis.tex). Choose a new folder, or one with a report to replace."
        == str(refused.value)
    )
    assert ["thesis.tex"] == os.listdir(tmp_path)


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "report").write_text("")
    with pytest.raises(InputError, match="is a file; a report needs a folder"):
        checked_folder(tmp_path / "report")
    with pytest.raises(InputError, match="no folder for the report: the name is empty"):
        checked_folder("")


def test_a_link_to_a_folder_stays_a_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "real").mkdir()
    write(tmp_path / "link", 0)
    write(tmp_path / "link", 2)

    assert (tmp_path / "link").is_symlink()
    assert "number 2" == number_in(tmp_path / "real")


def test_a_damaged_report_is_replaced(tmp_path):
    write(tmp_path / "report", 1)
    (tmp_path / "report" / MANIFEST_FILE).write_text("{")
    write(tmp_path / "report", 2)

    assert "number 2" == number_in(tmp_path / "report")


# Folders that cannot be moved


def test_whoever_stands_in_the_folder_is_not_left_in_a_removed_one(tmp_path, monkeypatch):
    report = tmp_path / "report"
    write(report, 1)
    (report / "notes.md").write_text("mine")
    monkeypatch.chdir(report)
    write(".", 2)

    assert sorted([*ONE, "notes.md"]) == [
        path for path in files_below(Path.cwd()) if "/" not in path or "charts" in path
    ]
    assert "number 2" == number_in(Path.cwd())
    assert report.samefile(Path.cwd())


@pytest.mark.parametrize("code", [errno.EBUSY, errno.EXDEV, errno.EACCES])
def test_a_mounted_folder_is_written_into(tmp_path, monkeypatch, code):
    def refuse(*given):
        raise OSError(code, "cannot be moved")

    write(tmp_path / "report", 1)
    monkeypatch.setattr(storing, "exchange", lambda one, other: False)
    monkeypatch.setattr(os, "rename", refuse)
    write(tmp_path / "report", 2)

    assert "number 2" == number_in(tmp_path / "report")
    assert ["report"] == os.listdir(tmp_path)


def test_in_place_there_is_no_report_rather_than_a_mixture(tmp_path, monkeypatch):
    report = tmp_path / "report"
    write(report, 0)
    monkeypatch.chdir(report)
    writes = []

    def failing(path, data):
        writes.append(path)
        if len(writes) == 2:
            raise InputError("no space")

    monkeypatch.setattr(storing, "write_whole", failing)
    with pytest.raises(InputError):
        write(".", 2)

    with pytest.raises(InputError, match=r"is not a report: it has no ExperimentManifest\.json"):
        read_manifest(report)


def test_a_manifest_that_names_files_elsewhere_removes_none_of_them(tmp_path, monkeypatch):
    (tmp_path / "precious").write_text("mine")
    report = tmp_path / "report"
    written = write(report, 0)
    evil = msgspec.structs.replace(written.outputs[0], path="../precious")
    (report / MANIFEST_FILE).write_bytes(encode_record(msgspec.structs.replace(written, outputs=(evil,))))
    monkeypatch.chdir(report)
    write(".", 2)

    assert "mine" == (tmp_path / "precious").read_text()


# Failures


def test_a_full_disk_leaves_the_old_report(tmp_path, monkeypatch):
    write(tmp_path / "report", 0)

    def full(*given):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as refused:
        write(tmp_path / "report", 1)

    assert (
        f"{tmp_path / 'report'}: the report cannot be written: No space left on device. Free some space, or write to another disk."
        == str(refused.value)
    )
    assert ("number 0", ["report"]) == (number_in(tmp_path / "report"), os.listdir(tmp_path))


def test_a_renderer_that_fails_leaves_the_old_report(tmp_path):
    write(tmp_path / "report", 0)

    def broken(report):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        write_reports(tmp_path / "report", *experiment(1), broken)

    assert ("number 0", ["report"]) == (number_in(tmp_path / "report"), os.listdir(tmp_path))


def test_without_a_step_that_swaps_a_failing_rename_is_undone(tmp_path, monkeypatch):
    write(tmp_path / "report", 0)
    monkeypatch.setattr(storing, "exchange", lambda one, other: False)
    rename, calls = os.rename, []

    def second_fails(one, other):
        calls.append(one)
        if len(calls) == 2:
            raise OSError(errno.EIO, "Input/output error")
        rename(one, other)

    monkeypatch.setattr(os, "rename", second_fails)
    with pytest.raises(InputError, match="Input/output error"):
        write(tmp_path / "report", 1)

    assert ("number 0", ["report"]) == (number_in(tmp_path / "report"), os.listdir(tmp_path))


def test_a_report_without_its_name_gets_it_back(tmp_path):
    """The folder as left by a process killed between the two renames, on a system without an atomic swap."""
    write(tmp_path / "report", 0)
    os.rename(tmp_path / "report", tmp_path / f".report.{dead_owner()}.old")

    assert "number 0" == read_manifest(tmp_path / "report").experiment
    assert ["report"] == os.listdir(tmp_path)


def test_what_a_running_process_has_put_aside_is_not_taken_from_it(tmp_path):
    write(tmp_path / "report", 0)
    os.rename(tmp_path / "report", tmp_path / f".report.{storing._owner()}.old")

    with pytest.raises(InputError, match="no such folder"):
        read_manifest(tmp_path / "report")


def dead_owner() -> str:
    """The owner name of a process on this machine that has ended."""
    done = subprocess.Popen([sys.executable, "-c", ""])
    done.wait()
    host, _, token = storing._owner().rsplit("-", 2)
    return f"{host}-{done.pid}-{token}"


def test_leftovers_of_processes_that_were_killed_are_removed_and_those_of_others_are_not(tmp_path):
    mine, dead = tmp_path / f".report.{storing._owner()}.part", tmp_path / f".report.{dead_owner()}.part"
    elsewhere, old = tmp_path / ".report.elsewhere-1-abcdef.part", tmp_path / ".report.elsewhere-2-abcdef.part"
    unrelated = tmp_path / f".report2.{dead_owner()}.part"
    for folder in (mine, dead, elsewhere, old, unrelated):
        folder.mkdir()
    os.utime(old, (0, 0))
    write(tmp_path / "report", 0)

    assert sorted([mine.name, elsewhere.name, unrelated.name, "report"]) == sorted(os.listdir(tmp_path))


def test_names_with_stars_and_brackets_are_no_patterns(tmp_path):
    other = tmp_path / f".reportX.{dead_owner()}.part"
    other.mkdir()
    write(tmp_path / "report[X]*", 0)
    write(tmp_path / "report[X]*", 1)

    assert "number 1" == number_in(tmp_path / "report[X]*")
    assert other.exists()


# At any moment


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["exchange", "without-exchange"])
def test_a_process_killed_at_any_moment_leaves_the_old_report_or_the_new_one(tmp_path, mode):
    chance = random.Random(mode)
    report = tmp_path / "report"
    found = set()
    for _ in range(12):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("rewriting.py")), str(report), mode], stdout=subprocess.PIPE
        )
        process.stdout.readline()  # the first report is written
        time.sleep(chance.uniform(0, 0.08))
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        if mode == "without-exchange":
            read_manifest(report)  # reading repairs it
        found.add(number_in(report))

    assert 1 < len(found)  # it was killed at different moments
    write(report, 0)
    assert ["report"] == os.listdir(tmp_path)


def test_a_reader_never_sees_a_mixture(tmp_path):
    """While one process writes, another reads: an open folder does not change."""
    report = tmp_path / "report"
    write(report, 0)
    stop = threading.Event()

    def rewrite():
        number = 0
        while not stop.is_set():
            number += 1
            write(report, number % 4)

    writer = threading.Thread(target=rewrite)
    writer.start()
    try:
        whole = 0
        for _ in range(150):
            try:
                whole += _look(report)
            except FileNotFoundError:
                continue  # the open folder was replaced and removed in the meantime
        assert 10 < whole
    finally:
        stop.set()
        writer.join()


def _look(report: Path) -> bool:
    """Read the manifest and one file through an open folder, and compare them."""
    folder = os.open(report, os.O_RDONLY)
    try:
        manifest = json.loads(_read_in(folder, MANIFEST_FILE))
        for output in manifest["outputs"]:
            assert output["sha256"] == hashlib.sha256(_read_in(folder, output["path"])).hexdigest()
    finally:
        os.close(folder)
    return True


def _read_in(folder: int, name: str) -> bytes:
    descriptor = os.open(name, os.O_RDONLY, dir_fd=folder)
    with open(descriptor, "rb") as file:
        return file.read()


def test_writers_at_the_same_time_leave_one_whole_report(tmp_path):
    report = tmp_path / "report"
    threads = [threading.Thread(target=write, args=(report, number)) for number in range(4) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert number_in(report).startswith("number ")
    assert ["report"] == os.listdir(tmp_path)


def test_two_names_change_places(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.mkdir()
    (one / "a").touch()
    other.mkdir()
    if not exchange(one, other):
        pytest.skip("this system cannot swap two names")

    assert ([], ["a"]) == (os.listdir(one), os.listdir(other))
    assert not exchange(one, tmp_path / "nowhere")


# Reading


def test_a_later_version_may_say_more(tmp_path):
    write(tmp_path / "report", 0)
    path = tmp_path / "report" / REPORT_FILE
    path.write_text(json.dumps({**json.loads(path.read_bytes()), "new": {"a": 1}}))

    assert "run0" == read_report(tmp_path / "report").run.name


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda text: text[:100], "is damaged: "),
        (lambda text: b"", "is damaged: "),
        (lambda text: b"\xff", "is damaged: "),
        (
            lambda text: text.replace(b"report/1", b"report/2"),
            "has schema 'assay/evaluation-report/2'; this version of assay reads 'assay/evaluation-report/1'.",
        ),
        (lambda text: b"[]", "has schema None; this version of assay reads 'assay/evaluation-report/1'."),
        (
            lambda text: text.replace(b'"tag": ""', b'"tag": 7'),
            "does not match schema 'assay/evaluation-report/1': Expected `str`, got `int` - at `$.tag`.",
        ),
    ],
)
def test_what_cannot_be_read_is_said(tmp_path, change, complaint):
    write(tmp_path / "report", 0)
    path = tmp_path / "report" / REPORT_FILE
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError) as refused:
        read_report(tmp_path / "report")

    assert str(refused.value).startswith(f"{path}: {complaint}")


def test_no_folder_no_report(tmp_path):
    with pytest.raises(InputError) as refused:
        read_report(tmp_path / "none")

    assert f"{tmp_path / 'none'}: no such folder" == str(refused.value)
