"""A benchmark report as one HTML file that works offline."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePath

from msgspec import Struct
from msgspec.structs import replace

from assay.errors import show_id
from assay.records.benchmark import BenchmarkReport, MissingMode, ModeResult, PairRecord, SegmentChoice
from assay.records.model import FindingRecord
from assay.report.benchmark import words
from assay.report.benchmark.charts import mode_charts, stage_charts
from assay.report.benchmark.stages import (
    StageColumn,
    named_query,
    stage_legend,
    stage_sentences,
    stage_table,
    verdict_on_stages,
)
from assay.report.benchmark.words import (
    benchmark_table,
    choices,
    heading,
    legend,
    milliseconds,
    mode_name,
    remarks,
    setting_in_words,
)
from assay.report.drawing.charts import draw
from assay.report.drawing.page import render_page
from assay.report.drawing.tables import Cell, Cells, Column, Table, columns_of, verdict_cell
from assay.report.drawing.words import NONE, TONES, Facts, from_to, show_moment, signed, where
from assay.words import number_of, sentence, show_p

DIFFERENCE = ("Difference", "95% interval", "Corrected p", "Effect size", "Won/tied/lost")
_LOWER_CASE = ("ms", "p", "p95")


class ModeSheet(Struct, frozen=True):
    """The details of one mode."""

    name: str
    status: str
    facts: Facts
    report: str  # link
    run: str  # link


class StageSheet(Struct, frozen=True):
    """What the stages of the pipeline add."""

    verdict: tuple[str, ...]
    names: tuple[str, ...]
    tables: tuple[tuple[StageColumn, ...], ...]
    sentences: tuple[str, ...]
    legend: tuple[str, ...]
    pairs: Table
    moved: tuple[tuple[str, tuple[str, ...]], ...]  # what a stage did to how many queries, and which


class BenchmarkPage(Struct, frozen=True):
    """Everything on the page except the charts."""

    title: str
    lede: str
    created: str
    counts: str
    choices: tuple[str, ...]
    table: Table
    legend: tuple[str, ...]
    stages: StageSheet | None  # None if no mode stands on another
    missing: tuple[MissingMode, ...]
    segments: tuple[tuple[str, Table], ...]  # by segmentation
    measure: str
    baseline: str
    pairs: Table
    modes: tuple[ModeSheet, ...]
    collection: Facts
    findings: tuple[FindingRecord, ...]  # most severe first
    notes: tuple[str, ...]


def render_html(report: BenchmarkReport) -> str:
    """The page; charts need an extra package, but are always described in words."""
    modes, stages = mode_charts(report), stage_charts(report)
    drawings = draw((*modes, *stages))
    return render_page("benchmark.html", drawings, charts=modes, stage_charts=stages, page=page_of(report), where=where)


def page_of(report: BenchmarkReport) -> BenchmarkPage:
    """The content of the page, except the charts."""
    first, *others = choices(report)
    return BenchmarkPage(
        title=show_id(report.collection.name),
        lede=first.removeprefix("Best overall: "),
        created=show_moment(report.created),
        counts=heading(report).partition(": ")[2],
        choices=(first, *others),
        table=_results(report),
        legend=tuple(legend(report)),
        stages=_stages(report) if report.stages else None,
        missing=report.missing,
        segments=tuple(_segments(report)),
        measure=show_id(report.choice.measure),
        baseline=show_id(report.comparison.baseline) if report.comparison else "",
        pairs=_pairs(report),
        modes=tuple(_mode(mode, report) for mode in report.modes),
        collection=_collection(report),
        findings=report.findings,
        notes=tuple(remarks(report)),
    )


def _stages(report: BenchmarkReport) -> StageSheet:
    shown = stage_table(report)
    return StageSheet(
        verdict=tuple(verdict_on_stages(report)),
        names=shown.stages,
        tables=tuple(tuple(map(_headed, columns)) for columns in shown.halves),
        sentences=tuple(stage_sentences(report)),
        legend=tuple(stage_legend(report)),
        pairs=_stage_pairs(report),
        moved=tuple(_moved(report)),
    )


def _headed(column: StageColumn) -> StageColumn:
    return column if column.given or column.name in _LOWER_CASE else replace(column, name=sentence(column.name))


def _pairs(report: BenchmarkReport) -> Table:
    """The differences from the first mode."""
    names = ("Mode", "Verdict", "Measure")
    return Table(
        columns_of([*names, *DIFFERENCE], names),
        tuple((*_named(pair), *_difference(pair)) for pair in (report.comparison.pairs if report.comparison else ())),
        nouns="differences",
        fixed=2,
    )


def _stage_pairs(report: BenchmarkReport) -> Table:
    """The differences of each stage from the one before."""
    names = ("Stage", "Verdict", "Stage before", "Measure")
    rows = []
    for pair in (pair for stage in report.stages for pair in stage.differences):
        system, verdict, measure = _named(pair)
        rows.append((system, verdict, show_id(pair.baseline), measure, *_difference(pair)))
    return Table(columns_of([*names, *DIFFERENCE], names), tuple(rows), nouns="differences", fixed=2)


def _named(pair: PairRecord) -> Cells:
    return (show_id(pair.system), verdict_cell(pair.verdict), show_id(pair.measure))


def _difference(pair: PairRecord) -> Cells:
    return (
        signed(pair.difference),
        from_to(pair.interval),
        NONE if pair.p_corrected is None else show_p(pair.p_corrected),
        NONE if pair.effect_size is None else f"{pair.effect_size:+.2f}",
        f"{pair.wins:,}/{pair.ties:,}/{pair.losses:,}",
    )


def _moved(report: BenchmarkReport) -> Iterator[tuple[str, tuple[str, ...]]]:
    for stage in report.stages:
        for verb, moved in (("rescued", stage.rescued), ("ruined", stage.ruined)):
            if moved:
                head = f"{mode_name(stage)} {verb} {number_of(len(moved), 'query')}"
                yield head, tuple(f"{named_query(each)}: {each.before:.4f} to {each.after:.4f}" for each in moved)


def _results(report: BenchmarkReport) -> Table:
    """Measures and times down, modes across, the best mode beside each measure."""
    found = benchmark_table(report)
    return Table(
        columns=(
            Column("Measure", number=False),
            Column("Best mode", number=False),
            *(Column(mode) for mode in found.modes),
        ),
        rows=tuple(
            (row.name, row.best, *(_value_cell(cell) for cell in row.cells)) for row in (*found.rows, *found.times)
        ),
        nouns="measures",
        fixed=2,
    )


def _value_cell(cell: words.Cell) -> Cell:
    marks = ((cell.mark, f"{TONES[cell.verdict]} mark"),) if cell.verdict else ()
    return Cell(cell.value, bold=cell.best, marks=marks)


def _segments(report: BenchmarkReport) -> Iterator[tuple[str, Table]]:
    names = [mode.name for mode in report.modes]
    for segmentation in dict.fromkeys(each.segmentation for each in report.choice.segments):
        rows = [each for each in report.choice.segments if each.segmentation == segmentation]
        title = show_id(segmentation)
        columns = (Column(sentence(title), number=False), Column("Queries"), *(Column(show_id(name)) for name in names))
        yield title, Table(columns, tuple(_segment(each, names) for each in rows), nouns="segments")


def _segment(segment: SegmentChoice, modes: list[str]) -> Cells:
    cells = (
        Cell(NONE if (mean := segment.means.get(mode)) is None else f"{mean:.4f}", bold=mode in segment.best)
        for mode in modes
    )
    few = ", too few to rely on" if segment.few else ""
    return (show_id(segment.segment), f"{segment.queries:,}{few}", *cells)


def _mode(mode: ModeResult, report: BenchmarkReport) -> ModeSheet:
    settings = [
        (name.replace("_", " "), said) for name, value in mode.settings.items() if (said := setting_in_words(value))
    ]
    timing = report.timing.get(mode.name)
    facts = [
        ("kind", mode.kind),
        *settings,
        ("retrieved", f"{number_of(mode.documents, 'document')} for {number_of(mode.queries, 'query')}"),
        ("run", f"SHA-256 {mode.run.sha256[:16]}, {mode.run.size:,} bytes"),
    ]
    if timing is not None:
        facts.append(
            ("time", f"{milliseconds(timing.milliseconds)} ms per query, 95th percentile {milliseconds(timing.p95)} ms")
        )
        if timing.index_seconds is not None:
            facts.append(("indexing", f"{timing.index_seconds:.1f} s"))
    shown = tuple((show_id(name), show_id(said, 300)) for name, said in facts)
    return ModeSheet(mode_name(mode), mode.status or "", shown, f"{mode.report}/EvaluationReport.html", mode.run.path)


def _collection(report: BenchmarkReport) -> Facts:
    collection = report.collection
    files = [
        (
            show_id(PurePath(each.path).name),
            f"{show_id(each.path, 200)}, {each.size:,} bytes, SHA-256 {each.sha256[:16]}",
        )
        for each in collection.files
    ]
    return (
        ("split", show_id(collection.split)),
        ("documents", f"{collection.documents:,}"),
        ("queries", f"{collection.queries:,} of {collection.judged:,} judged"),
        ("judgments", f"{collection.judgments:,}"),
        ("depth", f"{number_of(report.depth, 'document')} per query"),
        *files,
        ("manifest", show_id(report.experiment)),
    )
