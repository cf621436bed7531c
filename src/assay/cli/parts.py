"""The options that say what the files of a collection and their fields are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def parts_options(command: Command) -> Command:
    """--columns and --file, for `parse_columns` and `parse_files` of assay.collections.columns."""
    files = click.option(
        "--file", "files", multiple=True, metavar="ROLE=NAME", help="Which file is what, where names do not tell it."
    )
    columns = click.option(
        "--columns",
        multiple=True,
        metavar="ROLE.FIELD=NAME",
        help="What a field is called, such as corpus.id=sku or corpus.text=name,features. Roles: corpus (id, title, text), "
        "queries (id, text), qrels (query, doc, rel).",
    )
    return columns(files(command))
