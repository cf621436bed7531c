"""What each stage of a pipeline adds, on figures that can be checked by hand."""

from __future__ import annotations

import json
from itertools import combinations
from math import log2
from random import Random

import msgspec
import pytest
from msgspec.structs import replace

from assay.benchmark.stages import (
    Stage,
    StageContext,
    best_order,
    label_shares,
    stage_measures,
    stage_records,
)
from assay.comparison.pairs import Study
from assay.evaluation import Evaluator, ranking_of
from assay.records.benchmark import WorkRecord
from assay.report.benchmark.charts import Plot, Point, charts_of, pareto_front, spots
from assay.report.benchmark.documents import render_json, render_markdown
from assay.report.benchmark.page import render_html
from assay.report.benchmark.stages import moved_sentences, stage_sentences, stage_table, verdict_on_stages
from assay.report.benchmark.text import render_text
from benchmark.test_report import HOSTILE, SHA, mode, report, timing
from docs.blocks import DOCS
from docs.schema import problems
from report.pages import Page

ESCI = {"E": 3.0, "S": 2.0, "C": 1.0, "I": 0.0}
SPENT = WorkRecord(documents=120, requests=40, tokens_in=4000, tokens_out=200, cost=1.0, windows=20, repaired=0)


def ranked(*docs):
    """A ranking in this order."""
    return {doc: float(-place) for place, doc in enumerate(docs)}


def stages_of(qrels, *given, measures=("nDCG@10",)):
    """The stages and what they share; each is (name, role, inputs, run), and for rerankers top and work."""
    named = stage_measures(measures)
    evaluator = Evaluator(qrels, named.labels, unmatched="zero")
    stages = []
    for name, role, inputs, run, *others in given:
        top, work = others or (100, None)
        judged = evaluator.rank(run, name=name)
        repaired = work is not None and work.repaired > work.windows / 2
        stages.append(
            Stage(
                name,
                role,
                role,
                inputs,
                top,
                work,
                evaluator.evaluate(judged),
                ranking_of(judged.rankings[0]),
                repaired,
            )
        )
    texts = {query: f"text of {query}" for query in qrels}
    return stages, StageContext(named, evaluator, texts, {}, Study())


def records(qrels, *given, **options):
    return {each.name: each for each in stage_records(*stages_of(qrels, *given, **options))}


# What matters


def test_the_measures_are_those_of_the_recipe_where_it_has_its_own_form_of_them():
    assert ("nDCG@10", "MRR@10", "Recall@100") == stage_measures(["nDCG@10", "AP"]).labels
    assert ("AP", "nDCG(gain='exp')@10", "RR@10", "R(rel=2)@100") == stage_measures(
        ["AP", "nDCG(gain='exp')@10", "R(rel=2)@100", "RR@10"]
    ).labels


def test_retrieval_is_judged_by_what_it_finds_and_reranking_by_how_it_orders():
    measures = stage_measures(["nDCG@10"])

    assert ("Recall@100",) == measures.that_matter("retriever", last=False)
    assert ("Recall@100",) == measures.that_matter("fusion", last=False)
    assert ("nDCG@10", "MRR@10") == measures.that_matter("reranker", last=False)
    assert ("nDCG@10", "Recall@100") == measures.that_matter("fusion", last=True)  # users see its order


def test_the_deciding_measure_of_the_recipe_decides_unless_a_reranker_cannot_change_it():
    assert ("AP", "nDCG@10", "MRR@10") == stage_measures(["AP"]).that_matter("reranker", last=True)
    assert ("nDCG@10", "MRR@10") == stage_measures(["Recall@100"]).that_matter("reranker", last=True)
    assert "nDCG@10" == stage_measures(["NumRet"]).deciding  # more is not better


# The ceiling

GRADED = {"q": {"a": 3, "b": 2, "c": 1}}
GIVEN = {"q": ranked("x", "c", "b", "a")}
IDEAL = 3 / log2(2) + 2 / log2(3) + 1 / log2(4)


