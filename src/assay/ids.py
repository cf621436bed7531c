"""Ids that programs write differently: the ways to rewrite them, and the one that makes two ids equal. Reads no files."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator
from typing import Literal, TypeAlias

from msgspec import Struct

from assay.errors import show_id

Side: TypeAlias = Literal["ours", "theirs", "both"]

PREFIX = "strip-prefix="
# No-break and other wide spaces, zero-width characters and marks, soft hyphens and C1 controls: they look like a space or
# like nothing, but are part of an id.
INVISIBLE = "".join(
    map(
        chr,
        (0xA0, 0xAD, *range(0x2000, 0x2010), *range(0x2028, 0x202F), 0x2060, 0x3000, 0xFEFF, *range(0x80, 0xA0)),
    )
)
_BLANK = " \t\n\v\f\r\x1c\x1d\x1e\x1f\u1680\u202f\u205f" + INVISIBLE
_ZEROS = re.compile(r"\A([^\W\d_]*)0+(?=[0-9]+\Z)")


class Rewriting(Struct, frozen=True):
    """A way to rewrite ids, as `--policy` names it."""

    policy: str
    what: str  # the difference that it removes
    write: Callable[[str], str]


def trimmed(text: str) -> str:
    r"""The text without blanks and invisible characters at both ends; unchanged if nothing would be left.

    >>> trimmed("\u00a0d1\u200b"), trimmed("a b")
    ('d1', 'a b')
    """
    return text.strip(_BLANK) or text


def without_zeros(text: str) -> str:
    """A number, also one after letters, without leading zeros; other ids are unchanged.

    >>> without_zeros("007"), without_zeros("000"), without_zeros("q07"), without_zeros("LA01-07")
    ('7', '0', 'q7', 'LA01-07')
    """
    return _ZEROS.sub(r"\1", text) if "0" in text else text


def without_prefix(prefix: str) -> Rewriting:
    """Remove this prefix from the ids that have it, unless nothing would be left."""
    return Rewriting(
        f"ids={PREFIX}{prefix}",
        f"the prefix {show_id(prefix)!r}",
        lambda text: text.removeprefix(prefix) or text,
    )


TRIM = Rewriting("blanks=trim", "surrounding blanks", trimmed)
STRIP_ZEROS = Rewriting("ids=strip-zeros", "leading zeros", without_zeros)
LOWER = Rewriting("ids=lower", "letter case", str.lower)
AS_QRELS = "ids=as-qrels"
REWRITINGS = (TRIM, STRIP_ZEROS, LOWER)  # those that are the same for all ids


def as_written(theirs: Iterable[str]) -> Callable[[str], str]:
    """Write an id as theirs is written, if it differs from just one of theirs in blanks, leading zeros or letter case.

    >>> write = as_written(["007", "Q8", "q8"])
    >>> write("7"), write("q8"), write("q08"), write("9")
    ('007', 'q8', 'q08', '9')
    """
    known = set(theirs)
    spellings: dict[str, list[str]] = {}
    for one in known:
        spellings.setdefault(_spelt_alike(one), []).append(one)

    def write(text: str) -> str:
        found = spellings.get(_spelt_alike(text), ())
        return found[0] if text not in known and len(found) == 1 else text

    return write


def _spelt_alike(text: str) -> str:
    return without_zeros(trimmed(text)).lower()


def rewriting_between(ours: str, theirs: str) -> tuple[Rewriting, Side] | None:
    """The rewriting that makes two ids equal, and which of them it changes; None if none does.

    >>> rewriting_between("007", "7")[1], rewriting_between("7", "q7")[0].policy, rewriting_between("Ab", "aB")[1]
    ('ours', 'ids=strip-prefix=q', 'both')
    """
    return next(
        (
            (rewriting, side)
            for rewriting in _candidates(ours, theirs)
            if (side := side_of(rewriting, ours, theirs)) is not None
        ),
        None,
    )


def side_of(rewriting: Rewriting, ours: str, theirs: str) -> Side | None:
    """Which of two ids has to be rewritten to make them equal; None if that does not help."""
    if rewriting.write(ours) == theirs:
        return "ours"
    if ours == rewriting.write(theirs):
        return "theirs"
    return "both" if rewriting.write(ours) == rewriting.write(theirs) else None


def _candidates(ours: str, theirs: str) -> Iterator[Rewriting]:
    yield from REWRITINGS
    longer, shorter = (ours, theirs) if len(ours) > len(theirs) else (theirs, ours)
    if shorter and longer != shorter and longer.endswith(shorter):
        yield without_prefix(longer.removesuffix(shorter))


def in_run(policy: str, side: Side) -> tuple[str, Side]:
    """The policy that repairs the run, which is ours, where it can be repaired instead of the judgments.

    >>> in_run("ids=strip-zeros", "theirs"), in_run("ids=strip-zeros", "ours"), in_run("ids=strip-prefix=q", "theirs")
    (('ids=as-qrels', 'ours'), ('ids=strip-zeros', 'ours'), ('ids=strip-prefix=q', 'theirs'))
    """
    return (AS_QRELS, "ours") if side != "ours" and policy in (STRIP_ZEROS.policy, LOWER.policy) else (policy, side)


def policy_commands(policy: str, side: Side, ours: str = "run", theirs: str = "qrels") -> str:
    """The commands that rewrite the ids. `ours` and `theirs` are the kinds of file: run, qrels or queries.

    >>> policy_commands("ids=lower", "ours")
    'assay runs validate RUN --qrels QRELS --fix OUT --policy ids=lower'
    """
    given = "--policy " + shlex.quote(show_id(policy, 200))
    if side == "both":  # neither can be compared with the other yet
        return " and ".join(f"{_validate(kind)} --fix OUT {given}" for kind in (ours, theirs))
    kind, other = (ours, theirs) if side == "ours" else (theirs, ours)
    against = f" --{other} {other.upper()}" if kind == "run" or other == "queries" else ""
    return f"{_validate(kind)}{against} --fix OUT {given}"


def _validate(kind: str) -> str:
    return f"assay {'runs' if kind == 'run' else kind} validate {kind.upper()}"


def common_prefix(ids: Iterable[str]) -> str:
    """What all ids begin with; of a single id, all but its last character.

    >>> common_prefix(["doc-12", "doc-1"])
    'doc-'
    """
    known = set(ids)
    first, last = min(known)[:-1], max(known)
    return next((first[:end] for end in range(len(first), 0, -1) if last.startswith(first[:end])), "")
