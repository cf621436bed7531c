"""The recipe of a benchmark: collection, modes and measures. Opens no collection and searches nothing.

    collection = "insurance"
    modes = ["lexical", "tuned", "vector", "hybrid"]

    [[mode]]
    name = "tuned"
    kind = "bm25s"
    k1 = 0.9

A mode without a [[mode]] table is the kind of that name with default settings. Errors name the file, line and key.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from assay.benchmark.key_lines import key_lines, line_of
from assay.errors import AssayError, InputError, did_you_mean, show_id
from assay.formats.numbers import real, show_value
from assay.formats.sources import read_small
from assay.inputs.toml import parse_toml
from assay.measures import parse_measures

DEFAULT_MEASURES = ("nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10")
DEFAULT_COLLECTION = "insurance"
DEFAULT_MODES = ("lexical", "vector", "hybrid")
DEFAULT_DEPTH, DEFAULT_SEED, DEFAULT_REPEATS = 1000, 1, 3
RECIPE_FILE = "benchmark.toml"

_MODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")  # used in file names and in every line of a run
_MODE_KEYS = ("name", "kind")
_LARGEST = 2**62  # of whole numbers


class Mode(Struct, frozen=True, eq=False, repr_omit_defaults=True):
    """A named way to search."""

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None  # the file that defines it, for messages
    lines: Mapping[str, int] = field(default_factory=dict)  # of its settings; "" is its table

    def __eq__(self, other: object) -> bool:  # ignores where it is defined
        if not isinstance(other, Mode):
            return NotImplemented
        return (self.name, self.kind, self.settings) == (other.name, other.kind, other.settings)

    def __hash__(self) -> int:
        return hash((self.name, self.kind))


class Recipe(Struct, frozen=True):
    """What a benchmark should do."""

    collection: str = DEFAULT_COLLECTION  # a folder, or the name of an embedded collection
    split: str | None = None
    modes: tuple[Mode, ...] = tuple(Mode(name, name) for name in DEFAULT_MODES)
    depth: int = DEFAULT_DEPTH  # documents per query
    measures: tuple[str, ...] = DEFAULT_MEASURES  # the first one decides the best mode
    targets: str | None = None  # a file, or the name of a built-in profile
    seed: int = DEFAULT_SEED
    repeats: int = DEFAULT_REPEATS  # timed passes over the queries
    latency_limit: float | None = None  # milliseconds per query
    segments: str | None = None  # a CSV file, or length, relevant, difficulty
    columns: Mapping[str, Any] | None = None  # names of fields by file: see `open_collection`
    files: Mapping[str, str] | None = None  # role -> file, for files with unusual names
    parts: tuple[Mode, ...] = ()  # modes that run only because others stand on them
    allow_missing: bool = True  # leave out modes that cannot run; False if the modes were chosen

    def __post_init__(self) -> None:
        names = [mode.name for mode in self.modes]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two modes are called {name!r}; rename one.")
        if not names:
            raise InputError(f"no modes given. A benchmark needs at least one, such as {DEFAULT_MODES[0]}.")

    def but(self, **given: Any) -> Recipe:
        """A copy with the given values, except those that are None."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """Read a recipe from a TOML file. Paths in it are relative to its folder."""
    source = os.fspath(path)
    try:
        text = read_small(path).decode("utf-8-sig")  # some editors write a byte order mark
    except FileNotFoundError:
        raise InputError("no such recipe. `assay benchmark init` writes one.", source=source) from None
    except IsADirectoryError:
        raise InputError(
            f"is a folder; a recipe is a TOML file. To search a collection, use `collection={source!r}`.", source=source
        ) from None
    except UnicodeDecodeError:
        raise InputError("is not UTF-8 text. Save the recipe as UTF-8.", source=source) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=source) from None
    recipe = parse_recipe(text, source=source)
    beside = Path(path).parent
    return replace(
        recipe,
        modes=tuple(_with_files_beside(mode, beside) for mode in recipe.modes),
        parts=tuple(_with_files_beside(mode, beside) for mode in recipe.parts),
        collection=recipe.collection if _comes_with_assay(recipe.collection) else _beside(beside, recipe.collection),
        targets=None if recipe.targets is None else _beside(beside, recipe.targets),
        segments=None if recipe.segments is None else _beside(beside, recipe.segments),
    )


def _comes_with_assay(name: str) -> bool:
    """Whether this names an embedded collection; write a folder of that name as ./insurance."""
    from assay.collections import embedded_collections

    return name in embedded_collections()


def _beside(folder: Path, given: str) -> str:
    """A path relative to the folder of the recipe if it exists there; otherwise unchanged."""
    return str(folder / given) if os.path.exists(folder / given) else given  # False for a name that is too long


def _with_files_beside(mode: Mode, folder: Path) -> Mode:
    """The mode, with its files, and a model given as a path such as ./my-model, relative to the recipe."""
    from assay.retrieval.modes import MODES

    paths = {name: value for name, value in mode.settings.items() if name in MODES[mode.kind].paths}
    if "/" in str(model := mode.settings.get("model", "")):
        paths["model"] = model
    found = {name: _beside(folder, value) for name, value in paths.items() if isinstance(value, str)}
    if "/" not in found.get("model", "/"):  # beside a recipe in the current folder: still a path and not a name
        found["model"] = f"./{found['model']}"
    return replace(mode, settings={**mode.settings, **found}) if found else mode


def parse_recipe(text: str, *, source: str = RECIPE_FILE) -> Recipe:
    r"""Parse a recipe from TOML text.

    >>> parse_recipe('collection = "shop"\nmodes = ["lexical"]').modes
    (Mode(name='lexical', kind='lexical'),)
    """
    return _Reader(text, source).recipe(parse_toml(text, source))


def parse_modes(names: Sequence[str], known: Sequence[Mode] = ()) -> tuple[Mode, ...]:
    """The modes with these names: those defined in the recipe, or kinds with default settings.

    >>> [mode.kind for mode in parse_modes(["lexical", "hybrid"])]
    ['lexical', 'hybrid']
    """
    own = {mode.name: mode for mode in known}
    return tuple(own[name] if name in own else _plain_mode(name, own) for name in names)


def parse_measure_names(names: Sequence[str]) -> tuple[str, ...]:
    """The measure names as written, with bundles such as P.5,10 expanded; raises for unknown measures."""
    return tuple(request.label for request in parse_measures(names))


def _plain_mode(name: str, others: Mapping[str, Mode]) -> Mode:
    """The mode named after its kind, with default settings."""
    from assay.retrieval.modes import MODES

    if name not in MODES:
        known = [*others, *(kind for kind in MODES if kind not in others)]
        raise InputError(f"no mode called {show_id(name)!r}{_hint(name, known)}")
    return Mode(name, name)


def _inputs_named(mode: Mode) -> list[Any]:
    """The modes that a mode names as its inputs, right or wrong."""
    several = mode.settings.get("modes")
    return [*(several if isinstance(several, list) else []), mode.settings.get("of")]


def _hint(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known) or f"; available: {', '.join(known)}."


def _columns_one_by_one(columns: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Each field separately, with its path, and finally all together."""
    for role, fields in columns.items():
        if isinstance(fields, dict):
            yield from (((role, field), {role: {field: names}}) for field, names in fields.items())
        else:
            yield (role,), {role: fields}
    yield (), dict(columns)


