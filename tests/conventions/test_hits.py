"""Search results of LangChain, LlamaIndex, Haystack and Qdrant, in an environment of their own: `make test-conventions TOOL=hits`."""

from __future__ import annotations

import pytest

from assay import evaluate

REASON = "needs {}, which has an environment of its own: make test-conventions TOOL=hits"
QRELS, TEXTS = {"q": ["a"]}, {"q": "cats"}


def reciprocal_rank(documents) -> float:
    return evaluate(QRELS, lambda text: documents, ["RR"], queries=TEXTS).mean()["RR"]


def test_langchain():
    documents = pytest.importorskip("langchain_core.documents", reason=REASON.format("langchain-core"))
    embeddings = pytest.importorskip("langchain_core.embeddings")
    stores = pytest.importorskip("langchain_core.vectorstores")
    found = [documents.Document(page_content="dogs bark", id="b"), documents.Document(page_content="cats", id="a")]
    store = stores.InMemoryVectorStore(embeddings.DeterministicFakeEmbedding(size=8))
    store.add_documents(found)

    assert 0.5 == reciprocal_rank(found)
    assert 1.0 == reciprocal_rank([(found[0], 0.25), (found[1], 0.5)])
    assert 1.0 == evaluate(QRELS, store.as_retriever().invoke, ["RR"], queries=TEXTS).mean()["RR"]
    assert 1.0 == evaluate(QRELS, store.similarity_search_with_score, ["RR"], queries=TEXTS).mean()["RR"]


def test_haystack():
    haystack = pytest.importorskip("haystack", reason=REASON.format("haystack-ai"))
    from haystack.components.retrievers.in_memory import InMemoryBM25Retriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    store = InMemoryDocumentStore()
    store.write_documents(
        [haystack.Document(id="b", content="dogs bark"), haystack.Document(id="a", content="cats purr")]
    )
    retriever = InMemoryBM25Retriever(store)

    assert 1.0 == evaluate(QRELS, lambda text: retriever.run(text)["documents"], ["RR"], queries=TEXTS).mean()["RR"]
    assert 0.5 == reciprocal_rank([haystack.Document(id="b", score=0.9), haystack.Document(id="a", score=0.8)])
    assert 0.5 == reciprocal_rank([haystack.Document(id="b"), haystack.Document(id="a")])


def test_llama_index():
    schema = pytest.importorskip("llama_index.core.schema", reason=REASON.format("llama-index-core"))
    nodes = [schema.TextNode(text="dogs", id_="b"), schema.TextNode(text="cats", id_="a")]

    assert 0.5 == reciprocal_rank(nodes)
    assert 1.0 == reciprocal_rank(
        [schema.NodeWithScore(node=nodes[0], score=0.8), schema.NodeWithScore(node=nodes[1], score=0.9)]
    )


def test_qdrant():
    models = pytest.importorskip("qdrant_client.models", reason=REASON.format("qdrant-client"))
    points = [models.ScoredPoint(id=7, version=1, score=0.8), models.ScoredPoint(id=8, version=1, score=0.9)]

    assert 0.5 == evaluate({"q": [7]}, {"q": points}, ["RR"]).mean()["RR"]
