"""Fixtures for tests that ask a language model."""

from __future__ import annotations

import pytest

from assay.http import waiting

KEY = "sk-planted-7f3a91c2d4"


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    """Tests say themselves which key there is."""
    monkeypatch.delenv("ASSAY_LLM_API_KEY", raising=False)


@pytest.fixture(autouse=True)
def quick_retries(monkeypatch):
    """Retries wait milliseconds instead of seconds, unless the server says how long."""
    monkeypatch.setattr(waiting, "_FIRST", 0.01)


@pytest.fixture
def key(monkeypatch) -> str:
    """A key in the environment, to be searched for everywhere else."""
    monkeypatch.setenv("ASSAY_LLM_API_KEY", KEY)
    return KEY
