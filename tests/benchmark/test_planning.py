"""Which modes of a recipe can run on this machine, in which order, and why the others cannot."""

from __future__ import annotations

import sys

import pytest

from assay.benchmark.planning import plan_modes
from assay.benchmark.recipe import parse_recipe
from assay.errors import InputError


@pytest.fixture
def without_models(tmp_path, monkeypatch):
    """A machine without models and without a network."""
    monkeypatch.setenv("ASSAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("ASSAY_OFFLINE", "1")
    monkeypatch.delenv("ASSAY_MODELS", raising=False)


def plan(text):
    return plan_modes(parse_recipe(text, source="r.toml"))


def test_parts_run_before_hybrids_and_unshown_where_only_these_need_them():
    pytest.importorskip("bm25s")
    found = plan('modes = ["both", "lexical"]\n[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = ["lexical", "bm25s"]')

    assert [("lexical", True), ("bm25s", False), ("both", True)] == [(mode.name, mode.shown) for mode in found.modes]
    assert ["lexical", "bm25s"] == found.modes[2].settings["modes"]


def test_settings_are_those_of_the_recipe_and_the_defaults():
    pytest.importorskip("bm25s")
    (tuned,) = plan('[[mode]]\nname = "tuned"\nkind = "bm25s"\nk1 = 0.9').modes

    assert (0.9, 0.75, "bm25s") == (tuned.settings["k1"], tuned.settings["b"], tuned.settings["engine"])


def test_without_a_model_the_lexical_mode_runs_and_the_others_say_what_is_missing(without_models):
    pytest.importorskip("tantivy")
    pytest.importorskip("onnxruntime")
    found = plan("")

    vector, hybrid = found.missing
    assert ["lexical"] == [mode.name for mode in found.modes]
    assert ("vector", "hybrid") == (vector.name, hybrid.name)
    assert "the model minilm is not installed and could not be fetched" in vector.reason
    assert "assay models get minilm" in vector.remedy
    assert "it stands on vector, which cannot run." == hybrid.reason


def test_without_its_package_a_mode_says_what_to_install_and_nothing_is_fetched(without_models, monkeypatch):
    pytest.importorskip("tantivy")
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    vector, _ = plan("").missing

    assert ("vector search needs one more package.", "pip install 'assay-ir[dense]'") == (
        vector.reason,
        vector.remedy,
    )


def test_no_lexical_mode_runs_without_the_analyser_that_they_share(without_models, monkeypatch):
    pytest.importorskip("bm25s")
    monkeypatch.setitem(sys.modules, "tantivy", None)
    found = plan('modes = ["lexical", "bm25s"]')

    assert [("lexical", "pip install 'assay-ir[lexical]'"), ("bm25s", "pip install 'assay-ir[lexical]'")] == [
        (each.name, each.remedy) for each in found.missing
    ]


def test_the_missing_part_of_a_hybrid_is_not_listed_if_nobody_asked_for_it(without_models):
    pytest.importorskip("tantivy")
    found = plan('modes = ["lexical", "hybrid"]')

    assert ["hybrid"] == [mode.name for mode in found.missing]
    assert "it stands on vector, which cannot run" in found.missing[0].reason


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '\n[[mode]]\nname = "tuned"\nkind = "bm25s"\nk2 = 1',
            "r.toml:5: mode 'tuned': k2: bm25s has no setting 'k2'. It has k1, b, method",
        ),
        (
            '[[mode]]\nname = "tuned"\nkind = "bm25s"\nb = 1.5',
            "r.toml:4: mode 'tuned': b cannot be 1.5; it takes a number from 0 to 1.",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = ["lexical", "vecto"]',
            "r.toml:4: mode 'both': modes: no mode called 'vecto'; did you mean 'vector'?",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = ["lexical", "both"]',
            "r.toml:4: mode 'both': modes: a mode cannot stand on itself (both -> both).",
        ),
        (
            '[[mode]]\nname = "words"\nkind = "lexical"\nlanguage = "englisch"',
            "r.toml:4: mode 'words': language: no analyser for 'englisch'; did you mean 'english'?",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmethod = "rrf"\nk = -1',
            "r.toml:5: mode 'both': k: rrf: k cannot be -1; it takes a number from 0.",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmethod = "rff"\nk = 60',
            "r.toml:4: mode 'both': method: no fusion method called 'rff'; did you mean 'rrf'?",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = 3',
            "r.toml:4: mode 'both': modes cannot be 3; it takes a list of names",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nweights = [1, "much"]',
            "r.toml:4: mode 'both': weights cannot be (1, 'much'); it takes a number for each run, 0 or more.",
        ),
        (
            '[[mode]]\nname = "both"\nkind = "hybrid"\nmethod = "weighted"',
            "r.toml:4: mode 'both': method: weighted needs a weight for each run: 2 numbers, 0 or more.",
        ),
        (
            '[[mode]]\nname = "near"\nkind = "vector"\nmodel = "minilmm"',
            "r.toml:4: mode 'near': model: no model called 'minilmm'; did you mean 'minilm'?",
        ),
        (
            '[[mode]]\nname = "near"\nkind = "vector"\nquery_prefix = 3',
            "r.toml:4: mode 'near': query_prefix cannot be 3; it takes a string.",
        ),
    ],
)
def test_wrong_settings_are_refused_with_their_place(text, message):
    pytest.importorskip("bm25s")
    with pytest.raises(InputError) as error:
        plan(text)

    assert str(error.value).startswith(message)
