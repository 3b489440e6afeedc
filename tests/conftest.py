"""Fixtures that more than one folder of tests uses."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile("busy machine", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy machine")


@pytest.fixture(scope="session")
def movingai() -> Path:
    """The folder with the MovingAI zips: $WEND_DATA, or ../shared/movingai beside the checkout; else the test skips."""
    beside = Path(__file__).resolve().parents[2] / "shared" / "movingai"
    for folder in (os.environ.get("WEND_DATA"), beside):
        if folder and any(Path(folder).glob("*-map.zip")):
            return Path(folder)
    pytest.skip("needs MovingAI maps: set WEND_DATA to a folder with the site's zips")
