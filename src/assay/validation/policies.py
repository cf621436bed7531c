"""The policies of repairs: what `--policy` may change although it changes the data. Checks names and values; reads no files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from msgspec import Struct

from assay.errors import InputError, did_you_mean
from assay.formats.names import Kind
from assay.ids import LOWER, PREFIX, STRIP_ZEROS, TRIM, Rewriting, without_prefix

Policies: TypeAlias = Mapping[str, Any]  # name -> value, or several for ids

WHOLE, PREFIXED = "N", f"{PREFIX}X"  # values that the user fills in
IDS = "<ids>"  # in the words of a policy: the ids that it changed, such as "query ids"


class Policy(Struct, frozen=True):
    """A policy: the values that it takes, with what each of them does to the lines that it touches."""

    name: str
    kinds: tuple[Kind, ...]
    values: Mapping[str, str]
    several: bool = False  # whether it may be given more than once
    for_runs: tuple[str, ...] = ()  # values that only runs can have

    def choices(self, kind: Kind) -> str:
        """Its values for a kind of file as they are written: duplicates=best|first."""
        return f"{self.name}={'|'.join(self.values_of(kind))}"

    def values_of(self, kind: Kind) -> list[str]:
        """Its values for a kind of file."""
        return [value for value in self.values if kind == "run" or value not in self.for_runs]


class Chosen(Struct, frozen=True):
    """A policy with the value that was asked for."""

    name: str
    value: str
    what: str

    @property
    def label(self) -> str:
        """As it is written on the command line."""
        return f"{self.name}={self.value}"

    @property
    def rewriting(self) -> Rewriting | None:
        """How it rewrites ids, if it does."""
        if self.name == "ids" and self.value.startswith(PREFIX):
            return without_prefix(self.value.removeprefix(PREFIX))
        return next((each for each in (TRIM, STRIP_ZEROS, LOWER) if each.policy == self.label), None)


_BOTH: tuple[Kind, ...] = ("run", "qrels")

# In the order in which they are applied: each sees what those above it have left.
POLICIES = {
    policy.name: policy
    for policy in (
        Policy("blanks", _BOTH, {"trim": "blanks and invisible characters around values removed"}),
        Policy(
            "ids",
            _BOTH,
            {
                "strip-zeros": f"leading zeros of {IDS} removed",
                PREFIXED: f"the prefix X of {IDS} removed",
                "lower": f"{IDS} converted to lower case",
                "as-qrels": f"{IDS} written as in the judgments",
            },
            several=True,
            for_runs=("as-qrels",),
        ),
        Policy("grades", ("qrels",), {"clip": "negative grades set to 0"}),
        Policy(
            "duplicates",
            _BOTH,
            {
                "best": "duplicates removed, except the one with the highest score or grade",
                "first": "duplicates removed, except the first one",
            },
        ),
        Policy("cut", ("run",), {WHOLE: "documents below rank N removed"}),
        Policy("ranks", ("run",), {"renumber": "documents ordered by score and numbered 1, 2, 3"}),
    )
}


def policies_of(kind: Kind) -> list[Policy]:
    """The policies for a kind of file."""
    return [policy for policy in POLICIES.values() if kind in policy.kinds]


def parse_policies(pairs: Iterable[str]) -> dict[str, Any]:
    """Policies written as NAME=VALUE, by name; one that is given several times has a list of values.

    >>> parse_policies(["cut=100", "ids=strip-prefix=a=b", "ids=lower"])
    {'cut': '100', 'ids': ['strip-prefix=a=b', 'lower']}
    """
    found: dict[str, list[str]] = {}
    for pair in pairs:
        name, _, value = pair.partition("=")
        found.setdefault(name.strip(), []).append(value.strip())
    return {name: values[0] if len(values) == 1 else values for name, values in found.items()}


def chosen_policies(policies: Policies | None, kind: Kind) -> tuple[Chosen, ...]:
    """The policies in the order in which they are applied; raises an error for one that does not exist or fit.

    >>> [each.label for each in chosen_policies({"cut": 100, "ids": ["lower", "strip-zeros"]}, "run")]
    ['ids=lower', 'ids=strip-zeros', 'cut=100']
    """
    given = policies or {}
    for name in given:
        _find(name, kind)
    return tuple(
        _chosen(policy, str(value), kind)
        for policy in POLICIES.values()
        if policy.name in given
        for value in dict.fromkeys(_values(policy, given[policy.name]))
    )


def _find(name: str, kind: Kind) -> Policy:
    known = {policy.name: policy for policy in policies_of(kind)}
    if name in known:
        return known[name]
    choices = f"`policies=` takes {', '.join(policy.choices(kind) for policy in known.values())}."
    if name in POLICIES:
        of = "judgments" if kind == "run" else "runs"
        here = "a run" if kind == "run" else "judgments"
        raise InputError(f"policy {name!r} is for {of}, and this file holds {here}. {choices}")
    raise InputError(f"no policy called {name!r}{did_you_mean(str(name), known) or '.'} {choices}")


def _values(policy: Policy, value: Any) -> Sequence[Any]:
    values = value if isinstance(value, (list, tuple)) else [value]
    if len(values) != 1 and not policy.several:
        raise InputError(f"policy {policy.name!r} takes one value, not {len(values)}: {', '.join(map(str, values))}.")
    return values


def _chosen(policy: Policy, value: str, kind: Kind) -> Chosen:
    if value in policy.values_of(kind) and value not in (WHOLE, PREFIXED):
        return Chosen(policy.name, value, policy.values[value])
    if WHOLE in policy.values and value.isascii() and value.isdigit() and int(value) > 0:
        return Chosen(policy.name, str(int(value)), policy.values[WHOLE].replace("N", f"{int(value):,}"))
    if PREFIXED in policy.values and value.startswith(PREFIX) and value != PREFIX:
        return Chosen(policy.name, value, f"{without_prefix(value.removeprefix(PREFIX)).what} of {IDS} removed")
    fixed = [choice for choice in policy.values_of(kind) if choice not in (WHOLE, PREFIXED)]
    said = f"cannot be {value!r}" if value else "needs a value"
    where = ", where N is a whole number from 1" if WHOLE in policy.values else ""
    raise InputError(
        f"policy {policy.name!r} {said}{did_you_mean(value, fixed) or '.'} `policies=` takes {policy.choices(kind)}{where}."
    )