def test_the_ceiling_is_the_best_order_of_the_documents_that_were_given():
    better = {"q": ranked("b", "c", "x", "a")}
    found = records(GRADED, ("words", "retriever", (), GIVEN), ("again", "reranker", ("words",), better, 3, SPENT))[
        "again"
    ].ceiling
    before = (1 / log2(3) + 2 / log2(4) + 3 / log2(5)) / IDEAL
    best = (2 / log2(2) + 1 / log2(3) + 3 / log2(5)) / IDEAL  # a is fourth: the reranker does not see it

    assert (pytest.approx(best), pytest.approx(before), pytest.approx(1)) == (found.value, found.before, found.share)


def test_a_reranker_may_go_part_of_the_way_or_back():
    part = {"q": ranked("x", "b", "c", "a")}
    back = {"q": ranked("x", "c", "b", "a")}
    up = ("part", "reranker", ("words",), part, 3, SPENT)
    found = records(GRADED, ("words", "retriever", (), GIVEN), up, ("back", "reranker", ("part",), back, 3, SPENT))
    given, gone = 1 / log2(3) + 2 / log2(4), 2 / log2(3) + 1 / log2(4)
    best = 2 / log2(2) + 1 / log2(3)

    assert pytest.approx((gone - given) / (best - given)) == found["part"].ceiling.share
    assert pytest.approx((given - gone) / (best - gone)) == found["back"].ceiling.share


def test_there_is_no_way_to_go_from_the_best_order():
    perfect = {"q": ranked("a", "b", "c")}
    found = records(GRADED, ("words", "retriever", (), perfect), ("again", "reranker", ("words",), perfect, 3, SPENT))

    assert (1.0, None) == (found["again"].ceiling.value, found["again"].ceiling.share)
    assert None is found["words"].ceiling


def test_the_best_order_leaves_documents_below_the_top_where_they_are():
    evaluator = Evaluator({"q": {"a": 1, "b": 0, "c": 2, "d": 3}}, ["nDCG@10"])
    ranking = ranking_of(evaluator.rank({"q": ranked("x", "a", "b", "y", "c", "d")}).rankings[0])
    found = best_order(ranking, 5)

    assert [(1, 2), (2, 1), (3, 0), (6, 3)] == list(zip(found.hit_rank.tolist(), found.hit_rel.tolist(), strict=True))


# Documents


def test_labels_have_the_letters_of_the_collection_or_else_their_grades():
    qrels = {"q": {"a": 3, "b": 2, "c": 0}}
    evaluator = Evaluator(qrels, ["nDCG@10"])
    ranking = ranking_of(evaluator.rank({"q": ranked("a", "b", "x", "y")}).rankings[0])

    assert {"E": 0.25, "S": 0.25, "I": 0.0, "unjudged": 0.5} == label_shares(ranking, ESCI)
    assert {"3": 0.25, "2": 0.25, "0": 0.0, "unjudged": 0.5} == label_shares(ranking, {})


def test_only_the_first_ten_documents_have_shares():
    eleven = ranked("a", *"0123456789", "b")
    shares = [
        label_shares(ranking_of(Evaluator({"q": qrels}, ["nDCG@10"]).rank({"q": eleven}).rankings[0]), {})
        for qrels in ({"a": 1, "b": 1, "none": 0}, {"a": 1, "b": 1})
    ]

    assert {"1": 0.1, "0": 0.0, "unjudged": 0.9} == shares[0]
    assert {"1": 0.1} == shares[1]  # relevant documents only: no share of unjudged ones


