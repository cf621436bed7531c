"""The manifest: inputs, versions and settings."""

from __future__ import annotations

import platform
import re
from datetime import UTC, datetime, timedelta

import msgspec
import numpy
import pytest
import scipy

from assay import __version__
from assay.errors import InputError
from assay.evaluation import Evaluator
from assay.formats.readings import Reading, Readings
from assay.native import path_in_use
from assay.records.manifest import (
    DeclaredSettings,
    Name,
    build_manifest,
    config_hash,
    config_of,
    hidden_metadata,
    hidden_settings,
    metadata_of,
    name_experiment,
    packages_in_use,
    parse_settings,
    settings_of,
)
from assay.records.model import Config, Digest, ExperimentManifest
from assay.records.targets import parse_targets
from assay.secrets import Secrets

QRELS = {"q": {"a": 1}}


def config(measures=("AP",), rules=None, **others) -> Config:
    return config_of(Evaluator(QRELS, measures, rules or {}), **others)


def built(**others) -> ExperimentManifest:
    given = {
        "command": ("assay", "evaluate"),
        "config": config(),
        "settings": DeclaredSettings(),
        "runs": ["mine"],
        "inputs": [],
        "metadata": {},
    }
    return build_manifest(Name("id", "2025-01-31T09:30:05Z"), **{**given, **others})


# Settings


def test_model_dataset_and_indexes_have_places_of_their_own():
    found = parse_settings(
        ["model=e5-base", "dataset=msmarco/dev", "index.passages=2025-01-31", "index.titles=v2", "k=60", "b=0.4=x"],
        ["first", "second"],
    )

    assert (
        DeclaredSettings(
            dataset="msmarco/dev",
            model="e5-base",
            parameters={"k": "60", "b": "0.4=x"},
            index_snapshots={"passages": "2025-01-31", "titles": "v2"},
            notes=("first", "second"),
        )
        == found
    )


def test_blanks_around_names_and_values_go_and_a_value_may_be_empty():
    assert {"a": "b c", "d": ""} == parse_settings([" a = b c ", "d="]).parameters


@pytest.mark.parametrize("pair", ["model", "=x", "", "index.=x", " = "])
def test_what_is_no_pair_is_refused(pair):
    with pytest.raises(InputError) as refused:
        parse_settings([pair])

    assert f"a setting is NAME=VALUE, such as model=e5-base or index.passages=2025-01-31, not {pair!r}." == str(
        refused.value
    )


def test_a_name_is_given_once():
    with pytest.raises(InputError) as refused:
        parse_settings(["k=1", "k=2"])

    assert "setting 'k' is given twice; keep one of them." == str(refused.value)


def test_upper_case_does_not_make_a_parameter_of_the_model():
    with pytest.raises(InputError) as refused:
        parse_settings(["Model=e5"])

    assert "no setting called 'Model'; did you mean 'model'?" == str(refused.value)


def test_secrets_in_settings_are_hidden_wherever_they_stand():
    given = parse_settings(
        ["model=https://u:hunter2@host/m", "api_key=abcdefgh99", "index.main=abcdefgh99", "dataset=d"],
        ["used abcdefgh99"],
    )
    shown = hidden_settings(given, Secrets())

    assert "https://***@host/m" == shown.model
    assert {"api_key": "***"} == shown.parameters
    assert ({"main": "***"}, ("used ***",)) == (shown.index_snapshots, shown.notes)


# Config and its hash


def test_the_config_says_what_was_chosen():
    targets = parse_targets("measures.AP = 0.3")
    found = config(
        ("MAP", "P@5"),
        {"ties": "doc-asc", "depth": 7},
        readings=Readings(Reading("trec", {"E": 3}), Reading("json")),
        targets=targets,
    )

    assert (
        Config(
            measures=("MAP", "P@5"),
            like="assay",
            rules={"ties": "doc-asc", "depth": 7},
            qrels_format="trec",
            run_format="json",
            grades={"E": 3.0},
            targets=targets,
        )
        == found
    )


def test_equal_experiments_have_equal_hashes():
    one = DeclaredSettings(parameters={"a": "1", "b": "2"})
    other = DeclaredSettings(parameters={"b": "2", "a": "1"})

    assert config_hash(config(rules={"depth": 3, "ties": "input"}), one) == config_hash(
        config(rules={"ties": "input", "depth": 3}), other
    )


@pytest.mark.parametrize(
    ("what", "settings"),
    [
        (config(("RR",)), DeclaredSettings()),
        (config(rules={"ties": "doc-asc"}), DeclaredSettings()),
        (config(targets=parse_targets("measures.AP = 0.3")), DeclaredSettings()),
        (config(readings=Readings(Reading(grades={"E": 3}))), DeclaredSettings()),
        (config(readings=Readings(run=Reading("trec"))), DeclaredSettings()),
        (config(readings=Readings(run=Reading(columns={"doc": "sku"}))), DeclaredSettings()),
        (config(), DeclaredSettings(parameters={"k": "60"})),
        (config(), DeclaredSettings(model="m")),
        (config(), DeclaredSettings(dataset="m")),
        (config(), DeclaredSettings(index_snapshots={"k": "60"})),
    ],
)
def test_every_choice_changes_the_hash(what, settings):
    assert config_hash(config(), DeclaredSettings()) != config_hash(what, settings)


