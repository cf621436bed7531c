"""The model of a mode: its name is checked when the mode is made, it is fetched before, and found when it is used."""

from __future__ import annotations

from collections.abc import Mapping

from assay.errors import MissingModelError, RetrievalError
from assay.retrieval.base import Progress
from assay.retrieval.model_kinds import ModelKind
from assay.retrieval.models import (
    MODELS,
    ModelFiles,
    check_model_name,
    find_model,
    get_model,
    is_folder_name,
    require_kind,
)
from assay.retrieval.onnx_models import library_versions


def check_model(model: object, kind: ModelKind, use: str) -> None:
    """Raise RetrievalError unless this can be a model of this kind."""
    if not isinstance(model, str):
        raise RetrievalError(f"model cannot be {model!r}; it takes a name or a folder.")
    check_model_name(model)
    if model in MODELS:
        require_kind(model, MODELS[model].kind, kind, use)


def check_whole(name: str, value: object, low: int, of: str = "") -> None:
    """Raise RetrievalError unless a setting is a whole number of at least `low`, or not given."""
    if value is not None and (not isinstance(value, int) or isinstance(value, bool) or value < low):
        raise RetrievalError(f"{name} cannot be {value!r}; it takes a whole number of at least {low}{of}.")


def fetch_model(model: str, kind: ModelKind, use: str, progress: Progress | None = None) -> None:
    """Fetch the model, unless it is installed, and check that it is of this kind."""
    library_versions(use.lower())  # fail before a download if the package is missing
    require_kind(model, get_model(model, progress).kind, kind, use)


def installed_model(model: str) -> ModelFiles:
    """The files of the model; raises if it is not installed."""
    found = find_model(model)
    if found is not None:
        return found
    if is_folder_name(model):
        return get_model(model)  # raises, and says what is missing
    raise MissingModelError(f"the model {model} is not installed. Get it with: assay models get {model}.")


def overridden(given: Mapping[str, object], own: Mapping[str, object]) -> dict[str, object]:
    """What a model says itself where a recipe says something else, as a setting; empty if there is nothing.

    >>> overridden({"max_length": 64, "query_prefix": None}, {"max_length": 512, "query_prefix": "query: "})
    {'instead_of': {'max_length': 512}}
    """
    found = {name: value for name, value in own.items() if value is not None and given[name] not in (None, value)}
    return {"instead_of": found} if found else {}
