"""Invented reports; nothing is read or computed here."""

from __future__ import annotations

import random
from typing import Any

from hypothesis import strategies as st
from msgspec.structs import replace

from assay.records.model import (
    Curves,
    EvaluationReport,
    Example,
    FindingRecord,
    Identity,
    MeasureResult,
    TargetResult,
)

HOSTILE = {
    "script": "</script><script>window.hacked = 1</script>",
    "image": "<img src=x onerror='window.hacked = 1'>",
    "quotes": '"\'` onmouseover=window.hacked=1 x="',
    "cdata": "]]><!-- <svg onload=window.hacked=1>",
    "entity": "&lt;b&gt; &amp; &#60;",
    "control": "a\x00b\x07c\td\ne\rf\x7f",
    "ansi": "\x1b[31mred\x1b]0;title\x07",
    "half": "caf\udce9",
    "lone": "\ud800x",
    "lines": "a\u2028b\u2029c\u0085d",
    "right to left": "abc\u202edef",
    "long": "x" * 5000,
    "pipes": "a|b`c`*d*_e_ [f](javascript:alert(1)) ![g](http://example.org/x.png)",
    "markdown": "# h\n\n---\n* item\n1. one <b>",
    "template": "{{ 7 * 7 }}{% raw %}",
    "expression": "datum.value ${window.hacked=1} '+(window.hacked=1)+'",
    "link": "http://example.org/ www.example.org",
    "prototype": "__proto__",
}

CURVES = Curves(
    precision_at_recall=(0.82, 0.71, 0.63, 0.55, 0.47, 0.41, 0.35, 0.29, 0.21, 0.13, 0.06),
    cutoffs=tuple(range(1, 101)),
    at_cutoff={
        "nDCG": tuple(0.45 + 0.1 * k / (k + 20) for k in range(1, 101)),
        "P": tuple(0.6 / (1 + 0.05 * k) for k in range(1, 101)),
        "R": tuple(0.9 * k / (k + 15) for k in range(1, 101)),
        "Success": tuple(1 - 0.45 / k**0.7 for k in range(1, 101)),
    },
    first_relevant={"1": 21, "2": 8, "3": 4, "4-10": 9, "11-100": 5, "101-1000": 1, "later": 0, "never": 2},
)

TARGET = TargetResult(
    status="pass",
    goal=0.35,
    words="0.3812 of 0.3500 (good)",
    levels={"good": 0.35, "strong": 0.45},
    reached="good",
    typical=(0.3, 0.32),
)


def identity(name: str, **changes: Any) -> Identity:
    known: dict[str, Any] = {
        "path": f"runs/{name}.txt",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "size": 292_411,
        "lines": 50_000,
        "queries": 50,
    }
    return Identity(name=name, **(known | changes))


def measure(name: str, mean: float | None, **changes: Any) -> MeasureResult:
    known: dict[str, Any] = {
        "canonical": name,
        "interval": None if mean is None else (max(mean - 0.04, 0.0), min(mean + 0.04, 1.0)),
        "confidence": 0.95,
        "queries": 50,
        "undefined": 0,
        "total": "mean",
    }
    return MeasureResult(name=name, mean=mean, **(known | changes))


def finding(severity: Any = "warning", **changes: Any) -> FindingRecord:
    known: dict[str, Any] = {
        "code": "RUN012",
        "title": "Equal scores",
        "message": "Documents of 3 queries share their score; their order is decided by the rule for ties.",
        "fix": "Give documents different scores, or say how ties are broken with --ties.",
        "file": "runs/bm25.txt",
        "line": 1041,
        "query": "q7",
        "count": 3,
        "examples": (Example(text="q7 Q0 D12 4 11.25 bm25", line=1041, query="q7"),),
    }
    return FindingRecord(severity=severity, **(known | changes))


