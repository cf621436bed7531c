"""Diagnose pitfalls of an evaluation: labels, positions, queries, gaming. Prints nothing."""
