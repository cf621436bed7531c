"""RankLib's training data, as SVMrank and Quepid (LTR export) also write it: grade qid:query features # document."""

from __future__ import annotations

import re

from assay.errors import FormatError, InputError, show_id
from assay.formats.columns import Columns, qrels_from_columns
from assay.formats.problems import Problems
from assay.formats.readings import Reading
from assay.formats.sources import Content
from assay.formats.text import NO_DATA, decoded, line_chunks, refuse_old_mac_lines
from assay.tables import Qrels, Run

# LETOR writes "#docid = GX029-35-5894638 inc = 1"; Quepid "# D12 the text of the query"
_LINE = re.compile(r"\s*(?P<rel>\S+)\s+qid:(?P<query>\S+)(?:\s+\d+:\S+)*\s*#\s*(?:docid\s*=\s*)?(?P<doc>\S+)")
_ADVICE = "Each line is: grade qid:query features # document; the features may be missing, the document may not."


def qrels_from_ranklib(content: Content, reading: Reading) -> Qrels:
    """Qrels from the grades; features are ignored."""
    problems = Problems(content.name)
    rows: list[tuple[str, str, str]] = []
    lines: list[int] = []
    for chunk in line_chunks(content):
        refuse_old_mac_lines(chunk, content)
        for number, line in enumerate(decoded(chunk.data).split("\n")[:-1], chunk.line):
            if not line.strip() or line.startswith("#"):
                continue
            found = _LINE.match(line)
            if found is None:
                problems.add(f"'{show_id(line.strip())}' has no document id after a #", _ADVICE, line=number)
            else:
                rows.append((found["query"], found["doc"], found["rel"]))
                lines.append(number)
    problems.refuse()
    if not rows:
        raise InputError(NO_DATA, source=content.name)
    query, doc, rel = (list(column) for column in zip(*rows, strict=True))
    return qrels_from_columns(Columns(content.name, {"query": query, "doc": doc, "rel": rel}, lines), reading.grades)


def run_from_ranklib(content: Content, reading: Reading) -> Run:
    """An error: the format has grades, not scores."""
    raise FormatError(
        "this is RankLib data. It contains judgments, not search results. Are qrels and run swapped?",
        source=content.name,
    )
