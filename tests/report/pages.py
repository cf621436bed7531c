"""The content of an HTML page, parsed by Python's own parser."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Page(HTMLParser):
    """Tags with the names of their attributes, in order; texts; the content of scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, ...]] = []
        self.texts: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []  # tag, name, value
        self.comments: list[str] = []
        self.raw: dict[str, str] = {}  # script, data, style -> content
        self._inside: str | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, *(name for name, _ in attrs)))
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        kind = {("script",): "script", ("style",): "style"}.get(self.tags[-1])
        self._inside = kind or ("data" if tag == "script" else None)
        if self._inside:
            self.raw[self._inside] = ""

    def handle_endtag(self, tag: str) -> None:
        self.tags.append((f"/{tag}",))
        self._inside = None

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        if self._inside:
            self.raw[self._inside] += data
        else:
            self.texts.append(data)

    @property
    def data(self) -> dict[str, Any]:
        return json.loads(self.raw["data"])

    def values_of(self, name: str) -> list[str]:
        return [value for _, found, value in self.attributes if found == name]
