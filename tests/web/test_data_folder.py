"""Files of the data folder can be listed, read and written; no name leads out of it."""

from __future__ import annotations

import json
import os
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.parse import quote

import pytest

import assay.files
from assay.errors import InputError
from assay.web.data_folder import DataFolder
from web.servers import Server, assert_safe, serving_parts

NO_FILE = "the data folder has no file {!r} that can be read. Choose one of its list."
OUT = "{!r} is hidden, or leads out of the data folder: no part may begin with a dot."
NO_NAME = "{!r} is no name of a file in the data folder: give FILE or FOLDER/FILE."


@pytest.fixture
def around(tmp_path) -> Path:
    """A folder that holds the data folder, and what must not be reached from there."""
    data = tmp_path / "data"
    (data / "runs").mkdir(parents=True)
    (data / ".git").mkdir()
    (tmp_path / "data-2").mkdir()
    for name in ("my.run", "runs/q10.run", "runs/q2.run", ".hidden", ".git/config"):
        (data / name).write_text(f"inside: {name}\n")
    for name in ("outside.txt", "data-2/near.txt"):
        (tmp_path / name).write_text("outside\n")
    return tmp_path


@pytest.fixture
def folder(around) -> DataFolder:
    return DataFolder(Path(os.path.realpath(around / "data")))


def refused(folder: DataFolder, name: str) -> str:
    with pytest.raises(InputError) as error:
        folder.inside(name)
    with pytest.raises(InputError) as other:
        folder.read(name, 1000)
    assert str(error.value) == str(other.value)
    return str(error.value)


# Names


def test_a_name_is_the_file_of_the_folder(folder: DataFolder):
    assert folder.path / "my.run" == folder.inside("my.run")
    assert folder.path / "runs" / "q2.run" == folder.inside("runs/q2.run")
    assert b"inside: runs/q2.run\n" == folder.read("runs/q2.run", 1000)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "..",
            ".",
            "../outside.txt",
            "../data-2/near.txt",
            "../data/my.run",
            "runs/../my.run",
            "runs/../../outside.txt",
        ),
        *("./my.run", "runs/./q2.run", "runs/..", ".hidden", ".git/config", "runs/.hidden", "...", ".. /outside.txt"),
    ],
)
def test_no_part_is_hidden_or_leads_up(folder: DataFolder, name):
    assert OUT.format(name) == refused(folder, name)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "/etc/passwd",
            "//etc/passwd",
            "/",
            "runs/",
            "runs//q2.run",
            "C:my.run",
            "c:/my.run",
            "C:\\my.run",
            "\\my.run",
        ),
        *("runs\\q2.run", "..\\outside.txt", "\\\\server\\share\\x"),
    ],
)
def test_names_are_relative_with_one_separator(folder: DataFolder, name):
    assert NO_NAME.format(name).replace("\\\\", "\\") == refused(folder, name).replace("\\\\", "\\")


@pytest.mark.parametrize("bad", ["\0", "\n", "\r", "\t", "\x1b", "\x7f", "\x85", "\ud800"])
def test_names_have_no_control_characters(folder: DataFolder, bad):
    for name in (f"my.run{bad}", f"{bad}my.run", f"runs{bad}/q2.run"):
        assert "is no name of a file in the data folder" in refused(folder, name)


def test_names_are_short(folder: DataFolder):
    assert "the name of a file has 1 to 1,000 bytes." == refused(folder, "")
    assert "the name of a file has 1 to 1,000 bytes." == refused(folder, "a" * 1001)
    assert "the name of a file has 1 to 1,000 bytes." == refused(folder, "ab/" * 333 + "é/")
    assert refused(folder, "a" * 256).endswith("is too long: each part has at most 255 bytes.")
    assert refused(folder, "é" * 128).endswith("is too long: each part has at most 255 bytes.")


def test_what_does_not_exist_is_refused_in_words(folder: DataFolder):
    for name in (
        "none.run",
        "none/my.run",
        "my.run/x",
        "%2e%2e/outside.txt",
        "~",
        "~root/x",
        "a" * 255,
    ):
        assert refused(folder, name).startswith(f"the data folder has no file '{name[:37]}")


# What names lead to


