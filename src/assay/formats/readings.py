"""How to read a file: what a reader must be told because the content does not show it."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import force_setattr, replace

from assay.formats.numbers import GradeMap, checked_grades

AUTO = "auto"


class Reading(Struct, frozen=True):
    """How to read qrels or a run.

    >>> Reading(grades={"E": 3}).grades
    {'E': 3.0}
    """

    input_format: str = AUTO
    grades: GradeMap = {}  # letter -> grade

    def __post_init__(self) -> None:
        if self.grades:
            force_setattr(self, "grades", checked_grades(self.grades))

    def in_format(self, name: str) -> Reading:
        """The same for a file in this format."""
        return replace(self, input_format=name)


class Readings(Struct, frozen=True):
    """How to read the qrels and the runs of one evaluation."""

    qrels: Reading = Reading()
    run: Reading = Reading()
