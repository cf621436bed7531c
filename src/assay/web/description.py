"""What the JSON addresses take and give, as an OpenAPI description that is made from the fields of the pages."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from assay._version import __version__
from assay.measures import Definition, definitions
from assay.report.interactive.addresses import MEASURES
from assay.report.interactive.fields import Field


def describe(views: Iterable[Any], measure_view: Callable[[Definition], Any]) -> dict[str, Any]:
    """The description of all JSON addresses."""
    paths = {view.twin: _path(f"The page {view.path} as data", view.fields) for view in views}
    paths[f"{MEASURES}.json"] = _path("All measures", ())
    for definition in definitions():
        view = measure_view(definition)
        paths[view.twin] = _path(f"{definition.name}: {definition.summary}", view.fields)
    return {
        "openapi": "3.1.0",
        "info": {"title": "assay workbench", "version": __version__},
        "paths": paths,
    }


def _path(summary: str, fields: Iterable[Field]) -> dict[str, Any]:
    said = {"application/json": {"schema": {"type": "object", "required": ["error"]}}}
    return {
        "get": {
            "summary": summary,
            "parameters": [_parameter(field) for field in fields],
            "responses": {
                "200": {
                    "description": "The page as data",
                    "content": {"application/json": {"schema": {"type": "object", "required": ["schema"]}}},
                },
                "400": {"description": "What is wrong with a field, in words", "content": said},
                "414": {"description": "The address is too long", "content": said},
            },
        }
    }


def _parameter(field: Field) -> dict[str, Any]:
    found = {"name": field.name, "in": "query", "description": field.meaning, "schema": field.kind.schema}
    return found | ({"example": field.example} if field.example else {})