def test_links_are_followed_inside_only(folder: DataFolder, around):
    for name, target in {
        "inside": "my.run",
        "runs/up": "../my.run",
        "whole": str(folder.path / "my.run"),
        "twice": "inside",
        "out": "../outside.txt",
        "away": "/etc/passwd",
        "near": "../data-2/near.txt",
        "through": "out",
        "broken": "none",
        "loop": "loop",
        "hidden": ".hidden",
        "back": "../data/my.run",
    }.items():
        (folder.path / name).symlink_to(target)
    (folder.path / "linked").symlink_to("runs")
    (folder.path / "parent").symlink_to("..")
    (folder.path / "git").symlink_to(".git")

    for name in ("inside", "runs/up", "whole", "twice", "back"):
        assert b"inside: my.run\n" == folder.read(name, 1000), name
    assert b"inside: runs/q2.run\n" == folder.read("linked/q2.run", 1000)
    for name in (
        *("out", "away", "near", "through", "broken", "loop", "hidden", "git/config"),
        *("parent/outside.txt", "parent/data", "parent/none"),
    ):
        # The same words, so they do not tell what there is elsewhere.
        assert NO_FILE.format(name) == refused(folder, name)
    shown = ["back", "inside", "my.run", "twice", "whole", "runs/q2.run", "runs/q10.run", "runs/up"]
    assert shown == [each.name for each in folder.files()]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
def test_only_files_are_given_and_nothing_waits_for_a_pipe(folder: DataFolder):
    os.mkfifo(folder.path / "pipe")
    (folder.path / "null").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as server:
        here = os.getcwd()
        os.chdir(folder.path)  # names of sockets are short
        try:
            server.bind("socket")
        finally:
            os.chdir(here)
        for name in ("pipe", "null", "socket", "runs"):
            assert NO_FILE.format(name) == refused(folder, name)
    assert ["my.run", "runs/q2.run", "runs/q10.run"] == [each.name for each in folder.files()]


def test_a_file_that_is_exchanged_for_a_link_is_never_read(folder: DataFolder, around):
    (around / "elsewhere").mkdir()
    (around / "elsewhere" / "q2.run").write_text("outside\n")
    done = threading.Event()

    def exchange() -> None:
        while not done.is_set():
            os.rename(folder.path / "runs", folder.path / "aside")
            os.symlink(around / "elsewhere", folder.path / "runs")
            os.unlink(folder.path / "runs")
            os.rename(folder.path / "aside", folder.path / "runs")
            time.sleep(0.0005)

    thread = threading.Thread(target=exchange)
    thread.start()
    found, refused = set(), set()
    for _ in range(2000):
        try:
            found.add(folder.read("runs/q2.run", 1000))
        except InputError as error:
            refused.add(str(error))
    done.set()
    thread.join()

    assert {b"inside: runs/q2.run\n"} == found
    assert refused  # so some came while it was exchanged


def test_what_was_opened_is_checked_again(folder: DataFolder, around, monkeypatch):
    opened = os.open

    def exchanged(path, *given):
        os.unlink(folder.path / "runs" / "q2.run")
        os.link(around / "outside.txt", folder.path / "runs" / "q2.run")
        found = opened(path, *given)
        os.unlink(folder.path / "runs" / "q2.run")
        (folder.path / "runs" / "q2.run").write_text("inside\n")
        return found

    monkeypatch.setattr(os, "open", exchanged)
    with pytest.raises(InputError, match=r"^runs/q2\.run: has just been replaced\. Try again\.$"):
        folder.read("runs/q2.run", 1000)


def test_a_file_is_read_up_to_a_size(folder: DataFolder):
    (folder.path / "large").write_bytes(b"x" * 2049)

    assert b"x" * 2049 == folder.read("large", 2049)
    with pytest.raises(InputError, match=r"^large: is larger than 2 KB\.$"):
        folder.read("large", 2048)


# The list


def test_files_are_listed_in_natural_order_those_of_a_folder_first(folder: DataFolder):
    for name in ("Q1.run", "q10.run", "q2.run", "é.run", "a/b/deep.run", "a/x.run", "b c.run"):
        (folder.path / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.path / name).write_text("12345")
    files = folder.files()

    expected = ["b c.run", "my.run", "Q1.run", "q2.run", "q10.run", "é.run", "a/x.run", "a/b/deep.run"]
    assert [*expected, "runs/q2.run", "runs/q10.run"] == [each.name for each in files]
    assert (5, (folder.path / "q2.run").stat().st_mtime) == (files[3].size, files[3].changed)
    assert expected[:3] == [each.name for each in folder.files(3)]
    assert [] == folder.files(0)


