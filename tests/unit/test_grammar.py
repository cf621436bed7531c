"""Names of measures: ours, everyday ones, ir_measures' and trec_eval's."""

from __future__ import annotations

import re

import ir_measures
import pytest

import assay
from assay.errors import MeasureError, NameWarning, ParameterError, UnknownMeasureError
from assay.measures import AP, P, definitions, nDCG, parse_measure, parse_measures
from assay.measures.core import REGISTRY, _letters, trec_stems
from assay.measures.explain import page
from assay.measures.grammar import parse_request


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
        # ranx
        ("map@100", "AP@100"),
        ("mrr", "RR"),
        ("mrr@10", "RR@10"),
        ("hits@10", "Success@10"),
        ("hit_rate@10", "Success@10"),
        ("precision@5", "P@5"),
        ("recall@100", "R@100"),
        ("r-precision", "Rprec"),
        ("f1@5", "F@5"),
        ("rbp.95", "RBP(p=0.95)"),
        ("rbp.8", "RBP"),
        ("bpref", "Bpref"),
        ("dcg@10", "DCG@10"),
        ("dcg_burges@10", "DCG(gain='exp')@10"),
        ("ndcg_burges@10", "nDCG(gain='exp')@10"),
        # BEIR and MTEB
        ("Recall@100", "R@100"),
        ("R_cap@100", "R_cap@100"),
        ("Hole@10", "Hole@10"),
        ("ndcg_at_10", "nDCG@10"),
        ("map_at_100", "AP@100"),
        ("recall_at_100", "R@100"),
        ("precision_at_5", "P@5"),
        ("mrr_at_10", "RR@10"),
        ("hit_rate_at_5", "Success@5"),
        # RAGAS
        ("context_precision@5", "ContextPrecision@5"),
        ("context_precision", "ContextPrecision"),
        ("context_recall@5", "R@5"),
        # ndeval
        ("alpha-nDCG@10", "alpha_nDCG@10"),
        ("strec@10", "StRecall@10"),
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


@pytest.mark.parametrize(
    ("written", "labels"),
    [
        ("nDCG@10, AP RR@10", ["nDCG@10", "AP", "RR@10"]),
        ("nDCG@10,AP", ["nDCG@10", "AP"]),
        (" nDCG@10 ,\n AP,, ", ["nDCG@10", "AP"]),
        ("nDCG@5,10", ["nDCG@5", "nDCG@10"]),
        ("nDCG@5, 10 AP", ["nDCG@5", "nDCG@10", "AP"]),
        (
            "MRR,nDCG(gain={1: 3, 2: 9})@5,10,11pt",
            ["MRR", "nDCG(gain={1: 3, 2: 9})@5", "nDCG(gain={1: 3, 2: 9})@10", "11pt"],
        ),
        ("IPrec@0.1,.2", ["IPrec@0.1", "IPrec@.2"]),
        ("ndcg_at_5,10", ["ndcg_at_5", "ndcg_at_10"]),
        ("nDCG ( gain = 'exp' ) @ 5, AP (rel=2)", ["nDCG ( gain = 'exp' ) @ 5", "AP (rel=2)"]),
        ("ndcg_cut.5,10,map", ["ndcg_cut_5", "ndcg_cut_10", "map"]),
        ("P.5, 10 P_20", ["P_5", "P_10", "P_20"]),
        ("ndcg.1=3,2=9,AP", ["ndcg_1=3,2=9", "AP"]),
        ("utility.2,-1,0,0 AP", ["utility_2,-1,0,0", "AP"]),
        ("Utility(weights=(2, -1, 0, 0)),AP", ["Utility(weights=(2, -1, 0, 0))", "AP"]),
        ("iprec_at_recall_0.10,map", ["iprec_at_recall_0.10", "map"]),
    ],
)
def test_commas_and_blanks_separate_names_but_not_numbers(written, labels):
    assert labels == [request.label for request in parse_measures([written])]


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("nDCG@10, nDGC", "no measure called 'nDGC'; did you mean 'nDCG'?"),
        ("AP,10", "cannot read the measure 'AP,10'; write it like nDCG@10, AP(rel=2) or nDCG(gain='exp')@10."),
        (",", "cannot read the measure ','; write it like nDCG@10, AP(rel=2) or nDCG(gain='exp')@10."),
        ("nDCG@5,0", "nDCG: cutoff cannot be 0; it takes a whole number from 1."),
        ("nDCG@10 AP", "'nDCG@10 AP' means 2 measures (nDCG@10, AP); name one of them."),
        (
            "BPMCWLMetric(1, 10)",
            "BPMCWLMetric is a Python class of cwl_eval, not a name; write BPM(max_rel=3)@10, and see "
            "`assay measures explain BPM`.",
        ),
    ],
)
def test_lists_with_a_mistake_say_where(written, message):
    with pytest.raises(MeasureError) as caught:
        parse_measure(written)

    assert message == str(caught.value)


