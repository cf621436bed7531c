"""Names of measures: ours, everyday ones, ir_measures' and trec_eval's."""

from __future__ import annotations

import ir_measures
import pytest

from assay.errors import MeasureError, ParameterError, UnknownMeasureError
from assay.measures import AP, P, nDCG, parse_measure, parse_measures


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG@10", "nDCG@10"),
        ("NDCG@10", "nDCG@10"),
        ("ndcg@10", "nDCG@10"),
        ("MRR@10", "RR@10"),
        ("MAP@100", "AP@100"),
        ("MAP", "AP"),
        ("HitRate@10", "Success@10"),
        ("Hit@10", "Success@10"),
        ("Recall@50", "R@50"),
        ("Precision@5", "P@5"),
        ("F1@5", "F@5"),
        ("F(beta=2)@5", "F(beta=2.0)@5"),
        ("nDCG(dcg='exp-log2')@10", "nDCG(gain='exp')@10"),
        ("nDCG(dcg='log2')@10", "nDCG@10"),
        ("nDCG(gains={0:0,1:4})@10", "nDCG(gain={0: 0, 1: 4})@10"),
        ("AP(rel=2)", "AP(rel=2)"),
        ("AP(rel=1)", "AP"),
        ("AP(judged_only=True)@5", "AP(judged_only=True)@5"),
        ("IPrec@0.1", "IPrec@0.1"),
        ("NumRelRet", "NumRet(rel=1)"),
        ("SetRelP", "SetP(relative=True)"),
        ("11pt", "IPrecAvg"),
        (" nDCG ( gain = 'exp' ) @ 5 ", "nDCG(gain='exp')@5"),
        # trec_eval
        ("map", "AP"),
        ("ndcg", "nDCG"),
        ("ndcg_cut_10", "nDCG@10"),
        ("ndcg_cut.10", "nDCG@10"),
        ("map_cut_100", "AP@100"),
        ("recip_rank", "RR"),
        ("P_5", "P@5"),
        ("recall_1000", "R@1000"),
        ("success_1", "Success@1"),
        ("iprec_at_recall_0.10", "IPrec@0.1"),
        ("Rprec_mult_0.20", "RprecMult@0.2"),
        ("ndcg.1=3,2=9", "nDCG(gain={1: 3, 2: 9})"),
        ("set_F.0.5", "SetF(beta2=0.5)"),
        ("utility.2,-1,0,0", "Utility(weights=(2.0, -1.0, 0.0, 0.0))"),
        ("rbp.p=0.5", "RBP(p=0.5)"),
        ("rbp", "RBP(p=0.9)"),
        ("num_rel_ret", "NumRet(rel=1)"),
        ("unj_5", "Unjudged@5"),
        ("recip_rank@10", "RR@10"),
        ("ndcg_cut@10", "nDCG@10"),
    ],
)
def test_each_name_means_one_measure(written, canonical):
    assert canonical == str(parse_measure(written))


def test_a_family_stands_for_several_measures():
    assert ["ndcg_cut_5", "ndcg_cut_10"] == [request.label for request in parse_measures(["ndcg_cut.5,10"])]
    assert ["success_1", "success_5", "success_10"] == [request.label for request in parse_measures(["success"])]
    assert 29 == len(parse_measures(["official"]))
    with pytest.raises(MeasureError, match=r"'ndcg_cut.5,10' means 2 measures \(ndcg_cut_5, ndcg_cut_10\)"):
        parse_measure("ndcg_cut.5,10")


