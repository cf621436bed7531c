"""Recipes: what they may contain, and errors with their line."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.benchmark.recipe import DEFAULT_MEASURES, Mode, Recipe, parse_modes, parse_recipe, read_recipe
from assay.benchmark.template import recipe_text
from assay.errors import AssayError, InputError


def test_an_empty_recipe_is_the_default():
    assert Recipe() == parse_recipe("")
    assert ("insurance", ["lexical", "vector", "hybrid"], 1000) == (
        Recipe().collection,
        [mode.name for mode in Recipe().modes],
        Recipe().depth,
    )
    assert ["nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10"] == list(DEFAULT_MEASURES)


def test_what_init_writes_is_the_default_too():
    assert Recipe(allow_missing=False) == parse_recipe(recipe_text())  # the modes are chosen


def test_what_init_shows_in_comments_can_be_used():
    lines = [line.removeprefix("# ") for line in recipe_text().splitlines()]
    begin, end = lines.index("[[mode]]"), lines.index("If fields or files have unusual names:")
    shown = [line for line in lines[begin:end] if line != "#"]

    recipe = parse_recipe('modes = ["tuned", "weighted", "reranked", "theirs"]\n' + "\n".join(shown))

    assert ("bm25s", {"k1": 0.9, "b": 0.4}) == (recipe.modes[0].kind, recipe.modes[0].settings)
    assert ["tuned", "vector"] == recipe.modes[1].settings["modes"]
    assert ["cross-encoder", "run"] == [mode.kind for mode in recipe.modes[2:]]


def test_all_keys():
    recipe = parse_recipe(
        'collection = "shop"\nsplit = "dev"\nmodes = ["bm25s"]\ndepth = 50\nmeasures = ["AP", "P.5,10"]\n'
        'targets = "trec-rag"\nseed = 7\nrepeats = 2\nlatency_limit = 20\nsegments = "s.csv"\n'
        '[columns.corpus]\nid = "sku"\n[files]\nqrels = "labels.tsv"\n'
    )

    assert ("shop", "dev", (Mode("bm25s", "bm25s"),), 50) == (
        recipe.collection,
        recipe.split,
        recipe.modes,
        recipe.depth,
    )
    assert ("AP", "P_5", "P_10") == recipe.measures
    assert ("trec-rag", 7, 2, 20.0, "s.csv") == (
        recipe.targets,
        recipe.seed,
        recipe.repeats,
        recipe.latency_limit,
        recipe.segments,
    )
    assert ({"corpus": {"id": "sku"}}, {"qrels": "labels.tsv"}) == (recipe.columns, recipe.files)


def test_tables_of_modes_are_the_modes_unless_others_are_named():
    table = '[[mode]]\nname = "tuned"\nkind = "bm25s"\nk1 = 0.9\n'

    assert ["tuned"] == [mode.name for mode in parse_recipe(table).modes]
    assert ["lexical", "tuned"] == [mode.name for mode in parse_recipe(f'modes = ["lexical", "tuned"]\n{table}').modes]


def test_a_mode_that_only_a_hybrid_needs_runs_for_it():
    recipe = parse_recipe(
        'modes = ["both"]\n[[mode]]\nname = "tuned"\nkind = "bm25s"\n'
        '[[mode]]\nname = "both"\nkind = "hybrid"\nmodes = ["tuned", "lexical"]\n'
    )

    assert (["both"], ["tuned"]) == ([m.name for m in recipe.modes], [m.name for m in recipe.parts])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("depth = 10\ndepht = 5", "r.toml:2: depht: no such key; did you mean 'depth'?"),
        ("\n\ndepth = 0", "r.toml:3: depth: 0 is not a whole number of at least 1."),
        ("depth = true", "r.toml:1: depth: True is not a whole number of at least 1."),
        ("collection = 3", "r.toml:1: collection: 3 is not text; write it in quotes."),
        ("latency_limit = -1", "r.toml:1: latency_limit: -1 is not a positive number of milliseconds."),
        (
            f"latency_limit = {'9' * 400}",
            f"r.toml:1: latency_limit: {'9' * 37}...{'9' * 20} is not a positive number of milliseconds.",
        ),
        (f"depth = 0x{'f' * 4000}", "r.toml:1: depth: a number of over 4300 digits is too large."),
        ("seed = 9999999999999999999", "r.toml:1: seed: 9999999999999999999 is too large."),
        ("latency_limit = true", "r.toml:1: latency_limit: True is not a positive number of milliseconds."),
        (
            f"depth = {'9' * 5000}",
            "r.toml: cannot be read: Exceeds the limit (4300 digits) for integer string conversion: value has 5000 "
            "digits; use sys.set_int_max_str_digits() to increase the limit.",
        ),
        (
            'measures = [\n "nDGC@10",\n]',
            "r.toml:1: measures: no measure called 'nDGC'; did you mean 'nDCG'?",
        ),
        ('measures = "AP"', 'r.toml:1: measures: \'AP\' is not a list of strings; write measures = ["nDCG@10", "AP"].'),
        ("columns = 3", "r.toml:1: columns: 3 is not a table; write [columns] and names below it."),
        (
            "[columns.corpus]\nid = 3",
            "r.toml:2: columns.corpus.id: the id of corpus must be a field name or a list of field names.",
        ),
        ('\n[columns]\nsku = "id"', "r.toml:3: columns.sku: corpus has no field 'sku'. It has id, title, text."),
        ("[files]\ncorpus = 3", "r.toml:2: files.corpus: 3 is not a file name; write it in quotes."),
        ('[files]\nqueris = "q.tsv"', "r.toml:2: files.queris: no such role; did you mean 'queries'?"),
        ('modes = ["lexcal"]', "r.toml:1: modes: no mode called 'lexcal'; did you mean 'lexical'?"),
        ('modes = ["lexical", "lexical"]', "r.toml:1: modes: 'lexical' is listed twice; remove one."),
        (
            '[[mode]]\nname = "x"\nkind = "bm26s"',
            "r.toml:3: mode.kind: no kind of mode called 'bm26s'; did you mean 'bm25s'?",
        ),
        (
            '[[mode]]\nname = "x"\nkind = ["bm25s"]',
            "r.toml:3: mode.kind: no kind of mode called ['bm25s']; did you mean 'bm25s'?",
        ),
        (
            '[[mode]]\nkind = "bm25s"\nname = "../x"',
            "r.toml:3: mode.name: '../x' cannot be used in a file name; use letters, digits and . _ + - only.",
        ),
        (
            '[[mode]]\nname = "bm25s"\n[[mode]]\nname = "bm25s"',
            "r.toml:4: mode.name: two modes are called 'bm25s'; rename one.",
        ),
        (
            'modes = ["lexical"]\n[[mode]]\nname = "bm25s"',
            "r.toml:2: mode: 'bm25s' is not in `modes`, so it would not run. Add it to `modes`, or remove this table.",
        ),
        (
            "mode = 3",
            'r.toml:1: mode: custom modes are tables: [[mode]] with name = "..." and kind = "..." below.',
        ),
        ("depth = 1\ndepth =\n", "r.toml:2: is not valid TOML: Invalid value in column 8."),
        ("depth = 1\nmodes = [", "r.toml:2: is not valid TOML: Invalid value at the end of the file."),
    ],
)
def test_a_complaint_names_file_line_and_key(text, message):
    with pytest.raises(InputError) as error:
        parse_recipe(text, source="r.toml")

    assert message == str(error.value)


def test_files_are_looked_for_beside_the_recipe(tmp_path):
    (tmp_path / "data").mkdir()
    path = tmp_path / "r.toml"
    path.write_text('collection = "data"\ntargets = "trec-rag"\n')

    recipe = read_recipe(path)

    assert (str(tmp_path / "data"), "trec-rag") == (recipe.collection, recipe.targets)


def test_a_name_that_is_too_long_for_a_file_is_left_to_the_collections(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text(f'collection = "{"x" * 300}"\n')

    assert "x" * 300 == read_recipe(path).collection


def test_a_model_of_ones_own_is_looked_for_beside_the_recipe_too(tmp_path):
    (tmp_path / "my-model").mkdir()
    path = tmp_path / "r.toml"
    path.write_text(
        '[[mode]]\nname = "own"\nkind = "vector"\nmodel = "./my-model"\n[[mode]]\nname = "vector"\nmodel = "minilm"\n'
    )

    assert [str(tmp_path / "my-model"), "minilm"] == [mode.settings["model"] for mode in read_recipe(path).modes]


def test_a_model_beside_a_recipe_in_the_current_folder_is_still_a_folder(tmp_path, monkeypatch):
    """Without its slash it would be the name of a model."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my-model").mkdir()
    Path("r.toml").write_text('[[mode]]\nname = "own"\nkind = "vector"\nmodel = "./my-model"\n')

    assert ["./my-model"] == [mode.settings["model"] for mode in read_recipe("r.toml").modes]


