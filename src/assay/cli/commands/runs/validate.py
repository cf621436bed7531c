"""assay runs validate."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.reading import reading_options
from assay.cli.validation import finish, progress_bar, refuse_stdin, validation_options
from assay.formats.readings import Reading
from assay.validation.findings import Validation
from assay.validation.fixing import fix_run
from assay.validation.profiles import PROFILES
from assay.validation.validating import validate_run


@click.command(
    "validate",
    short_help="Check a run before scoring it.",
    epilog="Example: assay runs validate bm25.run --qrels qrels.txt --profile trec-rag",
)
@click.argument("run")
@click.option("--qrels", type=click.Path(dir_okay=False), help="Judgments to check the run against.")
@click.option("--max-depth", type=click.IntRange(min=1), help="Maximum number of documents per query.")
@click.option(
    "--profile",
    type=click.Choice(list(PROFILES)),
    help="Track requirements to check. " + " ".join(f"{name}: {profile.about}." for name, profile in PROFILES.items()),
)
@reading_options("run", "qrels", queries=False)
@validation_options("run")
def command(
    run: str,
    qrels: str | None,
    queries: str | None,
    max_depth: int | None,
    profile: str | None,
    reading: Reading,
    fix: str | None,
    policies: dict[str, Any],
    metadata: bool,
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check a RUN before scoring it. Each finding shows its lines and how to fix them.

    Exit status: 0 valid, 1 not valid, 2 a file cannot be opened. `assay explain CODE` explains a finding.
    """

    def validate(path: str) -> Validation:
        with progress_bar(path) as progress:
            return validate_run(
                path,
                qrels=qrels,
                queries=queries,
                max_depth=max_depth,
                profile=profile,
                reading=reading,
                progress=progress,
            )

    refuse_stdin(run, fix)
    found = validate(run)
    repairs = (
        fix_run(run, fix, policies=policies, qrels=qrels, queries=queries, metadata=metadata, reading=reading)
        if fix
        else None
    )
    finish(found, strict, output_format, output, repairs, validate(fix) if fix else None)
