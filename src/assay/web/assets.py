"""Scripts and style sheets, known when the workbench starts, at addresses that name their content."""

from __future__ import annotations

import gzip
import hashlib
import re
from collections.abc import Callable, Mapping
from functools import cached_property
from importlib.resources import files

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

FOREVER = "public, max-age=31536000, immutable"
KINDS = {".js": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8"}
_WORTH_PACKING = 1 << 10  # bytes


class Asset:
    """One file, packed when it is first asked for."""

    def __init__(self, name: str, content: bytes) -> None:
        self.kind = KINDS[name[name.rindex(".") :]]
        self.content = content

    @cached_property
    def packed(self) -> bytes | None:
        """The content in gzip; None if that is not worth it."""
        return gzip.compress(self.content, 9, mtime=0) if len(self.content) > _WORTH_PACKING else None


class Assets:
    """The files of `web/static` and the style sheets that were given.

    All addresses share one digest, so that scripts can import each other by relative names.
    """

    def __init__(self, sheets: Mapping[str, str]) -> None:
        self._assets = {name: Asset(name, content) for name, content in {**_static(), **_encoded(sheets)}.items()}
        self.digest = _digest({name: asset.content for name, asset in self._assets.items()})

    def address(self, name: str) -> str:
        """Where a file is served; a name that is not there is a mistake of ours."""
        if name not in self._assets:
            raise KeyError(name)
        return f"/static/{self.digest}/{name}"

    def routes(self) -> list[BaseRoute]:
        """The routes of all files."""
        return [Route("/static/{digest}/{name}", self._serve)]

    async def _serve(self, request: Request) -> Response:
        asset = self._assets.get(request.path_params["name"])
        if asset is None or request.path_params["digest"] != self.digest:
            raise HTTPException(404, "there is no such file. The workbench may be a newer one: load the page again.")
        return packed_response(request, lambda: asset.content, asset.packed, asset.kind, self.digest)


def packed_response(
    request: Request, content: Callable[[], bytes], packed: bytes | None, kind: str, version: str
) -> Response:
    """The answer with a file that never changes."""
    headers = {"Cache-Control": FOREVER, "ETag": f'"{version}"', "Vary": "Accept-Encoding"}
    if f'"{version}"' in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    if packed is not None and accepts_gzip(request.headers.get("accept-encoding", "")):
        return Response(packed, headers={**headers, "Content-Encoding": "gzip"}, media_type=kind)
    return Response(content(), headers=headers, media_type=kind)


def accepts_gzip(header: str) -> bool:
    """Whether a client unpacks gzip.

    >>> accepts_gzip("br, gzip;q=0.5"), accepts_gzip("gzip;q=0"), accepts_gzip("identity")
    (True, False, False)
    """
    for part in header.split(","):
        name, _, weight = part.strip().lower().partition(";")
        if name.strip() in ("gzip", "*"):
            return re.fullmatch(r"q=0(\.0*)?", weight.strip()) is None
    return False


def _static() -> dict[str, bytes]:
    folder = files("assay.web") / "static"
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.name.endswith(tuple(KINDS))}


def _encoded(sheets: Mapping[str, str]) -> dict[str, bytes]:
    return {name: sheet.encode() for name, sheet in sheets.items()}


def _digest(contents: Mapping[str, bytes]) -> str:
    digest = hashlib.sha256()
    for name, content in sorted(contents.items()):
        digest.update(f"{name} {len(content)}\n".encode() + content)
    return digest.hexdigest()[:16]