def test_a_folder_called_like_a_collection_of_ours_has_to_be_written_as_one(tmp_path):
    (tmp_path / "insurance").mkdir()
    path = tmp_path / "r.toml"

    for written, meant in (("insurance", "insurance"), ("./insurance", str(tmp_path / "insurance"))):
        path.write_text(f'collection = "{written}"')
        assert meant == read_recipe(path).collection


def test_a_recipe_of_an_editor_on_windows(tmp_path):
    path = tmp_path / "r.toml"
    path.write_bytes(b'\xef\xbb\xbfcollection = "shop"\r\nmodes = ["lexical"]\r\ndepth = 0\r\n')

    with pytest.raises(InputError, match=r"r\.toml:3: depth: 0 is not a whole number of at least 1\."):
        read_recipe(path)


def test_recipes_that_cannot_be_read(tmp_path):
    for path, words in ((tmp_path / "no.toml", "assay benchmark init"), (tmp_path, "collection=")):
        with pytest.raises(InputError, match=words):
            read_recipe(path)


def test_names_on_the_command_line_are_modes_of_the_recipe_or_kinds():
    own = Mode("tuned", "bm25s", {"k1": 0.9})

    assert (own, Mode("lexical", "lexical")) == parse_modes(["tuned", "lexical"], [own])
    with pytest.raises(AssayError, match=r"no mode called 'tund'; did you mean 'tuned'\?"):
        parse_modes(["tund"], [own])
