"""Rules: every choice that a type allows has words, and no other."""

from __future__ import annotations

from typing import Literal, get_args, get_origin, get_type_hints

from assay.rules import RULE_CHOICES, RULES_IN_WORDS, Rules


def test_every_choice_of_a_rule_has_words():
    hints = get_type_hints(Rules)

    assert {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal} == RULE_CHOICES
    assert [] == [name for name, texts in RULES_IN_WORDS.items() if not texts.help.endswith(".")]
