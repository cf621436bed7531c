"""Every way in which a collection can be broken, and the place that the finding names."""

from __future__ import annotations

import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.collections import check_collection, open_collection
from assay.errors import InputError
from assay.validation.registry import RULES, all_rules

DOC = '{"_id": "%s", "title": "%s", "text": "%s"}\n'
CORPUS = DOC % ("d1", "Rice", "Rinse it.") + DOC % ("d2", "", "Noodles.") + DOC % ("d3", "Tea", "Pour.")
QUERIES = '{"_id": "q1", "text": "rice"}\n{"_id": "q2", "text": "tea"}\n'
QRELS = "query-id\tcorpus-id\tscore\nq1\td1\t2\nq1\td2\t0\nq2\td3\t1\n"
C, Q, J = "corpus.jsonl", "queries.jsonl", "qrels/test.tsv"
TREC = "<DOC>\n<DOCNO>d1</DOCNO>rice\n</DOC>\n<DOC><DOCNO>d2</DOCNO>x</DOC>\n<DOC><DOCNO>d3</DOCNO>y</DOC>\n"
WITHOUT = {C: None}

# changes to a valid collection; code, file, line of the first example, count
CASES: list[tuple[dict[str, str | bytes | None], str, str, int | None, int]] = [
    ({C: None}, "COL001", ".", None, 1),
    ({Q: None}, "COL001", ".", None, 1),
    ({J: None}, "COL001", ".", None, 1),
    ({C: b"PK\x03\x04 an archive"}, "COL002", C, None, 1),
    ({C: CORPUS.encode("utf-16")}, "COL002", C, None, 1),
    ({C: CORPUS.replace("Noodles", "Nood\0les")}, "COL002", C, 2, 1),
    ({C: f"[{CORPUS}]"}, "COL002", C, 1, 1),
    ({C: '{\n"_id": "d1",\n"text": "x"\n}\n'}, "COL002", C, 1, 1),
    (WITHOUT | {"corpus.csv": 'id,text\nd1,x\nd2,"open\nd3,y\n'}, "COL002", "corpus.csv", 3, 1),
    (WITHOUT | {"corpus.trec": "<HTML>no documents</HTML>\n"}, "COL002", "corpus.trec", None, 1),
    (WITHOUT | {"corpus.parquet": b"PAR1 and no more"}, "COL002", "corpus.parquet", None, 1),
    ({C: ""}, "COL003", C, None, 1),
    ({C: "\n \n"}, "COL003", C, None, 1),
    ({Q: ""}, "COL003", Q, None, 1),
    (WITHOUT | {"corpus.tsv": "id\ttext\n"}, "COL003", "corpus.tsv", None, 1),
    ({C: CORPUS + '{"_id": "d4", "text": "cut\n'}, "COL004", C, 4, 1),
    ({C: '{"_id": "d0", "text": "cut\n' + CORPUS}, "COL004", C, 1, 1),
    ({C: CORPUS + "1\n\nnull\n"}, "COL004", C, 4, 2),
    ({Q: QUERIES + '{"_id": \n'}, "COL004", Q, 3, 1),
    ({Q: QUERIES + "[]\n7\n"}, "COL004", Q, 3, 2),
    ({C: '{"key": "d1", "text": "x"}\n'}, "COL005", C, 1, 1),
    ({C: '{"_id": "d1", "words": "x"}\n'}, "COL005", C, 1, 1),
    ({C: CORPUS + '{"_id": "d4", "text": {"en": "x"}}\n'}, "COL005", C, 4, 1),
    ({C: CORPUS + '{"_id": "d4", "text": ["x", true]}\n'}, "COL005", C, 4, 1),
    (WITHOUT | {"corpus.csv": "id,text\nd1,x\nd2,x,y\nd3,z\n"}, "COL005", "corpus.csv", 3, 1),
    (WITHOUT | {"corpus.tsv": "id\ttext\nd1\tx\nd2\nd3\tz\n"}, "COL005", "corpus.tsv", 3, 1),
    (WITHOUT | {"corpus.trec": TREC + "<DOC>\n<DOCNO>d4</DOCNO>\n"}, "COL005", "corpus.trec", 6, 1),
    (WITHOUT | {"corpus.trec": "<DOC>\n<DOCNO>d0</DOCNO>\n" + TREC}, "COL005", "corpus.trec", 1, 1),
    ({C: CORPUS.encode() + b'{"_id": "d4", "text": "caf\xe9"}\n'}, "COL006", C, 4, 1),
    ({C: CORPUS + '{"_id": "d4", "text": "half \\ud83d"}\n'}, "COL006", C, 4, 1),
    ({Q: QUERIES.encode() + b'{"_id": "q3", "text": "caf\xe9"}\n'}, "COL006", Q, 3, 1),
    (WITHOUT | {"corpus.tsv": b"id\ttext\nd1\tcaf\xe9\n"}, "COL006", "corpus.tsv", 2, 1),
    (WITHOUT | {"corpus.trec": TREC.encode().replace(b"rice", b"r\xeece")}, "COL006", "corpus.trec", 1, 1),
    ({"documents.tsv": "d1\tx\n"}, "COL007", C, None, 1),
    ({J: None, "qrels/a.tsv": QRELS, "qrels/b.tsv": QRELS}, "COL008", ".", None, 2),
    ({Q: QUERIES + '{"text": "noodles"}\n{"_id": "", "text": "x"}\n'}, "COL010", Q, 3, 2),
    ({Q: QUERIES + '{"_id": null, "text": "x"}\n{"_id": 1.5, "text": "x"}\n'}, "COL010", Q, 3, 2),
    ({Q: None, "queries.tsv": "q1\trice\n\twater\nq2\ttea\n"}, "COL010", "queries.tsv", 2, 1),
    ({Q: None, "topics.xml": "<top>\n<title>rice\n</top>\n"}, "COL010", "topics.xml", 1, 1),
    ({Q: QUERIES + '{"_id": "q1", "text": "other"}\n'}, "COL011", Q, 3, 1),
    ({Q: QUERIES + '{"_id": "q1", "text": "rice"}\n'}, "COL011", Q, 3, 1),
    ({Q: QUERIES.replace("tea", " ")}, "COL012", Q, 2, 1),
    ({Q: QUERIES + '{"_id": "q3"}\n'}, "COL012", Q, 3, 1),
    ({Q: QUERIES + '{"_id": "q3", "text": " Green  tea"}\n{"_id": "q4", "text": "green TEA"}\n'}, "COL013", Q, 4, 1),
    ({Q: QUERIES + '{"_id": "q3", "text": "noodles"}\n'}, "COL014", Q, None, 1),
    ({Q: QUERIES + '{"_id": "q 3", "text": "noodles"}\n'}, "COL015", Q, 3, 1),
    ({C: CORPUS + '{"text": "no id"}\n{"_id": "", "text": "x"}\n{"_id": true, "text": "x"}\n'}, "COL020", C, 4, 3),
    (WITHOUT | {"corpus.trec": TREC + "<DOC>\nno number\n</DOC>\n"}, "COL020", "corpus.trec", 6, 1),
    ({C: CORPUS + DOC % ("d1", "", "other")}, "COL021", C, 4, 1),
    ({C: CORPUS + (DOC % ("d1", "", "other")) * 2 + DOC % ("d3", "", "x")}, "COL021", C, 4, 3),
    (WITHOUT | {"docs/a.jsonl": CORPUS, "docs/b.jsonl": "\n" + CORPUS}, "COL021", "docs/b.jsonl", 2, 3),
    ({C: CORPUS + DOC % ("d4", "", " ")}, "COL022", C, 4, 1),
    ({C: CORPUS + DOC % ("d4", "Tea", "Pour.")}, "COL023", C, 4, 1),
    ({C: CORPUS + DOC % ("d 4", "", "x")}, "COL024", C, 4, 1),
    ({J: QRELS + "q9\td1\t1\nq9\td2\t1\nq8\td1\t1\n"}, "COL030", J, 5, 2),
    ({J: QRELS + "q1\td9\t1\nq2\td9\t0\n"}, "COL031", J, 5, 1),
    ({J: QRELS.replace("2\nq1", "E\nq1").replace("\t0", "\tI").replace("\t1", "\tS")}, "COL032", J, None, 1),
    ({J: QRELS + "q1\td1\thigh\n"}, "QRL001", J, 5, 1),
    ({J: QRELS.replace("\t0", "\tI") + "q1\td1\thigh\n"}, "QRL001", J, 5, 1),
    ({J: QRELS + "q1\td1\t1\n"}, "QRL021", J, 5, 1),
    ({J: ""}, "QRL002", J, None, 1),
]


