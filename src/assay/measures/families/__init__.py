"""The measures, by family: each is a decorated function, and new files in this folder are picked up automatically."""
