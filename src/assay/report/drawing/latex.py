"""Text in LaTeX."""

from __future__ import annotations

_ESCAPES = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        **{character: f"\\{character}" for character in "&%$#_"},
        **{
            character: f"{{{character}}}" for character in "[]*"
        },  # directly after \\ they would be read as its arguments
    }
)


def escape(text: str) -> str:
    r"""Escape text so that LaTeX prints it unchanged.

    >>> escape("a_b"), escape("[a]")
    ('a\\_b', '{[}a{]}')
    """
    return text.translate(_ESCAPES)
