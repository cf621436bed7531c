"""The routes of the workbench, and what they need: a placeholder."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from assay.web.assets import Assets
from assay.web.errors import plain_page as error_page
from assay.web.settings import Settings

__all__ = ["TASKS", "error_page", "routes", "style_sheets"]

TASKS: dict[str, str] = {}  # what workers do: a name, and MODULE:FUNCTION


def style_sheets() -> dict[str, str]:
    """The style sheets that reports share, by name."""
    return {}


def routes(settings: Settings, assets: Assets) -> list[BaseRoute]:
    """All pages."""

    async def home(request: Request) -> Response:
        return HTMLResponse("<!doctype html><html lang=en><title>assay</title><h1>Workbench</h1>")

    return [Route("/", home)]
