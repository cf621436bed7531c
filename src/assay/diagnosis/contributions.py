"""Incomplete labels: what each run owes to documents that it alone brought into the pool."""

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

LOSS = 0.05  # share of its value that a run may owe to documents which it alone found
FEW = 5  # runs, with fewer of which most finds are unique


@look(
    "DIA005",
    "labels",
    advice="Treat the judgments as not reusable for systems that did not help to make them: judge the top of every "
    "run that is "
    "compared, or leave the unique documents of all runs out when you compare a new one with them.",
)
def unique_contributions(material: Material) -> LookResult | CannotLook:
    """Runs that owe their figure to documents which only they brought into the pool.

    Why: a run that was pooled has its own finds judged; a new run does not. What a run would get had it not taken
    part says how fair the judgments are to new systems (Zobel 1998).

    Measured: for each run, the relevant documents that it alone of the given runs has in its first documents (pool
    depth) become unjudged, and it is scored again. The loss of each measure with its paired 95 % interval over
    queries, and the place among the runs before and after.

    Limits: only the given runs are known. If others made the pool too, a document may be unique here and was not
    then; with few runs the loss looks larger than it is.
    """
    runs, depth = material.runs, material.settings.pool_depth
    if len(runs.systems) < 2:
        return CannotLook("unique contributions take two RUNs or more")
    if not material.asked:
        return CannotLook("none of the measures asked for rewards a good ranking")
    columns = list(material.asked)
    means = runs.means(material.values)[:, columns]
    found = runs.within(depth) & (runs.pairs.grade > 0)
    alone = found & (found.sum(axis=0) == 1)
    rows = [row for place in range(len(columns)) for row in _losses(material, alone, columns[place], means[:, place])]
    # What may be chance is not called a loss.
    most = max(rows, key=lambda row: (row.is_sure, row.share))
    moved = sum(row.place != row.then for row in rows)
    unique = int(alone.sum())
    words = (
        f"{plural('{count} relevant {document was|documents were}', unique)} found by one of the {len(runs.systems)} "
        f"runs alone (first {depth}). Without its "
        f"own, {show_id(most.run)} loses {most.share:.1%} of its {most.measure}, and {moved} of {len(rows)} places "
        f"in the order "
        "of runs change."
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
    few = "" if enough else f" With fewer than {FEW} runs most finds are unique, and losses look larger than they are."
    return LookResult(severity, words, f"Paired t intervals over queries.{few}", evidence, (table,))


class LossRow(Struct, frozen=True):
    """What a run loses with the documents that it alone found."""

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
        """Whether the interval leaves out zero."""
        return self.interval is not None and self.interval[0] > 0


def _losses(material: Material, alone: Booleans, column: int, means: Floats) -> Iterator[LossRow]:
    """The loss of each run by one measure; `alone` marks what each run alone found."""
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
