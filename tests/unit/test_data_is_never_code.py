"""Nothing that is read is run: no pickle, no eval, no YAML that makes objects, no shell."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import assay

SOURCES = sorted(Path(assay.__file__).parent.rglob("*.py"))
MODULES = {"pickle", "marshal", "shelve", "dill", "joblib", "cloudpickle", "jsonpickle"}
CALLS = {
    "eval",
    "exec",
    "compile",
    "__import__",
    "os.system",
    "os.popen",
    "yaml.unsafe_load",
    "yaml.full_load",
    "torch.load",
}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_no_module_can_run_what_it_reads(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    imported = {
        name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, (ast.Import, ast.ImportFrom))
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""])
    }
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    shells = [word for call in calls for word in call.keywords if word.arg in ("shell", "allow_pickle")]

    assert set() == imported & MODULES
    assert set() == {ast.unparse(call.func) for call in calls} & CALLS
    assert [] == [ast.unparse(word) for word in shells if ast.unparse(word.value) != "False"]


def test_headers_in_yaml_make_plain_values_only():
    yaml = pytest.importorskip("yaml")
    from assay.formats import header_yaml

    assert issubclass(header_yaml._HeaderLoader, (yaml.SafeLoader, header_yaml._Safe))
    assert header_yaml._Safe in (yaml.SafeLoader, getattr(yaml, "CSafeLoader", None))
    loading = [path.name for path in SOURCES if "yaml.load(" in path.read_text(encoding="utf-8")]
    assert ["header_yaml.py"] == loading
