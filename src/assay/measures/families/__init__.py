"""The measures, by family: each is a decorated function, and a new file of this folder is found by itself."""
