"""One module for each retriever; a new one is found by itself. Engines are imported when they are used."""