@pytest.mark.parametrize(("changes", "code", "file", "line", "count"), CASES)
def test_a_broken_collection(make, changes, code: str, file: str, line: int | None, count: int) -> None:
    folder = make(changes)
    found = [finding for finding in check_collection(folder).findings if finding.code == code]

    assert [(str(folder / file), line, count)] == [(f.file, f.line, f.count) for f in found]
    assert RULES[code].severity == found[0].severity
    assert found[0].fix


def test_every_rule_has_a_case() -> None:
    codes = {code for _, code, _, _, _ in CASES if code.startswith("COL")}

    assert codes == {rule.code for rule in all_rules() if rule.kind == "collection"}


@pytest.mark.parametrize(("changes", "code"), [(changes, code) for changes, code, _, _, _ in CASES])
def test_what_has_an_error_is_refused_and_nothing_else(make, changes, code: str) -> None:
    folder = make(changes)
    valid = check_collection(folder).valid
    try:
        list(open_collection(folder).documents())
        opened = True
    except InputError:
        opened = False

    assert valid == opened


def test_nothing_is_said_about_a_good_collection(make) -> None:
    found = check_collection(make())

    assert [] == [code for code in found.codes() if code.startswith("COL")]
    assert {"split": "test", "documents": 3, "queries": 2, "judgments": 3} == found.facts


