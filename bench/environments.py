"""A separate environment for each tool, under bench/.venvs. Knows packages, not measurements."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).resolve().parent
PROJECT = BENCH.parent
FOLDER = BENCH / ".venvs"
OURS = "assay"
# What pip installs; ours is the work tree, with Arrow for the Arrow cases and polars for generating data.
PACKAGES: dict[str, tuple[str, ...]] = {
    OURS: ("polars",),
    "pytrec_eval": ("pytrec-eval-terrier",),
    "ir_measures": ("ir-measures",),
    "ranx": ("ranx",),
    "plot": ("vl-convert-python",),
}
SHOWN = ("assay-ir", "numpy", "pyarrow", "pytrec-eval-terrier", "ir-measures", "ranx", "numba")  # versions in results
ONE_BLAS_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
NOT_SOURCE = (".*", "bench", "tests", "docs", "build", "dist", "*.egg-info", "*.so", "__pycache__")


def plain_environ() -> dict[str, str]:
    """The environment variables of every measured process: this one's, without settings that change Python's behaviour.

    OpenBLAS, which no tool here uses, gets one thread: its idle threads keep a core busy for about 80 ms after NumPy is
    imported.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ASSAY_"))}
    return kept | ONE_BLAS_THREAD


def ready(name: str) -> str:
    """The interpreter of an environment, installed first if it is missing or, for ours, out of date."""
    python = FOLDER / name / "bin" / "python"
    stamp = FOLDER / name / ".installed"
    wanted = json.dumps([*PACKAGES[name], source_digest() if name == OURS else ""])
    if not stamp.exists() or stamp.read_text() != wanted:
        sys.stderr.write(f"Installing {name} into {python.parents[1].relative_to(PROJECT)} ...\n")
        stamp.unlink(missing_ok=True)
        if not python.exists():
            run_quietly([sys.executable, "-m", "venv", str(python.parents[1])])
        install_ours(python) if name == OURS else pip_install(python, *PACKAGES[name])
        compile_bytecode(python, FOLDER / name / "lib")
        stamp.write_text(wanted)
    return str(python)


def install_ours(python: Path) -> None:
    """Install the work tree as users would, built from a copy to leave the tree unchanged."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "assay"
        shutil.copytree(PROJECT, copy, ignore=shutil.ignore_patterns(*NOT_SOURCE))
        pip_install(python, f"{copy}[frames]", *PACKAGES[OURS])
        # Even if the version is the same as before.
        pip_install(python, "--force-reinstall", "--no-deps", str(copy))


def pip_install(python: Path, *packages: str) -> None:
    """Install packages from pip's configured registry."""
    run_quietly([str(python), "-m", "pip", "--disable-pip-version-check", "-q", "install", *packages])


def compile_bytecode(python: Path, *folders: Path) -> None:
    """Compile the bytecode; otherwise, if writing bytecode is turned off, every start would compile it again."""
    # Some packages contain files that are not Python 3; compileall reports them and compiles the rest.
    command = [str(python), "-m", "compileall", "-q", *map(str, folders)]
    subprocess.run(command, env=plain_environ(), capture_output=True, check=False)


def run_quietly(command: list[str]) -> None:
    """Run a command; show its output only if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")


def source_digest() -> str:
    """A digest of all sources of the installed package."""
    digest = hashlib.sha256()
    ignored = shutil.ignore_patterns(*NOT_SOURCE)
    for folder, folders, files in os.walk(PROJECT):
        folders[:] = sorted(set(folders) - ignored(folder, folders))
        for name in sorted(set(files) - ignored(folder, files)):
            path = Path(folder) / name
            digest.update(str(path.relative_to(PROJECT)).encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def versions(python: str) -> dict[str, str]:
    """The versions of Python and of the relevant packages in an environment."""
    code = (
        "import importlib.metadata as m, json, platform, sys\n"
        "found = {d.metadata['Name'].lower().replace('_', '-'): d.version for d in m.distributions()}\n"
        "print(json.dumps({'python': platform.python_version(), **{n: found[n] for n in sys.argv[1:] if n in found}}))"
    )
    done = subprocess.run([python, "-c", code, *SHOWN], capture_output=True, text=True, check=True)
    found: dict[str, str] = json.loads(done.stdout)
    return found
