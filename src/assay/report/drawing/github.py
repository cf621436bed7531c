"""GitHub annotations for the lines of a pull request."""

from __future__ import annotations

from assay.errors import show_id


def annotation(level: str, words: str, **place: str) -> str:
    """One annotation: its level (error, warning, notice), text, and file, line and title.

    >>> annotation("error", "100% wrong", file="a,b.run", line="3", title="RUN004: score")
    '::error file=a%2Cb.run,line=3,title=RUN004%3A score::100%25 wrong'
    """
    shown = ",".join(f"{name}={_property(value)}" for name, value in place.items())
    return f"::{level} {shown}::{_data(words)}"


# Escapes: https://docs.github.com/actions/reference/workflow-commands-for-github-actions


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(show_id(text, 10_000)).replace(":", "%3A").replace(",", "%2C")
