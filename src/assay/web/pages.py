"""The pages of the workbench: for each address, the value that `report` makes, printed by its template or as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from msgspec import Struct
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from assay._version import __version__
from assay.errors import AssayError, UnknownMeasureError
from assay.measures import Definition, definition_of, parse_measure
from assay.report import evaluator, learning
from assay.report.evaluator.saving import saved
from assay.report.interactive.addresses import EVALUATOR, LEARN, MEASURES, measure_address
from assay.report.interactive.fields import Field, Given
from assay.report.interactive.rendering import SCRIPT, STYLE, THEME, Frame, render, workbench_style
from assay.report.measures import page as measures
from assay.report.measures.state import fields_of
from assay.report.measures.state import state_of as measure_state_of
from assay.web import charts
from assay.web.assets import Assets
from assay.web.description import describe
from assay.web.safety import csrf_of, form_of
from assay.web.settings import Settings

TASKS: dict[str, str] = {}  # heavy work of these pages, as MODULE:FUNCTION by name
BEFORE = "assay-before"  # the header with the address whose values a page shows differences to

_SAVE = f"{EVALUATOR}/save"


class View(Struct, frozen=True):
    """A page that changes with its address."""

    place: str  # in the navigation
    template: str
    path: str
    twin: str  # the address of its JSON
    fields: tuple[Field, ...]
    state_of: Callable[[Given], Any]
    page_of: Callable[[Any, Any], Any]  # of a state, and of the one before


LEARN_VIEW = View("learn", "learn.html", LEARN, "/learn.json", learning.FIELDS, learning.state_of, learning.page_of)
EVALUATOR_VIEW = View(
    "evaluator",
    "evaluator.html",
    EVALUATOR,
    f"{EVALUATOR}.json",
    evaluator.FIELDS,
    evaluator.state_of,
    evaluator.page_of,
)


def measure_view(definition: Definition) -> View:
    """The page of a measure."""
    path = measure_address(definition.name)
    return View(
        "measures",
        "measure.html",
        path,
        f"{path}.json",
        fields_of(definition),
        lambda given: measure_state_of(definition, given),
        lambda state, before: measures.page_of(definition, state, before),
    )


def style_sheets() -> dict[str, str]:
    """The style sheets that templates and reports share, by name."""
    return {STYLE: workbench_style()}


class Pages:
    """All pages of one workbench."""

    def __init__(self, settings: Settings, assets: Assets) -> None:
        self._settings = settings
        self._frame = Frame(
            {name: assets.address(name) for name in (STYLE, SCRIPT, THEME)},
            charts.address(),
            data=settings.data.name or str(settings.data),
            read_only=settings.read_only,
            version=__version__,
        )

    def routes(self) -> list[BaseRoute]:
        """The routes of all pages."""
        found: list[BaseRoute] = [
            Route("/openapi.json", self._description),
            Route(MEASURES, self._measures),
            Route(f"{MEASURES}.json", self._measures_json),
            Route(f"{MEASURES}/{{name}}.json", self._measure_json),
            Route(f"{MEASURES}/{{name}}", self._measure),
        ]
        for view in (LEARN_VIEW, EVALUATOR_VIEW):
            found += [Route(view.path, self._page(view)), Route(view.twin, self._twin(view))]
        if not self._settings.read_only:
            found.append(Route(_SAVE, self._save, methods=["POST"]))
        return found

    def error(self, status: int, words: str) -> str:
        """The page that says what went wrong."""
        try:
            title = HTTPStatus(status).phrase.capitalize()
        except ValueError:
            title = "Error"
        return render("error.html", self._frame, title=title, status=status, words=words)

    def _page(self, view: View) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            return self._answer(request, view)

        return endpoint

    def _twin(self, view: View) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            return _json(view.page_of(view.state_of(given_of(request)), before(request, view)))

        return endpoint

    def _answer(self, request: Request, view: View) -> Response:
        page = view.page_of(view.state_of(given_of(request)), before(request, view))
        query = urlsplit(page.address).query
        return self._html(
            request, view.template, view.place, page=page, twin=f"{view.twin}?{query}" if query else view.twin
        )

    async def _measures(self, request: Request) -> Response:
        return self._html(request, "measures.html", "measures", page=measures.list_page(), twin=f"{MEASURES}.json")

    async def _measures_json(self, request: Request) -> Response:
        return _json(measures.list_page())

    async def _measure(self, request: Request) -> Response:
        name = request.path_params["name"]
        definition = _known(name)
        if name != definition.name:  # another name of it, or one with a cutoff
            return RedirectResponse(measure_address(definition.name))
        return self._answer(request, measure_view(definition))

    async def _measure_json(self, request: Request) -> Response:
        return await self._twin(measure_view(_known(request.path_params["name"])))(request)  # type: ignore[no-any-return]

    async def _description(self, request: Request) -> Response:
        return _json(describe([LEARN_VIEW, EVALUATOR_VIEW], measure_view))

    async def _save(self, request: Request) -> Response:
        form = await form_of(request)
        state = evaluator.state_of(_fields(form.get("address", "")))
        files = saved(state, form.get("file", ""))
        request.app.state.data_folder.write_all(files.contents)
        return self._html(request, "saved.html", "evaluator", status=201, saved=files)

    def _html(self, request: Request, template: str, place: str, *, status: int = 200, **context: Any) -> Response:
        frame = msgspec.structs.replace(self._frame, csrf=csrf_of(request))
        return HTMLResponse(render(template, frame, place, **context), status)


def given_of(request: Request) -> Given:
    """The fields of a request's address."""
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    return given


def before(request: Request, view: View) -> Any:
    """The state that the page had before, if the request says so; what is none of its states is ignored."""
    address = request.headers.get(BEFORE, "")
    if urlsplit(address).path != view.path:
        return None
    try:
        return view.state_of(_fields(address))
    except AssayError:
        return None


def _fields(address: str) -> Mapping[str, list[str]]:
    return parse_qs(urlsplit(address).query, keep_blank_values=True)


def _known(name: str) -> Definition:
    """The measure of any of its names, with or without a cutoff."""
    stem = name.partition("@")[0].partition("(")[0]
    try:
        return definition_of(stem)
    except UnknownMeasureError as error:
        try:
            return parse_measure(name).definition
        except AssayError:
            raise HTTPException(404, str(error)) from None


def _json(value: Any) -> Response:
    return Response(msgspec.json.encode(value), media_type="application/json")
