"""Comments in the C++ sources name only files that exist."""

from __future__ import annotations

import re

from conftest import ROOT

NATIVE = ROOT / "src" / "assay" / "native"
SOURCES = sorted([*NATIVE.glob("*.?pp"), *(ROOT / "tests" / "native" / "fuzz").glob("*.?pp")])
_FILE = re.compile(r"[\w/]+\.(?:py|[ch]pp)\b")


def test_files_named_in_the_sources_exist():
    named = [(source, name) for source in SOURCES for name in _FILE.findall(source.read_text(encoding="utf-8"))]

    assert len(named) > 50
    assert [] == [
        f"{source.name}: {name}"
        for source, name in named
        if not any((folder / name).is_file() for folder in (source.parent, NATIVE, NATIVE.parent))
    ]
