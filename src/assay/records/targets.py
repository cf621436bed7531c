"""Target profiles: read them, and check whether an evaluation reached them. Evaluates nothing.

A profile is a TOML file, or the same in JSON:

    name = "web"

    [measures."nDCG@10"]
    good = 0.35                # levels can have any name; each is the lowest value that reaches it
    strong = 0.40
    baseline = [0.30, 0.32]    # typical values; shown, not checked

    [measures."AP"]
    uplift = 0.03              # over the mean of a run; with several levels: {good = 0.03, strong = 0.05}
    over = "bm25"
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import InputError, MeasureError, did_you_mean
from assay.evaluation import Evaluation
from assay.formats.numbers import real, show_value
from assay.formats.sources import read_small
from assay.inputs.toml import parse_toml
from assay.measures import Measure, parse_measure, parse_measures
from assay.records.model import Baseline, Status, Target, TargetResult, Targets

PROFILES = Path(__file__).parent / "profiles"
WARN_WITHIN = 0.1  # share of the goal: a mean this close below it is a warning, not a failure
# 0.25 + 0.03 is slightly more than 0.28 in floating point, so a goal counts as reached within rounding error.
_LAST_BITS = 1e-12

_WORST_FIRST: tuple[Status, ...] = ("fail", "warn", "unknown", "pass")
_PROFILE_KEYS = ("name", "description", "measures")
_OWN_KEYS = ("uplift", "over", "baseline", "note")  # in a measure's table; all other keys are levels


def built_in_profiles() -> list[str]:
    """The names of the built-in profiles."""
    return sorted(path.stem for path in PROFILES.glob("*.toml"))


def read_targets(name_or_path: str | os.PathLike[str]) -> Targets:
    """A built-in profile by its name, or one from a TOML or JSON file.

    >>> read_targets("trec-rag").measures[0].levels
    {'good': 0.35, 'strong': 0.4}
    """
    given = os.fspath(name_or_path)
    built_in = PROFILES / f"{given}.toml"
    if given in built_in_profiles():
        return parse_targets(built_in.read_text(encoding="utf-8"), source=given)
    try:
        text = read_small(given).decode("utf-8")
    except (FileNotFoundError, IsADirectoryError):
        hint = did_you_mean(given, built_in_profiles()) or "."
        known = ", ".join(built_in_profiles())
        raise InputError(
            f"no target profile called {given!r}{hint} Give a TOML or JSON file, or a built-in profile: {known}."
        ) from None
    except UnicodeDecodeError:
        raise InputError("is not valid UTF-8; save it as UTF-8 text.", source=given) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}.", source=given) from None
    return parse_targets(text, source=given)


def parse_targets(text: str, *, source: str = "<targets>") -> Targets:
    """Targets from the text of a TOML or JSON profile; `source` is used in messages, and as the name if there is none."""
    profile = _Profile(source)
    table = _decoded(text, source)
    for key in table:
        if key not in _PROFILE_KEYS:
            profile.refuse(key, _unknown_key(key))
    measures = table.get("measures", {})
    if not isinstance(measures, dict) or not measures:
        profile.refuse("measures", 'is missing; add at least one measure: [measures."nDCG@10"] with good = 0.35.')
    found = tuple(profile.target(name, entry) for name, entry in measures.items())
    profile.refuse_repeats(found)
    return Targets(
        name=profile.text("name", table.get("name", Path(source).stem)),
        description=profile.text("description", table.get("description", "")),
        measures=found,
    )


def _decoded(text: str, source: str) -> dict[str, Any]:
    try:
        table = json.loads(text) if text.lstrip().startswith("{") else parse_toml(text, source)
    except json.JSONDecodeError as error:
        raise InputError(
            f"is not valid JSON: {error.msg} in column {error.colno}.", source=source, line=error.lineno
        ) from None
    except RecursionError:
        raise InputError("is nested too deeply.", source=source) from None
    if not isinstance(table, dict):
        raise InputError("must be a table with the key 'measures'.", source=source)
    return table


def _unknown_key(key: str) -> str:
    try:
        parse_measure(key)
    except MeasureError:
        hint = did_you_mean(key, _PROFILE_KEYS) or f"; the keys are {', '.join(_PROFILE_KEYS)}."
        return f"unknown key{hint}"
    return f'measures go into the table of that name; write [measures."{key}"].'


class _Profile:
    """Checks the parts of a profile; every error names the file and the key."""

    def __init__(self, source: str) -> None:
        self._source = source

    def refuse(self, key: str, complaint: str) -> NoReturn:
        raise InputError(f"{key}: {complaint}", source=self._source)

    def text(self, key: str, value: Any) -> str:
        if not isinstance(value, str):
            self.refuse(key, f"{value!r} is not text; write it in quotes.")
        return value

    def target(self, name: str, entry: Any) -> Target:
        key = f'measures."{name}"'
        measure = self._measure(key, name)
        if _is_number(entry):
            entry = {"target": entry}
        if not isinstance(entry, dict):
            self.refuse(key, f"{entry!r} is neither a number nor a table of levels; write good = 0.35.")
        levels = {
            level: self._level(f"{key}.{level}", level, value)
            for level, value in entry.items()
            if self._is_level(level)
        }
        over = entry.get("over")
        if "uplift" in entry:
            if levels:
                self.refuse(key, f"has both the level {next(iter(levels))!r} and an uplift; keep one of them.")
            levels, over = self._uplifts(f"{key}.uplift", entry["uplift"]), self._over(key, over)
        elif over is not None:
            self.refuse(f"{key}.over", "has no effect without an uplift; add uplift = 0.03.")
        if not levels:
            self.refuse(key, "has no target; add a level such as good = 0.35.")
        self._check_bounds(key, measure, levels, uplift=over is not None)
        return Target(
            measure=name,
            levels=dict(sorted(levels.items(), key=lambda level: level[1])),
            over=over,
            typical=self._typical(f"{key}.baseline", entry.get("baseline")),
            note=self.text(f"{key}.note", entry.get("note", "")),
        )

    def refuse_repeats(self, targets: Sequence[Target]) -> None:
        seen: dict[Measure, str] = {}
        for target in targets:
            first = seen.setdefault(parse_measure(target.measure), target.measure)
            if first != target.measure:
                self.refuse(f'measures."{target.measure}"', f"is the same measure as {first!r}; keep one of them.")

    def _measure(self, key: str, name: str) -> Measure:
        try:
            return parse_measure(name)
        except MeasureError as error:
            self.refuse(key, str(error))

    def _is_level(self, name: str) -> bool:
        return name not in _OWN_KEYS

    def _level(self, key: str, name: str, value: Any) -> float:
        near = did_you_mean(name, _OWN_KEYS)  # `uplfit = 0.03` would otherwise be a level that every run reaches
        if near:
            self.refuse(key, f"unknown key{near} If it is a level, give it another name.")
        return self._number(key, value)

    def _number(self, key: str, value: Any) -> float:
        if not _is_number(value):
            self.refuse(key, f"{show_value(value)} is not a number; write it like 0.35, without quotes.")
        return float(value)

    def _uplifts(self, key: str, value: Any) -> dict[str, float]:
        if isinstance(value, dict) and value:
            return {level: self._number(f"{key}.{level}", uplift) for level, uplift in value.items()}
        return {"uplift": self._number(key, value)}

    def _over(self, key: str, over: Any) -> str:
        if over is None:
            self.refuse(f"{key}.uplift", 'has no baseline; add over = "bm25" with the name of a run.')
        return self.text(f"{key}.over", over)

    def _typical(self, key: str, value: Any) -> tuple[float, float] | None:
        if value is None:
            return None
        if isinstance(value, list) and len(value) == 2:
            low, high = (self._number(key, end) for end in value)
            return min(low, high), max(low, high)
        if isinstance(value, list):
            self.refuse(key, "takes one number, or two for a range.")
        only = self._number(key, value)
        return only, only

    def _check_bounds(self, key: str, measure: Measure, levels: Mapping[str, float], *, uplift: bool) -> None:
        bounds = measure.definition.bounds
        for level, value in levels.items():
            low, high = bounds or (-math.inf, math.inf)
            if (uplift and abs(value) > high - low) or (not uplift and not low <= value <= high):
                kind = "as an uplift of" if uplift else "for"
                self.refuse(
                    f"{key}.{level}",
                    f"{value:g} is out of range {kind} {measure}, which goes from {low:g} to {high:g}.",
                )


def _is_number(value: Any) -> bool:
    return not isinstance(value, bool) and real(value) is not None


# Adding measures


def with_targets(measures: Iterable[str], targets: Targets) -> tuple[str, ...]:
    """The requested measures, then those of the targets that are not among them under any name."""
    asked = list(measures)
    known = {request.measure for request in parse_measures(asked)}
    return (*asked, *(t.measure for t in targets.measures if parse_measure(t.measure) not in known))


# Judging


class TargetOutcome(Struct, frozen=True):
    """How one run compares with a target profile."""

    profile: str
    status: Status
    results: dict[str, TargetResult]  # by the name under which the measure was requested

    def counts(self) -> dict[Status, int]:
        """The number of measures with each status, worst first."""
        found = [result.status for result in self.results.values()]
        return {status: found.count(status) for status in _WORST_FIRST if status in found}


def check_targets(targets: Targets, evaluation: Evaluation, baselines: Iterable[Baseline] = ()) -> TargetOutcome:
    """The status of each measure in the targets, and the overall status.

    `baselines` are the runs that uplifts can be over. A run that is itself the baseline gets no status for an uplift.
    """
    by_measure = {parse_measure(target.measure): target for target in targets.measures}
    known = {baseline.name: baseline for baseline in baselines}
    results: dict[str, TargetResult] = {}
    for request, mean in zip(evaluation.requests, evaluation.mean().values(), strict=True):
        target = by_measure.get(request.measure)
        if target is None or (target.over is not None and _is_baseline(evaluation, known.get(target.over))):
            continue
        results[request.label] = _result(target, str(request.measure), mean, known)
    return TargetOutcome(targets.name, overall(result.status for result in results.values()), results)


def overall(statuses: Iterable[Status]) -> Status:
    """The worst of several: fail, then warn, then unknown.

    >>> overall(["pass", "unknown", "warn"])
    'warn'
    """
    found = set(statuses)
    return next((status for status in _WORST_FIRST if status in found), "unknown")


def over_baseline(targets: Targets, name: str) -> Targets:
    """The same targets with all uplifts over this run."""
    moved = tuple(replace(target, over=name) if target.over is not None else target for target in targets.measures)
    return replace(targets, measures=moved)


def baseline_of(evaluation: Evaluation) -> Baseline:
    """A run as a baseline."""
    means = zip(evaluation.measures, evaluation.mean().values(), strict=True)
    return Baseline(name=evaluation.run, means={str(m): None if math.isnan(mean) else mean for m, mean in means})


def _is_baseline(evaluation: Evaluation, baseline: Baseline | None) -> bool:
    return baseline is not None and baseline.path is None and baseline.name == evaluation.run


def _result(target: Target, measure: str, mean: float, baselines: Mapping[str, Baseline]) -> TargetResult:
    levels, base = dict(target.levels), None
    if target.over is not None:
        found = baselines.get(target.over)
        base = None if found is None else found.means.get(measure)
        if base is None:
            return _unknown(target, _no_baseline(target.over, measure, found))
        levels = {level: base + uplift for level, uplift in levels.items()}
    if math.isnan(mean):
        return _unknown(target, "no query has a value")
    goal = min(levels.values())
    reached = [level for level, value in levels.items() if mean >= value - _LAST_BITS]
    return TargetResult(
        status="pass" if reached else "warn" if mean >= goal - WARN_WITHIN * abs(goal) - _LAST_BITS else "fail",
        goal=goal,
        words=_words(target, mean, levels, reached, base),
        baseline=target.over,
        levels=levels,
        reached=reached[-1] if reached else None,
        typical=target.typical,
    )


def _unknown(target: Target, words: str) -> TargetResult:
    levels = target.levels if target.over is None else {}
    goal = min(levels.values()) if levels else None
    return TargetResult(
        status="unknown", goal=goal, words=words, baseline=target.over, levels=levels, typical=target.typical
    )


def _no_baseline(name: str, measure: str, found: Baseline | None) -> str:
    if found is None:
        return f"no baseline called {name!r}: evaluate that run too, or name another baseline"
    return f"the baseline {name!r} has no value for {measure}"


def _words(target: Target, mean: float, levels: Mapping[str, float], reached: Sequence[str], base: float | None) -> str:
    """'0.3812 of 0.3500 (good)', and how much is missing or the highest level reached."""
    lowest, goal = min(levels.items(), key=lambda level: level[1])
    what = lowest if base is None else f"{target.levels[lowest]:.4f} over {target.over}, which has {base:.4f}"
    text = f"{mean:.4f} of {goal:.4f} ({what})"
    if not reached:
        return f"{text}: {goal - mean:.4f} short"
    return text if len(reached) == 1 else f"{text}, also {reached[-1]} ({levels[reached[-1]]:.4f})"
