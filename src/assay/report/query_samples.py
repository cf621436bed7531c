"""Sampled queries for the terminal or as JSON: how many of each part of the traffic were drawn."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence

from msgspec import Struct

from assay.errors import show_id
from assay.inputs.query_logs import QueryLog
from assay.weighting.sampling import QuerySample
from assay.words import number_of, plural

SCHEMA = "assay/queries-sample/1"
HEAD = ("", "queries", "searches", "share", "sampled", "always")


class SampledLog(Struct, frozen=True, eq=False):
    """A log, the sample of it, and the files."""

    log: QueryLog
    sample: QuerySample
    identity: Mapping[str, str]  # of the log: path, and digest of a file
    queries: str | None  # path
    weights: str | None


def sampled_log_as_text(found: SampledLog) -> str:
    """A line for each part of the traffic, then the files."""
    sample = found.sample
    rows: list[Sequence[str]] = [HEAD]
    strata = [(one.name, one.queries, one.traffic, one.sampled, one.certain) for one in sample.strata]
    if len(strata) > 1:
        sums = [sum(one[place] for one in strata) for place in (1, 2, 3, 4)]  # type: ignore[misc]
        strata.append(("all", int(sums[0]), sums[1], int(sums[2]), int(sums[3])))
    for name, queries, traffic, sampled, certain in strata:
        share = traffic / sample.traffic
        rows.append((name, f"{queries:,}", _searches(traffic), f"{share:.1%}", f"{sampled:,}", f"{certain:,}"))
    widths = [max(len(row[place]) for row in rows) for place in range(len(HEAD))]
    lines = [
        f"{row[0]:<{widths[0]}}"
        + "".join(f"{cell:>{width + 3}}" for cell, width in zip(row[1:], widths[1:], strict=True))
        for row in rows
    ]
    lines += ["", f"by {sample.by}, seed {sample.seed}; always: queries that every sample has"]
    if found.queries is not None and found.weights is not None:
        lines.append(f"{show_id(found.queries, 200)}: {number_of(len(sample.texts), 'query')}")
        lines.append(f"{show_id(found.weights, 200)}: their weights, for assay evaluate --query-weights")
    return "\n".join(lines) + "\n"


def sampled_log_as_json(found: SampledLog) -> str:
    """One object; its schema is docs/schemas/queries-sample-1.json."""
    sample = found.sample
    document = {
        "schema": SCHEMA,
        "log": {
            "path": show_id(found.identity["path"], 10_000),
            "sha256": found.identity.get("sha256"),
            "queries": sample.queries,
            "searches": sample.traffic,
        },
        "by": sample.by,
        "size": sample.size,
        "seed": sample.seed,
        "normalise": found.log.normalise,
        "files": {
            name: None if path is None else show_id(path, 10_000)
            for name, path in (("queries", found.queries), ("weights", found.weights))
        },
        "strata": [
            {
                "name": one.name,
                "queries": one.queries,
                "searches": one.traffic,
                "sampled": one.sampled,
                "certain": one.certain,
            }
            for one in sample.strata
        ],
        "sampled": len(sample.texts),
        "notes": list(notes_on(found)),
    }
    return json.dumps(document, indent=2) + "\n"


QUERY_SAMPLE_RENDERERS: dict[str, Callable[[SampledLog], str]] = {
    "table": sampled_log_as_text,
    "json": sampled_log_as_json,
}


def notes_on(found: SampledLog) -> Iterator[str]:
    """What else happened to the log."""
    sample, log = found.sample, found.log
    if sample.complete:
        less = f"fewer than the {sample.size:,} asked for" if sample.queries < sample.size else "as many as asked for"
        yield f"the log has {number_of(sample.queries, 'different query')}, {less}: all are in the sample."
    if len(sample.strata) == 1:
        yield "all queries of the log are equally frequent, so there is no head and no tail."
    if log.merged:
        kind = "case or blanks" if log.normalise == "case" else "blanks"
        yield plural(
            f"{{count}} {{text differs|texts differ}} from another only in {kind} and {{was|were}} counted with it.",
            log.merged,
        )
    if log.unasked:
        yield plural("{count} {query has|queries have} a count of 0 and {was|were} left out.", log.unasked)


def _searches(count: float) -> str:
    return f"{count:,.0f}" if count.is_integer() else f"{count:,.1f}"
