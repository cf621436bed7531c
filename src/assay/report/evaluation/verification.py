"""A verification as text and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from assay.errors import show_id
from assay.records.verifying import Check, Verification
from assay.words import number_of

SCHEMA = "assay/verification/1"
_MARKS = {False: "DIFFERS", None: "unknown"}
_TITLES = {"manifest": "manifest", "output": "report files", "input": "input files"}
_LONGEST = 400  # characters of a check's details


def verification_as_text(verification: Verification) -> str:
    """One line per kind of check, followed by the checks that failed, and the verdict."""
    lines: list[str] = []
    for title, checks in groupby(verification.checks, key=_title):
        lines += _block(title, list(checks))
    return "\n".join([*lines, verdict(verification)]) + "\n"


def _block(title: str, checks: Sequence[Check]) -> Iterator[str]:
    others = [check for check in checks if not check.holds]
    total, holding = len(checks), len(checks) - len(others)
    count = f"{holding} of {number_of(total, 'check')}" if others else number_of(total, "check")
    yield f"{title}: {count} passed"
    width = max((len(show_id(check.name)) for check in others), default=0)
    for check in others:
        yield f"  {_MARKS[check.holds]:<8} {show_id(check.name):<{width}}  {show_id(check.words, _LONGEST)}"


def _title(check: Check) -> str:
    if check.kind == "number":
        return f"numbers of {show_id(check.run or '')}, recomputed"
    return _TITLES[check.kind]


def verdict(verification: Verification) -> str:
    """The result in one sentence."""
    total = len(verification.checks)
    if verification.holds:
        return f"Verified: all {total} checks passed."
    parts = list(_counts(verification))
    return f"Not verified: of {total} checks, {', '.join(parts)}."


def _counts(verification: Verification) -> Iterator[str]:
    for holds, words in ((False, "failed"), (None, "could not be run")):
        count = verification.count(holds)
        if count:
            yield f"{count} {words}"


def verification_as_json(verification: Verification) -> str:
    """All checks, passed or not."""
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
