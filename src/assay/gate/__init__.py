"""Decide in CI whether a candidate may replace the baseline. Prints nothing."""

from assay.gate.gating import Gate, decide
from assay.gate.grammar import GateRule, parse_rule

__all__ = ["Gate", "GateRule", "decide", "parse_rule"]
