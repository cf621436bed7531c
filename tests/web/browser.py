"""Pages of the workbench in a real browser: what they show, and that nothing else happens on the way."""

from __future__ import annotations

import math
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from web.servers import PATIENCE, Server

WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
"""
# All values of the page: by section, those of rows in their order, and the others by measure.
SHOWN = """() => {
  const found = {};
  for (const output of document.querySelectorAll("main output[data-measure]")) {
    const section = (found[output.closest("section").id] ??= { rows: [], figures: [] });
    if (output.closest("tr[data-row], li[data-row]")) section.rows.push(output.textContent);
    else section.figures.push([output.dataset.measure, output.textContent]);
  }
  return found;
}"""
# The difference beside each value: the nearest place that has one for this value alone.
CHANGES = """() => [...document.querySelectorAll("main output[data-measure]")]
  .filter((output) => !output.closest("[data-row]"))
  .map((output) => {
    let around = output.parentElement;
    while (!around.querySelector(".change")) around = around.parentElement;
    return [output.dataset.measure, around.querySelectorAll(".change").length, around.querySelector(".change").textContent];
  })"""
INPUTS = """() => [...document.querySelector("form[data-state]").elements]
  .filter((input) => input.name && (!["radio", "checkbox"].includes(input.type) || input.checked))
  .map((input) => [input.name, input.value])"""
TABLE = """(tables) => tables.flatMap((table) => {
  const heads = [...table.tHead.rows[0].cells].map((cell) => cell.textContent.trim());
  return [...table.tBodies[0].rows].map((row) => [...row.cells].map((cell, place) => [heads[place], cell.textContent.replace(/\\s+/g, " ").trim()]));
})"""


@contextmanager
def launched() -> Iterator[Any]:
    """Chromium; without it, the test is skipped."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="opening pages needs playwright")
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("opening pages needs chromium (apt-get install chromium)")
    with sync_api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Tab:
    """A page, all that it asked for, and all that it complained about."""

    def __init__(self, browser: Any, server: Server, **context: Any) -> None:
        self.server = server
        self.may_be_refused = False  # whether the test sends what the server refuses
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.context = browser.new_context(
            **{"base_url": server.address, "viewport": {"width": 1280, "height": 900}, **context}
        )
        self.context.set_default_timeout(PATIENCE * 1000)
        self.context.add_init_script(WATCH)
        self.context.on("request", lambda request: self.requests.append(request.url))
        self.context.on("console", lambda message: self.trouble.append(f"{message.type}: {message.text}"))
        self.context.on("weberror", lambda error: self.trouble.append(str(error.error)))
        self.page = self.context.new_page()
        self.scripts = context.get("java_script_enabled", True)

    def open(self, address: str = "/") -> Tab:
        """Go to a page, and wait for its scripts."""
        self.page.goto(address)
        if self.scripts:
            self.ready()
            self.page.evaluate("window.here = true")
        return self

    def ready(self) -> None:
        """Wait for the scripts of a page."""
        self.page.wait_for_selector("html[data-ready]", state="attached")

    def reload(self) -> None:
        """Load the page again."""
        self.page.reload()
        self.ready()
        self.page.evaluate("window.here = true")

    def stayed(self) -> bool:
        """Whether the page was not loaded again since it was opened."""
        return bool(self.page.evaluate("window.here === true"))

    def soon(self, expected: Any, actual: Callable[[], Any]) -> None:
        """Wait until something is as expected; if that never comes, show what is different."""
        end = time.monotonic() + PATIENCE
        while (found := actual()) != expected and time.monotonic() < end:
            self.page.wait_for_timeout(10)

        assert expected == found, different(expected, found)

    def by(self, role: str, name: str) -> Any:
        """The element with this role and name."""
        return self.page.get_by_role(role, name=name, exact=True)

    def section(self, key: str) -> Any:
        return self.page.locator(f"section#{key}")

    def rows(self, key: str) -> list[str]:
        """The values of the rows of a section."""
        return list(self.page.evaluate(SHOWN).get(key, {"rows": []})["rows"])

    def figures(self, key: str) -> dict[str, str]:
        """The values of a section by measure."""
        pairs = self.page.evaluate(SHOWN).get(key, {"figures": []})["figures"]
        found = dict(pairs)
        assert len(found) == len(pairs), pairs
        return found

    def changes(self) -> dict[str, str]:
        """The differences to the state before by measure; empty where nothing changed."""
        found: dict[str, str] = {}
        for measure, number, text in self.page.evaluate(CHANGES):
            assert number == 1, (measure, number)
            assert found.setdefault(measure, text) == text
        return found

    def table(self, tables: Any) -> list[dict[str, str]]:
        """The rows of tables by the heads of their columns, also where they are folded away."""
        return [dict(row) for row in tables.evaluate_all(TABLE)]

    def inputs(self) -> dict[str, list[str]]:
        """What stands in the inputs, by field."""
        found: dict[str, list[str]] = {}
        for name, value in self.page.evaluate(INPUTS):
            found.setdefault(name, []).append(value)
        return found

    def query(self) -> dict[str, list[str]]:
        """The fields of the address."""
        return parse_qs(urlsplit(self.page.url).query, keep_blank_values=True)

    def focused(self) -> str:
        """The name of what has the focus."""
        return str(
            self.page.evaluate(
                "(document.activeElement.getAttribute('aria-label') ?? document.activeElement.labels?.[0]?.textContent"
                " ?? document.activeElement.textContent).trim()"
            )
        )

    def said(self) -> str:
        """The last words for a screen reader."""
        return str(self.page.locator("#said").text_content())

    def refusal(self) -> str:
        """The words beside an input that the server refused."""
        words = [text.strip() for text in self.page.locator(".trouble").all_text_contents()]
        return " ".join(text for text in words if text)

    def close(self) -> None:
        """Check what happened on the way."""
        expected = ["status of 400", "status of 404"] if self.may_be_refused else []
        trouble = [text for text in self.trouble if not any(words in text for words in expected)]
        outside = [url for url in self.requests if not url.startswith((self.server.address + "/", "data:", "blob:"))]
        violations = self.page.evaluate("window.violations ?? []") if self.scripts else []
        cookies = self.context.cookies()
        self.context.close()

        everything = {"trouble": trouble, "outside": outside, "violations": violations, "cookies": cookies}
        assert not any(everything.values()), everything


def different(expected: Any, found: Any) -> str:
    """What is different, part by part."""
    if isinstance(expected, dict) and isinstance(found, dict):
        keys = [key for key in {**expected, **found} if expected.get(key) != found.get(key)]
        return "; ".join(f"{key}: {different(expected.get(key), found.get(key))}" for key in keys)
    return f"expected {expected!r}, found {found!r}"


def shown(value: float) -> str:
    """A value as pages show it."""
    return "–" if math.isnan(value) else f"{value:.4f}"


def signed(change: float) -> str:
    """A difference as pages show it; nothing if there is none."""
    if change == 0 or math.isnan(change):
        return ""
    text = f"{change:+.4f}"
    return text if float(text) else f"{text[0]}<0.0001"


def all_shown(values: Mapping[str, float]) -> dict[str, str]:
    return {measure: shown(value) for measure, value in values.items()}