def test_relevant_documents_are_counted_from_the_judgments_to_the_first_ten():
    qrels = {"q": {"a": 1, "b": 2, "c": 1, "d": 0, "e": 1}, "r": {"a": 1}}
    words = {"q": ranked("a", "d", "c", *"0123456789", "b")}
    again = {"q": ranked("d", "a", "c", *"0123456789", "b")}
    found = records(qrels, ("words", "retriever", (), words), ("again", "reranker", ("words",), again, 2, SPENT))

    assert (5, 100, 3, 2) == tuple(
        getattr(found["words"].relevant, name) for name in found["words"].relevant.__struct_fields__
    )
    assert (5, 2, 1, 2) == tuple(
        getattr(found["again"].relevant, name) for name in found["again"].relevant.__struct_fields__
    )


def test_work_is_told_per_query_that_was_asked():
    runs = {f"q{number}": ranked("a", "b") for number in range(20)}
    qrels = {f"q{number}": {"b": 1} for number in range(25)}  # five found nothing
    found = records(qrels, ("words", "retriever", (), runs), ("again", "reranker", ("words",), runs, 3, SPENT))
    work = found["again"].per_query

    assert (6.0, 200.0, 10.0, 0.05) == (work.documents, work.tokens_in, work.tokens_out, work.cost)
    assert None is found["words"].per_query


# Differences: 40 queries, each with the relevant document r

QUERIES = [f"q{number:02}" for number in range(40)]
ONE = {query: {"r": 1} for query in QUERIES}


def at(*ranks):
    """A run with the relevant document at these ranks, over and over; 0: not found."""
    runs = {}
    for number, query in enumerate(QUERIES):
        rank = ranks[number % len(ranks)]
        others = [f"x{place}" for place in range(12)]
        runs[query] = ranked(*others[: rank - 1], "r", *others[rank - 1 :]) if rank else ranked(*others)
    return runs


PIPELINE = (
    ("words", "retriever", (), at(2, 0, 2, 2)),  # MRR 0.375, recall 0.75
    ("meaning", "retriever", (), at(1, 0, 0, 1)),  # MRR 0.5, recall 0.5
    ("hybrid", "fusion", ("words", "meaning"), at(1, 0, 4, 1)),
    ("again", "reranker", ("hybrid",), at(1, 0, 1, 1), 100, SPENT),
)


def test_a_fusion_is_compared_with_the_best_of_its_inputs_by_each_measure():
    pairs = {pair.measure: pair for pair in records(ONE, *PIPELINE)["hybrid"].differences}

    assert {"nDCG@10": "meaning", "MRR@10": "meaning", "Recall@100": "words"} == {
        measure: pair.baseline for measure, pair in pairs.items()
    }
    assert (0.5, 0.5625, pytest.approx(0.0625)) == (
        pairs["MRR@10"].baseline_mean,
        pairs["MRR@10"].system_mean,
        pairs["MRR@10"].difference,
    )
    assert (0, 40, 0) == (pairs["Recall@100"].wins, pairs["Recall@100"].ties, pairs["Recall@100"].losses)


def test_p_values_are_corrected_over_all_differences_of_all_stages():
    found = records(ONE, *PIPELINE)
    p, corrected = zip(
        *[(pair.p, pair.p_corrected) for each in found.values() for pair in each.differences], strict=True
    )
    smallest = min(range(5), key=p.__getitem__)

    assert 5 == len(p)  # hybrid by three measures, again by two: it cannot change Recall@100
    assert 1.0 == p[2]  # hybrid changes Recall@100 on no query, so four comparisons count
    assert pytest.approx(4 * p[smallest]) == corrected[smallest]


def test_a_reranker_of_more_than_100_documents_can_change_recall():
    deep = (*PIPELINE[:3], ("again", "reranker", ("hybrid",), at(1, 0, 1, 1), 200, SPENT))

    assert ["nDCG@10", "MRR@10", "Recall@100"] == [pair.measure for pair in records(ONE, *deep)["again"].differences]


