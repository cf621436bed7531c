"""The table of cases: the data, the tools and how they evaluate it. Runs nothing.

The first contestant of a case is ours, with which the others are compared. All of them compute P@10, R@100, AP, RR,
nDCG@10 and nDCG@100 for each query, and the means.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from datasets import FOLDER, GROWTH_LINES, Dataset
from environments import OURS

PROGRAMS = Path(__file__).resolve().parent / "programs"
MEASURES = ("P@10", "R@100", "AP", "RR", "nDCG@10", "nDCG@100")
WARM_BUDGET = 0.3  # seconds for which a warm program repeats its work in each run
PEERS = ("pytrec_eval", "ir_measures", "ranx")
SLOWEST_GROWTH = 10_000_000  # most lines for pytrec_eval: with more, it needs over 3 GB

# python, data and the file for the values ("-": none) -> words of the command
Command = Callable[[str, Dataset, str], list[str]]


@dataclass(frozen=True)
class Contestant:
    """A tool in a case: a name, an environment, a command, and how its values are checked (see contest.py)."""

    name: str
    environment: str
    command: Command
    check: str | None = None
    environ: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """Contestants that do the same work on the same data."""

    name: str
    group: str
    dataset: str
    contestants: tuple[Contestant, ...]
    mode: str = "full"  # short: also in the short bench; only-short; large; growth
    warm: bool = False  # the programs time themselves

    @property
    def ours(self) -> Contestant:
        return self.contestants[0]


def whole(program: str, *options: str) -> Command:
    """A whole process, from files to values."""
    return lambda python, data, kept: [python, str(PROGRAMS / program), *options, kept, data.qrels, *data.runs]


def warm(program: str, act: str) -> Command:
    """A process that repeats its work and times itself."""
    return whole(program, act, str(WARM_BUDGET))


def command_line(python: str, data: Dataset, kept: str) -> list[str]:
    """`assay evaluate`, with its report in a file."""
    measures = [word for name in MEASURES for word in ("-m", name)]
    report = str(FOLDER / "report.json") if kept == "-" else kept
    files = [data.qrels, *data.runs]
    return [assay_of(python), "evaluate", *files, *measures, "--threads", "1", "--format", "json", "-o", report]


def diff_command(python: str, data: Dataset, kept: str) -> list[str]:
    """`assay runs diff` of the two runs, with its report in a file."""
    report = str(FOLDER / "diff.txt")
    return [assay_of(python), "runs", "diff", *data.runs, "--threads", "1", "-o", report]


def on_many(command: str, *options: str) -> Command:
    """`assay COMMAND` of all runs, by three measures."""
    measures = ("-m", "nDCG@10", "-m", "AP", "-m", "P@10")
    return lambda python, data, _: [assay_of(python), command, data.qrels, *data.runs, *measures, *options]


def assay_of(python: str) -> str:
    """The command next to an interpreter."""
    return str(Path(python).parent / "assay")


def plain(*words: str) -> Command:
    """A fixed command; {python}, {assay}, {run}, {qrels} and {out}, a folder for results, are filled in."""

    def command(python: str, data: Dataset, _: str) -> list[str]:
        known = {"python": python, "assay": assay_of(python), "run": data.runs[0], "qrels": data.qrels, "out": FOLDER}
        return [word.format(**known) for word in words]

    return command


NUMPY_PATH = {"ASSAY_NATIVE": "0"}
BLAS_THREADS = {"OPENBLAS_NUM_THREADS": str(os.cpu_count())}  # NumPy's default
ASSAY = Contestant("assay", OURS, whole("assay_files.py", "1"), "reference")
ASSAY_2 = Contestant("assay, 2 threads", OURS, whole("assay_files.py", "2"), "all")
ASSAY_BLAS = Contestant("assay, BLAS threads", OURS, whole("assay_files.py", "1"), "all", BLAS_THREADS)
ASSAY_NUMPY = Contestant("assay, NumPy path", OURS, whole("assay_files.py", "1"), "all", NUMPY_PATH)
ASSAY_COMMAND = Contestant("assay, command line", OURS, command_line, "means")
PYTREC_EVAL = Contestant("pytrec_eval", "pytrec_eval", whole("pytrec_eval_files.py"), "all")
IR_MEASURES = Contestant("ir_measures", "ir_measures", whole("ir_measures_files.py"), "all")
RANX = Contestant("ranx", "ranx", whole("ranx_files.py"), "untied")
ASSAY_DIFF = Contestant("assay, runs diff", OURS, diff_command)
ASSAY_BOTH = Contestant("assay, evaluating both", OURS, command_line)
WC = Contestant("wc -l", OURS, plain("wc", "-l", "{run}"))


CHUNKS_TO_DOCUMENTS = "^(.+)#"
ON_A_FILE = (
    Contestant("assay, evaluate", OURS, command_line),
    Contestant("assay, runs validate", OURS, plain("{assay}", "runs", "validate", "{run}", "-o", "{out}/found.txt")),
    Contestant("assay, runs info", OURS, plain("{assay}", "runs", "info", "{run}")),
    Contestant("assay, runs convert", OURS, plain("{assay}", "runs", "convert", "{run}", "-o", "{out}/run.tsv")),
    Contestant(
        "assay, runs collapse",
        OURS,
        plain("{assay}", "runs", "collapse", "{run}", "--regex", CHUNKS_TO_DOCUMENTS, "-o", "{out}/documents.run"),
    ),
    Contestant("assay, conventions", OURS, plain("{assay}", "conventions", "{qrels}", "{run}")),
)
ON_MANY_RUNS = (
    Contestant("assay, evaluate", OURS, on_many("evaluate")),
    Contestant(
        "assay, all pairs",
        OURS,
        on_many("compare", "--all-pairs", "--format", "json", "-o", str(FOLDER / "pairs.json")),
    ),
    Contestant("assay, reports", OURS, on_many("evaluate", "--report", str(FOLDER / "reports"))),
)


def in_warm_process(act: str) -> tuple[Contestant, Contestant]:
    """Ours and pytrec_eval repeating the same work."""
    return (
        Contestant("assay", OURS, warm("assay_warm.py", act), "reference"),
        Contestant("pytrec_eval", "pytrec_eval", warm("pytrec_eval_warm.py", act), "all"),
    )


def from_dicts() -> tuple[Contestant, ...]:
    """Evaluate a dict with a prepared evaluator and, for information, with a new one each time."""
    with_construction = [
        Contestant(f"{one.name}, with construction", one.environment, one.command, "all")
        for one in in_warm_process("dicts_with_construction")
    ]
    return (*in_warm_process("dicts"), *with_construction)


def importing(package: str, environment: str) -> Contestant:
    """An interpreter that imports a package and exits."""
    return Contestant(f"import {package}", environment, plain("{python}", "-c", f"import {package}"))


FILES = "Whole process, from files"
WARM = "Inside a warm process"
COMMANDS = "Other commands, whole process"
START = "Start-up, whole process"
GROWTH = "Growth"

CASES: tuple[Case, ...] = (
    Case("S", FILES, "S", (ASSAY, ASSAY_BLAS, ASSAY_NUMPY, PYTREC_EVAL, IR_MEASURES, RANX, WC), mode="short"),
    Case(
        "M",
        FILES,
        "M",
        (ASSAY, ASSAY_2, ASSAY_BLAS, ASSAY_NUMPY, ASSAY_COMMAND, PYTREC_EVAL, IR_MEASURES, RANX, WC),
    ),
    Case("M2", FILES, "M2", (ASSAY, ASSAY_2, PYTREC_EVAL, IR_MEASURES, RANX)),
    Case("L", FILES, "L", (ASSAY, ASSAY_2, PYTREC_EVAL, IR_MEASURES, RANX, WC), mode="large"),
    Case("M shuffled", FILES, "M-shuffled", (ASSAY, ASSAY_2, PYTREC_EVAL)),
    Case("M equal scores", FILES, "M-equal", (ASSAY, ASSAY_2, PYTREC_EVAL)),
    Case("M gzip", FILES, "M-gzip", (ASSAY, ASSAY_2, PYTREC_EVAL)),
    Case("M diff", FILES, "M-changed", (ASSAY_DIFF, ASSAY_BOTH)),
    Case("other commands", COMMANDS, "chunks", ON_A_FILE),
    Case("many runs", COMMANDS, "many", ON_MANY_RUNS),
    Case("S warm", WARM, "S", in_warm_process("files"), mode="short", warm=True),
    Case("M tenth warm", WARM, "M-tenth", in_warm_process("files"), mode="only-short", warm=True),
    Case("S dicts", WARM, "S", from_dicts(), mode="short", warm=True),
    Case("M tenth dicts", WARM, "M-tenth", in_warm_process("dicts"), mode="only-short", warm=True),
    Case("M dicts", WARM, "M", from_dicts(), warm=True),
    Case("S Arrow", WARM, "S", (Contestant("assay", OURS, warm("assay_warm.py", "arrow"), "reference"),), warm=True),
    Case("M Arrow", WARM, "M", (Contestant("assay", OURS, warm("assay_warm.py", "arrow"), "reference"),), warm=True),
    Case("first evaluation", START, "tiny", (ASSAY, ASSAY_COMMAND, PYTREC_EVAL, IR_MEASURES, RANX)),
    Case("assay --version", START, "tiny", (Contestant("assay", OURS, plain("{assay}", "--version")),)),
    Case(
        "import",
        START,
        "tiny",
        (
            importing("assay", OURS),
            importing("numpy", OURS),
            *(importing(peer, peer) for peer in PEERS),
            Contestant("python alone", OURS, plain("{python}", "-c", "pass")),
        ),
    ),
    *(
        Case(
            f"growth {lines}",
            GROWTH,
            f"growth-{lines}",
            (ASSAY, ASSAY_2, *([PYTREC_EVAL] if lines <= SLOWEST_GROWTH else [])),
            mode="growth",
        )
        for lines in GROWTH_LINES
    ),
)
