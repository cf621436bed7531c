"""What editors and type checkers see of assay: mypy reads a program as a user would write it."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

GOOD = """
    from pathlib import Path

    import pandas
    import polars

    import assay
    from assay.measures import alpha_nDCG, nDCG

    frame = pandas.DataFrame({"query": ["q"], "doc": ["a"], "rel": [1]})
    result = assay.evaluate({"q": {"a": 1}}, Path("run.txt"), [nDCG @ 10, "AP"])
    assay.evaluate(frame, polars.DataFrame(), [alpha_nDCG])
    reveal_type(result.mean()["AP"])
    study = assay.Study(test="permutation", alternative="greater")
    comparison = assay.compare("qrels.txt", {"a": "a.run", "b": {"q": {"a": 1.0}}}, study=study, segments="length")
    reveal_type(comparison.pairs[0].verdict)
    assay.score(["a", "b"], {"a"}, scores=[2.0, 1.0])
    assay.score({"a": 0.5}, {"a": 3})
    reveal_type(assay.errors.InputError("x").line)
    result.plot("distribution").save(Path("chart.png"))
    comparison.to_pandas().head()
    comparison.save("comparison.tex")
    reveal_type(result["AP"])
    """
SHAPES = """
    import gzip
    import io
    from collections import namedtuple
    from typing import Any, Iterator, NamedTuple

    import numpy
    import pandas

    import assay


    class Qrel(NamedTuple):
        query_id: str
        doc_id: str
        relevance: int


    class Hit:
        def __init__(self, id: str, score: float) -> None:
            self.id, self.score = id, score


    def rows() -> Iterator[Qrel]:
        yield Qrel("q", "a", 1)


    def retrieve(text: str) -> list[tuple[str, float]]:
        return [("a", 0.5)]


    ranked = {"q": ["a", "b"]}
    relevant = {"q": {"a"}}
    pairs = {"q": [("a", 0.5)]}
    hits: dict[str, list[dict[str, Any]]] = {"q": [{"id": "a", "score": 0.5}]}
    arrays = {"q": numpy.array(["a"])}
    numbered = {7: ["a"]}
    records = [{"query_id": "q", "doc_id": "a", "score": 0.5}]
    tuples = [("q", "a", 0.5)]
    assay.evaluate(relevant, ranked)
    assay.evaluate(ranked, pairs)
    assay.evaluate(rows(), hits)
    assay.evaluate([Qrel("q", "a", 1)], arrays)
    assay.evaluate(numbered, numbered)
    assay.evaluate(relevant, {"q": [Hit("a", 0.5)]})
    assay.evaluate(relevant, records)
    assay.evaluate(relevant, tuples)
    assay.evaluate(relevant, {"q": ["a"], "r": {"b": 0.5}})
    assay.evaluate(pandas.Series([1.0]), pandas.DataFrame())
    with open("qrels.txt") as text, open("a.run", "rb") as binary, gzip.open("b.run.gz") as packed:
        assay.evaluate(text, binary)
        assay.evaluate(io.StringIO(), packed)
    assay.evaluate(relevant, retrieve, queries={"q": "text"})
    assay.evaluate(relevant, lambda text: [text], queries="queries.tsv")
    found = assay.evaluate_runs(relevant, {"a": ranked, "b": retrieve, "c": "c.run"}, queries={"q": "text"})
    reveal_type(found["a"])
    assay.evaluate_runs(relevant, ["a.run", "b.run"]).save("values.csv")
    assay.evaluate_runs(relevant, [ranked, ranked])
    assay.compare(relevant, {"a": ranked, "b": pairs})
    assay.compare(relevant, [retrieve, "b.run"], queries={"q": "text"})
    assay.compare_scores({"a": {"q": 0.5}, "b": {"q": 0.25}}, baseline="a")
    assay.compare_scores(pandas.DataFrame(), assay.Study(test="sign"))
    assay.fuse([ranked, "b.run"])
    assay.fuse({"a": ranked, "b": pairs})
    assay.collapse(ranked, "(.+)#")
    assay.score_many({"q": ["a"]}, {"q": {"a"}})
    assay.score_many([["a"]], [{"a": 1}])
    """
BAD = """
    import assay

    assay.evaluate(3, "run.txt")
    assay.evaluate("qrels.txt", ["run.txt"])
    assay.compare("qrels.txt", ["a.run", "b.run"], test="sign")
    assay.Study(alternative="up")
    assay.Rules(ties="random")
    assay.evaluate("qrels.txt", [0.5, 0.25])
    assay.compare_scores({"a": [0.5]})
    assay.evaluate("qrels.txt", "run.txt").save(3)
    assay.evaluate("qrels.txt", "run.txt")[0]
    assay.validate_run("run.txt").plot()
    """


def mypy(code: str, folder) -> list[str]:
    (folder / "program.py").write_text(dedent(code))
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--ignore-missing-imports", "--no-error-summary", "program.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "" == done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_types_help_those_who_use_them_and_stop_those_who_misuse_them(tmp_path):
    pytest.importorskip("mypy")

    notes = mypy(GOOD, tmp_path)
    assert ["float", "Literal", "int | None", "float"] == [
        next(word for word in ("Literal", "float", "int | None") if word in note) for note in notes
    ]
    (note,) = mypy(SHAPES, tmp_path)
    assert 'Revealed type is "assay.evaluation.Evaluation"' in note
    errors = mypy(BAD, tmp_path)
    assert list(range(4, 14)) == sorted({int(line.split(":")[1]) for line in errors if ": error: " in line})
