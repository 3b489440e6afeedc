"""Runs the pages' scripts in Node."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from typing import Any

import pytest

from wend.viewer.assets import join, static


@pytest.fixture(scope="session")
def node() -> str:
    """The path of Node."""
    found = shutil.which("node")
    if found is None:
        pytest.skip("needs Node to run the pages' scripts")
    return found


@pytest.fixture
def run_script(node: str) -> Callable[[str, Any], Any]:
    """A function that joins a module, as a page would, gives it JSON on stdin and returns the JSON that it prints."""

    def run(harness: str, given: Any) -> Any:
        script = join("harness", lambda name: harness if name == "harness.js" else static(name))
        done = subprocess.run(
            [node, "-e", script], input=json.dumps(given), capture_output=True, text=True, check=True, timeout=60
        )
        return json.loads(done.stdout)

    return run
