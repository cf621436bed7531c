"""How measures are declared: one decorated function each, in the file of its family.

The parser, the printer, the help, the docs and the laws in tests/laws are derived from it.

    @measure("P", aliases={"Precision": {}}, trec={"P": "cutoff"})
    def P(judged, *, cutoff: int, rel: float = 1) -> PerQuery:
        ...

The function takes a `JudgedRanking` and returns one value per query; its keyword-only parameters are its conventions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import cache, cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, Protocol, get_args

import numpy as np
from msgspec import Struct, field

from assay.errors import AssayError, MeasureError, ParameterError, UnknownMeasureError, did_you_mean
from assay.judged import JudgedRanking
from assay.plugins import load_installed
from assay.tables import Floats

if TYPE_CHECKING:  # few measures need subtopics, so they are imported only on use
    from assay.topics import JudgedTopics

PerQuery = Floats
Kernel = Callable[..., PerQuery]
Total = Literal["mean", "sum", "geometric"]
Needs = Literal["ranking", "strays", "topics"]  # topics: the kernel gets a JudgedTopics


class Checker(Protocol):
    """Returns the value in its canonical form, or raises ValueError with the allowed values."""

    def __call__(self, value: Any, /) -> Any:
        """The value in its canonical form."""


class Parameter(Struct, frozen=True, eq=False):
    """A parameter of measures: its meaning and the check of its values."""

    meaning: str
    check: Checker
    choices: tuple[Any, ...] = ()  # known values: all that it takes, unless it is open
    open: bool = False  # takes other values, too


class Definition(Struct, frozen=True, eq=False, dict=True):
    """Everything the registry knows about a measure."""

    name: str
    kernel: Kernel
    aliases: Mapping[str, Mapping[str, Any]]  # other name -> parameters that it fixes
    trec: Mapping[str, str | None]  # trec_eval's name -> the parameter its number sets
    same_as: Mapping[str, Callable[[Any], dict[str, Any]]]  # a parameter of other tools -> ours
    at_sets: str | None  # the parameter that @ sets, if the function has it
    total: Total  # how values of queries become one
    needs: Needs
    bounds: tuple[float, float] | None  # lowest and highest possible value, if any
    judged_only: bool  # takes judged_only=True
    rewards: bool  # higher is better; False for measures that say nothing about quality
    paper: str
    elsewhere: Mapping[str, str]  # tool -> what it calls this measure; k stands for the cutoff
    cautions: Mapping[str, str]  # a name as written, not our own -> what another tool means by it
    parameters: Mapping[str, Parameter] = field(default_factory=dict)

    @property
    def over_queries(self) -> str:
        """How the values of queries become one, in words."""
        return f"a {'geometric mean' if self.total == 'geometric' else self.total} over queries"

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The keyword-only parameters of the function; inspected only on use."""
        return _keyword_only(self.name, self.kernel)

    @cached_property
    def at(self) -> str | None:
        """The parameter that @ sets."""
        return self.at_sets if self.at_sets in self.signature else None

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Parameters with a default, and the default."""
        own = {name: p.default for name, p in self.signature.items() if p.default is not p.empty}
        return own | {"judged_only": False} if self.judged_only else own

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Parameters that have no default."""
        return tuple(name for name, p in self.signature.items() if p.default is p.empty)

    @property
    def takes(self) -> tuple[str, ...]:
        """All parameters, in the order in which they are shown."""
        return (*self.required, *self.defaults)

    @property
    def summary(self) -> str:
        """The first line of the function's docstring."""
        return self.text.partition("\n")[0]

    @property
    def text(self) -> str:
        """The function's docstring."""
        return inspect.getdoc(self.kernel) or ""

    @property
    def family(self) -> str:
        """The file the measure lives in."""
        return self.kernel.__module__.rpartition(".")[2]

    def parameter(self, name: str) -> Parameter:
        """Meaning and allowed values of a parameter."""
        return self.parameters.get(name) or PARAMETERS[name]


