"""Every registered measure in several settings: all laws apply to a new measure as soon as it is registered."""

from __future__ import annotations

from assay.measures import Measure, definitions
from assay.measures.core import Definition

SETTINGS = {"cutoff": (1, 3, 10), "recall": (0.0, 0.35, 1.0), "multiple": (0.4, 2.0)}
VARIANTS = {
    "rel": (2,),
    "gain": ("exp", "binary", {1: 3, 2: 9, 3: 4.5}),
    "judged_only": (True,),
    "norm": ("cutoff",),
    "ideal": ("retrieved",),
    "among": ("retrieved",),
    "filled": (False,),
    "alpha": (0.0, 0.3, 1.0),
    "beta": (0.8,),
    "p": (0.5,),
    "rounding": ("nearest",),
    "T": (2.5,),
    "min_rel": (1,),
    "max_rel": (2,),
    "depth": (5,),
    "residual": (True,),
    "normalize": (False,),
}


def plain(definition: Definition) -> list[Measure]:
    """The measure with its default conventions, at several cutoffs."""
    measure = Measure(definition.name)
    if definition.at is None:
        return [measure]
    at = [measure @ value for value in SETTINGS[definition.at]]
    return at if definition.at in definition.required else [measure, *at]


def every(definition: Definition) -> list[Measure]:
    """The measure under all its conventions, one changed at a time."""
    varied = [
        measure(**{name: value})
        for measure in plain(definition)
        for name in definition.takes
        for value in VARIANTS.get(name, ())
    ]
    return plain(definition) + varied


PLAIN = [measure for definition in definitions() for measure in plain(definition)]
EVERY = [measure for definition in definitions() for measure in every(definition)]
REWARDING = [measure for measure in PLAIN if measure.definition.rewards]
