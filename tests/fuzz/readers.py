"""What is fuzzed: each reader with its seeds, and what to do with an input.

A reader gives a value or an `AssayError`. The kernel and NumPy must give the same value, to the last bit, or the same error,
to the last letter; where the plain part of a format is met, a third implementation (reference.py) must agree, too.
Anything else is a finding.
"""

from __future__ import annotations

import io
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from msgspec import Struct
from pyarrow import parquet

from assay import Evaluator, Rules, native
from assay.benchmark.recipe import read_recipe
from assay.collections import check_collection, open_collection
from assay.collections.columns import parse_collection_columns, parse_files
from assay.compat import pytrec_eval, trec_eval
from assay.errors import AssayError, FetchError
from assay.evaluation import Coverage
from assay.fetching.apis import api_names, known_apis
from assay.fetching.server import HttpSystem
from assay.fetching.settings import Settings, make_api, read_settings
from assay.fetching.templates import fill
from assay.formats.numbers import parse_grades
from assay.formats.readings import Reading
from assay.formats.unread import open_run, read_judgments
from assay.gate.baselines import open_report, side_of_report
from assay.gate.grammar import parse_rule
from assay.gate.ledger import read_ledger
from assay.http.connection import Failure, Response
from assay.inputs.chunks import read_chunks
from assay.inputs.documents import read_documents
from assay.inputs.queries import Query, read_queries
from assay.inputs.query_logs import read_query_log
from assay.inputs.query_weights import read_query_weights
from assay.inputs.scores import read_scores
from assay.inputs.segments import read_segments
from assay.marking import judge
from assay.measures import parse_measures
from assay.native.index import Layout
from assay.records.manifest import parse_settings
from assay.records.storing import MANIFEST_FILE, REPORT_FILE
from assay.records.targets import read_targets
from assay.records.verifying import verify
from assay.validation.fixing import fix_qrels, fix_run
from assay.validation.policies import parse_policies
from assay.validation.validating import validate_qrels, validate_run
from fuzz import reference, values

SEEDS = Path(__file__).resolve().parent / "seeds"
MEASURES = [request.measure for request in parse_measures(reference.MEASURES)]
CLOSE = 1e-12

GRADES = {
    "q1": {"d1": 1, "d2": 0, "d3": 2, "d4": -1, "é": 1},
    "q2": {"d1": 3, "d5": 1, "d10": 0},
    "q3": {"d2": 0},
}
RUN = {
    "q1": {"d3": 4.0, "d2": 3.0, "d1": 3.0, "x": 1.0, "d4": 0.5},
    "q2": {"d5": 1.0, "d9": 1.0, "d1": -1.0},
    "unjudged": {"d1": 1.0},
}
GRADE_ROWS = [
    reference.Judgment(q.encode(), d.encode(), float(n)) for q, found in GRADES.items() for d, n in found.items()
]
RUN_ROWS = [reference.Retrieved(q.encode(), d.encode(), n) for q, found in RUN.items() for d, n in found.items()]

# How to evaluate; an input chooses one. The third implementation knows the first three.
RULES = (
    Rules(),
    Rules(ties="doc-asc"),
    Rules(ties="input", duplicates="first"),
    Rules(ties="doc-asc", scores="float32", self_match="drop"),
    Rules(duplicates="best", judges="mean", depth=3),
    Rules(order="rank", duplicates="first", queries="both"),
    Rules(ties="rank-column", duplicates="best", scores="float32"),
    Rules(queries="strict"),
)
KNOWN_RULES = 3


class Way(Struct, frozen=True):
    """How to evaluate an input."""

    rules: Rules = Rules()
    input_format: str = "auto"
    threads: int = 1

    @property
    def is_known(self) -> bool:
        """Whether the third implementation knows these rules."""
        return self.rules in RULES[:KNOWN_RULES]


