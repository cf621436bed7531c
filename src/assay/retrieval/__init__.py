"""Search a collection: documents and queries in, runs out.

base         what a retriever is, and what all of them share      embedding    texts to vectors, by a model
analysis     texts to terms                                       embeddings   vectors kept on disk, by their texts
retrievers/  one module for each way to search                    modes        all of them by name, and hybrids
models       which models there are, and their files on disk      model_sources  where these files come from
"""
