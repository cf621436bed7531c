"""One module for each retriever; new ones are picked up automatically. Engines are imported when they are used."""
