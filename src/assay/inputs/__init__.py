"""What is read beside qrels and runs: documents, queries, segments, chunks, and tables of scores. Knows no ranking."""
