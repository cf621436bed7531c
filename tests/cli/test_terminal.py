"""No control character of a file, a name or a message reaches the screen; what goes to a pipe keeps every byte."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import click
import pytest

from assay import cli
from assay.report import comparison, diagnosis, difference, evaluation, gate, leaderboard, validation
from benchmark.collection import write_collection
from cli.command import assay, on_terminal
from cli.test_commands import all_commands

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pseudo-terminals are of Unix")

HOSTILE = [
    "\x1b[8mconcealed",
    "\x1b]0;title\x07",
    "\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2Jcleared",
    "\x9b41mC1",
    "\x90dcs\x9c",
    "bell\x07",
    "back\x08\x08\x08",
    "\u202eoverride",
    "\u2066isolate",
    "zero\u200bwidth",
    "mark\ufeff",
    "delete\x7f",
    "[red]markup[/red]",
    "[link=http://evil.example]x[/link]",
    "byte\udc9b",  # no UTF-8
]
NAME = "\x1b[8m\u202e[red]"  # of files and runs
TYPED = "\x1b[41m\x07\u2066x"  # on the command line
# Of rich: colours, except those planted above; and what its progress bars need to redraw themselves
OURS = re.compile(r"\x1b\[(?!8m|41m)[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r")


@pytest.fixture(scope="module")
def here(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    ids = [text.encode("utf-8", "surrogateescape") for text in HOSTILE]
    (folder / "qrels.txt").write_bytes(
        b"".join(b"%s 0 %s %d\n" % (q, d, (i + j) % 3) for i, q in enumerate(ids) for j, d in enumerate(ids[:6]))
    )
    for name, sign in (("one", 1), ("two", -1)):
        lines = [b"%s Q0 %s 1 %d.5 %s\n" % (q, d, sign * j, ids[0]) for q in ids for j, d in enumerate(ids[:8])]
        (folder / f"{NAME}{name}.run").write_bytes(b"".join(lines))
    (folder / "segments.csv").write_bytes(
        b"query,kind\n" + b"".join(b"%s,%s\n" % (q, ids[n % 2]) for n, q in enumerate(ids))
    )
    (folder / "queries.tsv").write_bytes(b"".join(b"%s\t%s\n" % (q, ids[0]) for q in ids))
    (folder / "map.tsv").write_bytes(b"".join(b"%s\t%s\n" % (d, d) for d in ids))
    (folder / "broken.run").write_bytes(b"".join(b"%s Q0 %s 1 %s x\n" % (q, q, q) for q in ids))
    (folder / "twice.run").write_bytes(b"%s Q0 %s 1 1 x\n" % (ids[0], ids[1]) * 2)
    (folder / "lone.json").write_text(json.dumps({"\ud800\x1b[8m": {"\r\x1b[8ma": 1.0}}))
    (folder / "scores.csv").write_bytes(b"query,%s,%s\n" % (ids[0], ids[1]) + b"".join(b"%s,1,0\n" % q for q in ids))
    (folder / "table.csv").write_text('query_id,doc_id,score\n"\x1b[8m\r","\x07\t",1.0\n', newline="")
    (folder / "plugin.py").write_text(PLUGIN)
    (folder / "broken.py").write_text(BROKEN)
    (folder / "recipe.toml").write_text('collection = "\\u001b[8m"\nmodes = ["\\u001b[8m\\u0007"]\n')
    (folder / "targets.toml").write_text('[profile]\nname = "\\u001b[8m"\n"\\u001b[8m" = 1\n')
    (folder / f"{NAME}model").mkdir()
    for name in ("config.json", "sentence_bert_config.json", "tokenizer.json", "modules.json"):
        (folder / f"{NAME}model" / name).write_text('{"model_type": "\\u001b[8m", "type": "\\u001b[8m", "\\u0007": 1}')
    (folder / f"{NAME}model" / "model.onnx").write_bytes(b"\x1b[8m")
    write_collection(folder / f"{NAME}kitchen")
    corpus = folder / f"{NAME}kitchen" / "corpus.jsonl"
    corpus.write_text(corpus.read_text() + json.dumps({"_id": "\x1b[8m", "title": "\x07", "text": "\x9b8m"}) + "\n")
    (folder / f"{NAME}kitchen" / "qrels" / "\x1b[8mx.tsv").write_text("")
    return folder


PLUGIN = r"""
import warnings
from assay import measure

warnings.warn("\x1b[8m\x07", stacklevel=1)

@measure("Shout")
def Shout(judged):
    "Number of \x1b[8mdocuments\x07.\n\nFormula: \x1b[8m the number\u202e.\n\nExample: a \x1b]0;x\x07 run: Shout = 1."
    return judged.num_found(1, 3) / 3
"""
BROKEN = r"""
from assay import Evaluator, measure

@measure("Fails")
def Fails(judged):
    "Nothing."
    raise ZeroDivisionError("\x1b[8m\x07")

def fault(*given, **named):
    raise ZeroDivisionError("\x1b[8m\x07")

