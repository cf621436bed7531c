"""Files are written whole, and what stands at their place is respected."""

from __future__ import annotations

import os

import pytest

from assay.errors import InputError
from assay.files import write_whole


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


@pytest.mark.parametrize(("path", "complaint"), [("", "the name is empty"), ("no/where/file", "cannot be written")])
def test_what_cannot_be_written_is_said(tmp_path, monkeypatch, path, complaint):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=complaint):
        write_whole(path, b"text")
