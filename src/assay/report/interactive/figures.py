"""A value on a page: its name, four decimals, and the difference to the state before."""

from __future__ import annotations

import math

from msgspec import Struct

from assay.report.drawing.words import NONE

DECIMALS = 4
ROUNDING = 1e-12  # smaller differences are none


class Figure(Struct, frozen=True):
    """A value and how it is shown."""

    name: str  # for people
    measure: str  # for the library
    value: float
    shown: str
    change: float = 0.0  # from the state before
    change_shown: str = ""  # signed; empty if nothing changed
    note: str = ""  # why there is no value


def figure(name: str, measure: str, value: float, before: float | None = None, note: str = "") -> Figure:
    """A value, with its difference to the one before.

    >>> figure("Precision", "P@5", 0.8, 0.6).change_shown
    '+0.2000'
    >>> figure("Precision", "P@5", 0.8, 0.8).change_shown
    ''
    """
    change = 0.0 if before is None or math.isnan(value) or math.isnan(before) else value - before
    if abs(change) < ROUNDING:
        change = 0.0
    return Figure(name, measure, value, shown(value), change, signed(change) if change else "", note)


def shown(value: float) -> str:
    """A value with four decimals.

    >>> shown(0.96859), shown(float("nan"))
    ('0.9686', '–')
    """
    return NONE if math.isnan(value) else f"{value:.{DECIMALS}f}"


def signed(change: float) -> str:
    """A difference with its sign; one that is smaller than can be shown says so.

    >>> signed(0.031), signed(-0.25), signed(0.00001), signed(0.0)
    ('+0.0310', '-0.2500', '+<0.0001', '0')
    """
    if math.isnan(change):
        return NONE
    if abs(change) < ROUNDING:
        return "0"
    text = f"{change:+.{DECIMALS}f}"
    return text if float(text) else f"{text[0]}<0.0001"
