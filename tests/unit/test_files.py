"""Files are written completely or not at all; links, modes, pipes and devices are respected."""

from __future__ import annotations

import errno
import os
import threading
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.files import is_same_file, locked_folder, write_blocks, write_whole


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
    write_whole("/dev/null", b"gone")
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, b"through")

    assert b"through" == os.read(reader, 100)
    assert not os.path.isfile("/dev/null")
    os.close(reader)


def test_data_is_on_the_disk_before_its_name_and_the_name_after_it(tmp_path, monkeypatch):
    """A power failure leaves the old file or the new one, never an empty one."""
    done = []
    fsync, replace = os.fsync, os.replace

    def flushing(descriptor):
        done.append(f"flush {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name}")
        fsync(descriptor)

    def replacing(one, other):
        done.append(f"rename to {Path(other).name}")
        replace(one, other)

    monkeypatch.setattr(os, "fsync", flushing)
    monkeypatch.setattr(os, "rename", replacing)
    monkeypatch.setattr(os, "replace", replacing)
    write_whole(tmp_path / "new", b"text")

    assert [f"flush .new.{os.getpid()}.part", "rename to new", f"flush {tmp_path.name}"] == done


def test_blocks_are_written_as_they_come_and_none_stay_if_one_cannot_be_made(tmp_path):
    write_blocks(tmp_path / "whole", iter([b"one ", b"two"]))

    def failing():
        yield b"one"
        raise InputError("damaged")

    with pytest.raises(InputError, match="damaged"):
        write_blocks(tmp_path / "half", failing())
    assert (b"one two", ["whole"]) == ((tmp_path / "whole").read_bytes(), os.listdir(tmp_path))


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

    assert f"{tmp_path / 'file'}: cannot be written: No space left on device." == str(refused.value)
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
