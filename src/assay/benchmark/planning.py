"""Plan the modes of a recipe: which can run on this machine, and in which order. Searches nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from assay.benchmark.recipe import Mode, Recipe, parse_modes
from assay.errors import (
    AssayError,
    InputError,
    MissingExtraError,
    MissingModelError,
    MissingServerError,
    RetrievalError,
    show_id,
)
from assay.records.benchmark import MissingMode
from assay.retrieval.base import Progress
from assay.retrieval.modes import MODES, OF, make_node
from assay.retrieval.nodes import Node


class PlannedMode(Struct, frozen=True):
    """A mode that can run, once those whose runs it takes have run."""

    mode: Mode
    shown: bool  # False if it runs only because others stand on it
    node: Node
    settings: dict[str, Any]  # everything that decides its result, except the collection

    @property
    def name(self) -> str:
        """Its name in tables and files."""
        return self.mode.name


class BenchmarkPlan(Struct, frozen=True):
    """The modes that run, each after those it stands on, and the modes that cannot."""

    modes: tuple[PlannedMode, ...]
    missing: tuple[MissingMode, ...]


def plan_modes(recipe: Recipe, progress: Progress | None = None) -> BenchmarkPlan:
    """Plan the modes of a recipe, and download missing models.

    A mode without its package, model or server is left out, as are those that stand on it. Invalid settings raise an error.
    """
    modes = _with_inputs(recipe.modes)
    shown = {mode.name for mode in modes}
    planned: dict[str, PlannedMode] = {}
    missing: dict[str, MissingMode] = {}
    for mode, node in _inputs_first(modes, recipe.parts):
        try:
            lacking = [name for name in node.inputs if name in missing]
            if lacking:
                missing[mode.name] = _without_input(mode, missing[lacking[0]])
            else:
                node.prepare(progress)
                planned[mode.name] = PlannedMode(mode, mode.name in shown, node, dict(node.settings))
        except (MissingExtraError, MissingModelError, MissingServerError) as error:
            missing[mode.name] = _missing(mode, str(error))
        except RetrievalError as error:  # such as a model of another kind
            raise _refusal(mode, str(error), "model") from None
    return BenchmarkPlan(
        tuple(each for each in planned.values() if each.shown or _is_needed(each, planned.values())),
        tuple(missing[mode.name] for mode in modes if mode.name in missing),
    )


def _with_inputs(modes: Sequence[Mode]) -> list[Mode]:
    """The same modes; a reranker that does not say what it reranks stands on the mode before it."""
    found: list[Mode] = []
    for mode in modes:
        implied = MODES[mode.kind].role == "reranker" and OF not in mode.settings and found
        found.append(replace(mode, settings={OF: found[-1].name, **mode.settings}) if implied else mode)
    return found


def _inputs_first(modes: Sequence[Mode], parts: Sequence[Mode]) -> list[tuple[Mode, Node]]:
    """All modes that must run, each after those whose runs it takes."""
    known = {mode.name: mode for mode in (*modes, *parts)}
    found: dict[str, tuple[Mode, Node]] = {}

    def visit(mode: Mode, above: tuple[str, ...]) -> None:
        if mode.name in above:
            around = " -> ".join([*above, mode.name])
            raise _refusal(mode, f"a mode cannot stand on itself ({around}).", _input_key(mode))
        if mode.name in found:
            return
        node = _made(mode)
        for name in node.inputs:
            visit(_input(mode, name, known), (*above, mode.name))
        found[mode.name] = mode, node

    for mode in modes:
        visit(mode, ())
    return list(found.values())


def _input(mode: Mode, name: str, known: Mapping[str, Mode]) -> Mode:
    try:
        return parse_modes([name], list(known.values()))[0]
    except InputError as error:
        raise _refusal(mode, str(error), _input_key(mode)) from None


def _input_key(mode: Mode) -> str:
    """The setting that names the inputs of a mode."""
    return OF if MODES[mode.kind].role == "reranker" else "modes"


def _made(mode: Mode) -> Node:
    """The node of a mode; errors name the setting at fault."""
    try:
        return make_node(mode.kind, mode.settings)
    except MissingExtraError:
        raise
    except AssayError as error:
        raise _refusal(mode, str(error), _to_blame(mode, str(error))) from None


def _to_blame(mode: Mode, complaint: str) -> str | None:
    """The setting without which this error would not occur: the one it begins with, if any.

    Without a setting that is needed, such as `of`, there is another error, so that one is blamed last.
    """
    needed = None
    for key in sorted(mode.settings, key=lambda key: not complaint.startswith(f"{key} ")):
        try:
            make_node(mode.kind, {name: value for name, value in mode.settings.items() if name != key})
        except AssayError as error:
            if str(error) != complaint:
                needed = needed or key
            continue
        return key
    return needed


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


def _without_input(mode: Mode, part: MissingMode) -> MissingMode:
    reason = f"it stands on {part.name}, which cannot run."
    return MissingMode(name=mode.name, kind=mode.kind, reason=reason, remedy="")


def _is_needed(mode: PlannedMode, planned: Iterable[PlannedMode]) -> bool:
    return any(mode.name in other.node.inputs for other in planned)
