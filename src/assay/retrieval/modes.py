"""Modes by name: the kinds there are, and how a node is made from the settings in a recipe. Engines load on use."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from assay.errors import FusionError, RetrievalError, did_you_mean
from assay.fusion.registry import find_method
from assay.plugins import load_installed
from assay.retrieval import rerankers, retrievers
from assay.retrieval.base import KINDS, ROLES, ModeKind, Retriever, Role
from assay.retrieval.live import HttpMode, ProgramMode
from assay.retrieval.nodes import DEFAULT_TOP, Hybrid, Node, Reranking, Retrieving, RunFile
from assay.tables import Run

for _folder in (retrievers, rerankers):
    for _module in pkgutil.iter_modules(_folder.__path__):
        importlib.import_module(f"{_folder.__name__}.{_module.name}")
load_installed("assay.retrievers")
KINDS["hybrid"] = ModeKind("hybrid", "fusion of the runs of other modes", Hybrid, role="fusion")
KINDS["run"] = ModeKind("run", "a run file that another system has made", RunFile, role="run")
KINDS["http"] = ModeKind("http", "a server that is in use, asked over HTTP", HttpMode, role="run", extra="live")
KINDS["command"] = ModeKind("command", "a program that prints documents", ProgramMode, role="run")
MODES = KINDS  # complete from here on; plug-ins may add to it
for _kind in sorted(KINDS.values(), key=lambda kind: (ROLES.index(kind.role), kind.name)):  # as lists show them
    KINDS[_kind.name] = KINDS.pop(_kind.name)

OF, TOP = "of", "top"  # settings of every reranker


def find_mode(name: str) -> ModeKind:
    """The mode of this name."""
    if name not in MODES:
        raise RetrievalError(
            f"there is no mode {name!r}{did_you_mean(name, MODES) or '.'} There are {', '.join(MODES)}."
        )
    return MODES[name]


def make_node(mode: str, settings: Mapping[str, Any] | None = None) -> Node:
    """The node of a mode, with its settings checked.

    >>> make_node("hybrid", {"modes": ["bm25s", "vector"]}).inputs
    ('bm25s', 'vector')
    """
    found = find_mode(mode)
    return _MAKERS[found.role](found, dict(settings or {}))


def make_retriever(mode: str, settings: Mapping[str, Any] | None = None) -> Retriever:
    """The retriever of a mode; any other kind of mode is an error.

    >>> make_retriever("bm25s", {"k1": 0.9, "b": 0.4}).settings["k1"]
    0.9
    """
    found = find_mode(mode)
    if found.role != "retriever":
        raise RetrievalError(f"{mode} is not a retriever; it takes the runs of other modes.")
    made: Retriever = _made(found, dict(settings or {}))
    return made


def make_fused(mode: str, settings: Mapping[str, Any] | None = None) -> Hybrid:
    """The fusion of a hybrid mode, with its settings checked, including the parameters of the method.

    >>> make_fused("hybrid", {"modes": ["bm25s", "vector"], "k": 20}).parameters
    {'k': 20}
    """
    found = find_mode(mode)
    if found.role != "fusion":
        raise RetrievalError(f"{mode} does not fuse other modes.")
    return _hybrid(found, dict(settings or {}))


def settings_of(kind: ModeKind) -> dict[str, Any]:
    """The settings a recipe may give a kind of mode, with their defaults."""
    own = kind.defaults
    if kind.role == "reranker":
        return {OF: None, TOP: DEFAULT_TOP, **own}
    if kind.role == "fusion":
        return {name: value for name, value in own.items() if name != "parameters"}
    return own


def _retrieving(kind: ModeKind, given: dict[str, Any]) -> Retrieving:
    return Retrieving(_made(kind, given))


def _reranking(kind: ModeKind, given: dict[str, Any]) -> Reranking:
    _refuse_unknown(kind, given, settings_of(kind))
    of, top = given.pop(OF, None), given.pop(TOP, DEFAULT_TOP)
    if not isinstance(of, str) or not of:
        raise RetrievalError(f'{OF} cannot be {of!r}; name the mode whose documents are reranked, such as "hybrid".')
    if not isinstance(top, int) or isinstance(top, bool) or top < 1:
        raise RetrievalError(f"{TOP} cannot be {top!r}; it takes a whole number of at least 1.")
    made: Any = kind.made_of(**given)
    return Reranking(made, of, top)


def _run(kind: ModeKind, given: dict[str, Any]) -> Node:
    node: Node = _made(kind, given)
    return node


def _hybrid(kind: ModeKind, given: dict[str, Any]) -> Hybrid:
    method = find_method(given.get("method", "rrf"))
    _refuse_unknown(kind, given, {**settings_of(kind), **method.defaults})
    modes = given.get("modes", Hybrid().modes)
    if not isinstance(modes, (list, tuple)) or not modes or not all(isinstance(name, str) for name in modes):
        raise RetrievalError(f'modes cannot be {modes!r}; it takes a list of names, such as ["lexical", "vector"].')
    weights = given.get("weights")
    if weights is not None and (not isinstance(weights, (list, tuple)) or len(weights) != len(modes)):
        raise FusionError(
            f"weights cannot be {weights!r}; it takes a list of numbers, one for each of {', '.join(modes)}."
        )
    fused = Hybrid(
        tuple(modes),
        method.name,
        given.get("norm"),
        None if weights is None else tuple(weights),
        {name: value for name, value in given.items() if name in method.defaults},
    )
    fused.fuse({name: Run.from_columns([], [], [], name=name) for name in modes})  # raises the errors of fuse
    return fused


_MAKERS: dict[Role, Callable[[ModeKind, dict[str, Any]], Node]] = {
    "retriever": _retrieving,
    "fusion": _hybrid,
    "reranker": _reranking,
    "run": _run,
}


def _made(kind: ModeKind, given: dict[str, Any]) -> Any:
    _refuse_unknown(kind, given, settings_of(kind))
    fields = {field.encode_name: field.name for field in msgspec.structs.fields(kind.made_of)}
    return kind.made_of(**{fields[name]: value for name, value in given.items()})


def _refuse_unknown(mode: ModeKind, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RetrievalError(f"{mode.name} has no setting {name!r}{hint or '.'} It has {', '.join(known)}.")
