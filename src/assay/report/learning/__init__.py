"""The first page of the workbench: what each measure answers, with calculators and known examples."""

from assay.report.learning.page import SCHEMA, LearnPage, page_of
from assay.report.learning.state import FIELDS, LearnState, state_of

__all__ = ["FIELDS", "SCHEMA", "LearnPage", "LearnState", "page_of", "state_of"]
