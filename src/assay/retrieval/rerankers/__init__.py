"""One module for each reranker; new ones are picked up automatically. Engines are imported when they are used."""
