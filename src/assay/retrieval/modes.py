"""Search modes by name. Engines are loaded only on use."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, field

from assay.errors import FusionError, RetrievalError, did_you_mean
from assay.fusion import fuse
from assay.fusion.registry import find_method, find_normalisation
from assay.retrieval import retrievers
from assay.retrieval.base import RETRIEVERS, ModeKind, Retriever
from assay.tables import Run

_FUSED_MODES = ("lexical", "vector")


class Hybrid(Struct, frozen=True):
    """A fusion of the runs of other modes."""

    modes: tuple[str, ...] = _FUSED_MODES
    method: str = "rrf"
    norm: str | None = None
    weights: tuple[float, ...] | None = None
    parameters: Mapping[str, float] = field(default_factory=dict)  # of the method; rrf has k

    @property
    def settings(self) -> Mapping[str, object]:
        """Everything besides the runs that affects the result, with defaults, as plain JSON values."""
        return {
            "engine": "fusion",
            "modes": list(self.modes),
            "method": find_method(self.method).name,
            "norm": find_normalisation(self.norm).name,
            "weights": None if self.weights is None else list(self.weights),
            **find_method(self.method).checked(self.parameters),
        }

    def fuse(self, runs: Mapping[str, Run], depth: int | None = None) -> Run:
        """Fuse the runs of its modes, looked up by name."""
        missing = [mode for mode in self.modes if mode not in runs]
        if missing:
            raise RetrievalError(f"no run of {', '.join(missing)} to fuse; there are {', '.join(runs)}.")
        chosen = [runs[mode] for mode in self.modes]
        options: dict[str, Any] = {"norm": self.norm, "weights": self.weights, **self.parameters}
        fused = fuse(chosen, self.method, depth=depth, **options)
        return fused.named("hybrid")


for _module in pkgutil.iter_modules(retrievers.__path__):
    importlib.import_module(f"{retrievers.__name__}.{_module.name}")

MODES: dict[str, ModeKind] = {
    **dict(sorted(RETRIEVERS.items())),
    "hybrid": ModeKind("hybrid", "fusion of the runs of other modes", Hybrid, fuses=True),
}


def find_mode(name: str) -> ModeKind:
    """The mode of this name."""
    if name not in MODES:
        raise RetrievalError(
            f"there is no mode {name!r}{did_you_mean(name, MODES) or '.'} There are {', '.join(MODES)}."
        )
    return MODES[name]


def make_retriever(mode: str, settings: Mapping[str, Any] | None = None) -> Retriever:
    """The retriever of a mode; a hybrid is an error.

    >>> make_retriever("bm25s", {"k1": 0.9, "b": 0.4})
    BM25s(k1=0.9, b=0.4, method='lucene', delta=0.5, language='english')
    """
    found = find_mode(mode)
    if found.fuses:
        raise RetrievalError(f"{mode} is not a retriever; it fuses the runs of other modes.")
    given = dict(settings or {})
    _refuse_unknown(found, given, found.defaults)
    made: Any = found.made_of(**given)
    return made  # type: ignore[no-any-return]


def make_fused(mode: str, settings: Mapping[str, Any] | None = None) -> Hybrid:
    """The fusion of a hybrid mode, with its settings checked, including the parameters of the method.

    >>> make_fused("hybrid", {"modes": ["bm25s", "vector"], "k": 20}).parameters
    {'k': 20}
    """
    found = find_mode(mode)
    if not found.fuses:
        raise RetrievalError(f"{mode} does not fuse other modes.")
    given = dict(settings or {})
    method = find_method(given.get("method", "rrf"))
    of_all = {name: value for name, value in found.defaults.items() if name != "parameters"}
    _refuse_unknown(found, given, {**of_all, **method.defaults})
    modes = given.get("modes", _FUSED_MODES)
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


def _refuse_unknown(mode: ModeKind, given: Mapping[str, Any], known: Mapping[str, Any]) -> None:
    for name in given:
        if name not in known:
            hint = did_you_mean(name, known)
            raise RetrievalError(f"{mode.name} has no setting {name!r}{hint or '.'} It has {', '.join(known)}.")
