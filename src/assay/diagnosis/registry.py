"""The registry of looks, the checks of a diagnosis. A new look is a new function; pages and lists are made from them.

The function takes a `Material` and returns a `LookResult`, or `CannotLook` with what it needs. Its docstring is the
page that `assay explain` prints: the title, then paragraphs "Why", "Measured", "Limits".
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from msgspec import Struct

from assay.diagnosis.model import AREAS, Area, DiagnosisFinding, Evidence, NotLooked, Severity, Table
from assay.errors import AssayError, InputError, did_you_mean

if TYPE_CHECKING:  # pages do not need it, and it is slow to import
    from assay.diagnosis.material import Material


class LookResult(Struct, frozen=True):
    """The result of a look; code, title and default advice come from its registration."""

    severity: Severity
    measured: str
    sure: str
    evidence: tuple[Evidence, ...] = ()
    tables: tuple[Table, ...] = ()
    advice: str | None = None  # if not the default


class CannotLook(Struct, frozen=True):
    """Why a look was not possible."""

    reason: str


ONLY_RELEVANT = CannotLook("the qrels list relevant documents only, so whether a document is judged says nothing")


class Look(Struct, frozen=True):
    """One check."""

    code: str
    area: Area
    advice: str
    function: Callable[[Material], LookResult | CannotLook]

    @property
    def page(self) -> list[str]:
        """The lines of the docstring."""
        return (inspect.getdoc(self.function) or "").splitlines()

    @property
    def title(self) -> str:
        """The first line of the page."""
        return self.page[0].rstrip(".")

    def __call__(self, material: Material) -> DiagnosisFinding | NotLooked:
        """The finding, or why the look was not possible."""
        found = self.function(material)
        if isinstance(found, CannotLook):
            return NotLooked(self.code, self.area, self.title, found.reason)
        usual = "" if found.severity == "fine" else self.advice
        return DiagnosisFinding(
            code=self.code,
            area=self.area,
            severity=found.severity,
            title=self.title,
            measured=found.measured,
            sure=found.sure,
            advice=usual if found.advice is None else found.advice,
            evidence=found.evidence,
            tables=found.tables,
        )


LOOKS: dict[str, Look] = {}


def look(code: str, area: Area, *, advice: str) -> Callable[[Callable[[Material], LookResult | CannotLook]], Look]:
    """Register a function as the look with this code."""

    def register(function: Callable[[Material], LookResult | CannotLook]) -> Look:
        if code in LOOKS:
            raise ValueError(f"two looks have the code {code}")
        LOOKS[code] = Look(code, area, advice, function)
        return LOOKS[code]

    return register


def all_looks() -> list[Look]:
    """All looks, by code."""
    from assay.diagnosis import (  # noqa: F401  (import registers their looks)
        bounds,
        contributions,
        gaming,
        holes,
        labels,
        position,
        query_sets,
        repeats,
    )

    return [LOOKS[code] for code in sorted(LOOKS)]


def find_look(code: str) -> Look:
    """The look with this code."""
    all_looks()
    known = LOOKS.get(code.strip().upper())
    if known is None:
        hint = did_you_mean(code.upper(), LOOKS) or "; `assay explain` lists them."
        raise InputError(f"no finding has the code {code!r}{hint}")
    return known


def chosen_areas(names: Iterable[str] | None) -> tuple[Area, ...]:
    """The requested areas, or all of them."""
    if names is None:
        return AREAS
    asked = list(names)
    for name in asked:
        if name not in AREAS:
            hint = did_you_mean(name, AREAS) or f"; there are {', '.join(AREAS)}."
            raise AssayError(f"no area called {name!r}{hint}")
    return tuple(area for area in AREAS if area in asked)
