"""A decision for CI: may the candidate take the place of the baseline? Prints nothing."""

from assay.gate.gating import Gate, decide
from assay.gate.grammar import GateRule, parse_rule

__all__ = ["Gate", "GateRule", "decide", "parse_rule"]
