"""Field names of a collection's files, as given by users."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from assay.collections import judgments
from assay.collections.locating import ROLES
from assay.errors import InputError, did_you_mean, show_id
from assay.inputs import documents, queries
from assay.inputs.fields import Columns

FIELDS = {"corpus": tuple(documents.NAMES), "queries": tuple(queries.NAMES), "qrels": tuple(judgments.NAMES)}
_EXAMPLE = "Examples: corpus.id=sku, corpus.text=name,features."


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


def parse_columns(texts: Iterable[str]) -> dict[str, dict[str, str | list[str]]]:
    """Field names from the texts of --columns.

    >>> parse_columns(["corpus.id=sku", "corpus.text=name,features"])
    {'corpus': {'id': 'sku', 'text': ['name', 'features']}}
    """
    found: dict[str, dict[str, str | list[str]]] = {}
    for text in texts:
        place, equals, names = text.partition("=")
        role, dot, field = place.strip().partition(".")
        if not (equals and dot and field and names.strip()) or role not in ROLES:
            raise InputError(
                f"columns '{show_id(text)}': expected ROLE.FIELD=NAME, with role {', '.join(ROLES)}. {_EXAMPLE}"
            )
        given = [name.strip() for name in names.split(",")]
        found.setdefault(role, {})[field] = given[0] if len(given) == 1 else given
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
