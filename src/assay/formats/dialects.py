"""How TREC text is read by Assay and by the two versions of trec_eval."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace


class Dialect(Struct, frozen=True):
    """How the lines of a text file with columns are read."""

    comments: bool  # a line that starts with '#' is a comment
    headers: bool  # a first line of column names is a header
    byte_order_mark: bool  # a byte order mark at the start is part of the first id
    blank_qrels_lines: bool  # qrels may contain blank lines; runs always may
    equal_widths: bool  # all lines of a run have as many columns as the first; else any may have more than six
    stray_returns: bool  # a carriage return inside a line is whitespace
    whole_grades: bool  # grades are truncated toward zero, as by C's atol


ASSAY = Dialect(
    comments=True,
    headers=True,
    byte_order_mark=False,
    blank_qrels_lines=True,
    equal_widths=True,
    stray_returns=False,
    whole_grades=False,
)
# Each point is tested in tests/reading/test_dialects.py.
TREC_EVAL_9 = Dialect(
    comments=False,
    headers=False,
    byte_order_mark=True,
    blank_qrels_lines=False,
    equal_widths=False,
    stray_returns=True,
    whole_grades=True,
)
TREC_EVAL_10 = replace(TREC_EVAL_9, comments=True)