def test_all_findings_come_at_once_the_gravest_first(make) -> None:
    folder = make(
        {
            C: CORPUS + "{\n" + DOC % ("d4", "", ""),
            Q: QUERIES + '{"text": "x"}\n',
            J: QRELS + "q9\td1\t1\nq1\td9\t1\n",
        }
    )
    found = [finding for finding in check_collection(folder).findings if finding.code.startswith("COL")]

    assert ["COL004", "COL010", "COL022", "COL030", "COL031"] == [finding.code for finding in found]
    assert ["error", "error", "warning", "warning", "warning"] == [finding.severity for finding in found]


def test_a_broken_first_line_is_the_only_one_that_is_lost(make) -> None:
    found = check_collection(make({C: "{broken\n" + CORPUS}))

    assert ["COL004"] == [code for code in found.codes() if code.startswith("COL")]
    assert 3 == found.facts["documents"]


def test_examples_tell_what_stands_there(make) -> None:
    folder = make({C: CORPUS + DOC % ("d1", "", "other"), J: QRELS + "q1\td9\t0\n"})
    found = {finding.code: finding for finding in check_collection(folder).findings}

    assert ("document d1, as on line 1", 4) == (found["COL021"].examples[0].text, found["COL021"].line)
    assert "document d9" == found["COL031"].examples[0].text


def test_a_twin_in_another_file_is_named_with_its_file(make) -> None:
    folder = make({C: None, "docs/a.jsonl": CORPUS, "docs/b.jsonl": DOC % ("d9", "Tea", "Pour.")})
    found = {finding.code: finding for finding in check_collection(folder).findings}

    assert f"document d9 is document d3 on line 3 of {folder}/docs/a.jsonl" == found["COL023"].examples[0].text


def test_judgments_under_other_names_are_checked_as_well(make) -> None:
    table = "nr,sku,verdict\nq1,d1,E\nq1,d1,E\nq2,d3,best\n,d3,E\nq9,d9,1\n"
    columns = {"qrels": {"query": "nr", "doc": "sku", "rel": "verdict"}}
    folder = make({J: None, "qrels_test.csv": table})
    found = {f.code: f for f in check_collection(folder, columns=columns).findings}

    assert {"COL005": 4, "COL030": 6, "COL031": 6, "QRL020": 3}.items() <= {
        code: finding.line for code, finding in found.items()
    }.items()
    assert ["the grade 'best' is not a number", "there is no id of a query"] == [
        e.text for e in found["COL005"].examples
    ]
    assert str(folder / "qrels_test.csv") == found["QRL020"].file == found["COL005"].file


def test_a_field_that_was_named_and_is_not_there(make) -> None:
    found = {f.code: f for f in check_collection(make(), columns={"queries": {"text": "txt"}}).findings}

    assert (
        "no field 'txt' for the text; did you mean 'text'? The fields are _id, text" == found["COL005"].examples[0].text
    )


# The severity depends on how much is unknown


def test_unknown_documents_that_are_not_relevant_are_a_note(make) -> None:
    found = check_collection(make({J: QRELS + "q1\td9\t0\n"})).findings

    assert ["note"] == [finding.severity for finding in found if finding.code == "COL031"]
    assert "1 judged document is not in the corpus (none relevant)" in [finding.message for finding in found]


@pytest.mark.parametrize(
    ("qrels", "code", "message"),
    [
        (
            "q1 0 D-1 1\nq2 0 D-3 1\n",
            "COL031",
            "none of the 2 judged documents is in the corpus, which starts with d1, d2, d3",
        ),
        (
            "1 0 d1 1\n2 0 d3 1\n",
            "COL030",
            "none of the 2 judged queries is in the queries, which start with q1, q2",
        ),
    ],
)
def test_nothing_in_common_is_an_error(make, qrels: str, code: str, message: str) -> None:
    found = {f.code: f for f in check_collection(make({J: None, "qrels.test.txt": qrels})).findings}

    assert ("error", message) == (found[code].severity, found[code].message)


