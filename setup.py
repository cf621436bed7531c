"""The native kernel, an optional extension: without a compiler the package installs all the same, and NumPy does its work.

Everything else about the package stands in pyproject.toml.
"""

import sys
from glob import glob

from setuptools import Extension, setup

MICROSOFT = sys.platform == "win32"
KERNEL = Extension(
    "assay.native._kernel",
    sources=sorted(glob("src/assay/native/*.cpp")),
    depends=sorted(glob("src/assay/native/*.hpp")),
    language="c++",
    extra_compile_args=["/std:c++17", "/O2"] if MICROSOFT else ["-std=c++17", "-O3", "-fvisibility=hidden", "-pthread"],
    extra_link_args=[] if MICROSOFT else ["-pthread"],
    py_limited_api=True,  # one build for all versions from 3.11 on
    optional=True,
)

setup(ext_modules=[KERNEL], options={"bdist_wheel": {"py_limited_api": "cp311"}})
