"""ir_metadata: the headers of run files, read, kept and written back."""

from __future__ import annotations

import gzip
import json
import sys
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation import evaluate
from assay.formats.ir_metadata import (
    header_text,
    parse_metadata,
    read_metadata,
    render_metadata,
    write_with_metadata,
)

# The form of the examples that come with ir_metadata (https://www.ir-metadata.org).
HEADER = """\
# ir_metadata.start
# schema_version: 0.1
# platform:
#   hardware:
#     cpu:
#       model: "Intel Xeon Gold 6144 CPU @ 3.50GHz"
#       number_cores: 16
#     ram: 64 GB
#   operating system:
#     kernel: 5.4.0-90-generic
#     distribution: 'Ubuntu 20.04.3 LTS'
# implementation:
#   executable:
#     cmd: ./bin/search arg01 arg02 input output
#   source:
#     lang:
#       - python
#       - c
#     repository: https://github.com/castorini/anserini
#     commit: 9548cd6
# resources:
#   runtime: { value: 2 }
# ir_metadata.end
"""
BROKEN = HEADER.replace("{ value: 2 }", "*value")
ROWS = "q1 Q0 a 1 2.0 t\nq1 Q0 b 2 1.0 t\n"
SAID = {
    "schema_version": 0.1,
    "platform": {
        "hardware": {"cpu": {"model": "Intel Xeon Gold 6144 CPU @ 3.50GHz", "number_cores": 16}, "ram": "64 GB"},
        "operating system": {"kernel": "5.4.0-90-generic", "distribution": "Ubuntu 20.04.3 LTS"},
    },
    "implementation": {
        "executable": {"cmd": "./bin/search arg01 arg02 input output"},
        "source": {
            "lang": ["python", "c"],
            "repository": "https://github.com/castorini/anserini",
            "commit": "9548cd6",
        },
    },
    "resources": {"runtime": {"value": 2}},
}


def test_a_header_as_ir_metadata_writes_it():
    assert SAID == parse_metadata(header_text(HEADER + ROWS))


def test_a_header_that_cannot_be_read_is_kept_as_it_is_with_the_reason():
    found = parse_metadata(header_text(BROKEN + ROWS))

    assert "line 21: anchors and aliases are not supported" == found["why"]
    assert found["raw"].startswith("schema_version: 0.1\nplatform:\n  hardware:\n")
    assert found["raw"].endswith("resources:\n  runtime: *value")


