"""How results show themselves: as a table in a notebook, as text, as a data frame, as a chart, and in files.

Results lie below the reports that draw them and cannot import them. So the views are named here, and each is imported when
it is first used.
"""

from __future__ import annotations

import os
from importlib import import_module
from typing import Any

from msgspec import Struct

# The class of a result, and the view that shows it (`report/drawing/views.py`).
_VIEWS = {
    "Evaluation": "assay.report.evaluation.view:ONE_RUN",
    "Evaluations": "assay.report.evaluation.view:SEVERAL_RUNS",
    "Comparison": "assay.report.comparison.view:VIEW",
    "Leaderboard": "assay.report.leaderboard.view:VIEW",
    "Diagnosis": "assay.report.diagnosis.view:VIEW",
    "Validation": "assay.report.validation.view:VIEW",
    "BenchmarkReport": "assay.report.benchmark.view:VIEW",
}
_SAVE_PLOT = "assay.report.drawing.views:save_plot"


class Shown:
    """A result that notebooks show as a table. `print` gives the text that the command prints, without colours."""

    __slots__ = ()

    def __str__(self) -> str:
        text: str = _view_of(self).as_text(self)
        return text

    def _repr_html_(self) -> str:
        html: str = _view_of(self).as_html(self)
        return html

    def to_pandas(self) -> Any:
        """A pandas data frame in full precision.

        - Evaluation of one run or several: a row per run and query, with `run`, `query` and a column for each measure.
        - Comparison: a row per pair and measure, with the fields of a pair, such as `difference`, `p_corrected` and
          `verdict`, and the ends of the interval, `low` and `high`. With segments, `segmentation` and `segment` come first;
          they are missing in the rows for all queries together.
        - Leaderboard: a row per system, with `rank`, `system`, `tier`, the ends of the intervals, and a column for each
          measure.
        - Diagnosis: a row per finding, with `code`, `area`, `severity`, `title`, `measured`, `sure` and `advice`.
        - Validation: a row per finding, with `code`, `severity`, `title`, `message`, `fix`, `file`, `line`, `query` and
          `count`.
        - Benchmark: a row per mode and measure, with `mode`, `kind`, `measure`, `mean`, `low`, `high` and `best`;
          `milliseconds` and `p95` are the times of the mode for one query.
        """
        return _view_of(self).as_frame(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the result to a file, whole or not at all; the suffix says how.

        `.html` is a page, `.md` a table for an issue or a README, `.tex` a table for a paper; `.csv` and `.json` have all
        values in full precision, also those of each query.
        """
        _view_of(self).save(self, path)


class Plot(Struct, frozen=True):
    """A chart, which notebooks show."""

    name: str
    title: str
    words: str  # what the chart shows, in a sentence or two
    svg: str

    def __repr__(self) -> str:
        return f"<Plot {self.name!r}: {self.title}>"

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the chart to a file, as .svg or .png."""
        _named(_SAVE_PLOT)(self, path)


class Charted(Shown):
    """A result that also has charts."""

    __slots__ = ()

    def plot(self, name: str = "") -> Plot:
        """A chart of the report, by default the first; an unknown name is an error that lists those there are.

        Drawing needs one more package: `pip install 'assay-ir[report]'`.
        """
        plot: Plot = _view_of(self).plot(self, name)
        return plot


def _view_of(value: Shown) -> Any:
    """The view of a value: that of its class or, for a subclass, of the class it extends."""
    return _named(next(_VIEWS[kind.__name__] for kind in type(value).__mro__ if kind.__name__ in _VIEWS))


def _named(place: str) -> Any:
    module, name = place.split(":")
    return getattr(import_module(module), name)
