"""Builds the native kernel, which is optional: without it NumPy computes the same values, more slowly.

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
# -g0: Python's own flags ask for debug symbols, which would make the kernel twenty times as large.
UNIX_FLAGS = ["-std=c++17", "-O3", "-g0", "-fvisibility=hidden", "-pthread"]
MICROSOFT = sys.platform == "win32"
KERNEL = Extension(
    "assay.native._kernel",
    sources=sorted(glob(f"{SOURCES}/*.cpp")),
    depends=sorted(glob(f"{SOURCES}/*.hpp")),
    language="c++",
    extra_compile_args=["/std:c++17", "/O2"] if MICROSOFT else UNIX_FLAGS,
    extra_link_args=[] if MICROSOFT else ["-pthread"],
    py_limited_api=True,  # one build for all versions from 3.11 on
)
NOT_BUILT = (
    "assay: the native kernel was not built, because the C++ compiler is missing or failed; "
    "NumPy computes the same values, more slowly."
)


class BuildKernel(build_ext):
    """Builds the kernel. If that fails, the package is pure Python, and the build says so and goes on."""

    def run(self) -> None:
        """Build, or leave the kernel out."""
        folders = [self.build_lib, *(["src"] if self.inplace else [])]
        try:
            super().run()
        except (BaseError, CCompilerError) as problem:
            # A kernel left over from an earlier build may not fit the Python code.
            for folder in folders:
                Path(folder, self.get_ext_filename(KERNEL.name)).unlink(missing_ok=True)
            self.extensions = self.distribution.ext_modules = []
            self.announce(str(problem), logging.INFO)
            self.announce(NOT_BUILT, logging.WARNING)


class TaggedByContent(bdist_wheel):
    """Tags the wheel by whether the kernel was built, not by whether there was one to build."""

    def run_command(self, command: str) -> None:
        """Look at the outcome of `build`, which comes before everything that depends on the tag."""
        super().run_command(command)
        if command == "build":
            self.root_is_pure = not self.distribution.has_ext_modules()


setup(
    ext_modules=[KERNEL],
    cmdclass={"build_ext": BuildKernel, "bdist_wheel": TaggedByContent},
    options={"bdist_wheel": {"py_limited_api": "cp311"}},
)
