"""Run the command line as a user would, in a separate process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def assay(*arguments: object, stdin: bytes = b"", cwd: Path | None = None, env: dict[str, str] | None = None):
    """The finished process: returncode, and stdout and stderr as text."""
    done = subprocess.run(
        [sys.executable, "-m", "assay", *map(str, arguments)],
        input=stdin,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "100", **(env or {})},
        check=False,
    )
    done.stdout, done.stderr = done.stdout.decode("utf-8", "surrogateescape"), done.stderr.decode("utf-8", "replace")
    return done
