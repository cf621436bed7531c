"""Parse the names of measures: `nDCG(gain='exp')@10`, common aliases, and trec_eval's names.

name[(key=literal, ...)][@cutoff]        as in ir_measures
ndcg_cut_10, ndcg_cut.5,10, map, P_5     trec_eval
official, set, all_trec                  trec_eval's bundles
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from typing import Any

from msgspec import Struct

from assay.errors import MeasureError, ParameterError, UnknownMeasureError
from assay.measures.bundles import BUNDLES, FAMILIES, Family
from assay.measures.core import REGISTRY, Measure, known_name, trec_stems

_CALL = re.compile(r"\s*(?P<name>\w+)\s*(?P<args>\(.*\))?\s*(?:@\s*(?P<at>[^@\s()]+))?\s*", re.DOTALL)
_LONGEST_FIRST = sorted((name for name, family in FAMILIES.items() if family.parameter), key=len, reverse=True)


class Request(Struct, frozen=True):
    """A measure, and its name as the user wrote it."""

    label: str
    measure: Measure


def parse_measure(text: str) -> Measure:
    """One measure from its name.

    >>> str(parse_measure("ndcg_cut_10")), str(parse_measure("MRR@10")), str(parse_measure("AP(rel=2)"))
    ('nDCG@10', 'RR@10', 'AP(rel=2)')
    """
    found = parse_request(text)
    if len(found) != 1:
        names = ", ".join(request.label for request in found)
        raise MeasureError(f"{text!r} means {len(found)} measures ({names}); name one of them.")
    return found[0].measure


def parse_measures(names: Iterable[str | Measure]) -> list[Request]:
    """The requested measures without duplicates, each with its name as the user wrote it."""
    if isinstance(names, (str, Measure)):
        names = [names]
    if not isinstance(names, Iterable):
        raise MeasureError(f"measures must be a list of names such as ['nDCG@10'], not {names!r}.")
    requests: dict[str, Request] = {}
    for name in names:
        if not isinstance(name, (str, Measure)):
            raise MeasureError(f"a measure must be a name such as 'nDCG@10', not {name!r}.")
        found = [Request(str(name), name.complete())] if isinstance(name, Measure) else parse_request(name)
        requests.update((request.label, request) for request in found)
    if not requests:
        raise MeasureError("no measures given; name at least one, such as nDCG@10.")
    return list(requests.values())


def parse_request(text: str) -> list[Request]:
    """The measures of one name: one, or several for `ndcg_cut.5,10` and bundles such as `official`."""
    text = text.strip()
    if text in BUNDLES:
        return [request for name in BUNDLES[text] for request in _family(FAMILIES[name], None)]
    trec = _parse_trec(text)
    return trec if trec is not None else [Request(text, _parse_call(text))]


def _parse_trec(text: str) -> list[Request] | None:
    """trec_eval's names: `map`, `ndcg_cut_10`, `ndcg_cut.5,10`, `ndcg.1=3,2=9`, `P_5`."""
    stem, dot, params = text.partition(".")
    if dot and stem in FAMILIES:
        if not FAMILIES[stem].parameter:
            name = trec_stems()[stem][0].name
            raise ParameterError(f"{stem} takes no parameters (trec_eval silently ignores them); see {name}.")
        return _family(FAMILIES[stem], params)
    if text in FAMILIES and text not in REGISTRY and text in trec_stems():
        return _family(FAMILIES[text], None, label=text)
    for name in _LONGEST_FIRST:
        if text.startswith(name + "_") and re.fullmatch(r"[\d.,=\-+epP]+", rest := text.removeprefix(name + "_")):
            return _family(FAMILIES[name], rest)
    return None


def _family(family: Family, params: str | None, label: str | None = None) -> list[Request]:
    definition, _ = trec_stems()[family.name]
    requests = []
    for suffix, given in family.settings(params, strict=True):
        measure = Measure(definition.name)(**{**family.fixed, **given}).complete()
        requests.append(Request(family.name + suffix if not label or suffix else label, measure))
    return requests


def _parse_call(text: str) -> Measure:
    match = _CALL.fullmatch(text)
    if not match:
        raise UnknownMeasureError(
            f"cannot read the measure {text!r}; write it like nDCG@10, AP(rel=2) or nDCG(gain='exp')@10."
        )
    name, args, at = known_name(match["name"]), match["args"], match["at"]
    definition = REGISTRY[name]
    fixed = {} if name == definition.name else definition.aliases[name]
    given = _keywords(text, args) if args else {}
    for twice in given.keys() & ({definition.at} if at is not None else set()):
        raise ParameterError(f"{text!r} gives {twice} twice, in parentheses and after the @; keep one.")
    for twice in given.keys() & fixed.keys():
        raise ParameterError(
            f"{name} means {twice}={fixed[twice]!r}; write {definition.name}({twice}=...) for another."
        )
    measure = Measure(definition.name)(**fixed, **given)
    if at is not None:
        measure = measure @ _literal(text, at)
    return measure.complete()


def _keywords(text: str, args: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"_{args}", mode="eval").body
    except SyntaxError:
        raise ParameterError(f"cannot read the parameters of {text!r}; write them like (rel=2, gain='exp').") from None
    if not isinstance(call, ast.Call) or call.args or any(keyword.arg is None for keyword in call.keywords):
        raise ParameterError(f"the parameters of {text!r} need names; write them like (rel=2, gain='exp').")
    names = [str(keyword.arg) for keyword in call.keywords]
    if len(set(names)) < len(names):
        raise ParameterError(f"{text!r} gives a parameter twice; keep one of them.")
    return {str(keyword.arg): _value(text, keyword.value) for keyword in call.keywords}


def _value(text: str, node: ast.expr) -> Any:
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ParameterError(
            f"cannot read a value in {text!r}; values are numbers, 'text' in quotes, True, False or maps like {{1: 3}}."
        ) from None


def _literal(text: str, value: str) -> Any:
    if value.isascii() and value.isdigit() and value[0] != "0":  # nearly all; literal_eval is much slower
        return int(value)
    try:
        return ast.literal_eval(value)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        raise ParameterError(f"cannot read {value!r} after the @ of {text!r}; it takes a number.") from None
