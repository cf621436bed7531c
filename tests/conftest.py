"""Fixtures for all tests."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):  # tests that are about them set them
    os.environ.pop(name, None)

settings.register_profile("assay", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("coverage", settings.get_profile("assay"), max_examples=15)  # more run the same lines again
settings.load_profile("assay")

ROOT = Path(__file__).parents[1]


def shared_data_folder() -> Path | None:
    """The folder of real test data beside the checkout, or the one that $ASSAY_SHARED names."""
    given = os.environ.get("ASSAY_SHARED")
    folder = Path(given) if given else ROOT.parent / "shared" / "data"
    return folder if folder.is_dir() else None


@pytest.fixture(scope="session")
def shared_data() -> Path:
    folder = shared_data_folder()
    if folder is None:
        pytest.skip("needs the real test data in ../shared/data or $ASSAY_SHARED, which is not part of the repository")
    return folder
