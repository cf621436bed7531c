"""Sampled judgments for the terminal or as JSON: how many queries of each stratum went to each part."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import TypeAlias

from assay.collections.sampling import Sample, Stratum
from assay.errors import show_id
from assay.formats.sheets import grade_text
from assay.words import number_of

SCHEMA = "assay/qrels-sample/1"
Files: TypeAlias = Mapping[str, str | None]  # source, sampled, rest -> path


def sample_as_text(sample: Sample, files: Files) -> str:
    """A line for each stratum, and the totals."""
    rows = [("relevant", "queries", "sampled", "rest")]
    rows += [(_bounds(one), *_counts(one.queries, one.sampled)) for one in sample.strata]
    rows.append(("all", *_counts(sum(one.queries for one in sample.strata), sum(one.sampled for one in sample.strata))))
    widths = [max(len(row[place]) for row in rows) for place in range(4)]
    lines = [
        f"{row[0]:<{widths[0]}}"
        + "".join(f"{cell:>{width + 3}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    lines += ["", f"seed {sample.seed}; relevant: grade {grade_text(sample.rel)} or more"]
    for part, qrels in (("sampled", sample.sampled), ("rest", sample.rest)):
        path = files.get(part)
        if path is not None:
            lines.append(
                f"{show_id(path, 200)}: {number_of(len(qrels.queries), 'query')}, {number_of(len(qrels), 'judgment')}"
            )
    return "\n".join(lines) + "\n"


def sample_as_json(sample: Sample, files: Files) -> str:
    """One object; its schema is docs/schemas/qrels-sample-1.json."""
    document = {
        "schema": SCHEMA,
        "seed": sample.seed,
        "rel": sample.rel,
        "files": {name: None if path is None else show_id(path, 10_000) for name, path in files.items()},
        "strata": [
            {
                "relevant": {"fewest": one.fewest, "most": one.most},
                "queries": one.queries,
                "sampled": one.sampled,
                "rest": one.queries - one.sampled,
            }
            for one in sample.strata
        ],
        "sampled": {"queries": len(sample.sampled.queries), "judgments": len(sample.sampled)},
        "rest": {"queries": len(sample.rest.queries), "judgments": len(sample.rest)},
    }
    return json.dumps(document, indent=2) + "\n"


SAMPLE_RENDERERS: dict[str, Callable[[Sample, Files], str]] = {"table": sample_as_text, "json": sample_as_json}


def _bounds(stratum: Stratum) -> str:
    return f"{stratum.fewest}" if stratum.fewest == stratum.most else f"{stratum.fewest} to {stratum.most}"


def _counts(queries: int, sampled: int) -> tuple[str, str, str]:
    return f"{queries:,}", f"{sampled:,}", f"{queries - sampled:,}"