def test_a_stage_helps_hurts_or_makes_no_significant_difference():
    back = ("back", "reranker", ("again",), at(3, 0, 3, 4), 100, SPENT)
    found = records(ONE, *PIPELINE, back)

    assert ["", "", "no significant difference", "helped", "hurt"] == [each.verdict for each in found.values()]
    assert "hybrid does not change Recall@100 on any query compared with words." == found["hybrid"].words
    assert found["again"].words.startswith("again raises nDCG@10 by 0.1423 (0.0")  # (1 - 1 / log2(5)) / 4
    assert found["again"].words.endswith(") over hybrid and raises MRR@10 by 0.1875 (0.0430 to 0.3320).")
    assert "back lowers nDCG@10 by 0.3923 (" == found["back"].words[:31]


def test_the_same_change_on_every_query_helps():
    found = records(ONE, ("words", "retriever", (), at(2)), ("again", "reranker", ("words",), at(1), 100, SPENT))[
        "again"
    ]

    assert "helped" == found.verdict
    assert "again raises nDCG@10 by 0.3691 over words and raises MRR@10 by 0.5000." == found.words


def test_queries_that_move_by_a_fifth_are_rescued_or_ruined_and_come_with_their_text():
    before, after = at(5, 1, 1), at(1, 1, 2)  # nDCG: 0.39 to 1, 1 to 1, 1 to 0.63
    found = records(ONE, ("words", "retriever", (), before), ("again", "reranker", ("words",), after, 100, SPENT))[
        "again"
    ]

    assert QUERIES[::3] == [each.query for each in found.rescued]
    assert QUERIES[2::3] == [each.query for each in found.ruined]
    assert ("text of q00", pytest.approx(1 / log2(6)), 1.0) == (
        found.rescued[0].text,
        found.rescued[0].before,
        found.rescued[0].after,
    )


def test_small_moves_are_trifles():
    found = records(ONE, ("words", "retriever", (), at(4)), ("again", "reranker", ("words",), at(3), 100, SPENT))[
        "again"
    ]  # 0.43 to 0.5

    assert ((), ()) == (found.rescued, found.ruined)


# Order from repair


@pytest.mark.parametrize(("repaired", "verdict"), [(10, "helped"), (11, "order from repair")])
def test_a_stage_whose_answers_were_mostly_repaired_never_helps(repaired, verdict):
    work = replace(SPENT, repaired=repaired)  # of 20
    found = records(ONE, *PIPELINE[:3], ("again", "reranker", ("hybrid",), at(1, 0, 1, 1), 100, work))["again"]

    assert verdict == found.verdict
    assert (verdict == "order from repair") == found.order_from_repair
    if found.order_from_repair:
        assert {verdict} == {pair.verdict for pair in found.differences}
        assert (
            "again does not count, because most of its order comes from repair: 11 of its 20 answers had to be repaired."
            == found.words
        )


# Reports


def whole(*given, name=None, qrels=ONE):
    """A report with these stages as its modes."""
    stages = tuple(records(qrels, *given).values())
    if name is not None:
        stages = tuple(
            replace(each, rescued=tuple(replace(moved, query=name, text=name) for moved in each.rescued))
            for each in stages
        )
    modes = tuple(
        replace(
            mode(each.name, each.kind, each.metrics["nDCG@10"], 0.5),
            inputs=each.inputs,
            order_from_repair=each.order_from_repair,
        )
        for each in stages
    )
    times = {each.name: timing(10.0 ** (place - 1)) for place, each in enumerate(stages)}
    return report(modes=modes, stages=stages, timing=times)


