"""How sure one can be of a figure: intervals of means."""
