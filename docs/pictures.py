"""Take the pictures of docs/workbench.md anew: `make pictures`. Needs Debian's chromium, and playwright from the extra `test`."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from assay.report.evaluator.presets import PRESETS

FOLDER = Path(__file__).parent / "pictures"


class Picture(Struct, frozen=True):
    """What is on a picture."""

    name: str
    address: str
    height: int
    width: int = 1200
    scheme: str = "light"
    start: str = ""  # the element that the picture begins with


EXAMPLES = {preset.title: preset.state.address for preset in PRESETS}
PICTURES = (
    Picture("learn", "/", 1000),
    Picture("evaluator", EXAMPLES["A page of results"], 1000),
    Picture("two-lists", EXAMPLES["Before and after"], 950, width=1280, scheme="dark"),
    Picture("phone", "/measures/nDCG", 760, width=360, start="#example"),
)


def main() -> int:
    """Take all pictures; returns the exit status."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium")
    if chromium is None:
        print("chromium is not installed: apt-get install chromium", file=sys.stderr)
        return 1
    FOLDER.mkdir(exist_ok=True)
    with _workbench() as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for picture in PICTURES:
            _take(browser, address, picture)
            print(f"docs/pictures/{picture.name}.png")
        browser.close()
    return 0


@contextmanager
def _workbench() -> Iterator[str]:
    """The address of a workbench whose data folder is empty."""
    with tempfile.TemporaryDirectory() as around:
        folder = Path(around) / "my-folder"
        folder.mkdir()
        command = [sys.executable, "-m", "assay", "serve", "--no-open", "--data", str(folder)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                yield re.findall(r"http://\S+(?=/)", process.stdout.readline())[0]  # type: ignore[union-attr]
            finally:
                process.terminate()


def _take(browser: Any, address: str, picture: Picture) -> None:
    size = {"width": picture.width, "height": picture.height}
    page = browser.new_page(viewport=size, color_scheme=picture.scheme, reduced_motion="reduce")
    page.goto(address + picture.address, wait_until="networkidle")
    if picture.start:
        page.locator(picture.start).evaluate("element => element.scrollIntoView()")
    page.screenshot(path=FOLDER / f"{picture.name}.png")
    page.close()


if __name__ == "__main__":
    sys.exit(main())
