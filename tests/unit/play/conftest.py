"""What the tests of the sandbox share."""

from __future__ import annotations

import pytest

from wend.world.warming import warm_up


@pytest.fixture(scope="session")
def compiled() -> None:
    """The kernels of the planner that the tests play with: on a busy machine that takes minutes, and nobody waits."""
    warm_up("lra")
