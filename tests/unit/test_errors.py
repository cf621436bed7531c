"""Errors name their place, can be pickled, and escape ids."""

from __future__ import annotations

import pickle

import pytest

from assay.errors import DuplicateError, InputError, MissingExtraError, QuerySetError, did_you_mean, show_id, some_of


@pytest.mark.parametrize(
    "error",
    [
        InputError("bad", source="a.run", line=7),
        DuplicateError("twice", pairs=[("q", "d")], source="a.run"),
        MissingExtraError("reading .zst files", "zstd"),
        QuerySetError("none"),
    ],
)
def test_errors_survive_the_way_to_another_process(error):
    again = pickle.loads(pickle.dumps(error))

    assert (type(error), str(error), vars(error)) == (type(again), str(again), vars(again))


def test_the_place_comes_first():
    assert "a.run:7: bad" == str(InputError("bad", source="a.run", line=7))
    assert "reading .zst files needs one more package: pip install 'assay-ir[zstd]'" == str(
        MissingExtraError("reading .zst files", "zstd")
    )


def test_ids_are_shown_as_data():
    assert "a\\nb" == show_id("a\nb")
    assert "caf\\xe9" == show_id("caf\udce9")
    assert 60 == len(show_id("x" * 1000)) == len(show_id("x" * 59 + "12"))
    assert "1, 2, 3, ..." == some_of(["1", "2", "3", "4"])


def test_long_names_that_differ_at_their_end_stay_different():
    first, second = ("bm25-with-relevance-feedback-and-a-large-cross-encoder-" + end for end in ("top-100", "top-200"))

    assert "bm25-with-relevance-feedback-and-a-la...ross-encoder-top-100" == show_id(first)
    assert show_id(first) != show_id(second)
    assert ("words, " * 20)[:97] + "..." == show_id("words, " * 20, 100)


def test_near_misses():
    assert "; did you mean 'nDCG'?" == did_you_mean("nDGC", ["AP", "nDCG"])
    assert "" == did_you_mean("zzz", ["AP"])