class Measure(Struct, frozen=True):
    """A measure with its conventions fixed: hashable, printable, and `parse_measure(str(m)) == m`."""

    name: str
    params: tuple[tuple[str, Any], ...] = ()  # those that differ from the default, sorted

    @property
    def definition(self) -> Definition:
        """The measure's entry in the registry."""
        return REGISTRY[known_name(self.name)]

    def __call__(self, **changes: Any) -> Measure:
        """The same measure with other parameters: AP(rel=2)."""
        definition = self.definition
        given: dict[str, Any] = {}
        for name, value in changes.items():
            meant = definition.same_as[name](value) if name in definition.same_as else {name: value}
            for twice in meant.keys() & given.keys():
                raise ParameterError(f"{self.name} is given {twice} twice: {', '.join(changes)}; keep one.")
            given |= meant
        for name in given:
            if name not in definition.takes:
                raise ParameterError(_unknown_parameter(definition, name))
        checked = {name: self._checked(name, value) for name, value in given.items()}
        full = dict(self.params) | checked
        kept = {k: v for k, v in full.items() if k not in definition.defaults or v != definition.defaults[k]}
        return Measure(self.name, tuple(sorted(kept.items())))

    def _checked(self, name: str, value: Any) -> Any:
        if value is None and self.definition.defaults.get(name, ...) is None:
            return None
        try:
            return self.definition.parameter(name).check(value)
        except (ValueError, TypeError) as error:
            raise ParameterError(f"{self.name}: {name} cannot be {value!r}; it takes {error}.") from None

    def __matmul__(self, value: Any) -> Measure:
        """The measure at a cutoff: nDCG @ 10."""
        if self.definition.at is None:
            raise ParameterError(f"{self.name} takes no cutoff; write {self.name}.")
        return self(**{self.definition.at: value})

    def __str__(self) -> str:
        params = dict(self.params)
        at = params.pop(self.definition.at, None) if self.definition.at else None
        inner = ", ".join(f"{name}={_literal(value)}" for name, value in params.items())
        return self.name + (f"({inner})" if inner else "") + (f"@{at}" if at is not None else "")

    def param(self, name: str, default: Any = None) -> Any:
        """The value of a parameter, whether given or default."""
        return dict(self.params).get(name, self.definition.defaults.get(name, default))

    def complete(self) -> Measure:
        """The measure itself, or an error that names the parameter it still needs."""
        for name in self.definition.required:
            if name not in dict(self.params):
                raise ParameterError(_needs(self.definition, name))
        return self

    def values(self, judged: JudgedRanking | JudgedTopics) -> PerQuery:
        """One value per query. Measures without subtopics use the ranking of a `JudgedTopics`."""
        params = dict(self.complete().params)
        if self.definition.needs != "topics" and not isinstance(judged, JudgedRanking):
            judged = judged.ranking
        if self.definition.needs == "topics" and isinstance(judged, JudgedRanking):
            raise MeasureError(f"{self.name} needs judgments by subtopic: judge_topics(qrels, run, rules).")
        if params.pop("judged_only", False):
            judged = judged.only_judged()
        kernel = self.definition.kernel
        if (kernel.__module__ or "").startswith("assay."):
            return kernel(judged, **params)
        return self._checked_values(judged, params)

    def _checked_values(self, judged: JudgedRanking | JudgedTopics, params: dict[str, Any]) -> PerQuery:
        """The values of a plug-in measure, which may fail or return anything."""
        try:
            given = self.definition.kernel(judged, **params)
            values = np.asarray(given, dtype=np.float64)
        except AssayError:
            raise
        except Exception as error:
            raise MeasureError(f"measure {self} failed: {type(error).__name__}: {error}") from error
        if values.shape != (len(judged),):
            raise MeasureError(f"measure {self} returned values of shape {values.shape} for {len(judged)} queries.")
        if np.isinf(values).any():
            raise MeasureError(f"measure {self} returned an infinite value for {int(np.isinf(values).sum())} queries.")
        return values


def _unknown_parameter(definition: Definition, name: str) -> str:
    takes = ", ".join(definition.takes) or "no parameters"
    return f"{definition.name} has no parameter {name!r}; it takes {takes}."


def _literal(value: Any) -> str:
    return repr(dict(value)) if _is_pairs(value) else repr(value)


def _is_pairs(value: Any) -> bool:
    return isinstance(value, tuple) and bool(value) and all(isinstance(item, tuple) for item in value)


def _needs(definition: Definition, name: str) -> str:
    load_families()
    if name == definition.at:
        sample = definition.parameter(name).check(_SAMPLE.get(name, 10))
        whole = f", or Set{definition.name} for everything retrieved" if f"Set{definition.name}" in REGISTRY else ""
        return f"{definition.name} needs a {name}: write {definition.name}@{sample}{whole}."
    return f"{definition.name} needs the parameter {name!r}: write {definition.name}({name}=...)."


_SAMPLE = {"cutoff": 10, "recall": 0.1, "multiple": 1.0}

