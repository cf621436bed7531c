"""Files for spreadsheets: no id or name can be run as a formula, and numbers stay numbers."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from assay import Qrels, Run, read_run, write_qrels, write_run
from assay.errors import InputError
from assay.formats.spreadsheets import as_text
from assay.formats.writing import OUTPUT_FORMATS, qrels_as_bytes, run_as_bytes

SIGNS = "=+-@＝＋－＠"
NOTE = "a spreadsheet would run '{}' as a formula. To open the file in one, write it with `spreadsheet=True`."
RUN = Run.from_columns(["=1+1", "q2"], ["@a", "b"], [-2.5, -3.0], tag="-t", name="x")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        *((f"{sign}1+1", f"'{sign}1+1") for sign in SIGNS),
        *((f"{blank}x", f"'{blank}x") for blank in "\t\r\n\0"),
        (" =1", "' =1"),
        ("a;=1", "a;'=1"),  # where lists are separated by semicolons
        ("a\n=1", "a\n'=1"),
        ('a;"=1"', 'a;\'"=1"'),
        ("\t=1", "'\t'=1"),
        *((text, text) for text in ("", "a", "a=1", "d-1", "P@5", "'=1", "ann@example.org", "1-2", "a b")),
    ],
)
def test_an_apostrophe_stands_before_what_would_be_run(text, shown):
    assert shown == as_text(text)


@given(st.text(max_size=30) | st.text(f'{SIGNS},;\t\r\n" a1', max_size=12))
def test_a_text_that_was_made_safe_stays_as_it_is(text):
    assert as_text(text) == as_text(as_text(text))


@given(
    st.lists(st.text(f'{SIGNS},;\t\r\n" a1', min_size=1, max_size=12), min_size=2, max_size=2),
    st.sampled_from(["csv", "tsv"]),
)
def test_no_spreadsheet_of_any_language_finds_a_formula(texts, to):
    assume(all(text == text.strip() for text in texts))
    run = Run.from_columns(texts[:1], texts[1:], [-1.5], tag=texts[0])
    data = run_as_bytes(run, to, spreadsheet=True)[0].decode()

    for delimiter in ",;\t":
        numbers = ["-1.5"] if delimiter == {"csv": ",", "tsv": "\t"}[to] else []
        cells = [cell for row in csv.reader(io.StringIO(data, newline=""), delimiter=delimiter) for cell in row]
        assert [] == [cell for cell in cells if cell.strip(' "').startswith(tuple(SIGNS)) and cell not in numbers]


def test_numbers_are_left_alone(tmp_path):
    assert () == write_run(RUN, tmp_path / "run.csv", spreadsheet=True)

    assert "query_id,doc_id,score,tag\n'=1+1,'@a,-2.5,'-t\nq2,b,-3.0,'-t\n" == (tmp_path / "run.csv").read_text()


def test_judgments_too(tmp_path):
    qrels = Qrels.from_columns(["+q"], ["d"], [-1])

    assert () == write_qrels(qrels, tmp_path / "qrels.tsv", spreadsheet=True)
    assert "query_id\tdoc_id\trelevance\n'+q\td\t-1\n" == (tmp_path / "qrels.tsv").read_text()


def test_without_the_option_ids_keep_their_bytes_and_a_note_says_so(tmp_path):
    assert (NOTE.format("=1+1"),) == write_run(RUN, tmp_path / "run.csv")

    assert ("=1+1", "q2") == read_run(tmp_path / "run.csv").queries


def test_such_a_file_is_for_people(tmp_path):
    write_run(RUN, tmp_path / "run.csv", spreadsheet=True)

    assert ("'=1+1", "q2") == read_run(tmp_path / "run.csv").queries


@pytest.mark.parametrize("texts", [("a", "b", "-t"), ("a", "+b", "t"), ("=a", "b", "t")])
def test_one_such_text_in_any_column_is_enough(texts):
    query, doc, tag = texts
    risky = next(text for text in texts if text[0] in SIGNS)

    assert (NOTE.format(risky),) == run_as_bytes(Run.from_columns([query], [doc], [1.0], tag=tag), "csv")[1]


def test_numbers_alone_need_no_note():
    assert () == qrels_as_bytes(Qrels.from_columns(["q"], ["d"], [-1]), "csv")[1]


@pytest.mark.parametrize("to", [name for name in OUTPUT_FORMATS if name not in ("csv", "tsv")])
def test_other_formats_are_for_programs(to):
    with pytest.raises(InputError) as error:
        run_as_bytes(RUN, to, spreadsheet=True)

    assert f"`spreadsheet=True` is for csv and tsv, not for {to}; leave it out." == str(error.value)
