"""Ways to search a collection: documents and queries in, runs out. Knows documents and runs, not judgments.

base         what a retriever is, and what all of them share      embedding    texts to vectors, by a model
analysis     texts to terms                                       embeddings   vectors kept on disk, by their texts
lexical      BM25 on tantivy                                      dense        exact search by vectors
bm25s        BM25 and its variants, parameters to be set          approximate  approximate search by vectors
hybrid       runs of several modes fused                          modes        all of these by name
models       which models there are, and their files on disk      model_sources  where these files come from
"""
