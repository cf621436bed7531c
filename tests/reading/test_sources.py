"""Opening files: names, compression, unreadable files."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
import zstandard

from assay import evaluate, native
from assay.errors import FormatError, InputError, MissingExtraError
from assay.formats import parse_qrels, parse_run, read_qrels, read_run, reading, sources
from reading.rows import refusal, run_rows

RUN = b"".join(b"q%d Q0 d%d 1 %d x\n" % (row // 10, row * 7919 % 104729, -row) for row in range(2000))


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("bm25.run.gz", "bm25"),
        ("a.txt", "a"),
        ("run.gz", "run"),
        ("bm25.trec.TXT.zst", "bm25"),
        ("sab20.1.meta.docs", "sab20.1.meta.docs"),
        ("10x10.prf.unipd.it", "10x10.prf.unipd.it"),
        ("plain", "plain"),
        (".run", ".run"),
        ("dense.jsonl.bz2", "dense"),
    ],
)
def test_a_run_is_called_by_the_stem_of_its_file(tmp_path: Path, file: str, name: str) -> None:
    (tmp_path / file).write_bytes(RUN)

    assert name == read_run(tmp_path / file).name
    assert "mine" == read_run(tmp_path / file, name="mine").name
    assert str(tmp_path / file) == read_run(tmp_path / file).source


@pytest.mark.parametrize(
    ("compression", "compress"),
    [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress), ("zstd", zstandard.compress)],
)
@pytest.mark.parametrize("keep", [0.2, 0.6, 0.99])
def test_a_compressed_file_that_is_cut_off_is_refused(
    tmp_path: Path, compression: str, compress: Callable[[bytes], bytes], keep: float
) -> None:
    data = compress(RUN)
    path = tmp_path / "run"
    path.write_bytes(data[: int(keep * len(data))])

    assert f"{path}: the {compression} data is damaged or cut off (" in refusal(lambda: read_run(path))


@pytest.mark.parametrize(
    ("compression", "compress"),
    [("gzip", gzip.compress), ("bzip2", bz2.compress), ("xz", lzma.compress)],
)
def test_a_damaged_file_is_refused(compression: str, compress: Callable[[bytes], bytes]) -> None:
    data = bytearray(compress(RUN))
    data[len(data) // 2] ^= 0xFF
    message = refusal(lambda: parse_run(bytes(data)))

    assert f"<text>: the {compression} data is damaged or cut off (" in message
    assert message.endswith("). Copy or download the file again.")


def test_damaged_zstd_data_is_refused() -> None:
    assert "<text>: the zstd data is damaged or cut off (" in refusal(
        lambda: parse_run(zstandard.compress(RUN) + b"garbage")
    )


def test_an_empty_compressed_file_is_an_empty_file() -> None:
    for empty in (gzip.compress(b""), lzma.compress(b""), zstandard.compress(b"")):
        assert "<text>: no data" in refusal(partial(parse_run, empty))


def test_large_compressed_files_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "BLOCK_SIZE", 100)
    plain = run_rows(parse_run(RUN))

    for compress in (gzip.compress, bz2.compress, lzma.compress, zstandard.compress):
        assert plain == run_rows(parse_run(compress(RUN)))


def test_zstd_without_its_package_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)

    assert "reading .zst files needs one more package: pip install 'assay-ir[zstd]'" == refusal(
        lambda: parse_run(zstandard.compress(RUN)), MissingExtraError
    )


def test_a_missing_file_is_named() -> None:
    assert "runs/none.txt: no such file" == refusal(lambda: read_run("runs/none.txt"))
    assert "runs/none.txt: no such file" == refusal(lambda: read_qrels(Path("runs/none.txt")))


def test_text_given_as_a_path_is_recognised() -> None:
    assert refusal(lambda: read_run("q1 Q0 a 1 9.5 x\nq1 Q0 b 2 8 x")).endswith(
        "no such file. To parse text, use parse_qrels or parse_run."
    )
    assert "cannot open the file" in refusal(lambda: read_run("q1 Q0 a 1 9.5 x\n" * 1000))
    assert "cannot open the file: embedded null byte" in refusal(lambda: read_run("a\0b"))


def test_a_directory_is_refused(tmp_path: Path) -> None:
    assert f"{tmp_path}: is a directory, not a file" == refusal(lambda: read_run(tmp_path))


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "run"
    path.touch(mode=0)

    assert f"{path}: permission denied" == refusal(lambda: read_run(path))


def test_a_file_that_fails_while_it_is_read_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(io.FileIO):
        def read(self, size: int = -1, /) -> bytes:
            raise OSError(5, "Input/output error")

    monkeypatch.setattr(sources, "open_file", lambda path: Broken(os.devnull))

    assert "run: cannot be read: Input/output error" == refusal(lambda: read_run("run"))


def test_closed_standard_input_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", None)

    assert "<stdin>: standard input is closed" == refusal(lambda: read_run("-"))


def test_pipes_are_read_to_their_end(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.run"
    os.mkfifo(pipe)
    code = f"import sys,time; f=open({str(pipe)!r},'wb',0); [(f.write(b'q1 Q0 d%d 1 2 x\\n' % i), time.sleep(.01)) for i in range(5)]"
    with subprocess.Popen([sys.executable, "-c", code]):
        run = read_run(pipe)

    assert [f"d{row}" for row in range(5)] == run.doc.tolist()


def test_other_files_are_named_for_what_they_are() -> None:
    assert "<text>: the file is a zip archive: unpack it first" == refusal(
        lambda: parse_run(b"PK\x03\x04" + bytes(100)), FormatError
    )
    assert "<text>: this is binary data, not text" == refusal(
        lambda: parse_run(b"\x7fELF\x02\x01\x01" + bytes(range(200)) * 3), FormatError
    )


@pytest.mark.parametrize(
    ("encoding", "name"),
    [
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
        ("utf-32-le", "UTF-32"),
        ("utf-32-be", "UTF-32"),
    ],
)
def test_wide_encodings_are_refused_with_the_command_that_converts(encoding: str, name: str) -> None:
    message = f"<text>: the text is {name}: convert it with iconv -f {name} -t UTF-8"

    assert message == refusal(lambda: parse_run("q1 Q0 a 1 9.5 x\n".encode(encoding)), FormatError)
    assert message == refusal(lambda: parse_qrels('{"q1": {"a": 1}}'.encode(encoding)), FormatError)


def test_text_with_half_characters_is_refused() -> None:
    assert "<text>: the text cannot be encoded as UTF-8" in refusal(lambda: parse_run("q1 Q0 \ud800 1 2 x"))


def test_importing_the_readers_loads_no_optional_library() -> None:
    code = (
        "import sys, assay.formats as f; f.parse_run('q Q0 a 1 2 x'); f.as_run({'q': {'a': 1}});"
        "print(sorted({m.split('.')[0] for m in sys.modules} - set(sys.stdlib_module_names)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    assert not {"pyarrow", "narwhals", "pandas", "polars", "zstandard", "scipy"} & set(eval(loaded))


@pytest.mark.parametrize("compress", [bz2.compress, lzma.compress])
def test_a_damaged_second_stream_is_not_left_out(compress: Callable[[bytes], bytes]) -> None:
    first, second = compress(b"q1 Q0 a 1 2 t\n"), compress(b"q1 Q0 b 2 1 t\n")

    assert 2 == len(parse_run(first + second))
    with pytest.raises(InputError):
        parse_run(first + b"\x00" + second)
    with pytest.raises(InputError):
        parse_run(first + second[:-4])


@pytest.mark.parametrize("without_kernel", [False, True])
@pytest.mark.parametrize("change", ["shrinks", "grows", "changes in place"])
def test_a_file_that_changes_while_it_is_read_is_refused(tmp_path, monkeypatch, without_kernel, change):
    """The change comes after the first block, at the moment when the format is known."""
    monkeypatch.setattr(native, "turned_off", without_kernel)
    path, line = tmp_path / "my.run", "q1 Q0 d{:06} 1 1.0 x\n"
    text = "".join(line.format(number) for number in range(20_000))
    path.write_text(text)
    detect = reading.detect_format

    def detecting(*given):
        found = detect(*given)
        path.write_text(
            {"shrinks": text[:1000], "grows": text * 2, "changes in place": text.replace("1.0", "2.0")}[change]
        )
        os.utime(path, ns=(1, 1))
        return found

    monkeypatch.setattr(reading, "detect_format", detecting)
    with pytest.raises(InputError, match=r"my\.run.*(the file changed while it was read|Is the line cut off)"):
        evaluate({"q1": {"d000001": 1}}, path, ["P@1"])


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="needs /dev/zero")
def test_an_endless_stream_is_refused_as_soon_as_it_is_seen_to_be_no_text():
    with pytest.raises(InputError, match="/dev/zero: this is binary data, not text"):
        evaluate({"q1": {"a": 1}}, "/dev/zero", ["P@1"])


def test_a_stream_is_kept_as_far_as_it_was_read_and_can_be_read_again():
    asked = []

    class Stream(io.BytesIO):
        def read(self, size=-1, /):
            asked.append(size)
            return super().read(size)

    spool = sources._Spool(Stream(b"0123456789"), "run")
    first, second = spool.reader(), spool.reader()

    assert (b"0123", b"012345") == (first.read(4), second.read(4) + second.read(2))
    assert [4, 2] == asked  # no more than was asked for
    assert (b"456789", b"6789", b"") == (first.read(), second.read(9), second.read(9))
    assert b"0123456789" == spool.reader().read()


def test_a_full_disk_while_a_stream_is_kept_is_said(monkeypatch):
    spool = sources._Spool(io.BytesIO(b"x" * 10), "<stdin>")

    class Full(io.BytesIO):
        def write(self, data, /):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(spool, "_kept", Full())

    assert (
        "<stdin>: cannot be kept in a temporary file while it is read: No space left on device. Save it to a file first."
        == refusal(lambda: spool.reader().read(5))
    )
