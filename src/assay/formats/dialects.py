"""What a reader of TREC text takes for granted: ours, and those of the two trec_evals."""

from __future__ import annotations

from msgspec import Struct
from msgspec.structs import replace


class Dialect(Struct, frozen=True):
    """How the lines of a file in columns are understood."""

    comments: bool  # a line that starts with '#' is no data; '#' inside an id always is
    headers: bool  # a first line of column names is no data
    byte_order_mark: bool  # a byte order mark at the start is part of the first id
    blank_qrels_lines: bool  # qrels may hold blank lines; runs always may
    equal_widths: bool  # a run's lines all have as many columns as its first; else any may have more than six
    stray_returns: bool  # a carriage return inside a line is a blank like others
    whole_grades: bool  # grades are cut toward zero, as C's atol does


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