def test_without_pyyaml_headers_are_kept_as_text_with_the_way_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "yaml", None)
    monkeypatch.delitem(sys.modules, "assay.formats.header_yaml", raising=False)

    assert {
        "raw": "tag: bm25",
        "why": "reading the header of a run needs one more package: pip install 'assay-ir[metadata]'",
    } == parse_metadata("tag: bm25")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("+2", 2),
        ("0.4", 0.4),
        (".5", 0.5),
        ("1e-3", 0.001),
        ("-1.5E+3", -1500.0),
        ("1.", 1.0),
        ("007", "007"),
        ("0", 0),
        ("true", True),
        ("True", True),
        ("FALSE", False),
        ("null", None),
        ("~", None),
        ("", None),
        ("yes", "yes"),
        ("off", "off"),
        ("0x1F", "0x1F"),
        ("1_000", "1_000"),
        ("2021-05-31", "2021-05-31"),
        ("2021-05-31 12:30:00", "2021-05-31 12:30:00"),
        ("12:30", "12:30"),
        ("5.4.0", "5.4.0"),
        ("inf", "inf"),
        (".inf", ".inf"),
        (".nan", ".nan"),
        ("=", "="),
        ("bm25 + rm3", "bm25 + rm3"),
        ("a # comment", "a"),
        ("a#b", "a#b"),
        ('"1"', "1"),
        ("'it''s'", "it's"),
        (r'"a\tb\"c\\d\u00e9\x41"', 'a\tb"c\\dé\x41'),
        ('"a" # comment', "a"),
        ('"# no comment"', "# no comment"),
        ("https://a.b/c:d", "https://a.b/c:d"),
        ("k1=0.9", "k1=0.9"),
        ("-x", "-x"),
        ("[1, two]", [1, "two"]),
        ("{b: 1, c: [2]}", {"b": 1, "c": [2]}),
        ("[]", []),
        ("|\n  two\n  lines", "two\nlines"),
        (">-\n  one\n  line", "one line"),
        ("one\n  line", "one line"),
        ('"one\n  line"', "one line"),
    ],
)
def test_values(text, value):
    assert {"name": value} == parse_metadata(f"name: {text}")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a:\n  b: 1\nc: 2", {"a": {"b": 1}, "c": 2}),
        ("a:\n- 1\n- 2\nb: 3", {"a": [1, 2], "b": 3}),
        ("a:\n  - 1\n  -\n  - 3", {"a": [1, None, 3]}),
        ("a:\n  - b: 1\n    c: 2\n  - b: 3", {"a": [{"b": 1, "c": 2}, {"b": 3}]}),
        ("a:\n  -\n    b: 1", {"a": [{"b": 1}]}),
        ("a:\n  - - 1\n    - 2\n  - - 3", {"a": [[1, 2], [3]]}),
        ("a:\n  - b:\n      - 1\n    c: 2", {"a": [{"b": [1], "c": 2}]}),
        ("a:\nb: 1", {"a": None, "b": 1}),
        ("a: # said later\n  b: 1", {"a": {"b": 1}}),
        ("# a comment\n\na: 1\n\n", {"a": 1}),
        ("---\na: 1", {"a": 1}),
        ("'quoted: key': 1\n\"other\": 2", {"quoted: key": 1, "other": 2}),
        ("research goal: venue", {"research goal": "venue"}),
        ("a:    1", {"a": 1}),
        ("1: a\ntrue: b\n2021-05-31: c\n~: d", {"1": "a", "true": "b", "2021-05-31": "c", "~": "d"}),
        ("? a\n: 1", {"a": 1}),
        ("a: 1\n<<: {b: 2}", {"a": 1, "<<": {"b": 2}}),
        ("", {}),
    ],
)
def test_mappings_and_lists(text, value):
    assert value == parse_metadata(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: &x 1", "line 1: anchors and aliases are not supported"),
        ("b: 1\na: *x", "line 2: anchors and aliases are not supported"),
        ("&x a: 1", "line 1: anchors and aliases are not supported"),
        ("a: !!int 3", "line 1: tags such as tag:yaml.org,2002:int are not supported"),
        (
            "a: !!python/object:os.system 3",
            "line 1: tags such as tag:yaml.org,2002:python/object:os.system are not supported",
        ),
        ("a: !mine {b: 1}", "line 1: tags such as !mine are not supported"),
        ("a: 1\na: 2", "line 2: duplicate key 'a'"),
        ("a:\n  1: 2\n  '1': 3", "line 3: duplicate key '1'"),
        ("? [1, 2]\n: 3", "line 1: a key is not text"),
        ("just words", "the header is a value; it must be a mapping of keys to values"),
        ("- 1\n- 2", "the header is a list; it must be a mapping of keys to values"),
    ],
)
def test_what_is_not_read_is_said(text, why):
    assert {"raw": text, "why": why} == parse_metadata(text)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: b: c", 1),
        ("a:\n    b: 1\n  c: 2", 3),
        ("  a: 1\nb: 2", 2),
        ('a: "open', 1),
        ("a:\n\tb: 1", 2),
        ("a: 1\n---\nb: 2", 2),
        ("a: [1, 2}", 1),
    ],
)
def test_what_is_not_yaml_is_kept_with_the_line(text, line):
    found = parse_metadata(text)

    assert text == found["raw"]
    assert found["why"].startswith(f"line {line}: ")


@pytest.mark.parametrize("text", ["a: \x01", f"a: {'9' * 5000}"])
def test_what_no_reader_takes_is_kept_too(text):
    found = parse_metadata(text)

    assert (text, False) == (found["raw"], "\n" in found["why"])


def test_a_few_lines_that_stand_for_gigabytes_are_refused():
    names = "abcdefghi"
    text = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"{name}: &{name} [{', '.join([f'*{before}'] * 9)}]\n" for before, name in pairwise(names)
    )

    assert "line 1: anchors and aliases are not supported" == parse_metadata(text)["why"]


def test_a_header_that_is_very_deep_is_refused_not_followed():
    text = "\n".join(" " * level + "a:" for level in range(3000))

    assert "line 51: nested more than 50 levels deep" == parse_metadata(text)["why"]
    assert "line 1: nested more than 50 levels deep" == parse_metadata("a: " + "[" * 500_000)["why"]


