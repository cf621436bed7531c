"""assay explain."""

from __future__ import annotations

import click

from assay.cli import write
from assay.diagnosis.registry import all_looks, find_look
from assay.report.diagnosis.pages import look_as_text, looks_as_text
from assay.report.validation.pages import rule_as_text, rules_as_text
from assay.validation.registry import all_rules, find_rule

SECTION = "Learn"


@click.command(
    "explain", short_help="Explain a finding by its code, or list them all.", epilog="Example: assay explain RUN020"
)
@click.argument("code", required=False)
def command(code: str | None) -> None:
    """Explain the finding with this CODE, or list all findings."""
    if code is None:
        write(rules_as_text(all_rules()) + looks_as_text(all_looks()))
    elif code.strip().upper().startswith("DIA"):
        write(look_as_text(find_look(code)))
    else:
        write(rule_as_text(find_rule(code)))
