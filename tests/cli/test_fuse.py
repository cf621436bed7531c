"""assay runs fuse and assay runs collapse, as a user runs them."""

from __future__ import annotations

import gzip
import hashlib

import pytest

from assay import fuse, read_run
from assay.example import RUNS
from assay.formats.ir_metadata import read_metadata
from assay.fusion import METHODS, NORMALISATIONS
from cli.command import assay
from cli.test_hostile_ids import HOSTILE, NOT_UTF8

BM25 = "q1 Q0 a 1 9 t\nq1 Q0 b 2 8 t\n"
DENSE = "q1 Q0 b 1 0.5 t\nq1 Q0 c 2 0.25 t\n"
CHUNKS = "q1 Q0 a#1 1 9 t\nq1 Q0 b#1 2 8 t\nq1 Q0 a#2 3 7 t\n"


@pytest.fixture
def folder(tmp_path):
    for name, text in {"bm25.run": BM25, "dense.run": DENSE, "chunks.run": CHUNKS}.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "map.tsv").write_text("a#1\ta\na#2\ta\nb#1\tb\n")
    return tmp_path


def sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def rows(path) -> list[str]:
    return [line for line in path.read_text().splitlines() if not line.startswith("#")]


def test_fuse_writes_a_run_that_says_how_it_was_made(folder):
    done = assay("runs", "fuse", "bm25.run", "dense.run", "-o", "out.run", cwd=folder)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    scores = {"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62}
    assert [f"q1 Q0 {doc} {rank} {score!r} rrf" for rank, (doc, score) in enumerate(scores.items(), 1)] == rows(
        folder / "out.run"
    )
    found = read_metadata(folder / "out.run")
    assert ("rrf", True) == (found["tag"], found["method"]["automatic"])
    assert {"name": "rrf", "k": 60, "normalisation": "none", "ranks": "score"} == found["method"]["fusion"]
    assert [
        {"path": "bm25.run", "sha256": sha256(BM25)},
        {"path": "dense.run", "sha256": sha256(DENSE)},
    ] == found["method"]["runs"]
    (folder / "qrels.txt").write_text("q1 0 a 1\n")
    table = assay("evaluate", "qrels.txt", "out.run", "-m", "RR", "--format", "csv", cwd=folder).stdout
    assert "0.5" in table


def test_all_options_are_recorded_and_the_same_command_gives_the_same_bytes(folder):
    options = ["--method", "CombSUM", "--norm", "min-max", "--weights", "2,0.5", "--depth", "2", "--tag", "mine"]
    for name in ("one.run", "two.run"):
        assert 0 == assay("runs", "fuse", "bm25.run", "dense.run", *options, "-o", name, cwd=folder).returncode

    assert (folder / "one.run").read_bytes() == (folder / "two.run").read_bytes()
    assert ["q1 Q0 a 1 2.0 mine", "q1 Q0 b 2 0.5 mine"] == rows(folder / "one.run")
    found = read_metadata(folder / "one.run")
    assert "mine" == found["tag"]
    assert {
        "name": "combsum",
        "normalisation": "min-max",
        "ranks": "score",
        "weights": [2.0, 0.5],
        "depth": 2,
    } == found["method"]["fusion"]


@pytest.mark.parametrize("method", METHODS)
def test_every_method_from_the_shell_is_that_of_python(method, tmp_path):
    weights = ["--weights", "2,1"] if method == "weighted" else []
    out = tmp_path / "out.run"
    assert 0 == assay("runs", "fuse", *RUNS, "--method", method, "--norm", "rank", *weights, "-o", out).returncode

    expected = fuse([read_run(run) for run in RUNS], method, "rank", [2, 1] if weights else None)
    found = read_run(out)
    assert (expected.doc.tolist(), expected.score.tolist()) == (found.doc.tolist(), found.score.tolist())


def test_every_name_stands_in_the_help():
    text = " ".join(assay("runs", "fuse", "--help").stdout.split())

    for name in (*METHODS, *NORMALISATIONS):
        assert f"{name}, " in text or f"{name}. " in text
    assert "assay runs fuse bm25.run dense.run -o hybrid.run" in text
    assert "assay runs collapse chunks.run --regex" in assay("runs", "collapse", "--help").stdout


def test_parameters_pipes_and_other_formats(folder):
    done = assay(
        "runs", "fuse", "-", "dense.run", "-p", "k=0", "-o", "-", "--to", "trec", stdin=BM25.encode(), cwd=folder
    )
    assert (0, "") == (done.returncode, done.stderr)
    assert '#     - path: standard input\n#     - path: dense.run\n#       sha256: "' in done.stdout.replace(
        f" {sha256(DENSE)}", f' "{sha256(DENSE)}"'
    )
    assert done.stdout.endswith("q1 Q0 b 1 1.5 rrf\nq1 Q0 a 2 1.0 rrf\nq1 Q0 c 3 0.5 rrf\n")

    plain = assay("runs", "fuse", "bm25.run", "dense.run", "--no-metadata", "-o", "out.run.gz", cwd=folder)
    assert (0, "") == (plain.returncode, plain.stderr)
    assert gzip.decompress((folder / "out.run.gz").read_bytes()).startswith(b"q1 Q0 b 1 ")

    table = assay("runs", "fuse", "bm25.run", "dense.run", "-o", "out.csv", cwd=folder)
    assert (0, "Note: csv files have no comment lines, so this one does not record how it was made.\n") == (
        table.returncode,
        table.stderr,
    )
    assert (folder / "out.csv").read_text().startswith("query_id,doc_id,score,tag\nq1,b,")


def test_notes_are_told(folder):
    (folder / "other.run").write_text("q2 Q0 z 1 -1 t\n")
    done = assay("runs", "fuse", "bm25.run", "other.run", "--method", "combsum", "-o", "out.run", cwd=folder)

    assert (0, "") == (done.returncode, done.stdout)
    assert (
        "Note: other has negative scores: a document that the run lacks counts as 0, above those. With min-max it "
        "counts as the lowest.\n"
        "Note: 2 of 2 queries are not in all runs (first: q1, q2). Such queries are fused from the runs that have them.\n"
        "Note: the runs have no document in common for any query. Check that they write document ids the same way ('a' and "
        "'z').\n"
    ) == done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--method", "comsum"], "no fusion method called 'comsum'; did you mean 'combsum'? Choose from rrf, "),
        (["--norm", "minmx"], "no normalisation called 'minmx'; did you mean 'min-max'? Choose from none, "),
        (["--weights", "1"], "1 weight for 2 runs (bm25, dense): give one for each, in the same order.\n"),
        (["--weights", "1,x"], "--weights 1,x: 'x' is not a number.\n"),
        (["--weights", "1,1_0"], "--weights 1,1_0: '1_0' is not a number.\n"),
        (["--weights", ""], "--weights : '' is not a number.\n"),
        (["-p", "kk=3"], "rrf has no parameter 'kk'; did you mean 'k'? It takes k.\n"),
        (["-p", "depth=3"], "rrf has no parameter 'depth'. It takes k.\n"),
        (["-p", "k"], "-p k: expected a name and a number, such as k=60.\n"),
        (["-p", "k=many"], "-p k=many: 'many' is not a number.\n"),
        (["-p", "k=1", "-p", "k=2"], "-p k=2: k is given twice.\n"),
        (["--depth", "0"], "depth cannot be 0; it takes a whole number from 1.\n"),
        (["-o", "bm25.run"], "bm25.run: this is also an input file; choose another output file.\n"),
        (["-o", "out.dat"], "out.dat: cannot tell the format from the file name."),
        (["nope.run"], "nope.run: no such file"),
        (["-", "-"], "standard input (-) can be read only once.\n"),
    ],
)
def test_refusals_leave_no_file(folder, arguments, message):
    before = sorted(path.name for path in folder.iterdir())
    done = assay("runs", "fuse", "bm25.run", "dense.run", "-o", "out.run", *arguments, cwd=folder)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"Error: {message}")
    assert before == sorted(path.name for path in folder.iterdir())
    assert BM25 == (folder / "bm25.run").read_text()


