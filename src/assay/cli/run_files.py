"""The runs of a command line: files, folders of runs, and patterns such as 'runs/*.run'. Reads no run."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, TypeVar

import click

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
