"""The three software adapters, opened once a process."""

from __future__ import annotations

import pytest

from cases.support import opened
from wgslgen.adapters import SOFTWARE, Gpu


@pytest.fixture(scope="session", params=SOFTWARE)
def gpu(request: pytest.FixtureRequest) -> Gpu:
    """Return each software adapter in turn."""
    return opened(str(request.param))


@pytest.fixture(scope="session")
def lavapipe() -> Gpu:
    """Return the adapter that has f16, and eight lanes a subgroup."""
    return opened("lavapipe")


@pytest.fixture(scope="session")
def swiftshader() -> Gpu:
    """Return the adapter without f16, and with four lanes a subgroup."""
    return opened("swiftshader")
