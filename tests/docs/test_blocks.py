"""Every block of the documentation gives the output that the page shows."""

from __future__ import annotations

import pytest

from assay.measures.core import REGISTRY, load_families
from docs.blocks import failures, generated_pages, hand_written_pages, rewritten


@pytest.fixture
def registry():
    """A page may add a measure, which other tests should not see."""
    load_families()
    before = dict(REGISTRY)
    yield
    REGISTRY.clear()
    REGISTRY.update(before)


@pytest.mark.parametrize("page", [*hand_written_pages(), *generated_pages()], ids=lambda page: page.name)
def test_every_block_comes_out_as_written(page, tmp_path, registry):
    found = failures(page, tmp_path)

    assert not found, "\n\n".join(found)


PAGE = """\
<!-- file: names.txt -->
```text
b
a
```

```console
$ sort names.txt
a
b
$ sort \\
> -r names.txt
```

```python
>>> total = 1
>>> __import__("os").listdir()
['names.txt']
```

```python
>>> total + 1
3
```
"""


def test_a_wrong_block_is_found_with_its_line(tmp_path):
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    command, example = failures(page, tmp_path)

    assert "page.md:11: $ sort \\\n> -r names.txt\n--- the page says\n--- it prints\nb\na\n" == command
    assert "line 22, in page.md\nFailed example:\n    total + 1\nExpected:\n    3\nGot:\n    2\n" in example


def test_blocks_that_nothing_runs_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```pyhton\n1\n```\n\n```python\n1\n```\n\n```console\nassay\n```\n")

    assert [
        "page.md:2: language 'pyhton' is neither run nor shown only",
        "page.md:6: a python block needs lines that start with '>>> '",
        "page.md:10: a console block needs a line that starts with '$ '",
    ] == failures(page, tmp_path)


def test_outputs_can_be_written_anew(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo new\nold\n```\n")

    assert "```console\n$ echo new\nnew\n```\n" == rewritten(page, tmp_path)
