"""The runs of a command line: files, folders of runs, and patterns such as 'runs/*.run'. Reads no run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click
from msgspec import Struct

from assay.cli import note
from assay.cli.reading import split_name
from assay.errors import InputError, show_id, some_of
from assay.formats.sources import COMPRESSION_SUFFIXES, FORMAT_SUFFIXES
from assay.words import natural_key

Command = TypeVar("Command", bound=Callable[..., Any])
FETCH_REPORT = ".fetch.json"  # after the name of a run
RUN_SUFFIXES = tuple(suffix for suffix in FORMAT_SUFFIXES if suffix not in (".qrels", ".qrel"))


def runs_argument(*, required: bool = True, metavar: str = "RUN...") -> Callable[[Command], Command]:
    """The runs of a command: files, folders and patterns; the command gets the files as `runs`."""
    return click.argument(
        "runs",
        metavar=metavar,
        nargs=-1,
        required=required,
        callback=lambda context, option, given: tuple(file for argument in given for file in run_files(argument)),
    )


class CollectionFiles(Struct, frozen=True):
    """A collection of a command line: the file with its judgments, and its runs."""

    name: str
    qrels: str
    runs: tuple[str, ...]

    def paths(self) -> list[str]:
        """All files."""
        return [self.qrels, *(split_name(run)[1] for run in self.runs)]


def collections_option(command: Command) -> Command:
    """--collection NAME=QRELS:FOLDER, repeatable; the command gets them as `collections`."""

    def parsed(context: click.Context, option: click.Parameter, given: tuple[str, ...]) -> tuple[CollectionFiles, ...]:
        found = tuple(map(_collection_files, given))
        names = [each.name for each in found]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two collections are called {show_id(name)!r}; give them different names.")
        return found

    return click.option(
        "--collection",
        "collections",
        multiple=True,
        metavar="NAME=QRELS:FOLDER",
        callback=parsed,
        help="A collection: its judgments, and the folder (or pattern) of its runs; may be repeated. Runs with the same name are one system.",
    )(command)


def _collection_files(text: str) -> CollectionFiles:
    """NAME=QRELS:FOLDER. Paths may contain colons: the last one that separates a file from a folder counts."""
    name, equals, paths = text.partition("=")
    colons = [at for at, character in enumerate(paths) if character == ":" and 0 < at < len(paths) - 1]
    if not name or not equals or not colons:
        raise InputError(
            f"--collection takes NAME=QRELS:FOLDER, such as web=web.qrels:runs, not '{show_id(text, 200)}'."
        )
    pairs = [(paths[:at], paths[at + 1 :]) for at in reversed(colons)]
    for qrels, runs in pairs:
        if os.path.isfile(qrels) and (os.path.exists(runs) or set(runs) & set("*?[")):
            return CollectionFiles(name, qrels, tuple(run_files(runs)))
    # None of them fits, so say what is missing where the colon is most likely meant, which is not behind a drive letter.
    qrels, runs = next(
        (pair for pair, at in zip(pairs, reversed(colons), strict=True) if not _is_drive(paths, at)), pairs[0]
    )
    what, path = ("file of judgments", qrels) if not os.path.isfile(qrels) else ("folder of runs", runs)
    raise InputError(f"collection {show_id(name)}: there is no {what} '{show_id(path, 200)}'.")


def _is_drive(paths: str, colon: int) -> bool:
    r"""Whether a colon follows a drive letter, as in C:\runs.

    >>> _is_drive("C:/q:D:/r", 1), _is_drive("C:/q:D:/r", 4), _is_drive("C:/q:D:/r", 6)
    (True, False, True)
    """
    letter_alone = paths[colon - 1].isalpha() and (colon == 1 or paths[colon - 2] == ":")
    return letter_alone and paths[colon + 1] in "/\\"


def run_files(argument: str) -> list[str]:
    """The run files that an argument stands for: itself, all in a folder, or all that match a pattern, with their name."""
    name, path = split_name(argument)
    if os.path.isdir(path):
        found = _files_of_folder(path)
    elif set(path) & set("*?[") and not os.path.exists(path):
        import glob

        found = sorted((file for file in glob.glob(path, recursive=True) if os.path.isfile(file)), key=natural_key)
        if not found:
            raise InputError(f"no file matches '{show_id(path, 200)}'.")
    else:
        return [argument]
    if name is None:
        return found
    if len(found) > 1:
        raise InputError(f"'{show_id(name)}' cannot name several runs: {some_of(found)}. Leave the name out.")
    return [f"{name}={found[0]}"]


def _files_of_folder(folder: str) -> list[str]:
    """The files of a folder whose ending is one of a run; a note names the others, except hidden ones."""
    from assay.records.storing import MANIFEST_FILE  # only needed for folders

    if os.path.exists(os.path.join(folder, MANIFEST_FILE)):
        raise InputError("this is a folder with a report, not with runs.", source=folder)
    names = sorted((name for name in os.listdir(folder) if not _is_beside_runs(name)), key=natural_key)
    files = [path for path in (os.path.join(folder, name) for name in names) if os.path.isfile(path)]
    found = [path for path in files if _ending(path) in RUN_SUFFIXES]
    others = [path for path in files if path not in found]
    import shlex  # only for the message

    pattern = shlex.quote(os.path.join(folder, "*"))
    if not found:
        raise InputError(
            f"the folder has no file that ends like a run ({', '.join(RUN_SUFFIXES)}). If it has runs, give a "
            f"pattern: {pattern}",
            source=folder,
        )
    if others:
        left_out = f"left out {some_of(others)}, which {'does' if len(others) == 1 else 'do'} not end like a run"
        note(f"{left_out}; a pattern such as {pattern} takes every file.")
    return found


def _is_beside_runs(name: str) -> bool:
    """Whether a file is hidden, or a report on how a run was fetched."""
    return name.startswith(".") or name.casefold().endswith(FETCH_REPORT)


def _ending(path: str) -> str:
    """The ending that shows the format, before that of the compression."""
    stem, ending = os.path.splitext(path.casefold())
    return os.path.splitext(stem)[1] if ending in COMPRESSION_SUFFIXES else ending
