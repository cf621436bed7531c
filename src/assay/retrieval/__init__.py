"""Search a collection: documents and queries in, runs out.

base         what a retriever is, and what all of them share      embedding    texts to vectors, by a model
analysis     texts to terms                                       embeddings   vectors kept on disk, by their texts
retrievers/  one module for each way to search                    rerankers/   one for each way to order what was found
reranking    what a reranker is                                   nodes        what gives a mode its run, whatever its kind
prompted     what rerankers share that ask a language model
texts        documents by id                                      journal      results kept as they come
modes        all kinds by name
models       which models there are, and their files on disk      model_sources  where these files come from
"""
