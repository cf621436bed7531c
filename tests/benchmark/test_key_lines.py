"""Messages about a recipe name the right line, whatever comes before it."""

from __future__ import annotations

import tomllib

from assay.benchmark.key_lines import key_lines, line_of

TEXT = '''\
# depth = 1
collection = "a # b"   # not a [table]

measures = [
  "nDCG@10",   # ] of no meaning
  "AP",
]
words = """
depth = 2
"""
depth = 3

[[mode]]
name = "one"
[[mode]]
  name = "two"
  "k 1" = 0.9
[other.table]
a.b = {c = 1}
'''


def test_keys_are_found_behind_comments_lists_and_long_texts():
    lines = key_lines(TEXT)

    assert {"collection": 2, "measures": 4, "words": 8, "depth": 11} == {
        path[0]: line for path, line in lines.items() if len(path) == 1
    }
    assert (14, 16, 17) == (lines["mode", 0, "name"], lines["mode", 1, "name"], lines["mode", 1, "k 1"])
    assert (18, 19) == (lines["other", "table"], lines["other", "table", "a", "b"])


def test_every_key_that_tomllib_sees_has_a_line():
    def paths(value, path=()):
        yield path
        if isinstance(value, dict):
            for key, inner in value.items():
                yield from paths(inner, (*path, key))
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            for number, inner in enumerate(value):
                yield from paths(inner, (*path, number))

    lines = key_lines(TEXT)

    assert [] == [
        path for path in paths(tomllib.loads(TEXT)) if path and line_of(lines, path) is None and len(path) > 1
    ]


def test_what_has_no_line_of_its_own_has_that_of_what_is_around_it():
    lines = key_lines(TEXT)

    assert 19 == line_of(lines, ("other", "table", "a", "b", "c"))
    assert None is line_of(lines, ("nowhere",))