def ways(formats: tuple[str, ...] = ("auto",), threads: tuple[int, ...] = (1,)) -> tuple[tuple[str, Way], ...]:
    """All ways to evaluate an input as run or as judgments."""
    return tuple(
        (kind, Way(rules, input_format, count))
        for rules in RULES
        for kind in ("qrels", "run")
        for input_format, count in zip(formats, threads, strict=True)
    )


class Difference(Exception):
    """Two implementations do not agree, or a promise is broken."""


class Reader(Struct, frozen=True):
    """Something that reads input of one kind."""

    name: str
    act: Callable[[Desk, bytes, int], Any]  # what came out, in short
    ways: int  # to read an input; each gives another number to `act`
    seeds: tuple[str, ...] = ()  # folders of other readers whose seeds are also for this one
    tokens: tuple[bytes, ...] = ()
    made: Callable[[Desk], Iterable[bytes]] = lambda desk: ()  # seeds that are made rather than kept


class Desk:
    """A folder for input, with what is needed beside it."""

    def __init__(self, folder: Path, *, always_in_full: bool = False) -> None:
        self.folder = folder
        self._always_in_full = always_in_full
        self._prepared: dict[Any, Any] = {}

    def file(self, name: str, data: bytes) -> Path:
        path = self.folder / name
        path.write_bytes(data)
        return path

    def in_full(self, data: bytes) -> bool:
        """Whether to compute measures, too, which take most of the time; else an input is only ranked and judged."""
        return self._always_in_full or (zlib.crc32(data) >> 16) % 6 == 0

    def remember(self, key: Any, make: Callable[[], Any]) -> Any:
        if key not in self._prepared:
            self._prepared[key] = make()
        return self._prepared[key]


# Both paths, and the third implementation


def outcome(act: Callable[[], Any]) -> Any:
    """The result, or the refusal in its words."""
    try:
        return act()
    except AssayError as error:
        if not str(error).strip():
            raise Difference(f"{type(error).__name__} without a message") from error
        return f"{type(error).__name__}: {error}"


def on_both_paths(act: Callable[[], Any]) -> Any:
    """The outcome with the kernel, which must be that of NumPy."""
    if native.kernel is None:
        return outcome(act)
    as_before = native.turned_off
    try:
        native.turned_off = False
        found = outcome(act)
        native.turned_off = True
        expected = outcome(act)
    finally:
        native.turned_off = as_before
    if found != expected:
        raise Difference(f"\n  kernel {found!s:.1500}\n  NumPy  {expected!s:.1500}")
    return found


class Evaluated(Struct, frozen=True):
    """All that an evaluation says."""

    queries: tuple[str, ...]
    values: bytes
    coverage: Coverage
    tag: str


class Ranked(Struct, frozen=True):
    """All that measures know of a run and its judgments."""

    queries: tuple[str, ...]
    columns: tuple[bytes, ...]
    missing: tuple[str, ...]
    unjudged: tuple[str, ...]
    tag: str


def evaluation(desk: Desk, kind: str, value: Any, way: Way, *, in_full: bool) -> Evaluated | Ranked:
    """An evaluation in which the value is the run or the judgments."""
    rules, reading = way.rules, Reading(way.input_format)
    if kind == "run":
        key = rules, native.enabled(), way.threads
        evaluator = desk.remember(
            key, lambda: Evaluator(GRADES, MEASURES, rules, threads=way.threads, unmatched="zero")
        )
        judgments, run = evaluator.judgments, open_run(value, reading)
    elif in_full:
        evaluator = Evaluator(value, MEASURES, rules, reading=reading, threads=way.threads, unmatched="zero")
        judgments, run = evaluator.judgments, RUN
    else:
        judgments, run = read_judgments(value, reading, judges=rules.judges), open_run(RUN)
    if in_full:
        result = evaluator.evaluate(run)
        return Evaluated(result.queries, result.values.tobytes(), result.coverage, result.tag)
    judged = judge(judgments, run, rules, threads=way.threads)
    arrays = (
        judged.retrieved,
        judged.hit_query,
        judged.hit_rank,
        judged.hit_tie_first,
        judged.hit_tie_last,
        judged.hit_judgment,
    )
    columns = tuple(array.astype(np.int64).tobytes() for array in arrays)
    floats = judged.hit_rel.tobytes(), judgments.rel.tobytes(), judgments.pool.grade.tobytes()
    return Ranked(judged.queries, (*columns, *floats), judged.missing, judged.unjudged, judged.tag)


