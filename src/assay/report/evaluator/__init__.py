"""The Search Result Evaluator: every measure of a list of results, and what would change it."""

from assay.report.evaluator.page import SCHEMA, EvaluatorPage, page_from, page_of
from assay.report.evaluator.state import FIELDS, EvaluatorState, state_of

__all__ = ["FIELDS", "SCHEMA", "EvaluatorPage", "EvaluatorState", "page_from", "page_of", "state_of"]
