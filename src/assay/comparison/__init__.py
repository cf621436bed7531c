"""Compare systems: paired tests, confidence intervals, effect sizes and power."""