def compare_with_reference(found: Any, kind: str, rules: Rules, read: Callable[[], Any]) -> str:
    """Hold an outcome against the third implementation; says whether that was sure."""
    try:
        rows = read()
        judgments, run = (rows, RUN_ROWS) if kind == "qrels" else (GRADE_ROWS, rows)
        expected = reference.values(judgments, run, rules.ties, rules.duplicates)
    except reference.NotSure:
        return "not sure"
    except reference.Refused:
        if isinstance(found, Evaluated):
            raise Difference(f"the third implementation refuses this; assay gives {found!s:.1000}") from None
        return "refused"
    if not isinstance(found, Evaluated):
        raise Difference(f"the third implementation gives values; assay: {found!s:.1000}")
    numbers = np.frombuffer(found.values).reshape(len(found.queries), -1)
    same = list(expected) == [query.encode("utf-8", "surrogateescape") for query in found.queries]
    if not same or not np.allclose(np.array(list(expected.values())), numbers, rtol=CLOSE, atol=CLOSE):
        raise Difference(f"the third implementation gives {expected}; assay {found.queries}, {numbers.tolist()}")
    return "values"


# Files of qrels and runs


def _file_reader(
    name: str, *, also: tuple[str, ...] = (), tokens: tuple[bytes, ...] = (), made: Any = lambda desk: ()
) -> Reader:
    choices = ways((name, "auto", name), (1, 1, 2))

    def act(desk: Desk, data: bytes, number: int) -> Any:
        kind, way = choices[number]
        path, in_full = desk.file("input", data), desk.in_full(data)
        found = on_both_paths(lambda: evaluation(desk, kind, path, way, in_full=in_full))
        if not in_full or not way.is_known or way.input_format == "auto" or name not in reference.READERS:
            return found
        read = reference.READERS[name][kind == "run"]
        return found, compare_with_reference(found, kind, way.rules, lambda: read(data))

    return Reader(name, act, len(choices), also, tokens, made)


_TREC_TOKENS = (b"q1 Q0 d1 1 1.5 t\n", b"q1 0 d1 1\n", b"q2 0 d5 1\n", b"q1 d1 1\n", b"q1 Q0 q1 1 2 t\n", b" Q0 ")
_NAMES = (
    b"query_id",
    b"doc_id",
    b"score",
    b"relevance",
    b"rank",
    b"tag",
    b"qid",
    b"docno",
    b"query",
    b"id",
    b"iteration",
)
_JSON_TOKENS = (
    *(b'"%s": ' % name for name in _NAMES),
    *(b'{"q1": {"d1": 1}}', b'"d1": 2', b'"d1"', b", ", b"\\ud800", b"\\u0000", b"[[]]", b"[" * 200, b'{"a":' * 200, b"{}", b"[]"),
    *(b'"hits": {"hits": [', b'"_id"', b'"_score"', b'"results"', b'"judgments"', b'"ratings"', b'"relevant"', b'"docs"', b"1" * 5000),
)  # fmt: skip


def _arrow_seeds(write: Callable[[Any, Any], None]) -> Callable[[Desk], Iterable[bytes]]:
    """Files as the installed version of Arrow writes them, of several types."""

    def made(desk: Desk) -> Iterable[bytes]:
        for number in ("score", "relevance", "rank"):
            for kind, encode in ((pa.string(), False), (pa.large_string(), False), (pa.string(), True)):
                rows = [("q1", "d1", 2), ("q1", "d3", 1), ("q2", "d5", 1)]
                ids = [pa.array([row[place] for row in rows], kind) for place in (0, 1)]
                columns = [column.dictionary_encode() if encode else column for column in ids]
                numbers = pa.array([row[2] for row in rows], pa.float64() if number == "score" else pa.int32())
                held = io.BytesIO()
                write(pa.Table.from_arrays([*columns, numbers], names=["query_id", "doc_id", number]), held)
                yield held.getvalue()

    return made