@pytest.mark.parametrize("rule", [["--map", "map.tsv"], ["--regex", r"^(.+)#\d+$"]])
@pytest.mark.parametrize(("by", "score"), [("max", 9.0), ("sum", 16.0), ("first", 9.0)])
def test_collapse(folder, rule, by, score):
    done = assay("runs", "collapse", "chunks.run", *rule, "--by", by, "-o", "out.run", cwd=folder)

    assert (0, "", "") == (done.returncode, done.stdout, done.stderr)
    assert [f"q1 Q0 a 1 {score} t", "q1 Q0 b 2 8.0 t"] == rows(folder / "out.run")
    found = read_metadata(folder / "out.run")["method"]
    expected = {"path": "map.tsv", "sha256": sha256((folder / "map.tsv").read_text())}
    assert {"by": by, **({"map": expected} if "--map" in rule else {"regex": rule[1]})} == found["collapse"]
    assert [{"path": "chunks.run", "sha256": sha256(CHUNKS)}] == found["runs"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "give either --map FILE or --regex R to say which document each chunk belongs to.\n"),
        (["--map", "map.tsv", "--regex", "x"], "give either --map FILE or --regex R to say which document "),
        (["--map", "half.tsv"], "1 of 3 chunks of chunks.run have no document in the map (first: b#1).\n"),
        (["--map", "nope.tsv"], "nope.tsv: no such file"),
        (["--regex", "("], "'(' is not a valid regular expression: "),
        (["--regex", ".", "--by", "mx"], "by cannot be 'mx'; did you mean 'max'? "),
    ],
)
def test_collapse_refuses(folder, arguments, message):
    (folder / "half.tsv").write_text("a#1\ta\na#2\ta\n")
    done = assay("runs", "collapse", "chunks.run", *arguments, "-o", "out.run", cwd=folder)

    assert (2, "") == (done.returncode, done.stdout)
    assert done.stderr.startswith(f"Error: {message}")
    assert not (folder / "out.run").exists()


def test_hostile_ids_and_names_go_through_as_they_are(tmp_path):
    ids = [text.encode() for text in HOSTILE] + [NOT_UTF8]
    data = b"".join(b"%s Q0 %s 1 1.0 t\n" % (text, text) for text in ids)
    names = ["a\nq9 Q0 evil 1 9 t", "[red]#\x1b[31m"]  # a newline in a name must not start a row
    for name in names:
        (tmp_path / name).write_bytes(data)
    done = assay("runs", "fuse", *names, "--method", "combsum", "-o", "out.run", cwd=tmp_path)

    assert (0, "") == (done.returncode, done.stderr)
    written = (tmp_path / "out.run").read_bytes().split(b"ir_metadata.end\n")[1]
    assert sorted(b"%s Q0 %s 1 2.0 combsum" % (text, text) for text in ids) == sorted(written.splitlines())
    assert names == [run["path"] for run in read_metadata(tmp_path / "out.run")["method"]["runs"]]
