"""Incomplete labels: how much each run owes to documents that only it contributed to the pool."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct
from msgspec.structs import astuple

from assay.comparison.intervals import Interval, mean_interval
from assay.diagnosis.material import Material
from assay.diagnosis.model import Column, Evidence, Severity, Table
from assay.diagnosis.registry import CannotLook, LookResult, look
from assay.errors import show_id
from assay.tables import Booleans, Floats
from assay.words import plural

LOSS = 0.05  # share of its value that a run may owe to documents that only it found
FEW = 5  # runs; with fewer, most documents are unique


@look(
    "DIA005",
    "labels",
    advice="Treat the judgments as not reusable for systems that did not contribute to them: judge the top of every run you "
    "compare, or leave out the unique documents of all runs when you compare a new one with them.",
)
def unique_contributions(material: Material) -> LookResult | CannotLook:
    """Runs that depend on documents only they contributed to the pool.

    Why: the documents of a pooled run were judged; those of a new run were not. The value a run would have if it had
    not been pooled shows how fair the judgments are to new systems (Zobel 1998).

    Measured: for each run, the relevant documents that only it of the given runs has in its first documents (pool
    depth) become unjudged, and it is scored again. The loss by each measure with its paired 95 % interval over queries,
    and the place among the runs before and after.

    Limits: only the given runs are known. If others contributed to the pool, a document that is unique here may not
    have been unique then; with few runs the loss looks larger than it is.
    """
    runs, depth = material.runs, material.settings.pool_depth
    if len(runs.systems) < 2:
        return CannotLook("needs at least two RUNs")
    if not material.asked:
        return CannotLook("none of the requested measures rewards a good ranking")
    columns = list(material.asked)
    means = runs.means(material.values)[:, columns]
    found = runs.within(depth) & (runs.pairs.grade > 0)
    alone = found & (found.sum(axis=0) == 1)
    rows = [row for place in range(len(columns)) for row in _losses(material, alone, columns[place], means[:, place])]
    # A loss that may be chance does not count.
    most = max(rows, key=lambda row: (row.is_sure, row.share))
    moved = sum(row.place != row.then for row in rows)
    unique = int(alone.sum())
    words = (
        f"{plural('{count} relevant {document was|documents were}', unique)} found by only one of the "
        f"{len(runs.systems)} runs (first {depth}). Without its own, {show_id(most.run)} loses {most.share:.1%} of its "
        f"{most.measure}, and {moved} of {len(rows)} places in the order of runs change."
    )
    enough = len(runs.systems) >= FEW
    serious = most.share >= LOSS and most.is_sure and moved and enough
    severity: Severity = "warning" if serious else "note" if unique else "fine"
    table = Table(
        "",
        (
            Column("measure"),
            Column("run"),
            Column("unique", "count"),
            Column("value", "value"),
            Column("without", "value"),
            Column("loss", "value"),
            Column("95% interval", "interval"),
            Column("place", "count"),
            Column("then", "count"),
        ),
        tuple(map(astuple, rows)),
        shown=24,
    )
    evidence = tuple(
        Evidence(f"loss of {row.measure} of {show_id(row.run)}", row.loss, row.interval, n=len(runs.queries))
        for row in rows
    )
    few = (
        ""
        if enough
        else f" With fewer than {FEW} runs most documents are unique, and losses look larger than they are."
    )
    return LookResult(severity, words, f"Paired t intervals over queries.{few}", evidence, (table,))


class LossRow(Struct, frozen=True):
    """What a run loses without the documents that only it found."""

    measure: str
    run: str
    unique: int
    value: float
    without: float
    loss: float
    interval: Interval | None
    place: int  # among the runs
    then: int

    @property
    def share(self) -> float:
        """The loss as a share of the value."""
        return self.loss / self.value if self.value else 0.0

    @property
    def is_sure(self) -> bool:
        """Whether the interval is above zero."""
        return self.interval is not None and self.interval[0] > 0


def _losses(material: Material, alone: Booleans, column: int, means: Floats) -> Iterator[LossRow]:
    """The loss of each run by one measure; `alone` marks what only that run found."""
    runs = material.runs
    for number, system in enumerate(runs.systems):
        given = np.where(alone[number], np.nan, runs.pairs.grade)
        without = runs.values(given, runs=[number], columns=[column])[0, :, 0]
        before, after = float(means[number]), material.mean(without, column)
        others = np.delete(means, number)
        yield LossRow(
            measure=runs.labels[column],
            run=system,
            unique=int(alone[number].sum()),
            value=before,
            without=after,
            loss=before - after,
            interval=mean_interval(material.values[number, :, column] - without),
            place=int(np.count_nonzero(others > before)) + 1,
            then=int(np.count_nonzero(others > after)) + 1,
        )
