"""assay collections list, assay collections check."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from assay.collections import embedded_collections
from cli.command import assay
from docs.blocks import DOCS
from docs.schema import problems

CORPUS = '{"_id": "d1", "text": "Rinse it."}\n{"_id": "d2", "text": "Pour.\n{"_id": "d3", "text": ""}\n'
QUERIES = "q1\trice\nq2\ttea\n"
QRELS = "q1 0 d1 1\nq2 0 d3 1\nq2 0 d2 0\n"


def schema(name: str) -> dict:
    return json.loads((DOCS / "schemas" / f"{name}.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("corpus.jsonl", CORPUS), ("queries.tsv", QUERIES), ("qrels.txt", QRELS)):
        (tmp_path / name).write_text(text)
    return tmp_path


def test_findings_look_as_those_of_runs_do(folder: Path) -> None:
    done = assay("collections", "check", ".", cwd=folder)

    assert (1, "") == (done.returncode, done.stderr)
    assert done.stdout.startswith(
        """\
.: not valid (1 error, 2 warnings, 1 note)
collection, split all, 2 documents, 2 queries, 3 judgments

error    corpus.jsonl: 1 line is not a JSON object [COL004]
         - line 2: the line is not valid JSON: Unterminated string starting at: column 23 of
           '{"_id": "d2", "text": "Pour.'
         Write one JSON object per line: fix or remove these lines.

warning  corpus.jsonl: 1 document has neither title nor text [COL022]
         - line 3: document d3
"""
    )


def test_a_good_collection_is_valid_unless_one_is_strict(folder: Path) -> None:
    (folder / "corpus.jsonl").write_text(CORPUS.replace("Pour.", 'Pour."}'))

    assert 0 == assay("collections", "check", folder).returncode
    assert 1 == assay("collections", "check", folder, "--strict").returncode


def test_json_is_as_its_schema_says(folder: Path) -> None:
    done = assay("collections", "check", folder, "--format", "json")
    value = json.loads(done.stdout)

    assert 1 == done.returncode
    assert [] == list(problems(value, schema("validation-1")))
    assert ("collection", "all", 2, 3) == tuple(value[name] for name in ("kind", "split", "documents", "judgments"))
    assert ("COL004", str(folder / "corpus.jsonl"), 2) == tuple(
        value["findings"][0][name] for name in ("code", "file", "line")
    )


@pytest.mark.parametrize("form", ["github", "sarif"])
def test_annotations_stand_in_the_file_concerned(folder: Path, form: str) -> None:
    shown = assay("collections", "check", ".", "--format", form, cwd=folder).stdout

    if form == "github":
        assert shown.startswith("::error file=corpus.jsonl,line=2,title=COL004 Invalid JSON::")
    else:
        place = json.loads(shown)["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
        assert {"artifactLocation": {"uri": "corpus.jsonl"}, "region": {"startLine": 2}} == place


def test_findings_go_to_a_file(folder: Path) -> None:
    done = assay("collections", "check", folder, "-o", folder / "findings.txt")

    assert (1, "", "") == (done.returncode, done.stdout, done.stderr)
    assert "COL004" in (folder / "findings.txt").read_text()


def test_findings_never_go_over_a_file_of_the_collection(folder: Path) -> None:
    before = (folder / "corpus.jsonl").read_bytes()
    done = assay("collections", "check", ".", "-o", "corpus.jsonl", cwd=folder)

    assert (2, "Error: corpus.jsonl: this is also an input file; choose another output file.\n") == (
        done.returncode,
        done.stderr,
    )
    assert before == (folder / "corpus.jsonl").read_bytes()


def test_names_of_fields_and_files(tmp_path: Path) -> None:
    (tmp_path / "items.csv").write_text("sku,name,features\nd1,Rice,Rinse\n")
    (tmp_path / "queries.tsv").write_text("q1\trice\n")
    (tmp_path / "qrels.dev.txt").write_text("q1 0 d1 1\n")
    (tmp_path / "qrels.train.txt").write_text("q1 0 d1 1\n")
    done = assay(
        *("collections", "check", tmp_path, "--file", "corpus=items.csv", "--split", "dev"),
        *("--columns", "corpus.id=sku", "--columns", "corpus.text=name,features"),
    )

    assert (0, "") == (done.returncode, done.stderr)
    assert "collection, split dev, 1 document, 1 query, 1 judgment" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "Error: nowhere: no such folder. Embedded collections: insurance, shop."),
        ([".", "--columns", "id=sku"], "Error: columns 'id': expected ROLE.FIELD=NAME"),
        ([".", "--file", "corpus"], "Error: file 'corpus': expected ROLE=NAME"),
        ([".", "--split", "test"], "Error: .: no split 'test'. Choose from all."),
    ],
)
def test_wrong_usage(folder: Path, arguments: list[str], message: str) -> None:
    done = assay("collections", "check", *arguments, cwd=folder)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(message)


def test_a_finding_can_be_explained() -> None:
    done = assay("explain", "col031")

    assert done.stdout.startswith("COL031  Judged document missing from the corpus (warning)\n")


def test_the_embedded_collections_are_listed() -> None:
    lines = assay("collections", "list").stdout.splitlines()
    value = json.loads(assay("collections", "list", "--format", "json").stdout)

    assert list(embedded_collections()) == [line.split()[0] for line in lines]
    assert [] == list(problems(value, schema("collections-1")))
    assert list(embedded_collections()) == [each["name"] for each in value["collections"]]


def test_hostile_ids_are_data(tmp_path: Path) -> None:
    id = "[red]\x1b[31m<b>|"
    (tmp_path / "corpus.jsonl").write_text((json.dumps({"_id": id, "text": ""}) + "\n") * 2)
    (tmp_path / "queries.jsonl").write_text((json.dumps({"_id": id, "text": id}) + "\n") * 2)
    (tmp_path / "qrels.txt").write_text(f"{id} 0 d 1\n")
    shown = assay("collections", "check", tmp_path).stdout

    assert "\x1b" not in shown
    assert "document [red]\\x1b[31m<b>|, as on line 1" in shown
