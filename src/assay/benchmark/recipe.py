"""The recipe of a benchmark: which collection, which modes, which measures. Opens no collection and searches nothing.

    collection = "insurance"
    modes = ["lexical", "tuned", "vector", "hybrid"]

    [[mode]]
    name = "tuned"
    kind = "bm25s"
    k1 = 0.9

A mode without a table of its own is the kind of that name with its defaults. Every complaint names file, line and key.
"""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct, field
from msgspec.structs import replace

from assay.benchmark.key_lines import key_lines, line_of
from assay.errors import AssayError, InputError, did_you_mean, show_id
from assay.measures import parse_measures

DEFAULT_MEASURES = ("nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10")
DEFAULT_COLLECTION = "insurance"
DEFAULT_MODES = ("lexical", "vector", "hybrid")
DEFAULT_DEPTH, DEFAULT_SEED, DEFAULT_REPEATS = 1000, 1, 3
RECIPE_FILE = "benchmark.toml"

_MODE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,63}")  # it names files, and stands in every line of a run
_MODE_KEYS = ("name", "kind")


class Mode(Struct, frozen=True, eq=False, repr_omit_defaults=True):
    """One way to search, under the name that tables and files give it."""

    name: str
    kind: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    source: str | None = None  # the file that it stands in, for messages
    lines: Mapping[str, int] = field(default_factory=dict)  # of its settings; "" is its table

    def __eq__(self, other: object) -> bool:  # where it stands changes nothing
        if not isinstance(other, Mode):
            return NotImplemented
        return (self.name, self.kind, self.settings) == (other.name, other.kind, other.settings)

    def __hash__(self) -> int:
        return hash((self.name, self.kind))


class Recipe(Struct, frozen=True):
    """What a benchmark is to do."""

    collection: str = DEFAULT_COLLECTION  # a folder, or the name of one that comes with assay
    split: str | None = None
    modes: tuple[Mode, ...] = tuple(Mode(name, name) for name in DEFAULT_MODES)
    depth: int = DEFAULT_DEPTH  # documents per query
    measures: tuple[str, ...] = DEFAULT_MEASURES  # the first one decides which mode is the best
    targets: str | None = None  # a file, or the name of a profile that comes with assay
    seed: int = DEFAULT_SEED
    repeats: int = DEFAULT_REPEATS  # passes over the queries that are timed
    latency_limit: float | None = None  # milliseconds per query
    segments: str | None = None  # a file that sorts queries into segments, or length, relevant, difficulty
    columns: Mapping[str, Any] | None = None  # what fields are called, for each file: see `open_collection`
    files: Mapping[str, str] | None = None  # files of a role whose names do not tell it
    parts: tuple[Mode, ...] = ()  # modes of the recipe that run only where a hybrid is made of them

    def __post_init__(self) -> None:
        names = [mode.name for mode in self.modes]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"two modes are called {name!r}; name them apart.")
        if not names:
            raise InputError(f"a benchmark needs at least one mode, such as {DEFAULT_MODES[0]}.")

    def but(self, **given: Any) -> Recipe:
        """The same with what is given, and is not None, in place of its own."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


def read_recipe(path: str | os.PathLike[str]) -> Recipe:
    """The recipe in a TOML file; files and folders that it names are looked for beside it."""
    source = os.fspath(path)
    try:
        text = Path(path).read_text(encoding="utf-8-sig")  # some editors begin a file with a mark
    except FileNotFoundError:
        raise InputError("no such recipe; `assay benchmark init` writes one.", source=source) from None
    except IsADirectoryError:
        raise InputError(
            f"is a folder; a recipe is a TOML file. For a collection, say --collection {source}.", source=source
        ) from None
    except UnicodeDecodeError:
        raise InputError("a recipe is text in UTF-8.", source=source) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=source) from None
    recipe = parse_recipe(text, source=source)
    beside = Path(path).parent
    return replace(
        recipe,
        modes=tuple(_with_model_beside(mode, beside) for mode in recipe.modes),
        parts=tuple(_with_model_beside(mode, beside) for mode in recipe.parts),
        collection=recipe.collection if _comes_with_assay(recipe.collection) else _beside(beside, recipe.collection),
        targets=None if recipe.targets is None else _beside(beside, recipe.targets),
        segments=None if recipe.segments is None else _beside(beside, recipe.segments),
    )


def _comes_with_assay(name: str) -> bool:
    """As everywhere: a folder called so has to be written as one, ./insurance."""
    from assay.collections import embedded_collections

    return name in embedded_collections()


def _beside(folder: Path, given: str) -> str:
    """A path from the recipe's folder, if it leads somewhere; what is the name of something stays as it is."""
    return str(folder / given) if (folder / given).exists() else given


def _with_model_beside(mode: Mode, folder: Path) -> Mode:
    """The mode, whose own model, a path such as ./my-model, is looked for beside the recipe."""
    model = mode.settings.get("model")
    if not isinstance(model, str) or "/" not in model:
        return mode
    return replace(mode, settings={**mode.settings, "model": _beside(folder, model)})


