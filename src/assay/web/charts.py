"""The script that draws charts in a browser: made from the drawing package when it is first needed, and kept.

It is the bundle of Vega, Vega-Lite and Vega-Embed that the package holds, so nothing is downloaded. Making it takes a
second and a process that runs V8. It is kept in the user's cache folder; only in memory with --read-only, or where that cannot
be written.
"""

from __future__ import annotations

import asyncio
import gzip
import hashlib
import importlib.metadata
import importlib.util
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from assay.errors import InputError
from assay.web.assets import KINDS, packed_response
from assay.web.workers import Workers

TASK = "bundle of charts"
TASKS = {TASK: "assay.web.charts:make_bundle"}
SNIPPET = "window.assayCharts = { embed: vegaEmbed };"  # what `static/charts.js` uses
_PACKAGE = "vl-convert-python"


@cache
def version() -> str:
    """What decides the bundle: the version of the package that holds it, and what we make of it."""
    try:
        package = importlib.metadata.version(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        package = "none"
    return f"{package}-{hashlib.sha256(SNIPPET.encode()).hexdigest()[:8]}"


def address() -> str:
    """Where the bundle is served."""
    return f"/static/charts-{version()}.js"


def make_bundle() -> bytes:
    """The bundle in gzip, for a worker."""
    import vl_convert

    return gzip.compress(vl_convert.javascript_bundle(SNIPPET).encode(), 9, mtime=0)


class Bundle:
    """The bundle, once somebody has asked for it."""

    def __init__(self, workers: Workers, read_only: bool) -> None:
        self._workers, self._read_only = workers, read_only
        self._making: asyncio.Task[bytes] | None = None

    def routes(self) -> list[BaseRoute]:
        """The route of the bundle; it is another one for each version."""
        return [Route(address(), self._serve)]

    async def _serve(self, request: Request) -> Response:
        packed = await self.packed()
        return packed_response(request, lambda: gzip.decompress(packed), packed, KINDS[".js"], version())

    async def packed(self) -> bytes:
        """The bundle in gzip: made once, whoever asks first, and whoever of those who ask goes away."""
        if self._making is None or (self._making.done() and self._making.exception() is not None):
            self._making = asyncio.ensure_future(self._find())
        return await asyncio.shield(self._making)

    async def _find(self) -> bytes:
        file = _file()
        kept = await asyncio.to_thread(_read, file)
        if kept is not None:
            return kept
        if importlib.util.find_spec("vl_convert") is None:
            raise HTTPException(404, "drawing charts needs one more package: pip install 'assay-ir[web]'")
        packed: bytes = await self._workers.do(TASK)
        if not self._read_only:
            await asyncio.to_thread(_keep, file, packed)
        return packed


def _file() -> Path | None:
    """Where the bundle is kept; None without a home."""
    from assay.retrieval.caches import cache_folder

    try:
        return cache_folder() / "charts" / f"charts-{version()}.js.gz"
    except RuntimeError:  # no home folder is known
        return None


def _read(file: Path | None) -> bytes | None:
    """What was kept, if it is whole."""
    if file is None:
        return None
    try:
        packed = file.read_bytes()
        gzip.decompress(packed)
    except (OSError, EOFError, zlib.error):
        return None
    return packed


def _keep(file: Path | None, packed: bytes) -> None:
    from assay.files import write_whole

    with suppress(OSError, InputError):  # then it is made again another time
        if file is not None:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_whole(file, packed)
