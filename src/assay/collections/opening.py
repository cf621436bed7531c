"""Open or check a collection: a folder, or the name of an embedded collection."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from assay.collections.checks import Checked, check
from assay.collections.locating import has_parts, locate
from assay.collections.model import Collection
from assay.errors import InputError, did_you_mean, show_id
from assay.formats.sources import nearest_file
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
    """The collection in a folder, or an embedded one by name; raises an error if it is not valid.

    `split` chooses the judgments: test by default, or the only split. `columns` gives the field names of each file:
    {"corpus": {"id": "sku", "text": ["name", "features"]}, "queries": {...}, "qrels": {"query": ..., "doc": ...,
    "rel": ...}}; without these three roles, they are for the documents. `files` gives the files of roles that are not
    recognised by name. Everything is read once and checked; warnings and notes are in `findings`.

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
    """All findings about a collection. Raises an error only if it cannot be opened or has no such split."""
    return check_place(place, split=split, columns=columns, files=files, progress=progress).validation()


def check_place(
    place: str | os.PathLike[str],
    *,
    split: str | None,
    columns: Mapping[str, Any] | None,
    files: Mapping[str, str | os.PathLike[str]] | None,
    progress: Progress | None,
) -> Checked:
    """A collection, valid or not, with all findings."""
    folder = find_folder(place)
    return check(locate(folder, split=split, files=files), folder.resolve().name, columns, progress)


def files_of(
    place: str | os.PathLike[str], split: str | None, files: Mapping[str, str | os.PathLike[str]] | None
) -> list[Path]:
    """The files of a collection."""
    places = locate(find_folder(place), split=split, files=files)
    return [*places.corpus(), *(path for role, path in places.files.items() if role != "corpus")]


def embedded_collections() -> tuple[str, ...]:
    """The names of the collections that come with assay."""
    if not EMBEDDED.is_dir():
        return ()
    return tuple(
        sorted(path.name for path in EMBEDDED.iterdir() if path.is_dir() and not path.name.startswith(("_", ".")))
    )


def find_folder(place: str | os.PathLike[str]) -> Path:
    """The folder of a collection. A plain name means an embedded collection; an ambiguous name is an error."""
    name = os.fsdecode(place)
    folder = Path(name)
    if isinstance(place, str) and name in embedded_collections():
        if folder.is_dir() and has_parts(folder):
            raise InputError(
                f"this is both a folder and an embedded collection. Write ./{name} for the folder; for the embedded "
                "collection, change to another directory.",
                source=name,
            )
        return EMBEDDED / name
    if os.path.isdir(folder):  # unlike Path's, False for a name that is too long
        try:
            os.listdir(folder)
        except OSError as error:
            raise InputError(f"the folder cannot be read: {error.strerror}", source=show_id(name, 200)) from None
        return folder
    if os.path.exists(folder):
        raise InputError(
            "this is a file; name the folder with the documents, queries and judgments", source=show_id(name, 200)
        )
    known = embedded_collections()
    hint = did_you_mean(name, known) or nearest_file(name) or "."
    raise InputError(f"no such folder{hint} Embedded collections: {', '.join(known)}.", source=show_id(name, 200))
