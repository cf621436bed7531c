"""Charts of the difference between two runs: overlap, recall and what was lost, over the queries."""

from __future__ import annotations

from collections.abc import Iterator

from assay.comparison.diffing import RunDiff, Spread
from assay.errors import show_id
from assay.report.comparison.charts import difference_bars
from assay.report.difference import words
from assay.report.drawing.charts import Chart
from assay.report.evaluation.specs import Mean, bins_of, curve_of_queries, histogram
from assay.words import sentence


def charts_of(diff: RunDiff) -> tuple[Chart, ...]:
    """Every chart that the difference has data for."""
    return (*_overlaps(diff), _rbo(diff), *_losses(diff))


def _overlaps(diff: RunDiff) -> Iterator[Chart]:
    for place, found in enumerate(diff.cutoffs):
        values = [query.overlap[place] for query in diff.queries]
        text = (
            f"Overlap of the first {found.cutoff:,} documents: mean {words.value_of(found.overlap.mean)}, median "
            f"{words.value_of(found.overlap.median)}; 5% of the queries have {words.value_of(found.overlap.p5)} or less."
        )
        name = f"overlap@{found.cutoff}"
        spec = histogram(bins_of(values), sentence(name), _mean(found.overlap))
        yield Chart(name.replace("@", "-"), f"Queries by {name}", text, spec)


def _rbo(diff: RunDiff) -> Chart:
    values = sorted(((query.query, query.rbo) for query in diff.queries), key=lambda pair: -pair[1])
    ends = f"{words.value_of(values[0][1])} to {words.value_of(values[-1][1])}"
    text = f"Rank-biased overlap of each query, from {ends}."
    return Chart("rbo", "Queries by RBO", text, curve_of_queries(values, "RBO", _mean(diff.rbo)))


def _losses(diff: RunDiff) -> Iterator[Chart]:
    for number, loss in enumerate(diff.losses[:1]):
        gains = [(query.query, -lost) for query in diff.queries if (lost := query.lost[number]) is not None]
        gains.sort(key=lambda gain: -gain[1])
        if not any(gain for _, gain in gains):
            continue
        measure = show_id(loss.measure, 30)
        text = (
            f"{measure} of {show_id(diff.second, 30)} minus {show_id(diff.first, 30)} in each query of both runs: "
            f"{loss.rose:,} higher, {loss.fell:,} lower."
        )
        yield Chart("lost", f"{measure}, query by query", text, difference_bars(gains, -loss.lost.mean, loss.measure))


def _mean(values: Spread) -> Mean:
    return Mean(values.mean, "mean", values.interval)