@given(st.text("ab:-#'\"\\ \n[]{}&*!|>0.~", max_size=60))
def test_no_text_makes_it_fall_over(text):
    found = parse_metadata(text)

    assert found == json.loads(json.dumps(found))


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.text("ab:-#'\"\\ {}[]0.e~"),
)
KEYS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1) | st.text("ab:-#'\"\\ ?", min_size=1)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, min_size=1, max_size=4) | st.dictionaries(KEYS, inner, min_size=1, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(KEYS, VALUES, max_size=5))
def test_what_was_written_is_read_again(metadata):
    header = render_metadata(metadata)

    assert all(line.startswith("#") for line in header.split("\n")[:-1])
    assert metadata == parse_metadata(header_text(header))


def test_a_header_that_could_not_be_read_is_written_back_as_it_was():
    found = parse_metadata(header_text(BROKEN))

    assert header_text(BROKEN) == header_text(render_metadata(found))


@pytest.mark.parametrize("value", [[], {}])
def test_empty_lists_and_mappings_are_refused(value):
    with pytest.raises(InputError) as refused:
        render_metadata({"a": value})

    assert "ir_metadata does not allow empty lists or mappings; leave the key out." == str(refused.value)


# Files


@pytest.fixture
def run_file(tmp_path):
    def write(text: str, name: str = "run.txt", pack=lambda data: data):
        path = tmp_path / name
        path.write_bytes(pack(text.encode()))
        return path

    return write


@pytest.mark.parametrize("pack", [lambda data: data, gzip.compress, lambda data: b"\xef\xbb\xbf" + data])
def test_the_header_of_a_file(run_file, pack):
    assert SAID == read_metadata(run_file(HEADER + ROWS, pack=pack))


def test_windows_line_ends(run_file):
    assert SAID == read_metadata(run_file((HEADER + ROWS).replace("\n", "\r\n")))


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "",
        "# a comment\n" + ROWS,
        ROWS + HEADER,  # a header must be at the top
        "{}",
        "# ir_metadata.start is what it says\n" + ROWS,
    ],
)
def test_a_file_without_a_header_has_no_metadata(run_file, text):
    assert read_metadata(run_file(text)) is None


def test_comments_may_stand_before_the_header(run_file):
    assert {"tag": "x"} == read_metadata(
        run_file(f"# by hand\n# ir_metadata.start\n# tag: x\n# ir_metadata.end\n{ROWS}")
    )


def test_a_header_without_an_end_goes_to_the_last_comment(run_file):
    assert {"tag": "x"} == read_metadata(run_file(f"# ir_metadata.start\n# tag: x\n{ROWS}"))


def test_a_header_that_is_longer_than_what_is_read_at_once(run_file):
    lines = "".join(f"# name{number}: {'x' * 1000}\n" for number in range(500))
    found = read_metadata(run_file(f"# ir_metadata.start\n{lines}# ir_metadata.end\n{ROWS}"))

    assert 500 == len(found)


def test_the_rows_of_a_run_with_a_header_are_evaluated_as_without(run_file):
    with_header, without = run_file(HEADER + ROWS, "with.txt"), run_file(ROWS, "without.txt")
    qrels = {"q1": {"b": 1}}

    assert 0.5 == evaluate(qrels, with_header, ["RR"]).mean()["RR"] == evaluate(qrels, without, ["RR"]).mean()["RR"]


def test_a_header_is_written_into_a_file(run_file, tmp_path):
    output = tmp_path / "out.txt"
    write_with_metadata(run_file(ROWS), SAID, output)

    assert SAID == read_metadata(output)
    assert output.read_text().endswith(ROWS)


def test_a_header_takes_the_place_of_the_old_one(run_file):
    path = run_file(f"# by hand\n{HEADER}{ROWS}")
    write_with_metadata(path, {"tag": "new"}, path)

    assert f"# ir_metadata.start\n# tag: new\n# ir_metadata.end\n# by hand\n{ROWS}" == path.read_text()


def test_a_large_run_is_streamed(run_file, tmp_path):
    rows = "".join(f"q1 Q0 d{number} {number} {-number} t\n" for number in range(1, 60_000))
    output = tmp_path / "out.txt"
    write_with_metadata(run_file(HEADER + rows), {"tag": "new"}, output)

    assert f"# ir_metadata.start\n# tag: new\n# ir_metadata.end\n{rows}" == output.read_text()


def test_nothing_is_written_where_the_run_cannot_be_read(run_file, tmp_path):
    broken = run_file(ROWS * 50_000, "broken.gz", pack=lambda data: gzip.compress(data)[:-20])
    output = tmp_path / "out.txt"
    with pytest.raises(InputError, match="damaged or cut off"):
        write_with_metadata(broken, {"tag": "x"}, output)

    assert ["broken.gz"] == [path.name for path in tmp_path.iterdir()]
