"""Write a repaired copy of a file and list the repairs.

Never guesses: anything ambiguous is left unchanged, unless a policy says what to do about it. A copy is written query by
query; a file whose queries are not grouped together is read a second time and kept in memory.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import Any, TypeAlias

from msgspec import Struct

from assay._version import __version__
from assay.errors import AssayError, InputError
from assay.evaluation import DEFAULT_MEASURES, Evaluator, first_of
from assay.files import write_blocks
from assay.formats import as_qrels
from assay.formats.detect import detect_format
from assay.formats.ir_metadata import appended, read_header, write_with_metadata
from assay.formats.lines import ColumnOrder
from assay.formats.names import Kind, find_roles, is_header
from assay.formats.reading import FORMATS
from assay.formats.readings import AUTO, Reading
from assay.formats.sources import COMPRESSION_SUFFIXES, STDIN, Content, Origin, Source
from assay.formats.text import BYTE_ORDER_MARK, decoded, first_data_line, refuse_other_files, wide_encoding
from assay.formats.unread import open_run
from assay.ids import as_written
from assay.inputs.queries import read_queries
from assay.secrets import Secrets
from assay.validation.mending import ID_WORDS, Interleaved, Mender, Repair, Write
from assay.validation.policies import IDS, Chosen, Policies, chosen_policies
from assay.validation.validating import LAYOUTS

Ids: TypeAlias = Mapping[str, set[str]]  # column (query, doc) -> ids of the other files
Score: TypeAlias = Callable[[str, Reading], float | None]  # a run -> its first measure, if it has one


class Applied(Struct, frozen=True):
    """What a policy did."""

    policy: str
    repair: Repair
    measure: str | None = None  # with judgments: the first measure, before and after; None if the run cannot be scored
    before: float | None = None
    after: float | None = None


class Repairs(Struct, frozen=True):
    """The repairs made to a file: those that are safe, and those of policies in the order of their application."""

    output: str
    made: tuple[Repair, ...]
    policies: tuple[Applied, ...] = ()


def fix_run(
    source: Source,
    output: str | os.PathLike[str],
    *,
    policies: Policies | None = None,
    qrels: Any = None,
    queries: Any = None,
    metadata: bool = True,
    reading: Reading = Reading(),
) -> Repairs:
    """Write a repaired copy of a run in columns and list the repairs.

    Without `policies`, a repair never changes what the file means. Policies do: `{"cut": 100}`, `{"duplicates": "best"}`
    or `{"ids": ["strip-prefix=doc-", "lower"]}`. Each is listed with the lines that it touched and, given `qrels`, the
    first measure before and after. With `qrels` or `queries`, ids are rewritten only in the column (query or document)
    where that makes more of them match. A copy made by policies starts with comment lines that record them; without
    `metadata`, it does not.
    """
    judged = None if qrels is None or not policies else as_qrels(qrels)
    others: dict[str, set[str]] = {"query": _topics(queries)} if queries is not None and policies else {}
    if judged is not None:
        others = {"query": {*others.get("query", ()), *judged.queries}, "doc": set(judged.doc.tolist())}
    evaluator = None if judged is None else Evaluator(judged, DEFAULT_MEASURES[:1], unmatched="zero")

    def score(path: str, how: Reading) -> float | None:
        with suppress(AssayError):
            return None if evaluator is None else first_of(evaluator.evaluate(open_run(path, how)))[1]
        return None

    task = _Task("run", source, os.fspath(output), chosen_policies(policies, "run"), others or None, reading)
    return task.run(score if evaluator is not None else None, metadata=metadata)


def fix_qrels(
    source: Source,
    output: str | os.PathLike[str],
    *,
    policies: Policies | None = None,
    queries: Any = None,
    metadata: bool = True,
    reading: Reading = Reading(),
) -> Repairs:
    """Write a repaired copy of judgments in columns and list the repairs; `policies` is as for `fix_run`."""
    others = {"query": _topics(queries)} if queries is not None and policies else None
    task = _Task("qrels", source, os.fspath(output), chosen_policies(policies, "qrels"), others, reading)
    return task.run(None, metadata=metadata)


def _refuse_other_columns(content: Content, kind: Kind, layout: ColumnOrder, reading: Reading) -> None:
    """Raise an error if a header names other columns than those of the format: rows are repaired by position."""
    _, first = first_data_line(content.head.removeprefix(BYTE_ORDER_MARK))
    names = [decoded(token) for token in first.split()]
    if wide_encoding(content.head) is not None or not is_header(names, kind, reading):
        return
    roles = find_roles(names, kind, content.name, reading=reading.shared())
    if len(names) != len(layout) or any(layout[place] != role for role, (place, *_) in roles.items() if role in layout):
        raise InputError(
            f"the header names other columns than {' '.join(layout)}, in that order, and rows are repaired by position. "
            f"Convert the file first with `assay {'runs' if kind == 'run' else 'qrels'} convert`.",
            source=content.name,
        )


def _topics(queries: Any) -> set[str]:
    return set(read_queries(queries) if isinstance(queries, (str, os.PathLike)) else map(str, queries))


class _Task:
    """The repair of one file."""

    def __init__(
        self,
        kind: Kind,
        source: Source,
        output: str,
        policies: tuple[Chosen, ...],
        others: Ids | None,
        reading: Reading,
    ) -> None:
        _refuse_output(source, output)
        self._kind, self._source, self._output, self._policies = kind, source, output, policies
        self._origin, self._reading, self._gathered = Origin(source), reading, False
        with self._origin.open() as content:
            self._form = _format(content, kind, reading)
            self._layout = LAYOUTS[kind][self._form]
            _refuse_other_columns(content, kind, self._layout, reading)
        if any(each.name == "ranks" for each in policies) and "rank" not in self._layout:
            raise InputError(
                f"policy 'ranks' needs a rank column, and {self._form} runs have none.", source=str(source)
            )
        self._writes = self._rewritings(others)

    def run(self, score: Score | None, *, metadata: bool) -> Repairs:
        """Write the copy and list what was done."""
        if not self._policies:
            return Repairs(self._output, self._copy((), self._output).made())
        with TemporaryDirectory() as folder:
            body = os.path.join(folder, "copy")
            values = [] if score is None else [score(self._readable(folder), self._reading)]
            for end in range(1, len(self._policies) + 1) if score is not None else [len(self._policies)]:
                mender = self._copy(self._policies[:end], body)
                values += [] if score is None else [score(body, self._reading.in_format(self._form))]
            applied = tuple(self._applied(place, mender, values) for place in range(len(self._policies)))
            repairs = Repairs(self._output, mender.made(), applied)
            if metadata:
                header = appended(read_header(body), "repairs", self._record(repairs))
                write_with_metadata(body, {"raw": header, "why": ""}, self._output)
            else:
                with Origin(body).open() as content:
                    write_blocks(self._output, content.blocks())
        return repairs

    def _copy(self, policies: tuple[Chosen, ...], target: str) -> Mender:
        """Write a copy with these policies; starts again if the queries are not grouped together."""
        while True:
            mender = Mender(self._layout, self._kind, policies, self._writes, gathered=self._gathered)
            with self._origin.open() as content:
                try:
                    write_blocks(target, mender.blocks(content))
                except Interleaved:
                    self._gathered = True
                else:
                    return mender

    def _readable(self, folder: str) -> str:
        """The path of the source; of a copy if it is standard input or a pipe."""
        if self._source != STDIN and os.path.isfile(self._source):
            return os.fspath(self._source)
        path = os.path.join(folder, "source")
        with self._origin.open() as content:
            write_blocks(path, content.blocks())
        return path

    def _rewritings(self, others: Ids | None) -> dict[str, dict[str, Write]]:
        """How each policy about ids rewrites columns: all, or those in which more ids then match the other files."""
        asked = [each for each in self._policies if each.name == "ids"]
        if others is None or not asked:
            return {each.label: dict.fromkeys(ID_WORDS, _write(each, None)) for each in asked}
        with self._origin.open() as content:
            ours = Mender(self._layout, self._kind, self._policies).ids(content)
        found: dict[str, dict[str, Write]] = {}
        for each in asked:
            for role, theirs in others.items():
                write = _write(each, theirs if "doc" in others else None)
                rewritten = set(map(write, ours[role]))
                if len(rewritten & theirs) > len(ours[role] & theirs):
                    found.setdefault(each.label, {})[role] = write
                    ours[role] = rewritten
        return found

    def _applied(self, place: int, mender: Mender, values: list[float | None]) -> Applied:
        policy = self._policies[place]
        words = " and ".join(ID_WORDS[role] for role in self._writes.get(policy.label, ())) or "ids"
        words = words.replace("query ids and", "query and")
        repair = mender.repair(policy.label, policy.what.replace(IDS, words))
        if not values:
            return Applied(policy.label, repair)
        return Applied(policy.label, repair, DEFAULT_MEASURES[0], values[place], values[place + 1])

    def _record(self, repairs: Repairs) -> dict[str, Any]:
        """What was done to which file, for the header of the copy."""
        record: dict[str, Any] = {"software": f"assay {__version__}", "source": _identity(self._source)}
        record["policies"] = [
            {"policy": each.policy, "lines": each.repair.count}
            | ({} if each.measure is None else {"measure": each.measure, "before": each.before, "after": each.after})
            for each in repairs.policies
        ]
        if repairs.made:
            record["others"] = [{"what": repair.what, "lines": repair.count} for repair in repairs.made]
        return record


def _write(policy: Chosen, theirs: set[str] | None) -> Write:
    """How a policy rewrites the ids of a column; `theirs` are those of the judgments, if there are any."""
    if policy.rewriting is not None:
        return policy.rewriting.write
    if theirs is None:
        raise InputError(f"policy {policy.label} writes the ids of a run as in the judgments. Give them with `qrels=`.")
    return as_written(theirs)


def _identity(source: Source) -> dict[str, str]:
    if source == STDIN:
        return {"path": "standard input"}
    path = os.fsdecode(source)
    shown = Secrets().hide(path)
    if not os.path.isfile(path):
        return {"path": shown}
    with open(path, "rb") as file:
        return {"path": shown, "sha256": hashlib.file_digest(file, "sha256").hexdigest()}


def _refuse_output(source: Source, target: str) -> None:
    if not isinstance(source, (str, os.PathLike)):
        raise InputError(f"only files can be repaired: pass a path, not a value of type {type(source).__name__}.")
    if source != STDIN and os.path.exists(target) and os.path.samefile(source, target):
        raise InputError("the repaired copy would overwrite the original. Choose another name.", source=target)
    if target.endswith(COMPRESSION_SUFFIXES):
        raise InputError(
            "repaired copies are not compressed. Choose a name without this suffix, and compress the file afterwards.",
            source=target,
        )


def _format(content: Content, kind: Kind, reading: Reading) -> str:
    """The format of a file in columns; any other is refused, since a copy keeps what it does not repair byte for byte."""
    name = reading.input_format
    if name == AUTO and wide_encoding(content.head) is None:
        try:
            name = detect_format(content, kind, FORMATS, reading)
        except InputError:
            refuse_other_files(content)
            name = "trec"
    name = "trec" if name == AUTO else name
    if name not in LAYOUTS[kind]:
        raise InputError(
            f"only text in columns can be repaired, and this is {name}. "
            f"Convert it first with `assay {'runs' if kind == 'run' else 'qrels'} convert`.",
            source=content.name,
        )
    return name