Evaluator.evaluate = fault
"""
ONE, TWO = f"{NAME}one.run", f"{NAME}two.run"
BOTH = ("qrels.txt", ONE, TWO)


def formats(renderers, *command: str) -> list[tuple[str, ...]]:
    return [(*command, "--format", name) for name in renderers if name != "html"]


COMMANDS = [
    *formats(evaluation.RENDERERS, "evaluate", *BOTH, "-m", "nDCG@3", "--per-query"),
    *formats(
        comparison.RENDERERS,
        "compare",
        *BOTH,
        "-m",
        "P@3",
        "--moves",
        "4",
        "--segments",
        "segments.csv",
        "--queries",
        "queries.tsv",
        "--agreement",
    ),
    *formats(
        gate.RENDERERS, "gate", "--qrels", "qrels.txt", "--baseline", ONE, "--candidate", TWO, "--rule", "P@3 >= 0"
    ),
    *formats(diagnosis.RENDERERS, "diagnose", *BOTH, "--queries", "queries.tsv"),
    *formats(validation.RENDERERS, "runs", "validate", ONE, "--qrels", "qrels.txt"),
    *formats(validation.RENDERERS, "qrels", "validate", "qrels.txt"),
    *formats(validation.RENDERERS, "collections", "check", f"{NAME}kitchen"),
    ("runs", "validate", "broken.run"),
    ("runs", "validate", "twice.run", "--fix", f"{NAME}fixed.run", "--policy", "duplicates=first"),
    ("runs", "validate", "lone.json"),
    ("runs", "info", ONE),
    ("runs", "info", ONE, "--format", "json"),
    ("runs", "info", "table.csv"),
    ("qrels", "info", "qrels.txt"),
    *(("runs", "convert", ONE, "--to", to, "-o", "-") for to in ("trec", "beir", "msmarco", "csv", "tsv")),
    *(("qrels", "convert", "qrels.txt", "--to", to, "-o", "-") for to in ("trec", "csv")),
    ("runs", "convert", "table.csv", "--to", "jsonl", "-o", "-"),
    ("qrels", "sample", "qrels.txt", "--share", "0.5", "-o", f"{NAME}dev.csv"),
    ("queries", "sample", "table.csv", "--columns", "query=query", "--size", "6", "-o", f"{NAME}sample.tsv"),
    ("evaluate", "qrels.txt", ONE, "--query-weights", "table.csv"),
    *formats(difference.RENDERERS, "runs", "diff", ONE, TWO, "--exact", TWO, "--qrels", "qrels.txt"),
    ("runs", "fetch", "--command", f"echo {TYPED}", "--queries", "queries.tsv", "--to", "csv", "-o", "-"),
    ("runs", "fetch", "--command", f"false {TYPED}", "--queries", "queries.tsv", "-o", f"{NAME}live.run"),
    ("runs", "fuse", ONE, TWO, "--to", "trec", "-o", "-"),
    ("runs", "collapse", ONE, "--map", "map.tsv", "--to", "csv", "-o", "-"),
    *formats(leaderboard.RENDERERS, "leaderboard", *BOTH, "-m", "P@3"),
    ("leaderboard", "--collection", f"{NAME}a=qrels.txt:{NAME}*.run", "-m", "P@3"),
    ("leaderboard", "--collection", f"{TYPED}=qrels.txt:{TYPED}"),
    ("leaderboard", "--collection", TYPED),
    ("conventions", "qrels.txt", ONE, "-m", "nDCG@3"),
    ("reproduce", "0.5", "qrels.txt", ONE, "-m", "P@3"),
    ("trec_eval", "-q", "qrels.txt", ONE),
    ("trec_eval", "qrels.txt", f"{NAME}missing"),
    ("trec_eval", "-m", TYPED, "qrels.txt", ONE),
    # What goes wrong
    ("evaluate", "qrels.txt", "broken.run"),
    ("evaluate", "qrels.txt", "twice.run"),
    ("evaluate", "qrels.txt", "lone.json"),
    ("evaluate", "qrels.txt", "table.csv"),
    ("evaluate", "qrels.txt", TYPED),
    ("evaluate", "qrels.txt", f"{TYPED}\n::error::x"),
    ("evaluate", "qrels.txt", f"{TYPED}={ONE}"),
    ("evaluate", "qrels.txt", ONE, "-m", TYPED),
    ("evaluate", "qrels.txt", ONE, "-m", f"nDCG({TYPED}=1)"),
    ("evaluate", "qrels.txt", ONE, "--format", TYPED),
    ("evaluate", "qrels.txt", ONE, "--columns", TYPED),
    ("evaluate", "qrels.txt", ONE, "--grades", TYPED),
    ("evaluate", "qrels.txt", ONE, "--query-weights", TYPED),
    ("evaluate", "qrels.txt", ONE, "--query-weights", "queries.tsv"),
    ("queries", "sample", TYPED),
    ("queries", "sample", "queries.tsv"),
    ("evaluate", "qrels.txt", ONE, "--targets", TYPED),
    ("evaluate", "qrels.txt", ONE, "--targets", "targets.toml"),
    ("evaluate", "qrels.txt", ONE, "-o", f"{TYPED}/out"),
    ("evaluate", "qrels.txt", ONE, "--report", f"{NAME}report", "--set", f"{TYPED}=1", "--note", TYPED),
    ("verify", f"{NAME}report"),
    ("verify", TYPED),
    ("evaluate", f"--{TYPED}"),
    (TYPED,),
    ("runs", TYPED),
    ("explain", TYPED),
    ("measures", "explain", TYPED),
    ("models", "get", TYPED),
    ("models", "path", TYPED),
    ("models", "show", TYPED),
    ("models", "show", f"{NAME}model"),
    ("models", "add", TYPED),
    ("models", "add", f"{NAME}model"),
    ("compare", "qrels.txt", ONE, TWO, "--baseline", TYPED),
    ("compare", "--scores", "table.csv"),
    ("compare", "--scores", "scores.csv"),
    ("gate", "--qrels", "qrels.txt", "--baseline", ONE, "--candidate", TWO, "--rule", TYPED),
    ("runs", "fuse", ONE, TWO, "--method", TYPED, "-o", "x.run"),
    ("runs", "fuse", ONE, TWO, "-p", TYPED, "-o", "x.run"),
    ("runs", "collapse", ONE, "--regex", f"({TYPED}", "-o", "x.run"),
    ("runs", "convert", ONE, "-o", f"x.{TYPED}"),
    ("collections", "check", TYPED),
    ("benchmark", "run", TYPED),
    ("benchmark", "run", "recipe.toml"),
    ("benchmark", "run", "--modes", TYPED),
    ("benchmark", "run", "--collection", f"{NAME}kitchen", "--modes", "lexical", "--output", f"{NAME}bench"),
    ("benchmark", "init", f"{NAME}.toml"),
    ("--plugin", TYPED, "demo"),
    ("--plugin", "plugin.py", "measures", "list"),
    ("--plugin", "plugin.py", "measures", "explain", "Shout"),
    ("--plugin", "plugin.py", "evaluate", "qrels.txt", ONE, "-m", "Shout"),
    ("--plugin", "broken.py", "measures", "explain", "Fails"),
    ("--plugin", "broken.py", "evaluate", "qrels.txt", ONE),
    ("demo", "--save", f"{NAME}demo"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(map(repr, command)))
def test_no_control_character_reaches_the_screen(here, command):
    environment = {"ASSAY_DEBUG": "1", "ASSAY_OFFLINE": "1", "ASSAY_CACHE": str(here / "cache")}
    status, screen = on_terminal(*command, cwd=here, env=environment)

    assert screen
    assert status in (0, 1, 2, 3) or "broken.py" in command
    assert [] == raw(screen)


def test_every_command_is_among_them():
    names = {" ".join(path) for path, command in all_commands() if not isinstance(command, click.Group)}
    static = {
        "models list",
        "collections list",
        "measures presets",
        "measures choose",
        "serve",
    }  # show nothing from outside

    assert names - static == {
        name for name in names if any(name.split() == list(words(command))[: len(name.split())] for command in COMMANDS)
    }


def words(command: tuple[str, ...]) -> tuple[str, ...]:
    return command[2:] if command[0] == "--plugin" else command


def raw(screen: bytes) -> list[str]:
    """The lines with a character that a terminal might obey, or that a reader cannot see."""
    lines = OURS.sub("", screen.decode("utf-8", "surrogateescape")).split("\n")
    return [line for line in lines if not line.replace("\t", "").isprintable()]


def test_the_screen_shows_what_is_there(here):
    status, screen = on_terminal("runs", "convert", ONE, "--to", "csv", "-o", "-", cwd=here)

    assert 0 == status
    assert b"\\x1b[8mconcealed,\\x1b]0;title\\x07," in screen


def test_a_pipe_gets_every_byte(here):
    piped = assay("runs", "convert", ONE, "--to", "trec", "-o", "-", cwd=here).stdout

    assert (here / ONE).read_text("utf-8", "surrogateescape").split()[0::6] == piped.split()[0::6]
    assert "\x1b[8mconcealed" in piped


def test_a_file_gets_no_colours(here):
    status, screen = on_terminal("evaluate", *BOTH, "-m", "P@3", "-o", "table.txt", cwd=here)

    assert (0, b"") == (status, screen)
    assert "\x1b" not in (here / "table.txt").read_text()


def test_a_table_keeps_its_colours(here):
    assert b"\x1b[1mrun" in on_terminal("evaluate", *BOTH, "-m", "P@3", cwd=here)[1]


def test_nothing_prints_but_say_and_write():
    folder = Path(cli.__file__).parent
    printing = {
        file.name for file in folder.rglob("*.py") if re.search(r"click\.s?echo|\bprint\(|\.show\(", file.read_text())
    }

    assert {"__init__.py", "trec_eval.py"} == printing  # trec_eval's complaints are bytes, as those of the program
