"""Fetch axe-core, which checks pages for accessibility, into this environment, from its npm package.

The package is not installed or run: its digest is checked, and one file is taken out of it. Without npm, the tests that
need it are skipped, and say so.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "axe-core", "4.14.1"
DIGEST = "e6b0ce02b84d892e2e33e403485e7f3d6c29e2be6df65daf44d89ba564139745"
MEMBER = "package/axe.min.js"


def script() -> Path:
    """Where the script is, or would be: in the environment of the Python that runs this."""
    return Path(sys.prefix) / "share" / f"axe-core-{VERSION}" / "axe.min.js"


def reason() -> str | None:
    """Why it is not here, after trying to fetch it; None if it is."""
    if script().exists():
        return None
    npm = shutil.which("npm")
    if npm is None:
        return "npm is not installed"
    with tempfile.TemporaryDirectory() as folder:
        asked = [npm, "pack", "--silent", "--ignore-scripts", f"{PACKAGE}@{VERSION}"]
        done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
        packed = next(Path(folder).glob("*.tgz"), None)
        if done.returncode or packed is None:
            return f"npm could not fetch {PACKAGE}@{VERSION}"
        return _unpacked(packed)


def _unpacked(packed: Path) -> str | None:
    with packed.open("rb") as file:
        if hashlib.file_digest(file, "sha256").hexdigest() != DIGEST:
            return f"{PACKAGE}@{VERSION} is not the package that was checked"
    place = script()
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"axe-{os.getpid()}.part")
    with tarfile.open(packed) as archive, part.open("wb") as file:
        member = archive.extractfile(MEMBER)
        assert member is not None
        shutil.copyfileobj(member, file)
    part.replace(place)
    return None


if __name__ == "__main__":
    problem = reason()
    if problem:
        sys.stdout.write(f"axe-core is not here ({problem}): the tests that need it will be skipped.\n")
