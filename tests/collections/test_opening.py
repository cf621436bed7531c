"""One collection in all common formats and layouts."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from assay.collections import Collection, embedded_collections, open_collection
from assay.errors import InputError

CORPUS_CSV = 'id,title,text\nd1,Rice,Rinse it twice.\nd2,,Noodles need salt.\nd3,"Tea","Pour water over the leaves."\n'
CORPUS_TSV = CORPUS_CSV.replace(",", "\t").replace('"', "")
CORPUS_TREC = """\
<DOC>
<DOCNO> d1 </DOCNO>
<TITLE>Rice</TITLE>
<TEXT>
Rinse it
twice.
</TEXT>
</DOC>
<DOC><DOCNO>d2</DOCNO>Noodles need salt.</DOC>
<doc>
<docno>d3</docno><headline>Tea</headline>
<text>Pour water over <b>the leaves</b>.</text>
</doc>
"""
QUERIES_TSV = "q1\thow to cook rice\nq2\tgreen tea\n"
QUERIES_CSV = "query_id,query,locale\nq1,how to cook rice,us\nq2,green tea,us\n"
TOPICS = (
    "<top>\n<num> Number: q1\n<title> how to cook rice\n</top>\n<top>\n<num> Number: q2\n<title> green tea\n</top>\n"
)
QRELS_TREC = "q1 0 d1 2\nq1 0 d2 0\nq2 0 d3 1\n"
CORPUS = (
    '{"_id": "d1", "title": "Rice", "text": "Rinse it twice."}\n'
    '{"_id": "d2", "title": "", "text": "Noodles need salt."}\n'
    '{"_id": "d3", "title": "Tea", "text": "Pour water over the leaves."}\n'
)
QUERIES = '{"_id": "q1", "text": "how to cook rice"}\n{"_id": "q2", "text": "green tea"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"


def parquet(**columns: list[object]) -> bytes:
    import pyarrow
    from pyarrow import parquet as pq

    sink = io.BytesIO()
    pq.write_table(pyarrow.table(columns), sink)
    return sink.getvalue()


CORPUS_PARQUET = parquet(
    id=["d1", "d2", "d3"],
    title=["Rice", None, "Tea"],
    text=["Rinse it twice.", "Noodles need salt.", "Pour water over the leaves."],
)

FORMS = {
    "BEIR": {"corpus.jsonl": CORPUS, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS},
    "BEIR, gzip": {"corpus.jsonl.gz": CORPUS, "queries.jsonl.gz": QUERIES, "qrels/test.tsv.gz": QRELS},
    "BEIR, zstd": {"corpus.jsonl.zst": CORPUS, "queries.tsv": QUERIES_TSV, "qrels/test.tsv": QRELS},
    "dedup": {"corpus.dedup.tsv": CORPUS_TSV, "queries_test.dedup.tsv": QUERIES_TSV, "qrels_test.dedup.tsv": QRELS},
    "CSV": {"corpus.csv": CORPUS_CSV, "queries.csv": QUERIES_CSV, "qrels-test.csv": QRELS.replace("\t", ",")},
    "Parquet": {"corpus.parquet": CORPUS_PARQUET, "queries.jsonl": QUERIES, "qrels/test.tsv": QRELS},
    "TREC": {"documents.trec.gz": CORPUS_TREC, "topics.test.txt": TOPICS, "qrels.test.txt": QRELS_TREC},
    "TREC, many files": {
        "docs/a/one.gz": CORPUS_TREC[: CORPUS_TREC.index("<DOC><DOCNO>")],
        "docs/b.txt": CORPUS_TREC[CORPUS_TREC.index("<DOC><DOCNO>") :],
        "docs/.hidden": "not this",
        "topics": TOPICS,
        "test.qrels": QRELS_TREC,
    },
    "Windows lines, byte order mark": {
        "corpus.jsonl": b"\xef\xbb\xbf" + CORPUS.replace("\n", "\r\n").encode(),
        "queries.tsv": b"\xef\xbb\xbf" + QUERIES_TSV.replace("\n", "\r\n").encode(),
        "qrels/test.tsv": QRELS.replace("\n", "\r\n"),
    },
}


def told(collection: Collection) -> tuple[object, ...]:
    qrels = collection.qrels
    judged = [qrels.queries[code] for code in qrels.query.tolist()]
    documents = [(document.id, document.title, document.text) for document in collection.documents()]
    return dict(collection.queries), list(zip(judged, qrels.doc, qrels.rel.tolist(), strict=True)), documents


WANTED = (
    {"q1": "how to cook rice", "q2": "green tea"},
    [("q1", "d1", 2.0), ("q1", "d2", 0.0), ("q2", "d3", 1.0)],
    [("d1", "Rice", "Rinse it twice."), ("d2", "", "Noodles need salt."), ("d3", "Tea", "Pour water over the leaves.")],
)


@pytest.mark.parametrize("form", FORMS)
def test_the_same_collection_in_many_forms(lay, form: str) -> None:
    collection = open_collection(lay(FORMS[form]))
    queries, judgments, documents = told(collection)
    if form.startswith("TREC"):
        documents = [(id, title, text.replace(" .", ".")) for id, title, text in documents]

    assert WANTED == (queries, judgments, documents)
    assert ("kitchen", "test", 3) == (collection.name, collection.split, collection.size)


def test_documents_can_be_read_again_and_again(make) -> None:
    collection = open_collection(make())

    assert 3 == len(list(collection.documents())) == len(list(collection.documents()))


def test_the_files_are_told_for_digests(make, lay) -> None:
    folder = make()
    many = lay(FORMS["TREC, many files"], name="many")

    assert {
        "corpus": folder / "corpus.jsonl",
        "queries": folder / "queries.jsonl",
        "qrels": folder / "qrels" / "test.tsv",
    } == open_collection(folder).files
    assert ["corpus/1", "corpus/2", "queries", "qrels"] == list(open_collection(many).files)


def test_a_relative_path_has_the_name_of_its_folder(make, monkeypatch) -> None:
    monkeypatch.chdir(make())

    assert "kitchen" == open_collection(".").name


# Splits


def test_another_split_has_its_own_queries(make) -> None:
    folder = make({"qrels/dev.tsv": "query-id\tcorpus-id\tscore\nq2\td3\t1\n"})

    assert {"q2": "green tea"} == open_collection(folder, split="dev").queries
    assert "test" == open_collection(folder).split


def test_a_single_split_is_taken_whatever_its_name(make) -> None:
    folder = make({"qrels/test.tsv": None, "qrels/validation.tsv": QRELS})

    assert "validation" == open_collection(folder).split


def test_judgments_without_a_split_are_all(make) -> None:
    folder = make({"qrels/test.tsv": None, "qrels.txt": QRELS_TREC})

    assert "all" == open_collection(folder).split
    assert "all" == open_collection(folder, split="all").split


def test_an_unknown_split_lists_those_there_are(make) -> None:
    folder = make({"qrels/train.tsv": QRELS})

    with pytest.raises(InputError) as error:
        open_collection(folder, split="tets")
    assert f"{folder}: no split 'tets'; did you mean 'test'? Choose from test, train." == str(error.value)


def test_several_splits_of_which_none_is_test_are_not_guessed(make) -> None:
    folder = make({"qrels/test.tsv": None, "qrels/train.tsv": QRELS, "qrels/dev.tsv": QRELS})

    with pytest.raises(InputError, match=r"there are several splits, and none was chosen: dev, train \[COL008\]"):
        open_collection(folder)


def test_queries_of_the_split_go_before_others(lay) -> None:
    folder = lay(
        {
            "corpus.jsonl": CORPUS,
            "queries_train.tsv": "q1\tother words\n",
            "queries_test.tsv": QUERIES_TSV,
            "qrels_test.tsv": QRELS,
            "qrels_train.tsv": QRELS,
        }
    )

    assert "how to cook rice" == open_collection(folder).queries["q1"]
    assert "other words" == open_collection(folder, split="train").queries["q1"]


# Names of fields and files


PRODUCTS = 'sku,name,features,note\nd1,Rice,"Rinse it, twice.",x\nd2,,Noodles need salt.,x\nd3,Tea,,x\n'


def test_fields_of_any_name(make) -> None:
    folder = make(
        {
            "corpus.jsonl": None,
            "corpus.csv": PRODUCTS,
            "queries.jsonl": '{"nr": 1, "utterance": "how to cook rice"}\n',
            "qrels/test.tsv": "nr\tsku\tverdict\n1\td1\tE\n1\td3\tI\n",
        }
    )
    collection = open_collection(
        folder,
        columns={
            "corpus": {"id": "sku", "text": ["name", "features"]},
            "queries": {"id": "nr", "text": "utterance"},
            "qrels": {"query": "nr", "doc": "sku", "rel": "verdict"},
        },
    )

    assert ["Rice Rinse it, twice.", "Noodles need salt.", "Tea"] == [found.text for found in collection.documents()]
    assert {"1": "how to cook rice"} == collection.queries
    assert [3.0, 0.0] == collection.qrels.rel.tolist()


def test_fields_without_a_role_are_those_of_documents(make) -> None:
    folder = make({"corpus.jsonl": None, "corpus.csv": PRODUCTS})
    collection = open_collection(folder, columns={"id": "sku", "title": "name", "text": "features"})

    assert ["Rice", "", "Tea"] == [document.title for document in collection.documents()]


def test_files_of_any_name(make) -> None:
    folder = make({"corpus.jsonl": None, "shopping_dataset.parquet": CORPUS_PARQUET})

    assert 3 == open_collection(folder, files={"corpus": "shopping_dataset.parquet"}).size


def test_queries_beside_their_judgments(lay) -> None:
    """As in ESCI: one table of query id, query, product and label."""
    rows = "query_id\tquery\tproduct_id\tesci_label\nq1\trice\td1\tE\nq1\trice\td2\tS\nq2\ttea\td3\tC\n"
    folder = lay({"corpus.jsonl": CORPUS, "judgments.tsv": rows})
    collection = open_collection(folder, files={"queries": "judgments.tsv"})

    assert {"q1": "rice", "q2": "tea"} == collection.queries
    assert [3.0, 2.0, 1.0] == collection.qrels.rel.tolist()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"columns": {"corpus": {"ident": "sku"}}}, "columns: corpus has no field 'ident'. It has id, title, text."),
        (
            {"columns": {"titel": "x"}},
            "columns: corpus has no field 'titel'; did you mean 'title'? It has id, title, text.",
        ),
        ({"columns": {"qrels": {"id": "x"}}}, "columns: qrels has no field 'id'. It has query, doc, rel."),
        ({"columns": {"text": []}}, "columns: the text of corpus must be a field name or a list of field names."),
        ({"columns": {"text": [1]}}, "columns: the text of corpus must be a field name or a list of field names."),
        ({"columns": {"corpus": {"id": "x"}, "query": {}}}, "columns: 'query' is not one of corpus, queries, qrels"),
        ({"files": {"docs": "x"}}, "files: no role 'docs'. Choose from corpus, queries, qrels."),
    ],
)
def test_names_that_say_nothing_are_refused(make, given: dict, message: str) -> None:
    with pytest.raises(InputError) as error:
        open_collection(make(), **given)
    assert message in str(error.value)


# Letters


def test_the_letters_of_esci_are_numbers_and_that_is_said(make) -> None:
    folder = make({"qrels/test.tsv": "query_id\tproduct_id\tesci_label\nq1\td1\tE\nq1\td2\tS\nq2\td3\tC\nq2\td1\tI\n"})
    collection = open_collection(folder)

    assert [3.0, 2.0, 1.0, 0.0] == collection.qrels.rel.tolist()
    assert ["the grades are letters, read as E = 3, S = 2, C = 1, I = 0"] == [
        finding.message for finding in collection.findings if finding.code == "COL032"
    ]


def test_numbers_are_not_called_letters(make) -> None:
    assert "COL032" not in [finding.code for finding in open_collection(make()).findings]


# Errors


def test_a_collection_with_an_error_is_refused_with_file_and_line(make) -> None:
    folder = make({"corpus.jsonl": CORPUS + '{"_id": "d4", "text": "cut\n'})

    with pytest.raises(InputError) as error:
        open_collection(folder)
    assert f"{folder}/corpus.jsonl:4: 1 line is not a JSON" in str(error.value)
    assert f"For details: assay collections check {folder}" in str(error.value)
    assert 4 == error.value.line


def test_what_is_missing_is_said_with_what_is_there(lay) -> None:
    folder = lay({"queries.jsonl": QUERIES, "qrels/test.tsv": QRELS, "README.md": "corpus"})

    with pytest.raises(InputError) as error:
        open_collection(folder)
    assert "no documents found: looked for corpus.jsonl" in str(error.value)
    assert "The folder contains README.md, qrels/, queries.jsonl" in str(error.value)


def test_the_folder_inside_is_guessed(make) -> None:
    outer = make(name="outer/scifact").parent

    with pytest.raises(InputError, match=r"Did you mean \S+/outer/scifact\?"):
        open_collection(outer)


@pytest.mark.parametrize(
    ("name", "message"),
    [("nowhere", "no such folder"), ("x" * 300, "no such folder"), ("a.txt", "this is a file; name the folder")],
)
def test_a_place_that_is_none(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "a.txt").touch()

    with pytest.raises(InputError, match=message):
        open_collection(tmp_path / name)


# Embedded


def test_two_collections_are_part_of_assay() -> None:
    assert ("insurance", "shop") == embedded_collections()


def test_a_name_that_is_nearly_right_is_guessed() -> None:
    with pytest.raises(InputError, match=r"insurence: no such folder; did you mean 'insurance'\?"):
        open_collection("insurence")


def test_a_folder_of_the_same_name_must_be_written_as_one(make, monkeypatch) -> None:
    monkeypatch.chdir(make(name="here/shop").parent)

    assert 3 == open_collection("./shop").size
    with pytest.raises(InputError, match=r"Write \./shop for the folder"):
        open_collection("shop")


@pytest.mark.parametrize("name", ["insurance", "shop"])
def test_nothing_is_wrong_with_the_embedded_ones(name: str) -> None:
    collection = open_collection(name)

    assert [] == [finding for finding in collection.findings if finding.severity != "note"]
    assert 60 <= len(collection.queries)
    assert 240 <= collection.size


# Real collections


@pytest.mark.parametrize(
    ("name", "documents", "queries", "judgments"),
    [("cranfield", 1400, 225, 1837), ("vaswani", 11429, 93, 2083), ("chorus_electronics", 19406, 135, 3668)],
)
def test_real_collections(shared_data: Path, name: str, documents: int, queries: int, judgments: int) -> None:
    collection = open_collection(shared_data / "collections" / name)

    assert (documents, queries, judgments) == (collection.size, len(collection.queries), len(collection.qrels))
    assert documents == sum(1 for _ in collection.documents())


def test_judgments_without_texts_are_not_a_collection(shared_data: Path) -> None:
    with pytest.raises(InputError, match=r"no documents found: looked for corpus\.jsonl"):
        open_collection(shared_data / "collections" / "esci_us_judgments", split="derived")
