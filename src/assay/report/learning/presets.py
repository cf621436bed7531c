"""Examples for the calculators: known ones, and those that circulate with a wrong figure, with the right one and why."""

from __future__ import annotations

from typing import Any

from msgspec import Struct


class Preset(Struct, frozen=True):
    """An example, the fields that it sets, and what it shows."""

    calculator: str
    title: str
    fields: dict[str, Any]
    words: str
    in_print: str = ""  # the figure that circulates, where it is wrong or of another measure


PRESETS = (
    Preset(
        "precision",
        "5 of 8, 10 in all",
        {"hits": 5, "retrieved": 8, "relevant": 10},
        "Half of the relevant documents were found, and most of what was found is relevant.",
    ),
    Preset(
        "precision",
        "Both 0.60",
        {"hits": 3, "retrieved": 5, "relevant": 5},
        "Precision and recall are equal, and so is F1.",
    ),
    Preset(
        "precision",
        "Precise but incomplete",
        {"hits": 9, "retrieved": 10, "relevant": 90},
        "Precision 0.90 and recall 0.10 give an F1 of 0.18, not 0.50: the harmonic mean stays close to the smaller value.",
    ),
    Preset(
        "precision",
        "6 of 8 in the first 100",
        {"hits": 6, "retrieved": 100, "relevant": 8},
        "Recall@100 is 0.75. A reranker of these 100 results cannot raise it: it only reorders them.",
    ),
    Preset(
        "mrr",
        "Ranks 1, 3 and 2",
        {
            "query": ("Python error handling", "Machine learning basics", "REST API design"),
            "ranks": (1, 3, 2),
            "at": 10,
        },
        "The mean of 1, 1/3 and 1/2.",
    ),
    Preset(
        "mrr",
        "Ranks 1, 3 and 1",
        {"query": ("Wireless headphones", "Organic dog treats", "USB-C hub adapter"), "ranks": (1, 3, 1), "at": 10},
        "The mean of 1, 1/3 and 1.",
    ),
    Preset(
        "mrr",
        "First hit at rank 12",
        {"query": ("Late answer",), "ranks": (12,), "at": 10},
        "trec_eval's recip_rank has no cutoff and ignores one that it is given: it prints 0.0833. MRR@10 is 0, because "
        "nothing relevant is among the first 10.",
        in_print="recip_rank reported as MRR@10",
    ),
    Preset(
        "map",
        "R N R N R, 4 relevant",
        {"lists": ("RNRNR",), "totals": (4,)},
        "The fourth relevant document was not found and adds 0: (1 + 2/3 + 3/5) / 4.",
    ),
    Preset(
        "map",
        "R R N R N",
        {"lists": ("RRNRN",), "totals": (5,)},
        "P@1 to P@5 are 1, 1, 0.6667, 0.75 and 0.6. Recall of 5 relevant documents at rank 5 is 3/5.",
    ),
    Preset(
        "map",
        "Same recall, other order",
        {"lists": ("RRNNNNNNNN", "NNNNNNNNRR"), "totals": (2, 2)},
        "Both lists find both documents within 10 results, so their recall is 1. Average precision sees where they are.",
    ),
    Preset(
        "map",
        "150 relevant, all at the top",
        {"lists": ("R" * 150,), "totals": (150,), "depth": 100},
        "AP@100 divides by all 150 relevant documents, as trec_eval's map_cut.100 does, so even a perfect list has 0.6667. "
        "Dividing by min(relevant, 100) gives 1. A text that shows the second formula next to trec_eval means two measures.",
        in_print="1.0 as map_cut.100",
    ),
    Preset(
        "ndcg",
        "3, 2, 0, 1, 2",
        {"grades": (3.0, 2.0, 0.0, 1.0, 2.0), "missed": (), "k": 5},
        "The ideal order is 3, 2, 2, 1, 0, with an ideal DCG of 10.8235. In print it is 10.48 or 10.49, which is the DCG of "
        "the list itself: the gains were divided by the discounts of their old ranks. A list with a 0 above a 2 is not "
        "perfect.",
        in_print="1.0",
    ),
    Preset(
        "ndcg",
        "Exact, substitute, complement",
        {"grades": (3.0, 2.0, 1.0), "missed": (3.0,), "k": 3},
        "A second exact match exists, so the ideal is 3, 3, 2. 0.7272 is right for the gain 2^grade - 1. pytrec_eval, which is "
        "named beside it, takes the grade itself as gain and gives 0.8081.",
        in_print="0.727, computed with pytrec_eval",
    ),
    Preset(
        "ndcg",
        "Relevant or not",
        {"grades": (1.0, 1.0, 0.0, 1.0, 0.0), "missed": (), "k": 5},
        "With grades 0 and 1 both gains are the same, and CG is the number of relevant results. With higher grades it is "
        "their sum, not a count.",
    ),
)
