"""Open a collection, or check one: a folder, or the name of one that is part of assay."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.collections.checks import Checked, check
from assay.collections.locating import has_parts, locate
from assay.collections.model import Collection
from assay.errors import InputError, did_you_mean, show_id
from assay.retrieval.base import Progress
from assay.validation.findings import Validation

EMBEDDED = Path(__file__).with_name("embedded")


def open_collection(
    place: str | os.PathLike[str],
    *,
    split: str | None = None,
    columns: Mapping[str, Any] | None = None,
    files: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Progress | None = None,
) -> Collection:
    """The collection in a folder, or an embedded one by its name; refused if something in it is wrong.

    `split` names the judgments: test by default, or the only ones. `columns` says what fields are called, for each file:
    {"corpus": {"id": "sku", "text": ["name", "features"]}, "queries": {...}, "qrels": {"query": ..., "doc": ...,
    "rel": ...}}; without these three names it is about the documents. `files` names files of a role whose names do not
    tell it. All of it is read once and checked; what is merely odd is in `findings`.

    >>> open_collection("insurance").split
    'test'
    """
    checked = check_place(place, split=split, columns=columns, files=files, progress=progress)
    return checked.collection()


def check_collection(
    place: str | os.PathLike[str],
    *,
    split: str | None = None,
    columns: Mapping[str, Any] | None = None,
    files: Mapping[str, str | os.PathLike[str]] | None = None,
    progress: Progress | None = None,
) -> Validation:
    """All findings about a collection. Only what cannot be opened, or a split that is not there, is refused."""
    return check_place(place, split=split, columns=columns, files=files, progress=progress).validation()


def check_place(
    place: str | os.PathLike[str],
    *,
    split: str | None,
    columns: Mapping[str, Any] | None,
    files: Mapping[str, str | os.PathLike[str]] | None,
    progress: Progress | None,
) -> Checked:
    """A collection of any condition, with all that was found."""
    folder = find_folder(place)
    return check(locate(folder, split=split, files=files), folder.resolve().name, columns, progress)


def files_of(
    place: str | os.PathLike[str], split: str | None, files: Mapping[str, str | os.PathLike[str]] | None
) -> list[Path]:
    """The files that a collection is read from."""
    places = locate(find_folder(place), split=split, files=files)
    return [*places.corpus(), *(path for role, path in places.files.items() if role != "corpus")]


def embedded_collections() -> tuple[str, ...]:
    """The names of the collections that are part of assay."""
    if not EMBEDDED.is_dir():
        return ()
    return tuple(
        sorted(path.name for path in EMBEDDED.iterdir() if path.is_dir() and not path.name.startswith(("_", ".")))
    )


def find_folder(place: str | os.PathLike[str]) -> Path:
    """The folder of a collection. A bare name is that of an embedded one; where it could be both, that is refused."""
    name = os.fsdecode(place)
    folder = Path(name)
    if isinstance(place, str) and name in embedded_collections():
        if folder.is_dir() and has_parts(folder):
            raise InputError(
                f"there is a folder of this name, and a collection that is part of assay. Write ./{name} for the folder; "
                "for the other one, go to another folder.",
                source=name,
            )
        return EMBEDDED / name
    if folder.is_dir():
        try:
            os.listdir(folder)
        except OSError as error:
            raise InputError(f"the folder cannot be read: {error.strerror}", source=show_id(name, 200)) from None
        return folder
    if folder.exists():
        raise InputError(
            "this is a file; name the folder that holds the documents, queries and judgments", source=show_id(name, 200)
        )
    known = embedded_collections()
    hint = did_you_mean(name, known) or "."
    raise InputError(
        f"no such folder{hint} Collections that are part of assay: {', '.join(known)}.", source=show_id(name, 200)
    )
