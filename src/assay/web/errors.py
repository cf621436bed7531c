"""What goes wrong, as an answer in words: never a trace, and nothing about the machine."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from html import escape
from http import HTTPStatus

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from assay.errors import AssayError, show_id
from assay.report.interactive.fields import FieldError
from assay.web.settings import Settings

ErrorPage = Callable[[int, str], str]
Tell = Callable[[str], None]

LONGEST = 4000  # characters of a message
FIELD = "assay-field"  # the header that names the field that cannot be read
FAULT = "a fault in assay; the terminal has it."
DEBUG = "ASSAY_DEBUG"
_USUAL = {  # instead of the words of HTTP
    404: "there is no such page.",
    405: "this address takes no such request.",
}


def plain_page(status: int, words: str) -> str:
    """The smallest page that says what is wrong."""
    title = f"{status} {_phrase(status)}"
    return f'<!doctype html>\n<html lang="en">\n<title>{escape(title)}</title>\n<h1>{escape(title)}</h1>\n<p>{escape(words)}</p>\n'


class Answers:
    """Turns errors into answers, and tells the terminal about those that are ours."""

    def __init__(self, settings: Settings, error_page: ErrorPage, tell: Tell) -> None:
        self._settings, self._error_page, self._tell = settings, error_page, tell

    def answer(self, request: Request, error: Exception) -> Response:
        """The answer to a request that ended in an error."""
        if isinstance(error, HTTPException):
            words = error.detail
            if words == _phrase(error.status_code):
                words = _USUAL.get(error.status_code, f"{words}.")
            return self._response(request, error.status_code, words, dict(error.headers or {}))
        if isinstance(error, AssayError):
            return self._response(request, 400, str(error), _place_of(error))
        self._tell_fault(request, error)
        return self._response(request, 500, FAULT, {})

    def _response(self, request: Request, status: int, words: str, headers: dict[str, str]) -> Response:
        shown = show_id(words.replace(f"{self._settings.data}{os.sep}", ""), LONGEST)
        if wants_json(request):
            return JSONResponse({"error": shown}, status, headers)
        try:
            page = self._error_page(status, shown)
        except Exception as error:
            self._tell_fault(request, error)
            page = plain_page(status, shown)
        return HTMLResponse(page, status, headers)

    def _tell_fault(self, request: Request, error: Exception) -> None:
        """Tell the terminal, without the query: it may hold what is nobody's business."""
        if os.environ.get(DEBUG):
            self._tell("".join(traceback.format_exception(error)).rstrip("\n"))
        what = show_id(f"{type(error).__name__}: {error}".rstrip(": "), 300)
        place = show_id(f"{request.method} {request.url.path}", 200)
        self._tell(f"Error: a fault in assay at {place} ({what}). Please report it, with what {DEBUG}=1 shows.")


class Errors:
    """Answers each error of the application inside it."""

    def __init__(self, app: ASGIApp, answers: Answers) -> None:
        self._app, self._answers = app, answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        started = False

        async def noting(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, noting)
        except ClientDisconnect:
            pass  # nobody is left to be answered
        except Exception as error:
            answer = self._answers.answer(Request(scope), error)
            if not started:  # otherwise the connection is closed, so that the client sees that a part is missing
                await answer(scope, receive, send)


def _place_of(error: AssayError) -> dict[str, str]:
    """Which field cannot be read, and which of its values, so that the page shows the words there."""
    if not isinstance(error, FieldError):
        return {}
    return {FIELD: error.field if error.place is None else f"{error.field} {error.place}"}


def wants_json(request: Request) -> bool:
    """Whether the answer is for a program.

    An address that ends in .json always is.
    """
    accepted = request.headers.get("accept", "")
    return request.url.path.endswith(".json") or ("json" in accepted and "html" not in accepted)


def _phrase(status: int) -> str:
    try:
        return HTTPStatus(status).phrase
    except ValueError:
        return "Error"
