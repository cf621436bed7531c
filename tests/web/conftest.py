"""Servers that all tests of the workbench ask."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from web.browser import Tab, launched
from web.servers import Server, serving, serving_parts


@pytest.fixture(scope="session")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a run and judgments, a folder, and what nobody may see."""
    folder = tmp_path_factory.mktemp("around") / "data"
    (folder / "more").mkdir(parents=True)
    (folder / "my.run").write_text("q1 Q0 a 1 2.0 x\nq1 Q0 b 2 1.0 x\n")
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    (folder / "more" / "other.run").write_text("q1 Q0 b 1 2.0 x\n")
    (folder / ".hidden").write_text("hidden\n")
    (folder.parent / "outside.txt").write_text("outside\n")
    (folder / "link").symlink_to("../outside.txt")
    (folder / "linked").symlink_to("..")
    return folder


@pytest.fixture(scope="session")
def workbench(data: Path) -> Iterator[Server]:
    """`assay serve` as users start it."""
    with serving(data) as server:
        yield server


@pytest.fixture(scope="session")
def parts(data: Path) -> Iterator[Server]:
    """The same server with pages for tests. It has faults on purpose, and shows no trace of them."""
    with serving_parts(data) as server:
        yield server
    assert "Traceback" not in server.err


@pytest.fixture(scope="session")
def lan(data: Path) -> Iterator[Server]:
    """A server that believes that other machines can reach it, so that it asks for a token."""
    with serving_parts(data, settings={"host": "192.0.2.7", "ip": "192.0.2.7"}) as server:
        yield server


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser. Each module has its own: two of Playwright's loops cannot run in one process, and other folders have theirs."""
    with launched() as browser:
        yield browser


@pytest.fixture
def tab(browser: Any, workbench: Server) -> Iterator[Callable[..., Tab]]:
    """Opens pages of the workbench, with options of Playwright's contexts; at the end, nothing may have gone wrong on any."""
    tabs: list[Tab] = []

    def opened(address: str = "/", **context: Any) -> Tab:
        tabs.append(Tab(browser, context.pop("server", workbench), **context))
        return tabs[-1].open(address)

    yield opened
    for each in tabs:
        each.close()
