"""The first page of the workbench: what each measure answers, with calculators and known examples."""

from assay.report.learning.page import page_of
from assay.report.learning.state import FIELDS, LearnState, state_of

__all__ = ["FIELDS", "LearnState", "page_of", "state_of"]
