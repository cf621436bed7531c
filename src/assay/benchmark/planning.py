"""Plan the modes of a recipe: which can run on this machine, and in which order. Searches nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from msgspec import Struct

from assay.benchmark.recipe import Mode, Recipe, parse_modes
from assay.errors import AssayError, InputError, MissingExtraError, MissingModelError, show_id
from assay.records.benchmark import MissingMode
from assay.retrieval.base import Progress, Retriever
from assay.retrieval.embedding import library_versions
from assay.retrieval.models import DEFAULT_MODEL, get_model
from assay.retrieval.modes import MODES, Hybrid, make_fused, make_retriever

Way = TypeVar("Way", Retriever, Hybrid)


class PlannedMode(Struct, frozen=True):
    """A mode that can run: with its own retriever, or as a fusion of earlier modes."""

    mode: Mode
    shown: bool  # False if it runs only as a part of a hybrid
    way: Retriever | Hybrid
    settings: dict[str, Any]  # everything that decides its result, except the collection

    @property
    def name(self) -> str:
        """Its name in tables and files."""
        return self.mode.name


class BenchmarkPlan(Struct, frozen=True):
    """The modes that run, parts before hybrids, and those that cannot."""

    modes: tuple[PlannedMode, ...]
    missing: tuple[MissingMode, ...]


def plan_modes(recipe: Recipe, progress: Progress | None = None) -> BenchmarkPlan:
    """Plan the modes of a recipe, and download missing models.

    A mode without its package or model is left out, as are hybrids of it. Invalid settings raise an error.
    """
    shown = {mode.name for mode in recipe.modes}
    planned: dict[str, PlannedMode] = {}
    missing: dict[str, MissingMode] = {}
    for mode in _parts_first(recipe):
        try:
            lacking = [part for part in parts_of(mode) if part in missing]
            if lacking:
                missing[mode.name] = _without_part(mode, missing[lacking[0]])
            else:
                way = _made(mode, progress)
                planned[mode.name] = PlannedMode(mode, mode.name in shown, way, dict(way.settings))
        except (MissingExtraError, MissingModelError) as error:
            missing[mode.name] = _missing(mode, str(error))
    order = [mode.name for mode in recipe.modes]
    return BenchmarkPlan(
        tuple(each for each in planned.values() if each.shown or _is_needed(each, planned.values())),
        tuple(missing[name] for name in order if name in missing),
    )


def parts_of(mode: Mode) -> tuple[str, ...]:
    """The parts of a hybrid; none for other modes."""
    return _fused(mode).modes if MODES[mode.kind].fuses else ()


def _parts_first(recipe: Recipe) -> list[Mode]:
    """All modes that must run, each after its parts."""
    known = {mode.name: mode for mode in (*recipe.modes, *recipe.parts)}
    found: dict[str, Mode] = {}

    def visit(mode: Mode, above: tuple[str, ...]) -> None:
        if mode.name in above:
            raise _refusal(mode, f"a mode cannot be a part of itself ({' -> '.join([*above, mode.name])}).", "modes")
        if mode.name in found:
            return
        for part in parts_of(mode):
            visit(_part(mode, part, known), (*above, mode.name))
        found[mode.name] = mode

    for mode in recipe.modes:
        visit(mode, ())
    return list(found.values())


def _part(mode: Mode, name: str, known: Mapping[str, Mode]) -> Mode:
    try:
        return parse_modes([name], list(known.values()))[0]
    except InputError as error:
        raise _refusal(mode, str(error), "modes") from None


def _made(mode: Mode, progress: Progress | None) -> Retriever | Hybrid:
    kind = MODES[mode.kind]
    if kind.fuses:
        return _fused(mode)
    way = _checked(mode, make_retriever)
    if kind.needs_model:
        library_versions()  # fail before downloading if the package is missing
        get_model(str(mode.settings.get("model", DEFAULT_MODEL)), progress)
    return way


def _fused(mode: Mode) -> Hybrid:
    return _checked(mode, make_fused)


def _checked(mode: Mode, make: Callable[[str, Mapping[str, Any]], Way]) -> Way:
    """The retriever or fusion of a mode; errors name the setting at fault."""
    try:
        return make(mode.kind, mode.settings)
    except MissingExtraError:
        raise
    except AssayError as error:
        raise _refusal(mode, str(error), _to_blame(mode, make, str(error))) from None


def _to_blame(mode: Mode, make: Callable[[str, Mapping[str, Any]], Way], complaint: str) -> str | None:
    """The setting without which this error would not occur."""
    for key in mode.settings:
        try:
            make(mode.kind, {name: value for name, value in mode.settings.items() if name != key})
        except AssayError as error:
            if str(error) == complaint:
                continue
        return key
    return None


def _refusal(mode: Mode, complaint: str, key: str | None) -> InputError:
    """An error with the name and line of the setting, or else the line of the mode's table."""
    named = f"{key}: {complaint}" if key in mode.settings and not complaint.startswith(f"{key} ") else complaint
    line = mode.lines.get(key or "", mode.lines.get(""))
    return InputError(f"mode {show_id(mode.name)!r}: {named}", source=mode.source, line=line)


def _missing(mode: Mode, words: str) -> MissingMode:
    """Split an error into reason and remedy: the last of several lines, or the install command."""
    *lines, last = [line.strip() for line in words.splitlines()] or [""]
    if lines:
        return MissingMode(name=mode.name, kind=mode.kind, reason=" ".join(lines), remedy=last)
    reason, colon, command = last.partition(": pip install ")
    return MissingMode(
        name=mode.name,
        kind=mode.kind,
        reason=f"{reason}." if colon else last,
        remedy=f"pip install {command}" if colon else "",
    )


def _without_part(mode: Mode, part: MissingMode) -> MissingMode:
    reason = f"its part {part.name} cannot run."
    return MissingMode(name=mode.name, kind=mode.kind, reason=reason, remedy="")


def _is_needed(part: PlannedMode, planned: Iterable[PlannedMode]) -> bool:
    return any(part.name in parts_of(other.mode) for other in planned)