def test_the_table_has_a_row_for_each_stage():
    table = stage_table(whole(*PIPELINE))
    columns = {column.name: [cell.value for cell in column.cells] for group in table.groups for column in group}

    assert ("words", "meaning", "hybrid", "again") == table.stages
    assert ["0.3750", "0.5000", "0.5625", "0.7500"] == columns["MRR@10"]
    assert ["–", "–", "words", "hybrid"] == columns["stage before"]
    assert ["–", "–", "Recall@100", "nDCG@10"] == columns["measure"]
    assert ["–", "–", "+0.0000", "+0.1423"] == columns["difference"]
    assert ["–", "–", "–", "100%"] == columns["way gone"]
    assert ["–", "–", "–", "3"] == columns["documents"]
    assert ["0.10", "1.00", "10.0", "100"] == columns["ms"]
    assert ["8%", "5%", "8%", "8%"] == columns["1"]  # one of ten documents, for 3/4 and 1/2 of the queries


def test_marks_say_what_matters_and_what_is_better():
    marks = {column.name: [cell.signs for cell in column.cells] for column in stage_table(whole(*PIPELINE)).groups[0]}

    assert ["• ", "• ", "• ", "  "] == marks["Recall@100"]
    assert ["  ", "  ", " ▲", "•▲"] == marks["MRR@10"]  # of a hybrid it is marked, but does not matter


def test_sentences_say_what_a_stage_adds_for_which_time_and_money():
    hybrid, again = stage_sentences(whole(*PIPELINE))

    assert (
        "hybrid does not change Recall@100 on any query compared with words. It takes 9.90 ms more per query." == hybrid
    )
    assert (
        "for 90.0 ms more per query (3 documents, 105 tokens, a cost of 0.025). The best order of 100 documents from hybrid "
        "would have nDCG@10 0.7500; it went 100% of the way from 0.6077." in again
    )


def test_a_stage_that_brings_up_unjudged_documents_gets_a_caution():
    judged = {query: {"r": 1, **{f"x{place}": 0 for place in range(8)}} for query in QUERIES}
    others = {query: ranked("r", "y", "z", *list(docs)[1:]) for query, docs in at(1).items()}  # y and z: nobody judged
    told = whole(("words", "retriever", (), at(1)), ("again", "reranker", ("words",), others, 100, SPENT), qrels=judged)

    (again,) = stage_sentences(told)
    assert again.endswith(
        "20% of its first ten documents are not judged, against 10% of those of words; they count as not relevant, so its "
        "figures may be too low."
    )
    assert "not judged" not in "".join(stage_sentences(whole(*PIPELINE)))


def test_one_line_says_which_stages_earned_their_cost():
    assert [
        "again earned its cost: significantly better than the stage before. hybrid is not significantly better than the "
        "stage before."
    ] == list(verdict_on_stages(whole(*PIPELINE)))
    assert ["No stage earned its cost. hybrid is not significantly better than the stage before."] == list(
        verdict_on_stages(whole(*PIPELINE[:2], ("hybrid", "fusion", ("words", "meaning"), at(2, 0, 2, 2))))
    )


@pytest.mark.parametrize("width", [80, 120])
def test_the_terminal_divides_a_table_that_does_not_fit(width, monkeypatch):
    monkeypatch.setattr("assay.report.benchmark.text.terminal_width", lambda: width)
    lines = render_text(whole(*PIPELINE)).splitlines()

    assert max(map(len, lines)) <= width
    assert {80: 4, 120: 2}[width] == sum(line.startswith("stage  ") for line in lines)
    assert ["again", "0.7500•▲", "0.7500•▲", "0.7500"] == next(
        line.split()[:4] for line in lines if line.startswith("again  ")
    )


def test_rescued_queries_are_named_the_first_few_on_the_terminal_and_all_of_them_in_markdown():
    told = whole(*PIPELINE)

    assert (
        'again rescued 10 queries, such as q02 "text of q02" (0.43 to 1.00); q06 "text of q06" (0.43 to 1.00); q10 "text of '
        'q10" (0.43 to 1.00).' in list(moved_sentences(told))
    )
    assert 10 == render_markdown(told).count("| again | rescued |")


