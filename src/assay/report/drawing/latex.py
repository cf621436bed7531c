"""Texts in LaTeX."""

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
        **{character: f"{{{character}}}" for character in "[]*"},  # after the end of a row they would belong to it
    }
)


def escape(text: str) -> str:
    r"""Text that LaTeX prints as it is.

    >>> escape("a_b"), escape("[a]")
    ('a\\_b', '{[}a{]}')
    """
    return text.translate(_ESCAPES)
