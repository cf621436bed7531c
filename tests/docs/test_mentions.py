"""Everything is documented: commands, measures, formats, rules, column names, bundles."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

import assay
from assay.cli import group
from assay.formats import INPUT_FORMATS
from assay.formats.names import NAMES
from assay.measures import definitions
from assay.measures.bundles import BUNDLES, FAMILIES
from assay.report.evaluation import RENDERERS
from assay.rules import RULE_CHOICES, RULES_IN_WORDS, Rules
from docs.blocks import DOCS, hand_written_pages


def text_of(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


HAND_WRITTEN = "\n".join(page.read_text(encoding="utf-8") for page in hand_written_pages())


def command_paths(command: click.Command = group, path: str = "assay") -> Iterator[str]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from command_paths(command.get_command(context, name), f"{path} {name}")


@pytest.mark.parametrize("path", list(command_paths()))
def test_every_command_is_mentioned(path):
    assert f"\n## {path}\n" in text_of("reference/cli.md")
    assert path in HAND_WRITTEN


OUR_MEASURES = [definition for definition in definitions() if definition.kernel.__module__.startswith("assay.")]


@pytest.mark.parametrize("definition", OUR_MEASURES, ids=lambda definition: definition.name)
def test_every_measure_is_in_the_reference_with_all_its_names(definition):
    entry = re.search(rf"^### {definition.name}\n(.*?)(?=^##|\Z)", text_of("reference/measures.md"), re.M | re.S)

    assert entry, definition.name
    for name in (*definition.aliases, *definition.trec, *definition.takes):
        assert name in entry[1]


def test_every_public_name_is_in_the_reference():
    page = text_of("reference/python.md")

    assert [] == [name for name in assay.__all__ if f"\n## `{name}`\n" not in page]


@pytest.mark.parametrize("name", list(INPUT_FORMATS))
def test_every_input_format_is_described(name):
    assert f"\n| `{name}` | " in text_of("formats.md")


@pytest.mark.parametrize("role", list(NAMES))
def test_every_column_name_is_listed(role):
    page = text_of("formats.md")
    groups = "; else ".join(", ".join(names) for names in NAMES[role])

    assert f" | {groups} |\n" in page


@pytest.mark.parametrize("name", list(RENDERERS))
def test_every_output_format_is_mentioned(name):
    assert f"`{name}`" in text_of("tutorial.md")


@pytest.mark.parametrize("rule", list(Rules.__struct_fields__))
def test_every_rule_has_its_section_and_all_its_values(rule):
    section = re.search(rf"^## {rule}\n(.*?)(?=^## |\Z)", text_of("rules.md"), re.M | re.S)

    assert section, rule
    option = RULES_IN_WORDS[rule].option if rule in RULES_IN_WORDS else f"--{rule}"
    assert f"| [{rule}](#{rule}) | `{option}` |" in text_of("rules.md")
    for value in RULE_CHOICES.get(rule, ()):
        assert f"`{value}`" in section[1]


def test_the_bundles_are_described():
    page = text_of("trec_eval.md")
    named_only = set(FAMILIES) - set(BUNDLES["all_trec"])

    assert set() == {bundle for bundle in BUNDLES if f"\n| `{bundle}`" not in page}
    assert " ".join(f"`{name}`" for name in BUNDLES["official"]) in page
    assert {"yaap", "rbp", "rbp_resid", "dcg", "ideal_dcg"} == named_only
    assert {"dcg", "ideal_dcg", "rbp_resid", "unj"} == {n for n, f in FAMILIES.items() if f.versions == ("10.0",)}
