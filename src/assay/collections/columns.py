"""Field names of a collection's files, as given by users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.collections import judgments
from assay.collections.locating import ROLES
from assay.errors import InputError, did_you_mean, show_id
from assay.formats.chosen import parse_columns
from assay.inputs import documents, queries
from assay.inputs.fields import Columns

FIELDS = {"corpus": tuple(documents.NAMES), "queries": tuple(queries.NAMES), "qrels": tuple(judgments.NAMES)}
_EXAMPLE = "corpus.id=sku, corpus.text=name+features"


def columns_by_role(columns: Mapping[str, Any] | None) -> dict[str, Columns]:
    """Field names by the role of their file; without roles, they are for the documents.

    >>> columns_by_role({"id": "sku"}), columns_by_role({"queries": {"text": "utterance"}})
    ({'corpus': {'id': 'sku'}}, {'queries': {'text': 'utterance'}})
    """
    given = dict(columns or {})
    if given and not any(role in given for role in ROLES):
        given = {"corpus": given}
    for role, fields in given.items():
        if role not in ROLES or not isinstance(fields, Mapping):
            raise InputError(
                f"columns: '{show_id(str(role))}' is not one of {', '.join(ROLES)} with a map of fields, such as "
                "{'corpus': {'id': 'sku', 'text': ['name', 'features']}}"
            )
        _refuse_unknown(role, fields)
    return given


def _refuse_unknown(role: str, fields: Mapping[str, Any]) -> None:
    for field, names in fields.items():
        if field not in FIELDS[role]:
            hint = did_you_mean(str(field), FIELDS[role]) or "."
            raise InputError(
                f"columns: {role} has no field '{show_id(str(field))}'{hint} It has {', '.join(FIELDS[role])}."
            )
        several = names if isinstance(names, (list, tuple)) else [names]
        if not several or not all(isinstance(name, str) and name for name in several):
            raise InputError(f"columns: the {field} of {role} must be a field name or a list of field names.")


def parse_collection_columns(texts: Iterable[str]) -> dict[str, dict[str, str | list[str]]]:
    """Field names from the texts of --columns; a comma joins the fields of a role, as a plus does.

    >>> parse_collection_columns(["corpus.id=sku,corpus.text=name+features", "queries.text=a,b"])
    {'corpus': {'id': 'sku', 'text': ['name', 'features']}, 'queries': {'text': ['a', 'b']}}
    """
    found: dict[str, dict[str, str | list[str]]] = {}
    for place, names in parse_columns(texts, example=_EXAMPLE, join_commas=True).items():
        role, dot, field = place.partition(".")
        if not (dot and field) or role not in ROLES:
            raise InputError(
                f"columns '{show_id(place)}': expected ROLE.FIELD=NAME, with role {', '.join(ROLES)}, such as {_EXAMPLE}."
            )
        found.setdefault(role, {})[field] = (
            names[0] if len(names) == 1 and not set(names[0]) & set('+"') else list(names)
        )
    return found


def parse_files(texts: Iterable[str]) -> dict[str, str]:
    """File names by role, from the texts of --file.

    >>> parse_files(["corpus=products.parquet"])
    {'corpus': 'products.parquet'}
    """
    found: dict[str, str] = {}
    for text in texts:
        role, equals, name = text.partition("=")
        if not equals or not name or role.strip() not in ROLES:
            raise InputError(
                f"file '{show_id(text)}': expected ROLE=NAME, with role {', '.join(ROLES)}, such as corpus=products.parquet."
            )
        found[role.strip()] = name
    return found
