"""Readers for input other than qrels and runs: documents, queries, segments, chunks and tables of scores."""
