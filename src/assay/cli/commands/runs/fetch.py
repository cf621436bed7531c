"""assay runs fetch."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from assay.cli import note, say, write
from assay.cli.bars import progress_bars
from assay.cli.options import metadata_option, spreadsheet_option
from assay.cli.run_files import FETCH_REPORT
from assay.errors import InputError, show_id
from assay.fetching.apis import api_names
from assay.fetching.fetching import DEFAULT_RETRIES, DEFAULT_TOP, Fetched, fetch_answers
from assay.fetching.program import Program
from assay.fetching.server import KEY_HEADER, KEY_VARIABLE, HttpSystem
from assay.fetching.settings import Settings, make_api, read_settings
from assay.fetching.systems import REPEATS, Repeats, System
from assay.files import refuse_overwrite
from assay.formats.sources import stem
from assay.formats.writing import OUTPUT_FORMATS, output_format
from assay.words import number_of

if TYPE_CHECKING:
    from assay.records.model import Digest

EXAMPLES = """Example: assay runs fetch --endpoint https://search.example.org/retrieve --queries queries.tsv -o search.run

Example: assay runs fetch --endpoint http://localhost:9200/products --api elasticsearch --template query.json --queries queries.tsv -o es.run

Example: assay runs fetch --command 'mysearch {query}' --queries queries.tsv -o mine.run"""
AT_ONCE = 4  # requests of a server at the same time
_MODE = "{mode}"
_STDOUT = "-"


class _Asked(Struct, frozen=True):
    """The queries and where they come from."""

    texts: Mapping[str, str]
    digest: Digest | None  # of the file; None for a collection
    shown: str


class _Pace(Struct, frozen=True):
    """How to ask."""

    top_k: int
    concurrency: int
    retries: int
    rate: float | None


class _Written(Struct, frozen=True):
    """How to write the run."""

    path: str
    to: str
    tag: str | None
    metadata: bool
    spreadsheet: bool


@click.command("fetch", short_help="Fetch a run from a system that is in use.", epilog=EXAMPLES)
@click.option("--endpoint", metavar="URL", help="Address of the server to ask.")
@click.option("--command", "program", metavar="COMMAND", help="Or a program to run for each query; no shell is used.")
@click.option(
    "--queries",
    required=True,
    type=click.Path(),
    metavar="FILE|COLLECTION",
    help="Queries: id and text in TSV, JSONL and others; or a collection.",
)
@click.option(
    "-o",
    "--output",
    required=True,
    metavar="RUN",
    type=click.Path(dir_okay=False, allow_dash=True),
    help="Run file to write. With several modes: 'run-{mode}.run'. - is standard output and needs --to.",
)
@click.option("--to", type=click.Choice(OUTPUT_FORMATS), help="Format of RUN; by default, from its ending.")
@click.option("--api", type=click.Choice(api_names()), default="retrieve", show_default=True, help="How to ask it.")
@click.option("--mode", "modes", metavar="NAME,...", help="Search mode to ask for; several give one run each.")
@click.option(
    "--top-k", type=click.IntRange(min=1), default=DEFAULT_TOP, show_default=True, help="Documents per query."
)
@click.option("--template", metavar="FILE", help="JSON body of a request, with {{query}}, {{top_k}} and {{mode}}.")
@click.option(
    "--settings",
    metavar="FILE",
    help=f"TOML file: `header` and `variable` of the key, and other fields of the API.  [default: {KEY_HEADER}, {KEY_VARIABLE}]",
)
@click.option("--allow-http", is_flag=True, help="Send the key without encryption to another machine.")
@click.option(
    "--concurrency",
    type=click.IntRange(min=1),
    help=f"Requests at the same time.  [default: {AT_ONCE}; 1 for a program]",
)
@click.option("--batch", type=click.IntRange(min=1), default=1, show_default=True, help="Queries per request.")
@click.option("--rate", type=click.FloatRange(min=0.001), metavar="N", help="At most so many requests per second.")
@click.option(
    "--timeout", type=click.FloatRange(min=0.001), default=60, show_default=True, help="Seconds for one request."
)
@click.option(
    "--retries",
    type=click.IntRange(min=0),
    help=f"How often to repeat a request that failed.  [default: {DEFAULT_RETRIES}; 0 for a program]",
)
@click.option(
    "--duplicates",
    type=click.Choice(REPEATS),
    default="error",
    show_default=True,
    help="A document that comes twice in an answer: the query has failed, or the first place counts.",
)
@click.option("--tag", help="Run tag to write; by default, the name of the file.")
@spreadsheet_option
@metadata_option("a TREC file")
def command(
    endpoint: str | None,
    program: str | None,
    queries: str,
    output: str,
    to: str | None,
    modes: str | None,
    concurrency: int | None,
    retries: int | None,
    top_k: int,
    rate: float | None,
    tag: str | None,
    metadata: bool,
    spreadsheet: bool,
    **given: Any,
) -> None:
    """Ask a search system for all queries, and write its results as a run.

    The system is a server (--endpoint) or a program (--command). Each query is asked once, again if its request fails, and
    every answer is kept: after an interruption, the same command goes on where it stopped. RUN.fetch.json holds the
    time that each request took. Exit status 1 says that queries failed: the run then lacks them, and says so.

    The key of a server comes from the environment variable ASSAY_API_KEY.
    """
    if (endpoint is None) == (program is None):
        raise click.UsageError("give the system to ask: a server with --endpoint, or a program with --command.")
    chosen: list[str | None] = [name.strip() for name in (modes or "").split(",") if name.strip()]
    if not chosen and _MODE in output:
        raise click.UsageError(f"{_MODE} in the name of the run stands for a mode: give some with --mode.")
    names = chosen or [None]
    if len(set(names)) > 1 and _MODE not in output:
        raise click.UsageError(
            f"several modes give one run each: put {_MODE} into the name, as in -o 'run-{_MODE}.run'."
        )
    outputs = {mode: output.replace(_MODE, mode or "") for mode in names}
    files = [queries, *(path for path in (given["template"], given["settings"]) if path)]
    for path in outputs.values():
        for file in (path, *([] if _is_stream(path) else [f"{path}{FETCH_REPORT}", str(_journal(path))])):
            refuse_overwrite(file, files)
    target = output_format(output, to)
    asked = _queries(queries)
    for path in outputs.values():
        _check_names(asked.texts, path, target, tag)
    pace = _Pace(
        top_k,
        concurrency or (AT_ONCE if endpoint else 1),
        retries if retries is not None else (DEFAULT_RETRIES if endpoint else 0),
        rate,
    )
    complete = True
    for mode, path in outputs.items():
        system = _system(endpoint, program, mode, given)
        fetched = _fetched(system, asked.texts, path, pace)
        _write(fetched, system, asked, pace, _Written(path, target, tag, metadata, spreadsheet))
        complete = complete and fetched.is_complete
    sys.exit(0 if complete else 1)


def _is_stream(path: str) -> bool:
    """Whether nothing can be kept beside it: standard output, a pipe or a device."""
    return path == _STDOUT or (os.path.exists(path) and not os.path.isfile(path))


def _check_names(texts: Mapping[str, str], path: str, to: str, tag: str | None) -> None:
    """Raise for ids of queries and a tag that the format cannot hold, before any query is asked."""
    from assay.formats.writing import run_as_bytes
    from assay.tables import Run

    name = _name(path)
    ids = list(texts)
    run_as_bytes(
        Run.from_columns(ids, ["d"] * len(ids), [0.0] * len(ids), name=name, tag=name, source=name), to, tag=tag
    )


def _queries(place: str) -> _Asked:
    from assay.records.identity import file_digest

    if os.path.isfile(place) or not _is_collection(place):
        from assay.inputs.queries import read_queries

        return _Asked(read_queries(place), file_digest(place) if os.path.isfile(place) else None, place)
    from assay.collections import open_collection

    return _Asked(open_collection(place).queries, None, place)


def _is_collection(place: str) -> bool:
    from assay.collections.opening import embedded_collections

    return os.path.isdir(place) or place in embedded_collections()


def _system(endpoint: str | None, program: str | None, mode: str | None, given: Mapping[str, Any]) -> System:
    repeats: Repeats = given["duplicates"]
    if program is not None:
        used = [f"--{name.replace('_', '-')}" for name in ("template", "settings", "allow_http") if given[name]]
        if used or mode is not None:
            raise click.UsageError(f"{used[0] if used else '--mode'} is for a server, not for a program.")
        return Program(program, timeout=given["timeout"], repeats=repeats)
    settings = read_settings(given["settings"]) if given["settings"] else Settings()
    return HttpSystem(
        str(endpoint),
        make_api(given["api"], settings, given["template"]),
        given["api"],
        mode=mode,
        batch=given["batch"],
        key=settings.key,
        allow_http=given["allow_http"],
        timeout=given["timeout"],
        repeats=repeats,
    )


def _fetched(system: System, texts: Mapping[str, str], path: str, pace: _Pace) -> Fetched:
    journal = None if _is_stream(path) else _journal(path)
    try:
        with progress_bars() as progress:
            return fetch_answers(
                system,
                texts,
                name=_name(path),
                top_k=pace.top_k,
                concurrency=pace.concurrency,
                retries=pace.retries,
                rate=pace.rate,
                journal=journal,
                progress=progress,
            )
    except (KeyboardInterrupt, SystemExit):
        if journal is not None:
            say("Interrupted. The answers so far are kept; run the same command again to go on.")
        raise


def _journal(path: str) -> Path:
    """Where answers are kept until the run is complete: a hidden file beside it."""
    return Path(path).with_name(f".{Path(path).name}.fetching")


def _name(path: str) -> str:
    return "run" if path == _STDOUT else stem(path) or "run"


def _write(fetched: Fetched, system: System, asked: _Asked, pace: _Pace, written: _Written) -> None:
    """Write the run and its report; then the answers that were kept are no longer needed, unless some lack."""
    from assay.formats.writing import packed, run_as_bytes
    from assay.records.building import timestamp
    from assay.records.encoding import encode_record
    from assay.records.fetching import fetch_report
    from assay.records.identity import digest_of
    from assay.report.fetching import fetch_lines

    path, is_stdout = written.path, written.path == _STDOUT
    try:
        data, left_out = run_as_bytes(fetched.run, written.to, tag=written.tag, spreadsheet=written.spreadsheet)
    except InputError:
        if not _is_stream(path):
            say("The answers are kept: run the same command with another --to, and nothing is asked again.")
        raise
    if written.metadata and written.to == "trec":
        data = _header(fetched, system, asked, pace, written.tag).encode("utf-8", "surrogateescape") + data
    data = data if is_stdout else packed(data, path)
    write(data, None if is_stdout else path)
    report = fetch_report(
        fetched,
        created=timestamp(),
        run=digest_of("standard output" if is_stdout else path, data),
        system=system.identity,
        top_k=pace.top_k,
        concurrency=pace.concurrency,
        queries=asked.digest,
    )
    if not _is_stream(path):
        write(encode_record(report), f"{path}{FETCH_REPORT}")
        if fetched.is_complete:
            _journal(path).unlink(missing_ok=True)
    for line in fetch_lines(report, len(fetched.run)):
        say(line)
    for text in left_out:
        note(text)


def _header(fetched: Fetched, system: System, asked: _Asked, pace: _Pace, tag: str | None) -> str:
    """Where the run came from, as comment lines: nothing that differs from one fetch to the next."""
    from assay._version import __version__
    from assay.formats.ir_metadata import INCOMPLETE, render_metadata

    queries = {"path": show_id(asked.shown, 300), **({"sha256": asked.digest.sha256} if asked.digest else {})}
    fetch = {**system.identity, "top_k": pace.top_k, "queries": queries, "complete": fetched.is_complete}
    header = render_metadata(
        {
            "tag": tag or fetched.run.name,
            "implementation": {"software": f"assay {__version__}"},
            "method": {"automatic": True, "fetch": fetch},
        }
    )
    if fetched.is_complete:
        return header
    named = " ".join(show_id(query) for query in fetched.failed)
    count = number_of(len(fetched.failed), "query")
    return f"{INCOMPLETE.decode()} {count} of {fetched.queries:,} failed: {named}\n{header}"
