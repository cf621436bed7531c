"""Near-duplicate documents at the top."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from assay import diagnose, evaluate
from assay.diagnosis.texts import jaccard, shingles, words_of

TEXT = "the quick brown fox jumps over the lazy dog and runs away into the dark forest where it sleeps until dawn"


def corpus():
    """Two documents nearly the same, two exactly so, others different; one has no words."""
    words = TEXT.split()
    rng = np.random.default_rng(1)
    texts = {f"d{number}": " ".join(rng.permutation(words)) for number in range(8)}
    return texts | {
        "a": TEXT,
        "a2": TEXT.upper() + "!",
        "b": f"{TEXT} " * 9,
        "b2": f"{TEXT} " * 9 + "again",
        "empty": "",
    }


def run(*docs):
    return {f"q{number}": {doc: float(-rank) for rank, doc in enumerate(docs)} for number in range(10)}


def found_in(runs, **options):
    qrels = {f"q{number}": {"a": 1, "a2": 1, "d0": 1, "b": 0} for number in range(10)}
    return diagnose(qrels, runs, ["P@4"], corpus=corpus(), only=["gaming"], **options)["DIA032"]


def test_copies_are_found_once_and_counted_for_nothing():
    """Of a, a2, d0 and d1 one duplicates another: a quarter. Without it, two of the first four are relevant."""
    runs = {"plain": run("a", "d0", "d1", "d2"), "copies": run("a", "a2", "d0", "d1")}

    found = found_in(runs)

    rows = {row["run"]: row for row in found.tables[0].records()}
    assert ("warning", 0.25, 0.0) == (found.severity, rows["copies"]["repeats"], rows["plain"]["repeats"])
    assert (0.75, 0.5) == (rows["copies"]["P@4"], rows["copies"]["repeats not counted"])
    assert (10, 10, 0) == (rows["copies"]["queries"], rows["copies"]["relevant"], rows["plain"]["relevant"])
    assert ("a2", "a", 1.0, 1) == tuple(found.tables[1].rows[0][1:])
    assert "25.0% of the first 10 documents of copies duplicate one ranked above them, in 10 queries." == found.measured


def test_nearly_the_same_is_nine_tenths_of_the_shingles():
    a, b = (shingles(words_of(corpus()[name]), 5) for name in ("b", "b2"))

    assert 0.9 <= jaccard(a, b) < 1
    assert 0.0 < found_in({"r": run("b", "b2")}).evidence[0].value
    assert "fine" == found_in({"r": run("d0", "d1", "d2", "empty")}).severity


def test_the_later_document_is_the_repeat():
    """Ranks differ by run: in one a comes first, in the other a2."""
    rows = found_in({"one": run("a", "a2"), "two": run("a2", "a")}).tables[0].records()
    scores = [evaluate({"q0": {"a": 1, "a2": 1, "d0": 1, "b": 0}}, {"q0": {"a": 1.0}}, ["P@4"]).mean()["P@4"]] * 2

    assert scores == [row["repeats not counted"] for row in rows]


def test_only_documents_at_the_top_count():
    from assay.diagnosis.model import Settings

    assert "fine" == found_in({"r": run("a", "d0", "a2")}, settings=Settings(k=2)).severity


def test_the_difference_to_the_baseline_is_tested():
    rng = np.random.default_rng(2)
    mixed = {query: docs if rng.random() < 0.6 else run("a", "d1")[query] for query, docs in run("a", "a2").items()}

    rows = found_in({"plain": run("a", "d0"), "mixed": mixed}).tables[0].records()

    shares = [0.5 if "a2" in docs else 0.0 for docs in mixed.values()]
    assert pytest.approx(stats.ttest_1samp(shares, 0).pvalue) == rows[1]["p to baseline"]


def test_what_is_missing_is_named():
    runs = {"r": run("x", "y")}
    without = diagnose({"q1": {"x": 1}}, runs, only=["gaming"])
    stranger = diagnose({"q1": {"x": 1}}, runs, only=["gaming"], corpus={"other": "text"})

    def reason(found):
        return next(missing.reason for missing in found.not_looked_at if missing.code == "DIA032")

    assert "needs `corpus=`, the texts of the documents" == reason(without)
    assert "`corpus=` has none of the documents at the top of the RUNs; does it use the same ids?" == reason(stranger)