def parse_recipe(text: str, *, source: str = RECIPE_FILE) -> Recipe:
    r"""A recipe from the text of a TOML file.

    >>> parse_recipe('collection = "shop"\nmodes = ["lexical"]').modes
    (Mode(name='lexical', kind='lexical'),)
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _no_toml(text, str(error), source) from None
    return _Reader(text, source).recipe(table)


def _no_toml(text: str, words: str, source: str) -> InputError:
    """What the parser says, with its line where lines of others stand too."""
    place = re.search(r" \(at (?:line (\d+), column (\d+)|end of document)\)$", words)
    if place is None:
        return InputError(f"is no TOML: {words}.", source=source)
    said = words[: place.start()]
    if place[1] is None:
        return InputError(
            f"is no TOML: {said} at the end of the file.", source=source, line=len(text.splitlines()) or 1
        )
    return InputError(f"is no TOML: {said} in column {place[2]}.", source=source, line=int(place[1]))


def parse_modes(names: Sequence[str], known: Sequence[Mode] = ()) -> tuple[Mode, ...]:
    """Modes by their names: those of the recipe, else kinds with their defaults.

    >>> [mode.kind for mode in parse_modes(["lexical", "hybrid"])]
    ['lexical', 'hybrid']
    """
    own = {mode.name: mode for mode in known}
    return tuple(own[name] if name in own else _plain_mode(name, own) for name in names)


def parse_measure_names(names: Sequence[str]) -> tuple[str, ...]:
    """The names as they were written, bundles such as P.5,10 taken apart; refuses what is no measure."""
    return tuple(request.label for request in parse_measures(names))


def _plain_mode(name: str, others: Mapping[str, Mode]) -> Mode:
    """The mode that has the name of its kind, and its defaults."""
    from assay.retrieval.modes import MODES

    if name not in MODES:
        known = [*others, *(kind for kind in MODES if kind not in others)]
        raise InputError(f"no mode called {show_id(name)!r}{_hint(name, known)}")
    return Mode(name, name)


def _hint(name: str, known: Sequence[str]) -> str:
    return did_you_mean(name, known) or f"; there are {', '.join(known)}."


def _columns_one_by_one(columns: Mapping[str, Any]) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Each field on its own, with its path; at the end all together."""
    for role, fields in columns.items():
        if isinstance(fields, dict):
            yield from (((role, field), {role: {field: names}}) for field, names in fields.items())
        else:
            yield (role,), {role: fields}
    yield (), dict(columns)


class _Reader:
    """Checks the parts of a recipe; every complaint names the file, the line and the key."""

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
        return Recipe(modes=modes, parts=parts, **given)

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
                self._refuse((key, role), f"there is no such file{_hint(role, ROLES)}")
            if not isinstance(name, str) or not name:
                self._refuse((key, role), f"{name!r} is not the name of a file; write it in quotes.")
        return given

    def _whole(self, low: int) -> Callable[[str, Any], int]:
        def check(key: str, value: Any) -> int:
            if not isinstance(value, int) or isinstance(value, bool) or value < low:
                self._refuse((key,), f"{value!r} is not a whole number from {low}.")
            return value

        return check

    def _milliseconds(self, key: str, value: Any) -> float:
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not 0 < value < math.inf:
            self._refuse((key,), f"{value!r} is not a number of milliseconds over 0.")
        return float(value)

    def _measures(self, key: str, value: Any) -> tuple[str, ...]:
        names = self._texts((key,), value, 'measures = ["nDCG@10", "AP"]')
        try:
            return parse_measure_names(names)
        except AssayError as error:
            self._refuse((key,), str(error))

    def _texts(self, path: tuple[str | int, ...], value: Any, example: str) -> list[str]:
        if not isinstance(value, list) or not value or not all(isinstance(name, str) for name in value):
            self._refuse(path, f"{value!r} is not a list of texts; write {example}.")
        return value

    # Modes

    def _modes(self, table: Mapping[str, Any]) -> tuple[tuple[Mode, ...], tuple[Mode, ...]]:
        """The modes to be run, and those that are there for hybrids only."""
        own = tuple(self._tables(table.get("mode", [])))
        names = [mode.name for mode in own] or list(DEFAULT_MODES)
        if "modes" in table:
            names = self._texts(("modes",), table["modes"], 'modes = ["lexical", "vector"]')
        for name in names:
            if names.count(name) > 1:
                self._refuse(("modes",), f"{name!r} stands there twice; keep one of them.")
        try:
            modes = parse_modes(names, own)
        except InputError as error:
            self._refuse(("modes",), str(error))
        fused = [part for mode in own if isinstance(parts := mode.settings.get("modes"), list) for part in parts]
        for number, mode in enumerate(own):
            if mode.name not in names and mode.name not in fused:
                self._refuse(
                    ("mode", number),
                    f"{mode.name!r} is not in `modes`, so it would not run; add it, or remove this table.",
                )
        return modes, tuple(mode for mode in own if mode.name not in names)

    def _tables(self, value: Any) -> Iterator[Mode]:
        from assay.retrieval.modes import MODES

        if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
            self._refuse(("mode",), 'modes of your own are tables: [[mode]] with name = "..." and kind = "..." below.')
        seen: set[str] = set()
        for number, table in enumerate(value):
            path = ("mode", number)
            kind = table.get("kind", table.get("name"))
            if kind not in MODES:
                key = (*path, "kind" if "kind" in table else "name")
                self._refuse(key, f"no kind of mode called {kind!r}{_hint(str(kind), list(MODES))}")
            name = table.get("name", kind)
            if not isinstance(name, str) or not _MODE_NAME.fullmatch(name):
                self._refuse((*path, "name"), f"{name!r} cannot name a file; use letters, digits and . _ + - only.")
            if name in seen:
                self._refuse((*path, "name"), f"two modes are called {name!r}; name them apart.")
            seen.add(name)
            settings = {key: each for key, each in table.items() if key not in _MODE_KEYS}
            places = {key: line_of(self._lines, (*path, key)) for key in settings} | {"": line_of(self._lines, path)}
            yield Mode(name, kind, settings, self._source, {key: line for key, line in places.items() if line})
