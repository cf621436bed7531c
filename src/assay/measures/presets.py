"""Official measures and relevance levels of well-known tracks and benchmarks, as data."""

from __future__ import annotations

from msgspec import Struct

from assay.errors import MeasureError, did_you_mean


class Preset(Struct, frozen=True):
    """The measures that a track reports, with a short explanation."""

    name: str
    measures: tuple[str, ...]
    about: str


PRESETS: dict[str, Preset] = {
    preset.name: preset
    for preset in (
        Preset(
            "trec-dl",
            ("nDCG@10", "AP(rel=2)", "RR(rel=2)", "R(rel=2)@100", "R(rel=2)@1000"),
            "TREC Deep Learning, passages: grades 0 to 3; 2 and 3 count as relevant for AP, RR and recall",
        ),
        Preset(
            "trec-covid",
            ("nDCG@20", "P@20", "AP", "Bpref", "RBP(p=0.5)"),
            "TREC-COVID: grades 0 to 2; Bpref because many retrieved documents were never judged",
        ),
        Preset(
            "msmarco", ("RR@10", "R@1000"), "MS MARCO passage ranking: few judgments per query; the first answer counts"
        ),
        Preset("beir", ("nDCG@10", "R@100"), "BEIR: nDCG@10 is the main measure; R@100 is for first-stage retrieval"),
        Preset("robust", ("AP", "nDCG@20", "P@20", "GMAP"), "TREC Robust: AP, with GMAP for the hard topics"),
        Preset(
            "kpi",
            ("nDCG@10", "MAP@100", "MRR@10", "Recall@50", "Recall@100", "HitRate@10"),
            "six numbers for a search product: ranking, first answer, coverage",
        ),
    )
}


def preset(name: str) -> Preset:
    """The preset of this name."""
    if name not in PRESETS:
        hint = did_you_mean(name, PRESETS) or f"; there are {', '.join(PRESETS)}."
        raise MeasureError(f"no preset called {name!r}{hint}")
    return PRESETS[name]