_MOST_RANKS = 1_000_000  # of a table of weights
ENTRY_POINT = "assay.measures"  # of installed packages with measures
REGISTRY: dict[str, Definition] = {}  # by every name and alias; complete after load_families()
_STEMS: dict[str, tuple[Definition, str | None]] = {}  # trec_eval's name -> measure, parameter


@cache
def load_families() -> tuple[str, ...]:
    """Import the measures of every family; gives the names of their files.

    Most evaluations need only binary.py and graded.py, which are always imported. The others are imported on the first
    name that these two do not define.
    """
    import pkgutil

    families = import_module(f"{__package__}.families")
    names = tuple(sorted(module.name for module in pkgutil.iter_modules(families.__path__)))
    for name in names:
        import_module(f"{families.__name__}.{name}")
    return names


def exported() -> tuple[str, ...]:
    """The names of our own measures, which `assay.measures` exports."""
    load_families()
    home = f"{__package__}.families."
    return tuple(
        name for name, known in REGISTRY.items() if name == known.name and known.kernel.__module__.startswith(home)
    )


def trec_stems() -> Mapping[str, tuple[Definition, str | None]]:
    """trec_eval's names, each with its measure and the parameter that its number sets."""
    load_families()
    return _STEMS


def measure(
    name: str,
    *,
    aliases: Mapping[str, Mapping[str, Any]] | None = None,
    trec: Mapping[str, str | None] | None = None,
    same_as: Mapping[str, Callable[[Any], dict[str, Any]]] | None = None,
    at: str | None = "cutoff",
    total: Total = "mean",
    needs: Needs = "ranking",
    bounds: tuple[float, float] | None = (0.0, 1.0),
    judged_only: bool = True,
    rewards: bool = True,
    paper: str = "",
    elsewhere: Mapping[str, str] | None = None,
    cautions: Mapping[str, str] | None = None,
    parameters: Mapping[str, Parameter] | None = None,
) -> Callable[[Kernel], Measure]:
    """Register a function as a measure that works everywhere in assay.

    The function takes a `JudgedRanking` and returns one value per query; its keyword-only parameters are the measure's
    conventions. Its docstring says what it measures, with paragraphs that start with "Formula: ", "Edges: " and
    "Example: ". `aliases` are other names and the parameters they fix, `trec` the names in trec_eval and the parameter
    their number sets, `at` the parameter that @ sets, `total` how queries are combined, `bounds` the lowest and highest
    value, `rewards` whether higher is better, `needs` what the function needs beyond the ranking, `cautions` what other
    tools mean by a name, `parameters` the meaning and check of parameters that no other measure has.
    """

    def register(kernel: Kernel) -> Measure:
        if not (kernel.__module__ or "").startswith(__package__):  # ours are checked by tests/unit/test_plugins.py
            _check_declaration(name, aliases or {}, kernel, total)
            load_families()  # so that a name already in use is detected
        definition = Definition(
            name=name,
            kernel=kernel,
            aliases=aliases or {},
            trec=trec or {},
            same_as=same_as or {},
            at_sets=at,
            total=total,
            needs=needs,
            bounds=bounds,
            judged_only=judged_only,
            rewards=rewards,
            paper=paper,
            elsewhere=elsewhere or {},
            cautions=cautions or {},
            parameters=parameters or {},
        )
        for taken in (name, *definition.aliases):
            if taken in REGISTRY:
                raise ValueError(f"a measure called {taken!r} is already registered")
            REGISTRY[taken] = definition
        _STEMS.update({stem: (definition, parameter) for stem, parameter in definition.trec.items()})
        return Measure(name)

    return register


def _check_declaration(name: str, aliases: Mapping[str, Any], kernel: Kernel, total: str) -> None:
    """Reject a declaration that could not be parsed, computed or explained."""
    _keyword_only(name, kernel)
    for word in (name, *aliases):
        if not re.fullmatch(r"\w+", word):
            raise ValueError(f"a measure cannot be called {word!r}: use only letters, digits and _")
    if total not in get_args(Total):
        raise ValueError(f"total cannot be {total!r}; it takes {', '.join(get_args(Total))}")
    if not inspect.getdoc(kernel):
        raise ValueError(
            f"{name} has no docstring; describe what it measures, with a 'Formula: ...' and an 'Example: ...'"
        )


def _keyword_only(name: str, kernel: Kernel) -> dict[str, inspect.Parameter]:
    """The parameters of a measure's function; all but the first must be keyword-only."""
    first, *others = inspect.signature(kernel).parameters.values()
    if any(parameter.kind is not parameter.KEYWORD_ONLY for parameter in others):
        raise ValueError(f"the parameters of {name} must be keyword-only: def {kernel.__name__}({first.name}, *, ...)")
    return {parameter.name: parameter for parameter in others}


