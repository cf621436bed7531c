"""Packages: an sdist contains the whole project, and wheels are tagged by their content."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pytest

from conftest import ROOT


def _setuptools_version() -> int:
    try:
        return int(version("setuptools").split(".")[0])
    except PackageNotFoundError:
        return 0


pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(_setuptools_version() < 77, reason="needs setuptools>=77: pip install 'assay-ir[test]'"),
]

NOT_BUILT = (
    "assay: the native kernel was not built, because the C++ compiler is missing or failed; "
    "NumPy computes the same values, more slowly."
)
FAILING = {"CC": "false", "CXX": "false"}
MISSING = {"CC": "no-such-compiler", "CXX": "no-such-compiler"}


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("project") / "assay"
    shutil.copytree(ROOT, project, ignore=_left_behind)
    built, _ = _build("sdist", project)
    return built


@pytest.fixture
def project(sdist: Path, tmp_path: Path) -> Path:
    """The sdist, unpacked."""
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    return tmp_path / sdist.name.removesuffix(".tar.gz")


def test_an_sdist_is_the_whole_project(project):
    for folder in ("src/assay", "tests", "docs", "bench", "examples"):
        assert _files(ROOT / folder) == _files(project / folder)
    for name in ("LICENSE", "README.md", "Makefile", "constraints.txt", "setup.py", ".clang-format", ".ci/run"):
        assert (project / name).is_file()


def test_the_tests_run_in_an_unpacked_sdist(project):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "tests/unit/test_errors.py"],
        cwd=project,
        env=_with_package(project / "src"),
        capture_output=True,
        text=True,
        check=False,
    )

    assert 0 == done.returncode, done.stdout


@pytest.mark.parametrize("compiler", [FAILING, MISSING], ids=["failing", "missing"])
def test_without_a_working_compiler_a_wheel_is_pure_python(project, compiler):
    wheel, output = _build("wheel", project, compiler)

    assert [NOT_BUILT] == [line for line in output.splitlines() if "not built" in line]
    assert wheel.name.endswith("-py3-none-any.whl")
    assert ["Root-Is-Purelib: true", "Tag: py3-none-any"] == _wheel_metadata(wheel)
    assert _packaged(project) == _contents(wheel)


def test_with_a_compiler_a_wheel_holds_a_small_kernel_that_works(project, tmp_path):
    if not shutil.which((sysconfig.get_config_var("CXX") or "c++").split()[0]):
        pytest.skip("needs a C++ compiler")
    wheel, output = _build("wheel", project)
    tag = f"cp311-abi3-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"

    assert "not built" not in output
    assert wheel.name.endswith(f"-{tag}.whl")
    assert ["Root-Is-Purelib: false", f"Tag: {tag}"] == _wheel_metadata(wheel)
    assert wheel.stat().st_size < 1_700_000
    kernel = {"assay/native/_kernel.abi3.so"}
    assert _packaged(project) | kernel == _contents(wheel)

    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    assert b".debug_info" not in (tmp_path / "installed" / kernel.pop()).read_bytes()
    assert "native kernel" == _path_in_use(tmp_path / "installed")


def test_an_editable_install_without_a_compiler_leaves_no_old_kernel(project):
    old = project / "src" / "assay" / "native" / "_kernel.abi3.so"
    old.write_bytes(b"a kernel that does not fit the Python code any more")
    wheel, output = _build("editable", project, MISSING)

    assert [NOT_BUILT] == [line for line in output.splitlines() if "not built" in line]
    assert wheel.exists()
    assert "NumPy, kernel not built" == _path_in_use(project / "src")


def _left_behind(folder: str, names: list[str]) -> set[str]:
    """Files in a checkout that are not part of the project."""
    here = Path(folder)
    large = {"data"} if here == ROOT / "bench" else {"build", "dist", "benchmark-insurance"} if here == ROOT else set()
    return {*shutil.ignore_patterns(".git", ".venv*", ".hypothesis", "*_cache", "__pycache__")(folder, names), *large}


def _build(kind: str, project: Path, compiler: dict[str, str] | None = None) -> tuple[Path, str]:
    """Build as pip does, but with the installed setuptools instead of a downloaded one."""
    code = f"from setuptools import build_meta; build_meta.build_{kind}('dist')"
    (project / "dist").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=project,
        env={**os.environ, **(compiler or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert 0 == done.returncode, done.stdout
    (built,) = (project / "dist").iterdir()
    return built, done.stdout


def _files(folder: Path) -> set[str]:
    """The files of a folder that belong to the project."""
    found = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {path.as_posix() for path in found if not _is_by_product(path)}


def _is_by_product(path: Path) -> bool:
    return path.suffix in {".pyc", ".so"} or path.parts[0] in {"data", ".venvs", ".hypothesis"}


def _packaged(project: Path) -> set[str]:
    """The files that a wheel should contain, except the kernel."""
    package = _files(project / "src" / "assay")
    return {f"assay/{name}" for name in package if not name.endswith((".cpp", ".hpp"))}


def _contents(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def _wheel_metadata(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/WHEEL"))
        lines = archive.read(name).decode().splitlines()
    return [line for line in lines if line.startswith(("Root-Is-Purelib", "Tag"))]


def _path_in_use(folder: Path) -> str:
    code = "from assay import native; print(native.path_in_use())"
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=_with_package(folder), capture_output=True, text=True, check=True).stdout.strip()


def _with_package(folder: Path) -> dict[str, str]:
    """An environment in which `import assay` finds the package in a folder."""
    others = {name: value for name, value in os.environ.items() if name != "ASSAY_NATIVE"}
    return {**others, "PYTHONPATH": os.pathsep.join([str(folder), os.environ.get("PYTHONPATH", "")])}