def test_notes_do_not_change_it():
    assert config_hash(config(), DeclaredSettings()) == config_hash(config(), DeclaredSettings(notes=("tried again",)))


def test_the_hash_can_be_computed_from_the_manifest():
    settings = DeclaredSettings("d", "m", {"k": "60"}, {"i": "1"}, ("n",))
    chosen = config(
        rules={"depth": 5}, readings=Readings(Reading(grades={"E": 3})), targets=parse_targets("measures.AP = 1")
    )
    written = msgspec.json.encode(built(config=chosen, settings=settings))
    again = msgspec.json.decode(written, type=ExperimentManifest)

    assert config_hash(chosen, settings) == again.config_hash == config_hash(again.config, settings_of(again))
    assert settings == settings_of(again)


def test_the_hash_stays_what_it_was():
    """The same choices have the same hash in every version, so old and new experiments can be matched."""
    chosen = Config(measures=("AP",), like="assay", rules={"ties": "input"})

    assert "fe89f219dbceb4cee546750c0af9c65a747be1cb581f3cacc16bb1ec4773849e" == config_hash(
        chosen, DeclaredSettings(model="e5")
    )


# Name


def test_names_sort_by_time():
    start = datetime(2025, 1, 31, 23, 59, 58, tzinfo=UTC)
    names = [name_experiment("f" * 64, start + timedelta(seconds=step)).id for step in range(5)]

    assert "20250131T235958Z-ffffffff" == names[0]
    assert sorted(names) == names


def test_the_name_is_fit_for_files():
    assert re.fullmatch(r"\d{8}T\d{6}Z-[0-9a-f]{8}", name_experiment("0123456789abcdef").id)


# The rest


def test_machine_and_versions():
    found = built()

    assert ("assay/experiment-manifest/1", "id", "2025-01-31T09:30:05Z") == (
        found.schema,
        found.experiment,
        found.created,
    )
    assert (__version__, path_in_use()) == (found.assay_version, found.path_in_use)
    assert (platform.python_version(), platform.platform()) == (found.python, found.platform)
    assert (numpy.__version__, scipy.__version__) == (found.packages["numpy"], found.packages["scipy"])


def test_packages_that_read_are_named_where_they_are_in_use(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", object())

    assert {"numpy", "scipy", "pyarrow"} <= set(packages_in_use())


def test_what_was_given_is_kept():
    digest = Digest(path="qrels.txt", sha256="0" * 64, size=3)
    found = built(command=("assay", "caf\udce9"), inputs=[digest], metadata={"mine": {"tag": "x"}})

    assert ("assay", "caf\\xe9") == found.command
    assert ((digest,), {"mine": {"tag": "x"}}, ("mine",), ()) == (
        found.inputs,
        found.metadata,
        found.runs,
        found.outputs,
    )


def test_headers_of_runs_are_read_without_their_secrets(tmp_path):
    run = tmp_path / "mine.run"
    run.write_text(
        "# ir_metadata.start\n# tag: mine\n# api_key: abcdefgh\n# url: http://u:p@h/\n# ir_metadata.end\nq Q0 a 1 1 t\n"
    )
    plain = tmp_path / "plain.run"
    plain.write_text("q Q0 a 1 1 t\n")
    found = hidden_metadata(metadata_of({"mine": str(run), "plain": str(plain), "stdin": "-"}), Secrets())

    assert {"mine": {"tag": "mine", "api_key": "***", "url": "http://***@h/"}} == found


def test_lists_and_blocks_of_a_header_have_no_secrets_either(tmp_path):
    run = tmp_path / "mine.run"
    run.write_text(
        "# ir_metadata.start\n# tag: x\n# api_key: [abcdefgh, one more]\n# a:\n#   - password: |\n#       two words\n"
        "#     b: 1\n# ir_metadata.end\nq Q0 a 1 1 t\n"
    )
    found = hidden_metadata(metadata_of({"mine": str(run)}), Secrets())

    assert {"mine": {"tag": "x", "api_key": ["***", "***"], "a": [{"password": "***", "b": 1}]}} == found


def test_a_header_that_is_kept_as_it_is_has_no_secrets_either(tmp_path):
    run = tmp_path / "mine.run"
    run.write_text(
        "# ir_metadata.start\n# tag: x\n# api_key: [abcdefgh, one more]\n# a:\n#   - password: &p |\n#       two words\n"
        "#     b: 1\n# ir_metadata.end\nq Q0 a 1 1 t\n"
    )
    found = hidden_metadata(metadata_of({"mine": str(run)}), Secrets())

    assert "tag: x\napi_key: ***\na:\n  - password: ***\n    b: 1" == found["mine"]["raw"]
    assert "line 4: anchors and aliases are not supported" == found["mine"]["why"]
