"""Summaries of files, checked by hand."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

from assay.errors import InputError
from assay.formats import parse_grades
from assay.formats.info import (
    FIRST_NAMES,
    FIRST_ROWS,
    FileInfo,
    GradeCount,
    Names,
    QrelsInfo,
    RunInfo,
    Span,
    Spread,
    qrels_info,
    run_info,
)
from assay.formats.readings import Reading
from assay.judges import Agreement
from assay.report.info import MOST_BARS, info_as_json, info_as_text
from reading.rows import refusal

RUN = """\
q2 Q0 a 1 9.5 bm25
q1 Q0 a 1 3.0 bm25
q1 Q0 b 2 3.0 bm25
q2 Q0 c 2 -1e3 other
q1 Q0 d 3 0.1 other
q3 Q0 e 1 7 other
"""
QRELS = """\
q1 1 a 2
q1 2 a 0
q1 1 b -1
q2 1 c 0
q3 1 d 1
q3 1 e 0.5
"""


def written(folder: Path, text: str | bytes, name: str = "file") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_run(tmp_path: Path) -> None:
    path = written(tmp_path, RUN)

    assert RunInfo(
        file=FileInfo(str(path), "trec", None, len(RUN)),
        queries=3,
        rows=6,
        documents=5,
        documents_per_query=Spread(1, 2.0, 3),
        tags=Names(2, ("bm25", "other")),
        scores=Span(-1000.0, 9.5),
        scores_are_ranks=False,
        ranks=Span(1, 3),
        tied_queries=1,
        queries_apart=2,
        first_apart="q2",
        first_rows=(
            {"query": "q2", "document": "a", "rank": 1, "score": 9.5},
            {"query": "q1", "document": "a", "rank": 1, "score": 3.0},
            {"query": "q1", "document": "b", "rank": 2, "score": 3.0},
            {"query": "q2", "document": "c", "rank": 2, "score": -1000.0},
            {"query": "q1", "document": "d", "rank": 3, "score": 0.1},
        ),
    ) == run_info(path)


def test_qrels(tmp_path: Path) -> None:
    path = written(tmp_path, gzip.compress(QRELS.encode()), "qrels.gz")

    assert QrelsInfo(
        file=FileInfo(str(path), "trec", "gzip", path.stat().st_size),
        queries=3,
        judgments=6,
        documents=5,
        judgments_per_query=Spread(1, 2.0, 3),
        grades=(
            GradeCount(-1.0, 1),
            GradeCount(0.0, 2),
            GradeCount(0.5, 1),
            GradeCount(1.0, 1),
            GradeCount(2.0, 1),
        ),
        relevant_per_query=Spread(0, 1.0, 2),
        queries_without_relevant=1,
        agreement=Agreement(documents=5, several=1, disputed=1, judgments=2, equal_pairs=0.0, alpha=0.0),
        iterations=Names(2, ("1", "2")),
        queries_apart=0,
        first_apart=None,
        first_rows=(
            {"query": "q1", "iteration": "1", "document": "a", "grade": 2.0},
            {"query": "q1", "iteration": "2", "document": "a", "grade": 0.0},
            {"query": "q1", "iteration": "1", "document": "b", "grade": -1.0},
            {"query": "q2", "iteration": "1", "document": "c", "grade": 0.0},
            {"query": "q3", "iteration": "1", "document": "d", "grade": 1.0},
        ),
    ) == qrels_info(path)


def test_every_format_is_told(tmp_path: Path) -> None:
    frame = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table({"qid": ["q1"], "docno": ["a"], "score": [1.0]}), frame)
    files = {
        "msmarco": b"q1\ta\t1\n",
        "json": b'{"q1": {"a": 1}}',
        "jsonl": b'{"qid": "q1", "docno": "a", "score": 1}\n',
        "csv": b"qid,docno,score\nq1,a,1\n",
        "tsv": b"qid\tdocno\tscore\nq1\ta\t1\n",
        "parquet": frame.getvalue(),
    }

    for name, text in files.items():
        found = run_info(written(tmp_path, text))
        assert (name, 1, 1) == (found.file.format, found.queries, found.rows)
    beir = run_info(written(tmp_path, b"q1 a 7\n"), Reading("beir"))
    assert ("beir", Span(7.0, 7.0), None, Names(0, ())) == (beir.file.format, beir.scores, beir.ranks, beir.tags)


def test_a_run_of_ranks_has_no_scores_of_its_own(tmp_path: Path) -> None:
    found = run_info(written(tmp_path, "q1\ta\t1\nq1\tb\t2\n"))

    assert (True, Span(-2.0, -1.0), Span(1, 2)) == (found.scores_are_ranks, found.scores, found.ranks)
    assert "scores      -2.0 to -1.0 (the negated ranks)\n" in info_as_text(found)


def test_letters_need_their_values(tmp_path: Path) -> None:
    path = written(tmp_path, "query_id,product_id,esci_label\nq1,a,E\nq1,b,I\n")

    assert "grade 'E' is not a number" in refusal(lambda: qrels_info(path))
    found = qrels_info(path, Reading(grades=parse_grades("E=3,I=0")))
    assert ((GradeCount(0.0, 1), GradeCount(3.0, 1)), None) == (found.grades, found.iterations)


def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        run_info(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no input format called 'x'"):
        qrels_info(written(tmp_path, QRELS), Reading("x"))


# As text


def test_a_run_on_one_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path, RUN, "my.run")

    assert """\
