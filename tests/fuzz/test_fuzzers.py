"""The fuzzers themselves: what they once found stays mended, they notice faults, and the third implementation is right."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import pytest

from fuzz import reference
from fuzz.mutating import Mutator
from fuzz.readers import READERS, SEEDS, Desk, on_both_paths, seeds_of
from fuzz.reference import Judgment, NotSure, Refused, Retrieved
from fuzz.run import Findings, kind_of


@pytest.mark.filterwarnings("ignore::assay.errors.NameWarning")
@pytest.mark.parametrize("name", READERS)
def test_all_seeds_pass_in_all_ways(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Among them is every input that ever failed."""
    monkeypatch.chdir(tmp_path)
    reader, desk = READERS[name], Desk(tmp_path, always_in_full=True)
    own = [path.read_bytes() for path in sorted((SEEDS / name).glob("*"))]
    for data in own or seeds_of(reader, desk)[:2]:
        for way in range(reader.ways):
            reader.act(desk, data, way)


def test_the_same_seed_makes_the_same_inputs() -> None:
    first, again, other = (Mutator([b"q1 d1 1\n"], [b"x"], Random(seed)) for seed in (1, 1, 2))
    made = [first.next() for _ in range(50)]

    assert made == [again.next() for _ in range(50)]
    assert made != [other.next() for _ in range(50)]


def _hang() -> None:
    while True:
        pass


def _differ() -> None:
    answers = iter(["one", "another"])
    on_both_paths(lambda: next(answers))


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (lambda: [].pop(), "IndexError: pop from empty list"),  # noqa: PLW0108
        (lambda: "\ud800".encode(), "UnicodeEncodeError"),  # noqa: PLW0108
        (_hang, "takes more than"),
        (_differ, "kernel one"),
    ],
)
def test_faults_are_written_down_once(
    fault: Callable[[], Any], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fuzz.run.HANGS", 0.05)
    monkeypatch.setattr("fuzz.readers.native.kernel", object())
    findings = Findings(tmp_path, "trec")
    for _ in range(2):
        findings.watch(fault, b"the input", 3)

    inputs, words_written = sorted(tmp_path.iterdir())
    assert 1 == findings.count
    assert b"the input" == inputs.read_bytes()
    assert words in words_written.read_text()


def test_outcomes_of_one_kind_are_alike() -> None:
    assert kind_of("a.run:3: score 'x' is not a number") == kind_of("a.run:41: score 'nan' is not a number")
    assert kind_of("a.run:3: score 'x' is not a number") != kind_of("a.run:3: rank 'x' is not a number")


# The third implementation, by hand

GRADES = [Judgment(b"q", doc, grade) for doc, grade in ((b"a", 1.0), (b"b", 0.0), (b"c", 2.0), (b"d", -1.0))]
RANKING = [Retrieved(b"q", doc, score) for doc, score in ((b"x", 4.0), (b"b", 3.0), (b"a", 2.0), (b"d", 1.0))]


def test_values_of_a_ranking() -> None:
    """x b a d: the only relevant document found is at rank 3, behind one of the judged ones that are not relevant."""
    found = dict(zip(reference.MEASURES, reference.values(GRADES, RANKING, "doc-desc", "error")[b"q"], strict=True))
    ideal = 2 + 1 / float(Fraction("1.584962500721156"))

    assert 1 / 5 == found["P@5"]
    assert 1 / 2 == found["R@5"]
    assert 1 / 6 == found["AP"]
    assert 1 / 3 == found["RR"]
    assert pytest.approx(0.5 / ideal, abs=1e-15) == found["nDCG@10"]
    assert 3 / 4 == found["Judged@5"]
    assert 0.0 == found["Bpref"]
    assert (4, 2, 1) == (found["NumRet"], found["NumRel"], found["NumRelRet"])


def test_ties_and_repeats() -> None:
    tied = [Retrieved(b"q", b"b", 1.0), Retrieved(b"q", b"c", 1.0), Retrieved(b"q", b"b", 0.5)]

    assert 1.0 == reference.values(GRADES, tied, "doc-desc", "first")[b"q"][3]
    assert 0.5 == reference.values(GRADES, tied, "doc-asc", "first")[b"q"][3]
    with pytest.raises(Refused):
        reference.values(GRADES, tied, "doc-desc", "error")


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (reference.trec_run, b"q Q0 a 1 nan t\n"),
        (reference.trec_run, b"q Q0 a 1 1 t\nq Q0 b 2 1\n"),
        (reference.trec_qrels, b"q 0 a\0 1\n"),
        (reference.msmarco_run, b"q a 2\nq b 3\n"),
        (reference.READERS["csv"][1], b"query_id,doc_id,score\nq,,1\n"),
        (reference.READERS["jsonl"][1], b'{"query_id": "q"\n'),
    ],
)
def test_what_nobody_should_read(read: Callable[[bytes], Any], data: bytes) -> None:
    with pytest.raises(Refused):
        read(data)


@pytest.mark.parametrize(
    ("read", "data"),
    [
        (reference.trec_run, b"qid Q0 docno rank score tag\nq Q0 a 1 1 t\n"),
        (reference.READERS["csv"][1], b'query_id,doc_id,score\n"q",a,1\n'),
        (reference.READERS["json"][1], b'{"q1": ["a", "b"]}'),
    ],
)
def test_what_is_not_plain_is_not_compared(read: Callable[[bytes], Any], data: bytes) -> None:
    with pytest.raises(NotSure):
        read(data)
