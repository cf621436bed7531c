"""The inputs of a diagnosis, gathered once for all looks. Reads no files and finds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
from msgspec import Struct

from assay.diagnosis.labelled import LabelledRuns
from assay.diagnosis.model import Settings
from assay.tables import Booleans, Floats, Integers

Texts = Mapping[str, str]


class Material(Struct, frozen=True, eq=False, dict=True):
    """Judgments, rankings and optional inputs."""

    runs: LabelledRuns
    asked: tuple[int, ...]  # columns of the requested measures that reward quality
    beside: Mapping[str, int]  # columns of other measures that looks need, by name; some conventions lack some
    baseline: int  # index of the system
    settings: Settings
    presented: Mapping[str, Mapping[str, int]] | None = None  # query -> document -> position shown
    queries: Texts | None = None  # test queries
    production: Mapping[str, int] | None = None  # text of a query -> how often it was asked
    corpus: Texts | None = None  # texts of the documents at the top of a run
    segments: Mapping[str, Mapping[str, str]] | None = None  # column -> query -> segment

    @property
    def values(self) -> Floats:
        """The values under the given judgments: (runs, queries, measures)."""
        return self.runs.usual

    @cached_property
    def holes(self) -> Booleans:
        """Which unjudged pairs are in the first k of any run."""
        return self.runs.holes(self.settings.k)

    @property
    def others(self) -> list[int]:
        """All systems except the baseline."""
        return [number for number in range(len(self.runs.systems)) if number != self.baseline]

    def mean(self, values: Floats, column: int) -> float:
        """The value of one system, combined over queries as the measure requires."""
        return float(self.runs.means(values[None, :, None], [column])[0, 0])

    @cached_property
    def judged_share(self) -> Floats:
        """Judged@k of each run and query; NaN if the run has no documents."""
        judged = self.runs.within(self.settings.k) & self.runs.judged
        shown = np.minimum(self.runs.retrieved, self.settings.k)
        found = np.array([self.runs.count(row) for row in judged])
        return np.where(shown > 0, found / np.maximum(shown, 1), np.nan)

    @cached_property
    def hole_rows(self) -> Integers:
        """The indices of the pairs that are holes."""
        return np.flatnonzero(self.holes)

    @cached_property
    def hole_effects(self) -> Floats:
        """The gain by the first measure on the query if this hole alone had the highest grade: (runs, holes).

        Queries are independent, so one hole of each query is tried at a time.
        """
        rows = self.hole_rows
        query = self.runs.pairs.query[rows]
        nth = np.arange(len(rows)) - np.searchsorted(query, query)
        column = self.asked[:1]
        before = self.values[:, :, list(column)]
        effects = np.zeros((len(self.runs.systems), len(rows)))
        for turn in range(int(nth.max(initial=-1)) + 1):
            tried = np.flatnonzero(nth == turn)
            grade = self.runs.pairs.grade.copy()
            grade[rows[tried]] = relevant_grade(self.runs)
            change = (self.runs.values(grade, columns=column) - before)[:, :, 0]
            effects[:, tried] = np.nan_to_num(change[:, query[tried]])
        return effects


def relevant_grade(runs: LabelledRuns) -> float:
    """The highest grade of the judgments, or 1 if no document is relevant."""
    return runs.top_grade if runs.top_grade > 0 else 1.0
