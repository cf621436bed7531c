"""One cause, one finding: what several findings have in common, and the policy that repairs it. Reads no files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from assay.ids import TRIM, Side, in_run, policy_commands, rewriting_between
from assay.validation.findings import SEVERITIES, Finding, Severity
from assay.validation.matching import Match, near_matches


class Remedy(Struct, frozen=True):
    """What makes ids match: the difference between them, and the policy that removes it."""

    what: str
    policy: str = ""  # empty if there is none
    side: Side = "ours"  # the file to be repaired

    @property
    def of_ours(self) -> str:
        """The policy for our file; empty if the other one has to be repaired."""
        return "" if self.side == "theirs" else self.policy

    def in_run(self) -> Remedy:
        """The same for a run beside judgments: it is the run that is repaired, if it can be."""
        policy, side = in_run(self.policy, self.side)
        return Remedy(self.what, policy, side)

    def fix(self, ours: str, theirs: str | None) -> str:
        """The commands in words; empty if there are none. `theirs` is None for a file that has no such command."""
        if not self.policy or (theirs is None and self.side != "ours"):
            return ""
        return f"Rewrite them: {policy_commands(self.policy, self.side, ours, theirs or 'queries')}."


def remedy_of(match: Match) -> Remedy:
    """What makes two nearly identical ids match."""
    found = rewriting_between(match.ours, match.theirs)
    return Remedy(match.differ_by) if found is None else Remedy(found[0].what, found[0].policy, found[1])


class Compared(Struct, frozen=True):
    """The queries of one file against those of another; ids that are only written differently are neither missing nor extra."""

    matches: tuple[Match, ...]
    missing: frozenset[str]  # in the other file only
    extra: frozenset[str]  # in this file only
    apart: bool  # the files have no id in common

    def explained(self, missing: str, extra: str, apart: str = "") -> list[str]:
        """The codes of findings that ids written differently make superfluous: about ids missing, extra, none in common."""
        left = {missing: bool(self.missing), extra: bool(self.extra), apart: not self.apart}
        return [code for code, stays in left.items() if code and self.matches and not stays]


def compared(ours: frozenset[str], theirs: frozenset[str]) -> Compared:
    """Compare two sets of query ids.

    >>> found = compared(frozenset({"01", "2"}), frozenset({"1", "2", "3"}))
    >>> sorted(found.missing), sorted(found.extra), found.explained("RUN050", "RUN051")
    (['3'], [], ['RUN051'])
    """
    matches = tuple(near_matches(sorted(ours), theirs)) if theirs else ()
    return Compared(
        matches,
        theirs - ours - {match.theirs for match in matches},
        ours - theirs - {match.ours for match in matches},
        ours.isdisjoint(theirs),
    )


def by_cause(matches: Iterable[Match]) -> Iterator[tuple[Remedy, list[Match]]]:
    """The matches by what makes them match, the most frequent cause first."""
    found: dict[tuple[str, str], list[tuple[Remedy, Match]]] = {}
    for match in dict.fromkeys(matches):
        remedy = remedy_of(match)
        found.setdefault((remedy.what, remedy.policy), []).append((remedy, match))
    for members in sorted(found.values(), key=len, reverse=True):
        sides = {remedy.side for remedy, _ in members}
        remedy = members[0][0] if len(sides) == 1 else replace(members[0][0], side="both")
        yield remedy, [match for _, match in members]


# Findings by different rules

INVISIBLE = ("RUN071", "RUN068", "QRL071", "QRL068")  # byte order marks in the middle, invisible characters


def absorbed(findings: Sequence[Finding]) -> list[Finding]:
    """The findings without those that another one explains.

    Invisible characters explain ids that match without them.
    """
    lead = next((each for code in INVISIBLE for each in findings if each.code == code), None)
    led = [each for each in findings if each.policy == TRIM.policy]
    if lead is None or not led:
        return list(findings)
    whole = replace(
        lead,
        severity=gravest((lead, *led)),
        fix=led[0].fix,
        policy=TRIM.policy,
        explains=tuple(code for each in led for code in (each.code, *each.explains)),
    )
    return [whole if each is lead else each for each in findings if each not in led]


def gravest(findings: Iterable[Finding]) -> Severity:
    """The highest severity of these findings."""
    return min((each.severity for each in findings), key=SEVERITIES.index)
