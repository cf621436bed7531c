"""Files are recognised by their names, in all common spellings."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.collections.columns import parse_collection_columns, parse_files
from assay.collections.locating import locate
from assay.errors import InputError

NAMES = [
    (
        "corpus",
        "corpus.jsonl",
        "corpus.jsonl.gz",
        "corpus.dedup.tsv",
        "collection.tsv",
        "docs.parquet",
        "doc-text.trec",
    ),
    ("corpus", "products.csv", "documents.xml", "Corpus.JSONL", "passages.jsonl.zst", "answers.jsonl"),
    ("queries", "queries.jsonl", "queries.tsv.gz", "topics.txt", "topics", "query-text.trec", "questions.csv"),
    ("queries", "queries_test.dedup.tsv", "queries-test.jsonl", "topics.test.xml", "test_queries.tsv", "test.topics"),
    ("qrels", "qrels.txt", "qrels", "qrels.test.txt", "qrels_test.dedup.tsv", "test.qrels", "judgments.csv"),
    ("qrels", "qrels/test.tsv", "qrels/test.txt.gz", "qrels/test.parquet", "qrels-test.json", "test_qrels"),
]


def touched(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(("role", "name"), [(role, name) for role, *names in NAMES for name in names])
def test_a_name_tells_the_role(tmp_path: Path, role: str, name: str) -> None:
    assert {role: tmp_path / name} == locate(touched(tmp_path, name)).files


@pytest.mark.parametrize(
    "name",
    ["README.md", "origin.txt", "corpus.py", "queries.sql.bak", ".corpus.jsonl", "qrels.zip", "bm25.run", "corpora"],
)
def test_other_files_have_no_role(tmp_path: Path, name: str) -> None:
    assert {} == locate(touched(tmp_path, name)).files


@pytest.mark.parametrize(
    ("names", "split"),
    [
        (["qrels/test.tsv", "qrels/train.tsv"], "test"),
        (["qrels/dev.tsv"], "dev"),
        (["qrels_dev.dedup.tsv"], "dev"),
        (["dev.qrels"], "dev"),
        (["qrels.robust04.txt"], "robust04"),
        (["qrels.51-100"], "51-100"),
        (["qrels"], "all"),
    ],
)
def test_what_the_split_is_called(tmp_path: Path, names: list[str], split: str) -> None:
    assert split == locate(touched(tmp_path, *names)).split


@pytest.mark.parametrize(
    ("names", "role", "taken"),
    [
        (["corpus.jsonl", "corpus.dedup.jsonl"], "corpus", "corpus.dedup.jsonl"),
        (["corpus.jsonl", "documents.tsv"], "corpus", "corpus.jsonl"),
        (["corpus.tsv", "corpus.jsonl"], "corpus", "corpus.jsonl"),
        (["corpus.jsonl", "docs/1.txt"], "corpus", "corpus.jsonl"),
        (["queries.tsv", "queries_test.tsv", "qrels/test.tsv"], "queries", "queries_test.tsv"),
        (["queries.tsv", "queries_train.tsv", "qrels/test.tsv"], "queries", "queries.tsv"),
        (["qrels/test.tsv", "qrels_test.tsv"], "qrels", "qrels/test.tsv"),
        (["qrels_test.tsv", "qrels_test.dedup.tsv"], "qrels", "qrels_test.dedup.tsv"),
    ],
)
def test_the_likeliest_is_taken(tmp_path: Path, names: list[str], role: str, taken: str) -> None:
    assert tmp_path / taken == locate(touched(tmp_path, *names)).files[role]


def test_others_that_are_as_likely_are_told(tmp_path: Path) -> None:
    found = locate(touched(tmp_path, "corpus.jsonl", "documents.tsv", "corpus.dedup.jsonl"))
    twins = locate(touched(tmp_path / "b", "corpus.jsonl", "documents.tsv"))

    assert () == found.doubtful  # the deduplicated file is preferred
    assert (("corpus", tmp_path / "b/corpus.jsonl", (tmp_path / "b/documents.tsv",)),) == twins.doubtful


def test_an_empty_folder_says_so(tmp_path: Path) -> None:
    (tmp_path / "qrels").mkdir()
    empty, almost = tmp_path / "empty", locate(tmp_path)
    empty.mkdir()

    assert ["corpus", "queries", "qrels"] == [missing.role for missing in locate(empty).missing]
    assert all(missing.what.endswith("The folder is empty.") for missing in locate(empty).missing)
    assert "qrels/ (empty)" in almost.missing[0].what


@pytest.mark.parametrize("text", ["id=sku", "corpus=sku", "corpus.id", "corpus.id=", "docs.id=sku", ".id=sku"])
def test_columns_that_say_nothing(text: str) -> None:
    with pytest.raises(InputError, match=r"expected ROLE\.FIELD=NAME|write ROLE=COLUMN|a column has no name"):
        parse_collection_columns([text])


def test_fields_are_joined_by_a_plus_or_a_comma() -> None:
    both = {"corpus": {"id": "sku", "text": ["name", "features"]}}

    assert both == parse_collection_columns(["corpus.id=sku", "corpus.text=name,features"])
    assert both == parse_collection_columns(["corpus.text=name+features, corpus.id=sku"])
    assert both == parse_collection_columns(["corpus.id=sku,corpus.text=name,features"])
    assert {"corpus": {"text": ["C++"]}} == parse_collection_columns(['corpus.text="C++"'])


@pytest.mark.parametrize("text", ["corpus", "corpus=", "docs=a.csv", "=a.csv"])
def test_files_that_say_nothing(text: str) -> None:
    with pytest.raises(InputError, match="expected ROLE=NAME"):
        parse_files([text])