def report(**changes: Any) -> EvaluationReport:
    """A report on 50 queries, with the given fields replaced."""
    known: dict[str, Any] = {
        "experiment": "exp-20261115-225512-4f1c9a",
        "created": "2026-11-15T22:55:12Z",
        "run": identity("bm25"),
        "tag": "bm25-k1-0.9",
        "qrels": identity("dl19", path="qrels/dl19.txt", lines=9260, queries=50),
        "like": "assay",
        "rules": {"ties": "doc-desc", "queries": "judged", "undefined": "zero", "depth": None},
        "conventions": "Conventions: ties broken by document id, descending; mean over all judged queries, missing "
        "ones count as 0; queries without relevant documents count as 0 (ties=doc-desc, queries=judged).",
        "measures": (
            measure("nDCG@10", 0.3812, target=TARGET),
            measure("AP", 0.2467, target=TargetResult(status="fail", goal=0.3, words="0.2467 of 0.3000")),
            measure("RR@10", 0.5321, canonical="RR@10", tie_bounds=(0.5211, 0.5498)),
            measure("R@100", 0.7015, target=TargetResult(status="unknown", goal=None, words="no baseline called 'x'")),
        ),
        "targets": "trec-dl",
        "status": "fail",
        "coverage": {"judged": 50, "answered": 48, "missing": ["q9", "q31"], "judged_share": {"10": 0.93}, "tied": 3},
        "coverage_words": "50 queries judged, 48 answered, 2 missing (counted as 0: q9, q31), 0 without relevant "
        "documents; judged documents: 93% of the top 10; no judged document is tied.",
        "complete": False,
        "incomplete_because": ("2 of 50 judged queries are missing from run 'bm25' (first: q9, q31).",),
        "findings": (finding(), finding("note", code="RUN020", title="Long ids")),
        "curves": CURVES,
        "queries": some_queries(50),
        "seconds": 0.312,
    }
    return EvaluationReport(**(known | changes))


def some_queries(count: int, measures: int = 4, seed: int = 7) -> dict[str, tuple[float | None, ...]]:
    """Values between 0 and 1, many of them 0, as in real runs."""
    dice = random.Random(seed)
    return {f"q{number}": tuple(_value(dice) for _ in range(measures)) for number in range(1, count + 1)}


def _value(dice: random.Random) -> float:
    return 0.0 if dice.random() < 0.12 else dice.betavariate(1.6, 2.2)


def large_report(count: int = 6980) -> EvaluationReport:
    """As many queries as the development set of MS MARCO."""
    return report(queries=some_queries(count), complete=True, incomplete_because=(), findings=())


def hostile_report(text: str) -> EvaluationReport:
    """A report with the same text in every field that a file or a user can set."""
    target = replace(TARGET, words=text, baseline=text, levels={text: 0.3}, reached=text)
    example = Example(text=text, line=3, query=text)
    found = [
        finding(s, code="RUN001", title=text, message=text, fix=text, file=text, query=text, examples=(example,))
        for s in ("error", "warning", "note")
    ]
    return report(
        experiment=text,
        created=text,
        run=identity(text, path=text),
        qrels=identity(text, path=text),
        tag=text,
        like=text,
        rules={text: text},
        conventions=text,
        measures=(measure(text, 0.5, canonical=text, target=target), measure("AP", None)),
        targets=text,
        coverage={text: text, "missing": [text]},
        coverage_words=text,
        incomplete_because=(text,),
        findings=tuple(found),
        curves=replace(CURVES, at_cutoff={text: CURVES.at_cutoff["P"]}, first_relevant={text: 3, "never": 1}),
        queries={text: (0.25, None), text + "2": (1.0, 0.5), "plain": (1 / 32, 3 / 32)},
    )


@st.composite
def reports(draw: Any) -> EvaluationReport:
    """Reports of any shape: any ids, undefined values, measures of every kind, with and without optional fields."""
    ids = draw(
        st.lists(st.text(st.characters(exclude_categories=()), min_size=1, max_size=20), unique=True, max_size=8)
    )
    names = draw(st.lists(st.sampled_from(["nDCG@10", "AP", "RR", "P@5", "num_rel"]), unique=True, min_size=1))
    value = st.none() | st.floats(0, 1) | st.sampled_from([0.0, 1.0, 1 / 32])
    ends = st.none() | st.tuples(st.floats(0, 0.5), st.floats(0.5, 1))
    measures = [
        measure(name, draw(value), interval=draw(ends), total=draw(st.sampled_from(["mean", "sum", "geometric"])))
        for name in names
    ]
    queries = {query: tuple(draw(value) for _ in names) for query in ids}
    given = report(measures=tuple(measures), queries=queries)
    return replace(
        given,
        complete=draw(st.booleans()),
        status=draw(st.sampled_from([None, "pass", "warn", "fail", "unknown"])),
        targets=draw(st.sampled_from([None, "trec-dl"])),
        findings=draw(st.sampled_from([(), given.findings])),
        curves=draw(st.sampled_from([CURVES, replace(CURVES, cutoffs=(), at_cutoff={}, precision_at_recall=())])),
    )
