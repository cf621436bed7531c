"""All parts of the workbench, put together."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute

from assay.errors import for_terminal
from assay.web.assets import Assets
from assay.web.charts import TASKS, Bundle
from assay.web.data_folder import DataFolder
from assay.web.errors import Answers, ErrorPage, Errors, Tell, plain_page
from assay.web.safety import Door, Guard, SafeHeaders
from assay.web.settings import Settings
from assay.web.workers import Workers


def tell_terminal(text: str) -> None:
    """Say something where the workbench was started."""
    sys.stderr.write(for_terminal(text) + "\n")
    sys.stderr.flush()


def make_app(
    settings: Settings,
    routes: Sequence[BaseRoute],
    *,
    assets: Assets | None = None,
    tasks: Mapping[str, str] | None = None,
    error_page: ErrorPage = plain_page,
    tell: Tell = tell_terminal,
) -> Starlette:
    """The workbench as an application.

    An endpoint finds in `request.app.state`: `settings`, `data_folder`, `workers`, `assets` and `door`.
    """
    assets = assets or Assets({})
    door = Door(settings)
    answers = Answers(settings, error_page, tell)
    workers = Workers({**TASKS, **(tasks or {})})

    async def answer(request: Request, error: Exception) -> Response:
        return answers.answer(request, error)

    app = Starlette(
        routes=[*Bundle(workers, settings.read_only).routes(), *assets.routes(), *routes],
        middleware=[
            Middleware(SafeHeaders),
            Middleware(Errors, answers),
            Middleware(Guard, settings, door),
        ],
        exception_handlers={HTTPException: answer},  # otherwise Starlette answers them in its own words
    )
    app.state.settings, app.state.door, app.state.assets = settings, door, assets
    app.state.data_folder = DataFolder(settings.data, settings.read_only)
    app.state.workers = workers
    return app