def test_what_is_not_read_is_not_called_unknown(make) -> None:
    """One finding about the missing corpus, none about its documents."""
    assert ["COL001"] == [code for code in check_collection(make({C: None})).codes() if code.startswith("COL")]


# Damage


def test_a_corpus_that_is_cut_off(make) -> None:
    whole = gzip.compress("".join(DOC % (f"d{n}", "", f"text {n * 7919}") for n in range(5000)).encode())
    folder = make({C: None})
    (folder / "corpus.jsonl.gz").write_bytes(whole[: len(whole) // 2])
    found = {f.code: f for f in check_collection(folder).findings}

    assert "the gzip data is damaged or cut off" in found["COL002"].examples[0].text
    assert str(folder / "corpus.jsonl.gz") == found["COL002"].file


def test_a_thousand_bad_lines_are_one_finding(make) -> None:
    folder = make({C: CORPUS + "oh no\n" * 1000})
    found = [f for f in check_collection(folder).findings if f.code == "COL004"]

    assert [(1000, 5, 4)] == [(f.count, len(f.examples), f.line) for f in found]


HOSTILE = [
    "[red]x[/red]",
    "<script>alert(1)</script>",
    "\x1b[31mred",
    "a|b",
    "../../etc/passwd",
    "é",
    "=1+1",
    "\u202ex",
]


def test_hostile_ids_are_data(make) -> None:
    import json

    documents = "".join(json.dumps({"_id": id, "text": ""}) + "\n" for id in HOSTILE)
    queries = "".join(json.dumps({"_id": id, "text": id}) + "\n" for id in HOSTILE)
    folder = make({C: documents * 2, Q: queries, J: "".join(f"{id}\td1\t1\n" for id in HOSTILE)})
    found = check_collection(folder)

    assert "COL022" in found.codes()
    assert "COL021" in found.codes()
    for finding in found.findings:
        for example in finding.examples:
            assert (example.text + (example.query or "")).isprintable()


def test_hostile_ids_are_read_as_they_are(make) -> None:
    import json

    documents = "".join(json.dumps({"_id": id, "text": f"text {n}"}) + "\n" for n, id in enumerate(HOSTILE))
    folder = make({C: documents, J: "".join(f"q1\t{id}\t1\n" for id in HOSTILE)})

    assert HOSTILE == [document.id for document in open_collection(folder).documents()]


PIECES = [
    *(b'{"_id": "d1", "text": "a"}', b'{"_id": 1', b"<DOC>", b"</DOC>", b"<DOCNO>d1</DOCNO>", b"<top>", b"</top>"),
    *(
        b"<num>1",
        b"id,text",
        b"id\ttext",
        b"d1\ta",
        b"q1\trice",
        b"q1 0 d1 1",
        b"q1\td1\tE",
        b"PAR1",
        b"ARROW1",
        b"[",
        b"{",
    ),
    *(b'"', b"\t", b"\n", b"\r", b"\0", b"\xff\xfe", b"\x1f\x8b", b"\xef\xbb\xbf", b" ", b",", b"#", b"\xe9"),
]


@given(data=st.tuples(*[st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)] * 3))
def test_files_of_any_bytes_have_findings_and_no_crash(tmp_path_factory, data: tuple[bytes, bytes, bytes]) -> None:
    folder = tmp_path_factory.mktemp("any")
    for name, content in zip(("corpus", "queries", "qrels"), data, strict=True):
        (folder / name).write_bytes(content)
    found = check_collection(folder)
    try:
        open_collection(folder)
    except InputError:
        assert not found.valid
    else:
        assert found.valid


# Progress and memory


def test_progress_is_told(make) -> None:
    folder = make({C: "".join(DOC % (f"d{n}", "", f"text {n}") for n in range(2500))})
    steps: list[tuple[str, int, int | None]] = []
    check_collection(folder, progress=lambda *given: steps.append(given))

    assert [("checking documents", 1000, None), ("checking documents", 2000, None)] == steps[:2]
    assert ("checking documents", 2500, 2500) == steps[-1]


def test_the_corpus_is_not_kept(make) -> None:
    """Eight times the text takes no more memory."""
    import tracemalloc

    peaks = []
    for name, length in (("short", 500), ("long", 4000)):
        folder = make({C: "".join(DOC % (f"d{n}", "", f"{n} " + "x" * length) for n in range(4000))}, name=name)
        check_collection(folder)  # do not count imports and caches
        tracemalloc.start()
        check_collection(folder)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()

    assert peaks[1] < peaks[0] + 2_000_000  # the text is 14 MB more