def test_measures_are_values():
    assert nDCG @ 10 == parse_measure("nDCG@10")
    assert AP(rel=2) @ 5 == parse_measure("AP(rel=2)@5")
    assert 1 == len({nDCG @ 10, parse_measure("ndcg_cut_10")})
    assert ["P@5"] == [request.label for request in parse_measures(P @ 5)]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nDGC", "no measure called 'nDGC'; did you mean 'nDCG'?"),
        ("zzzzzz", "no measure called 'zzzzzz'; run `assay measures list` to see all."),
        ("foo(", "cannot read the measure 'foo('; write it like nDCG@10, AP(rel=2) or nDCG(gain='exp')@10."),
    ],
)
def test_unknown_names_get_a_hint(written, message):
    with pytest.raises(UnknownMeasureError) as caught:
        parse_measure(written)

    assert message == str(caught.value)


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nDCG(cut=5)", "nDCG has no parameter 'cut'; it takes cutoff, gain, judged_only."),
        ("NumQ(rel=1)", "NumQ has no parameter 'rel'; it takes no parameters."),
        ("P", "P needs a cutoff: write P@10, or SetP for everything retrieved."),
        ("IPrec", "IPrec needs a recall: write IPrec@0.1."),
        ("nDCG@0", "nDCG: cutoff cannot be 0; it takes a whole number from 1."),
        ("nDCG@2.5", "nDCG: cutoff cannot be 2.5; it takes a whole number from 1."),
        ("RR@ten", "cannot read 'ten' after the @ of 'RR@ten'; it takes a number."),
        ("Bpref@5", "Bpref takes no cutoff; write Bpref."),
        ("AP(rel='x')", "AP: rel cannot be 'x'; it takes a number."),
        ("AP(2)", "the parameters of 'AP(2)' need names; write them like (rel=2, gain='exp')."),
        ("AP(rel=)", "cannot read the parameters of 'AP(rel=)'; write them like (rel=2, gain='exp')."),
        ("IPrec@7", "IPrec: recall cannot be 7; it takes a number from 0 to 1."),
        ("RBP(p=1)", "RBP: p cannot be 1; it takes a number between 0 and 1."),
        ("nDCG(cutoff=5)@10", "'nDCG(cutoff=5)@10' gives cutoff twice, in parentheses and after the @; keep one."),
        ("AP(rel=1, rel=2)", "'AP(rel=1, rel=2)' gives a parameter twice; keep one of them."),
        ("F1(beta=2)@5", "F1 means beta=1; write F(beta=...) for another."),
        ("recip_rank.10", "recip_rank takes no parameters (trec_eval silently ignores them); see RR."),
        ("Utility(weights=3)", "Utility: weights cannot be 3; it takes four numbers such as (1, -1, 0, 0)."),
        ("AP(norm='k')", "AP: norm cannot be 'k'; it takes 'rel' or 'cutoff'."),
        ("P_0", "P.0: cutoffs must be whole numbers from 1."),
        ("P.5,5", "P.5,5: a value is given twice."),
        ("ndcg.1", "ndcg.1: parameters must be pairs such as 1=3,2=9."),
        (
            "nDCG(gain='cubic')",
            "nDCG: gain cannot be 'cubic'; it takes 'linear', 'exp' or a map from grades to gains such as {1: 3, 2: 9}.",
        ),
        (
            "AP(rel=open('x'))",
            "cannot read a value in \"AP(rel=open('x'))\"; values are numbers, 'text' in quotes, True, False or maps like {1: 3}.",
        ),
    ],
)
def test_wrong_parameters_say_what_is_allowed(written, message):
    with pytest.raises(ParameterError) as caught:
        parse_measure(written)

    assert message == str(caught.value)


def test_no_measure_is_an_error():
    with pytest.raises(MeasureError, match="no measures given; name at least one, such as nDCG@10"):
        parse_measures([])
    with pytest.raises(MeasureError, match="a measure must be a name such as 'nDCG@10', not 3"):
        parse_measures([3])
    with pytest.raises(MeasureError, match=r"measures must be a list of names such as \['nDCG@10'\], not None"):
        parse_measures(None)


@pytest.mark.parametrize(
    "name",
    [
        *(
            "P@5",
            "P(rel=2)@5",
            "RR",
            "RR@10",
            "Rprec",
            "AP",
            "AP(rel=2)@100",
            "nDCG",
            "nDCG@20",
            "R@100",
            "Bpref",
            "infAP",
        ),
        *(
            "nDCG(dcg='exp-log2')@20",
            "nDCG(gains={1:3})@5",
            "NumRet",
            "NumRet(rel=1)",
            "NumRel",
            "NumQ",
            "SetAP",
            "SetP",
        ),
        *(
            "SetP(relative=True)",
            "SetR",
            "Success@5",
            "IPrec@0.2",
            "Judged@10",
            "RBP(p=0.5)@20",
            "ERR@20",
            "AP(judged_only=True)",
        ),
    ],
)
def test_what_users_of_ir_measures_write_is_read(name):
    ir_measures.parse_measure(name)

    assert parse_measure(name)
