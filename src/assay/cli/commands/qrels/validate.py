"""assay qrels validate."""

from __future__ import annotations

import click

from assay.cli.options import grades_option
from assay.cli.validation import finish, progress_bar, validation_options
from assay.formats import parse_grades
from assay.validation.findings import Validation
from assay.validation.fixing import fix_qrels
from assay.validation.validating import validate_qrels


@click.command(
    "validate",
    short_help="Check judgments before scoring runs with them.",
    epilog="Example: assay qrels validate qrels.txt --queries topics.tsv",
)
@click.argument("qrels")
@grades_option
@validation_options
def command(
    qrels: str,
    queries: str | None,
    grades: str | None,
    input_format: str,
    fix: str | None,
    strict: bool,
    output_format: str,
    output: str | None,
) -> None:
    """Check QRELS before scoring runs with them. Each finding shows its lines and how to fix them.

    Exit status: 0 valid, 1 not valid, 2 a file cannot be opened. `assay explain CODE` explains a finding.
    """
    letters = parse_grades(grades) if grades else None

    def validate(path: str) -> Validation:
        with progress_bar(path) as progress:
            return validate_qrels(path, queries=queries, grades=letters, input_format=input_format, progress=progress)

    found = validate(qrels)
    repairs = fix_qrels(qrels, fix, input_format=input_format) if fix else None
    finish(found, strict, output_format, output, repairs, validate(fix) if fix else None)
