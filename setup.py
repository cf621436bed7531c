"""Build the optional native kernel. Without it NumPy computes the same values, more slowly.

Everything else about the package is in pyproject.toml.
"""

import logging
import sys
from glob import glob
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.errors import BaseError, CCompilerError

SOURCES = "src/assay/native"
# -g0: Python's default flags add debug symbols, which would make the kernel twenty times as large.
UNIX_FLAGS = ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-pthread"]
MICROSOFT = sys.platform == "win32"
KERNEL = Extension(
    "assay.native._kernel",
    sources=sorted(glob(f"{SOURCES}/*.cpp")),
    depends=sorted(glob(f"{SOURCES}/*.hpp")),
    language="c++",
    extra_compile_args=["/std:c++17", "/O2"] if MICROSOFT else UNIX_FLAGS,
    extra_link_args=[] if MICROSOFT else ["-pthread"],
    py_limited_api=True,  # one build for Python 3.11 and all later versions
)
NOT_BUILT = (
    "assay: the native kernel was not built, because the C++ compiler is missing or failed; "
    "NumPy computes the same values, more slowly."
)


class BuildKernel(build_ext):
    """Build the kernel; if that fails, warn and continue with a pure Python package."""

    def run(self) -> None:
        """Build the kernel or leave it out."""
        folders = [self.build_lib, *(["src"] if self.inplace else [])]
        try:
            super().run()
        except (BaseError, CCompilerError) as problem:
            # A kernel left over from an earlier build may not match the Python code.
            for folder in folders:
                Path(folder, self.get_ext_filename(KERNEL.name)).unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []
            self.announce(str(problem), logging.INFO)
            self.announce(NOT_BUILT, logging.WARNING)


class TaggedByContent(bdist_wheel):
    """Tag the wheel by whether the kernel was actually built."""

    def run_command(self, command: str) -> None:
        """Check the result of `build`, which runs before anything that depends on the tag."""
        super().run_command(command)
        if command == "build":
            self.root_is_pure = not self.distribution.has_ext_modules()


setup(
    ext_modules=[KERNEL],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": TaggedByContent},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
