"""Resumable steps: each is identified by a digest of its inputs and stays finished while its files are unchanged.

    OUT/work/state.json       the finished steps: key, files with their digests, facts such as timings
    OUT/work/indexes/         the indexes of the modes, named by a digest of their content

A step is recorded after its files are on disk, its files are removed before it is dropped, and the state file is replaced
atomically. So a process killed at any moment leaves no file of a step that is not recorded, except what the same step
replaces when it is done again. Independent of searching.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from assay._version import __version__
from assay.errors import InputError, some_of
from assay.files import explaining, remove_whole, write_whole
from assay.records.benchmark import BENCHMARK_FILE, BENCHMARK_SCHEMA
from assay.records.encoding import encode_record
from assay.records.identity import content_of
from assay.records.model import Digest, Record
from assay.records.storing import MANIFEST_FILE, read_manifest

WORK, STATE = "work", "work/state.json"
STATE_SCHEMA = "assay/benchmark-state/3"


class Step(Record, frozen=True, kw_only=True):
    """A finished step."""

    key: str  # digest of its inputs
    outputs: dict[str, str] = msgspec.field(default_factory=dict)  # path relative to the folder -> sha256
    facts: dict[str, Any] = msgspec.field(default_factory=dict)  # counts, times


class State(Record, frozen=True, kw_only=True):
    """The finished steps in a folder."""

    schema: str = STATE_SCHEMA
    key: str = ""  # of the whole benchmark
    created: str = ""  # when it was started
    steps: dict[str, Step] = msgspec.field(default_factory=dict)


def digest(*parts: Any) -> str:
    """A digest of plain values and the version of assay, independent of the order of keys.

    >>> digest({"k1": 1.2, "b": 0.75}) == digest({"b": 0.75, "k1": 1.2})
    True
    """
    return hashlib.sha256(msgspec.json.encode([__version__, *parts], order="sorted")).hexdigest()


class Workspace:
    """The folder of a benchmark and its finished steps."""

    def __init__(self, folder: Path, state: State) -> None:
        self.folder, self._state = folder, state

    @property
    def created(self) -> str:
        """When the benchmark was started; unchanged by an interruption."""
        return self._state.created

    def begin(self, key: str, created: str) -> None:
        """Resume the benchmark with this key, or start a new one; steps that both share are kept."""
        if self._state.key != key:
            self._write(msgspec.structs.replace(self._state, key=key, created=created))

    def finished(self, name: str, key: str) -> Step | None:
        """The step, if it was finished with the same inputs and its files are unchanged."""
        step = self._state.steps.get(name)
        if step is None or step.key != key:
            return None
        return step if all(self._holds(path, sha256) for path, sha256 in step.outputs.items()) else None

    def finish(self, name: str, key: str, outputs: Iterable[str] = (), facts: Mapping[str, Any] | None = None) -> Step:
        """Record a step whose files are written, and remove files that only its previous version had."""
        digests = {path: content_of(str(self.folder / path)).sha256 for path in outputs}
        step = Step(key=key, outputs=digests, facts=dict(facts or {}))
        if name in self._state.steps:
            self._remove([path for path in self._state.steps[name].outputs if path not in digests])
        self._write(msgspec.structs.replace(self._state, steps={**self._state.steps, name: step}))
        return step

    def drop(self, names: Iterable[str]) -> None:
        """Remove steps with their files."""
        dropped = {name: self._state.steps[name] for name in names if name in self._state.steps}
        if not dropped:
            return
        self._remove([path for step in dropped.values() for path in step.outputs])
        kept = {name: step for name, step in self._state.steps.items() if name not in dropped}
        self._write(msgspec.structs.replace(self._state, steps=kept))

    def keep_only(self, names: Iterable[str]) -> None:
        """Drop all other steps, so that results of an earlier recipe do not remain in the folder."""
        wanted = set(names)
        self.drop([name for name in self._state.steps if name not in wanted])

    def outputs(self) -> list[Digest]:
        """The files of all finished steps, sorted by path."""
        found = {path: sha256 for step in self._state.steps.values() for path, sha256 in step.outputs.items()}
        sizes = {path: (self.folder / path).stat().st_size for path in found}
        return [Digest(path=path, sha256=found[path], size=sizes[path]) for path in sorted(found)]

    def index_folder(self, name: str, key: str) -> Path:
        """The folder of an index, named by a digest of its inputs."""
        return self.folder / WORK / "indexes" / f"{name}-{key[:16]}"

    def keep_indexes(self, kept: Iterable[tuple[str, str]]) -> None:
        """Remove all indexes except these, given by name and key."""
        wanted = {self.index_folder(name, key) for name, key in kept}
        for path in self.folder.glob(f"{WORK}/indexes/*"):
            if path not in wanted:
                remove_whole(path)

    def write(self, files: Mapping[str, bytes]) -> Sequence[str]:
        """Write each file atomically; returns the paths."""
        for path, data in files.items():
            with explaining(self.folder / path):
                (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / path, data)
        return list(files)

    def _holds(self, path: str, sha256: str) -> bool:
        with suppress(InputError):
            return content_of(str(self.folder / path)).sha256 == sha256
        return False

    def _remove(self, paths: Sequence[str]) -> None:
        for path in reversed(paths):  # a manifest, which is written last, goes first
            place = self.folder / path
            if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(self.folder)):
                continue  # the state was edited by hand
            with suppress(OSError):
                place.unlink()
            for parent in place.relative_to(self.folder).parents[:-1]:
                with suppress(OSError):  # not empty
                    (self.folder / parent).rmdir()

    def _write(self, state: State) -> None:
        self._state = state
        write_whole(self.folder / STATE, encode_record(state))


@contextmanager
def workspace(folder: str | os.PathLike[str]) -> Iterator[Workspace]:
    """Open the folder of a benchmark, new or existing; raises if it has other files or is in use."""
    root = Path(folder)
    if not os.fspath(folder):
        raise InputError("the name of the output folder is empty. Name a folder.")
    if root.exists() and not root.is_dir():
        raise InputError("is a file; a benchmark needs a folder.", source=os.fspath(folder))
    with explaining(folder, "cannot be written to"):
        others = sorted(entry.name for entry in root.iterdir()) if root.exists() else []
        if others and not (root / WORK).is_dir() and not _is_benchmark(root):
            raise InputError(
                f"contains other files ({some_of(others)}) and no benchmark. Choose a new folder.",
                source=os.fspath(folder),
            )
        (root / WORK).mkdir(parents=True, exist_ok=True)
    with _only_one(root / WORK, os.fspath(folder)):
        with explaining(folder, "cannot be written to"):
            _remove_leftovers(root)
        yield Workspace(root, _read_state(root / STATE) or _state_without_work(root))


def _remove_leftovers(root: Path) -> None:
    """Remove partial files left by a killed process; safe while we hold the lock."""
    for folder in (root, root / WORK, root / "runs", *root.glob("evaluations/*"), *root.glob("evaluations/*/charts")):
        for path in folder.glob(".*.part"):
            path.unlink(missing_ok=True)


@contextmanager
def _only_one(folder: Path, shown: str) -> Iterator[None]:
    """Lock the folder against a second process, if the system supports it; the lock ends with the process."""
    try:
        import fcntl

        descriptor = os.open(folder, os.O_RDONLY)
    except (ImportError, OSError):  # Windows
        yield
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise InputError(
            "another benchmark is running in this folder. Wait for it, or choose another folder.", source=shown
        ) from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(descriptor)


def _read_state(path: Path) -> State | None:
    """The stored state; None if it is missing or from another version."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        state = msgspec.json.decode(path.read_bytes(), type=State)
        if state.schema == STATE_SCHEMA:
            return state
    return None


class _Schema(Record, frozen=True):
    """Just the schema name of a report."""

    schema: str


def _is_benchmark(root: Path) -> bool:
    """Whether the folder contains a benchmark report, of any version."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        found = msgspec.json.decode((root / BENCHMARK_FILE).read_bytes(), type=_Schema)
        return found.schema.startswith(BENCHMARK_SCHEMA.rpartition("/")[0] + "/")
    return False


def _state_without_work(root: Path) -> State:
    """The state if work/ was deleted: no finished steps, but the old report's files, so that they can be removed."""
    if not _is_benchmark(root):
        return State()
    try:
        outputs = {each.path: each.sha256 for each in read_manifest(root).outputs}
    except InputError:
        return State()
    return State(steps={"report": Step(key="", outputs={**outputs, MANIFEST_FILE: ""})})