def _write_stream(table: Any, file: Any) -> None:
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)


def _write_file(table: Any, file: Any) -> None:
    with pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)


def _both_arrows(desk: Desk) -> Iterable[bytes]:
    yield from _arrow_seeds(_write_stream)(desk)
    yield from _arrow_seeds(_write_file)(desk)


def _some_parquets(desk: Desk) -> Iterable[bytes]:
    yield from _arrow_seeds(parquet.write_table)(desk)
    yield from _arrow_seeds(
        lambda table, file: parquet.write_table(table, file, compression="none", use_dictionary=False)
    )(desk)


# Values of Python


_WAYS = ways()


def _judge_value(
    desk: Desk, data: bytes, make: Callable[[str], Any], number: int, rows: Callable[[Any, str], Any]
) -> Any:
    """Evaluate a value that is made anew each time: a generator can be read only once."""
    kind, way = _WAYS[number]
    name = "relevance" if kind == "qrels" else "score"
    in_full = desk.in_full(data)
    found = on_both_paths(lambda: evaluation(desk, kind, make(name), way, in_full=in_full))
    if not in_full or not way.is_known:
        return found
    row = reference.Judgment if kind == "qrels" else reference.Retrieved
    return found, compare_with_reference(
        found, kind, way.rules, lambda: [row(*each) for each in rows(make(name), name)]
    )


def _dicts(desk: Desk, data: bytes, number: int) -> Any:
    if number < len(_WAYS):
        return _judge_value(
            desk, data, lambda _: values.by_query(data), number, lambda made, _: reference.python_rows(made)
        )
    pair = (GRADES, values.by_query(data)) if number % 2 else (values.by_query(data), RUN)
    return on_both_paths(lambda: _as_pytrec_eval(*pair))


def _as_pytrec_eval(grades: Any, run: Any) -> Any:
    """The stand-in for pytrec_eval; like the package, it raises TypeError and ValueError."""
    try:
        return sorted(pytrec_eval.RelevanceEvaluator(grades, {"map", "ndcg", "num_ret", "bpref"}).evaluate(run).items())
    except (TypeError, ValueError) as error:
        if not isinstance(error, AssayError):
            raise
        return f"{type(error).__name__}: {error}"


def _rows(desk: Desk, data: bytes, number: int) -> Any:
    return _judge_value(
        desk, data, lambda name: values.rows(data, name), number, lambda made, _: reference.python_rows(made)
    )


def _tables(desk: Desk, data: bytes, number: int) -> Any:
    table = values.arrow_table(data, "relevance" if _WAYS[number][0] == "qrels" else "score")
    return _judge_value(desk, data, lambda _: table, number, reference.arrow_rows)


def _frames(desk: Desk, data: bytes, number: int) -> Any:
    kind, way = _WAYS[number]
    table = values.arrow_table(data, "relevance" if kind == "qrels" else "score")
    try:
        frame = table.to_pandas() if number % 2 else _polars(table)
    except Exception:  # of the other library: it cannot hold such a table
        return "no frame"
    return on_both_paths(lambda: evaluation(desk, kind, frame, way, in_full=desk.in_full(data)))


def _polars(table: Any) -> Any:
    import polars

    return polars.from_arrow(table)


# The kernel's own functions


