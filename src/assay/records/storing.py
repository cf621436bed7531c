"""Write reports to folders, completely or not at all, and read them.

    DIR/EvaluationReport.json        one run: all files are in the folder itself
    DIR/EvaluationReport.md, .html
    DIR/charts/*.svg
    DIR/ExperimentManifest.json      with the digests of all other files
    DIR/RUN/EvaluationReport.json    several runs: a folder for each, one manifest for all
    DIR/index.html                   and a page that lists them

A new report is written to a temporary folder next to DIR, which then replaces DIR in one step. Readers see the old report
or the new one, never a mixture, even if the process is killed. Other files in DIR are kept.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import socket
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from time import time

import msgspec
from msgspec.structs import replace

from assay.errors import InputError, some_of
from assay.files import (
    exchange,
    explaining,
    flush_folder,
    is_temporary,
    locked_folder,
    passing_folder,
    remove_whole,
    write_new,
    write_whole,
)
from assay.formats.sources import nearest_file
from assay.records.encoding import Kept, encode_record, read_record
from assay.records.identity import digest_of
from assay.records.model import MANIFEST_SCHEMA, REPORT_SCHEMA, Digest, EvaluationReport, ExperimentManifest

REPORT_FILE, MANIFEST_FILE, INDEX_FILE = "EvaluationReport.json", "ExperimentManifest.json", "index.html"
_UNDER_WAY = f".{MANIFEST_FILE}.part"  # while files are replaced one by one: a manifest of the old ones and the new

Render = Callable[[EvaluationReport], Mapping[str, str]]  # report -> {file name in its folder: text}
RenderIndex = Callable[[Mapping[str, EvaluationReport]], str]  # {folder: report} -> the page that lists several reports

_LONGEST_NAME = 100  # characters of a folder's name
_DAY = 86400
_CANNOT_MOVE = {errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EPERM, errno.EROFS}  # mounted, or no write access
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)  # names reserved by Windows


# Writing


def write_reports(
    folder: str | os.PathLike[str],
    reports: Sequence[EvaluationReport],
    manifest: ExperimentManifest,
    render: Render,
    index: RenderIndex | None = None,
) -> ExperimentManifest:
    """Write the reports of one experiment into a folder; returns the manifest with the digests of all files written.

    An existing report is replaced; a folder with other files and no report is refused.
    """
    target = checked_folder(folder)
    files = dict(_files(reports, render, index))
    whole = replace(manifest, outputs=tuple(digest_of(name, data) for name, data in files.items()))
    files[MANIFEST_FILE] = encode_record(whole)  # last, since it has the digests of the others
    with explaining(folder, "the report cannot be written"):
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_leftovers(target)
        _write_files(target, files)
    return whole


def checked_folder(folder: str | os.PathLike[str]) -> Path:
    """The resolved path of a folder that may be written to: new, empty, or with one of our reports."""
    if not os.fspath(folder):
        raise InputError("no folder for the report: the name is empty.")
    target = Path(os.path.realpath(folder))
    _put_back(target)
    if target.exists() and not target.is_dir():
        raise InputError("is a file; a report needs a folder.", source=os.fspath(folder))
    try:
        others = sorted(entry.name for entry in target.iterdir()) if target.exists() else []
    except OSError as error:
        raise InputError(f"cannot be listed: {error.strerror}.", source=os.fspath(folder)) from None
    # Checked by path, not in the listing: another process may have replaced the folder since.
    if others and not any((target / name).exists() for name in (MANIFEST_FILE, _UNDER_WAY)):
        raise InputError(
            f"contains other files but no report ({some_of(others)}). Choose a new folder, or one with a report to replace.",
            source=os.fspath(folder),
        )
    return target


def _files(
    reports: Sequence[EvaluationReport], render: Render, index: RenderIndex | None
) -> Iterator[tuple[str, bytes]]:
    """All files except the manifest, by their path within the folder."""
    folders = run_folders([report.run.name for report in reports]) if len(reports) > 1 else [""]
    for report, folder in zip(reports, folders, strict=True):
        before = f"{folder}/" if folder else ""
        yield f"{before}{REPORT_FILE}", encode_record(report)
        for name, text in render(report).items():
            yield before + name, text.encode("utf-8", "backslashreplace")
    if index is not None and len(reports) > 1:
        yield INDEX_FILE, index(dict(zip(folders, reports, strict=True))).encode("utf-8", "backslashreplace")


def run_folders(names: Sequence[str]) -> list[str]:
    """A folder name for each run: its own name, made safe for all file systems and unique.

    >>> run_folders(["bm25", "a/b", "BM25", "..", "nul"])
    ['bm25', 'a_b', 'BM25-2', 'run', 'nul_']
    """
    taken = {MANIFEST_FILE.casefold(), INDEX_FILE}
    found = []
    for name in names:
        safe = candidate = _safe_name(name)
        number = 1
        while candidate.casefold() in taken:
            number += 1
            candidate = f"{safe}-{number}"
        taken.add(candidate.casefold())
        found.append(candidate)
    return found


def _safe_name(name: str) -> str:
    plain = unicodedata.normalize("NFC", name)
    safe = re.sub(r"[^\w.+=@-]+", "_", plain)[:_LONGEST_NAME].strip(". ").lstrip("-")
    while len(safe.encode("utf-8", "replace")) > 2 * _LONGEST_NAME:
        safe = safe[:-1]
    return f"{safe}_" if _RESERVED.fullmatch(safe) else safe or "run"


def _write_files(target: Path, files: Mapping[str, bytes]) -> None:
    if _somebody_stands_in(target):
        _write_in_place(target, files)
        return
    try:
        _write_beside(target, files)
    except OSError as error:
        if error.errno not in _CANNOT_MOVE or not target.is_dir():
            raise
        _write_in_place(target, files)


def _write_beside(target: Path, files: Mapping[str, bytes]) -> None:
    """Write to a folder next to the target, then swap the two."""
    with passing_folder(target.with_name(f"{_start(target)}{_owner()}.part")) as beside:
        _fill(beside, files)
        with locked_folder(target.parent):
            if not target.exists():
                os.rename(beside, target)
            else:
                shutil.copymode(target, beside)
                _carry_over(target, beside, files)
                _change_places(beside, target)
        flush_folder(target.parent)


def _fill(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write all files of a new folder and flush them to disk before it becomes visible."""
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(path, data)
    for inner in sorted({(folder / name).parent for name in files} | {folder}, reverse=True):
        flush_folder(inner)


