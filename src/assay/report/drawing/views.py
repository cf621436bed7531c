"""What each result in `showing.py` looks like: one `View` per class, which names its renderers."""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Any, Generic, TypeVar

from msgspec import Struct

from assay.errors import AssayError, InputError, MissingExtraError, did_you_mean, for_terminal
from assay.files import write_whole
from assay.report.drawing.charts import Chart, draw, png_of
from assay.report.drawing.delimited import Columns, Value
from assay.report.drawing.sheets import Sheet, sheet_as_html
from assay.report.drawing.terminal import Drawn
from assay.showing import Plot

Result = TypeVar("Result")
_DRAWING = "drawing charts"


class View(Struct, Generic[Result], frozen=True):
    """The renderers of one kind of result."""

    noun: str  # "an evaluation"
    text: Callable[[Result], str]  # what the command prints
    brief: Callable[[Result], Sheet]  # what a notebook shows
    columns: Callable[[Result], Columns]  # for data frames
    formats: dict[str, Callable[[Result], str]]  # by suffix
    charts: Callable[[Result], Sequence[Chart]] = lambda _: ()

    def as_text(self, result: Result) -> str:
        """The text of the command without colours."""
        text = self.text(result)
        return for_terminal(text.without_colours() if isinstance(text, Drawn) else text).rstrip("\n")

    def as_html(self, result: Result) -> str:
        """The table for a notebook."""
        return sheet_as_html(self.brief(result).shortened())

    def as_frame(self, result: Result) -> Any:
        """A pandas data frame."""
        try:
            import pandas
        except ImportError:
            raise MissingExtraError("making a data frame", package="pandas") from None
        return pandas.DataFrame({name: _typed(values) for name, values in self.columns(result).items()})

    def save(self, result: Result, path: str | os.PathLike[str]) -> None:
        """Write a file in the format of its suffix."""
        render = self.formats[_suffix(path, self.noun, self.formats)]
        write_whole(path, render(result).encode("utf-8", "surrogateescape"))

    def plot(self, result: Result, name: str) -> Plot:
        """The chart with this name, drawn; the first one without a name."""
        charts = {chart.name: chart for chart in self.charts(result)}
        if not charts:
            raise AssayError(f"there is no chart of {self.noun} without values.")
        if name and name not in charts:
            hint = did_you_mean(name, charts) or f"; the charts are {', '.join(charts)}."
            raise AssayError(f"no chart called {name!r}{hint}")
        chart = charts[name or next(iter(charts))]
        _refuse_without_drawing()
        drawings = draw([chart])
        if drawings.missing:
            raise AssayError(drawings.missing)
        return Plot(chart.name, chart.title, chart.words, drawings.svgs[chart.name])


def save_plot(plot: Plot, path: str | os.PathLike[str]) -> None:
    """Write a chart as SVG or PNG."""
    if _suffix(path, "a chart", (".png", ".svg")) == ".svg":
        write_whole(path, plot.svg.encode())
        return
    _refuse_without_drawing()
    write_whole(path, png_of(plot.svg))


def _refuse_without_drawing() -> None:
    if importlib.util.find_spec("vl_convert") is None:
        raise MissingExtraError(_DRAWING, "report")


def _suffix(path: str | os.PathLike[str], noun: str, known: Iterable[str]) -> str:
    """The suffix of a file name, one of those that are known."""
    suffix = PurePath(os.fspath(path)).suffix.lower()
    if suffix not in known:
        *before, last = sorted(known)
        wrong = f"{noun} cannot be saved as {suffix}" if suffix else "the name of the file has no suffix"
        raise InputError(f"{wrong}; the suffix can be {', '.join(before)} or {last}.", source=os.fspath(path))
    return suffix


def _typed(values: Sequence[Value]) -> Any:
    """A column for pandas, in which missing numbers are missing, whole numbers stay whole, and any id is allowed."""
    import pandas

    known = [value for value in values if value is not None]
    texts = [value for value in known if isinstance(value, str)]
    if texts and not _is_utf8(texts):
        return pandas.Series(values, dtype=object)
    if texts or len(known) == len(values):
        return list(values)
    if known and all(isinstance(value, int) for value in known):
        return pandas.array(list(values), dtype="Int64")
    return [math.nan if value is None else value for value in values]


def _is_utf8(texts: Sequence[str]) -> bool:
    """Whether pandas can keep the texts in its own type; ids of files may have other bytes."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return False
    return True
