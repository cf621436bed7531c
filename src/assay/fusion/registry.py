"""How fusion methods and normalisations are declared: one decorated function each.

    @method("rrf", missing="adds nothing", paper="...", uses="ranks")
    def rrf(pooled, *, k: float = 60) -> Floats:
        ...

A method gives one score for each pair of query and document; users can set its keyword-only parameters.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from msgspec import Struct, field

from assay.errors import FusionError, did_you_mean
from assay.fusion.pooled import PooledRuns
from assay.tables import Floats

Compute: TypeAlias = Callable[..., Floats]
Normalise: TypeAlias = Callable[[PooledRuns], PooledRuns]
Uses: TypeAlias = Literal["scores", "ranks"]
Weights: TypeAlias = Literal["optional", "required", "none"]


class MethodParameter(Struct, frozen=True):
    """A number that a method takes: its meaning and the allowed values."""

    meaning: str
    low: float = -math.inf
    high: float = math.inf
    open_ends: bool = False  # the bounds themselves are not allowed

    @property
    def allowed(self) -> str:
        """The allowed values in words."""
        if self.high == math.inf:
            return f"a number from {self.low:g}"
        first, then = ("between", "and") if self.open_ends else ("from", "to")
        return f"a number {first} {self.low:g} {then} {self.high:g}"

    def allows(self, value: float) -> bool:
        """Whether this value is allowed."""
        within = self.low < value < self.high if self.open_ends else self.low <= value <= self.high
        return within and math.isfinite(value)


class Method(Struct, frozen=True, eq=False, dict=True):
    """A fusion method with all its properties."""

    name: str
    compute: Compute
    missing: str  # how a document counts in a run that lacks it
    paper: str
    uses: Uses
    weights: Weights
    runs: int | None  # how many runs it takes; None: any number
    zero: bool  # a document that a run lacks counts as if its score were 0
    parameters: Mapping[str, MethodParameter]
    aliases: tuple[str, ...] = ()

    @cached_property
    def defaults(self) -> dict[str, float]:
        """The parameters and their defaults."""
        given = list(inspect.signature(self.compute).parameters.values())[1:]
        return {parameter.name: parameter.default for parameter in given}

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    def checked(self, given: Mapping[str, Any]) -> dict[str, float]:
        """All parameters: the given ones, checked, and the defaults of the others."""
        for name, value in given.items():
            if name not in self.parameters:
                takes = ", ".join(self.parameters) or "no parameters"
                hint = did_you_mean(name, self.parameters)
                raise FusionError(f"{self.name} has no parameter {name!r}{hint or '.'} It takes {takes}.")
            number = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
            if not number or not self.parameters[name].allows(float(value)):
                raise FusionError(f"{self.name}: {name} cannot be {value!r}; it takes {self.parameters[name].allowed}.")
        return self.defaults | dict(given)


class Normalisation(Struct, frozen=True, eq=False):
    """A way to make the scores of several runs comparable, within each query of each run."""

    name: str
    compute: Normalise
    paper: str
    aliases: tuple[str, ...] = field(default=())

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]


Entry = TypeVar("Entry", bound=Method | Normalisation)

METHODS: dict[str, Method] = {}
NORMALISATIONS: dict[str, Normalisation] = {}


def method(
    name: str,
    *,
    missing: str,
    paper: str,
    uses: Uses = "scores",
    weights: Weights = "none",
    runs: int | None = None,
    zero: bool = False,
    parameters: Mapping[str, MethodParameter] | None = None,
    aliases: tuple[str, ...] = (),
) -> Callable[[Compute], Compute]:
    """Register a function as a fusion method."""

    def register(compute: Compute) -> Compute:
        METHODS[name] = Method(name, compute, missing, paper, uses, weights, runs, zero, parameters or {}, aliases)
        return compute

    return register


def normalisation(name: str, *, paper: str, aliases: tuple[str, ...] = ()) -> Callable[[Normalise], Normalise]:
    """Register a function as a normalisation."""

    def register(compute: Normalise) -> Normalise:
        NORMALISATIONS[name] = Normalisation(name, compute, paper, aliases)
        return compute

    return register


def find_method(name: str) -> Method:
    """The method of this name, ignoring case, - and _: CombSUM, comb_sum.

    >>> from assay.fusion import methods
    >>> find_method("Comb_SUM").name
    'combsum'
    """
    return _find(name, METHODS, "fusion method")


def find_normalisation(name: str | None) -> Normalisation:
    """The normalisation of this name; None is 'none'."""
    return _find("none" if name is None else name, NORMALISATIONS, "normalisation")


def _find(name: str, known: Mapping[str, Entry], what: str) -> Entry:
    by_fold: dict[str, Entry] = {}
    for entry in known.values():
        by_fold |= dict.fromkeys(map(_folded, (entry.name, *entry.aliases)), entry)
    if not isinstance(name, str) or _folded(name) not in by_fold:
        hint = did_you_mean(name, known) if isinstance(name, str) else ""
        raise FusionError(f"no {what} called {name!r}{hint or '.'} Choose from {', '.join(known)}.")
    return by_fold[_folded(name)]


def _folded(name: str) -> str:
    return name.casefold().replace("-", "").replace("_", "")