def _change_places(new: Path, target: Path) -> None:
    """Swap the two folders; the old one ends up under the temporary name, to be removed."""
    if exchange(new, target):
        return
    # Without an atomic swap, the target is missing for a moment. `_put_back` repairs that if the process is killed then.
    aside = new.with_suffix(".old")
    try:
        os.rename(target, aside)
        os.rename(new, target)
    except BaseException:  # also a signal, which may come when both are done
        if not target.exists():
            os.rename(aside, target)
        raise
    finally:
        if target.exists():
            remove_whole(aside)


def _put_back(target: Path) -> None:
    """Restore a report if a process was killed between the two renames."""
    if target.exists() or not target.parent.is_dir():
        return
    asides = [path for path in _leftovers(target, "old") if _is_abandoned(path)]
    if asides:
        with suppress(OSError):
            os.rename(asides[-1], target)


def _carry_over(old: Path, new: Path, files: Mapping[str, bytes]) -> None:
    """Link the user's own files from the old folder into the new one."""
    ours = {MANIFEST_FILE, _UNDER_WAY, *(output.path for output in _outputs(old))}
    our_folders = {parent.as_posix() for name in ours for parent in Path(name).parents}
    for path in sorted(old.rglob("*")):
        name = path.relative_to(old).as_posix()
        place = new / name
        if path.is_dir() and not path.is_symlink():
            if name not in our_folders:
                place.mkdir(parents=True, exist_ok=True)
        elif name not in ours and name not in files and not is_temporary(name):
            place.parent.mkdir(parents=True, exist_ok=True)
            _link(path, place)


def _link(path: Path, place: Path) -> None:
    try:
        os.link(path, place, follow_symlinks=False)
    except OSError:  # a file system without hard links
        shutil.copy2(path, place, follow_symlinks=False)


def _outputs(folder: Path) -> Sequence[Digest]:
    """The files of a report, or of one that was not written to its end."""
    for name in (MANIFEST_FILE, _UNDER_WAY):
        with suppress(InputError):
            return _read(folder / name, ExperimentManifest, MANIFEST_SCHEMA).outputs
    return ()


def _somebody_stands_in(target: Path) -> bool:
    """Whether the current folder is in the target: replacing the target would leave the shell in a removed folder."""
    here = Path(os.path.realpath(os.curdir))
    return here == target or target in here.parents


