"""Reading documents from files in all formats."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.errors import InputError
from assay.inputs.documents import Document, parse_documents, read_documents


def texts(data: str | bytes, **options: object) -> list[tuple[str, str, str]]:
    return [(found.id, found.title, found.text) for found in parse_documents(data, **options)]  # type: ignore[arg-type]


def test_a_line_is_told_for_each(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('\n{"_id": "1", "text": "a"}\n\n{"_id": "2", "text": "b"}\n')

    assert [Document("1", "a", "", 2), Document("2", "b", "", 4)] == list(read_documents(tmp_path / "a.jsonl"))


@pytest.mark.parametrize(("title", "text", "whole"), [("A", "b", "A b"), ("A", "", "A"), ("", "b", "b"), ("", "", "")])
def test_title_and_text_together(title: str, text: str, whole: str) -> None:
    assert whole == Document("1", text, title).whole


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ('{"_id": 7, "text": "a"}', ("7", "", "a")),
        ('{"_id": "7", "text": null, "title": "T"}', ("7", "T", "")),
        ('{"docno": "7", "contents": "a"}', ("7", "", "a")),
        ('{"doc-id": "7", "Body": "a"}', ("7", "", "a")),
        ('{"id": "7", "text": ["a", null, 3]}', ("7", "", "a 3")),
        ('{"id": "7", "text": "a", "price": NaN}', ("7", "", "a")),
        ('{"id": "7", "text": 3.5}', ("7", "", "3.5")),
        ('{"id": " 7", "text": "a\\u0000b"}', (" 7", "", "a\0b")),
    ],
)
def test_records_as_people_write_them(record: str, wanted: tuple[str, str, str]) -> None:
    assert [wanted] == texts(record)


def test_a_record_without_a_text_is_not_refused_if_others_have_one() -> None:
    assert [("1", "", "a"), ("2", "", "")] == texts('{"_id": "1", "text": "a"}\n{"_id": "2"}\n')


# CSV and TSV


def test_a_quoted_text_goes_over_lines_and_is_found_where_it_begins() -> None:
    found = parse_documents('id,text\n1,"two\nlines, ""quoted"""\n2,b\n')

    assert [Document("1", 'two\nlines, "quoted"', "", 2), Document("2", "b", "", 4)] == found


def test_semicolons() -> None:
    assert [("1", "", "a, b")] == texts("id;text\n1;a, b\n")


def test_passages_of_ms_marco_have_no_header_and_quotes_anywhere() -> None:
    assert [("0", "", '"a" b'), ("1", "", 'the "c')] == texts('0\t"a" b\n1\tthe "c\n')


def test_a_quoted_field_between_tabs() -> None:
    assert [("1", "", 'a "b" c')] == texts('id\ttext\n1\t"a ""b"" c"\n')


def test_fields_are_named_by_their_header_alone_if_columns_are_given() -> None:
    with pytest.raises(InputError, match=r"<text>:2: no field 'sku' for the id\. The fields are 1, a"):
        texts("1\ta\n2\tb\n", columns={"id": "sku"})


def test_a_name_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(InputError, match=r"no field 'product_nam' for the title; did you mean 'product_name'\?"):
        texts("id,product_name,text\n1,a,b\n", columns={"title": "product_nam"})


# TREC


def test_what_is_markup_and_what_is_text() -> None:
    markup = """\
<DOC id="x">
<DOCNO>FT911-3</DOCNO>
<PROFILE>_AN-BEOA7AAIFT</PROFILE>
<HEADLINE>
FT  14 MAY 91 / <b>Contigas</b>
</HEADLINE>
<TEXT>
AT&amp;T and <F P=100>others</F>
rose.
</TEXT>
<TEXT>More.</TEXT>
</DOC>
"""
    assert [("FT911-3", "FT 14 MAY 91 / Contigas", "AT&T and others rose. More.")] == texts(markup)


def test_without_a_text_element_all_but_the_title_is_text() -> None:
    assert [("1", "A", "b c d")] == texts("<DOC><DOCNO>1</DOCNO><TITLE>A</TITLE>b <X>c</X> d</DOC>")


def test_many_documents_on_one_line_and_one_on_many() -> None:
    found = parse_documents(
        "<DOC><DOCNO>1</DOCNO>a</DOC> <DOC><DOCNO>2</DOCNO>b</DOC>\n\n<DOC>\n<DOCNO>3\n</DOCNO>c</DOC>"
    )

    assert [("1", "a", 1), ("2", "b", 1), ("3", "c", 3)] == [(each.id, each.text, each.line) for each in found]


# Parquet and Arrow


