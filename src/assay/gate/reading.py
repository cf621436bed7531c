"""Read what a gate compares, and pair it rule by rule. Decides nothing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from msgspec import Struct

from assay.evaluation import Evaluation, Evaluator
from assay.formats.reading import RunLike
from assay.formats.readings import Readings
from assay.formats.unread import open_run
from assay.gate.baselines import Caution, Side, is_report, open_report, report_cautions, side_of, side_of_report
from assay.gate.cautions import missing_cautions, same_file_cautions
from assay.gate.grammar import GateRule
from assay.gate.pairing import Asked, paired
from assay.gate.unlabelled import Unlabelled, read_unlabelled, without
from assay.marking import OpenedRun
from assay.measures import Measure, parse_measure
from assay.records.model import Targets
from assay.records.recording import path_of


class Read(Struct, frozen=True, eq=False):
    """A run, or a report with doubts about it."""

    side: Side
    run: OpenedRun | None = None  # None for a report, like the next
    evaluation: Evaluation | None = None
    doubts: tuple[Caution, ...] = ()


class Compared(Struct, frozen=True, eq=False):
    """What is compared: queries of unlabelled runs are left out, since they are not of the same sample."""

    before: Side
    after: Side
    evaluation: Evaluation  # of the candidate
    anchor: Side | None
    more: Unlabelled | None
    doubts: tuple[Caution, ...]  # about the files

    @property
    def elsewhere(self) -> frozenset[str]:
        """The queries of unlabelled runs."""
        return frozenset(() if self.more is None else self.more.traffic.queries)

    def asking(self, asked: Sequence[GateRule], held: Sequence[GateRule]) -> list[Asked]:
        """The rules about the baseline and about the anchor, each with what it is decided on."""
        found = []
        for rule in asked:
            pair = paired(self.before, self.after, rule)
            found.append(Asked(pair, None if self.more is None else self.more.touched(pair)))
        if self.anchor is not None:
            found += [Asked(paired(self.anchor, self.after, rule), against="anchor") for rule in held]
        return found

    def cautions(self) -> Iterator[Caution]:
        """Doubts about the files."""
        yield from self.doubts
        yield from same_file_cautions(self.before, self.after)


class Reader(Struct, frozen=True, eq=False):
    """Reads what is compared."""

    evaluator: Evaluator
    qrels: str
    readings: Readings
    now: datetime | None

    def compared(
        self,
        baseline: RunLike,
        candidate: RunLike,
        anchor: RunLike | None,
        unlabelled: tuple[RunLike, RunLike] | None,
        asked: Sequence[GateRule],
        held: Sequence[GateRule],
        profile: Targets | None,
        max_age: int,
    ) -> Compared:
        """Everything, reports first, because reading a run may take long."""
        before = self._earlier(baseline, _needed(asked, profile), max_age)
        fixed = None if anchor is None else self._earlier(anchor, [rule.measure for rule in held], None)
        reports = any(read is not None and read.run is None for read in (before, fixed))
        after = self._run(candidate, as_written=reports)
        if after.evaluation is None:
            raise TypeError("a candidate is a run")
        more = None if unlabelled is None else self._unlabelled(unlabelled, before, after, asked)
        elsewhere = frozenset(() if more is None else more.traffic.queries)
        doubts: list[Caution] = []
        for read, name in ((before, "baseline"), (fixed, "anchor"), (after, "candidate")):
            if read is not None:
                doubts += read.doubts
                doubts += [] if read.evaluation is None else missing_cautions(read.evaluation, name, elsewhere)
        return Compared(
            before=without(before.side, elsewhere),
            after=without(after.side, elsewhere),
            evaluation=after.evaluation,
            anchor=None if fixed is None else without(fixed.side, elsewhere),
            more=more,
            doubts=tuple(doubts),
        )

    def _earlier(self, source: RunLike, needed: Iterable[Measure], max_age: int | None) -> Read:
        """A system that the candidate is compared with: a report, or a run. An anchor may have any age."""
        if not is_report(source):
            return self._run(source)
        stored = open_report(source)
        doubts = report_cautions(
            stored, self.evaluator, self.qrels, readings=self.readings, max_age=max_age, now=self.now
        )
        return Read(side_of_report(stored, needed), doubts=tuple(doubts))

    def _run(self, source: RunLike, *, as_written: bool = False) -> Read:
        """A run; its queries are named `as_written` in reports if there is one to compare it with."""
        run = open_run(source, self.readings.run)
        found = self.evaluator.evaluate(run)
        return Read(side_of(found, path_of(found.sources[1]), written=as_written), run, found)

    def _unlabelled(
        self, runs: tuple[RunLike, RunLike], before: Read, after: Read, asked: Sequence[GateRule]
    ) -> Unlabelled:
        """What runs of unlabelled queries say."""
        own = None if before.run is None or after.run is None else (before.run, after.run)
        first, second = (open_run(run, self.readings.run) for run in runs)
        return read_unlabelled(self.evaluator, (first, second), own, [rule.measure for rule in asked])


def _needed(asked: Sequence[GateRule], profile: Targets | None) -> list[Measure]:
    """The measures that the baseline must have: those of rules and uplifts."""
    uplifts = [target.measure for target in profile.measures if target.over is not None] if profile else []
    return list(dict.fromkeys([*(rule.measure for rule in asked), *map(parse_measure, uplifts)]))
