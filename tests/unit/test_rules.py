"""Rules: every choice that a type allows has words, and no other."""

from __future__ import annotations

from typing import Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest

from assay import evaluate
from assay.errors import MeasureError, RulesError
from assay.rules import RULE_CHOICES, RULES_IN_WORDS, Rules


def test_every_choice_of_a_rule_has_words():
    hints = get_type_hints(Rules)

    assert {name: get_args(hint) for name, hint in hints.items() if get_origin(hint) is Literal} == RULE_CHOICES
    assert [] == [name for name, texts in RULES_IN_WORDS.items() if not texts.help.endswith(".")]


# a, b and c are tied at ranks 2 to 4; a is relevant.
TIED = ({"p": {"a": 1}, "q": {"a": 1}}, {"p": {"a": 1.0}, "q": {"x": 2.0, "a": 1.0, "b": 1.0, "c": 1.0}})


@pytest.mark.parametrize("name", ["RR", "AP@2", "P@2", "P@3", "nDCG", "ContextPrecision@2", "IPrec@0.5"])
def test_ties_that_change_a_value_can_be_an_error(name):
    with pytest.raises(MeasureError) as error:
        evaluate(*TIED, [name], rules={"ties": "error"})

    assert str(error.value) == (
        f"the order of tied documents changes {name} in 1 of 2 queries (q). Break the ties in the run, or choose an order, "
        "such as `Rules(ties='doc-desc')`."
    )


@pytest.mark.parametrize("name", ["RR@1", "P@1", "P@4", "R@10", "SetP", "ContextPrecision@1", "NumRet"])
def test_ties_that_change_nothing_are_no_error(name):
    assert evaluate(*TIED, [name]).mean() == evaluate(*TIED, [name], rules={"ties": "error"}).mean()


def test_a_tie_of_relevant_documents_only_changes_nothing():
    """b and c have different grades: both are relevant, but they gain differently."""
    qrels, run = {"q": {"b": 1, "c": 2}}, {"q": {"x": 2.0, "b": 1.0, "c": 1.0}}

    assert {"ContextPrecision": (1 / 2 + 2 / 3) / 2} == evaluate(
        qrels, run, ["ContextPrecision"], rules={"ties": "error"}
    ).mean()
    with pytest.raises(MeasureError, match="the order of tied documents changes nDCG in 1 of 1 query"):
        evaluate(qrels, run, ["nDCG"], rules={"ties": "error"})


def test_ties_that_are_cut_off_are_not_known():
    with pytest.raises(RulesError, match=r"`Rules\(ties=.error.\)` does not work with `depth=`"):
        Rules(ties="error", depth=5)


def test_documents_with_a_score_of_0_or_less_can_count_as_not_relevant():
    """a is 0 as a 32-bit float; recall is still of all three, and ranks stay."""
    qrels, run = {"q": {"a": 2, "b": 1, "c": 1}}, {"q": {"b": 1.0, "x": 0.5, "a": 1e-60, "c": -1.0}}
    names = ["P@4", "R@4", "R(among='retrieved')@4", "RR", "nDCG", "Judged@4"]
    found = evaluate(qrels, run, names, rules={"scores": "float32-positive"}).mean()

    assert [1 / 4, 1 / 3, 1 / 3, 1.0, 1.0, 3 / 4] == pytest.approx(
        [value if name != "nDCG" else value * (2 + 1 / np.log2(3) + 1 / 2) for name, value in found.items()]
    )
