"""Parse the names of measures: `nDCG(gain='exp')@10`, common aliases, and the names of other tools.

name[(key=literal, ...)][@cutoff]        as in ir_measures
nDCG@5,10                                several cutoffs
nDCG@10, AP RR@10                        several measures
ndcg_cut_10, ndcg_cut.5,10, map, P_5     trec_eval
official, set, all_trec                  trec_eval's bundles
hit_rate@10, r-precision, rbp.95         ranx
ndcg_at_10                               MTEB
"""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Iterator
from typing import Any

from msgspec import Struct

from assay.errors import MeasureError, NameWarning, ParameterError, UnknownMeasureError
from assay.measures.bundles import BUNDLES, FAMILIES, Family
from assay.measures.core import REGISTRY, Measure, known_name, load_families, trec_stems

_CALL = re.compile(r"\s*(?P<name>\w[\w-]*)\s*(?P<args>\(.*\))?\s*(?:@\s*(?P<at>[^@\s()]+))?\s*", re.DOTALL)
_LONGEST_FIRST = sorted((name for name, family in FAMILIES.items() if family.parameter), key=len, reverse=True)

_SEPARATOR = re.compile(r"[,\s]")
_NUMBER = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
_MORE = re.compile(rf"{_NUMBER}(?:={_NUMBER})?")  # continues the name before the comma: nDCG@5,10 or ndcg.1=3,2=9
_SEVERAL = re.compile(rf"(?P<stem>.*(?:@|_at_))(?P<values>\s*{_NUMBER}(?:\s*,\s*{_NUMBER})+)\s*", re.DOTALL)
_AT = re.compile(r"_at_(?=\d+$)")  # MTEB
_RANX_RBP = re.compile(r"rbp\.(?P<decimals>\d+)")
_OPENING, _CLOSING, _QUOTES = "([{", ")]}", "'\""


class Request(Struct, frozen=True):
    """A measure, and its name as the user wrote it."""

    label: str
    measure: Measure
    caution: str = ""  # what another tool means by this name


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
    """The requested measures without duplicates, each with its name as the user wrote it.

    Warns of names that mean something else in another tool.
    """
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
    for request in requests.values():
        if request.caution:
            warnings.warn(request.caution, NameWarning, stacklevel=2)
    if not requests:
        raise MeasureError("no measures given; name at least one, such as nDCG@10.")
    return list(requests.values())


def parse_request(text: str) -> list[Request]:
    """The measures of a text: one, or several for `nDCG@5,10`, `nDCG@10, AP` and bundles such as `official`."""
    names = _split(text) if _SEPARATOR.search(text) else [text]
    return [request for name in names for request in _parse_name(name)]


def _split(text: str) -> list[str]:
    """The names in a text, which commas and blanks separate, except within parentheses and lists of numbers."""
    names: list[str] = []
    for part in _between_commas(text):
        words = _between_blanks(part)
        if names and _MORE.fullmatch(words[0]):
            names[-1] += f",{words.pop(0)}"
        names += words
    return names or [text.strip()]


def _between_commas(text: str) -> list[str]:
    commas = [place for place in _outside(text) if text[place] == ","]
    pairs = zip([-1, *commas], [*commas, len(text)], strict=True)
    return [part for before, after in pairs if (part := text[before + 1 : after].strip())]


def _between_blanks(text: str) -> list[str]:
    """The words of a text. Blanks around @ and before parentheses separate nothing: `nDCG (gain='exp') @ 10` is one."""
    ends = [
        place
        for place in _outside(text)
        if text[place].isspace() and text[place:].lstrip()[:1] not in "@(" and text[:place].rstrip()[-1:] != "@"
    ]
    pairs = zip([0, *ends], [*ends, len(text)], strict=True)
    return [part for start, end in pairs if (part := text[start:end].strip())]


def _outside(text: str) -> Iterator[int]:
    """The places of a text that are in neither parentheses nor quotes."""
    depth, quote = 0, ""
    for place, character in enumerate(text):
        if quote:
            quote = "" if character == quote else quote
        elif character in _QUOTES:
            quote = character
        elif character in _OPENING:
            depth += 1
        elif character in _CLOSING:
            depth -= 1
        elif depth <= 0:
            yield place


def _parse_name(text: str) -> list[Request]:
    if text in BUNDLES:
        return [request for name in BUNDLES[text] for request in _family(FAMILIES[name], None)]
    if found := _RANX_RBP.fullmatch(text):
        return [_request(text, "rbp", Measure("RBP")(p=float(f"0.{found['decimals']}")))]
    trec = _parse_trec(text)
    if trec is not None:
        return trec
    if "," in text and (found := _SEVERAL.fullmatch(text)):
        return [_parse_call(found["stem"] + value.strip()) for value in found["values"].split(",")]
    return [_parse_call(text)]


def _request(label: str, name: str, measure: Measure) -> Request:
    """The request, with the caution of the name as it was written."""
    caution = measure.definition.cautions.get(name)
    return Request(label, measure, caution.format(name=label, measure=measure) if caution else "")


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


def _parse_call(text: str) -> Request:
    match = _CALL.fullmatch(_AT.sub("@", text))
    if not match:
        raise UnknownMeasureError(
            f"cannot read the measure {text!r}; write it like nDCG@10, AP(rel=2) or nDCG(gain='exp')@10."
        )
    _refuse_class(match["name"])
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
    return _request(text, match["name"], measure.complete())


def _refuse_class(name: str) -> None:
    """Refuse the Python classes of cwl_eval, whose parameters have no names and another order."""
    if not name.endswith("CWLMetric"):
        return
    load_families()
    for known in REGISTRY.values():
        if known.elsewhere.get("cwl_eval", "").partition("(")[0] == name:
            ours = known.elsewhere["ir_measures"].replace("@k", "@10")
            raise UnknownMeasureError(
                f"{name} is a Python class of cwl_eval, not a name; write {ours}, and see `assay measures explain {known.name}`."
            )


def _keywords(text: str, args: str) -> dict[str, Any]:
    try:
        call = ast.parse(f"_{args}", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # ValueError: half a character
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
