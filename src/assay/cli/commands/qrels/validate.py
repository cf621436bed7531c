"""assay qrels validate."""

from __future__ import annotations

from typing import Any

import click

from assay.cli.reading import reading_options
from assay.cli.validation import finish, progress_bar, refuse_stdin, validation_options
from assay.formats.readings import Reading
from assay.validation.findings import Validation
from assay.validation.fixing import fix_qrels
from assay.validation.validating import validate_qrels


@click.command(
    "validate",
    short_help="Check judgments before scoring runs with them.",
    epilog="Example: assay qrels validate qrels.txt --queries topics.tsv",
)
@click.argument("qrels")
@reading_options("qrels", queries=False)
@validation_options("qrels")
def command(
    qrels: str,
    queries: str | None,
    reading: Reading,
    fix: str | None,
    policies: dict[str, Any],
    metadata: bool,
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check QRELS before scoring runs with them. Each finding shows its lines and how to fix them.

    Exit status: 0 valid, 1 not valid, 2 a file cannot be opened. `assay explain CODE` explains a finding.
    """

    def validate(path: str) -> Validation:
        with progress_bar(path) as progress:
            return validate_qrels(path, queries=queries, reading=reading, progress=progress)

    refuse_stdin(qrels, fix)
    found = validate(qrels)
    repairs = (
        fix_qrels(qrels, fix, policies=policies, queries=queries, metadata=metadata, reading=reading) if fix else None
    )
    finish(found, strict, output_format, output, repairs, validate(fix) if fix else None)
