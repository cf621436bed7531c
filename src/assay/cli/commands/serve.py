"""assay serve."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import click

from assay.cli import say, write
from assay.errors import MissingExtraError, show_id

SECTION = "Learn"


@click.command(
    "serve",
    short_help="Learn and try measures in the browser.",
    epilog="Example: assay serve --data my-folder",
)
@click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    help="Name or address to listen on. If other machines can connect to it, the link that is printed has a token.",
)
@click.option(
    "--port", type=click.IntRange(1, 65535), help="Port to listen on.  [default: the first free one from 8000 on]"
)
@click.option("--no-open", is_flag=True, help="Do not open the browser.")
@click.option(
    "--data",
    default=".",
    type=click.Path(exists=True, file_okay=False),
    metavar="DIR",
    help="Folder that lists are saved in.  [default: the current folder]",
)
@click.option("--read-only", is_flag=True, help="Save nothing: the data folder stays as it is.")
def command(host: str, port: int | None, no_open: bool, data: str, read_only: bool) -> None:
    """Open the workbench: pages in the browser that explain measures and evaluate lists of results.

    It works offline, and sends nothing anywhere. Ctrl-C ends it.
    """
    if any(importlib.util.find_spec(package) is None for package in ("starlette", "uvicorn")):
        raise MissingExtraError("the workbench", "web")
    from assay.web.serving import bound, link, listen, open_browser, serve, workbench
    from assay.web.settings import Settings

    with listen(host, port) as listener:
        settings = bound(Settings(Path(data).resolve(), host=host, read_only=read_only), listener)
        app = workbench(settings, say)
        app.state.door.on_exchange = lambda: write(f"For the next browser: {link(app)}\n")
        write(f"Workbench: {link(app)}  (data: {show_id(data, 300)}; Ctrl-C ends it)\n")
        browser = None if no_open else open_browser(link(app))
        try:
            serve(app, listener, say)
        finally:
            if browser is not None:
                browser.poll()