file        my.run
format      trec, 116 bytes
queries     3
rows        6
documents   5 distinct; 1 to 3 per query, median 2
tags        2: bm25, other
scores      -1000.0 to 9.5
ranks       1 to 3
ties        in 1 query
order       rows of 2 queries are scattered (first: q2)

query   document   rank     score
─────────────────────────────────
q2      a             1       9.5
q1      a             1       3.0
q1      b             2       3.0
q2      c             2   -1000.0
q1      d             3       0.1
... and 1 more
""" == info_as_text(run_info("my.run"))


def test_qrels_on_one_screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    size = written(tmp_path, gzip.compress(QRELS.encode()), "qrels.gz").stat().st_size

    assert f"""\
file            qrels.gz
format          trec, gzip-compressed, {size} bytes
queries         3
judgments       6; 1 to 3 per query, median 2
documents       5 distinct
relevant        0 to 2 per query, median 1 (grade above 0)
none relevant   1 query
judges          1 of 5 judged documents has several judgments; 0% of pairs agree (Krippendorff's alpha, ordinal: 0.000);
                if the iterations are subtopics, these are not several judges
iterations      2: 1, 2
order           rows are grouped by query

grade   judgments   share
   -1           1   16.7%   ████████████████████
    0           2   33.3%   ████████████████████████████████████████
  0.5           1   16.7%   ████████████████████
    1           1   16.7%   ████████████████████
    2           1   16.7%   ████████████████████

query   iteration   document   grade
────────────────────────────────────
q1      1           a              2
q1      2           a              0
q1      1           b             -1
q2      1           c              0
q3      1           d              1
... and 1 more
""" == info_as_text(qrels_info("qrels.gz"))


def test_many_grades_are_shown_in_ranges(tmp_path: Path) -> None:
    grades = [number / 8 for number in range(41)] + [5.0]  # 0 to 5
    text = "".join(f"q1 0 d{row} {grade!r}\n" for row, grade in enumerate(grades))
    found = qrels_info(written(tmp_path, text))
    rows = info_as_text(found).split("\n\n")[1].splitlines()

    assert (41, MOST_BARS + 1) == (len(found.grades), len(rows))
    assert ["0 to 0.5", "4.5 to 5"] == [rows[1].split("   ")[0].strip(), rows[-1].split("   ")[0].strip()]
    assert [4] * 9 + [6] == [int(row.split("   ")[-3]) for row in rows[1:]]


def test_grades_of_any_size_have_their_bars(tmp_path: Path) -> None:
    text = "".join(f"q1 0 d{row} {grade!r}\n" for row, grade in enumerate([-1.7e308, 1.7e308, *map(float, range(20))]))
    rows = info_as_text(qrels_info(written(tmp_path, text))).split("\n\n")[1].splitlines()[1:]

    assert 22 == sum(int(row.split("%")[0].split()[-2]) for row in rows)


def test_a_rare_grade_is_still_seen(tmp_path: Path) -> None:
    text = "".join(f"q1 0 d{row} {int(row == 0)}\n" for row in range(1000))

    assert "    1           1    0.1%   ▏\n" in info_as_text(qrels_info(written(tmp_path, text)))


@pytest.mark.parametrize("width", [40, 60, 80])
def test_it_fits_the_terminal(tmp_path: Path, width: int) -> None:
    ids = f"{'query' * 30} Q0 {'日本' * 40}"
    shown = info_as_text(run_info(written(tmp_path, f"{ids} 1 1.25 {'tag' * 50}\n")), width)
    judged = info_as_text(qrels_info(written(tmp_path, f"{ids} 1.25\n")), width)

    for line in (shown + judged).splitlines():
        wide = sum(character in "日本" for character in line)
        assert len(line) + wide <= width


def test_names_are_counted_and_the_first_are_shown(tmp_path: Path) -> None:
    text = "".join(f"q{row} Q0 a 1 1 tag{row}\n" for row in range(30))
    found = run_info(written(tmp_path, text))

    assert (30, FIRST_NAMES, FIRST_ROWS) == (found.tags.count, len(found.tags.first), len(found.first_rows))
    assert "tags        30: tag0, tag1, tag2, " in info_as_text(found)
    assert ", tag9, and 20 more\n" in info_as_text(found)


def test_what_is_one_is_said_in_few_words(tmp_path: Path) -> None:
    run = info_as_text(run_info(written(tmp_path, '{"q1": {"a": 1.5}}')))
    qrels = info_as_text(qrels_info(written(tmp_path, "q1 0 a 1\n")))

    assert "documents   1 distinct; 1 per query\ntag         none\nscores      all 1.5\nranks       none\n" in run
    assert "ties        none\n" in run
    assert "iterations      all 0\n" in qrels
    assert "more" not in run + qrels


# As JSON


def test_json_says_the_same(tmp_path: Path) -> None:
    run = json.loads(info_as_json(run_info(written(tmp_path, RUN))))
    qrels = json.loads(info_as_json(qrels_info(written(tmp_path, QRELS))))

    assert ("assay/run-info/1", 3, 6, 5, 1, 2) == tuple(
        run[key] for key in ("schema", "queries", "rows", "documents", "tied_queries", "queries_apart")
    )
    assert {"least": 1, "median": 2.0, "most": 3} == run["documents_per_query"]
    assert "assay/qrels-info/1" == qrels["schema"]
    assert {"grade": -1.0, "judgments": 1} == qrels["grades"][0]
