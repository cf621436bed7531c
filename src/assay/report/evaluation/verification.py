"""A verification as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from assay.errors import show_id
from assay.records.verifying import Check, Verification
from assay.words import number_of, plural

SCHEMA = "assay/verification/1"
_MARKS = {False: "DIFFERS", None: "unknown"}
_TITLES = {"manifest": "manifest", "output": "files of the report", "input": "files that were evaluated"}
_LONGEST = 400  # characters of what there is to a check


def verification_as_text(verification: Verification) -> str:
    """A line for each kind of check, below it every check that does not hold, and the verdict."""
    lines: list[str] = []
    for title, checks in groupby(verification.checks, key=_title):
        lines += _block(title, list(checks))
    return "\n".join([*lines, verdict(verification)]) + "\n"


def _block(title: str, checks: Sequence[Check]) -> Iterator[str]:
    others = [check for check in checks if not check.holds]
    total, holding = len(checks), len(checks) - len(others)
    count = f"{holding} of {total} checks" if others else number_of(total, "check")
    yield f"{title}: {count} {plural('{holds|hold}', holding)}"
    width = max((len(show_id(check.name)) for check in others), default=0)
    for check in others:
        yield f"  {_MARKS[check.holds]:<8} {show_id(check.name):<{width}}  {show_id(check.words, _LONGEST)}"


def _title(check: Check) -> str:
    if check.kind == "number":
        return f"numbers of {show_id(check.run or '')}, computed anew"
    return _TITLES[check.kind]


def verdict(verification: Verification) -> str:
    """What comes of it, in one sentence."""
    total = len(verification.checks)
    if verification.holds:
        return f"Everything holds: {total} of {total} checks."
    parts = list(_counts(verification))
    return f"Not everything holds: of {total} checks, {', '.join(parts)}."


def _counts(verification: Verification) -> Iterator[str]:
    for holds, words in ((False, "differ"), (None, "could not be made")):
        count = verification.count(holds)
        if count:
            yield f"{count} {words if count > 1 or holds is None else 'differs'}"


def verification_as_json(verification: Verification) -> str:
    """All checks."""
    document = {
        "schema": SCHEMA,
        "folder": verification.folder,
        "experiment": verification.experiment,
        "created": verification.created,
        "holds": verification.holds,
        "checks": [
            {"kind": c.kind, "run": c.run, "name": c.name, "holds": c.holds, "words": c.words}
            for c in verification.checks
        ],
    }
    return json.dumps(document, indent=2) + "\n"


VERIFICATION_RENDERERS: dict[str, Callable[[Verification], str]] = {
    "table": verification_as_text,
    "json": verification_as_json,
}
