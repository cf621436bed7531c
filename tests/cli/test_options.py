"""What options and arguments of several commands mean."""

from __future__ import annotations

import pytest

from assay.cli.options import split_name


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("bm25.run", (None, "bm25.run")),
        ("new=bm25.run", ("new", "bm25.run")),
        ("new=k1=0.9.run", ("new", "k1=0.9.run")),  # the first = ends the name
        ("new=-", ("new", "-")),
        ("=bm25.run", (None, "=bm25.run")),  # no name: a path that starts with =
        ("new=", (None, "new=")),
        ("k1=0.9.run", (None, "k1=0.9.run")),  # this file exists
        ("b=0.4/bm25.run", (None, "b=0.4/bm25.run")),  # this one too
        ("k1=1.2.run", ("k1", "1.2.run")),  # this one does not
    ],
)
def test_a_name_is_what_comes_before_the_first_equals_sign_unless_such_a_file_exists(
    tmp_path, monkeypatch, argument, expected
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "k1=0.9.run").touch()
    (tmp_path / "b=0.4").mkdir()
    (tmp_path / "b=0.4" / "bm25.run").touch()

    assert expected == split_name(argument)
