"""The prepared process, one for each worker of the tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from faults.injecting import Stage


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    stage = Stage()
    yield stage
    stage.close()