def test_the_page_has_a_section_on_stages_and_their_charts():
    told = whole(*PIPELINE)
    page = render_html(told)

    assert '<section id="stages"' in page
    assert '<section id="stages"' not in render_html(report())
    assert ["means", "differences", "relevant-left", "quality-and-time"] == [chart.name for chart in charts_of(told)]
    for chart in charts_of(told):
        assert chart.title in page


def test_the_chart_of_relevant_documents_says_the_same_in_words():
    (chart,) = [chart for chart in charts_of(whole(*PIPELINE)) if chart.name == "relevant-left"]

    assert chart.words.startswith("There are 40 relevant documents. words finds 30 in 100 documents per query")
    assert "again is given 30 in 100 documents per query and has 30 in its first ten" in chart.words


def test_names_of_points_touch_no_other_name_or_mark():
    dice = Random(3)
    points = [Point(f"mode number {at}", 10 ** dice.uniform(0, 2), dice.uniform(0.3, 0.8), "", "") for at in range(12)]
    plot = Plot(1.0, 100.0, 0.2, 0.9)
    placed = spots(points, pareto_front(points), plot)

    assert 10 <= len(placed) <= 12
    assert not [(one, other) for one, other in combinations(placed, 2) if one.overlaps(other)]
    assert all(0 <= spot.x and spot.x + spot.width <= plot.width + 20 for spot in placed)


def test_the_plot_goes_to_pixels_and_back():
    plot = Plot(1.0, 100.0, 0.2, 0.9)
    across, down = plot.pixels(Point("a", 10.0, 0.55, "", ""))

    assert pytest.approx((plot.width / 2, plot.height / 2)) == (across, down)
    assert pytest.approx((10.0, 0.55)) == (plot.time(across), plot.mean(down))


def test_on_the_pareto_front_more_time_buys_more_quality():
    slow, fast, poor, wrong = (
        Point("slow", 100.0, 0.6, "", ""),
        Point("fast", 1.0, 0.5, "", ""),
        Point("poor", 10.0, 0.5, "", ""),
        Point("wrong", 0.5, 0.9, "", "", fair=False),
    )

    assert [fast, slow] == pareto_front([slow, fast, poor, wrong])


def test_order_from_repair_is_written_in_every_table():
    work = replace(SPENT, repaired=20)
    told = whole(*PIPELINE[:3], ("again", "reranker", ("hybrid",), at(1, 0, 1, 1), 100, work))

    assert "again (order from repair)" == stage_table(told).stages[-1]
    for text in (render_text(told), render_markdown(told), render_html(told)):
        assert 2 <= text.count("again (order from repair)")
    assert "again does not count" not in (line := next(verdict_on_stages(told)))[:20]
    assert "No stage earned its cost." in line


def test_every_report_says_how_many_answers_were_repaired():
    """Also if it is less than half of them, so that the stage counts."""
    told = whole(*PIPELINE[:3], ("again", "reranker", ("hybrid",), at(1, 0, 1, 1), 100, replace(SPENT, repaired=7)))

    for text in (render_text(told), render_markdown(told), render_html(told)):
        assert "7 of its 20 answers had to be repaired." in " ".join(text.split())
    assert 7 == msgspec.json.decode(msgspec.json.encode(told))["stages"][-1]["work"]["repaired"]


def test_json_with_stages_is_valid():
    schema = json.loads((DOCS / "schemas" / "benchmark-1.json").read_text(encoding="utf-8"))
    value = json.loads(render_json(whole(*PIPELINE)))

    assert [] == list(problems(value, schema))
    assert ["", "", "no significant difference", "helped"] == [stage["verdict"] for stage in value["stages"]]


def test_texts_of_queries_are_data_everywhere():
    told = whole(*PIPELINE, name=HOSTILE)

    assert 1 == [tag[0] for tag in Page(render_html(told)).tags].count("script")
    for text in (render_text(told), render_markdown(told), render_html(told)):
        assert "\x1b[31m" not in text
    assert "<script>" not in render_markdown(told).replace("\\<", "")
    assert SHA in render_json(told)
