"""The rules: how documents are ranked and which queries count. Other modules apply them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct
from msgspec.structs import asdict

from assay.errors import RulesError, did_you_mean

Order = Literal["score", "rank"]
Ties = Literal["doc-desc", "doc-asc", "input", "rank-column", "ranx", "expected", "error"]
Scores = Literal["float64", "float32", "float32-positive"]
QuerySet = Literal["judged", "both", "strict"]
Duplicates = Literal["error", "first", "best"]
Judges = Literal["error", "first", "best", "mean", "median", "majority"]
SelfMatch = Literal["keep", "drop"]
Undefined = Literal["zero", "nan"]


class Rules(Struct, frozen=True):
    """How documents are ranked and which queries count. Printed with every result.

    >>> Rules(ties="doc-asc").changed()
    {'ties': 'doc-asc'}
    """

    order: Order = "score"  # rank: order by the rank column (MS MARCO)
    ties: Ties = "doc-desc"  # by document id, descending, as bytes (trec_eval); expected: mean over all orders; error: no value may depend on it
    scores: Scores = (
        "float64"  # float32: the false ties of trec_eval 9; positive: only scores above 0 count (torchmetrics)
    )
    queries: QuerySet = "judged"  # judged: a missing query counts as 0 (trec_eval -c); strict: error
    duplicates: Duplicates = "error"  # a document retrieved twice for a query
    judges: Judges = "error"  # a document judged several times for a query
    self_match: SelfMatch = "keep"  # BEIR drops documents whose id equals the query id
    undefined: Undefined = "zero"  # a query without relevant documents; nan: left out of the mean
    depth: int | None = None  # keep only the first documents of each ranking (trec_eval -M)

    def __post_init__(self) -> None:
        for name, choices in RULE_CHOICES.items():
            value = getattr(self, name)
            if value not in choices:
                hint = did_you_mean(str(value), choices) or f"; it takes {', '.join(choices)}."
                raise RulesError(f"rule {name} cannot be {value!r}{hint}")
        if self.depth is not None and (type(self.depth) is not int or not 0 <= self.depth < 2**62):
            raise RulesError(f"rule depth cannot be {self.depth!r}; it takes a whole number of documents, or None.")
        if self.depth is not None and self.ties in ("expected", "error"):
            raise RulesError(
                f"`Rules(ties='{self.ties}')` does not work with `depth=`; use measures with a cutoff, such as nDCG@10."
            )

    def changed(self) -> dict[str, Any]:
        """The rules that differ from the default."""
        usual = Rules()
        return {name: value for name, value in asdict(self).items() if value != getattr(usual, name)}


class RuleTexts(Struct, frozen=True):
    """A rule in words: its option and help, and what reports say of each choice (empty for the usual choice)."""

    option: str  # --queries and --scores name files, so these two rules have options of another name
    help: str
    choices: Mapping[str, str]


RULES_IN_WORDS = {
    "order": RuleTexts(
        "--order",
        "Rank documents by score, or by the file's rank column (as MS MARCO does).",
        {"score": "", "rank": "ranked by the file's rank column, not by score"},
    ),
    "ties": RuleTexts(
        "--ties",
        "Order of documents with equal scores; expected averages each measure over all orders, error refuses ties that "
        "change a value.",
        {
            "doc-desc": "ties broken by document id, descending",
            "doc-asc": "ties broken by document id, ascending",
            "input": "ties broken by input order",
            "rank-column": "ties broken by the file's rank column",
            "ranx": "ties in the order of ranx's sort",
            "expected": "values averaged over all orders of tied documents",
            "error": "ties that change a value are refused",
        },
    ),
    "scores": RuleTexts(
        "--score-type",
        "Precision of scores; float32 reproduces the false ties of trec_eval 9, float32-positive also counts documents "
        "with a score of 0 or less as not relevant (as torchmetrics does).",
        {
            "float64": "",
            "float32": "scores as 32-bit floats",
            "float32-positive": "scores as 32-bit floats; documents with a score of 0 or less count as not relevant",
        },
    ),
    "queries": RuleTexts(
        "--query-set",
        "Queries to average over; strict rejects a run with missing queries.",
        {
            "judged": "mean over all judged queries, missing ones count as 0",
            "both": "mean over the judged queries that the run answers",
            "strict": "every judged query must be answered",
        },
    ),
    "duplicates": RuleTexts(
        "--duplicates",
        "What to do with a document that the run lists twice for a query.",
        {
            "error": "",
            "first": "the first of duplicate documents counts",
            "best": "the best of duplicate documents counts",
        },
    ),
    "judges": RuleTexts(
        "--judges",
        "Which grade counts if a document has several judgments for a query.",
        {
            "error": "",
            "first": "of several judgments of a document, the first counts",
            "best": "of several judgments of a document, the highest counts",
            "mean": "of several judgments of a document, the mean counts",
            "median": "of several judgments of a document, the median counts",
            "majority": "of several judgments of a document, the most frequent counts (the lowest if tied)",
        },
    ),
    "self_match": RuleTexts(
        "--self-match",
        "Whether to keep a document that has the query's own id (BEIR drops it).",
        {"keep": "", "drop": "documents whose id is the query id are dropped"},
    ),
    "undefined": RuleTexts(
        "--undefined",
        "Value of a query without relevant documents; nan leaves it out of the mean.",
        {
            "zero": "queries without relevant documents count as 0",
            "nan": "queries without relevant documents are left out",
        },
    ),
}
RULE_CHOICES = {name: tuple(texts.choices) for name, texts in RULES_IN_WORDS.items()}
