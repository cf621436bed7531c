"""A list as files: judgments and a run, or two."""

from __future__ import annotations

import re

from msgspec import Struct

from assay.errors import InputError, show_id
from assay.report.evaluator.page import headline_measures
from assay.report.evaluator.state import EvaluatorState
from assay.report.interactive.again import QRELS, SINGLE, by_query, evaluating, files_of, side_by_side

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")


class Saved(Struct, frozen=True):
    """Files to write, and what can be done with them."""

    contents: dict[str, bytes]  # by name
    words: str
    command: str
    address: str  # of the list


def saved(state: EvaluatorState, name: str) -> Saved:
    """The files of the lists of a state, under this name.

    >>> sorted(saved(EvaluatorState(), "bread").contents)
    ['bread.qrels', 'bread.run']
    """
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"a file cannot be called {show_id(name, 80)!r} here: use up to 80 letters, digits, dots, hyphens and "
            "underscores, and begin with a letter or digit."
        )
    lists = state.lists
    if not all(lists):
        raise InputError("an empty list cannot be saved as a run. Add a result to it.")
    if state.other:
        example = side_by_side(lists, state.names, state.title)
    else:
        example = by_query({SINGLE: lists[0]}, {SINGLE: state.names[0]}, state.title)
    files = {
        f"{name}.qrels" if file == QRELS else f"{name}.run" if len(lists) == 1 else f"{name}-{file}": content.encode()
        for file, content in files_of(example).items()
    }
    measures = [str(measure) for measure in headline_measures(state).values()]
    return Saved(
        files,
        f"Saved {' and '.join(files)} in the data folder.",
        evaluating(example, files, measures),
        state.address,
    )
