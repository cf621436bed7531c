"""The pages of the workbench: for each address, the value that `report` makes, printed by its template or as JSON."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, parse_qs, urlencode, urlsplit

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

LONG_LISTS = "evaluator of long lists"
TASKS = {LONG_LISTS: "assay.report.evaluator:page_from"}  # heavy work of these pages, as MODULE:FUNCTION by name
# Pages of more take so long that others would wait for them.
LONG, MANY = 150, 1000  # results of both lists; judged documents that are in neither
BEFORE = "assay-before"  # the header with the address whose values a page shows differences to

_SAVE, _SAVED = f"{EVALUATOR}/save", f"{EVALUATOR}/saved"


class View(Struct, frozen=True):
    """A page that changes with its address."""

    place: str  # in the navigation
    template: str
    path: str
    twin: str  # the address of its JSON
    fields: tuple[Field, ...]
    state_of: Callable[[Given], Any]
    page_of: Callable[[Any, Any], Any]  # of a state, and of the one before
    task: str = ""  # that makes the page of a heavy state from the fields of both, in a process of its own
    kind: type[Struct] | None = None  # of that page
    is_heavy: Callable[[Any], bool] = lambda state: False


LEARN_VIEW = View("learn", "learn.html", LEARN, "/learn.json", learning.FIELDS, learning.state_of, learning.page_of)
EVALUATOR_VIEW = View(
    "evaluator",
    "evaluator.html",
    EVALUATOR,
    f"{EVALUATOR}.json",
    evaluator.FIELDS,
    evaluator.state_of,
    evaluator.page_of,
    LONG_LISTS,
    evaluator.EvaluatorPage,
    lambda state: len(state.grades) + len(state.other) > LONG or len(state.missed) + (state.relevant or 0) > MANY,
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
            found += [Route(_SAVE, self._save, methods=["POST"]), Route(_SAVED, self._saved)]
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
            return await self._answer(request, view)

        return endpoint

    def _twin(self, view: View) -> Callable[[Request], Any]:
        async def endpoint(request: Request) -> Response:
            return _json(await page_value(request, view))

        return endpoint

    async def _answer(self, request: Request, view: View) -> Response:
        page = await page_value(request, view)
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
        if name != definition.name:
            return RedirectResponse(_own_address(name, definition, request))
        return await self._answer(request, measure_view(definition))

    async def _measure_json(self, request: Request) -> Response:
        return await self._twin(measure_view(_known(request.path_params["name"])))(request)  # type: ignore[no-any-return]

    async def _description(self, request: Request) -> Response:
        return _json(describe([LEARN_VIEW, EVALUATOR_VIEW], measure_view))

    async def _save(self, request: Request) -> Response:
        form = await form_of(request)
        address = _split(form.get("address", ""))
        if address is None or address.path != EVALUATOR:
            raise HTTPException(400, "the form names no list. Load the page again.")
        files = saved(evaluator.state_of(_fields(address)), form.get("file", ""))
        request.app.state.data_folder.write_all(files.contents)
        # To another address, so that the answer can be loaded again without writing again.
        query = urlencode([("file", form["file"]), ("address", form["address"])])
        return RedirectResponse(f"{_SAVED}?{query}", 303)

    async def _saved(self, request: Request) -> Response:
        address = _split(request.query_params.get("address", ""))
        if address is None or address.path != EVALUATOR:
            raise HTTPException(404, "there is no such page.")
        files = saved(evaluator.state_of(_fields(address)), request.query_params.get("file", ""))
        for name in files.contents:
            request.app.state.data_folder.inside(name)
        return self._html(request, "saved.html", "evaluator", saved=files)

    def _html(self, request: Request, template: str, place: str, *, status: int = 200, **context: Any) -> Response:
        frame = msgspec.structs.replace(self._frame, csrf=csrf_of(request))
        return HTMLResponse(render(template, frame, place, **context), status)


def given_of(request: Request) -> Given:
    """The fields of a request's address."""
    given: dict[str, list[str]] = {}
    for name, value in request.query_params.multi_items():
        given.setdefault(name, []).append(value)
    return given


async def page_value(request: Request, view: View) -> Any:
    """The page of a request; where that is heavy, it is made in another process, and others are answered meanwhile."""
    given, old = given_of(request), given_before(request, view)
    state = view.state_of(given)
    if view.is_heavy(state):
        found = await request.app.state.workers.do(view.task, given, old)
        return msgspec.convert(found, view.kind)
    return view.page_of(state, None if old is None else view.state_of(old))


def given_before(request: Request, view: View) -> Given | None:
    """The fields of the state that the page had before, if the request says so; what is none of its states is ignored."""
    address = _split(request.headers.get(BEFORE, ""))
    if address is None or address.path != view.path:
        return None
    try:
        view.state_of(_fields(address))
    except AssayError:
        return None
    return _fields(address)


def _split(address: str) -> SplitResult | None:
    """The parts of an address that a client sent; None if it is none."""
    try:
        return urlsplit(address)
    except ValueError:
        return None


def _fields(address: SplitResult) -> Given:
    return parse_qs(address.query, keep_blank_values=True)


def _own_address(name: str, definition: Definition, request: Request) -> str:
    """The address of a measure that was asked for by another name of it, or by one with a cutoff."""
    fields = {each.name for each in fields_of(definition)} - set(request.query_params)
    try:
        parameters = parse_measure(name).params
    except AssayError:
        parameters = ()
    named = [(f"p.{key}", str(value)) for key, value in parameters if f"p.{key}" in fields]
    query = urlencode([*named, *request.query_params.multi_items()])
    return measure_address(definition.name) + (f"?{query}" if query else "")


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
