"""trec_eval's families of measures, their default parameters and its bundles, as data.

The order matters: trec_eval prints measures in this order, regardless of the order of the -m options.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from msgspec import Struct, field

from assay.errors import ParameterError

CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALLS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
MULTIPLES = (0.2, 0.4, 0.6, 0.8, 1.0, 1.2, 1.4, 1.6, 1.8, 2.0)
BOTH = ("9.0.8", "10.0")
LONGEST = 2**63 - 1  # C's largest integer, where atol stops


class Family(Struct, frozen=True, eq=False):
    """A trec_eval measure with the parameters it takes after the dot."""

    name: str
    parameter: str | None = None  # the parameter of our measure that they set
    kind: str = "none"  # cutoffs, levels (one value printed each), numbers or pairs (one value in all)
    default: tuple[float, ...] = ()
    fixed: Mapping[str, Any] = field(default_factory=dict)  # parameters fixed by the name
    counts: bool = False  # printed as a whole number
    single: bool = True  # printed for single queries
    summary: bool = True  # printed for all queries
    versions: tuple[str, ...] = BOTH

    def settings(self, params: str | None, *, strict: bool = False) -> Iterator[tuple[str, dict[str, Any]]]:
        """For each printed value, the suffix of the name and the parameters of our measure.

        `strict` rejects numbers that trec_eval would truncate or read as 0.
        """
        if strict and params is not None and self.kind != "none":
            _refuse_odd_numbers(self, params)
        yield from _KINDS[self.kind](self, params)


def c_integer(text: str) -> int:
    """The number at the start of the text, as C's atol reads it: '23.4' is 23, 'x' is 0."""
    match = re.match(r"\s*([+-]?\d+)", text)
    return max(-LONGEST, min(int(match[1]), LONGEST)) if match else 0


def c_number(text: str) -> float:
    """The number at the start of the text, as C's atof reads it: '.5x' is 0.5, 'x' is 0."""
    match = re.match(r"\s*([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?)", text)
    return float(match[1]) if match else 0.0


def _none(family: Family, params: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "", {}  # trec_eval ignores parameters of a measure that takes none


def _cutoffs(family: Family, params: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    cutoffs = [int(c) for c in family.default] if params is None else sorted(map(c_integer, params.split(",")))
    if cutoffs[0] <= 0:
        raise ParameterError(f"{family.name}.{params}: cutoffs must be whole numbers from 1.")
    _refuse_repeats(family, params, cutoffs)
    for cutoff in cutoffs:
        yield f"_{cutoff}", {str(family.parameter): cutoff}


def _levels(family: Family, params: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    levels = list(family.default) if params is None else sorted(map(c_number, params.split(",")))
    _refuse_repeats(family, params, levels)
    for level in levels:
        yield f"_{level:.2f}", {str(family.parameter): level}


def _numbers(family: Family, params: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    if params is None:
        yield "", {}
    else:
        values = tuple(map(c_number, params.split(",")))
        yield f"_{params}", {str(family.parameter): values if len(family.default) != 1 else values[0]}


def _pairs(family: Family, params: str | None) -> Iterator[tuple[str, dict[str, Any]]]:
    if params is None:
        yield "", {}
        return
    pairs = [pair.split("=") for pair in params.split(",")]
    if any(len(pair) != 2 for pair in pairs):
        raise ParameterError(f"{family.name}.{params}: parameters must be pairs such as 1=3,2=9.")
    if family.parameter == "gain":
        first_wins = {c_integer(name): c_number(value) for name, value in reversed(pairs)}
        in_order = dict.fromkeys(c_integer(name) for name, _ in pairs)
        yield f"_{params}", {"gain": {level: first_wins[level] for level in in_order}}
    else:
        yield f"_{params}", {name: c_number(value) for name, value in pairs if name == family.parameter}


def _refuse_odd_numbers(family: Family, params: str) -> None:
    whole = family.kind == "cutoffs"
    levels = [part.partition("=")[0] for part in params.split(",") if "=" in part]
    for text in [part.rpartition("=")[2] for part in params.split(",")]:
        if not re.fullmatch(r"\d+" if whole else r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", text):
            raise ParameterError(f"{family.name}.{params}: {text!r} is not a {'whole number' if whole else 'number'}.")
    _refuse_repeats(family, params, levels)


def _refuse_repeats(family: Family, params: str | None, values: list[Any]) -> None:
    if len(set(values)) < len(values):
        raise ParameterError(f"{family.name}.{params}: a value is given twice.")


_KINDS: dict[str, Callable[[Family, str | None], Iterator[tuple[str, dict[str, Any]]]]] = {
    "none": _none,
    "cutoffs": _cutoffs,
    "levels": _levels,
    "numbers": _numbers,
    "pairs": _pairs,
}

FAMILIES: dict[str, Family] = {
    family.name: family
    for family in (
        Family("num_q", counts=True, single=False),
        Family("num_ret", counts=True),
        Family("num_rel", counts=True),
        Family("num_rel_ret", fixed={"rel": 1}, counts=True),
        Family("map"),
        Family("gm_map", single=False),
        Family("Rprec"),
        Family("bpref"),
        Family("recip_rank"),
        Family("iprec_at_recall", "recall", "levels", RECALLS),
        Family("P", "cutoff", "cutoffs", CUTOFFS),
        Family("recall", "cutoff", "cutoffs", CUTOFFS),
        Family("infAP"),
        Family("gm_bpref", single=False),
        Family("Rprec_mult", "multiple", "levels", MULTIPLES),
        Family("utility", "weights", "numbers", (1.0, -1.0, 0.0, 0.0)),
        Family("11pt_avg", "recalls", "numbers", RECALLS),
        Family("binG"),
        Family("G", "gain", "pairs"),
        Family("dcg", "gain", "pairs", versions=("10.0",)),
        Family("ideal_dcg", "gain", "pairs", versions=("10.0",)),
        Family("ndcg", "gain", "pairs"),
        Family("ndcg_rel", "gain", "pairs"),
        Family("Rndcg", "gain", "pairs"),
        Family("ndcg_cut", "cutoff", "cutoffs", CUTOFFS),
        Family("map_cut", "cutoff", "cutoffs", CUTOFFS),
        Family("relative_P", "cutoff", "cutoffs", CUTOFFS),
        Family("success", "cutoff", "cutoffs", (1, 5, 10)),
        Family("set_P"),
        Family("set_relative_P", fixed={"relative": True}),
        Family("set_recall"),
        Family("set_map"),
        Family("set_F", "beta2", "numbers", (1.0,)),
        Family("num_nonrel_judged_ret", counts=True),
        Family("yaap"),
        Family("rbp", "p", "pairs", fixed={"p": 0.9}),
        Family("rbp_resid", "p", "pairs", fixed={"p": 0.9}, versions=("10.0",)),
        Family("unj", "cutoff", "cutoffs", (5, 10, 20), versions=("10.0",)),
    )
}

_OFFICIAL = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map", "Rprec", "bpref", "recip_rank"),
    *("iprec_at_recall", "P"),
)
_SET = (
    *("num_q", "num_ret", "num_rel", "num_rel_ret", "utility"),
    *("set_P", "set_recall", "set_relative_P", "set_map", "set_F"),
)
_ALL = tuple(name for name in FAMILIES if name not in ("dcg", "ideal_dcg", "yaap", "rbp", "rbp_resid"))

# runid and relstring are not measures; compat/trec_eval.py adds them.
BUNDLES: dict[str, tuple[str, ...]] = {"official": _OFFICIAL, "set": _SET, "all_trec": _ALL}
