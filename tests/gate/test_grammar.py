"""The rules of a gate, as people write them."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.errors import AssayError, InputError
from assay.gate.grammar import parse_rule


@pytest.mark.parametrize(
    ("text", "label", "at_least", "margin", "relative"),
    [
        ("nDCG@10 >= -0.01", "nDCG@10", True, -0.01, False),
        ("nDCG@10>=-0.01", "nDCG@10", True, -0.01, False),
        ("  R@100   >=   0  ", "R@100", True, 0.0, False),
        ("'RR@10 >= +.5'", "RR@10", True, 0.5, False),
        ("\"'AP >= -1e-3'\"", "AP", True, -0.001, False),
        ("“AP ≥ −0.01”", "AP", True, -0.01, False),
        ("nDCG(gain='exp')@10 >= -1%", "nDCG(gain='exp')@10", True, -0.01, True),
        ("AP(rel=2) >= -2.5 %", "AP(rel=2)", True, -0.025, True),
        ("ndcg_cut_10 >= 150%", "ndcg_cut_10", True, 1.5, True),
        ("Unjudged@10 <= 0.05", "Unjudged@10", False, 0.05, False),
        ("Hole@10 ≤ 0", "Hole@10", False, 0.0, False),
        ("Judged@10 >= -0.05", "Judged@10", True, -0.05, False),
        ("DCG@10 >= -3", "DCG@10", True, -3.0, False),  # has no upper bound
    ],
)
def test_a_rule_is_a_measure_a_sign_and_a_number(text, label, at_least, margin, relative):
    rule = parse_rule(text)

    assert (label, at_least, relative) == (rule.label, rule.at_least, rule.relative)
    assert margin == pytest.approx(rule.margin, abs=1e-15)
    assert rule == parse_rule(str(rule))  # printing and parsing round-trips


def test_a_rule_is_shown_as_it_was_written():
    assert ["MRR@10 >= -0.010", "MRR@10 >= -1.0%", "Unjudged@5 <= .1"] == [
        str(parse_rule(text)) for text in (" MRR@10>=-0.010", "MRR@10 >= -1.0 %", "Unjudged@5<= .1")
    ]


HOW = "a rule is MEASURE >= NUMBER, such as 'nDCG@10 >= -0.01'."


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", f"rule '': is empty; {HOW}"),
        ("nDCG@10", f"rule 'nDCG@10': has no >=; {HOW} Quote it, or the shell takes > as a redirection."),
        ("nDCG@10 > 0", f"rule 'nDCG@10 > 0': expected >=, not '>'; {HOW}"),
        ("nDCG@10 => 0", f"rule 'nDCG@10 => 0': expected >=, not '=>'; {HOW}"),
        ("AP(rel=2) = 0", f"rule 'AP(rel=2) = 0': expected >=, not '='; {HOW}"),
        (">= 0", f"rule '>= 0': >= has no measure or no number; {HOW}"),
        ("AP >= ", f"rule 'AP >=': >= has no measure or no number; {HOW}"),
        ("AP >= >=", "rule 'AP >= >=': >= occurs twice; a rule is MEASURE >= NUMBER"),
        ("AP >= x", "rule 'AP >= x': 'x' is not a number; write it as -0.01 or -1%."),
        ("AP >= nan", "rule 'AP >= nan': 'nan' is not a number; write it as -0.01 or -1%."),
        ("AP >= -inf", "rule 'AP >= -inf': '-inf' is not a number; write it as -0.01 or -1%."),
        ("AP >= 0x1", "rule 'AP >= 0x1': '0x1' is not a number; write it as -0.01 or -1%."),
        ("AP >= -0,01", "rule 'AP >= -0,01': '-0,01' has a comma; write '-0.01'."),
        ("nDGC@10 >= 0", "rule 'nDGC@10 >= 0': no measure called 'nDGC'; did you mean 'nDCG'?"),
        ("nDCG(cut=3) >= 0", "rule 'nDCG(cut=3) >= 0': nDCG has no parameter 'cut'"),
        (
            "ndcg_cut.5,10 >= 0",
            "rule 'ndcg_cut.5,10 >= 0': 'ndcg_cut.5,10' means 2 measures (ndcg_cut_5, ndcg_cut_10); "
            "write a rule for each.",
        ),
        (
            "nDCG@10 <= 0",
            "rule 'nDCG@10 <= 0': higher is better for nDCG@10, so a rule needs >=: 'nDCG@10 >= -0.01'.",
        ),
        (
            "Unjudged@10 >= 0",
            "rule 'Unjudged@10 >= 0': lower is better for Unjudged@10, so a rule needs <=: 'Unjudged@10 <= 0.01'.",
        ),
        ("GMAP >= 0", "rule 'GMAP >= 0': GMAP is a geometric mean over queries, but a rule needs a mean over"),
        ("NumRet >= 0", "rule 'NumRet >= 0': NumRet is a sum over queries, but a rule needs a mean over"),
        ("iDCG@10 >= 0", "rule 'iDCG@10 >= 0': iDCG@10 is the same for every run, so the rule decides nothing."),
        (
            "AP >= -1",
            "rule 'AP >= -1': -1 is not a useful margin: every candidate meets it. Differences in AP range from -1 to 1. "
            "Did you mean -1%?",
        ),
        ("AP >= 2", "rule 'AP >= 2': 2 is not a useful margin: no candidate can reach it"),
        ("AP >= -100%", "rule 'AP >= -100%': -100% is not a useful margin: every candidate meets it."),
        ("Unjudged@10 <= 1", "rule 'Unjudged@10 <= 1': 1 is not a useful margin: every candidate meets it."),
    ],
)
def test_what_is_no_rule_is_refused_with_what_is_expected(text, message):
    with pytest.raises(InputError) as refused:
        parse_rule(text)

    assert str(refused.value).startswith(message)


@given(st.text(max_size=40) | st.text("nDCGAP@10>=<-.,%()'\" ", max_size=25))
def test_any_text_is_a_rule_or_is_refused(text):
    with suppress(AssayError):
        rule = parse_rule(text)

        assert rule == parse_rule(str(rule))


@given(st.text(max_size=200))
def test_no_complaint_about_a_text_lets_it_write_to_the_terminal(text):
    with pytest.raises(InputError) as refused:
        parse_rule(f"{text} >= >= 0")

    assert str(refused.value).isprintable()