def in_parquet(tmp_path: Path, **columns: list[object]) -> Path:
    import pyarrow
    from pyarrow import parquet

    parquet.write_table(pyarrow.table(columns), tmp_path / "a.parquet", row_group_size=2)
    return tmp_path / "a.parquet"


def test_parquet(tmp_path: Path) -> None:
    path = in_parquet(tmp_path, product_id=[1, 2, 3], title=["A", None, "C"], text=["a", "b", None])

    assert [Document("1", "a", "A"), Document("2", "b"), Document("3", "", "C")] == list(read_documents(path))


def test_parquet_in_gzip(tmp_path: Path) -> None:
    import gzip

    packed = tmp_path / "b.parquet.gz"
    packed.write_bytes(gzip.compress(in_parquet(tmp_path, id=["1"], text=["a"]).read_bytes()))

    assert [Document("1", "a")] == list(read_documents(packed))


@pytest.mark.parametrize("stream", [False, True], ids=["file", "stream"])
def test_arrow(tmp_path: Path, stream: bool) -> None:
    import pyarrow
    from pyarrow import ipc

    table = pyarrow.table({"id": ["1", "2"], "text": ["a", "b"]})
    sink = io.BytesIO()
    with (ipc.new_stream if stream else ipc.new_file)(sink, table.schema) as writer:
        writer.write_table(table)

    assert [("1", "", "a"), ("2", "", "b")] == texts(sink.getvalue())


def test_a_row_of_parquet_without_an_id_is_told_by_its_number(tmp_path: Path) -> None:
    path = in_parquet(tmp_path, id=["1", None], text=["a", "b"])

    with pytest.raises(InputError, match=r"a\.parquet: row 2: there is no id"):
        list(read_documents(path))


# Folders and missing files


def test_all_files_of_a_folder_in_the_order_of_their_names(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text('{"_id": "2", "text": "b"}\n')
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "z.trec").write_text("<DOC><DOCNO>1</DOCNO>a</DOC>\n")

    assert ["1", "2"] == [document.id for document in read_documents(tmp_path)]


def test_a_folder_without_files(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="the folder contains no files"):
        list(read_documents(tmp_path))


def test_a_bad_line_is_refused_with_file_line_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"_id": "1", "text": "a"}\n{"_id": "2", "text": "b\n')
    documents = read_documents(tmp_path / "a.jsonl")

    assert "1" == next(documents).id
    with pytest.raises(InputError) as error:
        next(documents)
    assert str(error.value) == (
        f"{tmp_path}/a.jsonl:2: the line is not valid JSON: Unterminated string starting at: column 22 of "
        """'{"_id": "2", "text": "b'. Each line must be one JSON object: fix or remove these lines."""
    )


def test_documents_stream(tmp_path: Path) -> None:
    """The first documents come before the whole file has been read."""
    (tmp_path / "a.jsonl").write_text('{"_id": "1", "text": "a"}\n' * 100_000 + "broken\n")

    assert "1" == next(read_documents(tmp_path / "a.jsonl")).id


def test_a_title_can_stand_in_for_the_text_and_a_later_text_is_not_lost():
    found = parse_documents('{"_id": "a", "title": "Red shoes"}\n{"_id": "b", "title": "Blue", "text": "A pair."}\n')

    assert [("Red shoes", ""), ("Blue", "A pair.")] == [(document.title, document.text) for document in found]
    assert "Red shoes" == found[0].whole


def test_a_field_that_was_given_for_the_text_is_not_taken_for_the_title_too():
    columns = {"id": "sku", "text": ["Name", "features"]}
    (found,) = parse_documents('{"sku": "a", "Name": "Chain", "features": "Nine gears."}\n', columns=columns)

    assert ("", "Chain Nine gears.") == (found.title, found.text)


def test_joined_fields_give_texts_with_spaces_and_ids_as_in_runs():
    text = '{"sku": "a", "lang": "de", "name": "Chain", "features": "Nine gears."}\n'
    columns = {"id": "sku+lang", "text": "name+features"}
    (found,) = parse_documents(text, columns=columns)

    assert ("a|de", "Chain Nine gears.") == (found.id, found.text)
    assert [found] == parse_documents(text, columns={"id": ["sku", "lang"], "text": ["name", "features"]})
    with pytest.raises(InputError, match="there is no id"):
        parse_documents(text.replace("de", ""), columns=columns)


def test_wide_blanks_alone_are_no_data():
    """No-break spaces are blanks in text, but not as bytes."""
    with pytest.raises(InputError, match="no data: the file is empty or contains only blank lines"):
        parse_documents("\u00a0\n")
