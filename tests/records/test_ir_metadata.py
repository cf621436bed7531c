"""ir_metadata: the headers of run files, read, kept and written back."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import InputError
from assay.evaluation import evaluate
from assay.records.ir_metadata import (
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
PLAIN = HEADER.replace("# resources:\n#   runtime: { value: 2 }\n", "")
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
}


def test_a_header_as_ir_metadata_writes_it():
    assert SAID == parse_metadata(header_text(PLAIN + ROWS))


def test_a_header_beyond_us_is_kept_as_it_is_with_the_reason():
    found = parse_metadata(header_text(HEADER + ROWS))

    assert "line 21: '{ value: 2 }' is YAML that is not read here" == found["why"]
    assert found["raw"].startswith("schema_version: 0.1\nplatform:\n  hardware:\n")
    assert found["raw"].endswith("resources:\n  runtime: { value: 2 }")


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-3", -3),
        ("+2", 2),
        ("0.4", 0.4),
        (".5", 0.5),
        ("1e-3", 0.001),
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
        ("2021-05-31", "2021-05-31"),
        ("12:30", "12:30"),
        ("5.4.0", "5.4.0"),
        ("inf", "inf"),
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
    ],
)
def test_scalars(text, value):
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
        ("", {}),
    ],
)
def test_mappings_and_lists(text, value):
    assert value == parse_metadata(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [1, 2]", "line 1: '[1, 2]' is YAML that is not read here"),
        ("a: {b: 1}", "line 1: '{b: 1}' is YAML that is not read here"),
        ("a: |\n  text", "line 1: '|' is YAML that is not read here"),
        ("a: >-\n  text", "line 1: '>-' is YAML that is not read here"),
        ("a: &x 1", "line 1: '&x 1' is YAML that is not read here"),
        ("a: *x", "line 1: '*x' is YAML that is not read here"),
        ("a: !!int 3", "line 1: '!!int 3' is YAML that is not read here"),
        ("a: b: c", "line 1: 'b: c' is YAML that is not read here"),
        ("a: one\n  two", "line 2: 'two' is indented further than its neighbours"),
        ("a: 1\na: 2", "line 2: 'a: 2' gives 'a' a second time"),
        ("a:\n    b: 1\n  c: 2", "line 3: 'c: 2' is indented further than its neighbours"),
        ("  a: 1\nb: 2", "line 2: 'b: 2' is indented less than the first line"),
        ("just words", "line 1: 'just words' is YAML that is not read here"),
        ("- 1\n- 2", "the header is a list; ir_metadata starts with names"),
        ('a: "open', "line 1: the quotes in '\"open' are not closed on the line"),
        ("a:\n\tb: 1", "line 2: tabs cannot indent"),
        ("? a", "line 1: '? a' is YAML that is not read here"),
    ],
)
def test_what_is_beyond_us_is_said(text, why):
    assert {"raw": text, "why": why} == parse_metadata(text)


def test_a_header_that_is_very_deep_is_refused_not_followed():
    text = "\n".join(" " * level + "a:" for level in range(3000))

    assert "more than 50 levels" in parse_metadata(text)["why"]


@given(st.text("ab:-#'\"\\ \n[]{}&*!|>0.~", max_size=60))
def test_no_text_makes_it_fall_over(text):
    assert isinstance(parse_metadata(text), dict)


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
    found = parse_metadata(header_text(HEADER))

    assert header_text(HEADER) == header_text(render_metadata(found))


@pytest.mark.parametrize("value", [[], {}])
def test_empty_lists_and_mappings_are_refused(value):
    with pytest.raises(InputError) as refused:
        render_metadata({"a": value})

    assert "ir_metadata has no empty lists or mappings; leave the name out." == str(refused.value)


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
    assert SAID == read_metadata(run_file(PLAIN + ROWS, pack=pack))


def test_windows_line_ends(run_file):
    assert SAID == read_metadata(run_file((PLAIN + ROWS).replace("\n", "\r\n")))


@pytest.mark.parametrize(
    "text",
    [
        ROWS,
        "",
        "# a comment\n" + ROWS,
        ROWS + PLAIN,  # a header stands at the top
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
    with_header, without = run_file(PLAIN + ROWS, "with.txt"), run_file(ROWS, "without.txt")
    qrels = {"q1": {"b": 1}}

    assert 0.5 == evaluate(qrels, with_header, ["RR"]).mean()["RR"] == evaluate(qrels, without, ["RR"]).mean()["RR"]


def test_a_header_is_written_into_a_file(run_file, tmp_path):
    output = tmp_path / "out.txt"
    write_with_metadata(run_file(ROWS), SAID, output)

    assert SAID == read_metadata(output)
    assert output.read_text().endswith(ROWS)


def test_a_header_takes_the_place_of_the_old_one(run_file):
    path = run_file(f"# by hand\n{PLAIN}{ROWS}")
    write_with_metadata(path, {"tag": "new"}, path)

    assert f"# ir_metadata.start\n# tag: new\n# ir_metadata.end\n# by hand\n{ROWS}" == path.read_text()


def test_a_large_run_is_streamed(run_file, tmp_path):
    rows = "".join(f"q1 Q0 d{number} {number} {-number} t\n" for number in range(1, 60_000))
    output = tmp_path / "out.txt"
    write_with_metadata(run_file(PLAIN + rows), {"tag": "new"}, output)

    assert f"# ir_metadata.start\n# tag: new\n# ir_metadata.end\n{rows}" == output.read_text()


def test_nothing_is_written_where_the_run_cannot_be_read(run_file, tmp_path):
    broken = run_file(ROWS * 50_000, "broken.gz", pack=lambda data: gzip.compress(data)[:-20])
    output = tmp_path / "out.txt"
    with pytest.raises(InputError, match="damaged or cut off"):
        write_with_metadata(broken, {"tag": "x"}, output)

    assert ["broken.gz"] == [path.name for path in tmp_path.iterdir()]