class _Reader:
    """Checks the parts of a recipe; errors name the file, line and key."""

    def __init__(self, text: str, source: str) -> None:
        self._lines, self._source = key_lines(text), source

    def recipe(self, table: Mapping[str, Any]) -> Recipe:
        checks: dict[str, Callable[[str, Any], Any]] = {
            "collection": self._text,
            "split": self._text,
            "depth": self._whole(1),
            "measures": self._measures,
            "targets": self._text,
            "seed": self._whole(0),
            "repeats": self._whole(1),
            "latency_limit": self._milliseconds,
            "segments": self._text,
            "columns": self._columns,
            "files": self._files,
        }
        known = [*checks, "modes", "mode"]
        for key in table:
            if key not in known:
                self._refuse((key,), f"no such key{_hint(key, known)}")
        given = {key: check(key, table[key]) for key, check in checks.items() if key in table}
        modes, parts = self._modes(table)
        chosen = "modes" in table or "mode" in table
        return Recipe(modes=modes, parts=parts, allow_missing=not chosen, **given)

    def _refuse(self, path: tuple[str | int, ...], complaint: str) -> NoReturn:
        key = ".".join(part for part in path if isinstance(part, str))
        raise InputError(f"{key}: {complaint}", source=self._source, line=line_of(self._lines, path))

    def _text(self, key: str, value: Any) -> str:
        if not isinstance(value, str) or not value:
            self._refuse((key,), f"{value!r} is not text; write it in quotes.")
        return value

    def _table(self, key: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            self._refuse((key,), f"{value!r} is not a table; write [{key}] and names below it.")
        return value

    def _columns(self, key: str, value: Any) -> dict[str, Any]:
        from assay.collections.columns import columns_by_role

        given = self._table(key, value)
        for path, part in _columns_one_by_one(given):
            try:
                columns_by_role(part)
            except InputError as error:
                self._refuse((key, *path), str(error).removeprefix(f"{key}: "))
        return given

    def _files(self, key: str, value: Any) -> dict[str, str]:
        from assay.collections.locating import ROLES

        given = self._table(key, value)
        for role, name in given.items():
            if role not in ROLES:
                self._refuse((key, role), f"no such role{_hint(role, ROLES)}")
            if not isinstance(name, str) or not name:
                self._refuse((key, role), f"{name!r} is not a file name; write it in quotes.")
        return given

    def _whole(self, low: int) -> Callable[[str, Any], int]:
        def check(key: str, value: Any) -> int:
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                self._refuse((key,), f"{show_value(value)} is not a whole number of at least {low}.")
            if value > _LARGEST:
                self._refuse((key,), f"{show_value(value)} is too large.")
            return value

        return check

    def _milliseconds(self, key: str, value: Any) -> float:
        number = None if isinstance(value, bool) else real(value)
        if number is None or number <= 0:
            self._refuse((key,), f"{show_value(value)} is not a positive number of milliseconds.")
        return number

    def _measures(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._texts((key,), value, 'measures = ["nDCG@10", "AP"]')
        try:
            return parse_measure_names(names)
        except AssayError as error:
            self._refuse((key,), str(error))

    def _texts(self, path: tuple[str | int, ...], value: Any, example: str) -> list[str]:
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            self._refuse(path, f"{value!r} is not a list of strings; write {example}.")
        return value

    # Modes

    def _modes(self, table: Mapping[str, Any]) -> tuple[tuple[Mode, ...], tuple[Mode, ...]]:
        """The modes to run, and those that run only because others stand on them."""
        own = tuple(self._tables(table.get("mode", [])))
        names = [mode.name for mode in own] or list(DEFAULT_MODES)
        if "modes" in table:
            names = self._texts(("modes",), table["modes"], 'modes = ["lexical", "vector"]')
        for name in names:
            if names.count(name) > 1:
                self._refuse(("modes",), f"{name!r} is listed twice; remove one.")
        try:
            modes = parse_modes(names, own)
        except InputError as error:
            self._refuse(("modes",), str(error))
        needed = {name for mode in own for name in _inputs_named(mode)}
        for number, mode in enumerate(own):
            if mode.name not in names and mode.name not in needed:
                self._refuse(
                    ("mode", number),
                    f"{mode.name!r} is not in `modes`, so it would not run. Add it to `modes`, or remove this table.",
                )
        return modes, tuple(mode for mode in own if mode.name not in names)

    def _tables(self, value: Any) -> Iterator[Mode]:
        from assay.retrieval.modes import MODES

        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self._refuse(("mode",), 'custom modes are tables: [[mode]] with name = "..." and kind = "..." below.')
        seen: set[str] = set()
        for number, table in enumerate(value):
            path = ("mode", number)
            kind = table.get("kind", table.get("name"))
            if not isinstance(kind, str) or kind not in MODES:
                key = (*path, "kind" if "kind" in table else "name")
                self._refuse(key, f"no kind of mode called {show_value(kind)}{_hint(show_value(kind), list(MODES))}")
            name = table.get("name", kind)
            if not isinstance(name, str) or not _MODE_NAME.fullmatch(name):
                self._refuse(
                    (*path, "name"), f"{name!r} cannot be used in a file name; use letters, digits and . _ + - only."
                )
            if name in seen:
                self._refuse((*path, "name"), f"two modes are called {name!r}; rename one.")
            seen.add(name)
            settings = {key: each for key, each in table.items() if key not in _MODE_KEYS}
            places = {key: line_of(self._lines, (*path, key)) for key in settings} | {"": line_of(self._lines, path)}
            yield Mode(name, kind, settings, self._source, {key: line for key, line in places.items() if line})
