"""The pitfalls of an evaluation, looked for: labels, positions, queries, gaming. Prints nothing."""