def _write_in_place(target: Path, files: Mapping[str, bytes]) -> None:
    """Write into the folder itself, file by file.

    Each file is replaced atomically. The manifest is removed first and written last, so an interrupted write leaves no
    report instead of a mixture of two. A file says meanwhile which files are ours, for whoever tries again.
    """
    new = msgspec.json.decode(files[MANIFEST_FILE], type=ExperimentManifest)
    old = [output for output in _outputs(target) if output.path not in files]
    write_whole(target / _UNDER_WAY, encode_record(replace(new, outputs=(*old, *new.outputs))))
    (target / MANIFEST_FILE).unlink(missing_ok=True)
    flush_folder(target)
    for output in old:
        if _is_below(target, output.path):
            (target / output.path).unlink(missing_ok=True)
    for name, data in files.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        write_whole(target / name, data)
    (target / _UNDER_WAY).unlink()


def _is_below(folder: Path, name: str) -> bool:
    """Whether a path from a manifest stays within the folder; a manifest is untrusted."""
    return Path(os.path.realpath(folder / name)).is_relative_to(folder)


# Leftovers of killed processes


def _owner() -> str:
    """A unique name of this write: host (the disk may be shared), process and a random suffix."""
    host = re.sub(r"[^A-Za-z0-9]", "-", socket.gethostname())
    return f"{host}-{os.getpid()}-{os.urandom(3).hex()}"


def _start(target: Path) -> str:
    """How the names of a target's temporary folders start: with its own name, or a digest of a long one."""
    name = os.fsencode(target.name)
    return f".{target.name if len(name) <= _LONGEST_NAME else hashlib.sha256(name).hexdigest()[:32]}."


def _leftovers(target: Path, kind: str) -> list[Path]:
    return sorted(target.parent.glob(re.sub(r"([*?\[])", r"[\1]", _start(target)) + f"*.{kind}"))


def _remove_leftovers(target: Path) -> None:
    abandoned = [path for path in _leftovers(target, "part") if _is_abandoned(path)]
    if target.exists():
        abandoned += [path for path in _leftovers(target, "old") if _is_abandoned(path)]
    for path in abandoned:
        remove_whole(path)


def _is_abandoned(path: Path) -> bool:
    """Whether the process that made a folder is gone; for other machines, whether the folder is a day old."""
    host, process, *_ = [*path.stem.rpartition(".")[2].rsplit("-", 2), "", ""]
    if os.name == "posix" and host == _owner().rsplit("-", 2)[0] and process.isdecimal():
        return not _is_running(int(process))
    try:
        return path.stat().st_mtime < time() - _DAY
    except OSError:
        return False


def _is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


# Reading


def read_manifest(folder: str | os.PathLike[str]) -> ExperimentManifest:
    """The manifest in a folder."""
    return _read(Path(folder) / MANIFEST_FILE, ExperimentManifest, MANIFEST_SCHEMA)


def read_report(folder: str | os.PathLike[str]) -> EvaluationReport:
    """The report of one run in a folder."""
    return _read(Path(folder) / REPORT_FILE, EvaluationReport, REPORT_SCHEMA)


def report_folders(manifest: ExperimentManifest) -> list[str]:
    """The folders of a manifest's reports, relative to its own; "" is its own."""
    return [path.rpartition("/")[0] for path in (o.path for o in manifest.outputs) if Path(path).name == REPORT_FILE]


def _read(path: Path, kind: type[Kept], schema: str) -> Kept:
    _put_back(Path(os.path.realpath(path.parent)))
    if not path.parent.exists():
        raise InputError(f"no such folder{nearest_file(str(path.parent))}", source=str(path.parent))
    inside = "evaluations"  # a benchmark keeps the report of each mode there
    hint = f" Name one of those in {inside}/." if (path.parent / inside).is_dir() else ""
    return read_record(
        path,
        kind,
        why=lambda data, error: _unreadable(data, schema, error),
        missing=f"is not a report: it has no {path.name}.{hint}",
    )


def _unreadable(data: bytes, schema: str, error: Exception) -> str:
    """Why a file cannot be read: it is not JSON, has another version, or does not match the schema."""
    try:
        found = msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return f"is damaged: {error}."
    given = found.get("schema") if isinstance(found, dict) else None
    if given != schema:
        return f"has schema {given!r}; this version of assay reads {schema!r}."
    return f"does not match schema {schema!r}: {error}."
