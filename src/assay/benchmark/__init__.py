"""A benchmark: search a collection in several modes, evaluate, compare and choose. Prints nothing."""
