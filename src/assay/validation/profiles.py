"""What evaluation tracks require of a run, by name."""

from __future__ import annotations

from msgspec import Struct

from assay.errors import InputError, did_you_mean


class Profile(Struct, frozen=True):
    """The requirements of a track: rules that become errors, and limits."""

    about: str
    max_depth: int | None = None
    six_columns: bool = False
    errors: frozenset[str] = frozenset()  # codes of rules that become errors


PROFILES = {
    "trec-rag": Profile(
        "TREC RAG: not empty, all queries answered, six columns, unique ranks, at most 100 documents per query",
        max_depth=100,
        six_columns=True,
        errors=frozenset({"RUN006", "RUN021", "RUN022", "RUN050", "RUN052", "RUN070"}),
    ),
}


def find_profile(name: str) -> Profile:
    """The profile with this name."""
    if name not in PROFILES:
        hint = did_you_mean(name, PROFILES) or f"; available: {', '.join(PROFILES)}."
        raise InputError(f"no profile called {name!r}{hint}")
    return PROFILES[name]