def test_every_file_of_the_list_can_be_read(folder: DataFolder):
    awkward = ["a b", "a%20b", "a&b=c?d#e", "<script>", "ä\u0301", "\u202etxt", "-o", "con", "ab:c"]
    for name in awkward:
        (folder.path / name).write_text(name)
    for name in (b"\xff\xfe", b"new\nline", b"back\\slash", b"tab\t", b"C:x"):
        with open(os.path.join(os.fsencode(folder.path), name), "wb"):
            pass

    names = [each.name for each in folder.files()]
    assert sorted([*awkward, "my.run", "runs/q2.run", "runs/q10.run"]) == sorted(names)
    for name in awkward:
        assert name.encode() == folder.read(name, 1000)


def test_the_list_ends_whatever_there_is(folder: DataFolder, monkeypatch):
    deep = folder.path
    for _ in range(12):
        deep /= "d"
        deep.mkdir()
        (deep / "x").write_text("")
    names = [each.name for each in folder.files()]
    assert "/".join(["d"] * 8 + ["x"]) in names
    assert "/".join(["d"] * 9 + ["x"]) not in names

    monkeypatch.setattr("assay.web.data_folder._MOST_SEEN", 4)
    assert len(folder.files()) <= 4


def test_what_cannot_be_listed_is_left_out(folder: DataFolder, monkeypatch):
    scan = os.scandir

    def failing(path):
        if str(path).endswith("runs"):
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", failing)
    assert ["my.run"] == [each.name for each in folder.files()]
    assert [] == DataFolder(folder.path / "none").files()


# Writing


def test_a_new_file_is_written_whole(folder: DataFolder):
    folder.write_all({"new.run": b"content"})
    assert b"content" == folder.read("new.run", 1000)
    assert {"my.run", "new.run", "runs", ".git", ".hidden"} == {each.name for each in folder.path.iterdir()}


def test_what_exists_is_never_replaced(folder: DataFolder, around):
    (folder.path / "dangling").symlink_to(around / "planted.txt")
    (folder.path / "out").symlink_to(around / "outside.txt")
    before = sorted(each.name for each in folder.path.iterdir())
    for name in ("my.run", "runs", "dangling", "out"):
        with pytest.raises(InputError) as error:
            folder.write_all({name: b"planted"})
        assert f"{name!r} exists already. Choose another name." == str(error.value)

    assert before == sorted(each.name for each in folder.path.iterdir())
    assert ("inside: my.run\n", "outside\n") == (
        (folder.path / "my.run").read_text(),
        (around / "outside.txt").read_text(),
    )
    assert not (around / "planted.txt").exists()


@pytest.mark.parametrize(
    "name", ["", "..", ".hidden", "../x", "runs/new.run", "/tmp/x", "C:x", "a\\b", "a\0b", "a\nb", "x" * 256, "none/x"]
)
def test_only_plain_names_are_written(folder: DataFolder, around, name):
    def everything() -> list[Path]:
        return sorted(around.rglob("*"))

    before = everything()
    with pytest.raises(InputError):
        folder.write_all({name: b"planted"})
    assert before == everything()


def test_of_many_who_write_a_name_one_does(folder: DataFolder):
    written, refused = [], []
    start = threading.Barrier(8)

    def write(number: int) -> None:
        start.wait()
        try:
            folder.write_all({"new.run": b"%d" % number * 100_000})
            written.append(number)
        except InputError:
            refused.append(number)

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert (1, 7) == (len(written), len(refused))
    assert b"%d" % written[0] * 100_000 == folder.read("new.run", 1 << 20)


def test_several_files_are_written_or_none(folder: DataFolder):
    folder.write_all({"a.run": b"a", "a.qrels": b"b"})
    before = sorted(folder.path.iterdir())
    for contents in ({"b.run": b"", "a.run": b""}, {"b.run": b"", "../b": b""}, {"a.qrels": b"", "b.run": b""}):
        with pytest.raises(InputError):
            folder.write_all(contents)

    assert (b"a", b"b") == (folder.read("a.run", 1000), folder.read("a.qrels", 1000))
    assert before == sorted(folder.path.iterdir())