def definitions() -> list[Definition]:
    """Every measure once, in the order of the files; plug-ins last."""
    place = {name: number for number, name in enumerate(load_families())}
    load_installed(ENTRY_POINT)
    return sorted(dict.fromkeys(REGISTRY.values()), key=lambda known: place.get(known.family, len(place)))


def definition_of(name: str) -> Definition:
    """The definition behind a name, an alias or one of trec_eval's names."""
    return REGISTRY[known_name(name)]


def known_name(name: str) -> str:
    """The registered spelling of a measure's name or alias; ignores case, hyphens and underscores."""
    if name in REGISTRY:
        return name
    load_families()
    if name in REGISTRY:
        return name
    if name in _STEMS:
        return _STEMS[name][0].name
    folded = _spelled(name, str.casefold)
    if folded is None and load_installed(ENTRY_POINT) and name in REGISTRY:
        return name
    folded = folded or _spelled(name, _letters)
    if folded is None:
        hint = did_you_mean(name, [*REGISTRY, *_STEMS])
        raise UnknownMeasureError(f"no measure called {name!r}{hint or '; run `assay measures list` to see all.'}")
    return folded


def _spelled(name: str, alike: Callable[[str], str]) -> str | None:
    """The first registered name that is the same as this one if only what `alike` keeps counts."""
    return next((known for known in REGISTRY if alike(known) == alike(name)), None)


def _letters(name: str) -> str:
    """A name without case, hyphens and underscores: hit_rate is HitRate, alpha-nDCG is alpha_nDCG."""
    return name.casefold().replace("_", "").replace("-", "")


# Parameters that several measures share: one meaning, one check.


def _positive_integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 1 <= value < 2**53:
        raise ValueError("a whole number from 1")
    return int(value)


def ranks_of_table(value: Any) -> int:
    """A check for a number of ranks where a table of weights has an entry for each."""
    ranks = _positive_integer(value)
    if ranks > _MOST_RANKS:
        raise ValueError(f"a whole number from 1 to {_MOST_RANKS}")
    return ranks


def _number(value: Any) -> float | int:
    known = isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)
    if not known or not -1e300 < value < 1e300:
        raise ValueError("a number")
    return int(value) if float(value).is_integer() else float(value)


def number_between(low: float, high: float, *, open_ends: bool = False) -> Checker:
    """A check for numbers within bounds."""

    def check(value: Any) -> float:
        number = float(_number(value))
        if not (low < number < high if open_ends else low <= number <= high):
            raise ValueError(
                f"a number {'between' if open_ends else 'from'} {low:g} {'and' if open_ends else 'to'} {high:g}"
            )
        return number

    return check


def one_of(meaning: str, *choices: str) -> Parameter:
    """A parameter that is one of a few words."""

    def check(value: Any) -> str:
        if value not in choices:
            raise ValueError(" or ".join(repr(choice) for choice in choices))
        return str(value)

    return Parameter(meaning, check, choices)


def boolean(meaning: str) -> Parameter:
    """A parameter that is True or False."""
    return Parameter(meaning, _boolean, (True, False))


def _boolean(value: Any) -> bool:
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError("True or False")
    return bool(value)


_GAINS = ("linear", "exp", "binary")


def _gain(value: Any) -> Any:
    if value in _GAINS:
        return value
    pairs = dict(value).items() if isinstance(value, (dict, tuple)) else ()
    if not pairs:
        raise ValueError("'linear', 'exp', 'binary' or a map from grades to gains such as {1: 3, 2: 9}")
    return tuple(sorted((_number(grade), _number(gain)) for grade, gain in pairs))


PARAMETERS: dict[str, Parameter] = {
    "cutoff": Parameter("the number of documents at the top of the ranking that count", _positive_integer),
    "rel": Parameter("the lowest grade that counts as relevant", _number),
    "judged_only": boolean("remove unjudged documents from the ranking first (trec_eval -J)"),
    "gain": Parameter(
        "the gain of a grade: 'linear' (the grade itself), 'exp' (2^grade - 1), 'binary' (1 from grade 1 on) or a map "
        "such as {1: 3, 2: 9}; "
        "a grade that is not in the map gains itself",
        _gain,
        _GAINS,
        open=True,
    ),
}
TABLE_CUTOFF = Parameter(PARAMETERS["cutoff"].meaning, ranks_of_table)
