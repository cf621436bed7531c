"""Steps that are done once: each is known by a digest of what goes into it, and holds as long as its files do.

    OUT/work/state.json       which steps are finished: key, files with their digests, facts such as timings
    OUT/work/indexes/         what modes build; named by what is in it, so that it can never be taken for another

A step is entered into the state after its files are on the disk, and the state is replaced in one step. So a process
that is killed at any moment leaves finished steps and nothing that looks like one. Knows nothing of searching.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import msgspec

from assay._version import __version__
from assay.errors import InputError, some_of
from assay.files import write_whole
from assay.records.benchmark import BENCHMARK_FILE, BENCHMARK_SCHEMA
from assay.records.encoding import encode_record
from assay.records.identity import content_of
from assay.records.model import Digest, Record
from assay.records.storing import MANIFEST_FILE, read_manifest

WORK, STATE = "work", "work/state.json"
STATE_SCHEMA = "assay/benchmark-state/2"


class Step(Record, frozen=True, kw_only=True):
    """A finished step."""

    key: str  # digest of all that went into it
    outputs: dict[str, str] = msgspec.field(default_factory=dict)  # path below the folder -> sha256
    facts: dict[str, Any] = msgspec.field(default_factory=dict)  # what else is known of it: counts, times


class State(Record, frozen=True, kw_only=True):
    """What is finished in a folder."""

    schema: str = STATE_SCHEMA
    key: str = ""  # of the whole benchmark
    created: str = ""  # when it was begun
    steps: dict[str, Step] = msgspec.field(default_factory=dict)


def digest(*parts: Any) -> str:
    """One digest for plain values, the same for the same values in any order of keys; another version has others.

    >>> digest({"k1": 1.2, "b": 0.75}) == digest({"b": 0.75, "k1": 1.2})
    True
    """
    return hashlib.sha256(msgspec.json.encode([__version__, *parts], order="sorted")).hexdigest()


class Workspace:
    """The folder of a benchmark, and what is finished in it."""

    def __init__(self, folder: Path, state: State) -> None:
        self.folder, self._state = folder, state

    @property
    def created(self) -> str:
        """When the benchmark was begun, to be the same after it was interrupted."""
        return self._state.created

    def begin(self, key: str, created: str) -> None:
        """Take up the benchmark of this key, or begin a new one; steps that the new one shares with the old one stay."""
        if self._state.key != key:
            self._write(msgspec.structs.replace(self._state, key=key, created=created))

    def finished(self, name: str, key: str) -> Step | None:
        """The step, if it was finished with the same input and its files are what they were."""
        step = self._state.steps.get(name)
        if step is None or step.key != key:
            return None
        return step if all(self._holds(path, sha256) for path, sha256 in step.outputs.items()) else None

    def finish(self, name: str, key: str, outputs: Iterable[str] = (), facts: Mapping[str, Any] | None = None) -> Step:
        """Enter a step whose files have been written; files of its last time that it no longer has are removed."""
        digests = {path: content_of(str(self.folder / path)).sha256 for path in outputs}
        step = Step(key=key, outputs=digests, facts=dict(facts or {}))
        old = self._state.steps.get(name)
        self._write(msgspec.structs.replace(self._state, steps={**self._state.steps, name: step}))
        if old is not None:
            self._remove(path for path in old.outputs if path not in digests)
        return step

    def drop(self, names: Iterable[str]) -> None:
        """Take steps back: first out of the state, then their files."""
        dropped = {name: self._state.steps[name] for name in names if name in self._state.steps}
        if not dropped:
            return
        kept = {name: step for name, step in self._state.steps.items() if name not in dropped}
        self._write(msgspec.structs.replace(self._state, steps=kept))
        self._remove(path for step in dropped.values() for path in step.outputs)

    def keep_only(self, names: Iterable[str]) -> None:
        """Drop all steps but these: what an earlier recipe has left must not lie among the results of this one."""
        wanted = set(names)
        self.drop([name for name in self._state.steps if name not in wanted])

    def outputs(self) -> list[Digest]:
        """The files of all finished steps, by their path."""
        found = {path: sha256 for step in self._state.steps.values() for path, sha256 in step.outputs.items()}
        sizes = {path: (self.folder / path).stat().st_size for path in found}
        return [Digest(path=path, sha256=found[path], size=sizes[path]) for path in sorted(found)]

    def index_folder(self, name: str, key: str) -> Path:
        """Where an index is built: named by what goes into it."""
        return self.folder / WORK / "indexes" / f"{name}-{key[:16]}"

    def keep_indexes(self, kept: Iterable[tuple[str, str]]) -> None:
        """Remove all indexes but these, by name and key."""
        wanted = {self.index_folder(name, key) for name, key in kept}
        for path in self.folder.glob(f"{WORK}/indexes/*"):
            if path not in wanted:
                shutil.rmtree(path, ignore_errors=True)

    def write(self, files: Mapping[str, bytes]) -> Sequence[str]:
        """Write files, each whole; gives their paths."""
        for path, data in files.items():
            (self.folder / path).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.folder / path, data)
        return list(files)

    def _holds(self, path: str, sha256: str) -> bool:
        with suppress(InputError):
            return content_of(str(self.folder / path)).sha256 == sha256
        return False

    def _remove(self, paths: Iterable[str]) -> None:
        for path in paths:
            place = self.folder / path
            if not Path(os.path.realpath(place)).is_relative_to(os.path.realpath(self.folder)):
                continue  # a state that somebody wrote by hand
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
    """The folder of a benchmark, new or to be gone on with; refuses one that holds other things, or is in use."""
    root = Path(folder)
    if not os.fspath(folder):
        raise InputError("no folder to write the benchmark to: the name is empty.")
    if root.exists() and not root.is_dir():
        raise InputError("is a file; a benchmark needs a folder.", source=os.fspath(folder))
    try:
        others = sorted(entry.name for entry in root.iterdir()) if root.exists() else []
        if others and not (root / WORK).is_dir() and not _is_benchmark(root):
            raise InputError(
                f"holds other files and no benchmark ({some_of(others)}). Name a new folder with --output.",
                source=os.fspath(folder),
            )
        (root / WORK).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be written to: {error.strerror}.", source=os.fspath(folder)) from None
    with _only_one(root / WORK, os.fspath(folder)):
        _remove_leftovers(root)
        yield Workspace(root, _read_state(root / STATE) or _state_without_work(root))


def _remove_leftovers(root: Path) -> None:
    """Halves of files that a killed process has left; nobody else writes here now."""
    for folder in (root, root / WORK, root / "runs", *root.glob("evaluations/*"), *root.glob("evaluations/*/charts")):
        for path in folder.glob(".*.part"):
            path.unlink(missing_ok=True)


@contextmanager
def _only_one(folder: Path, shown: str) -> Iterator[None]:
    """Refuse a second process in the same folder, where the system can tell; the lock goes with the process."""
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
            "another benchmark is running in this folder; wait for it, or name another one.", source=shown
        ) from None
    except OSError:  # a file system without locks
        pass
    try:
        yield
    finally:
        os.close(descriptor)


def _read_state(path: Path) -> State | None:
    """What is finished; None where the state is not there or is of another version."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        state = msgspec.json.decode(path.read_bytes(), type=State)
        if state.schema == STATE_SCHEMA:
            return state
    return None


class _Schema(Record, frozen=True):
    """Of a report nothing but what it is."""

    schema: str


def _is_benchmark(root: Path) -> bool:
    """Whether the folder holds the report of a benchmark, of this version or another."""
    with suppress(OSError, msgspec.MsgspecError, UnicodeDecodeError):
        found = msgspec.json.decode((root / BENCHMARK_FILE).read_bytes(), type=_Schema)
        return found.schema.startswith(BENCHMARK_SCHEMA.rpartition("/")[0] + "/")
    return False


def _state_without_work(root: Path) -> State:
    """Nothing is finished; but the files of a report whose work is gone are known by its manifest, to be removed with it."""
    if not _is_benchmark(root):
        return State()
    try:
        outputs = {each.path: each.sha256 for each in read_manifest(root).outputs}
    except InputError:
        return State()
    return State(steps={"report": Step(key="", outputs={**outputs, MANIFEST_FILE: ""})})
