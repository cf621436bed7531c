"""Records in files: they are read back unchanged, and errors name the file."""

from __future__ import annotations

import pytest
from msgspec import Struct

from assay.errors import InputError
from assay.records.encoding import encode_record, read_record


class Note(Struct, frozen=True):
    text: str


def why(data: bytes, error: Exception) -> str:
    return f"{len(data)} bytes are no note: {error}."


def test_what_is_written_is_read_again(tmp_path):
    (tmp_path / "note.json").write_bytes(encode_record(Note("é")))

    assert '{\n "text": "é"\n}\n' == (tmp_path / "note.json").read_text(encoding="utf-8")
    assert Note("é") == read_record(tmp_path / "note.json", Note, why=why)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b'{"text": 1}', "11 bytes are no note: Expected `str`, got `int` - at `$.text`."),
        (b'{"text"', "7 bytes are no note: Input data was truncated."),
        (b'{"text": "\xff"}', "13 bytes are no note: "),
    ],
)
def test_what_is_no_record_is_said_in_the_words_of_the_caller(tmp_path, data, problem):
    (tmp_path / "note.json").write_bytes(data)

    with pytest.raises(InputError) as refused:
        read_record(tmp_path / "note.json", Note, why=why)
    assert str(refused.value).startswith(f"{tmp_path / 'note.json'}: {problem}")


@pytest.mark.parametrize("name", ["none.json", "file/none.json"])
def test_a_file_that_is_not_there_is_said_of_its_folder(tmp_path, name):
    (tmp_path / "file").touch()
    path = tmp_path / name

    with pytest.raises(InputError) as refused:
        read_record(path, Note, why=why, missing="there is no note here.")
    assert f"{path.parent}: there is no note here." == str(refused.value)


def test_a_file_that_cannot_be_read_is_said(tmp_path):
    with pytest.raises(InputError) as refused:
        read_record(tmp_path, Note, why=why, missing="there is no note here.")
    assert f"{tmp_path}: cannot be read: Is a directory." == str(refused.value)