PLACES = {"k": "10", "recall": "0.4"}  # what placeholders in shown names stand for


def shown_names():
    """Each name that `assay measures explain` lists, with numbers for its placeholders, and its measure."""
    for definition in definitions():
        for tool, names in page(definition).names:
            for name in re.split(r", (?![^(]*\))", names):
                plain = re.sub(r" \(.*\)$", "", name)
                plain = re.sub(r"(?<=[@_])k$|(?<=@)recall$", lambda found: PLACES[found[0]], plain)
                yield pytest.param(tool, plain, definition, id=f"{definition.name}-{tool}-{plain}")


@pytest.mark.parametrize(("tool", "name", "definition"), list(shown_names()))
def test_every_name_that_explain_lists_is_read(tool, name, definition):
    if name.startswith("the option"):
        pytest.skip("not a name")
    if "CWLMetric" in name:
        with pytest.raises(
            UnknownMeasureError, match=f"is a Python class of cwl_eval, not a name; write {definition.name}"
        ):
            parse_request(name)
        return
    needs_a_number = tool in ("trec_eval", "here also") and definition.required
    number = f"{'_' if tool == 'trec_eval' else '@'}{'0.40' if definition.at in ('recall', 'multiple') else 10}"
    found = parse_request(name + number if needs_a_number else name)

    assert [definition] == [request.measure.definition for request in found][:1]


def test_no_two_measures_have_names_that_differ_only_in_hyphens_and_underscores():
    seen = {}
    for name in [*REGISTRY, *trec_stems()]:
        definition = REGISTRY.get(name) or trec_stems()[name][0]

        assert definition is seen.setdefault(_letters(name), definition), name


@pytest.mark.parametrize(
    ("written", "caution"),
    [
        (
            "hits@10",
            "hits@10 is Success@10: 1 if there is a relevant document, else 0. ranx's hits counts the relevant documents "
            "among the first k, which is k times P@k.",
        ),
        (
            "rbp.95",
            "rbp.95 is RBP(p=0.95): grades are divided by the highest grade of the qrels. ranx does not divide them, and "
            "the number in its rbp.95 and rbp@95 is p.",
        ),
        (
            "context_recall@5",
            "context_recall@5 is R@5: the share of the relevant documents that are found, as in RAGAS by ids. RAGAS by a "
            "language model counts the statements of the reference answer that the context supports.",
        ),
        (
            "accuracy_at_5",
            "accuracy_at_5 is Accuracy@5: the share of pairs in the right order, as in ir_measures. Accuracy in BEIR and "
            "sentence-transformers is Success.",
        ),
    ],
)
def test_a_name_that_means_something_else_in_its_tool_says_so(written, caution):
    with pytest.warns(NameWarning) as said:
        evaluation = assay.evaluate({"q": {"a": 1}}, {"q": {"a": 1.0}}, [written])

    assert [caution] == [str(warning.message) for warning in said]
    assert [written] == list(evaluation.mean())


def test_our_own_names_never_warn():
    assert [] == [definition.name for definition in definitions() if definition.name in definition.cautions]


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
        ("nDCG(cut=5)", "nDCG has no parameter 'cut'; it takes cutoff, gain, ideal, judged_only."),
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
        ("AP(rel=\ud800)", "cannot read the parameters of 'AP(rel=\\ud800)'; write them like (rel=2, gain='exp')."),
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
            "nDCG: gain cannot be 'cubic'; it takes 'linear', 'exp', 'binary' or a map from grades to gains such as {1: 3, 2: 9}.",
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
