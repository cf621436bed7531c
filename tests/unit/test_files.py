"""Files are written completely or not at all; links, modes, pipes and devices are respected."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.files import (
    flush_tree,
    is_same_file,
    locked_folder,
    passing_folder,
    refuse_overwrite,
    write_blocks,
    write_whole,
)


def test_a_file_is_put_in_place_in_one_step(tmp_path):
    write_whole(tmp_path / "new", b"text")

    assert b"text" == (tmp_path / "new").read_bytes()
    assert ["new"] == os.listdir(tmp_path)


def test_links_are_followed_and_modes_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    target.chmod(0o600)
    link.symlink_to(target)
    write_whole(link, b"new")

    assert (b"new", True, 0o600) == (target.read_bytes(), link.is_symlink(), target.stat().st_mode & 0o777)


def test_devices_and_pipes_stay_what_they_are(tmp_path):
    """The device is a terminal of our own, which cannot be replaced by a file: a mistake must not cost /dev/null."""
    ours, terminal = os.openpty()
    write_whole(os.ttyname(terminal), b"shown")

    assert b"shown" == os.read(ours, 100)
    os.close(ours)
    os.close(terminal)

    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"through")

    assert b"through" == os.read(reader, 100)
    assert pipe.is_fifo()
    os.close(reader)


def test_data_is_on_the_disk_before_its_name_and_the_name_after_it(tmp_path, monkeypatch):
    """A power failure leaves the old file or the new one, never an empty one."""
    done = []
    fsync, replace = os.fsync, os.replace

    def flushing(descriptor):
        name = Path(os.readlink(f"/proc/self/fd/{descriptor}")).name
        done.append(f"flush {'temporary file' if name.endswith('.part') else name}")
        fsync(descriptor)

    def replacing(one, other):
        done.append(f"rename to {Path(other).name}")
        replace(one, other)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(os, "rename", replacing)
    monkeypatch.setattr(os, "replace", replacing)
    write_whole(tmp_path / "new", b"text")

    assert ["flush temporary file", "rename to new", f"flush {tmp_path.name}"] == done


def test_blocks_are_written_as_they_come_and_none_stay_if_one_cannot_be_made(tmp_path):
    write_blocks(tmp_path / "whole", iter([b"one ", b"two"]))

    def failing():
        yield b"one"
        raise InputError("damaged")

    with pytest.raises(InputError, match="damaged"):
        write_blocks(tmp_path / "half", failing())
    assert (b"one two", ["whole"]) == ((tmp_path / "whole").read_bytes(), os.listdir(tmp_path))


def test_threads_that_write_one_file_do_not_mix(tmp_path):
    texts = [bytes([65 + number]) * 300_000 for number in range(4)]
    for _ in range(10):
        threads = [threading.Thread(target=write_whole, args=(tmp_path / "file", text)) for text in texts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        assert (tmp_path / "file").read_bytes() in texts
    assert ["file"] == os.listdir(tmp_path)


def test_a_planted_link_is_not_followed(tmp_path, monkeypatch):
    (tmp_path / "precious").write_bytes(b"precious")
    monkeypatch.setattr(os, "urandom", lambda size: b"\0" * size)
    (tmp_path / f".assay-{'00' * 8}.part").symlink_to(tmp_path / "precious")

    with pytest.raises(InputError, match="cannot be written: File exists"):
        write_whole(tmp_path / "file", b"text")
    assert b"precious" == (tmp_path / "precious").read_bytes()
    assert not (tmp_path / "file").exists()


def test_the_longest_name_that_the_system_allows(tmp_path):
    name = "x" * 255
    write_whole(tmp_path / name, b"text")

    assert [name] == os.listdir(tmp_path)


def test_what_killed_processes_left_is_removed_after_a_day(tmp_path):
    old, new, other = (tmp_path / name for name in (".assay-1.part", ".assay-2.part", ".other.part"))
    for path in (old, new, other):
        path.touch()
    for path in (old, other):
        os.utime(path, (0, 0))
    write_whole(tmp_path / "file", b"text")

    assert [".assay-2.part", ".other.part", "file"] == sorted(os.listdir(tmp_path))


def test_a_locked_folder_keeps_others_waiting_and_holds_no_file(tmp_path):
    seen = []

    def wait():
        with locked_folder(tmp_path):
            seen.append("second")

    with locked_folder(tmp_path):
        other = threading.Thread(target=wait)
        other.start()
        other.join(0.1)
        seen.append("first")
    other.join()

    assert (["first", "second"], []) == (seen, os.listdir(tmp_path))


def test_a_folder_that_cannot_be_locked_is_no_reason_to_stop(tmp_path):
    with locked_folder(tmp_path / "nowhere"):
        (tmp_path / "file").touch()

    assert ["file"] == os.listdir(tmp_path)  # the work was done, and no folder made


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch):
    (tmp_path / "file").write_bytes(b"old")

    def full(descriptor):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError) as refused:
        write_whole(tmp_path / "file", b"new")

    assert (
        f"{tmp_path / 'file'}: cannot be written: No space left on device. Free some space, or write to another disk."
        == str(refused.value)
    )
    assert (b"old", ["file"]) == ((tmp_path / "file").read_bytes(), os.listdir(tmp_path))


@pytest.mark.parametrize(
    ("path", "complaint"), [("", "the name of the output file is empty"), ("no/where/file", "cannot be written")]
)
def test_what_cannot_be_written_is_said(tmp_path, monkeypatch, path, complaint):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=complaint):
        write_whole(path, b"text")


def test_one_file_under_several_names(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    one.write_bytes(b"text")
    other.write_bytes(b"text")
    (tmp_path / "link").symlink_to(one)
    os.link(one, tmp_path / "hard")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")

    assert all(is_same_file(one, tmp_path / name) for name in ("one", "link", "hard", "../" + tmp_path.name + "/one"))
    assert not any(is_same_file(one, tmp_path / name) for name in ("other", "nowhere", "dangling"))


def test_a_mode_is_kept_that_the_umask_would_not_give(tmp_path):
    file = tmp_path / "file"
    file.touch()
    file.chmod(0o666)
    before = os.umask(0o077)
    try:
        write_whole(file, b"new")
    finally:
        os.umask(before)

    assert 0o666 == file.stat().st_mode & 0o777


def test_an_input_is_not_overwritten(tmp_path):
    one = tmp_path / "one"
    one.touch()
    with pytest.raises(InputError, match="one: this is also an input file; choose another output file"):
        refuse_overwrite(str(one), ["-", one])

    refuse_overwrite(str(tmp_path / "other"), ["-", one])
    refuse_overwrite("-", ["-", one])
    refuse_overwrite(None, [one])


def test_all_files_of_a_folder_are_flushed_and_then_their_names(tmp_path, monkeypatch):
    (tmp_path / "inner").mkdir()
    for name in ("file", "inner/file"):
        (tmp_path / name).touch()
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.readlink(f"/proc/self/fd/{descriptor}")))
    flush_tree(tmp_path)

    paths = ("inner/file", "inner", "file", ".")
    assert [str(tmp_path / path) for path in paths] == flushed


def test_a_passing_folder_never_removes_what_was_there(tmp_path):
    (tmp_path / "new.part").mkdir()
    (tmp_path / "new.part" / "theirs").write_text("whole")
    with pytest.raises(FileExistsError), passing_folder(tmp_path / "new.part"):
        pass

    assert "whole" == (tmp_path / "new.part" / "theirs").read_text()
