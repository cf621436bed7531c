"""How a model wants to be used, by the configuration in its folder, as sentence-transformers writes it.

modules.json                          the steps after the transformer: pooling, dense layers, normalisation
1_Pooling/config.json                 the pooling
sentence_bert_config.json             the length in tokens, and whether texts are converted to lower case
config_sentence_transformers.json     prompts, put before queries and documents, and the similarity
tokenizer_config.json, config.json    the length in tokens, where the first says nothing
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay.errors import RetrievalError

POOLINGS = ("mean", "first", "last", "max")  # over all tokens, the first one ([CLS]), the last one, the largest values
DEFAULT_LENGTH = 256
_MODULES, _PROMPTS = "modules.json", "config_sentence_transformers.json"
_TOKENIZER, _TRANSFORMER = "tokenizer_config.json", "config.json"
_LENGTHS = "sentence_*config.json"  # sentence_bert_config.json; older models have sentence_roberta_config.json
_HARMLESS = ("Transformer", "Pooling", "Normalize", "Dropout")  # modules that change nothing else in a vector
_UNKNOWN_LENGTH = 1_000_000  # tokenizers write a huge number where they have no limit
_OUR_POOLING = {  # by the names of sentence-transformers
    "mean_tokens": "mean",
    "mean": "mean",
    "cls_token": "first",
    "cls": "first",
    "lasttoken": "last",
    "max_tokens": "max",
    "max": "max",
}
_FROM_2 = ("roberta", "xlm-roberta", "camembert", "mpnet")
_QUERY, _DOCUMENT = ("query",), ("document", "passage", "corpus")  # prompts, the first that there is


class ModelSettings(Struct, frozen=True):
    """How a model wants to be used; None or empty where its folder does not say."""

    pooling: str | None = None
    max_length: int | None = None
    query_prefix: str | None = None
    document_prefix: str | None = None
    normalise: bool | None = None
    lower_case: bool = False
    unsupported: str = ""  # what the model does after pooling that its ONNX file may lack, in words
    sources: Mapping[str, str] = {}  # the file that says it, by the name of the setting


def settings_files(folder: Path) -> tuple[str, ...]:
    """The files of a model folder that say how it is used, relative to it; those that exist, sorted."""
    names = {_MODULES, _PROMPTS, _TOKENIZER, _TRANSFORMER, *(path.name for path in folder.glob(_LENGTHS))}
    names |= {f"{place}/config.json" for place in _module_folders(folder)}
    names |= {path.relative_to(folder).as_posix() for path in folder.glob("*_Pooling/config.json")}
    return tuple(sorted(name for name in names if (folder / name).is_file()))


def is_settings_file(name: str) -> bool:
    """Whether a file of a repository may say how its model is used."""
    place, _, last = name.rpartition("/")
    if place:
        return last == "config.json" and place.partition("_")[0].isdigit() and "/" not in place
    return last in (_MODULES, _PROMPTS, _TOKENIZER, _TRANSFORMER) or Path(last).match(_LENGTHS)


def read_settings(folder: Path) -> ModelSettings:
    """How the model in a folder wants to be used. Raises RetrievalError if a file cannot be read."""
    found: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for file, told in (*_pooling(folder), *_after_pooling(folder), *_prompts(folder), *_lengths(folder)):
        for name, value in told.items():
            if name not in found and value is not None:
                found[name] = value
                sources[name] = file
    return ModelSettings(**found, sources=sources)


def _pooling(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    told = []
    for file in (name for name in settings_files(folder) if "Pooling/" in name):
        said = _object(folder, file)
        wanted = [name.removeprefix("pooling_mode_") for name, on in said.items() if on is True and "_mode_" in name]
        if isinstance(said.get("pooling_mode"), str):  # newer versions
            wanted = [said["pooling_mode"]]
        names = [_OUR_POOLING.get(name, name) for name in wanted]
        odd = "pooling without the prompt" if said.get("include_prompt") is False else ""
        told.append((file, {"pooling": " and ".join(names) or None, "unsupported": odd or None}))
    return told


def _after_pooling(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    names = [str(module.get("type", "")).rpartition(".")[2] for module in _modules(folder)]
    others = [name for name in names if name not in _HARMLESS]
    return [(_MODULES, {"normalise": True if "Normalize" in names else None, "unsupported": ", ".join(others) or None})]


def _prompts(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    said = _object(folder, _PROMPTS)
    given = said.get("prompts")
    prompts: dict[str, Any] = given if isinstance(given, dict) else {}
    default = prompts.get(str(said.get("default_prompt_name")))

    def first(names: tuple[str, ...]) -> Any:
        return next((prompts[name] for name in names if isinstance(prompts.get(name), str)), default)

    similarity = said.get("similarity_fn_name")
    told = {
        "query_prefix": first(_QUERY),
        "document_prefix": first(_DOCUMENT),
        "normalise": {"cosine": True, "dot": False}.get(similarity) if isinstance(similarity, str) else None,
    }
    return [(_PROMPTS, told)]


def _lengths(folder: Path) -> list[tuple[str, dict[str, Any]]]:
    told: list[tuple[str, dict[str, Any]]] = []
    for path in sorted(folder.glob(_LENGTHS)):
        if path.name != _PROMPTS:
            said = _object(folder, path.name)
            lower = True if said.get("do_lower_case") is True else None
            told.append((path.name, {"max_length": _length(said.get("max_seq_length")), "lower_case": lower}))
    limits = {
        _TOKENIZER: _length(_object(folder, _TOKENIZER).get("model_max_length")),
        _TRANSFORMER: _positions(_object(folder, _TRANSFORMER)),
    }
    known = {file: limit for file, limit in limits.items() if limit is not None}
    if known:
        file = min(known, key=lambda file: known[file])
        told.append((file, {"max_length": known[file]}))
    return told


def _positions(config: Mapping[str, Any]) -> int | None:
    """The positions that texts can use; models in the manner of RoBERTa number them from 2."""
    positions = _length(config.get("max_position_embeddings"))
    return positions - 2 if positions is not None and config.get("model_type") in _FROM_2 else positions


def _length(value: object) -> int | None:
    return value if isinstance(value, int) and 3 <= value < _UNKNOWN_LENGTH else None


def _module_folders(folder: Path) -> list[str]:
    found = [module.get("path") for module in _modules(folder)]
    return [place for place in found if isinstance(place, str) and place and ".." not in place]


def _modules(folder: Path) -> list[dict[str, Any]]:
    said = _read(folder, _MODULES)
    return [module for module in said if isinstance(module, dict)] if isinstance(said, list) else []


def _object(folder: Path, name: str) -> dict[str, Any]:
    said = _read(folder, name)
    return said if isinstance(said, dict) else {}


def _read(folder: Path, name: str) -> Any:
    """The content of a JSON file, or an empty object if there is none."""
    try:
        return json.loads((folder / name).read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        said = getattr(error, "strerror", None) or "not JSON"
        raise RetrievalError(f"{folder / name}: cannot be read: {said}. Repair or remove this file.") from None
