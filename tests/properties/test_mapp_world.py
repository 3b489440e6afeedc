"""MAPP in a world where anything may happen between two ticks, while the referee watches."""

from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.properties.test_world_machine import WorldMachine

EXAMPLES = 8 if os.environ.get("NUMBA_DISABLE_JIT") == "1" else 40


class MappMachine(WorldMachine):
    algorithm = "mapp"


@pytest.mark.small
def test_whatever_happens_no_rule_is_broken_and_nobody_is_lost() -> None:
    MappMachine.TestCase.settings = settings(
        max_examples=EXAMPLES, stateful_step_count=30, deadline=None, derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )  # fmt: skip
    MappMachine.TestCase().runTest()
