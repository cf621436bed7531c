"""Load plug-ins: Python files that a user names, and installed packages. Independent of what they add."""

from __future__ import annotations

import os
import sys
from functools import cache

from assay.errors import PluginError


@cache
def load_installed(group: str) -> tuple[str, ...]:
    """Import what installed packages offer under an entry point, such as `assay.measures`; the names of the entries.

    Searching packages takes a moment, so this is done only to list everything or to find an unknown name.
    """
    from importlib.metadata import entry_points

    names = []
    for entry in entry_points(group=group):
        try:
            entry.load()
        except Exception as error:
            raise PluginError(f"cannot load the plug-in {entry.name!r} ({entry.value}): {error}") from error
        names.append(entry.name)
    return tuple(names)


def load_file(path: str) -> None:
    """Import a Python file, whose decorators register what it adds."""
    from importlib.util import module_from_spec, spec_from_file_location

    name = f"assay_plugin:{os.path.abspath(path)}"
    spec = spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise PluginError(f"cannot load the plug-in {path}: it is not a Python file (.py).")
    module = sys.modules[name] = module_from_spec(spec)  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        del sys.modules[name]
        raise PluginError(f"cannot load the plug-in {path}: {type(error).__name__}: {error}") from error
