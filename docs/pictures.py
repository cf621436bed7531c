"""Take the pictures of docs/workbench.md and docs/notebook.md anew: `make pictures`.

Needs Debian's chromium, and playwright and nbclient from the extra `test`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
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
CELLS = (
    "import assay\nfrom assay.example import QRELS, RUNS\n\n"
    'assay.evaluate_runs(QRELS, RUNS, ["nDCG@10", "AP", "RR@10"])',
    'comparison = assay.compare(QRELS, RUNS, ["nDCG@10", "AP", "RR@10"], baseline="keyword")\ncomparison',
    "comparison.plot()",
)
# As notebooks look: numbered cells, and tables with every second row shaded.
NOTEBOOK_STYLE = """
    body { margin: 16px; font: 14px/1.4 system-ui, sans-serif; color: #111; }
    .cell { display: grid; grid-template-columns: 60px 1fr; gap: 6px 10px; margin-bottom: 10px; }
    .prompt { font: 13px monospace; color: #306998; text-align: right; padding-top: 8px; }
    pre { margin: 0; padding: 8px 10px; background: #f5f5f5; border: 1px solid #e0e0e0; font: 13px/1.4 monospace; }
    table { border-collapse: collapse; font-size: 12px; }
    th, td { padding: 0.5em; }
    tbody tr:nth-child(odd) { background: #f5f5f5; }
    p { margin: 8px 0; }
"""


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
        _take_notebook(browser)
        print("docs/pictures/notebook.png")
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


def _take_notebook(browser: Any) -> None:
    page = browser.new_page(viewport={"width": 900, "height": 100})
    page.set_content(f"<style>{NOTEBOOK_STYLE}</style>{''.join(_cells())}")
    page.screenshot(path=FOLDER / "notebook.png", full_page=True)
    page.close()


def _cells() -> Iterator[str]:
    """The cells of a notebook with what a real kernel answers."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(code) for code in CELLS])
    NotebookClient(notebook).execute()
    for number, cell in enumerate(notebook.cells, 1):
        data = cell.outputs[0].data
        answer = data.get("image/svg+xml") or data["text/html"]
        yield f'<div class="cell"><div class="prompt">[{number}]:</div><pre>{escape(cell.source)}</pre>'
        yield f'<div class="prompt"></div><div>{answer}</div></div>'


if __name__ == "__main__":
    sys.exit(main())