def _kernel(desk: Desk, data: bytes, way: int) -> Any:
    """The functions of the kernel with arguments of any kind: a value or an error of Python, but no crash."""
    if native.kernel is None:
        return "not built"
    given = values.Bytes(data)
    kernel, judgments = native.kernel, desk.remember("judgments", lambda: Evaluator(GRADES, MEASURES).judgments)
    good = (0, 2, 4, 3, 5, 6, 0, 1, 1, 0, 0, 0, 0, 0)
    layout = tuple(given.number(9) - 1 if given.rarely() else number for number in good)
    rules = tuple(given.number(4) if given.rarely() else number for number in (0, 0, 0, 0, 0, 0))
    text = b"q1 0 d1 1\nq2 0 d2 0\n" if given.rarely() else bytes(data)
    pieces = [text[place : place + 7] for place in range(0, len(text), 7)]

    def read(size: int) -> Any:
        piece = pieces.pop(0) if pieces else b""
        return given.pick((None, "text", b"x" * (size + 1), bytearray(b"x"), 5)) if given.rarely() else piece

    def odd(usual: Any) -> Any:
        return (
            given.pick((None, 0, -1, "x", b"", (), [], {}, object(), np.zeros(3), desk, 2**70))
            if given.rarely()
            else usual
        )

    handle = judgments.index._handle
    docs, place = judgments.doc_list, judgments.place
    places = np.array([given.number(6) - 2 for _ in range(5)])
    ids = np.array([given.pick(values.ODD_IDS) if given.rarely() else "d1" for _ in range(5)], object)
    table = values.arrow_table(data[8:], "score")
    calls: tuple[tuple[str, Callable[[], tuple[Any, ...]]], ...] = (
        ("read_judgments", lambda: (read, (0, 2, 3, -1, -1, 4, *layout[6:]))),
        ("join_text", lambda: (handle, read, layout, rules, given.number(2))),
        ("join_table", lambda: (handle, places, ids, np.ones(given.number(7)), None, rules)),
        ("join_table", lambda: (handle, places, np.zeros(5, np.int64), np.ones(5), np.arange(given.number(7)), rules)),
        (
            "join_arrow",
            lambda: (handle, table.__arrow_c_stream__(), (0, 1, 2, given.number(5) - 1, *layout[4:]), rules),
        ),
        ("join_dict", lambda: (kernel.dict_index(handle, docs, place, (float, int)), values.by_query(data[8:]), rules)),
        ("dict_index", lambda: (handle, odd(docs), odd(place), odd((float,)))),
        (
            "index_judgments",
            lambda: (("q1", "q2"), np.array([0, given.number(4), given.number(9)][: given.number(4)]), odd(docs)),
        ),
        ("documents", lambda: (handle,)),
        ("exact_sum", lambda: (np.frombuffer(data[: len(data) // 8 * 8]),)),
    )
    name, arguments = calls[way % len(calls)]
    try:
        given_arguments = tuple(odd(argument) for argument in arguments())
        result = getattr(kernel, name)(*given_arguments)
    except (TypeError, ValueError, OverflowError, SystemError, LookupError) as error:
        return name, type(error).__name__
    return name, type(result).__name__


# Text in other forms


def _text(desk: Desk, data: bytes, way: int) -> Any:
    """All small grammars: measures, rules of the gate, grades, settings, columns, policies."""
    text = data.decode("utf-8", "surrogateescape")
    parsers: tuple[Callable[[str], Any], ...] = (
        *(
            lambda text: [str(request.measure) for request in parse_measures([text])],
            lambda text: str(parse_rule(text)),
        ),
        *(parse_grades, lambda text: parse_settings([text]), lambda text: parse_collection_columns([text])),
        *(lambda text: parse_files([text]), lambda text: sorted(parse_policies([text]))),
    )
    return outcome(lambda: parsers[way](text))


def _path_reader(
    name: str, read: Callable[[Path], Any], tokens: tuple[bytes, ...], also: tuple[str, ...] = ()
) -> Reader:
    def act(desk: Desk, data: bytes, way: int) -> Any:
        return outcome(lambda: read(desk.file("input", data)))

    return Reader(name, act, 1, also, tokens)


def _api_settings(desk: Desk, data: bytes, way: int) -> Any:
    """Settings in TOML, or a template in JSON, and the requests that they make."""
    name = api_names()[way % len(api_names())]
    path = str(desk.file("input", data))

    def made() -> str:
        is_settings = way < len(api_names())
        api = make_api(name, read_settings(path) if is_settings else Settings(), None if is_settings else path)
        system = HttpSystem("http://127.0.0.1:9", api, name)
        return (
            str(fill([api.body, api.parameters], {"query": '"{{', "query_id": "q", "top_k": 3, "mode": None}))
            + system.place
        )

    return outcome(made)


def _answers(desk: Desk, data: bytes, way: int) -> Any:
    """What a server answers to one query, or to two."""
    names = list(known_apis())
    name = names[way % len(names)]
    asker = desk.remember(name, lambda: ExitStack().enter_context(_system(name).open()))
    asker.connection.send = lambda *_, **__: Response(200, {}, data)

    def asked() -> list[str]:
        try:
            found = asker.ask(
                [Query("q1", "x"), Query("q2", "y")][: min(1 + way // len(names), _system(name).most_at_once)], 3
            )
        except Failure as failure:
            raise FetchError(failure.reason) from None
        return [str(each) for each in found.values()]

    return outcome(asked)


def _system(name: str) -> HttpSystem:
    return HttpSystem("http://127.0.0.1:9", make_api(name, Settings(), None), name, batch=2)


def _recorded(desk: Desk) -> Path:
    """A folder with a report, made by the command."""

    def make() -> Path:
        desk.file("a.qrels", b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d1 1\n")
        desk.file("a.run", b"q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\nq2 Q0 d1 1 1.0 t\n")
        command = ["evaluate", "a.qrels", "a.run", "-m", "AP", "-m", "RR", "--report", "report"]
        code = "from assay.cli import main; main()"
        subprocess.run([sys.executable, "-c", code, *command], check=True, capture_output=True, cwd=desk.folder)
        return desk.folder / "report"

    kept: Path = desk.remember("report", make)
    return kept


def _records(desk: Desk, data: bytes, way: int) -> Any:
    """The manifest or the report, verified, or taken as the baseline of a gate."""
    folder = _recorded(desk)
    name = (MANIFEST_FILE, REPORT_FILE)[way % 2]
    whole = (folder / name).read_bytes()
    try:
        (folder / name).write_bytes(data)
        if way < 2:
            return outcome(lambda: [(check.kind, check.holds) for check in verify(folder).checks])
        measures = [request.measure for request in parse_measures(["AP"])]
        return outcome(lambda: side_of_report(open_report(folder), measures).queries)
    finally:
        (folder / name).write_bytes(whole)


def _record_seeds(desk: Desk) -> Iterable[bytes]:
    return [(_recorded(desk) / name).read_bytes() for name in (MANIFEST_FILE, REPORT_FILE)]


def _collection(desk: Desk, data: bytes, way: int) -> Any:
    """One of the files of a collection."""
    folder = desk.folder / "collection"
    files = {
        "corpus.jsonl": b'{"_id": "d1", "title": "Rice", "text": "Rinse it."}\n{"_id": "d2", "text": "Beans"}\n',
        "queries.jsonl": b'{"_id": "q1", "text": "how to cook rice"}\n{"_id": "q2", "text": "beans"}\n',
        "qrels/test.tsv": b"query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\n",
    }
    (folder / "qrels").mkdir(parents=True, exist_ok=True)
    changed = tuple(files)[way % 3]
    for name, text in (files | {changed: data}).items():
        (folder / name).write_bytes(text)
    if way < 3:
        return outcome(lambda: [finding.code for finding in check_collection(folder).findings])

    def opened() -> Any:
        collection = open_collection(folder)
        return len(list(collection.documents())), len(collection.queries), len(collection.qrels)

    return outcome(opened)


def _validated(desk: Desk, data: bytes, way: int) -> Any:
    """A file without errors can be evaluated, and so can what --fix writes."""
    kind = ("qrels", "run")[way % 2]
    path = desk.file("input", data)
    validate, fix = (validate_qrels, fix_qrels) if kind == "qrels" else (validate_run, fix_run)
    said = outcome(lambda: validate(path))
    if isinstance(said, str):
        return said
    codes = tuple(sorted({finding.code for finding in said.findings}))
    if said.valid:
        read = outcome(lambda: evaluation(desk, kind, path, Way(), in_full=False))
        allowed = "QuerySetError", *(["DuplicateError"] if "QRL022" in codes else [])  # judged for several subtopics
        if isinstance(read, str) and not read.startswith(allowed):
            raise Difference(f"the file is said to be valid ({codes}), but: {read}")
    if way >= 2:
        fixed = outcome(lambda: fix(path, desk.folder / "fixed"))
        if not isinstance(fixed, str):
            again = outcome(lambda: validate(desk.folder / "fixed"))
            return codes, getattr(again, "valid", again)
    return codes


def _trec_eval(desk: Desk, data: bytes, way: int) -> Any:
    """The stand-in for the program."""
    if way % 2:
        paths = (
            desk.file("input.qrels", data),
            desk.file("good.run", b"q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 1.0 t\nq2 Q0 d5 1 1 t\n"),
        )
    else:
        paths = desk.file("good.qrels", b"q1 0 d1 1\nq1 0 d2 0\nq2 0 d5 1\n"), desk.file("input.run", data)
    options = ([], ["-q"], ["-c", "--as", "9.0.8"], ["-J", "-M", "3"])[way // 2]

    def act() -> Any:
        out, errors = io.StringIO(), io.StringIO()
        code = trec_eval.main([*options, *map(str, paths)], out, errors)
        return f"{errors.getvalue()}{code} {out.getvalue()}"

    return on_both_paths(act)


_TOML_TOKENS = (
    *(b"[[mode]]\n", b'name = "x"\n', b'kind = "bm25s"\n', b"k1 = 0.9\n", b'modes = ["lexical"]\n', b"depth = 1000\n"),
    *(
        b'[measures."nDCG@10"]\n',
        b"good = 0.35\n",
        b"[columns]\n",
        b"= ",
        b'"""',
        b"'''",
        b"a.b.c = 1\n",
        b"inf",
        b"1979-05-27",
    ),
    *(
        b"1" * 5000,
        b"1" * 400,
        b"0x1F",
        b"[" * 100,
        b"{a = " * 100,
        b"true",
        b"\\u0000",
        b"\\UFFFFFFFF",
        b"\\ud800",
        b"a." * 60 + b"b = 1\n",
    ),
)
_DOCUMENT_TOKENS = (
    *_JSON_TOKENS,
    b"<DOC>\n",
    b"</DOC>\n",
    b"<DOCNO>d1</DOCNO>",
    b"<TEXT>",
    b"</TEXT>",
    b"<top>",
    b"<num> Number: 1",
    b"<title>",
)
_GRAMMAR_TOKENS = (
    *(
        b"nDCG@10",
        b"AP",
        b"P@5,10",
        b"ndcg_cut.5",
        b"(rel=2)",
        b"(gain='exp')",
        b"@",
        b">=",
        b"<=",
        b"%",
        b"RR",
        b"official",
        b"(",
    ),
    *(
        b"rbp.95",
        b"nDCG(gains={1: 2})",
        b"E=3,S=2",
        b"ids=lower",
        b"blanks=trim",
        b"corpus.id=sku",
        b"**",
        b"lambda: 0",
        b"(" * 300,
    ),
)


def _documents(path: Path) -> int:
    return sum(1 for _ in read_documents(path))


def _layout_is_complete() -> None:
    """`_kernel` writes the fields of Layout as a plain tuple."""
    if len(Layout.__struct_fields__) != 14:
        raise SystemExit("fuzz: Layout has other fields now; mend _kernel in tests/fuzz/readers.py")


_layout_is_complete()
_API_TOKENS = (
    *(
        b"hits",
        b"hits.hits",
        b"_id",
        b"_score",
        b"results",
        b"segments",
        b"segment_id",
        b"query_id",
        b"responses",
        b"docs",
    ),
    *(
        b"response",
        b"error",
        b"status",
        b"timed_out",
        b"_shards",
        b"{{query}}",
        b"{{top_k}}",
        b"$",
        b"[0]",
        b"body",
        b"id",
    ),
    *(b"parameters", b"headers", b"method", b"variable", b"prefix", b"score", b"path"),
)

READERS = {
    reader.name: reader
    for reader in (
        _file_reader("trec", tokens=_TREC_TOKENS),
        _file_reader("beir", also=("trec",), tokens=_TREC_TOKENS),
        _file_reader("msmarco", also=("trec", "beir"), tokens=_TREC_TOKENS),
        _file_reader("csv", tokens=(*_NAMES, b"q1,d1,1\n")),
        _file_reader("tsv", tokens=(*_NAMES, b"q1\td1\t1\n")),
        _file_reader("ranklib", tokens=(b"1 qid:q1 1:0.5 # d1\n", b"qid:", b"#docid = d1", b" # ")),
        _file_reader("json", tokens=_JSON_TOKENS),
        _file_reader("jsonl", also=("json",), tokens=_JSON_TOKENS),
        _file_reader("parquet", made=_some_parquets),
        _file_reader("arrow", made=_both_arrows),
        Reader("dicts", _dicts, len(_WAYS) + 8, ("values",)),
        Reader("rows", _rows, len(_WAYS), ("values",)),
        Reader("tables", _tables, len(_WAYS), ("values",)),
        Reader("frames", _frames, len(_WAYS), ("values",)),
        Reader("kernel", _kernel, 10, ("values", "trec"), _TREC_TOKENS),
        Reader("validate", _validated, 4, ("trec", "beir", "csv", "tsv", "json"), (*_TREC_TOKENS, *_NAMES)),
        Reader("trec_eval", _trec_eval, 8, ("trec",), _TREC_TOKENS),
        Reader("grammars", _text, 7, (), _GRAMMAR_TOKENS),
        _path_reader("recipe", read_recipe, _TOML_TOKENS),
        _path_reader("targets", read_targets, _TOML_TOKENS),
        Reader("api_settings", _api_settings, 2 * len(api_names()), ("targets", "json"), (*_TOML_TOKENS, *_API_TOKENS)),
        Reader("answers", _answers, 2 * len(known_apis()), ("json",), (*_JSON_TOKENS, *_API_TOKENS)),
        Reader("records", _records, 4, (), _JSON_TOKENS, _record_seeds),
        Reader("collection", _collection, 6, ("documents", "queries", "tsv"), _DOCUMENT_TOKENS),
        _path_reader("documents", _documents, _DOCUMENT_TOKENS, ("json", "csv")),
        _path_reader("queries", read_queries, _DOCUMENT_TOKENS, ("documents", "tsv")),
        _path_reader("segments", read_segments, (*_JSON_TOKENS, *_NAMES), ("csv", "json")),
        _path_reader("chunks", read_chunks, (*_JSON_TOKENS, *_NAMES), ("tsv", "json")),
        _path_reader("scores", read_scores, (*_JSON_TOKENS, *_NAMES), ("csv", "tsv")),
        _path_reader("query_logs", read_query_log, (*_JSON_TOKENS, *_NAMES), ("csv", "tsv", "documents")),
        _path_reader("ledger", read_ledger, _JSON_TOKENS),
        _path_reader("query_weights", read_query_weights, (*_JSON_TOKENS, *_NAMES), ("csv", "tsv", "json")),
    )
}


def seeds_of(reader: Reader, desk: Desk) -> list[bytes]:
    """The kept seeds of a reader, those it shares with others, and those that are made."""
    kept = [path.read_bytes() for name in (reader.name, *reader.seeds) for path in sorted((SEEDS / name).glob("*"))]
    return [*kept, *reader.made(desk)]