@pytest.mark.parametrize("where", ["write", "fsync", "link"])
def test_a_write_that_fails_leaves_nothing(folder: DataFolder, monkeypatch, where):
    before = sorted(folder.path.iterdir())

    def full(*given):
        raise OSError(28, "No space left on device")

    if where == "write":
        monkeypatch.setattr(assay.files, "write_new", full)
    else:
        monkeypatch.setattr(os, where, full)
    if where == "link":
        monkeypatch.setattr(Path, "touch", lambda *given, **named: full())
    with pytest.raises(InputError) as error:
        folder.write_all({"new.run": b"content"})
    assert "new.run: cannot be written: No space left on device. Free some space, or write to another disk." == str(
        error.value
    )
    assert before == sorted(folder.path.iterdir())


def test_a_disk_without_hard_links_is_written_to_and_nothing_is_replaced(folder: DataFolder, monkeypatch):
    def unable(*given):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", unable)
    folder.write_all({"new.run": b"content"})
    with pytest.raises(InputError, match="exists already"):
        folder.write_all({"new.run": b"other"})

    assert b"content" == folder.read("new.run", 1000)
    assert {"my.run", "new.run", "runs", ".git", ".hidden"} == {each.name for each in folder.path.iterdir()}


def test_what_a_killed_process_leaves_is_removed_later(folder: DataFolder, monkeypatch):
    names = []
    monkeypatch.setattr(assay.files, "remove_whole", names.append)
    folder.write_all({"new.run": b"content"})

    assert [True] == [assay.files.is_temporary(name) for name in names]


def test_read_only_writes_nothing(folder: DataFolder):
    before = sorted(folder.path.iterdir())
    with pytest.raises(InputError, match=r"^the workbench was started with --read-only, so it writes nothing\.$"):
        DataFolder(folder.path, read_only=True).write_all({"new.run": b"content"})
    assert before == sorted(folder.path.iterdir())


# Asked over HTTP

ESCAPES = [
    *("../outside.txt", "..%2foutside.txt", "%2e%2e/outside.txt", "%2e%2e%2foutside.txt", "%252e%252e%252foutside.txt"),
    *("..%5coutside.txt", "..%255coutside.txt", "more/../../outside.txt", "more/%2e%2e/%2e%2e/outside.txt"),
    *("/etc/passwd", "%2fetc%2fpasswd", "//etc/passwd", "file:///etc/passwd", "C:%5cx", "C:/x", ".hidden", "%2ehidden"),
    *(
        "..%00/outside.txt",
        "my.run%00",
        "my.run%00.html",
        "my.run/",
        "my.run/.",
        "",
        ".",
        "..",
        "....//outside.txt",
    ),
    *(
        "%c0%ae%c0%ae/outside.txt",
        "%uff0e%uff0e/outside.txt",
        "..;/outside.txt",
        "%ff",
        "~/x",
        "link",
        "linked/outside.txt",
    ),
    *("..%ef%bc%8foutside.txt", "a" * 300, "a/" * 600 + "a", "nul", "proc/self/environ"),
]


@pytest.mark.parametrize("name", ESCAPES)
def test_no_address_leads_out_of_the_data_folder(parts: Server, data: Path, name):
    answer = parts.ask(f"/data/{name}")

    assert answer.status in (400, 404), answer
    assert_safe(answer)
    for secret in ("outside\n", "root:", "hidden\n", str(data.parent)):
        assert secret not in answer.text


def test_files_of_the_data_folder_are_given_and_listed(parts: Server):
    assert "q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n" == parts.ask("/data/my.run").text
    assert 200 == parts.ask("/data/more/other.run").status == parts.ask("/data/more%2fother.run").status
    assert ["my.run", "qrels.txt", "more/other.run"] == json.loads(parts.ask("/names").body)


def test_read_only_removes_every_write(tmp_path):
    (tmp_path / "my.run").write_text("q1 Q0 a 1 2.0 x\n")
    with serving_parts(tmp_path, settings={"read_only": True}) as server:
        answer = server.post("/save", f"name=new.run&text=x&csrf={server.csrf()}")
        assert 200 == server.ask("/data/my.run").status
    assert (400, True) == (answer.status, "the workbench was started with --read-only" in answer.text)
    assert ["my.run"] == [each.name for each in tmp_path.iterdir()]

    with serving_parts(tmp_path) as server:
        assert 200 == server.post("/save", f"name=new.run&text={quote('a b')}&csrf={server.csrf()}").status
    assert "a b" == (tmp_path / "new.run").read_text()
