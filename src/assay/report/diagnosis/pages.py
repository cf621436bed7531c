"""The page of a finding, for the terminal and the docs."""

from __future__ import annotations

from collections.abc import Iterable

from assay.diagnosis.registry import Look
from assay.report.drawing.terminal import terminal_width, wrapped

_SECTIONS = ("Why", "Measured", "Limits")


def look_as_text(look: Look) -> str:
    """The page of a finding for the terminal."""
    width = terminal_width()
    parts = [wrapped(f"{look.code}  {look.title} ({look.area})", width), "\n"]
    parts += [wrapped(f"{name}: {text}", width) for name, text in _sections(look.page)]
    return "".join([*parts, "\n", wrapped(f"What to do: {look.advice}", width)])


def look_as_markdown(look: Look) -> str:
    """The page of a finding for the docs."""
    parts = [f"# {look.code}: {look.title}", f"A finding of `assay diagnose`, in the area {look.area}."]
    parts += [f"**{name}.** {text}" for name, text in _sections(look.page)]
    return "\n\n".join([*parts, f"**What to do.** {look.advice}"]) + "\n"


def looks_as_text(looks: Iterable[Look]) -> str:
    """One line per finding."""
    width = terminal_width()
    return "".join(wrapped(look.title, width, f"{look.code}  {look.area:<8} ") for look in looks)


def _sections(lines: Iterable[str]) -> list[tuple[str, str]]:
    """Why, Measured and Limits, each as one paragraph."""
    found: list[tuple[str, str]] = []
    for line in lines:
        name, colon, rest = line.partition(": ")
        if colon and name in _SECTIONS:
            found.append((name, rest))
        elif line.strip() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
    return found
